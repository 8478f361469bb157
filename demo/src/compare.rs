//! `undercurve compare`: methods at their defaults on the same folds of a file, against cross-entropy.

use crate::bench::paired::mean_sd;
use crate::error::{CliError, Result};
use crate::input::{self, DataArgs};
use crate::{methods, output, threads, train};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::data::{Dataset, Preparation, RawTable, Targets};
use undercurve::metric::{Metrics, student};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, ModelSpec, Trainer};

/// The generator's purpose for folds.
const PURPOSE: u64 = 0x666f_6c64;
/// Characters of the longest bar.
const BAR: f64 = 24.0;
/// What others are compared with.
const BASE: &str = "ce";

/// `--metric`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetricArg {
    /// Area under the ROC curve
    Auroc,
    /// Average precision
    Ap,
    /// Partial AUC over --fpr
    Pauc,
}

impl MetricArg {
    fn name(self) -> &'static str {
        match self {
            Self::Auroc => "auroc",
            Self::Ap => "ap",
            Self::Pauc => "pauc",
        }
    }

    /// The methods that may gain in it.
    fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Auroc => &[BASE, "ce-balanced", "ppd-sg", "ppd-adagrad", "auc-margin"],
            Self::Ap => &[BASE, "ce-balanced", "soap", "ap-exact"],
            Self::Pauc => &[BASE, "ce-balanced", "pauc-threshold", "pauc-exact"],
        }
    }
}

/// Options of `compare`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Every fold is held out once, and every method trained on the others by its defaults, with the preparation fitted there. The
interval of a difference to cross-entropy is that of Student's paired t, with the variance that folds have whose training rows
overlap (Nadeau and Bengio 2003). Of several methods one may be ahead by luck: the interval is of each by itself.

Example:
  undercurve compare data.csv --metric ap --out best.model")]
pub struct Args {
    /// CSV or LIBSVM of two classes, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// What is compared: auroc, ap or pauc
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    metric: MetricArg,
    /// Methods, with commas between them; cross-entropy is always one [default: those for the metric]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS
    #[arg(long, value_name = "MODEL", default_value = "linear")]
    model: String,
    /// Folds, drawn by class
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// False-positive range of the partial AUC
    #[arg(long, value_name = "LO:HI", value_parser = train::range, default_value = "0:0.05")]
    fpr: (f64, f64),
    /// Decides the folds, the start values and the batches
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads; the same bits with any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    #[command(flatten)]
    reading: DataArgs,
    /// Train the method with the greatest mean on all rows, and write its model
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object for each method, and one with the verdict
    #[arg(long)]
    json: bool,
}

/// A method on all folds.
struct Row {
    method: String,
    values: Vec<f64>,
    seconds: f64,
}

/// How far a method is ahead of cross-entropy, and half its interval.
struct Ahead {
    mean: f64,
    half: f64,
}

impl Ahead {
    /// With a variance of 1/k + 1/(k − 1) times that of a fold: the training rows of k folds overlap.
    fn new(ours: &[f64], theirs: &[f64]) -> Self {
        let apart: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_sd(&apart);
        let k = apart.len() as f64;
        Self { mean, half: student(apart.len() as u64 - 1) * sd * (1.0 / k + 1.0 / (k - 1.0)).sqrt() }
    }
}

/// Compares.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<()> {
    if let Some(count) = args.threads {
        threads::limit(count)?;
    }
    if args.folds < 2 {
        return Err(CliError::input(format!("--folds {}: expected at least 2", args.folds)));
    }
    let model = ModelSpec::parse(&args.model).map_err(CliError::Input)?;
    let mut names = vec![BASE.to_string()];
    let asked = args.methods.iter().map(String::as_str);
    let usual = args.metric.methods().iter().copied().filter(|_| args.methods.is_empty());
    for name in asked.chain(usual) {
        methods::find(name)?;
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    if let Some(path) = &args.out {
        output::check_output(path, &[&args.data])?;
    }
    let options = args.reading.options();
    let table = input::table_of(&args.data, &args.reading)?;
    input::check_columns(&options, &table)?;
    let whole = Preparation::fit(&table, &options)?;
    let all = whole.apply::<f32>(&table)?;
    input::header_note(&table, &args.data);
    input::column_notes(&table, &options, &args.data);
    let folds = folds(&all, args)?;
    let config = |method: &str| Config {
        method: method.into(),
        model: model.clone(),
        seed: args.seed,
        fpr: args.fpr,
        ..Config::default()
    };
    let rows = measure(args, &names, &table, &folds, &config)?;
    print(args, &rows, &all)?;
    let Some(path) = &args.out else { return Ok(()) };
    let best = best(&rows);
    let mut trainer = Trainer::new(&config(&rows[best].method), Arc::new(all), None)?;
    trainer.run()?;
    let data = trainer.train_data().clone();
    let mut scores = vec![0.0; data.len()];
    trainer.score(data.rows(), &mut scores)?;
    let at = Metrics::new().point_at_fpr(&scores, data.labels(), args.fpr.1)?;
    let (done, of) = (trainer.steps_done(), trainer.total_steps());
    let name = format!("{} folds {}", args.folds, args.metric.name());
    let figures = vec![(name, mean_sd(&rows[best].values).0)];
    let trained = Trained { step: done, done, of, over: true, figures };
    let file = SavedModel { threshold: Some(at.threshold), trained, ..trainer.predictor().file(whole) };
    output::write_atomic(path, &file.to_bytes())?;
    if args.json { Ok(()) } else { output::line(format!("{} on all rows is in {}", rows[best].method, path.display())) }
}

