//! What constraints cost: the estimator of an AUC under bounds on both gaps in score space (128 rows, 64 × 64 pairs, 7 levels), and a
//! whole step of SONEX and of Lagrange multipliers beside one of the same pairwise AUC and one of cross-entropy without bounds, on
//! a 32-64-64-1 network with batches of 128. Steps of all alternate.

use super::{medians, target_features};
use serde_json::json;
use std::sync::Arc;
use undercurve::Scratch;
use undercurve::batch::{Batch, Drawn};
use undercurve::constraint::Constraints;
use undercurve::data::Dataset;
use undercurve::estimator::{Constrained, ConstrainedSettings, Estimator, Grad, Tracker, Uses};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_demo::error::Result;
use undercurve_demo::output;

const CELL: u32 = 32;
/// Rounds of so many steps each.
const ROUNDS: usize = 60;
const STEPS: u64 = 50;
/// The goals: microseconds of the estimator, steps of the plain method.
const MOST: f64 = 20.0;
const TIMES: f64 = 2.0;

/// Microseconds of one call of the estimator.
fn estimator() -> Result<f64> {
    let of = ConstrainedSettings {
        constraints: Constraints::roc(0.05),
        groups: 2,
        tracker: Tracker::new(0.3, 0.1)?,
        uses: Uses::Old,
        ..ConstrainedSettings::default()
    };
    let estimator = Constrained::new(of)?;
    let starts = [0, CELL, 2 * CELL, 3 * CELL, 4 * CELL];
    let population = [9592, 15_128, 1179, 6662];
    let mut rng = Rng::new(1);
    let scores: Vec<[Vec<f32>; 2]> = (0..64)
        .map(|_| [0, 1].map(|_| (0..4 * CELL).map(|row| (rng.normal() + f64::from(row / (2 * CELL))) as f32).collect()))
        .collect();
    let batch = |at: usize| {
        let [now, before] = &scores[at % scores.len()];
        Batch::new(now, 1, &starts, &population, Drawn::Stratified)?.with_previous(before)
    };
    let need = Estimator::<f32>::need(&estimator, batch(0)?.shape());
    let (mut real, mut f64s) = (vec![0.0f32; need.real], vec![0.0; need.f64]);
    let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
    let mut state = vec![0.0f32; Estimator::<f32>::state_len(&estimator, 0)];
    let mut grad = vec![0.0f32; 4 * CELL as usize];
    let mut failed = Ok(());
    let mut at = 0;
    let [seconds] = medians(
        ROUNDS,
        [&mut || {
            for _ in 0..STEPS {
                at += 1;
                let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
                let grad = Grad { scores: &mut grad, aux: &mut [] };
                let done = batch(at).and_then(|batch| estimator.update(&batch, &[], &mut state, scratch, grad));
                failed = failed.and(done.map(|_| ()));
            }
        }],
    );
    failed?;
    Ok(seconds / STEPS as f64 * 1e6)
}

/// Runs the bench.
///
/// # Errors
/// None in practice.
pub fn run(as_json: bool) -> Result<()> {
    let (rows, cols) = (4096, 32);
    let mut rng = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 4 == 0)).collect();
    let groups: Vec<u32> = (0..rows as u32).map(|k| k / 4 % 3 / 2).collect();
    let x: Vec<f32> = (0..rows * cols)
        .map(|k| (rng.normal() + 0.3 * f64::from(labels[k / cols]) + 0.2 * f64::from(groups[k / cols])) as f32)
        .collect();
    let data = Dataset::dense(x, labels, cols)?.with_groups(groups, vec!["a".to_string(), "b".to_string()])?;
    let data = Arc::new(data);
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
    let batch = [("positives", "64"), ("negatives", "64"), ("optimizer", "adam")];
    let mut runs = [
        ("pairwise AUC", make("auc-pairwise", &batch)?),
        ("cross-entropy", make("ce", &batch)?),
        ("SONEX", make("sonex", &[])?),
        ("SONEX, correction=0", make("sonex", &[("correction", "0")])?),
        ("multipliers", make("lagrange", &[])?),
    ];
    let mut times = vec![Vec::with_capacity(ROUNDS); runs.len()];
    for _ in 0..ROUNDS {
        for ((_, trainer), times) in runs.iter_mut().zip(&mut times) {
            let start = std::time::Instant::now();
            for _ in 0..STEPS {
                trainer.step()?;
            }
            times.push(start.elapsed().as_secs_f64() / STEPS as f64 * 1e6);
        }
    }
    let of = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    let medians: Vec<f64> = times.iter_mut().map(of).collect();
    let alone = estimator()?;
    let word = |met: bool| if met { "met" } else { "missed" };
    if as_json {
        output::line(json!({
            "bench": "constrained-cost", "what": "estimator", "microseconds": alone, "most": MOST, "target": target_features(),
        }))?;
    } else {
        let met = word(alone <= MOST);
        output::line(format!("{:<22}{alone:6.1} µs   at most {MOST} {met}", "estimator alone"))?;
    }
    for ((name, _), time) in runs.iter().zip(&medians) {
        let times = time / medians[0];
        if as_json {
            output::line(json!({
                "bench": "constrained-cost", "what": name, "microseconds": time, "ratio": times, "most": TIMES,
            }))?;
        } else {
            output::line(format!(
                "step of {name:<22}{time:6.1} µs, {times:4.2} times the first   at most {TIMES} {}",
                word(times <= TIMES)
            ))?;
        }
    }
    Ok(())
}
