//! Tunes methods on data sets under equal rules, judges each once on other splits, and prints the tables.
//!
//! Rules, the same for every method of a table:
//!
//! - **Tuning** sees three splits. A point is trained on the training part of each and measured on its validation part at
//!   the same evenly spaced checks; its value is the best mean of a check over the splits. [`tune`] goes from point to
//!   point, with the same most points for each method. One point and one check come out of it for a method and a set.
//! - **Judging** sees ten other splits: that point is trained on the training part of each with the split's seed and
//!   measured on its test part at that check. All methods have the same splits, seeds and batches, so differences are
//!   taken in pairs.
//! - A method without a grid, as it is shipped, is judged at its last check.

mod report;

use super::experiment::{self, Budget, Candidate, DATASETS, Measured, Parts, Source, Thin, text};
use super::gap::{self, Problem};
use super::tune::{self, Axis, Point, Settings, Tried};
use indicatif::{ProgressBar, ProgressStyle};
use report::{Printed, figures};
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use undercurve::Scratch;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::Dataset;
use undercurve::estimator::{Estimator, Exact};
use undercurve::metric::Summary;
use undercurve::trainer::{Figures, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;
use undercurve_demo::paired::{Difference, mean_sd};
use undercurve_demo::store::{self, Store};

/// Options of `experiment auprc`, `experiment auroc`, `experiment pauc` and `experiment sorr`.
#[derive(clap::Args, Debug)]
#[group(skip)] // the benches that flatten this have a group of the same name
pub struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Data sets, with commas between them [default: annthyroid, mammography, ijcnn1, w8a, hiv]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    datasets: Vec<String>,
    /// Only these methods of the table, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Candidates from FILE instead of the bench's own, one a line: NAME; METHOD; a=1 | a=2; b=3 | b=4 …
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// Stop after tuning and print the best validation metric: for choosing grids
    #[arg(long)]
    valid: bool,
    /// Splits that tuning sees: 1 to N
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    tuning: u64,
    /// Splits that methods are judged on: the N after those
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    splits: u64,
    /// Points that tuning may try for a method and a set
    #[arg(long, value_name = "N", default_value_t = 96, value_parser = clap::value_parser!(u64).range(1..))]
    points: u64,
    /// Steps of every run [default: 3000, or those of the table]
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// linear, or mlp:WIDTHS
    #[arg(long, default_value = "linear")]
    model: String,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Keep every finished run in FOLDER/runs.jsonl; a bench that is started again continues there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Train nothing: print what --out holds
    #[arg(long, requires = "out")]
    show: bool,
    /// annthyroid only (but for a drawn problem), one split to tune on and two to judge on, few steps, three points
    #[arg(long)]
    quick: bool,
    /// Write convergence figures (SVG) into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
}

impl Args {
    /// Whether the model is linear.
    pub fn is_linear(&self) -> bool {
        self.model == "linear"
    }

    /// Whether everything is small.
    pub fn is_quick(&self) -> bool {
        self.quick
    }
}

/// What a run is judged by: the higher, the better.
#[derive(Clone, Copy)]
pub enum Goal {
    /// A metric on rows that are not trained on, at the best check.
    Metric(fn(&Summary) -> f64),
    /// −log₁₀(P − P*) on the training rows, at the last check.
    Gap,
}

impl Goal {
    /// What the numbers of the JSON lines are.
    fn name(self, label: &str) -> String {
        match self {
            Self::Metric(_) => label.to_owned(),
            Self::Gap => format!("-log10({label})"),
        }
    }
}

/// A table: its candidates, its goal and the data that it changes.
pub struct Table {
    /// Name of the bench, in JSON and file names.
    pub bench: &'static str,
    /// Name of what is measured.
    pub label: &'static str,
    /// What is measured.
    pub goal: Goal,
    /// The methods.
    pub candidates: Vec<Candidate>,
    /// The method that the others are compared with in pairs.
    pub reference: &'static str,
    /// The data sets where none are named; empty for the five of the repository's data.
    pub datasets: &'static [&'static str],
    /// The data as it is, or thinned in several ways, each with its name.
    pub variants: Vec<(String, Thin)>,
    /// Steps of every run where none are asked for, when judged and when tuned: several make a table of lengths.
    pub steps: Vec<(u64, u64)>,
    /// Checks of every run.
    pub checks: u64,
    /// Whether to say how many passes it took to reach shares of the best final metric.
    pub passes: bool,
    /// Where a range of false-positive rates is trained for: it, and the objective that judged runs are also measured by on
    /// the training rows. The first candidate is then the exact method.
    pub range: Option<((f64, f64), Exact)>,
    /// Whether settings are chosen by that objective, on the training rows at the end of a run, instead of by the metric.
    pub by_objective: bool,
}

