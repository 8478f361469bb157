//! The engines beside the ceilings, and beside the processor.
//!
//! What the ceilings allow:
//!
//! - keys, and rows of exact sums: one copy of 160 bytes a row, the traffic of the sort's eight passes over four bits;
//! - steps of runs: the multiply-adds of the model, forward and back.

use super::ceilings::Ceilings;
use super::{Measured, Run, Side, Title, spans};
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::Arc;
use undercurve::Scratch;
use undercurve::data::Dataset;
use undercurve::metric::{FprRange, Metrics};
use undercurve::pairs::{self, Grade};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_demo::error::Result;
use undercurve_gpu::kernel::exact::sort;
use undercurve_gpu::{GpuExact, MultiTrainer};

const KEYS: [usize; 5] = [1000, 10_000, 100_000, 1_000_000, 10_000_000];
const ROWS: [usize; 3] = [10_000, 100_000, 1_000_000];
/// Bytes of a key that a sort of eight passes reads and writes.
pub(super) const SORT_BYTES: f64 = 160.0;
const LOSSES: [&str; 4] = ["hinge", "squared-hinge", "sigmoid", "logistic"];
/// Runs of as many seeds; and of one seed and as many rates, which share their batches.
const RUNS: [(usize, bool); 6] = [(1, false), (16, false), (64, false), (256, false), (1024, false), (256, true)];
const COLUMNS: usize = 32;
/// 8 positives and 56 negatives.
const BATCH: usize = 64;
const WIDTHS: [usize; 2] = [64, 64];

/// Rows of all engines.
pub fn count() -> usize {
    KEYS.len() + (2 * LOSSES.len() + 1) * ROWS.len() + 2 * RUNS.len()
}

/// Scores N(0, 1) for negatives and N(1, 1) for positives, one row in ten.
pub(super) fn example(rows: usize) -> (Vec<f32>, Vec<u8>) {
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 10 == 1)).collect();
    let scores = labels.iter().map(|&label| (random.normal() + f64::from(label)) as f32).collect();
    (scores, labels)
}

/// Keys with their rows, in ascending order.
pub fn sort(run: &mut Run, ceilings: &Ceilings) -> Result<()> {
    let mut exact = GpuExact::new(&run.context, KEYS[0])?;
    let mut costs = [None; 3];
    for rows in KEYS {
        let ceiling = (ceilings.copy / SORT_BYTES, "the copy rate");
        let title =
            Title { engine: "sort", what: "keys with their rows", size: rows.to_string(), unit: "keys/s", ceiling };
        run.row(&title, rows as f64, &mut costs, |run, side, units, seconds| {
            let rows = (units as usize).max(2);
            let (scores, labels) = example(rows);
            let times = if side == Side::Adapter {
                exact.metrics(&scores, &labels)?;
                spans(seconds, |calls| Ok(exact.sort_again(calls)?))
            } else {
                let keys: Vec<u64> =
                    (0..).zip(&scores).map(|(row, &score)| u64::from(sort::key(score)) << 32 | row).collect();
                let mut sorted = keys.clone();
                spans(seconds, |calls| {
                    for _ in 0..calls {
                        sorted.copy_from_slice(&keys);
                        if side == Side::OneThread {
                            sorted.sort_unstable();
                        } else {
                            run.pool.install(|| sorted.par_sort_unstable());
                        }
                        black_box(&sorted);
                    }
                    Ok(())
                })
            }?;
            Ok(Measured { units: rows as f64, size: rows.to_string(), times })
        })?;
    }
    Ok(())
}

/// Metrics, and exact value and gradient of AUC and average precision, from scores in memory to the gradient in memory.
pub fn exact(run: &mut Run, ceilings: &Ceilings) -> Result<()> {
    let mut exact = GpuExact::new(&run.context, ROWS[0])?;
    let sums = ["auc", "ap"].into_iter().flat_map(|sum| LOSSES.map(|loss| Some((sum, loss))));
    for sum in [None].into_iter().chain(sums) {
        let what = sum.map_or("metrics".to_string(), |(sum, loss)| format!("{sum}, {loss}"));
        let mut costs = [None; 3];
        for rows in ROWS {
            let ceiling = (ceilings.copy / SORT_BYTES, "the copy rate");
            let title = Title { engine: "exact", what: &what, size: rows.to_string(), unit: "rows/s", ceiling };
            run.row(&title, rows as f64, &mut costs, |run, side, units, seconds| {
                let rows = (units as usize).max(2);
                let (scores, labels) = example(rows);
                let mut grad = vec![0.0f32; rows];
                let times = match (side, sum) {
                    (Side::Adapter, None) => spans(seconds, |calls| {
                        (0..calls).try_for_each(|_| {
                            black_box(exact.metrics(&scores, &labels)?);
                            Ok(())
                        })
                    }),
                    (Side::Adapter, Some((sum, loss))) => {
                        let loss = AnySurrogate::by_name(loss, 1.0)?;
                        spans(seconds, |calls| {
                            for _ in 0..calls {
                                black_box(match sum {
                                    "auc" => exact.auc(loss, &scores, &labels, &mut grad),
                                    _ => exact.ap(loss, &scores, &labels, &mut grad),
                                }?);
                            }
                            Ok(())
                        })
                    }
                    (_, None) => {
                        let mut metrics = Metrics::new();
                        let range = FprRange::new(0.0, 0.3)?;
                        on_threads(run, side, seconds, || {
                            black_box(metrics.summary(&scores, &labels, range)?);
                            Ok(())
                        })
                    }
                    (_, Some((sum, loss))) => {
                        let loss = AnySurrogate::by_name(loss, 1.0)?;
                        let need = pairs::need(rows, labels.iter().filter(|&&y| y == 1).count());
                        let (mut f64, mut u32, mut u64) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
                        on_threads(run, side, seconds, || {
                            let scratch = Scratch { real: &mut [], f64: &mut f64, u32: &mut u32, u64: &mut u64 };
                            black_box(match sum {
                                "auc" => pairs::auc(&scores, &labels, loss, Grade::Fast, scratch, &mut grad),
                                _ => pairs::ap(&scores, &labels, loss, Grade::Fast, scratch, &mut grad),
                            }?);
                            Ok(())
                        })
                    }
                }?;
                Ok(Measured { units: rows as f64, size: rows.to_string(), times })
            })?;
        }
    }
    Ok(())
}

