//! Every method at its defaults, on many splits of many data sets, against cross-entropy: what a person gets who sets nothing.
//!
//! Each split trains every method on the same rows with the same seed, so that methods are compared in pairs. A data set
//! in one file is split anew by every seed, 60 % to train on; of one with a test file of its own every seed trains on
//! another 80 % of the training file. A set counts as won against cross-entropy when the exact two-sided sign test over its
//! splits is below .05, as lost the other way round, and as tied otherwise.
//!
//! With `--grid` other settings take the place of the defaults, and with `--valid` they are judged on a validation part
//! (a quarter of the training rows, of which the methods then see the other three): that is how the defaults were chosen.

use super::experiment::{self, Candidate};
use super::tune::Settings;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::{Dataset, Missing, Options, Preparation, RawTable, Split};
use undercurve::metric::{FprRange, Metrics, TieRule};
use undercurve::model::Model;
use undercurve::registry::{METHODS, method};
use undercurve::trainer::{Config, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::input::{self, Layout};
use undercurve_demo::output;
use undercurve_demo::paired::mean_sd;
use undercurve_demo::store::{self, Store};

/// Options of `experiment defaults`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Data sets: names of sets in --data, or FILE[+TESTFILE][,label=COL][,positive=VALUE][,ignore=COL…]
    /// [default: every set of --data that is there]
    #[arg(value_name = "DATA")]
    sets: Vec<String>,
    /// Folder of the named data sets
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Models, each for every method
    #[arg(long, value_name = "MODEL", default_values_t = ["linear".to_string(), "mlp:32".to_string()])]
    model: Vec<String>,
    /// Only these methods, with commas between them; cross-entropy is always there
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Candidates from FILE instead of the defaults, one a line: NAME; METHOD; a=1 | a=2; b=3 | b=4 …
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// Judge on a validation part and leave the test part alone: for choosing defaults
    #[arg(long)]
    valid: bool,
    /// Splits 1 to N, each a seed
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// At most N rows of every set, drawn by the seed
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Keep every finished run in FOLDER/runs.jsonl; a bench that is started again continues there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// annthyroid only, two splits
    #[arg(long)]
    quick: bool,
}

/// The false-positive ranges that partial AUC is measured in, and for each of which the methods of partial AUC are trained.
const RANGES: [(f64, f64); 3] = [(0.0, 0.1), (0.02, 0.2), (0.05, 0.5)];

/// What is measured on a part.
const METRICS: [&str; 5] = ["AP", "AUROC", "pAUC 0:0.1", "pAUC 0.02:0.2", "pAUC 0.05:0.5"];

/// The named data sets: name, training file, test file, label, positive value, columns left out.
const NAMED: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("annthyroid", "annthyroid.csv.gz", "", "label", "1", ""),
    ("mammography", "mammography.csv.gz", "", "label", "1", ""),
    ("ijcnn1", "ijcnn1.svm.gz", "", "", "", ""),
    ("w8a", "w8a.svm.gz", "", "", "", ""),
    ("hiv", "hiv.train.svm.gz", "hiv.test.svm.gz", "", "", ""),
    ("a9a", "a9a.svm.gz", "a9a.t.svm.gz", "", "", ""),
    ("a1a", "a1a.svm.gz", "a1a.t.svm.gz", "", "", ""),
    ("adult", "adult.train.csv.gz", "adult.test.csv.gz", "income", ">50K", ""),
    ("compas", "compas.csv.gz", "", "two_year_recid", "1", "is_recid"),
];

/// A data set as it was read.
struct Set {
    name: String,
    table: RawTable,
    test: Option<RawTable>,
    options: Options,
}

/// A training part and the part that methods are judged on.
struct Parts {
    train: Arc<Dataset<f32>>,
    judge: Arc<Dataset<f32>>,
}

/// What a run came to. A run that broke down has no metrics.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outcome {
    train: Vec<f64>,
    test: Vec<f64>,
    /// Share of positives in the judged part.
    base: f64,
    seconds: f64,
    steps: u64,
    pass: f64,
    /// What the run said of itself.
    warning: Option<String>,
}

/// A run of the bench: a candidate's settings, and the range it trains for.
struct Job {
    name: String,
    method: String,
    settings: Settings,
    fpr: (f64, f64),
}