/// A data set in one of its variants, with one length of the runs.
struct Set {
    label: String,
    /// The label without lengths: the name of its rows.
    rows: String,
    name: String,
    thin: Thin,
    steps: u64,
    /// Steps of the runs that tuning sees.
    tuned: u64,
}

impl Set {
    fn steps(&self, part: &str) -> u64 {
        if part == "valid" { self.tuned } else { self.steps }
    }
}

/// What tuning chose for one method and one set.
#[derive(Clone)]
struct Choice {
    settings: Settings,
    check: usize,
    valid: f64,
    points: usize,
    runs: usize,
    seconds: f64,
    /// Axes on which it has the end of what was tried.
    edges: Vec<String>,
}

/// What a method came to on one set.
struct Outcome {
    choice: Choice,
    /// By split.
    test: Vec<f64>,
    /// Metric by pass at all checks, the mean over the splits.
    curve: Vec<(f64, f64)>,
    /// By split.
    runs: Vec<Measured>,
}

/// Rows of one split.
enum Data {
    Parts(Parts<f32>),
    Gap(Problem),
}

/// The best check of runs with other seeds, by its mean over them, and that mean. Runs that ended early take part in no
/// check that they did not reach. `last`: no choice, the last of `checks`.
fn best_check(runs: &[Measured], checks: usize, last: bool) -> (usize, f64) {
    let mean = |check: usize| {
        let values = runs.iter().map(|run| run.checks.get(check).map_or(f64::NEG_INFINITY, |check| check.2));
        let mean = values.sum::<f64>() / runs.len() as f64;
        if mean.is_nan() { f64::NEG_INFINITY } else { mean }
    };
    let first = if last { checks - 1 } else { 0 };
    (first..checks)
        .map(|check| (check, mean(check)))
        .fold((first, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best })
}

struct Bench<'a> {
    table: &'a Table,
    model: ModelSpec,
    folder: &'a Path,
    store: Store<Measured>,
    bar: ProgressBar,
    jobs: usize,
    /// Most points of a method and set.
    points: usize,
    tuning: u64,
    splits: u64,
    show: bool,
    valid: bool,
}

/// A run that is to be there.
struct Job<'a> {
    candidate: &'a Candidate,
    settings: Settings,
    split: u64,
}

