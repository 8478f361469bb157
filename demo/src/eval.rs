//! `undercurve eval`: exact metrics of a saved model on data.

use crate::error::{CliError, Result};
use crate::input::{self, FormatArg};
use crate::measure::{self, Metric};
use crate::output;
use std::fmt::Write as _;
use std::path::PathBuf;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::trainer::Predictor;

/// Options of `eval`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

Examples:
  undercurve eval a9a.model a9a.t.svm.gz
  undercurve eval a9a.model a9a.t.svm.gz --metric auroc,ap,pauc:0.05:0.5 --json
  undercurve eval a9a.model a9a.t.svm.gz --scores scores.csv", measure::HELP))]
pub struct Args {
    /// A file that `train --save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Data with the columns of training
    #[arg(value_name = "DATA")]
    data: PathBuf,
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
    let data = saved.preparation.apply::<T>(&table)?;
    let file = args.data.display().to_string();
    data.require_both_classes(&file)?;
    let mut scores = vec![T::ZERO; data.len()];
    model.score(data.rows(), &mut scores)?;
    if let Some(path) = &args.scores {
        output::check_target(path)?;
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
