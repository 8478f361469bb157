//! What partial AUC costs on many rows: a step of each method, and how long the exact method and `pauc-threshold` take to the
//! same value of the exact objective.
//!
//! Generated rows, 50 columns, 2 % positive. Positives are shifted in 8 columns; one negative in ten, the hard ones that a
//! range of low false-positive rates is about, in 4 of these, and in 4 others. Both minimise the logistic loss at a scale
//! of 4, without decay, after the same 1,000 steps of cross-entropy.

use super::compare;
use super::experiment::{self, Budget, Measured};
use super::tune::Settings;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::Dataset;
use undercurve::estimator::{Exact, Link};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;

/// Options of `experiment pauc-cost`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Rows of the larger set
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10_000..))]
    rows: u64,
    /// The range of false-positive rates
    #[arg(long, value_name = "LOW:HIGH", default_value = "0.02:0.2", value_parser = undercurve_demo::range)]
    fpr: (f64, f64),
    /// 10,000 rows and few steps
    #[arg(long)]
    quick: bool,
}

const COLS: usize = 50;
const SMALL: usize = 10_000;
const START: u64 = 1000;

/// Methods whose steps are timed, with what they need to start.
const TIMED: [&str; 6] = ["ce", "auc-margin", "pauc-threshold", "agd-sbcd", "dca", "pauc-exact"];

fn example(rows: usize, seed: u64) -> Result<Arc<Dataset<f32>>> {
    let mut random = Rng::new(seed);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 50 == 0)).collect();
    let mut x = Vec::with_capacity(rows * COLS);
    for &label in &labels {
        let hard = label == 0 && random.uniform() < 0.1;
        for column in 0..COLS {
            let shift = match column {
                0..4 if hard || label == 1 => 0.9,
                4..8 if label == 1 => 0.6,
                8..12 if hard => 0.6,
                _ => 0.0,
            };
            x.push((random.normal() + shift) as f32);
        }
    }
    Ok(Arc::new(Dataset::dense(x, labels, COLS)?))
}

fn settings(own: &[&str]) -> Settings {
    let of = |text: &str| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    own.iter().flat_map(|text| text.split_whitespace()).filter_map(of).collect()
}

/// Microseconds of a step of each method, the least of several rounds, in batches of 16 positives and 112 negatives.
fn step_times(data: &Arc<Dataset<f32>>, args: &Args) -> Result<Vec<f64>> {
    let mut trainers = Vec::new();
    for method in TIMED {
        let batch = if method == "pauc-exact" { "" } else { super::pauc::BATCH };
        let config = Config {
            method: method.into(),
            settings: settings(&[batch, if method == "ce" { "" } else { "pretrain=10" }]),
            model: ModelSpec::Linear,
            length: Length::Steps(1_000_000),
            fpr: args.fpr,
            ..Config::default()
        };
        let mut trainer = Trainer::<f32>::new(&config, Arc::clone(data), None)?;
        // Past the pre-training, and the first looks at everything.
        let warm = if method == "pauc-exact" { 11 } else { 200 };
        for _ in 0..warm {
            trainer.step()?;
        }
        trainers.push(trainer);
    }
    let mut least = vec![f64::INFINITY; TIMED.len()];
    for _ in 0..if args.quick { 3 } else { 20 } {
        for ((trainer, least), method) in trainers.iter_mut().zip(&mut least).zip(TIMED) {
            let steps = if method == "pauc-exact" { 1 } else { 100 };
            let start = Instant::now();
            for _ in 0..steps {
                trainer.step()?;
            }
            *least = least.min(1e6 * start.elapsed().as_secs_f64() / f64::from(steps));
        }
    }
    Ok(least)
}

