//! `undercurve compare`: methods at their defaults on the same folds of a file, against cross-entropy.

mod measure;
mod report;
mod tune;

use crate::args::data::DataArgs;
use crate::args::method;
use crate::args::train::range;
use crate::error::{CliError, Result};
use crate::input;
use crate::tell::paired::mean_sd;
use crate::{output, threads};
use clap::ValueEnum;
use measure::{Entry, Job};
use std::path::PathBuf;
use std::sync::Arc;
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::data::{Dataset, Preparation, Targets, group_folds};
use undercurve::metric::Metrics;
use undercurve::rng::Rng;
use undercurve::trainer::{ModelSpec, Trainer};

/// The generator's purpose for folds.
const PURPOSE: u64 = 0x666f_6c64;
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
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    metric: MetricArg,
    /// Methods, with commas between them; cross-entropy is always one [default: those for the metric]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS; of several, each with an option of its own, every method trains each, and all are held
    /// against cross-entropy with the first
    #[arg(long, value_name = "MODEL", default_value = "linear")]
    model: Vec<String>,
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
    if args.repeats == 0 {
        return Err(CliError::input("--repeats 0: expected at least 1"));
    }
    let mut names = vec![BASE];
    let usual = args.metric.methods().iter().copied().filter(|_| args.methods.is_empty());
    for name in args.methods.iter().map(String::as_str).chain(usual) {
        method::find(name)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut entries: Vec<Entry> = Vec::new();
    for text in &args.model {
        let model = ModelSpec::parse(text).map_err(CliError::Input)?;
        if entries.iter().all(|entry| entry.model != model) {
            entries.extend(names.iter().map(|&name| Entry { method: name.into(), model: model.clone() }));
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
    input::say(&input::reading_notes(&table, Some(&options), &args.data));
    let folds = (0..args.repeats).map(|repeat| folds(&all, args, repeat)).collect::<Result<Vec<_>>>()?;
    let job = Job { args, table: &table, whole: &whole, folds: &folds, data: all.fingerprint() };
    let rows = job.measure(&entries)?;
    report::print(args, &rows, &all)?;
    let Some(path) = &args.out else { return Ok(()) };
    let best = report::best(&rows);
    let entry = &rows[best].entry;
    let all = Arc::new(all);
    let config = match args.tune {
        // By the rows that are there now, as on each fold.
        true => tune::choose(&job.config(entry, &all)?, &all, args.metric.name(), args.seed)?.config,
        false => job.config(entry, &all)?,
    };
    let mut trainer = Trainer::new(&config, all, None)?;
    trainer.run()?;
    let data = trainer.train_data().clone();
    let mut scores = vec![0.0; data.len()];
    trainer.score(data.rows(), &mut scores)?;
    let at = Metrics::new().point_at_fpr(&scores, &data.truth(), args.fpr.1)?;
    let (done, of) = (trainer.steps_done(), trainer.total_steps());
    let name = format!("{} folds {}", args.folds, args.metric.name());
    let figures = vec![(name, mean_sd(&rows[best].values()).0)];
    let trained = Trained { step: done, done, of, over: true, figures };
    let file = SavedModel { threshold: Some(at.threshold), trained, ..trainer.predictor().file(whole) };
    output::write_atomic(path, &file.to_bytes())?;
    if args.json {
        Ok(())
    } else {
        output::line(format!("{} on all rows is in {}", rows[best].name(args), path.display()))
    }
}

/// The fold of each row: of every class as many in each, or one more.
fn folds(data: &Dataset<f32>, args: &Args, repeat: usize) -> Result<Vec<usize>> {
    let Targets::Binary(labels) = data.targets() else {
        return Err(CliError::input(format!("{}: compare is for two classes", args.data.display())));
    };
    if !data.split_ranks().is_empty() {
        return Err(CliError::input("--split-by: folds have no order; --split-group keeps rows together"));
    }
    if !data.split_groups().is_empty() {
        let classes: Vec<u32> = labels.iter().map(|&label| label.into()).collect();
        let seed = args.seed.wrapping_add(repeat as u64);
        let folds = group_folds(&classes, data.split_groups(), args.folds, seed)
            .map_err(|_| CliError::input(format!("--folds {}: there are fewer groups (--split-group)", args.folds)))?;
        return Ok(folds.into_iter().map(|fold| fold as usize).collect());
    }
    let mut fold = vec![0; labels.len()];
    let mut rng = Rng::keyed(args.seed, PURPOSE, repeat as u64);
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