impl Set {
    /// From `FILE[+TESTFILE][,label=COL]…`, or the name of a set in the folder.
    fn open(text: &str, folder: &Path) -> Result<Self> {
        let wrong = |part: &str| {
            CliError::input(format!(
                "{text}: \"{part}\": expected FILE[+TESTFILE][,label=COL][,positive=VALUE][,ignore=COL]"
            ))
        };
        let mut options = Options { missing: Missing::Impute, ..Options::default() };
        let (name, file, test);
        if let Some(&(known, train, held, label, positive, ignore)) = NAMED.iter().find(|set| set.0 == text) {
            let given = |text: &str| (!text.is_empty()).then(|| text.to_string());
            options = Options { label: given(label), positive: given(positive), ..options };
            options.ignore.extend(given(ignore));
            (name, file) = (known.to_string(), folder.join(train));
            test = given(held).map(|held| folder.join(held));
        } else {
            let mut parts = text.split(',');
            let files = parts.next().unwrap_or_default();
            for part in parts {
                match part.split_once('=') {
                    Some(("label", column)) => options.label = Some(column.into()),
                    Some(("positive", value)) => options.positive = Some(value.into()),
                    Some(("ignore", column)) => options.ignore.push(column.into()),
                    _ => return Err(wrong(part)),
                }
            }
            let (train, held) = files.split_once('+').map_or((files, None), |(train, held)| (train, Some(held)));
            let stem = Path::new(train).file_name().map_or(train.into(), |name| name.to_string_lossy().into_owned());
            name = stem.split('.').next().unwrap_or_default().to_string();
            (file, test) = (PathBuf::from(train), held.map(PathBuf::from));
        }
        let read = |path: &Path| input::table(path, Layout::default(), options.label.as_deref());
        Ok(Self { name, table: read(&file)?, test: test.as_deref().map(read).transpose()?, options })
    }

    /// The parts of a seed.
    fn parts(&self, seed: u64, valid: bool, most: Option<usize>) -> Result<Parts> {
        // Labels alone, by a preparation of everything: which rows are positive does not depend on the part.
        let all = Preparation::fit(&self.table, &self.options)?.apply::<f32>(&self.table)?;
        let mut rows: Vec<u32> = (0..all.len() as u32).collect();
        let labels = |rows: &[u32]| rows.iter().map(|&row| all.labels()[row as usize]).collect::<Vec<_>>();
        let pick = |rows: &[u32], part: &[u32]| part.iter().map(|&at| rows[at as usize]).collect::<Vec<_>>();
        if let Some(most) = most.filter(|&most| most < rows.len()) {
            let drawn = Split::new(most as f64 / rows.len() as f64, seed ^ 0x726f_7773).parts(&labels(&rows))?;
            rows = pick(&rows, &drawn.train);
        }
        let share = if self.test.is_some() { 0.8 } else { 0.6 };
        let parts = Split::new(share, seed).parts(&labels(&rows))?;
        let (mut train, mut judged) = (pick(&rows, &parts.train), pick(&rows, &parts.test));
        if valid {
            let inner = Split::new(0.75, seed).parts(&labels(&train))?;
            (judged, train) = (pick(&train, &inner.test), pick(&train, &inner.train));
        }
        let preparation = Preparation::fit_rows(&self.table, &self.options, &train)?;
        let judge = match &self.test {
            Some(test) if !valid => preparation.apply(test)?,
            _ => preparation.apply_rows(&self.table, &judged)?,
        };
        Ok(Parts { train: Arc::new(preparation.apply_rows(&self.table, &train)?), judge: Arc::new(judge) })
    }
}

/// The metrics of a model on a part; `None` where its scores are not numbers.
fn measure(trainer: &mut Trainer<f32>, data: &Dataset<f32>) -> Option<Vec<f64>> {
    let mut scores = vec![0.0; data.len()];
    trainer.score(data.rows(), &mut scores).ok()?;
    let mut metrics = Metrics::new();
    let mut all =
        vec![metrics.average_precision(&scores, data.labels()).ok()?, metrics.auroc(&scores, data.labels()).ok()?];
    for (low, high) in RANGES {
        let range = FprRange::new(low, high).ok()?;
        all.push(metrics.partial_auc(&scores, data.labels(), range, TieRule::Trapezoid).ok()?);
    }
    Some(all)
}

