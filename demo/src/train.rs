//! `undercurve train`: trains a model, reports on the way, saves and resumes.

use crate::device::{self, Choice, Engine};
use crate::error::{CliError, Result};
use crate::input::{self, DataArgs};
use crate::report::Reporter;
use crate::{methods, output, threads};
use anyhow::anyhow;
use clap::ValueEnum;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Dataset, Preparation, Scale, Split, prepare};
use undercurve::model::Model;
use undercurve::trainer::{Config, Length, ModelSpec, Predictor, Trainer};

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

Exit code: 0 when all went well, 2 for bad input or options (one line says what and where, and nothing is written),
130 after Ctrl-C, 1 for anything else.")]
pub struct Args {
    /// Training data: CSV or LIBSVM, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Test data, measured in every report and never trained on
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    test: Option<PathBuf>,
    /// Train on this share of the rows of DATA, drawn by class, and test on the others
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    split: Option<f64>,
    #[command(flatten)]
    reading: DataArgs,
    /// Method; `undercurve methods` lists them
    #[arg(long, value_name = "NAME", required_unless_present = "resume")]
    method: Option<String>,
    /// A parameter of the method, as often as needed; `undercurve methods NAME` lists them
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS [default: linear]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// False-positive range of the partial AUC [default: 0:0.05]
    #[arg(long, value_name = "LO:HI", value_parser = range)]
    fpr: Option<(f64, f64)>,
    /// Train for so many passes over the training rows; a full gradient is one
    #[arg(long, value_name = "N", conflicts_with = "steps", allow_negative_numbers = true)]
    passes: Option<f64>,
    /// Train for so many steps [default: the method's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u64>,
    /// Stop after so many seconds even if steps are left
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Decides the split, the start values and the batches [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// cpu or gpu
    #[arg(long, value_name = "DEVICE", default_value = "cpu", hide_possible_values = true)]
    device: Choice,
    /// Threads, for whole-data methods, reports and scoring; the same bits with any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// f32 or f64 [default: f32]
    #[arg(long, value_name = "REAL", hide_possible_values = true)]
    precision: Option<Precision>,
    /// Report every K steps [default: twenty times in the run]
    #[arg(long, value_name = "K")]
    every: Option<u64>,
    /// Save the run to FILE, with every report and at the end
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Save every K steps instead of with every report
    #[arg(long, value_name = "K")]
    save_every: Option<u64>,
    /// Continue a saved run on the same data, and save to the same FILE unless --save names another
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Print one JSON object for each report, and one with the totals
    #[arg(long)]
    json: bool,
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
    let saved = args.resume.as_deref().map(input::model).transpose()?;
    let asked = args.precision.map(|p| if p == Precision::F64 { 8 } else { 4 });
    if let (Some(saved), Some(asked)) = (&saved, asked)
        && saved.real_bytes != asked
    {
        return Err(differs(args, "precision"));
    }
    match saved.as_ref().map_or(asked.unwrap_or(4), |saved| saved.real_bytes) {
        4 => run_in::<f32>(args, saved, device::open_f32),
        _ => run_in::<f64>(args, saved, device::open_f64),
    }
}

/// An option that contradicts the run that is resumed.
fn differs(args: &Args, what: &str) -> CliError {
    let file = args.resume.as_deref().unwrap_or(Path::new("")).display();
    CliError::input(format!("{file}: saved with another {what}; leave the option out to continue that run"))
}

fn run_in<T: Real>(args: &Args, saved: Option<SavedModel>, open: device::Open<T>) -> Result<()> {
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
    let (mut trainer, preparation, split) = match &saved {
        None => start::<T>(args)?,
        Some(saved) => resume::<T>(args, saved)?,
    };
    let save = args.save.as_ref().or(args.resume.as_ref());
    if let Some(path) = save {
        check_save(path)?;
    }
    input::notes(trainer.train_data(), &args.data.display().to_string());
    if let Some(test) = trainer.test_data() {
        input::notes(test, &args.test.as_ref().unwrap_or(&args.data).display().to_string());
    }
    if saved.is_none() && args.reading.positive.is_none() && preparation.positive().parse::<f64>().is_err() {
        eprintln!("note: label {:?} counts as positive; --positive names another", preparation.positive());
    }
    let (engine, note) = Engine::new(args.device, &trainer, open);
    if let Some(note) = note {
        eprintln!("note: {note}");
    }
    let file = |trainer: &Trainer<T>| -> Result<()> {
        let Some(path) = save else { return Ok(()) };
        let model =
            SavedModel { preparation: preparation.clone(), split, real_bytes: T::BYTES as u8, trainer: trainer.save() };
        output::write_atomic(path, &model.to_bytes())
    };
    walk(args, &mut trainer, engine, &file)
}

/// The data and the trainer of a new run.
fn start<T: Real>(args: &Args) -> Result<(Trainer<T>, Preparation, Option<f64>)> {
    // What can be told without reading the data comes first.
    let method = args.method.as_deref().unwrap_or_default();
    let sum = methods::find(method)?.is_finite_sum();
    let model = ModelSpec::parse(args.model.as_deref().unwrap_or("linear")).map_err(CliError::Input)?;
    if args.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return Err(CliError::input("--split: expected a share above 0 and below 1"));
    }
    let config = Config {
        method: method.to_string(),
        settings: args.set.clone(),
        model,
        seed: args.seed.unwrap_or(1),
        length: length(args).unwrap_or(Length::Method),
        fpr: args.fpr.unwrap_or(Config::default().fpr),
    };
    let mut options = args.reading.options();
    if sum && config.model == ModelSpec::Linear && options.scale.is_none() {
        options.scale = Some(Scale::Unit);
    }
    let table = input::table(&args.data, args.reading.format, options.label.as_deref())?;
    let (preparation, train, test) = match args.split {
        Some(share) => {
            let all = prepare::<T>(&table, &options, Split::new(share, config.seed))?;
            (all.preparation, all.train, Some(all.test))
        }
        None => {
            let preparation = Preparation::fit(&table, &options)?;
            let train = preparation.apply::<T>(&table)?;
            let test = test_file(args, &preparation)?;
            (preparation, train, test)
        }
    };
    check_classes(args, &train, test.as_ref())?;
    check_memory::<T>(&config.model, train.cols())?;
    let trainer = Trainer::new(&config, Arc::new(train), test.map(Arc::new))?;
    Ok((trainer, preparation, args.split))
}

