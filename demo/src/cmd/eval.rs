//! `undercurve eval`: exact metrics of a saved model on data.

use crate::args::data::LayoutArgs;
use crate::args::decide;
use crate::error::{CliError, Result};
use crate::input;
use crate::output;
use crate::tell::constraints::{self, Line, Rows};
use crate::tell::curves;
use crate::tell::measure::{self, Metric};
use crate::tell::table;
use crate::tell::threshold::{self, Threshold};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Dataset, Split, Target, Targets};
use undercurve::decision::ThresholdRule;
use undercurve::expression::{Bound, Expression, Quantity};
use undercurve::metric::{class_summary, value_summary};
use undercurve::trainer::Predictor;

/// Options of `eval`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

{}

Examples:
  undercurve eval a9a.model a9a.t.svm.gz
  undercurve eval a9a.model a9a.t.svm.gz --metric auroc,ap,pauc:0.05:0.5 --json
  undercurve eval a9a.model a9a.t.svm.gz --scores scores.csv --curves curves.svg
  undercurve eval data.model data.csv --held-out
  undercurve eval data.model new.csv --threshold \"recall>=0.9\" --metric precision,fpr,lift-at:2% --reliability
  undercurve eval new.model new.csv --start old.model --constraint \"loss(old.csv) <= old\"
  undercurve eval data.model data.csv --group sex --constraint \"gap(fpr) <= 0.05\" --require",
    measure::HELP, constraints::HELP))]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Data with the columns of training; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Only the rows that `train --split` (with --split-by, --split-group) held out; DATA is the file of training
    #[arg(long)]
    held_out: bool,
    /// Metrics, with commas between them [default: auroc,ap,pauc over the run's --fpr; accuracy,fpr,tpr,precision at the
    /// model's threshold; log-loss,brier,ece where it has probabilities]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = measure::parse)]
    metric: Vec<Metric>,
    /// Measure at a threshold chosen on these rows instead of the model's: fpr<=A, precision>=P, recall>=R, top:K, top:S%,
    /// costs:FP:FN[:SHARE], or a score. `undercurve decide` writes it into a model
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// Tell what probabilities say, and what comes true, by tenths of the rows
    #[arg(long)]
    reliability: bool,
    /// The column whose values are queries, each ranked by itself (leave it out of training with --ignore), or qid, which LIBSVM
    /// rows have behind their label: adds their means of
    /// average precision, NDCG and reciprocal rank
    #[arg(long, value_name = "COL")]
    query: Option<String>,
    /// Write the ROC and precision-recall curves, gain and lift, and how reliable probabilities are, to FILE: .csv or .json, or .svg
    /// as a picture
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// The columns whose values, together, make groups, with commas between them [default: those of training]: adds their
    /// gaps and a table
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    group: Vec<String>,
    /// Column that says what each row counts [default: that of training, where DATA has it]
    #[arg(long, value_name = "COL", conflicts_with = "group")]
    weight: Option<String>,
    /// What has to hold, as often as needed: prints for each whether it does
    #[arg(long, value_name = "EXPR", value_parser = constraints::parse)]
    constraint: Vec<Expression>,
    /// The model before training, which `old` in constraints means
    #[arg(long, value_name = "FILE", requires = "constraint")]
    start: Option<PathBuf>,
    /// End with exit code 3 when a constraint is not met, and with 4 when none is but one cannot be told from so few rows
    #[arg(long, requires = "constraint")]
    require: bool,
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
    let saved = input::saved(&args.model)?;
    args.curves.as_ref().map_or(Ok(()), |path| curves::check(path, &[&args.model, &args.data]))?;
    match saved.real_bytes {
        4 => run_in::<f32>(args, &saved),
        _ => run_in::<f64>(args, &saved),
    }
}