/// Trains a job to its end.
fn train(job: &Job, model: &ModelSpec, parts: &Parts, seed: u64) -> Result<Outcome> {
    let clock = Instant::now();
    // `2/n` is twice one over the training rows, `2d/p` twice the model's parameters over the positives.
    let rows = parts.train.len() as f64;
    let crowding = match model.build(parts.train.rows().cols()) {
        Ok(built) => Model::<f32>::param_len(&built) as f64 / parts.train.positives() as f64,
        Err(_) => 1.0,
    };
    let by_rows = |value: &String| {
        let share = |suffix, unit: f64| {
            value.strip_suffix(suffix).and_then(|share| share.parse::<f64>().ok()).map(|share| share * unit)
        };
        share("d/p", crowding)
            .or_else(|| share("/n", 1.0 / rows))
            .map_or_else(|| value.clone(), |value| value.to_string())
    };
    let config = Config {
        method: job.method.clone(),
        settings: job.settings.iter().map(|(name, value)| (name.clone(), by_rows(value))).collect(),
        model: model.clone(),
        seed,
        fpr: job.fpr,
        ..Config::default()
    };
    let judge = Some(Arc::clone(&parts.judge));
    let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&parts.train), judge)?;
    let broken = loop {
        match trainer.step() {
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    let seconds = clock.elapsed().as_secs_f64();
    let train = measure(&mut trainer, &parts.train).unwrap_or_default();
    let test = measure(&mut trainer, &parts.judge).unwrap_or_default();
    let warning = match broken {
        None => {
            let warning = trainer.report().map_err(anyhow::Error::from)?.warning;
            warning.zip(trainer.method()).map(|(warning, method)| warning.sentence(method))
        }
        broken => broken,
    };
    let base = parts.judge.positives() as f64 / parts.judge.len() as f64;
    Ok(Outcome { train, test, base, seconds, steps: trainer.steps_done(), pass: trainer.pass(), warning })
}

/// What is trained: every method at its defaults and cross-entropy without decay, or what a file says.
fn jobs(args: &Args, model: &ModelSpec) -> Result<Vec<Job>> {
    let mut candidates = match &args.grid {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| CliError::file(file, &error))?;
            Candidate::parse(&text, &file.display().to_string())?
        }
        None => {
            let mut all = vec![Candidate::new("ce", "ce", &[]), Candidate::new("ce without decay", "ce", &["decay=0"])];
            let trains =
                |name: &str| *model == ModelSpec::Linear || !["theoretical-ai-sarah", "svm-pauc-tight"].contains(&name);
            all.extend(
                METHODS
                    .iter()
                    .filter(|m| m.name != "ce" && trains(m.name))
                    .map(|m| Candidate::new(m.name, m.name, &[])),
            );
            all
        }
    };
    if let Some(name) = args.only.iter().find(|name| candidates.iter().all(|candidate| candidate.name != **name)) {
        return Err(CliError::input(format!("--only {name}: no such method")));
    }
    candidates.retain(|c| args.only.is_empty() || c.method == "ce" || args.only.contains(&c.name));
    let mut jobs = Vec::new();
    for candidate in &candidates {
        let ranges = ranges_of(&candidate.method);
        for settings in candidate.grid(0) {
            let text = experiment::text(&settings);
            let name = if args.grid.is_some() && !text.is_empty() {
                format!("{} {text}", candidate.name)
            } else {
                candidate.name.clone()
            };
            let new =
                |name: String, fpr| Job { name, method: candidate.method.clone(), settings: settings.clone(), fpr };
            match ranges.clone().count() {
                0 => jobs.push(new(name, RANGES[0])),
                _ => jobs.extend(ranges.clone().map(|fpr| new(format!("{name} {}:{}", fpr.0, fpr.1), fpr))),
            }
        }
    }
    Ok(jobs)
}

/// The ranges that a method trains for: none where it trains for no range, those from 0 where it knows no others.
fn ranges_of(name: &str) -> impl Iterator<Item = (f64, f64)> + Clone {
    let ranged = method(name).is_some_and(|method| method.metric() == "pauc");
    let from_zero = matches!(name, "sopa" | "sopa-s" | "sota-s");
    RANGES.into_iter().filter(move |range| ranged && (range.0 == 0.0 || !from_zero))
}

