//! `undercurve compare`: methods at their defaults on the same folds of a file, against cross-entropy.

mod measure;
pub mod report;
mod tune;

use crate::args::candidates::{BASE, Candidate, CandidateArgs, METRICS};
use crate::args::data::{DataArgs, DataPlan};
use crate::args::train::range;
use crate::args::words;
use crate::error::{CliError, Result};
use crate::input;
use crate::tell::leaks::Leaks;
use crate::tell::paired::mean_sd;
use crate::tell::text::wrap;
use crate::tell::threshold::next;
use crate::{output, threads};
use measure::{Job, Row};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::data::{Dataset, Preparation, Targets, group_folds};
use undercurve::rng::Rng;
use undercurve::trainer::Trainer;

/// The generator's purpose for folds.
const PURPOSE: u64 = 0x666f_6c64;
impl Plan {
    /// The row of cross-entropy with the same model.
    fn base(&self, at: usize) -> usize {
        let model = &self.candidates[at].model;
        self.candidates.iter().position(|other| other.method == BASE && other.model == *model).unwrap_or(0)
    }

    /// What scores that know nothing come to on a fold of so many rows, in the mean.
    fn chance(&self, rows: usize, positives: usize) -> f64 {
        let [n, m] = [rows, positives].map(|count| count as f64 / self.folds as f64);
        match self.metric {
            "auroc" => 0.5,
            // The mean over all orders: 1/n Σ_k (1 + (k − 1)(m − 1)/(n − 1))/k.
            "ap" => {
                let harmonic = (1..=n.round().max(1.0) as usize).map(|k| 1.0 / k as f64).sum::<f64>();
                (harmonic + (m - 1.0) / (n - 1.0) * (n - harmonic)) / n
            }
            _ => 0.5 * (self.fpr.0 + self.fpr.1),
        }
    }
}

/// Options of `compare`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Every fold is held out once, and every method trained on the others by its defaults, with the preparation fitted there. The
interval of a difference to cross-entropy with the same model is that of Student's paired t, with the variance that folds have whose training rows
overlap (Nadeau and Bengio 2003). Of several methods one may be ahead by luck: the interval is of each by itself. The refit of
--out is of the method with the greatest mean on all rows, with --tune chosen anew on them. Seconds are of one training, its share of a
busy machine; the held-out rows decide nothing but the figures.

Examples:
  undercurve compare data.csv --metric ap --out best.model
  undercurve compare data.csv --metric ap --methods soap,ap-exact --model linear --model mlp:64,64
  undercurve compare data.csv --metric auroc --repeats 5 --tune --resume data.runs")]
pub struct Args {
    /// CSV or LIBSVM of two classes, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// What is compared: auroc, ap or pauc
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = words(METRICS))]
    metric: &'static str,
    #[command(flatten)]
    candidates: CandidateArgs,
    /// Folds, drawn by class, or of whole groups (--split-group)
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// Draw the folds so many times anew, for narrower intervals
    #[arg(long, value_name = "R", default_value_t = 1)]
    repeats: usize,
    /// Choose lr and decay of every method, cross-entropy's too, out of thirds and threefolds of its defaults, on a quarter of the
    /// training rows of each fold; ten trainings for each, then, in place of one
    #[arg(long)]
    tune: bool,
    /// False-positive range of the partial AUC
    #[arg(long, value_name = "LO:HI", value_parser = range, default_value = "0:0.05")]
    fpr: (f64, f64),
    /// Decides the folds, the start values and the batches
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads, each with a training of its own; the same bits with any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// Keep every finished training in FILE, and go on from those that are there
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    reading: DataArgs,
    /// Train the method with the greatest mean on all rows, and write its model
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object for each method, and one with the verdict
    #[arg(long)]
    json: bool,
}

