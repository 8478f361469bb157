//! Nearly every test of this package in one program: what they share is compiled and linked once. (Those of instructions and of
//! the flags of the processor want a process of their own.)

extern crate alloc;

#[path = "tests/algorithms.rs"]
mod algorithms;
#[path = "tests/along.rs"]
mod along;
#[path = "tests/baselines.rs"]
mod baselines;
#[path = "tests/bits.rs"]
mod bits;
#[path = "tests/cells.rs"]
mod cells;
#[path = "tests/checkpoint.rs"]
mod checkpoint;
#[path = "tests/classes.rs"]
mod classes;
#[path = "tests/column_stats.rs"]
mod column_stats;
#[path = "tests/conformance.rs"]
mod conformance;
#[path = "tests/data.rs"]
mod data;
#[path = "tests/decisions.rs"]
mod decisions;
#[path = "tests/device.rs"]
mod device;
#[path = "tests/distributed.rs"]
mod distributed;
#[path = "tests/elsewhere.rs"]
mod elsewhere;
#[path = "tests/encode.rs"]
mod encode;
#[path = "tests/extend.rs"]
mod extend;
#[path = "tests/fcco.rs"]
mod fcco;
#[path = "tests/finite_sum.rs"]
mod finite_sum;
#[path = "tests/first_order.rs"]
mod first_order;
#[path = "tests/fuzz.rs"]
mod fuzz;
#[path = "tests/intervals.rs"]
mod intervals;
#[path = "tests/lbfgs.rs"]
mod lbfgs;
#[path = "tests/methods.rs"]
mod methods;
#[path = "tests/metric.rs"]
mod metric;
#[path = "tests/models.rs"]
mod models;
#[path = "tests/network_sum.rs"]
mod network_sum;
#[path = "tests/networks.rs"]
mod networks;
#[path = "tests/notation.rs"]
mod notation;
#[path = "tests/pairs.rs"]
mod pairs;
#[path = "tests/pauc.rs"]
mod pauc;
#[path = "tests/plan.rs"]
mod plan;
#[path = "tests/ranges.rs"]
mod ranges;
#[path = "tests/remedies.rs"]
mod remedies;
#[path = "tests/ridge.rs"]
mod ridge;
#[path = "tests/runs.rs"]
mod runs;
#[path = "tests/samplers.rs"]
mod samplers;
#[path = "tests/scaling.rs"]
mod scaling;
#[path = "tests/soap.rs"]
mod soap;
#[path = "tests/state.rs"]
mod state;
#[path = "tests/surrogates.rs"]
mod surrogates;
#[path = "tests/threads.rs"]
mod threads;
#[path = "tests/trainer.rs"]
mod trainer;
#[path = "tests/warnings.rs"]
mod warnings;
#[path = "tests/weights.rs"]
mod weights;
#[path = "tests/wide.rs"]
mod wide;