impl Bench<'_> {
    fn key(&self, set: &Set, job: &Job<'_>, part: &str) -> String {
        let (model, steps, checks) = (&self.model, set.steps(part), self.table.checks);
        let (label, metric, method, split) = (&set.rows, self.table.label, &job.candidate.method, job.split);
        let own = text(&job.settings);
        let chosen = if self.table.by_objective && part == "valid" { "-log10(F)" } else { part };
        format!("2; {label}; split {split}; {model}; {method} {own}; {steps} steps; {metric} {checks}x {chosen}")
    }

    fn load(&self, set: &Set, source: &mut Option<Source>, split: u64) -> Result<Data> {
        if set.name == gap::GAUSSIAN {
            return Ok(Data::Gap(Problem::gaussian(split)?));
        }
        if source.is_none() {
            *source = Some(Source::open(self.folder, &set.name)?);
        }
        match (source, self.table.goal) {
            (Some(source), Goal::Metric(_)) => Ok(Data::Parts(source.parts(split, set.thin)?)),
            (Some(source), Goal::Gap) => Ok(Data::Gap(Problem::of(source, split, set.thin)?)),
            (None, _) => Err(CliError::input(format!("no data set {}", set.name))),
        }
    }

    fn measure(&self, set: &Set, data: &Data, job: &Job<'_>, part: &str) -> Result<Measured> {
        let fpr = self.table.range.map_or((0.0, 0.05), |range| range.0);
        let budget = Budget { steps: set.steps(part), model: self.model.clone(), checks: self.table.checks, fpr };
        let Job { candidate, settings, split } = job;
        match (data, self.table.goal) {
            (Data::Parts(parts), Goal::Metric(metric)) => {
                let judge = if part == "test" { &parts.test } else { &parts.valid };
                let mut on_train = Vec::new();
                let run =
                    experiment::run(&parts.train, &candidate.method, settings, *split, &budget, |trainer, seconds| {
                        if let Some((_, exact)) = self.table.range.filter(|_| part == "test" || self.table.by_objective)
                        {
                            let value = objective_of(exact, trainer, &parts.train)?;
                            if part == "valid" {
                                return Some(-value.log10());
                            }
                            let own = trainer.evaluate(&parts.train).ok()?;
                            on_train.push([seconds, value, metric(own.binary()?)]);
                        }
                        trainer.evaluate(judge).ok().as_ref().and_then(Figures::binary).map(metric)
                    })?;
                Ok(Measured { on_train, ..run })
            }
            (Data::Gap(problem), _) => problem.run(&candidate.method, settings, *split, &budget),
            (Data::Parts(_), Goal::Gap) => Err(CliError::input("P - P* is of training rows")),
        }
    }

    /// Makes the runs that are not in the store yet, several at a time.
    fn work(&self, set: &Set, jobs: &[Job<'_>], part: &str, held: &mut Held) -> Result<()> {
        let open: Vec<&Job<'_>> =
            jobs.iter().filter(|job| self.store.get(&self.key(set, job, part)).is_none()).collect();
        self.bar.inc_length(open.len() as u64);
        for job in &open {
            // hiv is the same for all seeds.
            let split = if set.name == "hiv" && set.thin == Thin::No { 0 } else { job.split };
            if !held.rows.contains_key(&split) {
                held.rows.insert(split, self.load(set, &mut held.source, split)?);
            }
        }
        store::in_parallel(&open, self.jobs, |job| {
            let data = held.rows.get(&job.split).or_else(|| held.rows.get(&0));
            let data = data.ok_or_else(|| CliError::input("a split without rows"))?;
            let measured = self.measure(set, data, job, part)?;
            self.store.put(self.key(set, job, part), measured)?;
            self.bar.inc(1);
            Ok(())
        })
    }

    /// The runs of one point on all splits of a part; `None` while one is missing.
    fn runs(&self, set: &Set, candidate: &Candidate, settings: &Settings, part: &str) -> Option<Vec<Measured>> {
        self.jobs(candidate, settings, part).iter().map(|job| self.store.get(&self.key(set, job, part))).collect()
    }

    fn jobs<'a>(&self, candidate: &'a Candidate, settings: &Settings, part: &str) -> Vec<Job<'a>> {
        let (from, to) = if part == "test" { (self.tuning, self.tuning + self.splits) } else { (0, self.tuning) };
        (from + 1..=to).map(|split| Job { candidate, settings: settings.clone(), split }).collect()
    }

    /// The check that a candidate's runs are judged at, and their mean there.
    fn best_check(&self, candidate: &Candidate, runs: &[Measured]) -> (usize, f64) {
        let by_end = self.table.by_objective || matches!(self.table.goal, Goal::Gap);
        best_check(runs, self.table.checks as usize, by_end || candidate.is_fixed())
    }

    /// What was tried for every candidate on one set. Where runs are missing that may not be made: `None`.
    fn tried(&self, set: &Set, axes: &[Vec<Axis>], held: &mut Held) -> Result<Vec<Option<Tried>>> {
        let candidates = &self.table.candidates;
        let mut tried: Vec<Option<Tried>> = candidates.iter().map(|_| Some(Tried::new())).collect();
        loop {
            let wanted: Vec<(usize, Point)> = (0..candidates.len())
                .flat_map(|k| {
                    let points = tried[k]
                        .as_ref()
                        .map_or(Vec::new(), |tried| tune::next(&axes[k], tried, self.points, self.slack()));
                    points.into_iter().map(move |point| (k, point))
                })
                .collect();
            if wanted.is_empty() {
                return Ok(tried);
            }
            if !self.show {
                let jobs: Vec<Job<'_>> = wanted
                    .iter()
                    .flat_map(|(k, point)| self.jobs(&candidates[*k], &tune::settings(point), "valid"))
                    .collect();
                self.work(set, &jobs, "valid", held)?;
            }
            for (k, point) in wanted {
                let runs = self.runs(set, &candidates[k], &tune::settings(&point), "valid");
                match (runs, &mut tried[k]) {
                    (Some(runs), Some(tried)) => {
                        tried.push((point, self.best_check(&candidates[k], &runs).1));
                    }
                    _ => tried[k] = None,
                }
            }
        }
    }

    /// Tunes and judges every candidate on one set. Where runs are missing that may not be made: `None`.
    fn outcomes(&self, set: &Set) -> Result<Vec<Option<Outcome>>> {
        let candidates = &self.table.candidates;
        let axes: Vec<Vec<Axis>> = candidates.iter().map(|one| one.parsed(set.tuned)).collect();
        let mut held = Held::default();
        let tried = self.tried(set, &axes, &mut held)?;
        let choice = |k: usize| {
            let tried = tried[k].as_ref()?;
            let (winner, valid) = tune::best(tried, self.slack())?;
            let settings = tune::settings(winner);
            let all = tried.iter().map(|one| self.runs(set, &candidates[k], &tune::settings(&one.0), "valid"));
            let all: Vec<Measured> = all.collect::<Option<Vec<_>>>()?.concat();
            let runs = self.runs(set, &candidates[k], &settings, "valid")?;
            Some(Choice {
                settings,
                check: self.best_check(&candidates[k], &runs).0,
                valid: *valid,
                points: tried.len(),
                runs: all.len(),
                seconds: all.iter().map(|run| run.seconds).sum(),
                edges: tune::edges(&axes[k], tried, winner),
            })
        };
        let choices: Vec<Option<Choice>> = (0..candidates.len()).map(choice).collect();
        let part = if self.valid { "valid" } else { "test" };
        if !self.show && !self.valid {
            held.rows.clear();
            let chosen = candidates.iter().zip(&choices).filter_map(|(c, choice)| Some((c, choice.as_ref()?)));
            let jobs: Vec<Job<'_>> = chosen.flat_map(|(c, choice)| self.jobs(c, &choice.settings, part)).collect();
            self.work(set, &jobs, part, &mut held)?;
        }
        let outcome = |(candidate, choice): (&Candidate, Option<Choice>)| {
            let choice = choice?;
            let runs = self.runs(set, candidate, &choice.settings, part)?;
            // A run that left its type's range before the check counts as what it last was.
            let at = |run: &Measured| Some(run.checks.get(choice.check).or(run.checks.last())?.2);
            let test = runs.iter().map(|run| at(run).unwrap_or(f64::NAN)).collect();
            Some(Outcome { test, curve: average(&runs), choice, runs })
        };
        Ok(candidates.iter().zip(choices).map(outcome).collect())
    }
}

