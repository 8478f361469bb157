//! `cargo experiment exact`: training on the exact AP objective beside SOAP and cross-entropy, and on a million rows.
//!
//! First table: test AP on the hiv data (its published scaffold split), linear models. Every method gets the same number
//! of grid points and at most the same number of passes over the training rows, a gradient over all of them being one; the
//! point with the best validation AP is judged once on the test part. Exact methods draw nothing, and a linear model
//! starts at 0, so their seeds differ in nothing but the batches of cross-entropy that half of their points begin with, for
//! a fifth of the passes.
//!
//! Second table: generated rows, 1 % positive, 20 columns of which 8 tell the classes apart.

use super::tune;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::{Dataset, Options, Preparation, Scale};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Figures, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::input::{self, Layout};
use undercurve_demo::{output, threads};

/// Options of `experiment exact`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder with hiv.train.svm.gz, hiv.valid.svm.gz and hiv.test.svm.gz
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Passes over the training rows, of every run
    #[arg(long, value_name = "N", default_value_t = 100)]
    passes: u64,
    /// Generated rows of the second table; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rows: usize,
    /// Threads; the results are the same with any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads::parse)]
    pub threads: usize,
}

/// Rows of a batch of the stochastic methods.
const BATCH: u64 = 64;

/// A method and the six points that are tried for it: each start with each decay.
struct Candidate {
    name: &'static str,
    method: &'static str,
    /// Settings of every point.
    fixed: &'static [(&'static str, &'static str)],
    starts: [(&'static str, &'static str); 2],
    decays: [&'static str; 3],
}

const RATES: [(&str, &str); 2] = [("lr", "0.05"), ("lr", "0.005")];
const DECAYS: [&str; 3] = ["0", "1e-4", "1e-3"];
/// The share of the passes that go to batches of cross-entropy.
const EXACT_STARTS: [(&str, &str); 2] = [("pretrain", "20%"), ("pretrain", "0")];
const EXACT_DECAYS: [&str; 3] = ["1e-4", "3e-4", "1e-3"];
/// The squared hinge of the sigmoid of the score, as in SOAP's paper, and in its place smooth losses of the score.
const HINGE: &[(&str, &str)] =
    &[("surrogate", "squared-hinge"), ("link", "sigmoid"), ("margin", "0.5"), ("pretrain", "0")];
const EXACT_HINGE: &[(&str, &str)] = &[("surrogate", "squared-hinge"), ("link", "sigmoid"), ("margin", "1")];
const LOGISTIC: &[(&str, &str)] = &[("surrogate", "logistic"), ("link", "identity"), ("scale", "2"), ("pretrain", "0")];
const EXACT_LOGISTIC: &[(&str, &str)] = &[("surrogate", "logistic"), ("link", "identity"), ("scale", "2")];
const SIGMOID: &[(&str, &str)] = &[("surrogate", "sigmoid"), ("link", "identity"), ("scale", "2")];

const CANDIDATES: [Candidate; 6] = [
    Candidate { name: "ce", method: "ce", fixed: &[], starts: RATES, decays: DECAYS },
    Candidate { name: "soap", method: "soap", fixed: HINGE, starts: RATES, decays: DECAYS },
    Candidate { name: "soap logistic", method: "soap", fixed: LOGISTIC, starts: RATES, decays: DECAYS },
    Candidate { name: "ap-exact", method: "ap-exact", fixed: EXACT_HINGE, starts: EXACT_STARTS, decays: EXACT_DECAYS },
    Candidate {
        name: "ap-exact logistic",
        method: "ap-exact",
        fixed: EXACT_LOGISTIC,
        starts: EXACT_STARTS,
        decays: EXACT_DECAYS,
    },
    Candidate {
        name: "ap-exact sigmoid",
        method: "ap-exact",
        fixed: SIGMOID,
        starts: EXACT_STARTS,
        decays: EXACT_DECAYS,
    },
];

impl Candidate {
    /// The ends of its grid that a point lies on; 0 is the end of a setting's range.
    fn edges(&self, point: [(&'static str, &'static str); 2]) -> impl Iterator<Item = String> {
        let number = |text: &str| text.parse().unwrap_or(f64::NAN);
        let values = [self.starts.map(|start| number(start.1)).to_vec(), self.decays.map(number).to_vec()];
        point.into_iter().zip(values).filter_map(move |((name, value), values)| {
            let choice = name == "pretrain"; // or none
            let end = tune::at_end(number(value), values.into_iter(), (0.0, f64::INFINITY));
            (end && !choice).then(|| format!("{name}={value}"))
        })
    }
}

/// Steps of a run of so many passes over the rows, and how many of them are batches of cross-entropy before exact ones.
fn steps(method: &str, start: (&str, &str), passes: u64, rows: u64) -> (u64, u64) {
    let share = start.1.strip_suffix('%').and_then(|share| share.parse::<u64>().ok()).unwrap_or(0);
    let before = passes * share / 100;
    let batches = |passes: u64| passes * rows / BATCH;
    if is_exact(method) { (batches(before) + passes - before, batches(before)) } else { (batches(passes), 0) }
}

fn is_exact(method: &str) -> bool {
    method.ends_with("-exact")
}

/// Both tables.
///
/// # Errors
/// `Input`.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    for (name, value) in [("seeds", args.seeds), ("passes", args.passes)] {
        if value == 0 {
            return Err(CliError::input(format!("--{name} 0: expected at least 1")));
        }
    }
    real(args, as_json)?;
    if args.rows > 0 { generated(args.rows.max(1000), as_json) } else { Ok(()) }
}

