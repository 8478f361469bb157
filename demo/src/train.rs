//! `undercurve train`: trains a model, reports on the way, saves and resumes.

use crate::device::{self, Choice, Engine};
use crate::error::{CliError, Result};
use crate::input::{self, DataArgs, Saved};
use crate::report::Reporter;
use crate::walk::{Run, left_range, precision, walk};
use crate::{classes, methods, output, threads};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{DataError, DataErrorKind, Dataset, Options, Preparation, RawTable, Split, prepare};
use undercurve::model::Model;
use undercurve::registry::{CLASS_METHODS, Method, class_method};
use undercurve::trainer::{Config, Length, ModelSpec, Predictor, Trainer, Warning};

/// `--precision`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// 32-bit numbers
    F32,
    /// 64-bit numbers
    F64,
}

/// Options of `train`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  undercurve train data.csv --split 0.75 --method soap
  undercurve train data.csv --label default --positive yes --split 0.6 --method ce --model mlp:64,64 --json
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --method soap --set lr=0.05 --set gamma=0.5 --save a9a.model
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --resume a9a.model
  undercurve train digits.csv --label digit --split 0.75 --method ce

Two labels make a positive and a negative class. Of more, --positive names the positive one; without it the methods ce,
ppd-sg and ppd-adagrad train all of them as classes and report the Hand-Till AUC.

Exit code: 0 when all went well, 2 for bad input or options (one line says what and where, and nothing is written, but for
a run that ends at a batch of one class, of which the last save stays), 130 after Ctrl-C, 1 for anything else.")]
pub struct Args {
    /// Training data: CSV or LIBSVM, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Test data, measured in every report and never trained on
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub test: Option<PathBuf>,
    /// Train on this share of the rows of DATA, drawn by class, and test on the others
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub split: Option<f64>,
    #[command(flatten)]
    pub reading: DataArgs,
    /// Method; `undercurve methods` lists them
    #[arg(long, value_name = "NAME", required_unless_present = "resume")]
    pub method: Option<String>,
    /// A parameter of the method, as often as needed; `undercurve methods NAME` lists them
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Settings to begin with: defaults, or paper for those of the method's paper; --set changes either
    #[arg(long, value_enum, value_name = "NAME", default_value = "defaults", hide_possible_values = true)]
    #[arg(conflicts_with = "resume")]
    pub preset: Preset,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS [default: linear]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// False-positive range of the partial AUC [default: 0:0.05]
    #[arg(long, value_name = "LO:HI", value_parser = range)]
    pub fpr: Option<(f64, f64)>,
    /// Train for so many passes over the training rows; a full gradient is one
    #[arg(long, value_name = "N", conflicts_with = "steps", allow_negative_numbers = true)]
    pub passes: Option<f64>,
    /// Train for so many steps [default: the method's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<u64>,
    /// Stop after so many seconds even if steps are left
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Decides the split, the start values and the batches [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// cpu, gpu, or gpu:NAME with a part of the adapter's name, the only way to a software adapter (slower than the
    /// CPU). A saved run does not name its device, and one that is resumed takes the one named then; the bits of the two
    /// differ. When a GPU is lost, the CPU goes on
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = device::parse)]
    pub device: Choice,
    /// Threads, for whole-data methods, reports and scoring; the same bits with any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    pub threads: Option<usize>,
    /// f32 or f64 [default: f32]
    #[arg(long, value_name = "REAL", hide_possible_values = true)]
    pub precision: Option<Precision>,
    /// Report every K steps [default: twenty times in the run]
    #[arg(long, value_name = "K")]
    pub every: Option<u64>,
    /// Save the run to FILE, with every report and at the end
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Save every K steps instead of with every report
    #[arg(long, value_name = "K")]
    pub save_every: Option<u64>,
    /// Continue a saved run on the same data, and save to the same FILE unless --save names another
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Print one JSON object for each report, and one with the totals
    #[arg(long)]
    pub json: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.trim().to_string(), value.trim().to_string())),
        _ => Err("expected KEY=VALUE".to_string()),
    }
}