/// Two-sided p of so many wins and losses where both are as likely.
fn sign_test(wins: usize, losses: usize) -> f64 {
    let n = wins + losses;
    let mut term = 0.5f64.powi(n as i32);
    let mut tail = 0.0;
    for k in 0..=wins.min(losses) {
        tail += term;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// Differences that do not count.
const SAME: f64 = 1e-4;

/// Wins and losses of a method's values against cross-entropy's, split by split.
fn score(mine: &[f64], theirs: &[f64]) -> (usize, usize) {
    let count = |sign: f64| mine.iter().zip(theirs).filter(|(a, b)| sign * (*a - *b) > SAME).count();
    (count(1.0), count(-1.0))
}

/// Runs the bench.
///
/// # Errors
/// `Input`; when results cannot be written.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let seeds = if args.quick { 2 } else { args.seeds };
    let names: Vec<String> = match (&args.sets[..], args.quick) {
        ([], true) => vec!["annthyroid".into()],
        ([], false) => NAMED.iter().filter(|set| args.data.join(set.1).exists()).map(|set| set.0.to_string()).collect(),
        (names, _) => names.to_vec(),
    };
    if names.is_empty() {
        return Err(CliError::input(format!("{}: none of the named data sets is there", args.data.display())));
    }
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
    }
    let store = Store::<Outcome>::open(args.out.as_ref().map(|folder| folder.join("runs.jsonl")).as_deref())?;
    let workers = args.jobs.unwrap_or_else(store::cores).max(1);
    let models: Vec<ModelSpec> =
        (args.model.iter()).map(|model| ModelSpec::parse(model).map_err(CliError::input)).collect::<Result<_>>()?;
    let all: Vec<Vec<Job>> = models.iter().map(|model| jobs(args, model)).collect::<Result<_>>()?;
    let bar = ProgressBar::new(all.iter().map(Vec::len).sum::<usize>() as u64 * names.len() as u64 * seeds);
    let style = "{bar:30} {pos}/{len} runs  {msg}  {eta} left";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let part = if args.valid { "valid" } else { "test" };
    // By model, job, set, seed.
    let mut outcomes: Vec<Vec<Vec<Vec<Outcome>>>> =
        all.iter().map(|jobs| jobs.iter().map(|_| names.iter().map(|_| Vec::new()).collect()).collect()).collect();
    let mut labels = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let set = Set::open(name, &args.data)?;
        labels.push(set.name.clone());
        for seed in 1..=seeds {
            bar.set_message(format!("{}, split {seed}", set.name));
            let key = |model: &ModelSpec, job: &Job| {
                let (low, high) = job.fpr;
                let settings = experiment::text(&job.settings);
                let rows = args.rows.map_or_else(String::new, |rows| format!(" {rows} rows;"));
                format!("{name};{rows} seed {seed}; {model}; {} {settings}; {low}:{high}; {part}", job.method)
            };
            let missing: Vec<(&ModelSpec, &Job)> = (models.iter().zip(&all))
                .flat_map(|(model, jobs)| jobs.iter().map(move |job| (model, job)))
                .filter(|(model, job)| store.get(&key(model, job)).is_none())
                .collect();
            let count: usize = all.iter().map(Vec::len).sum();
            bar.inc((count - missing.len()) as u64);
            if !missing.is_empty() {
                let parts = set.parts(seed, args.valid, args.rows)?;
                store::in_parallel(&missing, workers, |(model, job)| {
                    let outcome = train(job, model, &parts, seed)?;
                    store.put(key(model, job), outcome)?;
                    bar.inc(1);
                    Ok(())
                })?;
            }
            for ((model, jobs), rows) in models.iter().zip(&all).zip(&mut outcomes) {
                for (job, row) in jobs.iter().zip(rows) {
                    let Some(outcome) = store.get(&key(model, job)) else { continue };
                    if as_json {
                        bar.suspend(|| {
                            output::line(json!({
                                "bench": "defaults", "dataset": set.name, "model": model.to_string(),
                                "method": job.name, "seed": seed, "part": part, "train": outcome.train,
                                "metrics": METRICS, "test": outcome.test, "base": outcome.base,
                                "seconds": outcome.seconds, "steps": outcome.steps, "pass": outcome.pass,
                                "warning": outcome.warning,
                            }))
                        })?;
                    }
                    row[at].push(outcome);
                }
            }
        }
    }
    bar.finish_and_clear();
    if as_json {
        return Ok(());
    }
    for ((model, jobs), rows) in models.iter().zip(&all).zip(&outcomes) {
        for metric in 0..METRICS.len() {
            print(&format!("{} {part}, {model}", METRICS[metric]), metric, jobs, rows, &labels)?;
        }
    }
    Ok(())
}

