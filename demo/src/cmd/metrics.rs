//! `undercurve metrics`: exact metrics of scores that are already there.

use crate::args::data::{FormatArg, HeaderArg, LayoutArgs};
use crate::args::decide;
use crate::error::{CliError, Result};
use crate::input;
use crate::input::scores::{self, Scores};
use crate::output;
use crate::tell::by_group::Grouping;
use crate::tell::curves;
use crate::tell::measure::{self, Metric};
use crate::tell::threshold::{self, Threshold};
use std::path::{Path, PathBuf};
use undercurve::data::{
    DataError, DataErrorKind, Options, Preparation, Queries, RawTable, Rows, Scale, Target, Targets, label_values,
};
use undercurve::decision::ThresholdRule;
use undercurve::metric::{Truth, class_summary};

/// Options of `metrics`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

Examples:
  undercurve metrics scores.csv
  undercurve metrics scores.csv --metric auroc,mcclish:0.1,precision-at-recall:0.5 --json
  undercurve metrics scores.csv --metric precision-at:100,recall-at:2%,precision,f1 --threshold \"fpr<=0.01\"

With more than two labels and a column score:CLASS for each: the Hand-Till AUC, the accuracy of the highest score, and AUROC
and AP of each class against all others. `eval --scores` writes such files.", measure::HELP))]
pub struct Args {
    /// CSV with a label and a score column, plain or gzip; - is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Metrics, with commas between them [default: auroc,ap,pauc over 0:0.05; with --threshold accuracy,fpr,tpr,precision]
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
    /// A threshold chosen on these rows, for fpr, tpr, precision, accuracy, f1 and mcc: fpr<=A, precision>=P, recall>=R, top:K,
    /// top:S%, costs:FP:FN[:SHARE], or a score
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// Take scores for probabilities, and tell what they say and what comes true, by tenths of the rows
    #[arg(long)]
    reliability: bool,
    /// The column whose values are queries, each ranked by itself: adds their means of
    /// average precision, NDCG and reciprocal rank
    #[arg(long, value_name = "COL")]
    query: Option<String>,
    /// Write the ROC and precision-recall curves, gain and lift, and how reliable probabilities are, to FILE: .csv or .json, or .svg
    /// as a picture
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
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
    args.curves.as_ref().map_or(Ok(()), |path| curves::check(path, &[&args.file]))?;
    let metrics = if args.metric.is_empty() {
        measure::usual(args.threshold.is_some(), false, args.query.is_some(), !args.group.is_empty())
    } else {
        args.metric.clone()
    };
    if args.file != Path::new("-")
        && args.group.is_empty()
        && args.weight.is_none()
        && args.query.is_none()
        && let Some(Scores { scores, labels, first_lines }) = plain(args)
    {
        input::say(&input::reading_notes(&first_lines, None, &args.file));
        return told(args, &metrics, &scores, labels.as_slice().into(), (None, None));
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
        // Graded labels are numbers, and all above 0 are positive.
        target: if args.query.is_some() && args.positive.is_none() && values.len() > 2 {
            Target::Values
        } else {
            Target::Binary
        },
        scale: Some(Scale::None),
        ignore: columns.iter().filter(|name| **name != label && **name != score).cloned().collect(),
        ..Options::default()
    };
    let preparation = Preparation::fit(&table, &options)?;
    let data = input::group(&preparation, &table, preparation.apply::<f64>(&table)?, &args.group)?;
    let data = input::weigh(&preparation, &table, data, args.weight.as_ref())?;
    let data = match &args.query {
        Some(column) => preparation.queried(&table, data, column)?,
        None => data,
    };
    let labels = match data.targets() {
        Targets::Values(values) => values.iter().map(|&value| u8::from(value > 0.0)).collect(),
        _ => data.labels().to_vec(),
    };
    let Rows::Dense { data: scores, .. } = data.rows() else {
        return Err(error(DataErrorKind::OtherFormat).into());
    };
    input::say(&input::reading_notes(&table, None, &args.file));
    weights_line(args, data.weights())?;
    let truth = Truth::new(&labels, data.weights())?;
    told(args, &metrics, scores, truth, (input::grouping(&data, data.groups()), data.queries()))
}

/// Says what the weights come to.
fn weights_line(args: &Args, weights: &[f64]) -> Result<()> {
    let told = input::weights_told(weights, args.weight.as_deref().unwrap_or_default());
    told.filter(|_| !args.json).map_or(Ok(()), output::line)
}

/// Prints metrics; scores from 0 to 1 are probabilities, too.
fn told(
    args: &Args,
    metrics: &[Metric],
    scores: &[f64],
    truth: Truth<'_>,
    (groups, queries): (Option<Grouping<'_>>, Option<&Queries>),
) -> Result<()> {
    let choose = |rule| threshold::choose(rule, scores, truth, &args.file.display().to_string());
    let chosen = args.threshold.map(choose).transpose()?;
    let probabilities = scores.iter().all(|score| (0.0..=1.0).contains(score)).then_some(scores);
    let threshold = chosen.as_ref().and_then(Threshold::at);
    if let Some(path) = &args.curves {
        let positives = truth.labels().iter().filter(|&&label| label == 1).count();
        let title = format!("{}, {} rows, {positives} positive", args.file.display(), scores.len());
        let fpr = measure::NO_MODEL.fpr;
        curves::write(path, &curves::Of { title, scores, truth, probabilities, fpr, threshold })?;
    }
    let usual = measure::Usual {
        threshold,
        chosen: chosen.as_ref(),
        probabilities,
        reliability: args.reliability,
        queries,
        groups,
        ..measure::NO_MODEL
    };
    measure::print(metrics, scores, truth, usual, args.json)
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
    let option = args.curves.as_ref().map(|_| "--curves").or(args.threshold.map(|_| "--threshold"));
    if let Some(option) =
        option.or(args.query.as_ref().map(|_| "--query")).or(args.reliability.then_some("--reliability"))
    {
        return Err(CliError::input(format!("{option}: is for two classes; --positive names one of several")));
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
    input::say(&input::reading_notes(table, None, &args.file));
    weights_line(args, data.weights())?;
    let ordered: Vec<f64> = values.chunks_exact(cols).flat_map(|row| at.iter().map(|&at| row[at])).collect();
    measure::print_classes(
        class_summary(&ordered, classes.len(), data.class_labels(), data.weights())?,
        classes,
        args.json,
    )
}