/// `LO:HI`, as two numbers.
pub fn range(text: &str) -> Result<(f64, f64), String> {
    let pair = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match pair {
        Some((low, high)) if 0.0 <= low && low < high && high <= 1.0 => Ok((low, high)),
        _ => Err("expected LO:HI with 0 <= LO < HI <= 1".to_string()),
    }
}

/// Trains.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<()> {
    if let Some(count) = args.threads {
        threads::limit(count)?;
    }
    let saved = args.resume.as_deref().map(input::saved).transpose()?;
    let asked = args.precision.map(|p| if p == Precision::F64 { 8 } else { 4 });
    let there = saved.as_ref().map(Saved::real_bytes);
    if let (Some(there), Some(asked)) = (there, asked)
        && there != asked
    {
        return Err(differs(args, "precision"));
    }
    match there.or(asked).unwrap_or(4) {
        4 => run_in::<f32>(args, saved, device::open_f32),
        _ => run_in::<f64>(args, saved, device::open_f64),
    }
}

/// An option that contradicts the run that is resumed.
pub fn differs(args: &Args, what: &str) -> CliError {
    let file = args.resume.as_deref().unwrap_or(Path::new("")).display();
    CliError::input(format!("{file}: saved with another {what}; leave the option out to continue that run"))
}

fn run_in<T: Real>(args: &Args, saved: Option<Saved>, open: device::Open<T>) -> Result<()> {
    for (name, value) in [("every", args.every), ("save-every", args.save_every), ("steps", args.steps)] {
        if value == Some(0) {
            return Err(CliError::input(format!("--{name} 0: expected at least 1")));
        }
    }
    if args.seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
        return Err(CliError::input("--seconds: expected more than 0"));
    }
    if args.passes.is_some_and(|passes| !(passes > 0.0 && passes < 1e12)) {
        return Err(CliError::input("--passes: expected more than 0 and less than 1e12"));
    }
    if args.save_every.is_some() && args.save.is_none() && args.resume.is_none() {
        return Err(CliError::input("--save-every: nothing is saved without --save"));
    }
    check_place(args)?;
    let new = saved.is_none();
    let (trainer, preparation, split) = match saved {
        Some(Saved::Several(saved)) => return classes::resume::<T>(args, &saved),
        Some(Saved::Two(saved)) => resume::<T>(args, &saved)?,
        None => {
            let (config, options, table) = read(args)?;
            if classes::are_wanted(args, &table, &options)? {
                return classes::start::<T>(args, config, &table, &options);
            }
            let (trainer, preparation) = start::<T>(args, &config, &options, &table)?;
            (trainer, preparation, args.split)
        }
    };
    input::notes(trainer.train_data(), &args.data.display().to_string());
    if let Some(test) = trainer.test_data() {
        input::notes(test, &args.test.as_ref().unwrap_or(&args.data).display().to_string());
    }
    if new && args.reading.positive.is_none() && preparation.positive().parse::<f64>().is_err() {
        eprintln!("note: label {:?} counts as positive; --positive names another", preparation.positive());
    }
    let (engine, note) = Engine::new(&args.device, &trainer, open)?;
    if let Some(note) = note {
        eprintln!("note: {note}");
    }
    walk(args, &mut TwoClasses { trainer, engine, preparation, split, warning: None })
}

/// `--preset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// The method's defaults
    #[default]
    Defaults,
    /// The settings of its paper
    Paper,
}

impl Preset {
    /// Its settings and those that are set, which come before.
    fn with(self, method: &Method, set: &[(String, String)]) -> Vec<(String, String)> {
        let paper = if self == Self::Paper { method.paper } else { &[] };
        let kept = paper.iter().filter(|(name, _)| set.iter().all(|(other, _)| other != name));
        kept.map(|&(name, value)| (name.into(), value.into())).chain(set.iter().cloned()).collect()
    }
}