/// An exact objective on rows, with the model as it is.
pub fn objective_of(exact: Exact, trainer: &mut Trainer<f32>, rows: &Dataset<f32>) -> Option<f64> {
    let mut scores = vec![0.0f32; rows.len()];
    trainer.score(rows.rows(), &mut scores).ok()?;
    objective(exact, &scores, rows.labels())
}

/// An exact objective at scores.
pub fn objective(exact: Exact, scores: &[f32], labels: &[u8]) -> Option<f64> {
    let of = |class: u8| scores.iter().zip(labels).filter(move |row| *row.1 == class).map(|row| f64::from(*row.0));
    let low = of(0).count() as u32;
    let ordered: Vec<f64> = of(0).chain(of(1)).collect();
    let all = ordered.len() as u32;
    let (starts, population) = ([0, low, all], [low, all - low]);
    let batch = Batch::new(&ordered, 1, &starts, &population, Drawn::All).ok()?;
    let need = Estimator::<f64>::need(&exact, batch.shape());
    let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
    let (mut short, mut keys) = (vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut short, u64: &mut keys };
    exact.value(&batch, &[], scratch).ok()
}

/// The rows at hand.
#[derive(Default)]
struct Held {
    source: Option<Source>,
    rows: HashMap<u64, Data>,
}

