//! What of `pauc-threshold`'s lead over AGD-SBCD comes from steps that fall, from Adam and from the mean of the last quarter
//! of the iterates: each of the two with and without them, at the rate that the validation rows choose for it.
//!
//! All minimise the logistic loss at a scale of 4 without decay after the same third of cross-entropy, in batches of 16
//! positives and 112 negatives; a row of the table has one rate for its iterate and one for its mean, from the same runs.

use super::compare;
use super::experiment::{Candidate, DATASETS, Parts, Source, Thin, text};
use super::tune::Settings;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use undercurve::data::{Dataset, Selection};
use undercurve::estimator::{Exact, Link};
use undercurve::metric::{FprRange, Metrics, TieRule};
use undercurve::model::Model;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;
use undercurve_demo::paired::{Difference, mean_sd};
use undercurve_demo::store;

/// Options of `experiment pauc-ablation`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Data sets, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "annthyroid,mammography,ijcnn1")]
    datasets: Vec<String>,
    /// The range of false-positive rates
    #[arg(long, value_name = "LOW:HIGH", default_value = "0.05:0.5", value_parser = undercurve_demo::range)]
    fpr: (f64, f64),
    /// Splits that rates are chosen on: 1 to N
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    tuning: u64,
    /// Splits that are judged on: the N after those
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    splits: u64,
    /// Steps of every run
    #[arg(long, value_name = "N", default_value_t = 6000, value_parser = clap::value_parser!(u64).range(100..))]
    steps: u64,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// annthyroid only, one split to tune on and two to judge on, few steps and rates
    #[arg(long)]
    quick: bool,
}

impl Args {
    fn steps(&self) -> u64 {
        if self.quick { 600 } else { self.steps }
    }
}

/// The variants, each with its rates.
fn variants(quick: bool) -> Vec<Candidate> {
    let objective = super::pauc::objective("logistic").0;
    let rates = |values: &[&str]| {
        let values = if quick { &values[1..3] } else { values };
        values.iter().map(|rate| format!("lr={rate}")).collect::<Vec<_>>().join(" | ")
    };
    let new = |name, method, own: &str, values: &[&str]| {
        let axes = [objective, super::pauc::START, super::pauc::BATCH, own, &rates(values)];
        Candidate::new(name, method, &axes)
    };
    let adam = ["0.001", "0.003", "0.01", "0.03", "0.1", "0.3"];
    let plain = ["0.03", "0.1", "0.3", "1", "3", "10"];
    vec![
        new("threshold, Adam, falling", "pauc-threshold", "optimizer=adam schedule=linear", &adam),
        new("threshold, Adam, constant", "pauc-threshold", "optimizer=adam schedule=constant", &adam),
        new("threshold, SGD, falling", "pauc-threshold", "optimizer=sgd schedule=linear", &plain),
        new("threshold, SGD, constant", "pauc-threshold", "optimizer=sgd schedule=constant", &plain),
        new("AGD-SBCD, falling", "agd-sbcd", "relax=0.5 stage=40 theta=0.3 schedule=linear", &plain),
        new("AGD-SBCD, by stages alone", "agd-sbcd", "relax=0.5 stage=40 theta=0.3 schedule=constant", &plain),
    ]
}

/// What a model came to.
#[derive(Clone, Copy, Default)]
struct Value {
    valid: f64,
    test: f64,
    /// The exact objective on the training rows.
    objective: f64,
}

/// A run by variant, point and split: its last iterate and its mean.
type Done = ((usize, usize, usize), [Value; 2]);

struct Bench<'a> {
    args: &'a Args,
    exact: Exact,
}

impl Bench<'_> {
    /// One run: its last iterate, and the mean of the iterates of its last quarter.
    fn run(&self, parts: &Parts<f32>, method: &str, settings: &Settings, seed: u64) -> Result<[Value; 2]> {
        let steps = self.args.steps();
        let config = Config {
            // (Networks of the published experiments begin at random.)
            init: Init::Random,
            method: method.into(),
            settings: settings.clone(),
            model: ModelSpec::Linear,
            seed,
            length: Length::Steps(steps),
            fpr: self.args.fpr,
            constraints: Vec::new(),
            class_weights: Vec::new(),
        };
        let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&parts.train), None)?;
        let (mut mean, mut count) = (vec![0.0f64; trainer.params().len()], 0.0);
        while trainer.step()?.is_some() {
            if 4 * trainer.steps_done() > 3 * steps {
                count += 1.0;
                mean.iter_mut().zip(trainer.params()).for_each(|(mean, &w)| *mean += (f64::from(w) - *mean) / count);
            }
        }
        let last = trainer.params().to_vec();
        // A method that ended before has nothing to average.
        let mean = if count > 0.0 { mean.iter().map(|&w| w as f32).collect() } else { last.clone() };
        Ok([self.value(&trainer, &last, parts)?, self.value(&trainer, &mean, parts)?])
    }

    fn value(&self, trainer: &Trainer<f32>, params: &[f32], parts: &Parts<f32>) -> Result<Value> {
        let scores = |data: &Dataset<f32>| -> Result<Vec<f32>> {
            let mut scores = vec![0.0; data.len()];
            let mut cache = vec![0.0; Model::<f32>::cache_len(trainer.model(), data.len())];
            trainer.model().forward(params, Selection::all(data.rows()), &mut cache, &mut scores)?;
            Ok(scores)
        };
        let (low, high) = self.args.fpr;
        let range = FprRange::new(low, high)?;
        let metric = |data: &Dataset<f32>| -> Result<f64> {
            Ok(Metrics::new().partial_auc(&scores(data)?, data.labels(), range, TieRule::Trapezoid)?)
        };
        let objective = compare::objective(self.exact, &scores(&parts.train)?, parts.train.labels());
        let objective = objective.ok_or_else(|| CliError::input("the objective has no value at the model"))?;
        Ok(Value { valid: metric(&parts.valid)?, test: metric(&parts.test)?, objective })
    }
}