/// One table: a row a method, a column a set.
fn print(title: &str, metric: usize, jobs: &[Job], rows: &[Vec<Vec<Outcome>>], labels: &[String]) -> Result<()> {
    // A model that trains for one range is judged in that range alone.
    let fits = |job: &Job| ranges_of(&job.method).next().is_none() || (metric >= 2 && job.fpr == RANGES[metric - 2]);
    let value = |outcome: &Outcome| outcome.test.get(metric).copied().unwrap_or(0.0);
    let base: Vec<Vec<f64>> = rows[0].iter().map(|set| set.iter().map(value).collect()).collect();
    output::line(format!("\n### {title}\n"))?;
    output::line(format!("| method | {} | mean | gain | train gain | won, tied, lost | s |", labels.join(" | ")))?;
    output::line(format!("|---|{}---|---|---|---|---|", "---|".repeat(labels.len())))?;
    for (job, row) in jobs.iter().zip(rows).filter(|(job, _)| fits(job)) {
        let (mut cells, mut means, mut gains, mut trained, mut verdicts) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), [0; 3]);
        let mut seconds = 0.0;
        for (at, set) in row.iter().enumerate() {
            let mine: Vec<f64> = set.iter().map(value).collect();
            let (mean, _) = mean_sd(&mine);
            let differences: Vec<f64> = mine.iter().zip(&base[at]).map(|(a, b)| a - b).collect();
            let (gain, sd) = mean_sd(&differences);
            let (wins, losses) = score(&mine, &base[at]);
            let significant = sign_test(wins, losses) < 0.05;
            let verdict = if !significant {
                1
            } else if wins > losses {
                0
            } else {
                2
            };
            verdicts[verdict] += 1;
            let mark = ["▲", "", "▼"][verdict];
            let told = set.iter().filter(|outcome| outcome.warning.is_some()).count();
            let told = if told > 0 { format!(" !{told}") } else { String::new() };
            cells.push(format!("{mean:.3} ({gain:+.3} ± {sd:.3}){mark}{told}"));
            means.push(mean);
            gains.push(gain);
            let train = |set: &[Outcome]| {
                mean_sd(&set.iter().map(|o| o.train.get(metric).copied().unwrap_or(0.0)).collect::<Vec<_>>()).0
            };
            trained.push(train(set) - train(&rows[0][at]));
            seconds += mean_sd(&set.iter().map(|outcome| outcome.seconds).collect::<Vec<_>>()).0;
        }
        output::line(format!(
            "| {} | {} | {:.4} | {:+.4} | {:+.4} | {}, {}, {} | {:.2} |",
            job.name,
            cells.join(" | "),
            mean_sd(&means).0,
            mean_sd(&gains).0,
            mean_sd(&trained).0,
            verdicts[0],
            verdicts[1],
            verdicts[2],
            seconds / row.len() as f64
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{score, sign_test};

    #[test]
    fn the_sign_test_is_the_binomial_tail() {
        assert_eq!(sign_test(0, 0), 1.0);
        assert!((sign_test(10, 0) - 2.0 / 1024.0).abs() < 1e-12);
        assert!((sign_test(9, 1) - 22.0 / 1024.0).abs() < 1e-12);
        assert!((sign_test(1, 9) - sign_test(9, 1)).abs() < 1e-15);
        assert!((sign_test(8, 2) - 112.0 / 1024.0).abs() < 1e-12);
        assert_eq!(sign_test(5, 5), 1.0);
    }

    #[test]
    fn small_differences_are_ties() {
        assert_eq!(score(&[0.5, 0.6, 0.7, 0.8], &[0.50005, 0.5, 0.8, 0.8]), (1, 1));
    }
}