/// The training, validation and test rows of hiv.
fn parts(folder: &Path) -> Result<[Arc<Dataset<f32>>; 3]> {
    let table = |part: &str| input::table(&folder.join(format!("hiv.{part}.svm.gz")), Layout::default(), None);
    let train = table("train")?;
    let preparation = Preparation::fit(&train, &Options { scale: Some(Scale::None), ..Options::default() })?;
    let part = |table| -> Result<Arc<Dataset<f32>>> { Ok(Arc::new(preparation.apply(&table)?)) };
    Ok([part(train)?, part(table("valid")?)?, part(table("test")?)?])
}

/// Average precisions on the validation and on the test part after one run, and its seconds. A run that leaves the
/// number type's range counts as it stands.
fn once(parts: &[Arc<Dataset<f32>>; 3], config: &Config) -> Result<([f64; 2], f64)> {
    let mut trainer = Trainer::new(config, Arc::clone(&parts[0]), None)?;
    let start = Instant::now();
    while trainer.steps_done() < trainer.total_steps() && matches!(trainer.step(), Ok(Some(_))) {}
    let seconds = start.elapsed().as_secs_f64();
    let mut memory = undercurve::metric::Metrics::new();
    let mut ap = |data: &Dataset<f32>| -> Result<f64> {
        let mut scores = vec![0.0; data.len()];
        trainer.score(data.rows(), &mut scores)?;
        Ok(memory.average_precision(&scores, data.labels()).unwrap_or(0.0))
    };
    Ok(([ap(&parts[1])?, ap(&parts[2])?], seconds))
}

fn real(args: &Args, as_json: bool) -> Result<()> {
    let parts = parts(&args.data)?;
    let rows = parts[0].len() as u64;
    let mut edges = Vec::new();
    if !as_json {
        output::line(format!(
            "hiv: test AP of linear models, {} seeds, {} passes over {rows} rows at most",
            args.seeds, args.passes
        ))?;
    }
    for candidate in CANDIDATES {
        let (mut tests, mut valids, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
        let (mut seconds, mut runs) = (0.0, 0);
        for seed in 1..=args.seeds {
            let mut best = ([-1.0; 2], String::new());
            let mut at = [("", ""); 2];
            for start in candidate.starts {
                for decay in candidate.decays {
                    let point = [start, ("decay", decay)];
                    let (steps, before) = steps(candidate.method, start, args.passes, rows);
                    let mut settings: Vec<(String, String)> = candidate
                        .fixed
                        .iter()
                        .chain(&point)
                        .map(|(name, value)| ((*name).into(), (*value).into()))
                        .collect();
                    settings.iter_mut().filter(|own| own.0 == "pretrain").for_each(|own| own.1 = before.to_string());
                    let config = Config {
                        method: candidate.method.into(),
                        settings,
                        seed,
                        length: Length::Steps(steps),
                        ..Config::default()
                    };
                    let (aps, spent) = once(&parts, &config)?;
                    (seconds, runs) = (seconds + spent, runs + 1);
                    if aps[0] > best.0[0] {
                        best = (aps, point.map(|(name, value)| format!("{name}={value}")).join(" "));
                        at = point;
                    }
                }
            }
            edges.extend(
                candidate.edges(at).map(|edge| tune::edge_line(candidate.name, &format!("hiv, seed {seed}"), &edge)),
            );
            valids.push(best.0[0]);
            tests.push(best.0[1]);
            chosen.push(best.1);
        }
        let ((mean, sd), (valid, _)) = (mean_sd(&tests), mean_sd(&valids));
        let each = seconds / f64::from(runs);
        if as_json {
            output::line(json!({
                "bench": "exact", "dataset": "hiv", "method": candidate.name, "test": tests, "mean": mean, "sd": sd,
                "valid": valids, "settings": chosen, "seconds_a_run": each,
            }))?;
        } else {
            output::line(format!(
                "  {:<19}{mean:.4} ±{sd:.4}  valid {valid:.4}  {each:6.2} s a run  {}",
                candidate.name,
                chosen.join("; ")
            ))?;
        }
    }
    edges.iter().try_for_each(|line| if as_json { output::line(json!({"edge": line})) } else { output::line(line) })
}

/// Mean and standard deviation.
fn mean_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, spread.sqrt())
}

