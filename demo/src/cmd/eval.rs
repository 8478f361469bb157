//! `undercurve eval`: exact metrics of a saved model on data.

use crate::args::decide;
use crate::args::layout::Layout;
use crate::error::{CliError, Result, for_model};
use crate::run::decisions;
use crate::tell::constraints::{self, Line, Rows};
use crate::tell::measure::{self, Asked, Scored};
use crate::tell::metric;
use crate::tell::{curves, scores, table};
use crate::{input, output};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Dataset, Split, Target, Targets};
use undercurve::decision::ThresholdRule;
use undercurve::expression::{Bound, Expression, Quantity};
use undercurve::measure::Metric;
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
    metric::help(), constraints::HELP))]
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
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = metric::parse)]
    metric: Vec<Metric>,
    /// Measure at a threshold chosen on these rows instead of the model's: fpr<=A, precision>=P, recall>=R, alerts<=K,
    /// alerts<=S%, youden, f1, mcc, costs:FP:FN[:SHARE], or a score. `undercurve decide` writes it into a model
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
    /// A constraint (repeatable); prints for each whether it is met
    #[arg(long, value_name = "EXPR", value_parser = constraints::parse)]
    constraint: Vec<Expression>,
    /// The model before training, which `old` in constraints means
    #[arg(long, value_name = "FILE", requires = "constraint")]
    start: Option<PathBuf>,
    /// End with exit code 3 when a constraint is not met, and with 4 when none is but one cannot be told from so few rows
    #[arg(long, requires = "constraint")]
    require: bool,
    #[command(flatten)]
    layout: Layout,
    /// Write label and score (of several classes: the log-odds of each) of every row to a CSV file
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is evaluated, and what is asked of it.
struct Plan {
    model: PathBuf,
    data: PathBuf,
    layout: Layout,
    held_out: bool,
    asked: Asked,
    scores: Option<PathBuf>,
    constraints: Vec<Expression>,
    /// The model before training.
    start: Option<PathBuf>,
    require: bool,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self { model, data, held_out, layout, scores, start, require, .. } = self;
        for (path, check) in
            [(&self.curves, curves::check as fn(&Path, &[&Path]) -> Result<()>), (&scores, output::check_output)]
        {
            path.as_ref().map_or(Ok(()), |path| check(path, &[&model, &data]))?;
        }
        let old = self.constraint.iter().find(|constraint| matches!(constraint.bound, Bound::Old(_)));
        if let (Some(constraint), None) = (old, &start) {
            let text = format!("--constraint {constraint}: there is no earlier model to compare with (--start)");
            return Err(CliError::input(text));
        }
        if start.is_some() && held_out {
            return Err(CliError::input("--start: knows files whole, and not what is --held-out"));
        }
        let asked = Asked {
            metrics: self.metric,
            threshold: self.threshold,
            reliability: self.reliability,
            query: self.query,
            group: self.group,
            weight: self.weight,
            cluster: None,
            curves: self.curves,
            elsewhere: None,
            json: self.json,
        };
        Ok(Plan { model, data, layout, held_out, asked, scores, constraints: self.constraint, start, require })
    }
}

impl Plan {
    /// Refuses what is asked of two classes where the model is of others.
    fn check_target(&self, target: Target) -> Result<()> {
        let what = match target {
            Target::Binary => return Ok(()),
            Target::Classes => "several classes; --metric is for two (what there is of several",
            _ => "numbers; --metric is for two classes (what there is of numbers",
        };
        let model = self.model.display();
        let constraint = (!self.constraints.is_empty()).then_some("--constraint");
        if let Some(option) = self.asked.of_two_classes().or(constraint) {
            return Err(CliError::input(format!("{model}: {option} is for a model of two classes")));
        }
        if self.asked.metrics.is_empty() {
            return Ok(());
        }
        Err(CliError::input(format!("{model}: a model of {what} is printed without it)")))
    }

    /// The rows to measure.
    fn rows<T: Real>(&self, saved: &SavedModel, model: &Predictor<T>) -> Result<Dataset<T>> {
        let (preparation, asked) = (&saved.preparation, &self.asked);
        let table = input::table_again(&self.data, self.layout, preparation)?;
        let file = self.data.display().to_string();
        let data = input::group(preparation, &table, preparation.apply::<T>(&table).map_err(for_model)?, &asked.group)?;
        let data = match &asked.query {
            Some(column) => preparation.queried(&table, data, column)?,
            None => data,
        };
        let weigh = |data| input::weigh(preparation, &table, data, asked.weight.as_ref());
        if !self.held_out {
            return weigh(data);
        }
        // (What was trained on is known by the weights of training.)
        let test = held_out(&self.model, saved, model, &data, &file)?;
        match (&asked.weight, saved.split) {
            (Some(_), Some(share)) => {
                let [_, test] = weigh(data)?.split(Split::new(share, model.config().seed), &file)?;
                Ok(test)
            }
            _ => Ok(test),
        }
    }

