//! `undercurve eval`: exact metrics of a saved model on data.

use crate::error::{CliError, Result};
use crate::input::{self, FormatArg};
use crate::measure::{self, Metric};
use crate::output;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Dataset, Split};
use undercurve::trainer::{Predictor, Trainer};

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
    /// Layout of the file: auto, csv or libsvm, each plain or gzip
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_possible_values = true)]
    format: FormatArg,
    /// Write label and score of every row to a CSV file
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
    let saved = input::model(&args.model)?;
    match saved.real_bytes {
        4 => run_in::<f32>(args, &saved),
        _ => run_in::<f64>(args, &saved),
    }
}

fn run_in<T: Real>(args: &Args, saved: &SavedModel) -> Result<()> {
    let mut model = Predictor::<T>::load(&saved.trainer)
        .map_err(|error| CliError::input(format!("{}: {error}", args.model.display())))?;
    let table = input::table(&args.data, args.format, saved.preparation.label_column())?;
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
    let Some(share) = saved.split else {
        return Err(CliError::input(format!(
            "{}: trained without --split; nothing was held out",
            args.model.display()
        )));
    };
    let parts = Split::new(share, seed).parts(data.labels())?;
    // Of another file the split would be other rows: a run takes its own training rows alone.
    Trainer::load(&saved.trainer, Arc::new(data.select(&parts.train)?), None)
        .map_err(|error| CliError::input(format!("{}: {error}", args.data.display())))?;
    Ok(data.select(&parts.test)?)
}