fn run_in<T: Real>(args: &Args, saved: &SavedModel) -> Result<()> {
    let preparation = &saved.preparation;
    let what = match preparation.target() {
        Target::Binary => None,
        Target::Classes => Some("several classes; --metric is for two (what there is of several"),
        _ => Some("numbers; --metric is for two classes (what there is of numbers"),
    };
    if let (Some(_), Some(option)) = (what, of_two_classes(args)) {
        let model = args.model.display();
        return Err(CliError::input(format!("{model}: {option} is for a model of two classes")));
    }
    if let (Some(what), false) = (what, args.metric.is_empty()) {
        let model = args.model.display();
        return Err(CliError::input(format!("{model}: a model of {what} is printed without it)")));
    }
    let old = args.constraint.iter().find(|constraint| matches!(constraint.bound, Bound::Old(_)));
    if let (Some(constraint), None) = (old, &args.start) {
        let text = format!("--constraint {constraint}: there is no earlier model to compare with (--start)");
        return Err(CliError::input(text));
    }
    let mut model =
        Predictor::<T>::of(saved).map_err(|error| CliError::input(format!("{}: {error}", args.model.display())))?;
    let rows = input::table_again(&args.data, args.layout, preparation)?;
    let column = args.weight.as_deref().or(preparation.weight_column()).map(str::to_string);
    let (mut data, weighed) = if args.group.is_empty() && args.weight.is_none() && args.query.is_none() {
        (preparation.apply::<T>(rows)?, None)
    } else {
        let data = input::group(preparation, &rows, preparation.apply::<T>(&rows)?, &args.group)?;
        let data = match &args.query {
            Some(column) => preparation.queried(&rows, data, column)?,
            None => data,
        };
        let weigh = |column| input::weigh(preparation, &rows, data.clone(), Some(column));
        let weighed = args.weight.as_ref().map(weigh).transpose()?;
        (data, weighed)
    };
    let file = args.data.display().to_string();
    if args.held_out {
        // (What was trained on is known by the weights of training.)
        data = held_out(&args.model, saved, &model, &data, &file)?;
        if let (Some(weighed), Some(share)) = (weighed, saved.split) {
            [_, data] = weighed.split(Split::new(share, model.config().seed), &file)?;
        }
    } else if let Some(weighed) = weighed {
        data = weighed;
    }
    data.require_every_class(&file)?;
    let names = preparation.classes();
    let heads = names.len().max(1);
    let mut scores = vec![T::ZERO; data.len() * heads];
    model.score(data.rows(), &mut scores)?;
    if let Some(path) = &args.scores {
        output::check_output(path, &[&args.model, &args.data])?;
        output::write_atomic(path, scores_csv(data.targets(), names, &scores).as_bytes())?;
    }
    if let (Some(told), false) = (input::weights_told(data.weights(), &column.unwrap_or_default()), args.json) {
        output::line(told)?;
    }
    let known = if args.group.is_empty() { preparation.group_names().len() } else { data.groups() };
    input::notes(&data, &file, known);
    match data.targets() {
        Targets::Classes { labels, .. } => {
            measure::print_classes(class_summary(&scores, heads, labels, data.weights())?, names, args.json)
        }
        Targets::Values(values) => {
            measure::print_values(value_summary(&scores, values, data.weights())?, data.len(), args.json)
        }
        _ => {
            let groups = input::grouping(&data, known).filter(|_| data.weights().is_empty());
            if groups.is_none() && !data.group_of().is_empty() {
                output::note(format_args!("{file}: metrics of groups take no weights and are left out"));
            }
            if !args.constraint.is_empty() && !data.weights().is_empty() {
                return Err(CliError::input("--constraint: is judged on rows without weights"));
            }
            let choose = |rule| threshold::choose(rule, &scores, data.truth(), &file);
            let chosen = args.threshold.map(choose).transpose()?;
            let threshold = chosen.as_ref().map_or(saved.threshold, Threshold::at);
            let sure: Option<Vec<f64>> = scores.iter().map(|&score| model.probability(score).map(Real::f64)).collect();
            let metrics = match args.metric.as_slice() {
                [] => measure::usual(threshold.is_some(), sure.is_some(), data.queries().is_some(), groups.is_some()),
                asked => asked.to_vec(),
            };
            if let Some(path) = &args.curves {
                let title =
                    format!("{} on {file}, {} rows, {} positive", args.model.display(), data.len(), data.positives());
                let (fpr, probabilities) = (model.config().fpr, sure.as_deref());
                let (scores, truth) = (&scores[..], data.truth());
                curves::write(path, &curves::Of { title, scores, truth, probabilities, fpr, threshold })?;
            }
            let usual = measure::Usual {
                fpr: model.config().fpr,
                threshold,
                chosen: chosen.as_ref(),
                probabilities: sure.as_deref(),
                reliability: args.reliability,
                queries: data.queries(),
                groups,
            };
            measure::print(&metrics, &scores, data.truth(), usual, args.json)?;
            if args.constraint.is_empty() {
                return Ok(());
            }
            if args.start.is_some() && args.held_out {
                return Err(CliError::input("--start: knows files whole, and not what is --held-out"));
            }
            let (mut told, old) = (Vec::new(), old_scores(args, &args.data)?);
            for constraint in &args.constraint {
                let judged = match &constraint.quantity {
                    Quantity::LossOn { file } => {
                        let table = input::table_again(Path::new(file), args.layout, preparation)?;
                        let (data, old) = (preparation.apply::<T>(&table)?, old_scores(args, Path::new(file))?);
                        Rows { old, ..Rows::new(&data, &mut model, None)? }.judge(constraint)?
                    }
                    _ => Rows { data: &data, scores: scores.clone(), old: old.clone() }.judge(constraint)?,
                };
                told.push(Line { part: "exactly", judged, groups: data.group_names() });
            }
            constraints::print(&args.constraint, &told, args.require, args.json)
        }
    }
}