/// Runs a table and prints it: Markdown, or JSON lines.
///
/// # Errors
/// `Input`; when results cannot be written.
pub fn run(mut table: Table, args: &Args, as_json: bool) -> Result<()> {
    let model = ModelSpec::parse(&args.model).map_err(|text| anyhow::anyhow!(text))?;
    if matches!(table.goal, Goal::Gap) && !args.is_linear() {
        return Err(CliError::input("P - P* is known for linear models only"));
    }
    if let Some(file) = &args.grid {
        let text = std::fs::read_to_string(file).map_err(|error| CliError::file(file, &error))?;
        table.candidates = Candidate::parse(&text, &file.display().to_string())?;
    }
    let all = table.candidates.clone();
    if let Some(name) = args.only.iter().find(|name| all.iter().all(|candidate| candidate.name != **name)) {
        let names: Vec<&str> = all.iter().map(|candidate| &*candidate.name).collect();
        return Err(CliError::input(format!("--only {name}: expected one of {}", names.join(", "))));
    }
    table.candidates.retain(|c| args.only.is_empty() || args.only.contains(&c.name));
    let steps = match args.steps {
        Some(steps) => vec![(steps, steps)],
        None if args.quick => vec![(1200, 1200)],
        None => table.steps.clone(),
    };
    for folder in [&args.figures, &args.out].into_iter().flatten() {
        std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
    }
    let names: Vec<&str> = match (args.datasets.as_slice(), table.datasets) {
        ([], []) if args.quick => vec!["annthyroid"],
        ([], []) => DATASETS[..5].to_vec(),
        ([], own) => own.to_vec(),
        (names, _) => names.iter().map(String::as_str).collect(),
    };
    let set = |name: &str, (variant, thin): &(String, Thin), (length, tuned): (u64, u64)| {
        let rows = if variant.is_empty() { name.to_owned() } else { format!("{name}, {variant}") };
        let mut label = rows.clone();
        if steps.len() > 1 {
            label += &format!(", {length} steps");
        }
        if tuned != length {
            label += &format!(" tuned at {tuned}");
        }
        Set { label, rows, name: name.to_owned(), thin: *thin, steps: length, tuned }
    };
    let lengths = |name, variant| steps.iter().map(move |&steps| set(name, variant, steps)).collect::<Vec<_>>();
    let of = |name| table.variants.iter().flat_map(move |variant| lengths(name, variant)).collect::<Vec<_>>();
    let sets: Vec<Set> = names.into_iter().flat_map(of).collect();
    let (points, tuning, splits) =
        if args.quick { (3, 1, 2) } else { (args.points as usize, args.tuning, args.splits) };
    let bench = Bench {
        table: &table,
        model,
        folder: &args.data,
        store: Store::open(args.out.as_ref().map(|folder| folder.join("runs.jsonl")).as_deref())?,
        bar: ProgressBar::new(0),
        jobs: args.jobs.unwrap_or_else(store::cores).max(1),
        points,
        tuning,
        splits,
        show: args.show,
        valid: args.valid,
    };
    let style = "{bar:30} {pos}/{len} runs so far  {msg}  {elapsed}";
    bench.bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut outcomes: Vec<Vec<Option<Outcome>>> = Vec::new();
    for set in &sets {
        bench.bar.set_message(set.label.clone());
        let rows = bench.outcomes(set)?;
        bench.bar.suspend(|| said(&table, set, &rows, args, as_json))?;
        outcomes.push(rows);
    }
    bench.bar.finish_and_clear();
    if !as_json {
        let length = match steps.as_slice() {
            [(steps, _)] => format!(", {steps} steps"),
            _ => String::new(),
        };
        let printed = Printed { table: &table, sets: &sets, outcomes: &outcomes, splits: bench.part_splits() };
        printed.print(
            if args.valid { "Validation" } else { "Test" },
            &format!("model {}{length}", args.model),
            tuning,
        )?;
    }
    if let Some(folder) = &args.figures {
        figures(&table, &sets, &outcomes, folder, &args.model)?;
    }
    Ok(())
}