/// A run with F on the training rows at its checks.
fn to_the_least(data: &Arc<Dataset<f32>>, args: &Args, method: &str, own: &str, steps: u64) -> Result<Measured> {
    let (objective, scale) = super::pauc::objective("logistic");
    let exact = Exact::pauc(AnySurrogate::by_name("logistic", scale)?, Link::Identity, args.fpr)?;
    let settings = settings(&[objective, "pretrain-lr=0.05", &format!("pretrain={START}"), own]);
    let budget = Budget { steps: START + steps, model: ModelSpec::Linear, checks: 60, fpr: args.fpr };
    let mut along = Vec::new();
    let run = experiment::run(data, method, &settings, 1, &budget, |trainer, seconds| {
        let value = compare::objective_of(exact, trainer, data)?;
        along.push([seconds, value, 0.0]);
        Some(value)
    })?;
    Ok(Measured { on_train: along, ..run })
}

/// Runs the bench.
///
/// # Errors
/// Those of runs.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let rows = if args.quick { SMALL } else { args.rows as usize };
    let (small, large) = (example(SMALL, 1)?, example(rows, 1)?);
    let (few, many) = (step_times(&small, args)?, step_times(&large, args)?);
    if !as_json {
        output::line(format!("A step, µs, {COLS} columns, 16 positives and 112 negatives (pauc-exact: all rows):\n"))?;
        output::line(format!("| method | {SMALL} rows | {rows} rows |\n|---|---|---|"))?;
    }
    for ((method, few), many) in TIMED.iter().zip(&few).zip(&many) {
        if as_json {
            output::line(
                json!({"bench": "pauc-cost", "method": method, "rows": [SMALL, rows], "microseconds": [few, many]}),
            )?;
        } else {
            output::line(format!("| {method} | {few:.1} | {many:.1} |"))?;
        }
    }
    let steps = if args.quick { (20, 1000) } else { (120, 30_000) };
    let exact = to_the_least(&large, args, "pauc-exact", "tolerance=1e-5", steps.0)?;
    let own = format!("{} optimizer=adam schedule=linear lr=0.03 gamma=0.02", super::pauc::BATCH);
    let threshold = to_the_least(&large, args, "pauc-threshold", &own, steps.1)?;
    let least = exact.on_train.iter().chain(&threshold.on_train).map(|at| at[1]).fold(f64::INFINITY, f64::min);
    if !as_json {
        output::line(format!(
            "\n{rows} rows, F of [{}, {}] on them, its least {least:.5}; seconds of training (the start included) to within \
             5 % and 1 % of it:\n",
            args.fpr.0, args.fpr.1
        ))?;
        output::line("| method | 5 % | 1 % | last F | steps | seconds |\n|---|---|---|---|---|---|")?;
    }
    for (method, run) in [("pauc-exact", &exact), ("pauc-threshold", &threshold)] {
        let last = run.on_train.last().ok_or_else(|| CliError::input("a run without checks"))?;
        let within = |share: f64| run.on_train.iter().find(|at| at[1] <= (1.0 + share) * least).map(|at| at[0]);
        let steps = run.checks.last().map_or(0, |check| check.0);
        if as_json {
            output::line(json!({
                "bench": "pauc-cost", "method": method, "rows": rows, "least": least, "last": last[1], "steps": steps,
                "seconds": last[0], "within_5_percent": within(0.05), "within_1_percent": within(0.01),
            }))?;
        } else {
            let [near, nearer] =
                [0.05, 0.01].map(|share| within(share).map_or("never".into(), |seconds| format!("{seconds:.2}")));
            output::line(format!("| {method} | {near} | {nearer} | {:.5} | {steps} | {:.2} |", last[1], last[0]))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{example, settings};

    #[test]
    fn rows_have_their_share_of_positives() {
        let data = example(1000, 1).unwrap();
        assert_eq!((data.len(), data.positives()), (1000, 20));
    }

    #[test]
    fn settings_are_read_from_words() {
        assert_eq!(settings(&["a=1 b=x", "", "c=2"]).len(), 3);
    }
}