/// What is compared, on what and by what.
pub struct Plan {
    file: PathBuf,
    data: DataPlan,
    candidates: Vec<Candidate>,
    /// The models, as they were named.
    models: String,
    metric: &'static str,
    folds: usize,
    repeats: usize,
    tune: bool,
    fpr: (f64, f64),
    seed: u64,
    threads: Option<usize>,
    resume: Option<PathBuf>,
    out: Option<PathBuf>,
    json: bool,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self { data: file, metric, folds, repeats, tune, fpr, seed, threads, resume, out, json, .. } = self;
        if folds < 2 {
            return Err(CliError::input(format!("--folds {folds}: expected at least 2")));
        }
        if repeats == 0 {
            return Err(CliError::input("--repeats 0: expected at least 1"));
        }
        let candidates = self.candidates.check(metric)?;
        if let Some(path) = &out {
            output::check_output(path, &[&file])?;
        }
        let (data, models) = (self.reading.check(), self.candidates.models());
        Ok(Plan { file, data, candidates, models, metric, folds, repeats, tune, fpr, seed, threads, resume, out, json })
    }
}

pub fn run(args: Args) -> Result<()> {
    let plan = args.check()?;
    if let Some(count) = plan.threads {
        threads::limit(count)?;
    }
    let options = &plan.data.options;
    let table = input::table_of(&plan.file, &plan.data)?;
    input::check_columns(options, &table)?;
    let whole = Preparation::fit(&table, options)?;
    let all = whole.apply::<f32>(&table)?;
    input::say(&input::reading_notes(&table, Some(options), &plan.file));
    let file = plan.file.display();
    Leaks::of(&table, options, &all).notes().iter().for_each(|note| output::note(format_args!("{file}: {note}")));
    let folds = (0..plan.repeats).map(|repeat| folds(&all, &plan, repeat)).collect::<Result<Vec<_>>>()?;
    let job = Job { plan: &plan, table: &table, whole: &whole, folds: &folds, data: all.fingerprint() };
    let rows = job.measure()?;
    report::print(&plan, &rows, &all)?;
    plan.out.as_ref().map_or(Ok(()), |path| refit(&job, &rows[report::best(&rows)], all, path))
}

/// Trains the best method on all rows, and writes its model.
fn refit(job: &Job<'_>, best: &Row, all: Dataset<f32>, path: &Path) -> Result<()> {
    let (plan, all) = (job.plan, Arc::new(all));
    let config = match plan.tune {
        // By the rows that are there now, as on each fold.
        true => tune::choose(&job.config(&best.candidate, &all)?, &all, plan.metric, plan.seed)?.config,
        false => job.config(&best.candidate, &all)?,
    };
    let mut trainer = Trainer::new(&config, all, None)?;
    trainer.run()?;
    let (done, of) = (trainer.steps_done(), trainer.total_steps());
    let name = format!("{} folds {}", plan.folds, plan.metric);
    let trained = Trained { step: done, done, of, over: true, figures: vec![(name, mean_sd(&best.values()).0)] };
    let file = SavedModel { trained, ..trainer.predictor().file(job.whole.clone()) };
    output::write_atomic(path, &file.to_bytes())?;
    if plan.json {
        return Ok(());
    }
    output::line(format!("{} on all rows is in {}", best.candidate.name, path.display()))?;
    output::line(wrap(&next(path), 2))
}

/// The fold of each row: of every class as many in each, or one more.
fn folds(data: &Dataset<f32>, plan: &Plan, repeat: usize) -> Result<Vec<usize>> {
    let Targets::Binary(labels) = data.targets() else {
        return Err(CliError::input(format!("{}: compare is for two classes", plan.file.display())));
    };
    if !data.split_ranks().is_empty() {
        return Err(CliError::input("--split-by: folds have no order; --split-group keeps rows together"));
    }
    if !data.split_groups().is_empty() {
        let classes: Vec<u32> = labels.iter().map(|&label| label.into()).collect();
        let seed = plan.seed.wrapping_add(repeat as u64);
        let folds = group_folds(&classes, data.split_groups(), plan.folds, seed)
            .map_err(|_| CliError::input(format!("--folds {}: there are fewer groups (--split-group)", plan.folds)))?;
        return Ok(folds.into_iter().map(|fold| fold as usize).collect());
    }
    let mut fold = vec![0; labels.len()];
    let mut rng = Rng::keyed(plan.seed, PURPOSE, repeat as u64);
    for class in [0, 1] {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        if rows.len() < plan.folds {
            let word = if class == 1 { "positive" } else { "negative" };
            return Err(CliError::input(format!("--folds {}: there are {} {word} rows", plan.folds, rows.len())));
        }
        rng.shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = at % plan.folds);
    }
    Ok(fold)
}