/// What a new run is made from.
fn read(args: &Args) -> Result<(Config, Options, RawTable)> {
    // What can be told without reading the data comes first.
    let name = args.method.as_deref().unwrap_or_default();
    let method = methods::find(name)?;
    let model = ModelSpec::parse(args.model.as_deref().unwrap_or("linear")).map_err(CliError::Input)?;
    if args.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return Err(CliError::input("--split: expected a share above 0 and below 1"));
    }
    let config = Config {
        method: name.to_string(),
        settings: args.preset.with(method, &args.set),
        model,
        seed: args.seed.unwrap_or(1),
        length: length(args).unwrap_or(Length::Method),
        fpr: args.fpr.unwrap_or(Config::default().fpr),
    };
    methods::check_once(&args.set)?;
    // Where the method may be one of several classes only the data tell which parameters it has.
    if args.reading.positive.is_some() || class_method(name).is_none() {
        methods::check_settings(method, &config)?;
    }
    let options = args.reading.options();
    let table = input::table(&args.data, args.reading.layout, options.label.as_deref())?;
    input::check_columns(&options, &table)?;
    Ok((config, options, table))
}

/// The data and the trainer of a new run of two classes.
fn start<T: Real>(
    args: &Args,
    config: &Config,
    options: &Options,
    table: &RawTable,
) -> Result<(Trainer<T>, Preparation)> {
    methods::check_settings(methods::find(&config.method)?, config)?;
    let several = |error: DataError| {
        let error = match error.kind {
            DataErrorKind::ManyLabels { .. } => CliError::input(format!(
                "{error} (--positive), or train all of them by {}",
                CLASS_METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
            )),
            _ => error.into(),
        };
        input::or_header(error, table)
    };
    let (preparation, train, test) = match args.split {
        Some(share) => {
            let all = prepare::<T>(table, options, Split::new(share, config.seed)).map_err(several)?;
            (all.preparation, all.train, Some(all.test))
        }
        None => {
            let preparation = Preparation::fit(table, options).map_err(several)?;
            let train = preparation.apply::<T>(table)?;
            let test = test_file(args, &preparation)?;
            (preparation, train, test)
        }
    };
    check_classes(args, &train, test.as_ref())?;
    check_memory::<T>(&config.model, train.cols(), 1)?;
    let trainer = Trainer::new(config, Arc::new(train), test.map(Arc::new))?;
    input::header_note(table, &args.data);
    Ok((trainer, preparation))
}

/// The data and the trainer of a saved run. Options that say something else than the run are refused.
fn resume<T: Real>(args: &Args, saved: &SavedModel) -> Result<(Trainer<T>, Preparation, Option<f64>)> {
    let path = args.resume.as_deref().unwrap_or(Path::new(""));
    let of_file = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let run = Predictor::<T>::load(&saved.trainer).map_err(|error| of_file(&error))?;
    let config = run.config();
    let preparation = &saved.preparation;
    check_same(args, config, saved.split, preparation)?;
    let number = |text: &str| text.parse::<f64>().ok();
    let same = |a: &str, b: &str| a == b || (number(a).is_some() && number(a) == number(b));
    if args.reading.positive.as_ref().is_some_and(|label| !same(label, preparation.positive())) {
        return Err(differs(args, "positive label"));
    }
    let table = input::table_again(&args.data, args.reading.layout, preparation.label_column())?;
    if let Some(option) = contradicted(&args.reading, preparation, &table.columns()) {
        return Err(differs(args, option));
    }
    let all = preparation.apply::<T>(&table)?;
    let (train, test) = match saved.split {
        Some(share) => {
            let parts = Split::new(share, config.seed).parts(all.labels())?;
            (all.select(&parts.train)?, Some(all.select(&parts.test)?))
        }
        None => (all, test_file(args, preparation)?),
    };
    check_classes(args, &train, test.as_ref())?;
    let trainer =
        Trainer::load(&saved.trainer, Arc::new(train), test.map(Arc::new)).map_err(|error| of_file(&error))?;
    Ok((trainer, preparation.clone(), saved.split))
}

