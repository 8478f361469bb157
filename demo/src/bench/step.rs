//! Time of one whole training step: forward, estimator, backward, Adam, on a 32-64-64-1 network with batches of 64.
//!
//! Beside it what a widely used Python library took for the same step on two cores of a server CPU (LibAUC 2.0.1 on torch
//! 2.15): 975 µs, and 295 µs for cross-entropy with SGD alone. Those two are quoted, not measured in this run.

use super::{medians, target_features};
use crate::error::Result;
use crate::output;
use serde_json::json;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

const PEER: f64 = 975.0;
const STEPS: u64 = 200;

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
    let work = |trainer: &mut Trainer<f32>| {
        for _ in 0..STEPS {
            trainer.step().expect("an ordinary step");
        }
    };
    let seconds = medians(15, [&mut || work(&mut soap), &mut || work(&mut margin), &mut || work(&mut plain)]);
    for (name, seconds) in ["SOAP + Adam", "AUC-M + Adam", "CE + SGD"].iter().zip(seconds) {
        let micros = seconds / STEPS as f64 * 1e6;
        if as_json {
            let features = target_features();
            output::line(json!({
                "bench": "step", "what": name, "microseconds": micros, "peer_quoted": PEER, "ratio": PEER / micros,
                "target": features,
            }))?;
        } else {
            output::line(format!("{name:<14}{micros:8.1} µs  {:5.1} times the quoted {PEER} µs", PEER / micros))?;
        }
    }
    Ok(())
}