    /// Metrics of scores of two classes, and what constraints come to.
    fn two_classes<T: Real>(
        &self,
        saved: &SavedModel,
        model: &mut Predictor<T>,
        data: &Dataset<T>,
        scores: Vec<T>,
        known: usize,
    ) -> Result<()> {
        let file = &*self.data.display().to_string();
        let groups = input::grouping(data, known).filter(|_| data.weights().is_empty());
        if groups.is_none() && !data.group_of().is_empty() {
            output::note(format_args!("{file}: metrics of groups take no weights and are left out"));
        }
        if !self.constraints.is_empty() && !data.weights().is_empty() {
            return Err(CliError::input("--constraint: is judged on rows without weights"));
        }
        let sure: Option<Vec<f64>> = scores.iter().map(|&score| model.probability(score).map(Real::f64)).collect();
        self.asked.tell(Scored {
            name: &format!("{} on {file}", self.model.display()),
            file,
            scores: &scores,
            truth: data.truth(),
            of_model: true,
            fpr: model.config().fpr,
            threshold: saved.threshold,
            probabilities: sure.as_deref(),
            queries: data.queries(),
            groups,
        })?;
        if self.constraints.is_empty() {
            return Ok(());
        }
        let rows = Rows { data, scores, old: self.old_scores(&self.data)? };
        let mut told = Vec::new();
        for constraint in &self.constraints {
            let judged = match &constraint.quantity {
                Quantity::LossOn { file } => {
                    let table = input::table_again(Path::new(file), self.layout, &saved.preparation)?;
                    let (data, old) = (saved.preparation.apply::<T>(&table)?, self.old_scores(Path::new(file))?);
                    Rows { old, ..Rows::new(&data, model, None)? }.judge(constraint)?
                }
                _ => rows.judge(constraint)?,
            };
            told.push(Line { part: "exactly", judged, groups: data.group_names() });
        }
        constraints::print(&self.constraints, &told, self.require, self.asked.json)
    }

    /// The scores of a file's rows by the model before training, if there is one, which prepares them as it did.
    fn old_scores<T: Real>(&self, path: &Path) -> Result<Vec<T>> {
        let Some(start) = &self.start else { return Ok(Vec::new()) };
        let saved = input::saved(start)?;
        if saved.preparation.target() != Target::Binary {
            return Err(CliError::input(format!("{}: is no model of two classes", start.display())));
        }
        let mut old = input::model::<T>(start, &saved)?;
        Ok(old.predict(&input::table_again(path, self.layout, &saved.preparation)?)?)
    }
}

/// Scores and measures.
pub fn run(args: Args) -> Result<()> {
    let plan = args.check()?;
    let saved = input::saved(&plan.model)?;
    match saved.real_bytes {
        4 => run_in::<f32>(&plan, &saved),
        _ => run_in::<f64>(&plan, &saved),
    }
}

fn run_in<T: Real>(plan: &Plan, saved: &SavedModel) -> Result<()> {
    let preparation = &saved.preparation;
    plan.check_target(preparation.target())?;
    let mut model = input::model::<T>(&plan.model, saved)?;
    let data = plan.rows(saved, &model)?;
    let file = plan.data.display().to_string();
    data.require_every_class(&file)?;
    let names = preparation.classes();
    let scores = scores(&mut model, &data)?;
    if let Some(path) = &plan.scores {
        output::write_atomic(path, scores_csv(data.targets(), names, &scores).as_bytes())?;
    }
    let json = plan.asked.json;
    let column = plan.asked.weight.as_deref().or(preparation.weight_column()).unwrap_or_default();
    if let (Some(told), false) = (input::weights_told(data.weights(), column), json) {
        output::line(told)?;
    }
    let known = if plan.asked.group.is_empty() { preparation.group_names().len() } else { data.groups() };
    input::notes(&data, &file, known, false);
    match data.targets() {
        Targets::Classes { labels, .. } => {
            measure::print_classes(class_summary(&scores, names.len(), labels, data.weights())?, names, json)
        }
        Targets::Values(values) => {
            measure::print_values(value_summary(&scores, values, data.weights())?, data.len(), json)
        }
        _ => plan.two_classes(saved, &mut model, &data, scores, known),
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
        Some(share) => decisions::held_out(&train, share, model.config().seed, name)?[0].clone(),
        None => train,
    };
    // Of another file the split would be other rows.
    if !model.was_trained_on(&train) {
        return Err(CliError::input(format!("{name}: saved with another training data set")));
    }
    Ok(test)
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