/// The fold of each row: of every class as many in each, or one more.
fn folds(data: &Dataset<f32>, args: &Args) -> Result<Vec<usize>> {
    let Targets::Binary(labels) = data.targets() else {
        return Err(CliError::input(format!("{}: compare is for two classes", args.data.display())));
    };
    let mut fold = vec![0; labels.len()];
    let mut rng = Rng::keyed(args.seed, PURPOSE, 0);
    for class in [0, 1] {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        if rows.len() < args.folds {
            let word = if class == 1 { "positive" } else { "negative" };
            return Err(CliError::input(format!("--folds {}: there are {} {word} rows", args.folds, rows.len())));
        }
        rng.shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = at % args.folds);
    }
    Ok(fold)
}

fn measure(
    args: &Args,
    names: &[String],
    table: &RawTable,
    folds: &[usize],
    config: &dyn Fn(&str) -> Config,
) -> Result<Vec<Row>> {
    let row = |method: &String| Row { method: method.clone(), values: Vec::new(), seconds: 0.0 };
    let mut rows: Vec<Row> = names.iter().map(row).collect();
    let bar = ProgressBar::new((names.len() * args.folds) as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let options = args.reading.options();
    for fold in 0..args.folds {
        let (test, train): (Vec<u32>, Vec<u32>) = (0..folds.len() as u32).partition(|&row| folds[row as usize] == fold);
        let preparation = Preparation::fit_rows(table, &options, &train)?;
        let train = Arc::new(preparation.apply_rows::<f32>(table, &train)?);
        let test = preparation.apply_rows::<f32>(table, &test)?;
        for row in &mut rows {
            bar.set_message(row.method.clone());
            let clock = Instant::now();
            let mut trainer = Trainer::new(&config(&row.method), train.clone(), None)?;
            let failed = |error| CliError::input(format!("{} broke down on fold {}: {error}", row.method, fold + 1));
            while trainer.step().map_err(failed)?.is_some() {}
            row.seconds += clock.elapsed().as_secs_f64() / args.folds as f64;
            let figures = trainer.evaluate(&test).map_err(failed)?;
            row.values.push(figures.get(args.metric.name()).unwrap_or(f64::NAN));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// The row with the greatest mean, the first of equal ones.
fn best(rows: &[Row]) -> usize {
    let mean = |at: usize| mean_sd(&rows[at].values).0;
    (1..rows.len()).fold(0, |best, at| if mean(at) > mean(best) { at } else { best })
}

fn print(args: &Args, rows: &[Row], data: &Dataset<f32>) -> Result<()> {
    let metric = match args.metric {
        MetricArg::Pauc => format!("pauc {}:{}", args.fpr.0, args.fpr.1),
        other => other.name().to_string(),
    };
    let width = rows.iter().map(|row| row.method.len()).max().unwrap_or(0).max(6);
    if !args.json {
        output::line(format!(
            "{}: {} rows ({} positive), {} columns; {metric}, {} folds, {}, seed {}",
            args.data.display(),
            data.len(),
            data.positives(),
            data.cols(),
            args.folds,
            args.model,
            args.seed
        ))?;
        output::line(format!(
            "{:width$}  {:>6} ± sd     {:>26}  {:>8}",
            "method", "mean", "ahead of ce [95 %]", "seconds"
        ))?;
    }
    for (at, row) in rows.iter().enumerate() {
        let (mean, sd) = mean_sd(&row.values);
        let ahead = Ahead::new(&row.values, &rows[0].values);
        if args.json {
            let interval = (at > 0).then_some([ahead.mean - ahead.half, ahead.mean + ahead.half]);
            output::line(json!({
                "method": row.method, "metric": metric, "folds": row.values, "mean": mean, "sd": sd,
                "ahead": (at > 0).then_some(ahead.mean), "interval": interval, "seconds": row.seconds,
            }))?;
            continue;
        }
        let apart = match at {
            0 => String::new(),
            _ => format!("{:+.4} [{:+.4}, {:+.4}]", ahead.mean, ahead.mean - ahead.half, ahead.mean + ahead.half),
        };
        let bar = "#".repeat((BAR * mean.clamp(0.0, 1.0)).round() as usize);
        output::line(format!("{:width$}  {mean:.4} ± {sd:.4}  {apart:>26}  {:>8.2}  {bar}", row.method, row.seconds))?;
    }
    let best = best(rows);
    let ahead = Ahead::new(&rows[best].values, &rows[0].values);
    let (low, high) = (ahead.mean - ahead.half, ahead.mean + ahead.half);
    let beyond = best > 0 && low > 0.0;
    if args.json {
        return output::line(json!({"best": rows[best].method, "beyond_noise": beyond, "folds": args.folds}));
    }
    output::line(match (best, beyond) {
        (0, _) => format!("Nothing beats cross-entropy here: its mean {metric} is the greatest."),
        (_, true) => format!(
            "{} beats cross-entropy beyond the noise of {} folds: by {:.4} in {metric}, {low:.4} to {high:.4}.",
            rows[best].method, args.folds, ahead.mean
        ),
        _ => format!(
            "Nothing beats cross-entropy beyond the noise of {} folds: {} is ahead by {:.4} in {metric}, {low:.4} to {high:.4}.",
            args.folds, rows[best].method, ahead.mean
        ),
    })
}