/// The data and the trainer of a saved run. Options that say something else than the run are refused.
fn resume<T: Real>(args: &Args, saved: &SavedModel) -> Result<(Trainer<T>, Preparation, Option<f64>)> {
    let path = args.resume.as_deref().unwrap_or(Path::new(""));
    let of_file = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let run = Predictor::<T>::load(&saved.trainer).map_err(|error| of_file(&error))?;
    let config = run.config();
    let preparation = &saved.preparation;
    let given_model = args.model.as_deref().map(ModelSpec::parse).transpose().map_err(CliError::Input)?;
    let number = |text: &str| text.parse::<f64>().ok();
    let same = |a: &str, b: &str| a == b || (number(a).is_some() && number(a) == number(b));
    for (what, other) in [
        ("method", args.method.as_ref().is_some_and(|method| *method != config.method)),
        ("parameter (--set)", !args.set.is_empty() && args.set != config.settings),
        ("model", given_model.is_some_and(|model| model != config.model)),
        ("seed", args.seed.is_some_and(|seed| seed != config.seed)),
        ("false-positive range", args.fpr.is_some_and(|fpr| fpr != config.fpr)),
        ("number of steps or passes", length(args).is_some_and(|length| length != config.length)),
        ("split", args.split.is_some() && args.split != saved.split),
        ("scaling", args.reading.scale.is_some_and(|scale| scale.scale() != preparation.scale())),
        ("positive label", args.reading.positive.as_ref().is_some_and(|label| !same(label, preparation.positive()))),
    ] {
        if other {
            return Err(differs(args, what));
        }
    }
    let table = input::table(&args.data, args.reading.format, preparation.label_column())?;
    if let Some(option) = contradicted(&args.reading, preparation, &table.columns()) {
        return Err(differs(args, option));
    }
    let all = preparation.apply::<T>(&table)?;
    let (train, test) = match saved.split {
        Some(_) if args.test.is_some() => return Err(differs(args, "split (--test is given)")),
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

/// The first option about columns that says something else than what a run was prepared with.
fn contradicted(given: &DataArgs, preparation: &Preparation, columns: &[String]) -> Option<&'static str> {
    if given.missing.is_some_and(|missing| missing.missing() != preparation.missing()) {
        return Some("treatment of missing values (--missing)");
    }
    // Without names of columns the options about them say nothing.
    let label = preparation.label_column()?;
    let named = |text: &str| match text.parse::<i64>() {
        Ok(-1) => columns.last().cloned(),
        Ok(number) => usize::try_from(number - 1).ok().and_then(|at| columns.get(at).cloned()),
        Err(_) => None,
    };
    let is_label = |text: &String| text == label || named(text).is_some_and(|name| name == label);
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

fn length(args: &Args) -> Option<Length> {
    args.steps.map(Length::Steps).or(args.passes.map(Length::Passes))
}

fn test_file<T: Real>(args: &Args, preparation: &Preparation) -> Result<Option<Dataset<T>>> {
    let Some(path) = &args.test else { return Ok(None) };
    let table = input::table(path, args.reading.format, preparation.label_column())?;
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
fn check_memory<T: Real>(model: &ModelSpec, columns: usize) -> Result<()> {
    let params = Model::<T>::param_len(&model.build(columns)?);
    let mut probe = Vec::<T>::new();
    probe
        .try_reserve_exact(params.saturating_mul(4))
        .map_err(|_| CliError::input(format!("--model {model}: {params} parameters are more than there is memory for")))
}

/// A saved run may only take the place of another, never of somebody's data.
fn check_save(path: &Path) -> Result<()> {
    output::check_target(path)?;
    match std::fs::read(path) {
        Ok(bytes) if bytes.is_empty() || bytes.starts_with(b"undercurve") => Ok(()),
        Ok(_) => Err(CliError::input(format!("{}: is there and not a saved model; not replaced", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(CliError::file(path, &error)),
    }
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Steps, reports and saves until the run is over.
fn walk<T: Real>(
    args: &Args,
    trainer: &mut Trainer<T>,
    mut engine: Engine<T>,
    save: &dyn Fn(&Trainer<T>) -> Result<()>,
) -> Result<()> {
    // A second Ctrl-C ends the program where it stands. Without a handler the first one does.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    let clock = Instant::now();
    let seconds = || clock.elapsed().as_secs_f64();
    let (mut at, end) = trainer.progress();
    let part = end.div_ceil(20).max(1);
    let mut reporter = Reporter::new(args.json, at, end);
    reporter.say(opening(args, trainer, &engine))?;

    let mut closed = false;
    // At the start, and whenever so many steps, or a twentieth of the run, are done.
    let (mut report_due, mut save_due) = (true, true);
    let mut finished = at >= end;
    loop {
        let done = trainer.steps_done();
        let out_of_time = args.seconds.is_some_and(|limit| seconds() >= limit);
        let mut over = finished || out_of_time || STOP.load(Ordering::SeqCst) || closed;
        if (over || report_due) && !closed {
            let report = trainer.report().map_err(|error| left_range(trainer, error))?;
            match reporter.report(&report, seconds()) {
                Err(CliError::Closed) => (closed, over) = (true, true),
                other => other?,
            }
        }
        if over || save_due {
            save(trainer)?;
        }
        if over {
            break;
        }
        let stepped = engine.step(trainer).map_err(|error| left_range(trainer, error))?;
        if let Some(note) = engine.gave_up() {
            eprintln!("note: {note}");
        }
        let before = std::mem::replace(&mut at, trainer.progress().0);
        let moved = trainer.steps_done() > done;
        let due = |every: Option<u64>| match every {
            Some(every) => moved && trainer.steps_done().is_multiple_of(every),
            None => before / part != at / part,
        };
        report_due = due(args.every);
        save_due = due(args.save_every.or(args.every));
        finished = stepped.is_none() || at >= end;
        reporter.step(trainer, stepped);
    }
    if closed {
        return Err(CliError::Closed);
    }
    let (data, config) = (trainer.train_data(), trainer.config());
    let mut totals = json!({
        "done": true, "method": config.method, "model": config.model.to_string(), "seed": config.seed,
        "steps": trainer.steps_done(), "pass": trainer.pass(), "seconds": seconds(),
        "rows": data.len(), "columns": data.cols(), "positives": data.positives(),
        "backend": engine.name(), "precision": precision::<T>(), "fpr": [config.fpr.0, config.fpr.1],
    });
    if let Some(test) = trainer.test_data() {
        totals["test_rows"] = test.len().into();
        totals["test_positives"] = test.positives().into();
    }
    let place = args.save.as_ref().or(args.resume.as_ref());
    let saved = place.map_or_else(String::new, |path| format!(", saved to {}", path.display()));
    let sentence = format!(
        "{} steps ({:.1} passes) in {:.2} s on {} {}{saved}",
        trainer.steps_done(),
        trainer.pass(),
        seconds(),
        engine.name(),
        precision::<T>()
    );
    let interrupted = STOP.load(Ordering::SeqCst) && !finished;
    if interrupted {
        totals["interrupted"] = true.into();
    }
    reporter.finish(&totals, sentence)?;
    if interrupted { Err(CliError::Interrupted) } else { Ok(()) }
}

fn precision<T: Real>() -> &'static str {
    if T::BYTES == 8 { "f64" } else { "f32" }
}

/// Numbers grew beyond the type: the options are not at fault for certain, but nearly always.
fn left_range<T: Real>(trainer: &Trainer<T>, error: undercurve::Error) -> CliError {
    let step = trainer.steps_done();
    let rate =
        if trainer.estimator().is_some() { "learning rate (--set lr=…)" } else { "step size (--set alpha=…)" };
    anyhow!("training broke down after {step} steps ({error}); a smaller {rate} may help").into()
}

/// What is trained, in one line.
fn opening<T: Real>(args: &Args, trainer: &Trainer<T>, engine: &Engine<T>) -> String {
    let (data, config) = (trainer.train_data(), trainer.config());
    let test = trainer
        .test_data()
        .map_or_else(String::new, |test| format!(", {} test rows ({} positive)", test.len(), test.positives()));
    let length = match trainer.progress() {
        (_, end) if end == trainer.total_steps() => format!("{end} steps"),
        (_, rows) => format!("{:.1} passes", rows as f64 / data.len() as f64),
    };
    format!(
        "{}: {} rows ({} positive), {} columns{test}; {}, {}, seed {}, {length} on {} {}",
        args.data.display(),
        data.len(),
        data.positives(),
        data.cols(),
        config.method,
        config.model,
        config.seed,
        engine.name(),
        precision::<T>()
    )
}