/// Refuses options that say something else than a saved run.
pub fn check_same(args: &Args, config: &Config, split: Option<f64>, preparation: &Preparation) -> Result<()> {
    let given_model = args.model.as_deref().map(ModelSpec::parse).transpose().map_err(CliError::Input)?;
    for (what, other) in [
        ("method", args.method.as_ref().is_some_and(|method| *method != config.method)),
        ("parameter (--set)", !args.set.is_empty() && args.set != config.settings),
        ("model", given_model.is_some_and(|model| model != config.model)),
        ("seed", args.seed.is_some_and(|seed| seed != config.seed)),
        ("false-positive range", args.fpr.is_some_and(|fpr| fpr != config.fpr)),
        ("number of steps or passes", length(args).is_some_and(|length| length != config.length)),
        ("split", args.split.is_some() && args.split != split),
        ("split (--test is given)", args.test.is_some() && split.is_some()),
        ("scaling", args.reading.scale.is_some_and(|scale| scale.scale() != preparation.scale())),
    ] {
        if other {
            return Err(differs(args, what));
        }
    }
    Ok(())
}

/// The first option about columns that says something else than what a run was prepared with.
pub fn contradicted(given: &DataArgs, preparation: &Preparation, columns: &[String]) -> Option<&'static str> {
    if given.missing.is_some_and(|missing| missing.missing() != preparation.missing()) {
        return Some("treatment of missing values (--missing)");
    }
    // Without names of columns the options about them say nothing.
    let label = preparation.label_column()?;
    let is_label = |text: &String| input::named(columns, text).is_some_and(|name| name == label);
    if given.label.as_ref().is_some_and(|text| !is_label(text)) {
        return Some("label column (--label)");
    }
    let sources = preparation.sources();
    if !given.categorical.iter().all(|name| sources.contains(&(name.as_str(), true))) {
        return Some("list of categorical columns (--categorical)");
    }
    let used = |name: &String| name == label || sources.iter().any(|(source, _)| source == name);
    let same = given.ignore.iter().all(|name| columns.contains(name) && !used(name))
        && columns.iter().all(|name| used(name) || given.ignore.contains(name));
    (!given.ignore.is_empty() && !same).then_some("list of ignored columns (--ignore)")
}

pub fn length(args: &Args) -> Option<Length> {
    args.steps.map(Length::Steps).or(args.passes.map(Length::Passes))
}

fn test_file<T: Real>(args: &Args, preparation: &Preparation) -> Result<Option<Dataset<T>>> {
    let Some(path) = &args.test else { return Ok(None) };
    let table = input::table_again(path, args.reading.layout, preparation.label_column())?;
    Ok(Some(preparation.apply::<T>(&table)?))
}

fn check_classes<T: Real>(args: &Args, train: &Dataset<T>, test: Option<&Dataset<T>>) -> Result<()> {
    train.require_both_classes(&args.data.display().to_string())?;
    if let Some(test) = test {
        let path = args.test.as_ref().unwrap_or(&args.data);
        test.require_both_classes(&path.display().to_string())?;
    }
    Ok(())
}

/// `Ok` when the system gives the memory for a model, its gradient and two moments: past that the program would die.
pub fn check_memory<T: Real>(model: &ModelSpec, columns: usize, heads: usize) -> Result<()> {
    let params = Model::<T>::param_len(&model.build_with(columns, heads)?);
    let mut probe = Vec::<T>::new();
    probe
        .try_reserve_exact(params.saturating_mul(4))
        .map_err(|_| CliError::input(format!("--model {model}: {params} parameters are more than there is memory for")))
}