/// Times of the core on one thread, which is the program's own pool, or on all.
pub(super) fn on_threads(
    run: &Run,
    side: Side,
    seconds: f64,
    mut work: impl FnMut() -> undercurve::Result<()> + Send,
) -> Result<super::Times> {
    spans(seconds, |calls| {
        (0..calls).try_for_each(|_| Ok(if side == Side::OneThread { work() } else { run.pool.install(&mut work) }?))
    })
}

/// Steps of SOAP and Adam on batches of 64, over all runs.
pub fn lanes(run: &mut Run, ceilings: &Ceilings) -> Result<()> {
    let rows = 4096;
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 8 == 0)).collect();
    let x = (0..rows * COLUMNS).map(|k| (random.normal() + 0.3 * f64::from(labels[k / COLUMNS])) as f32).collect();
    let data = Arc::new(Dataset::dense(x, labels, COLUMNS)?);
    let [first, second] = WIDTHS;
    // Forward and by weight; from the second layer on also by input.
    let network = 2 * COLUMNS * first + 3 * first * second + 3 * second;
    for (name, multiply_adds) in [("linear", 2 * COLUMNS), ("32-64-64-1", network)] {
        let ceiling = (ceilings.fma / (BATCH * multiply_adds) as f64, "the FMA rate");
        let make = |seed: u64, rate: f64| {
            let settings = [
                ("surrogate", "squared-hinge"),
                ("pretrain", "0"),
                ("positives", "8"),
                ("negatives", "56"),
                ("lr", &*rate.to_string()),
            ];
            let config = Config {
                method: "soap".into(),
                settings: settings.iter().map(|&(key, value)| (key.into(), value.into())).collect(),
                model: if name == "linear" {
                    ModelSpec::Linear
                } else {
                    ModelSpec::Mlp { hidden: WIDTHS.to_vec(), tanh: false }
                },
                length: Length::Steps(1_000_000),
                seed,
                init: Init::Random,
                ..Config::default()
            };
            Trainer::<f32>::new(&config, Arc::clone(&data), None)
        };
        let mut costs = [None; 3];
        for (runs, one_seed) in RUNS {
            let what = format!("{name}, {}", if one_seed { "a grid of rates" } else { "seeds" });
            let title = Title { engine: "lanes", what: &what, size: size_of_runs(runs), unit: "steps/s", ceiling };
            run.row(&title, runs as f64, &mut costs, |run, side, units, seconds| {
                let runs = match side {
                    Side::Adapter => (units as usize).clamp(1, runs),
                    Side::OneThread => 1,
                    Side::AllThreads => runs.min(run.pool.current_num_threads()),
                };
                let trainers = (0..runs).map(|at| match one_seed {
                    true => make(1, 1e-3 * (1.0 + at as f64 / runs as f64)),
                    false => make(1 + at as u64, 1e-3),
                });
                let mut trainers = trainers.collect::<std::result::Result<Vec<_>, _>>()?;
                let times = if side == Side::Adapter {
                    let mut fleet = MultiTrainer::new(&run.context, trainers)?;
                    spans(seconds, |calls| {
                        fleet.advance(calls as u64);
                        fleet.sync();
                        fleet.failure().map_or(Ok(()), |failure| Err(failure.clone().into()))
                    })
                } else {
                    let step = |trainer: &mut Trainer<f32>, calls| {
                        (0..calls).try_for_each(|_| trainer.step().map(|value| _ = black_box(value)))
                    };
                    spans(seconds, |calls| {
                        Ok(match side {
                            Side::OneThread => step(&mut trainers[0], calls),
                            _ => run.pool.install(|| trainers.par_iter_mut().try_for_each(|one| step(one, calls))),
                        }?)
                    })
                }?;
                Ok(Measured { units: runs as f64, size: size_of_runs(runs), times })
            })?;
        }
    }
    Ok(())
}

fn size_of_runs(runs: usize) -> String {
    if runs == 1 { "1 run".to_string() } else { format!("{runs} runs") }
}
