//! Naive twins: every metric and estimator written again as plain f64 loops, using nothing of the core.

pub mod metric;
