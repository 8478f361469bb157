//! Exact objectives: evaluations by the parameters of a linear model, as a run asks for them; and of few rows, where a call
//! costs more than what it computes.
//!
//! What the ceiling allows: one copy of the sort's 160 bytes a row ([`engines`](super::engines)), and of twice the row.

use super::ceilings::Ceilings;
use super::engines::{SORT_BYTES, example, on_threads};
use super::{Measured, Run, Side, Title, spans};
use std::hint::black_box;
use std::sync::Arc;
use undercurve::Scratch;
use undercurve::data::Dataset;
use undercurve::pairs::{self, Grade};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Length, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_gpu::{GpuExact, GpuObjective};

const METHODS: [&str; 2] = ["auc-exact", "ap-exact"];
const ROWS: [usize; 3] = [10_000, 100_000, 1_000_000];
const COLUMNS: usize = 32;
/// Few rows, half of them positives.
const FEW: [usize; 4] = [100, 1000, 10_000, 100_000];

/// Rows of the table.
pub const COUNT: usize = METHODS.len() * ROWS.len() + FEW.len();

/// Steps of gradient descent from the first on.
pub fn training(run: &mut Run, ceilings: &Ceilings) -> Result<()> {
    for method in METHODS {
        let mut costs = [None; 3];
        for rows in ROWS {
            let ceiling = (ceilings.copy / (SORT_BYTES + 8.0 * COLUMNS as f64), "the copy rate");
            let what = format!("{method}, {COLUMNS} columns");
            let title = Title { engine: "whole", what: &what, size: rows.to_string(), unit: "rows/s", ceiling };
            run.row(&title, rows as f64, &mut costs, |run, side, units, seconds| {
                let rows = (units as usize).max(20);
                let mut trainer = trainer(method, rows)?;
                let times = if side == Side::Adapter {
                    let mut objective = GpuObjective::of(&run.context, &trainer)?;
                    spans(seconds, |calls| {
                        (0..calls).try_for_each(|_| match objective.step(&mut trainer)? {
                            true => Ok(()),
                            false => Err(CliError::Failed(anyhow::anyhow!("a step of {method} was not the adapter's"))),
                        })
                    })
                } else {
                    on_threads(run, side, seconds, || trainer.step().map(|value| _ = black_box(value)))
                }?;
                Ok(Measured { units: rows as f64, size: rows.to_string(), times })
            })?;
        }
    }
    Ok(())
}

fn trainer(method: &str, rows: usize) -> Result<Trainer<f32>> {
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 10 == 1)).collect();
    let x = (0..rows * COLUMNS).map(|k| (random.normal() + 0.3 * f64::from(labels[k / COLUMNS])) as f32).collect();
    let settings = [("optimizer", "sgd"), ("lr", "0.01"), ("pretrain", "0")];
    let config = Config {
        method: method.into(),
        settings: settings.iter().map(|&(key, value)| (key.into(), value.into())).collect(),
        length: Length::Steps(1 << 40),
        ..Config::default()
    };
    Ok(Trainer::new(&config, Arc::new(Dataset::dense(x, labels, COLUMNS)?), None)?)
}

/// Value and gradient of the squared hinge by the scores of few rows.
pub fn few(run: &mut Run, ceilings: &Ceilings) -> Result<()> {
    let loss = AnySurrogate::by_name("squared-hinge", 1.0)?;
    let mut exact = GpuExact::new(&run.context, FEW[0])?;
    let mut costs = [None; 3];
    for rows in FEW {
        let ceiling = (ceilings.copy / SORT_BYTES, "the copy rate");
        let title = Title { engine: "auc", what: "squared-hinge", size: rows.to_string(), unit: "rows/s", ceiling };
        run.row(&title, rows as f64, &mut costs, |run, side, units, seconds| {
            let half = (units as usize / 2).max(1);
            let (scores, _) = example(2 * half);
            let labels: Vec<u8> = (0..2 * half).map(|k| u8::from(k >= half)).collect();
            let mut grad = vec![0.0f32; 2 * half];
            let times = if side == Side::Adapter {
                spans(seconds, |calls| {
                    (0..calls).try_for_each(|_| {
                        black_box(exact.auc(loss, &scores, &labels, &mut grad)?);
                        Ok(())
                    })
                })
            } else {
                let need = pairs::need(2 * half, half);
                let (mut f64, mut u32, mut u64) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
                on_threads(run, side, seconds, || {
                    let scratch = Scratch { real: &mut [], f64: &mut f64, u32: &mut u32, u64: &mut u64 };
                    black_box(pairs::auc(&scores, &labels, loss.to(), Grade::Fast, scratch, &mut grad)?);
                    Ok(())
                })
            }?;
            Ok(Measured { units: 2.0 * half as f64, size: (2 * half).to_string(), times })
        })?;
    }
    Ok(())
}