impl Bench<'_> {
    /// What a later point must be better by: a metric by 1e-4, P − P* by 2 %, F by .1 %.
    fn slack(&self) -> f64 {
        match self.table.goal {
            Goal::Metric(_) if self.table.by_objective => 4.3e-4,
            Goal::Metric(_) => 1e-4,
            Goal::Gap => 0.0086,
        }
    }

    fn part_splits(&self) -> usize {
        (if self.valid { self.tuning } else { self.splits }) as usize
    }
}

/// What is said of a set as soon as it is done: a line of JSON for each method, or the winners on an end of their grid.
fn said(table: &Table, set: &Set, rows: &[Option<Outcome>], args: &Args, as_json: bool) -> Result<()> {
    let reference = table.candidates.iter().position(|one| one.name == table.reference);
    let reference = reference.and_then(|k| rows[k].as_ref());
    for (candidate, outcome) in table.candidates.iter().zip(rows) {
        let Some(Outcome { choice, test, .. }) = outcome else { continue };
        if as_json {
            let (mean, sd) = mean_sd(test);
            let apart = reference.map(|reference| Difference::new(test, &reference.test)).map(|apart| {
                json!({"from": table.reference, "mean": apart.mean, "half": apart.half, "wins": apart.counts[0],
                    "ties": apart.counts[1], "losses": apart.counts[2]})
            });
            output::line(json!({
                "bench": table.bench, "measure": table.goal.name(table.label), "dataset": set.label, "model": args.model, "steps": set.steps,
                "method": candidate.name, "settings": text(&choice.settings), "check": choice.check + 1,
                "checks": table.checks, "valid": choice.valid, "test": test, "mean": mean, "sd": sd,
                "difference": apart, "points": choice.points, "runs": choice.runs, "seconds": choice.seconds,
                "edges": choice.edges,
            }))?;
        } else {
            for edge in &choice.edges {
                output::say(tune::edge_line(&candidate.name, &set.label, edge));
            }
        }
    }
    Ok(())
}

/// The mean curve over runs, as far as all of them go.
fn average(runs: &[Measured]) -> Vec<(f64, f64)> {
    let length = runs.iter().map(|run| run.checks.len()).min().unwrap_or(0);
    let count = runs.len() as f64;
    let mean = |k: usize| {
        let (x, y) = runs.iter().fold((0.0, 0.0), |(x, y), run| (x + run.checks[k].1, y + run.checks[k].2));
        (x / count, y / count)
    };
    (0..length).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::{Measured, average, best_check};

    fn run(values: &[f64]) -> Measured {
        let check = |(k, &value): (usize, &f64)| (10 * (k as u64 + 1), k as f64, value);
        Measured { checks: values.iter().enumerate().map(check).collect(), seconds: 1.0, ..Measured::default() }
    }

    #[test]
    fn the_check_is_chosen_by_the_mean_over_splits() {
        // Each split alone would choose another check than their mean does.
        let runs = [run(&[0.9, 0.75, 0.0]), run(&[0.0, 0.75, 0.9])];
        assert_eq!(best_check(&runs, 3, false), (1, 0.75));
        assert_eq!(best_check(&runs, 3, true), (2, 0.45));
        // Of equal checks the first; a run that ended early takes part in none after that.
        assert_eq!(best_check(&[run(&[0.5, 0.5])], 2, false), (0, 0.5));
        assert_eq!(best_check(&[run(&[0.5, 0.25]), run(&[0.25])], 2, false), (0, 0.375));
        assert_eq!(best_check(&[run(&[0.5]), run(&[])], 2, false), (0, f64::NEG_INFINITY));
        assert_eq!(best_check(&[run(&[f64::NAN, 0.5])], 2, false), (1, 0.5));
    }

    #[test]
    fn curves_are_means_as_far_as_all_runs_go() {
        assert_eq!(average(&[run(&[0.5, 1.0]), run(&[0.25])]), [(0.0, 0.375)]);
        assert_eq!(average(&[]), []);
    }
}
