//! `undercurve metrics`: exact metrics of scores that are already there.

use crate::error::Result;
use crate::input::{self, FormatArg};
use crate::measure::{self, Metric};
use std::path::PathBuf;
use undercurve::data::{DataError, DataErrorKind, Options, Preparation, Scale};

/// Options of `metrics`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

Examples:
  undercurve metrics scores.csv
  undercurve metrics scores.csv --metric auroc,mcclish:0.1,precision-at-recall:0.5 --json", measure::HELP))]
pub struct Args {
    /// CSV with a label and a score column, plain or gzip
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Metrics, with commas between them [default: auroc,ap,pauc,accuracy; pauc over 0:0.05]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = measure::parse)]
    metric: Vec<Metric>,
    /// The label column
    #[arg(long, value_name = "COL", default_value = "label")]
    label: String,
    /// The score column; a higher score means rather positive
    #[arg(long, value_name = "COL", default_value = "score")]
    score: String,
    /// Label value that counts as positive [default: the larger of two]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads scores and measures.
///
/// # Errors
/// [`CliError`](crate::error::CliError).
pub fn run(args: &Args) -> Result<()> {
    let table = input::table(&args.file, FormatArg::Csv, Some(&args.label))?;
    let columns = table.columns();
    let error = |kind| DataError { file: table.name().to_string(), line: 0, column: 0, kind };
    for name in [&args.label, &args.score] {
        if !columns.contains(name) {
            let kind = DataErrorKind::MissingColumn { name: name.clone(), columns: columns.clone() };
            let line = u32::from(table.has_header());
            return Err(DataError { line, ..error(kind) }.into());
        }
    }
    let others = columns.iter().filter(|name| **name != args.label && **name != args.score).cloned();
    let options = Options {
        label: Some(args.label.clone()),
        positive: args.positive.clone(),
        scale: Some(Scale::None),
        ignore: others.collect(),
        ..Options::default()
    };
    let preparation = Preparation::fit(&table, &options)?;
    if preparation.column_names() != [args.score.clone()] {
        let text = preparation.column_names().first().cloned().unwrap_or_default();
        let text = text.split_once('=').map_or(text.clone(), |(_, value)| value.to_string());
        return Err(error(DataErrorKind::NotANumber { text, column: args.score.clone() }).into());
    }
    let data = preparation.apply::<f64>(&table)?;
    let undercurve::data::Rows::Dense { data: scores, .. } = data.rows() else {
        return Err(error(DataErrorKind::OtherFormat).into());
    };
    let metrics = if args.metric.is_empty() { measure::usual() } else { args.metric.clone() };
    measure::print(&metrics, scores, data.labels(), (0.0, 0.05), args.json)
}