/// Rows with standard normal columns; those of positives are shifted in 8 of 20.
fn example(rows: usize, seed: u64) -> Result<Arc<Dataset<f32>>> {
    const COLS: usize = 20;
    let mut random = Rng::new(seed);
    let mut labels: Vec<u8> = (0..rows).map(|_| u8::from(random.uniform() < 0.01)).collect();
    (labels[0], labels[1]) = (0, 1);
    let mut x = Vec::with_capacity(rows * COLS);
    for &label in &labels {
        for column in 0..COLS {
            let shift = if column < 8 { 0.6 * f64::from(label) } else { 0.0 };
            x.push((random.normal() + shift) as f32);
        }
    }
    Ok(Arc::new(Dataset::dense(x, labels, COLS)?))
}

fn generated(rows: usize, as_json: bool) -> Result<()> {
    let (train, test) = (example(rows, 1)?, example(rows / 10, 2)?);
    if !as_json {
        output::line(format!("{rows} generated rows, 20 columns, {} positive", train.positives()))?;
    }
    let linear = ModelSpec::Linear;
    let network = ModelSpec::Mlp { hidden: vec![32], tanh: false };
    // With the squared hinge; `ap-exact` begins with batches of cross-entropy.
    for (method, model, steps, before) in [
        ("ap-exact", &linear, 50, 1000_u64),
        ("auc-exact", &linear, 50, 0),
        ("ap-exact", &network, 20, 1000),
        ("soap", &linear, 3000, 0),
        ("ce", &linear, 3000, 0),
    ] {
        let own: &[(&str, &str)] = match method {
            "ap-exact" => EXACT_HINGE,
            "auc-exact" => &[("surrogate", "squared-hinge"), ("link", "identity"), ("margin", "1")],
            "soap" => HINGE,
            _ => &[],
        };
        let text = before.to_string();
        let start = is_exact(method).then_some(("pretrain", &*text));
        let config = Config {
            method: method.into(),
            model: model.clone(),
            length: Length::Steps(steps + before),
            settings: own.iter().copied().chain(start).map(|(name, value)| (name.into(), value.into())).collect(),
            ..Config::default()
        };
        let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&train), Some(Arc::clone(&test)))?;
        let start = Instant::now();
        while trainer.steps_done() < trainer.total_steps() && trainer.step()?.is_some() {}
        let seconds = start.elapsed().as_secs_f64();
        let report = trainer.report()?;
        let ap = report.test.as_ref().map_or(f64::NAN, ap_of);
        if as_json {
            output::line(json!({
                "bench": "exact", "rows": rows, "method": method, "model": model.to_string(), "steps": report.step,
                "pass": report.pass, "seconds": seconds, "train": ap_of(&report.train), "test": ap,
            }))?;
        } else {
            output::line(format!(
                "  {method:<10}{:<10}{:>5} steps {:>6.1} passes {seconds:>7.2} s  train AP {:.4}  test AP {ap:.4}",
                model.to_string(),
                report.step,
                report.pass,
                ap_of(&report.train)
            ))?;
        }
    }
    Ok(())
}

fn ap_of(figures: &Figures) -> f64 {
    figures.get("ap").unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{CANDIDATES, steps};

    #[test]
    fn points_on_an_end_of_the_grid_are_named() {
        let of = |k: usize, start, decay| CANDIDATES[k].edges([start, ("decay", decay)]).collect::<Vec<_>>();
        assert_eq!(of(0, ("lr", "0.05"), "1e-3"), ["lr=0.05", "decay=1e-3"]);
        assert_eq!(of(0, ("lr", "0.005"), "0"), ["lr=0.005"]);
        assert_eq!(of(3, ("pretrain", "20%"), "3e-4"), [""; 0]);
        assert_eq!(of(3, ("pretrain", "0"), "1e-4"), ["decay=1e-4"]);
    }

    #[test]
    fn all_runs_make_the_same_passes_at_most() {
        let rows = 6400;
        assert_eq!(steps("ce", ("lr", "0.05"), 100, rows), (10_000, 0));
        assert_eq!(steps("ap-exact", ("pretrain", "0"), 100, rows), (100, 0));
        // 80 gradients over all rows, and 20 passes in batches of 64.
        assert_eq!(steps("ap-exact", ("pretrain", "20%"), 100, rows), (80 + 2000, 2000));
    }
}
