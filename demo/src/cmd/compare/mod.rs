//! `undercurve compare`: models on the same folds of a file, then one loss on the best; or methods that are named, against cross-entropy.

mod report;

use crate::args::candidates::CandidateArgs;
use crate::args::data::{DataArgs, DataPlan};
use crate::args::train::range;
use crate::error::{CliError, Result};
use crate::input;
use crate::run::searching::{Desk, class_weights};
use crate::tell::leaks::Leaks;
use crate::tell::text::wrap;
use crate::tell::threshold::next;
use crate::{output, threads};
use report::Table;
use std::path::{Path, PathBuf};
use undercurve::data::Preparation;
use undercurve_search::{Candidate, Folds, Job, MOST_ROWS, Refit, Row, Search, Want, search, want};

/// Options of `compare`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Without --methods and --model it searches models: a ridge of the columns, of their ranks and of splines, and networks of each; the mean of
five networks where one leads; then one loss for the metric on the best. It takes the simplest that is within a standard error of the best.
Every fold is held out once, and every candidate trained on the others, with the preparation fitted there. Intervals of differences
are those of Student's paired t, with the variance that folds have whose training rows overlap (Nadeau and Bengio 2003); each is of one candidate by
itself, of several one may be ahead by luck. Seconds are of one training, its share of a busy machine. The refit of --out is on all rows.

Examples:
  undercurve compare data.csv --metric ap --out best.model
  undercurve compare data.csv --metric ap --methods soap,ap-exact --model linear --model mlp:64,64
  undercurve compare data.csv --metric auroc --methods auc-margin --repeats 5 --resume data.runs")]
pub struct Args {
    /// CSV or LIBSVM of two classes, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// What is wanted, and compared: ap, auroc, pauc (over --fpr), "fpr<=0.001", "100 alerts" (of as many rows) or recall@100
    #[arg(long, alias = "metric", value_name = "WHAT", default_value = "ap", value_parser = want)]
    want: Want,
    #[command(flatten)]
    candidates: CandidateArgs,
    /// Folds, drawn by class, or of whole groups (--split-group), or each of later rows (--split-by) [default: 5; of a search from 20,000 rows on 3]
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// Draw the folds so many times anew, for narrower intervals
    #[arg(long, value_name = "R", default_value_t = 1)]
    repeats: usize,
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
    /// Train what was taken on all rows, and write its model
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object for each candidate, and one with the verdict
    #[arg(long)]
    json: bool,
}

/// What is compared, on what and by what.
pub struct Plan {
    file: PathBuf,
    data: DataPlan,
    /// What was named; none where models are searched.
    candidates: Option<Vec<Candidate>>,
    repeats: usize,
    seed: u64,
    out: Option<PathBuf>,
    json: bool,
}

pub fn run(args: Args) -> Result<()> {
    let Args { data: file, want, folds, repeats, fpr, seed, threads, resume, out, json, .. } = args;
    if let Some(folds) = folds.filter(|&folds| folds < 2) {
        return Err(CliError::input(format!("--folds {folds}: expected at least 2")));
    }
    if repeats == 0 {
        return Err(CliError::input("--repeats 0: expected at least 1"));
    }
    // (Before anything is read. What the metric is called matters for the ridge alone.)
    args.candidates.check("ap")?;
    if let Some(path) = &out {
        output::check_output(path, &[&file])?;
    }
    if let Some(count) = threads {
        threads::limit(count)?;
    }
    let data = args.reading.check();
    let options = &data.options;
    let table = input::table_of(&file, &data)?;
    input::check_columns(options, &table)?;
    let whole = Preparation::fit(&table, options)?;
    let all = whole.apply::<f32>(&table)?;
    input::say(&input::reading_notes(&table, Some(options), &file));
    let shown = file.display();
    if all.labels().is_empty() {
        return Err(CliError::input(format!("{shown}: compare is for two classes")));
    }
    Leaks::of(&table, options, &all).notes().iter().for_each(|note| output::note(format_args!("{shown}: {note}")));
    let (metric, fpr) = want.of(all.len(), all.positives(), fpr).map_err(input::want_refused)?;
    let candidates = args.candidates.check(metric)?;
    let most = if candidates.is_some() { usize::MAX } else { MOST_ROWS };
    let count = folds.unwrap_or_else(|| if candidates.is_some() { 5 } else { undercurve_search::folds(all.len()) });
    let folds = Folds::new(&all, count, repeats, seed, most)?;
    let plan = Plan { file, data, candidates, repeats, seed, out, json };
    let (desk, weights) = (Desk::new(resume.as_deref())?, class_weights(&plan.data));
    let class_weights = plan.data.class_weight.clone().map(|text| (text, &weights as _));
    let mut job = Job::new(&table, &plan.data.options, folds, (&whole, &all), &desk);
    (job.class_weights, job.metric, job.fpr, job.seed, job.threads) = (class_weights, metric, fpr, seed, threads);
    let (rows, taken) = match &plan.candidates {
        Some(candidates) => {
            let rows = job.measure(candidates)?;
            let taken = (1..rows.len()).fold(0, |best, at| if rows[at].mean() > rows[best].mean() { at } else { best });
            (rows, taken)
        }
        None => {
            let Search { rows, taken } = search(&job, &all)?;
            (rows, taken)
        }
    };
    Table::new(&plan, &job, &rows, taken, &all).print()?;
    plan.out.as_ref().map_or(Ok(()), |path| refit(&plan, &job, &rows[taken], path))
}

/// Trains what was taken on all rows, and writes its model.
fn refit(plan: &Plan, job: &Job<'_>, taken: &Row, path: &Path) -> Result<()> {
    let Refit { file, .. } = Refit::of(job, taken)?;
    output::write_atomic(path, &file.to_bytes())?;
    if plan.json {
        return Ok(());
    }
    output::line(format!("{} on all rows is in {}", taken.candidate.name, path.display()))?;
    output::line(wrap(&next(path), 2))
}
