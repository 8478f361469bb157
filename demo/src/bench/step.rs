//! Time of one whole training step: forward, estimator, backward, Adam, on a 32-64-64-1 network with batches of 64.
//!
//! Beside it what a widely used Python library took for the same step on two cores of a server CPU (LibAUC 2.0.1 on torch
//! 2.15): 975 µs, and 295 µs for cross-entropy with SGD alone. Those two are quoted, not measured in this run.

use super::target_features;
use crate::error::Result;
use crate::output;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::Dataset;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

const PEER: f64 = 975.0;
/// Interleaved rounds of so many steps each; the least of a round is what a busy machine disturbs least.
const ROUNDS: usize = 60;
const STEPS: u64 = 50;

/// Times the step of three methods.
///
/// # Errors
/// None in practice.
pub fn run(as_json: bool) -> Result<()> {
    let (rows, cols) = (4096, 32);
    let mut rng = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 8 == 0)).collect();
    let x: Vec<f32> = (0..rows * cols).map(|k| (rng.normal() + 0.3 * f64::from(labels[k / cols])) as f32).collect();
    let data = Arc::new(Dataset::dense(x, labels, cols)?);
    let make = |method: &str, settings: &[(&str, &str)]| {
        let config = Config {
            method: method.into(),
            settings: settings.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            model: ModelSpec::Mlp { hidden: vec![64, 64], tanh: false },
            length: Length::Steps(1_000_000),
            ..Config::default()
        };
        Trainer::<f32>::new(&config, Arc::clone(&data), None)
    };
    let mut soap = make("soap", &[])?;
    let mut margin = make("auc-margin", &[("optimizer", "adam")])?;
    let mut plain = make("ce", &[("optimizer", "sgd")])?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (trainer, times) in [&mut soap, &mut margin, &mut plain].into_iter().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..STEPS {
                trainer.step()?;
            }
            times.push(start.elapsed().as_secs_f64() / STEPS as f64 * 1e6);
        }
    }
    for (name, mut times) in ["SOAP + Adam", "AUC-M + Adam", "CE + SGD"].into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let (least, median) = (times[0], times[ROUNDS / 2]);
        if as_json {
            output::line(json!({
                "bench": "step", "what": name, "microseconds": median, "least": least, "peer_quoted": PEER,
                "ratio": PEER / median, "ratio_least": PEER / least, "target": target_features(),
            }))?;
        } else {
            output::line(format!(
                "{name:<14}median {median:6.1} µs, {:4.1} times the quoted {PEER} µs; least {least:6.1} µs, {:4.1} times",
                PEER / median,
                PEER / least
            ))?;
        }
    }
    Ok(())
}