/// A saved run may only take the place of another, never of somebody's data.
fn check_place(args: &Args) -> Result<()> {
    let Some(path) = args.save.as_ref().or(args.resume.as_ref()) else { return Ok(()) };
    output::check_target(path)?;
    match std::fs::read(path) {
        Ok(bytes) if bytes.is_empty() || bytes.starts_with(b"undercurve") => Ok(()),
        Ok(_) => Err(CliError::input(format!("{}: is there and not a saved model; not replaced", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(CliError::file(path, &error)),
    }
}

/// A run of two classes.
struct TwoClasses<T: Real> {
    trainer: Trainer<T>,
    engine: Engine<T>,
    preparation: Preparation,
    split: Option<f64>,
    /// Of the last report.
    warning: Option<Warning>,
}

impl<T: Real> Run for TwoClasses<T> {
    fn step(&mut self) -> undercurve::Result<Option<f64>> {
        self.engine.step(&mut self.trainer)
    }
    fn note(&mut self) -> Option<String> {
        self.engine.gave_up()
    }
    fn steps_done(&self) -> u64 {
        self.trainer.steps_done()
    }
    fn is_done(&self) -> bool {
        self.trainer.is_done()
    }
    fn progress(&self) -> (u64, u64) {
        self.trainer.progress()
    }
    fn pass(&self) -> f64 {
        self.trainer.pass()
    }
    fn opening(&self, file: &str) -> String {
        let trainer = &self.trainer;
        let (data, config) = (trainer.train_data(), trainer.config());
        let test = trainer
            .test_data()
            .map_or_else(String::new, |test| format!(", {} test rows ({} positive)", test.len(), test.positives()));
        let first = match trainer.pretraining_steps() {
            0 => String::new(),
            steps => format!(" (the first {steps} of cross-entropy)"),
        };
        let length = match trainer.progress() {
            (_, end) if end == trainer.total_steps() => format!("{end} steps{first}"),
            (_, rows) => format!("{:.1} passes", rows as f64 / data.len() as f64),
        };
        format!(
            "{file}: {} rows ({} positive), {} columns (scale: {}){test}; {}, {}, seed {}, {length} on {}",
            data.len(),
            data.positives(),
            data.cols(),
            self.preparation.scale().name(),
            config.method,
            config.model,
            config.seed,
            self.backend()
        )
    }
    fn report(&mut self, reporter: &mut Reporter, seconds: f64) -> Result<()> {
        let report = self.trainer.report().map_err(|error| left_range(self, error))?;
        self.warning = report.warning;
        reporter.report(&report, self.trainer.method(), seconds)
    }
    fn batch(&self) -> (usize, Option<&'static str>) {
        let (batch, labels) = (self.trainer.batch_index(), self.trainer.train_data().labels());
        let none_of = |label| batch.iter().all(|&row| labels[row as usize] != label);
        let classes = [(1, "positive"), (0, "negative")];
        (batch.len(), classes.into_iter().find(|(label, _)| none_of(*label)).map(|(_, class)| class))
    }
    fn warning(&self) -> Option<Warning> {
        self.warning
    }
    fn method(&self) -> &'static Method {
        self.trainer.method()
    }
    fn message(&self, value: Option<f64>) -> String {
        match self.trainer.step_size() {
            Some((alpha, _)) => format!("step size {alpha:.4}"),
            None => format!("loss {:.4}", value.unwrap_or(f64::NAN)),
        }
    }
    fn rate(&self) -> &'static str {
        if self.trainer.estimator().is_some() { "learning rate (--set lr=…)" } else { "step size (--set alpha=…)" }
    }
    fn totals(&self) -> Value {
        let (data, config) = (self.trainer.train_data(), self.trainer.config());
        let mut totals = json!({
            "done": true, "method": config.method, "model": config.model.to_string(), "seed": config.seed,
            "rows": data.len(), "columns": data.cols(), "positives": data.positives(),
            "scale": self.preparation.scale().name(),
            "backend": self.engine.name(), "precision": precision::<T>(), "fpr": [config.fpr.0, config.fpr.1],
        });
        if let Some(test) = self.trainer.test_data() {
            totals["test_rows"] = test.len().into();
            totals["test_positives"] = test.positives().into();
        }
        totals
    }
    fn backend(&self) -> String {
        format!("{} {}", self.engine.name(), precision::<T>())
    }
    fn save(&self) -> Vec<u8> {
        SavedModel {
            preparation: self.preparation.clone(),
            split: self.split,
            real_bytes: T::BYTES as u8,
            trainer: self.trainer.save(),
        }
        .to_bytes()
    }
}
