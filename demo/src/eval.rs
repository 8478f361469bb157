//! `undercurve eval`: exact metrics of a saved model on data.

use crate::error::{CliError, Result};
use crate::input::{self, LayoutArgs, Saved};
use crate::measure::{self, Metric};
use crate::output;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::{SavedClassModel, SavedModel};
use undercurve::data::{Dataset, Split};
use undercurve::metric::class_summary;
use undercurve::trainer::{ClassPredictor, ClassTrainer, Predictor, Trainer};

/// Options of `eval`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

Examples:
  undercurve eval a9a.model a9a.t.svm.gz
  undercurve eval a9a.model a9a.t.svm.gz --metric auroc,ap,pauc:0.05:0.5 --json
  undercurve eval a9a.model a9a.t.svm.gz --scores scores.csv
  undercurve eval data.model data.csv --held-out", measure::HELP))]
pub struct Args {
    /// A file that `train --save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Data with the columns of training; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Only the rows that `train --split` held out; DATA is the file of training
    #[arg(long)]
    held_out: bool,
    /// Metrics, with commas between them [default: auroc,ap,pauc,accuracy; pauc over the run's --fpr]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = measure::parse)]
    metric: Vec<Metric>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// Write label and score (of several classes: the log-odds of each) of every row to a CSV file
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Scores and measures.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<()> {
    match (input::saved(&args.model)?, args.metric.is_empty()) {
        (Saved::Two(saved), _) if saved.real_bytes == 4 => run_in::<f32>(args, &saved),
        (Saved::Two(saved), _) => run_in::<f64>(args, &saved),
        (Saved::Several(_), false) => Err(CliError::input(format!(
            "{}: a model of several classes; --metric is for two (what there is of several is printed without it)",
            args.model.display()
        ))),
        (Saved::Several(saved), _) if saved.real_bytes == 4 => classes_in::<f32>(args, &saved),
        (Saved::Several(saved), _) => classes_in::<f64>(args, &saved),
    }
}

/// The same for a model of several classes.
fn classes_in<T: Real>(args: &Args, saved: &SavedClassModel) -> Result<()> {
    let mut model = ClassPredictor::<T>::load(&saved.trainer)
        .map_err(|error| CliError::input(format!("{}: {error}", args.model.display())))?;
    let preparation = &saved.preparation;
    let table = input::table_again(&args.data, args.layout, preparation.features().label_column())?;
    let mut data = preparation.apply::<T>(&table)?;
    let file = args.data.display().to_string();
    if args.held_out {
        let share = saved.split.ok_or_else(|| not_split(args))?;
        let [train, test] = preparation.split(&table, &data, Split::new(share, model.config().seed))?;
        ClassTrainer::load(&saved.trainer, Arc::new(train), None)
            .map_err(|error| CliError::input(format!("{file}: {error}")))?;
        data = test;
    }
    data.require_every_class(&file)?;
    let names = preparation.classes();
    let mut scores = vec![T::ZERO; data.len() * names.len()];
    model.score(data.features().rows(), &mut scores)?;
    if let Some(path) = &args.scores {
        output::check_output(path, &[&args.model, &args.data])?;
        let mut text = String::from("label");
        for name in names {
            text += &format!(",{}", cell(&format!("score:{name}")));
        }
        text.push('\n');
        for (&label, scores) in data.labels().iter().zip(scores.chunks_exact(names.len())) {
            text += &cell(&names[label as usize]);
            for score in scores {
                // Writing to a string cannot fail.
                let _ = write!(text, ",{score}");
            }
            text.push('\n');
        }
        output::write_atomic(path, text.as_bytes())?;
    }
    input::notes(data.features(), &file);
    measure::print_classes(&class_summary(&scores, names.len(), data.labels())?, names, args.json)
}

/// A CSV cell.
fn cell(text: &str) -> String {
    if text.contains(['"', ',', ';', '\t', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

fn not_split(args: &Args) -> CliError {
    CliError::input(format!("{}: trained without --split; nothing was held out", args.model.display()))
}

fn run_in<T: Real>(args: &Args, saved: &SavedModel) -> Result<()> {
    let mut model = Predictor::<T>::load(&saved.trainer)
        .map_err(|error| CliError::input(format!("{}: {error}", args.model.display())))?;
    let table = input::table_again(&args.data, args.layout, saved.preparation.label_column())?;
    let mut data = saved.preparation.apply::<T>(&table)?;
    let file = args.data.display().to_string();
    if args.held_out {
        data = held_out(args, saved, &data, model.config().seed)?;
    }
    data.require_both_classes(&file)?;
    let mut scores = vec![T::ZERO; data.len()];
    model.score(data.rows(), &mut scores)?;
    if let Some(path) = &args.scores {
        output::check_output(path, &[&args.model, &args.data])?;
        let mut text = String::from("label,score\n");
        for (label, score) in data.labels().iter().zip(&scores) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{label},{score}");
        }
        output::write_atomic(path, text.as_bytes())?;
    }
    input::notes(&data, &file);
    let metrics = if args.metric.is_empty() { measure::usual() } else { args.metric.clone() };
    measure::print(&metrics, &scores, data.labels(), model.config().fpr, args.json)
}

/// The rows of `data` that the run was not trained on.
fn held_out<T: Real>(args: &Args, saved: &SavedModel, data: &Dataset<T>, seed: u64) -> Result<Dataset<T>> {
    let share = saved.split.ok_or_else(|| not_split(args))?;
    let parts = Split::new(share, seed).parts(data.labels())?;
    // Of another file the split would be other rows: a run takes its own training rows alone.
    Trainer::load(&saved.trainer, Arc::new(data.select(&parts.train)?), None)
        .map_err(|error| CliError::input(format!("{}: {error}", args.data.display())))?;
    Ok(data.select(&parts.test)?)
}
