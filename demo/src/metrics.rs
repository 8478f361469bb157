//! `undercurve metrics`: exact metrics of scores that are already there.

use crate::error::{CliError, Result};
use crate::input::{self, FormatArg, HeaderArg, LayoutArgs};
use crate::measure::{self, Metric};
use crate::output;
use crate::scores::{self, Scores};
use std::path::{Path, PathBuf};
use undercurve::data::{DataError, DataErrorKind, Options, Preparation, RawTable, Rows, Scale, Target, label_values};
use undercurve::metric::class_summary;

/// Options of `metrics`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

Examples:
  undercurve metrics scores.csv
  undercurve metrics scores.csv --metric auroc,mcclish:0.1,precision-at-recall:0.5 --json

With more than two labels and a column score:CLASS for each: the Hand-Till AUC, the accuracy of the highest score, and AUROC
and AP of each class against all others. `eval --scores` writes such files.", measure::HELP))]
pub struct Args {
    /// CSV with a label and a score column, plain or gzip; - is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Metrics, with commas between them [default: auroc,ap,pauc,accuracy; pauc over 0:0.05]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = measure::parse)]
    metric: Vec<Metric>,
    /// The label column, by name or by number from 1 (-1 is the last)
    #[arg(long, value_name = "COL", default_value = "label", allow_hyphen_values = true)]
    label: String,
    /// The score column, likewise; a higher score means rather positive
    #[arg(long, value_name = "COL", default_value = "score", allow_hyphen_values = true)]
    score: String,
    /// Label value that counts as positive [default: the larger of two numbers; of two words yes, true or positive, else the
    /// rarer]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// The columns whose values, together, make groups, with commas between them: adds their gaps and a table
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    group: Vec<String>,
    /// Column that says what each row counts
    #[arg(long, value_name = "COL", conflicts_with = "group")]
    weight: Option<String>,
    /// Whether the first line names the columns: yes, no, or auto, which looks for the name of the label column, and for
    /// numbers below names
    #[arg(long, value_name = "WHETHER", default_value = "auto", hide_possible_values = true)]
    header: HeaderArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads scores and measures.
///
/// # Errors
/// [`CliError`](crate::error::CliError).
pub fn run(args: &Args) -> Result<()> {
    let metrics =
        if args.metric.is_empty() { measure::usual(None, !args.group.is_empty()) } else { args.metric.clone() };
    if args.file != Path::new("-")
        && args.group.is_empty()
        && args.weight.is_none()
        && let Some(Scores { scores, labels, first_lines }) = plain(args)
    {
        input::header_note(&first_lines, &args.file);
        return measure::print(&metrics, &scores, labels.as_slice().into(), measure::NO_MODEL, args.json);
    }
    let table = input::table(&args.file, layout(args), Some(&args.label))?;
    let columns = table.columns();
    let error = |kind| DataError { file: table.name().to_string(), line: 0, column: 0, kind };
    let find = |name: &String| {
        input::named(&columns, name).ok_or_else(|| {
            let kind = DataErrorKind::MissingColumn { name: name.clone(), columns: columns.clone() };
            DataError { line: u32::from(table.has_header()), ..error(kind) }
        })
    };
    let label = find(&args.label)?;
    let options = Options { label: Some(label.clone()), ..Options::default() };
    let values = label_values(&table, &options)?;
    let of_class = |class: &String| format!("{}:{class}", args.score);
    if args.positive.is_none() && values.len() > 2 && values.iter().any(|class| columns.contains(&of_class(class))) {
        return several(args, &table, label, &values.iter().map(of_class).collect::<Vec<_>>());
    }
    let score = find(&args.score)?;
    if label == score {
        return Err(CliError::input(format!("--score {}: is the label column", args.score)));
    }
    are_numbers(&table, &columns, &[&score])?;
    let options = Options {
        label: Some(label.clone()),
        positive: args.positive.clone(),
        scale: Some(Scale::None),
        ignore: columns.iter().filter(|name| **name != label && **name != score).cloned().collect(),
        ..Options::default()
    };
    let preparation = Preparation::fit(&table, &options)?;
    let data = input::group(&preparation, &table, preparation.apply::<f64>(&table)?, &args.group)?;
    let data = input::weigh(&preparation, &table, data, args.weight.as_ref())?;
    let Rows::Dense { data: scores, .. } = data.rows() else {
        return Err(error(DataErrorKind::OtherFormat).into());
    };
    input::header_note(&table, &args.file);
    weights_line(args, data.weights())?;
    let usual = measure::Usual { groups: input::grouping(&data, data.groups()), ..measure::NO_MODEL };
    measure::print(&metrics, scores, data.truth(), usual, args.json)
}

/// Says what the weights come to.
fn weights_line(args: &Args, weights: &[f64]) -> Result<()> {
    let told = input::weights_told(weights, args.weight.as_deref().unwrap_or_default());
    told.filter(|_| !args.json).map_or(Ok(()), output::line)
}

fn layout(args: &Args) -> LayoutArgs {
    LayoutArgs { format: FormatArg::Csv, header: args.header }
}

/// Names the first cell, in reading order, that is no number in these columns.
fn are_numbers(table: &RawTable, columns: &[String], scores: &[&String]) -> Result<()> {
    let texts = columns.iter().enumerate().filter(|(_, name)| scores.contains(name));
    let first = texts.filter_map(|(at, name)| table.first_text(at).map(|(line, text)| (line, at, name, text))).min();
    let Some((line, at, name, text)) = first else { return Ok(()) };
    let shown: String = text.chars().take(40).collect();
    let column = at + 1;
    Err(CliError::input(format!(
        "{}:{line}:{column}: value {shown:?} in column {name:?} is not a number",
        table.name()
    )))
}

/// Labels and scores of a file of plain numbers.
fn plain(args: &Args) -> Option<Scores> {
    let options = input::read_options(layout(args), Some(&args.label));
    let columns = |names: &[String]| {
        let place = |name: &String| names.iter().position(|other| Some(other) == input::named(names, name).as_ref());
        let (label, score) = (place(&args.label)?, place(&args.score)?);
        (label != score).then_some((label, score))
    };
    scores::read(&args.file, &options, columns, args.positive.as_deref())
}

/// The metrics of several classes, with the names of their score columns.
fn several(args: &Args, table: &RawTable, label: String, scores: &[String]) -> Result<()> {
    if !args.group.is_empty() {
        return Err(CliError::input("--group: is for two classes; --positive names one of several"));
    }
    if let Some(metric) = args.metric.first() {
        let text = format!("--metric {}: is for two classes; --positive names one of several", metric.name);
        return Err(CliError::input(text));
    }
    let columns = table.columns();
    let error = |kind| DataError { file: table.name().to_string(), line: 1, column: 0, kind };
    if let Some(name) = scores.iter().find(|name| !columns.contains(name)) {
        return Err(error(DataErrorKind::MissingColumn { name: name.clone(), columns }).into());
    }
    let prefix = format!("{}:", args.score);
    if let Some(more) = columns.iter().find(|name| name.starts_with(&prefix) && !scores.contains(name)) {
        return Err(CliError::input(format!("{}: column \"{more}\", but no row of that class", table.name())));
    }
    are_numbers(table, &columns, &scores.iter().collect::<Vec<_>>())?;
    let options = Options {
        label: Some(label.clone()),
        target: Target::Classes,
        scale: Some(Scale::None),
        ignore: columns.into_iter().filter(|name| *name != label && !scores.contains(name)).collect(),
        ..Options::default()
    };
    let preparation = Preparation::fit(table, &options)?;
    let data = input::weigh(&preparation, table, preparation.apply::<f64>(table)?, args.weight.as_ref())?;
    let (names, classes) = (preparation.column_names(), preparation.classes());
    let at: Option<Vec<usize>> = scores.iter().map(|score| names.iter().position(|name| name == score)).collect();
    let (Some(at), Rows::Dense { data: values, cols, .. }) = (at, data.rows()) else {
        return Err(CliError::input(format!("{}: a score is not a number", table.name())));
    };
    input::header_note(table, &args.file);
    weights_line(args, data.weights())?;
    let ordered: Vec<f64> = values.chunks_exact(cols).flat_map(|row| at.iter().map(|&at| row[at])).collect();
    measure::print_classes(
        class_summary(&ordered, classes.len(), data.class_labels(), data.weights())?,
        classes,
        args.json,
    )
}
