//! Time of one whole training step: forward, estimator, backward, Adam, on a 32-64-64-1 network with batches of 64.
//!
//! Beside it what a widely used Python library took for the same step on two cores of a server CPU (LibAUC 2.0.1 on torch
//! 2.15): 975 µs, and 295 µs for cross-entropy with SGD alone. Those two are quoted, not measured in this run.
//!
//! Then the same step of SOAP, with no decay, in a run of 12,000 on data that the network separates, where the loss
//! vanishes and with it gradients, moments and σ(s)(1 − σ(s)). Where these are let fade into subnormal numbers, Intel CPUs
//! take three times as long for a step (those of AMD hardly longer), so the time of a step must stay that of the first 300.
//! Steps of each window alternate with those of a run that has just begun: what else the machine does hits both.

use super::target_features;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::Dataset;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// The peer's loss, behind the paper's link; no steps of cross-entropy come first.
const SOAP: [(&str, &str); 3] = [("surrogate", "squared-hinge"), ("link", "sigmoid"), ("pretrain", "0")];
const PEER: f64 = 975.0;
/// Interleaved rounds of so many steps each; the least of a round is what a busy machine disturbs least.
const ROUNDS: usize = 60;
const STEPS: u64 = 50;
/// Where the windows of the long run begin, their length, and by how much the last may be slower than the first.
const WINDOWS: [u64; 5] = [0, 3000, 6000, 9000, 11_700];
const WINDOW: usize = 300;
const SLOWER: f64 = 1.1;

/// Times the step of three methods, and the windows of a long run.
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
            init: Init::Random,
            ..Config::default()
        };
        Trainer::<f32>::new(&config, Arc::clone(&data), None)
    };
    let mut soap = make("soap", &SOAP)?;
    let mut margin = make("auc-margin", &[("optimizer", "adam"), ("pretrain", "0")])?;
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
    for (title, settings) in [
        ("margin .5, rate .02", [("margin", "0.5"), ("lr", "0.02"), ("schedule", "linear")]),
        ("margin 1, rate .05", [("margin", "1"), ("lr", "0.05"), ("schedule", "constant")]),
    ] {
        let settings: Vec<_> = SOAP.into_iter().chain([("decay", "0")]).chain(settings).collect();
        long_run(title, &settings, as_json)?;
    }
    Ok(())
}

/// Prints the time of a step in each window of a run whose loss vanishes, beside that of a run that has just begun.
fn long_run(title: &str, settings: &[(&str, &str)], as_json: bool) -> Result<()> {
    let (rows, cols) = (4096, 32);
    let mut rng = Rng::new(2);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 8 == 0)).collect();
    let side = |k: usize| if labels[k / cols] == 1 { 2.0 } else { -2.0 };
    let x: Vec<f32> = (0..rows * cols).map(|k| (0.5 * rng.normal() + side(k)) as f32).collect();
    let data = Arc::new(Dataset::dense(x, labels, cols)?);
    let config = Config {
        method: "soap".into(),
        settings: settings.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
        model: ModelSpec::Mlp { hidden: vec![64, 64], tanh: false },
        length: Length::Steps(WINDOWS[WINDOWS.len() - 1] + WINDOW as u64),
        init: Init::Random,
        ..Config::default()
    };
    let mut long = Trainer::<f32>::new(&config, Arc::clone(&data), None)?;
    for from in WINDOWS {
        while long.steps_done() < from {
            long.step()?;
        }
        let mut begun = Trainer::<f32>::new(&config, Arc::clone(&data), None)?;
        let mut times = [Vec::with_capacity(WINDOW), Vec::with_capacity(WINDOW)];
        for _ in 0..WINDOW {
            for (trainer, times) in [&mut begun, &mut long].into_iter().zip(&mut times) {
                let start = Instant::now();
                trainer.step()?;
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        let [first, here] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[WINDOW / 2]
        });
        let to = from + WINDOW as u64;
        if as_json {
            output::line(json!({
                "bench": "step", "what": "SOAP, the loss vanishes", "settings": title, "from": from, "to": to,
                "microseconds": here, "first_microseconds": first, "ratio": here / first, "most": SLOWER,
            }))?;
        } else {
            let word = if here <= SLOWER * first { "met" } else { "missed" };
            output::line(format!(
                "SOAP, the loss vanishes, {title}: steps {from:>6} to {to:>6}: {here:5.1} µs, {:.2} times the {first:5.1} µs \
                 of the first {WINDOW}   at most {SLOWER} {word}",
                here / first
            ))?;
        }
    }
    Ok(())
}