/// Runs the bench.
///
/// # Errors
/// `Input`; those of runs.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let (_, scale) = super::pauc::objective("logistic");
    let exact = Exact::pauc(AnySurrogate::by_name("logistic", scale)?, Link::Identity, args.fpr)?;
    let bench = Bench { args, exact };
    let (tuning, splits) = if args.quick { (1, 2) } else { (args.tuning, args.splits) };
    let names: Vec<&str> =
        if args.quick { vec![DATASETS[0]] } else { args.datasets.iter().map(String::as_str).collect() };
    let variants = variants(args.quick);
    let bar = ProgressBar::new(0);
    let style = "{bar:30} {pos}/{len} runs  {msg}  {elapsed}";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    for name in names {
        bar.set_message(name.to_owned());
        let source = Source::open(&args.data, name)?;
        let parts: Vec<Parts<f32>> =
            (1..=tuning + splits).map(|split| source.parts(split, Thin::No)).collect::<Result<_>>()?;
        let start = Candidate::new("CE", "ce", &[super::pauc::BATCH]);
        let best = Candidate::new("exact", "pauc-exact", &[super::pauc::objective("logistic").0, super::pauc::START]);
        let all: Vec<&Candidate> = [&start, &best].into_iter().chain(&variants).collect();
        let grids: Vec<Vec<Settings>> = all.iter().map(|one| one.grid(args.steps())).collect();
        let jobs: Vec<(usize, usize, usize)> = (grids.iter().enumerate())
            .flat_map(|(k, grid)| (0..grid.len()).map(move |point| (k, point)))
            .flat_map(|(k, point)| (0..parts.len()).map(move |split| (k, point, split)))
            .collect();
        bar.inc_length(jobs.len() as u64);
        let done: Mutex<Vec<Done>> = Mutex::new(Vec::new());
        store::in_parallel(&jobs, args.jobs.unwrap_or_else(store::cores).max(1), |&(k, point, split)| {
            let values = bench.run(&parts[split], &all[k].method, &grids[k][point], split as u64 + 1)?;
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(((k, point, split), values));
            bar.inc(1);
            Ok(())
        })?;
        let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        // By variant and column: the chosen point, and its values on the splits that judge.
        let chosen = |k: usize, column: usize| {
            let of = |point: usize, split: usize| {
                let found = done.iter().find(|one| one.0 == (k, point, split));
                found.map_or_else(Value::default, |one| one.1[column])
            };
            let valid = |point: usize| (0..tuning as usize).map(|split| of(point, split).valid).sum::<f64>();
            let best = (0..grids[k].len()).max_by(|&a, &b| valid(a).total_cmp(&valid(b))).unwrap_or(0);
            (best, (tuning as usize..parts.len()).map(|split| of(best, split)).collect::<Vec<Value>>())
        };
        let of = |values: &[Value], what: fn(&Value) -> f64| values.iter().map(what).collect::<Vec<f64>>();
        let base = of(&chosen(0, 0).1, |one| one.test);
        let column = |k: usize, column: usize| {
            let (point, values) = chosen(k, column);
            let gain = Difference::new(&of(&values, |one| one.test), &base);
            let objective = mean_sd(&of(&values, |one| one.objective)).0;
            (grids[k][point].clone(), gain, objective)
        };
        bar.suspend(|| said(name, &all, &column, (args.fpr, splits), as_json))?;
    }
    bar.finish_and_clear();
    Ok(())
}

type Column<'a> = dyn Fn(usize, usize) -> (Settings, Difference, f64) + 'a;

fn said(
    name: &str,
    all: &[&Candidate],
    column: &Column<'_>,
    (fpr, splits): ((f64, f64), u64),
    as_json: bool,
) -> Result<()> {
    if !as_json {
        output::line(format!(
            "{name}, test pAUC {}:{} over cross-entropy's, mean of {splits} splits with its 95 % interval (paired t), and the \
             exact objective F on the training rows:\n",
            fpr.0, fpr.1
        ))?;
        output::line("| variant | the last iterate | F | rate | mean of the last quarter | F | rate |")?;
        output::line(format!("|---|{}", "---|".repeat(6)))?;
    }
    for (k, candidate) in all.iter().enumerate().skip(1) {
        let columns = [0, 1].map(|which| column(k, which));
        if as_json {
            let [last, mean] = columns.map(|(settings, gain, objective)| {
                json!({"gain": gain.mean, "half": gain.half, "objective": objective, "settings": text(&settings)})
            });
            let line = json!({"bench": "pauc-ablation", "dataset": name, "variant": candidate.name, "iterate": last, "mean": mean});
            output::line(line)?;
            continue;
        }
        let cells = columns.map(|(settings, gain, objective)| {
            let rate = settings.iter().find(|one| one.0 == "lr").map_or("–", |one| &*one.1);
            format!("{:+.4} ± {:.4} | {objective:.4} | {rate}", gain.mean, gain.half)
        });
        output::line(format!("| {} | {} |", candidate.name, cells.join(" | ")))?;
    }
    if !as_json {
        output::line("")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::variants;

    #[test]
    fn every_variant_has_as_many_rates() {
        for (quick, rates) in [(false, 6), (true, 2)] {
            assert!(variants(quick).iter().all(|variant| variant.grid(6000).len() == rates));
        }
    }
}