/// The rows that were held out of training, of the file `name` that was split.
///
/// # Errors
/// `Input` where none were, or where these are rows of another file.
pub fn held_out<T: Real>(
    path: &Path,
    saved: &SavedModel,
    model: &Predictor<T>,
    data: &Dataset<T>,
    name: &str,
) -> Result<Dataset<T>> {
    let share = saved
        .split
        .ok_or_else(|| CliError::input(format!("{}: trained without --split; nothing was held out", path.display())))?;
    if let Some(by) = saved.preparation.split_by().filter(|_| !data.is_split_by_column()) {
        return Err(CliError::input(format!("{name}: there is no column {:?}, which the split went by", by.column())));
    }
    let [train, test] = data.split(Split::new(share, model.config().seed), name)?;
    let train = match saved.valid {
        Some(share) => decide::held_out(&train, share, model.config().seed, name)?[0].clone(),
        None => train,
    };
    // Of another file the split would be other rows.
    if !model.was_trained_on(&train) {
        return Err(CliError::input(format!("{name}: saved with another training data set")));
    }
    Ok(test)
}

/// An option that says something of two classes alone.
fn of_two_classes(args: &Args) -> Option<&'static str> {
    let group = (!args.group.is_empty()).then_some("--group");
    let group = group.or(args.threshold.map(|_| "--threshold")).or(args.reliability.then_some("--reliability"));
    let group = group.or(args.curves.as_ref().map(|_| "--curves")).or(args.query.as_ref().map(|_| "--query"));
    group.or((!args.constraint.is_empty()).then_some("--constraint"))
}

/// The scores of a file's rows by the model before training, if there is one, which prepares them as it did.
fn old_scores<T: Real>(args: &Args, path: &Path) -> Result<Vec<T>> {
    let Some(start) = &args.start else { return Ok(Vec::new()) };
    let of_file = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", start.display()));
    let saved = input::saved(start)?;
    if saved.preparation.target() != Target::Binary {
        return Err(of_file(&"is no model of two classes"));
    }
    let mut old = Predictor::<T>::of(&saved).map_err(|error| of_file(&error))?;
    Ok(old.predict(&input::table_again(path, args.layout, &saved.preparation)?)?)
}

/// What is known of each row and its score; of several classes, a score for each. (Writing to a string cannot fail.)
fn scores_csv<T: Real>(targets: &Targets<T>, names: &[String], scores: &[T]) -> String {
    let mut text = String::from("label");
    if names.is_empty() {
        text += ",score";
    }
    for name in names {
        let _ = write!(text, ",{}", table::cell(&format!("score:{name}")));
    }
    text.push('\n');
    for (row, scores) in scores.chunks_exact(names.len().max(1)).enumerate() {
        let _ = match targets {
            Targets::Classes { labels, .. } => write!(text, "{}", table::cell(&names[labels[row] as usize])),
            Targets::Values(values) => write!(text, "{}", values[row]),
            Targets::Binary(labels) => write!(text, "{}", labels[row]),
            _ => Ok(()),
        };
        for score in scores {
            let _ = write!(text, ",{score}");
        }
        text.push('\n');
    }
    text
}
