//! Metrics by name, as `--metric` takes them.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::by_group::{self, Found, Grouping, OfGroups, Table};
use crate::tell::report::{self, class_table};
use crate::tell::threshold::{Threshold, count};
use serde_json::{Map, Value, json};
use undercurve::Real;
use undercurve::data::Queries;
use undercurve::expression::Quantity;
use undercurve::metric::{
    Bin, ClassSummary, Confusion, FprRange, Interval, Intervals, Metrics, OfQuery, QueryMean, TieRule, Top, Truth,
    ValueSummary, brier, calibration_error, log_loss, mcclish, query_mean,
};
use undercurve::trainer::Figures;

/// What `--metric` understands, for help texts.
pub const HELP: &str = "\
Metrics:
  auroc                   area under the ROC curve
  ap                      average precision
  pauc[:LO:HI]            partial AUC over a false-positive range, divided by its width
  mcclish[:LO]:HI         partial AUC over 0:HI or LO:HI, standardised after McClish (chance 1/2, perfection 1)
  pauc2:TPR[:LO]:HI       two-way partial AUC: true-positive rates from TPR up, false-positive rates 0:HI or LO:HI
  fpr[:THRESHOLD]         false-positive rate where scores from THRESHOLD up predict the positive class; without a number from
                          the model's threshold, or that of --threshold
  tpr, precision, accuracy, f1, mcc[:THRESHOLD]  true-positive rate (recall), share of positives among what is predicted
                          positive, share of right predictions, harmonic mean of precision and recall, correlation of
                          prediction and label; likewise
  precision-at-recall:R   highest precision at a recall of at least R
  recall-at-precision:P   highest recall at a precision of at least P
  precision-at:K          share of positives among the K highest scores, or the share K% of all; of scores tied at the end the
                          mean over their orders
  recall-at:K, lift-at:K  share of all positives among them; the precision as a multiple of the share of positives
  log-loss, brier, ece    how good probabilities are: mean -ln of that of what is, mean squared difference, and how far ten
                          groups of equal size are from what they say. Of a model's probabilities, or of scores from 0 to 1
auroc, ap, pauc, precision-at and recall-at come with 95 % intervals: of the first by DeLong's variance, of precision-at by Wilson's,
of the others by 400 bootstrap replicates; rows with weights (--weight) have none.
Metrics of queries (--query), each by itself, and the mean over those with something to find:
  map                     average precision
  ndcg[:K]                normalised discounted cumulative gain of the first K rows, with gains 2^label - 1 where labels are more
                          than two numbers from 0 to 100, else 1 and 0
  mrr                     1 over the rank of the first positive
Metrics of groups (--group), the worst pair or group:
  gap(tpr), gap(fpr)      largest difference of a rate between two groups over all thresholds, ± what 95 of 100 samples of
                          groups that do not differ stay below
  gap(tpr@A), gap(fpr@A)  the same at the lowest threshold with a false-positive rate of at most A over all groups
  worst-auroc             least AUROC within a group
  worst-accuracy[:T]      least accuracy of a group
  worst-loss              largest mean logistic loss of a group
  cvar:SHARE              mean of that loss over the worst share of the groups";

/// One metric with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// As written.
    pub name: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Auroc,
    Ap,
    Pauc(Option<(f64, f64)>),
    McClish((f64, f64)),
    TwoWay(f64, (f64, f64)),
    /// At a threshold, or that of the model.
    At(Rate, Option<f64>),
    Top(OfTop, Top),
    Probable(OfProbabilities),
    Query(OfQuery),
    PrecisionAtRecall(f64),
    RecallAtPrecision(f64),
    OfGroups(OfGroups),
}

/// What a threshold comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rate {
    Fpr,
    Tpr,
    Precision,
    Accuracy,
    F1,
    Mcc,
}

impl Rate {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "fpr" => Self::Fpr,
            "tpr" => Self::Tpr,
            "precision" => Self::Precision,
            "accuracy" => Self::Accuracy,
            "f1" => Self::F1,
            "mcc" => Self::Mcc,
            _ => return None,
        })
    }

    /// None where there are no rows to tell it from.
    fn of(self, counts: Confusion<f64>) -> Option<f64> {
        match self {
            Self::Fpr => counts.fpr(),
            Self::Tpr => counts.tpr(),
            Self::Precision => counts.precision(),
            Self::Accuracy => counts.accuracy(),
            Self::F1 => counts.f1(),
            Self::Mcc => counts.mcc(),
        }
    }
}

/// What is told of the highest scores.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OfTop {
    Precision,
    Recall,
    Lift,
}

/// What is told of probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OfProbabilities {
    LogLoss,
    Brier,
    Error,
}

/// Bins of the reliability table, and of the error that is told of it.
pub const BINS: usize = 10;

/// A metric from its name, for clap.
pub fn parse(text: &str) -> std::result::Result<Metric, String> {
    if text.contains('(') {
        return match Quantity::parse(text) {
            Ok(quantity @ Quantity::Gap { rate, fpr }) => {
                Ok(Metric { name: quantity.to_string(), kind: Kind::OfGroups(OfGroups::Gap(rate, fpr)) })
            }
            Ok(_) => Err("expected gap(tpr), gap(fpr), gap(tpr@A) or gap(fpr@A)".to_string()),
            Err(error) => Err(error.to_string()),
        };
    }
    let top = [("precision-at", OfTop::Precision), ("recall-at", OfTop::Recall), ("lift-at", OfTop::Lift)];
    if let Some(&(name, of)) = top.iter().find(|(name, _)| text.trim().split(':').next() == Some(name)) {
        let rows = text.trim()[name.len()..].strip_prefix(':').and_then(|rows| rows.parse().ok());
        let rows = rows.ok_or_else(|| format!("expected {name}:K, or {name}:K% with a share of the rows"))?;
        return Ok(Metric { name: text.trim().to_string(), kind: Kind::Top(of, rows) });
    }
    let mut parts = text.trim().split(':');
    let name = parts.next().unwrap_or_default();
    let numbers: Vec<f64> = parts
        .map(|part| part.parse().ok().filter(|x: &f64| x.is_finite()))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{text}: expected numbers after {name}"))?;
    let unit = |x: f64| (0.0..=1.0).contains(&x);
    let range = |low: f64, high: f64| 0.0 <= low && low < high && high <= 1.0;
    let floor = |tpr: f64| (0.0..1.0).contains(&tpr);
    if let Some(rate) = Rate::named(name) {
        let threshold = match numbers.as_slice() {
            [] => None,
            &[threshold] => Some(threshold),
            _ => return Err(format!("expected {name} or {name}:THRESHOLD")),
        };
        return Ok(Metric { name: text.trim().to_string(), kind: Kind::At(rate, threshold) });
    }
    let kind = match (name, numbers.as_slice()) {
        ("auroc", []) => Kind::Auroc,
        ("ap", []) => Kind::Ap,
        ("pauc", []) => Kind::Pauc(None),
        ("pauc", &[low, high]) if range(low, high) => Kind::Pauc(Some((low, high))),
        ("mcclish", &[high]) if range(0.0, high) => Kind::McClish((0.0, high)),
        ("mcclish", &[low, high]) if range(low, high) => Kind::McClish((low, high)),
        ("pauc2", &[tpr, high]) if floor(tpr) && range(0.0, high) => Kind::TwoWay(tpr, (0.0, high)),
        ("pauc2", &[tpr, low, high]) if floor(tpr) && range(low, high) => Kind::TwoWay(tpr, (low, high)),
        ("map", []) => Kind::Query(OfQuery::AveragePrecision),
        ("mrr", []) => Kind::Query(OfQuery::ReciprocalRank),
        ("ndcg", []) => Kind::Query(OfQuery::Ndcg(None)),
        ("ndcg", &[rows]) if rows >= 1.0 && rows.fract() == 0.0 => Kind::Query(OfQuery::Ndcg(Some(rows as u64))),
        ("log-loss", []) => Kind::Probable(OfProbabilities::LogLoss),
        ("brier", []) => Kind::Probable(OfProbabilities::Brier),
        ("ece", []) => Kind::Probable(OfProbabilities::Error),
        ("precision-at-recall", &[recall]) if unit(recall) => Kind::PrecisionAtRecall(recall),
        ("recall-at-precision", &[precision]) if unit(precision) => Kind::RecallAtPrecision(precision),
        ("worst-loss", []) => Kind::OfGroups(OfGroups::WorstLoss),
        ("worst-auroc", []) => Kind::OfGroups(OfGroups::WorstAuroc),
        ("worst-accuracy", []) => Kind::OfGroups(OfGroups::WorstAccuracy(0.0)),
        ("worst-accuracy", &[threshold]) => Kind::OfGroups(OfGroups::WorstAccuracy(threshold)),
        ("cvar", &[share]) if share > 0.0 && share <= 1.0 => Kind::OfGroups(OfGroups::Cvar(share)),
        (
            "auroc"
            | "ap"
            | "pauc"
            | "mcclish"
            | "pauc2"
            | "map"
            | "mrr"
            | "ndcg"
            | "log-loss"
            | "brier"
            | "ece"
            | "precision-at-recall"
            | "recall-at-precision"
            | "worst-loss"
            | "worst-auroc"
            | "worst-accuracy"
            | "cvar",
            _,
        ) => {
            let mut forms = HELP.lines().filter_map(|line| line.split_whitespace().next());
            let form = forms.find(|form| form.split([':', '[']).next() == Some(name)).unwrap_or(name);
            let limits = match name {
                "auroc" | "ap" | "map" | "mrr" | "log-loss" | "brier" | "ece" | "worst-loss" | "worst-auroc"
                | "worst-accuracy" => "",
                "cvar" => " with 0 < SHARE <= 1",
                "ndcg" => " with a whole number of rows",
                "pauc" | "mcclish" => " with 0 <= LO < HI <= 1",
                "pauc2" => " with 0 <= TPR < 1 and 0 <= LO < HI <= 1",
                _ => " with values from 0 to 1",
            };
            return Err(format!("expected {form}{limits}"));
        }
        _ => {
            return Err(format!(
                "no metric \"{name}\"; there are auroc, ap, pauc, mcclish, pauc2, fpr, tpr, precision, \
                 accuracy, f1, mcc, precision-at-recall, recall-at-precision, precision-at, recall-at, lift-at, log-loss, \
                 brier, ece, map, ndcg, mrr, gap(tpr), gap(fpr), worst-auroc, worst-accuracy, worst-loss, cvar"
            ));
        }
    };
    Ok(Metric { name: text.trim().to_string(), kind })
}

/// The metrics of a report: of a model that has a threshold its rates, too, of one that has probabilities how good they are, and
/// of queries their means, of groups their gaps.
pub fn usual(threshold: bool, probabilities: bool, queries: bool, groups: bool) -> Vec<Metric> {
    let rates: &[&str] = if threshold { &["accuracy", "fpr", "tpr", "precision"] } else { &[] };
    let sure: &[&str] = if probabilities { &["log-loss", "brier", "ece"] } else { &[] };
    let asked: &[&str] = if queries { &["map", "ndcg:10", "mrr"] } else { &[] };
    let gaps: &[&str] = if groups { &["gap(fpr)", "gap(tpr)"] } else { &[] };
    let names = ["auroc", "ap", "pauc"];
    names.iter().chain(rates).chain(sure).chain(asked).chain(gaps).filter_map(|name| parse(name).ok()).collect()
}

/// Prints the metrics of scores of several classes.
pub fn print_classes(summary: ClassSummary, names: &[String], json: bool) -> Result<()> {
    let rows: u64 = summary.classes.iter().map(|class| class.rows).sum();
    let figures = Figures::Classes(summary);
    if json {
        let mut object = report::metrics(&figures, names);
        object["rows"] = rows.into();
        return output::line(object);
    }
    output::line(format!("{rows} rows, {} classes", names.len()))?;
    whole(&figures)?;
    let table = figures.classes().map_or_else(String::new, |summary| class_table(summary, names));
    output::line(format!("\nEach class against all others:\n{table}"))
}

/// Prints how far scores are from the numbers that they were to be.
pub fn print_values(summary: ValueSummary, rows: usize, json: bool) -> Result<()> {
    let figures = Figures::Values(summary);
    if json {
        let mut object = report::metrics(&figures, &[]);
        object["rows"] = rows.into();
        return output::line(object);
    }
    output::line(format!("{rows} rows"))?;
    whole(&figures)
}

/// A line for each figure but those of single classes.
fn whole(figures: &Figures) -> Result<()> {
    let named = figures.named();
    let whole: Vec<_> = named.iter().filter(|(name, _)| !name.contains('[')).collect();
    let width = whole.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    whole.iter().try_for_each(|(name, value)| output::line(format!("{name:<width$}  {value:.6}")))
}

/// What metrics take that are written without it.
#[derive(Clone, Copy)]
pub struct Usual<'a> {
    /// The range of `pauc`.
    pub fpr: (f64, f64),
    /// The threshold of `fpr` and its like, where there is one.
    pub threshold: Option<f64>,
    /// How it was chosen on these rows, if it was.
    pub chosen: Option<&'a Threshold>,
    /// A probability of each row, where there are some.
    pub probabilities: Option<&'a [f64]>,
    /// Whether the reliability table is told, too.
    pub reliability: bool,
    /// The queries of the rows.
    pub queries: Option<&'a Queries>,
    /// The groups of the rows.
    pub groups: Option<Grouping<'a>>,
}

/// Of scores without a model and without groups.
pub const NO_MODEL: Usual<'_> = Usual {
    fpr: (0.0, 0.05),
    threshold: None,
    chosen: None,
    probabilities: None,
    reliability: false,
    queries: None,
    groups: None,
};

/// Prints metrics of scores.
pub fn print<T: Real>(metrics: &[Metric], scores: &[T], truth: Truth<'_>, usual: Usual<'_>, json: bool) -> Result<()> {
    let labels = truth.labels();
    let at_model = |metric: &&Metric| matches!(metric.kind, Kind::At(_, None));
    if let (None, Some(metric)) = (usual.threshold, metrics.iter().find(at_model)) {
        let name = &metric.name;
        return Err(CliError::input(format!(
            "--metric {name}: {name}:THRESHOLD, or --threshold RULE; only a model has one of its own"
        )));
    }
    let of_probabilities = metrics.iter().find(|metric| matches!(metric.kind, Kind::Probable(_)));
    let asked = of_probabilities.map(|metric| format!("--metric {}", metric.name));
    let asked = asked.or(usual.reliability.then(|| "--reliability".to_string()));
    if let (None, Some(asked)) = (usual.probabilities, asked) {
        return Err(CliError::input(format!(
            "{asked}: there are no probabilities; `undercurve decide --calibrate` makes some for a model, and scores from 0 to 1 \
             of a file are some"
        )));
    }
    if let (None, Some(metric)) = (usual.queries, metrics.iter().find(|metric| matches!(metric.kind, Kind::Query(_)))) {
        return Err(CliError::input(format!("--metric {}: is of queries; --query names their column", metric.name)));
    }
    let names = usual.groups.map_or(&[][..], |groups| groups.names);
    let mut memory = Metrics::new();
    let (mut values, mut intervals) = (Vec::with_capacity(metrics.len()), Vec::with_capacity(metrics.len()));
    let mut known = Vec::new();
    for metric in metrics {
        values.push(value(metric, &mut memory, scores, truth, usual)?);
        intervals.push(interval(&metric.kind, &mut memory, scores, truth, usual, &mut known)?);
    }
    let threshold = usual.threshold.unwrap_or(0.0);
    let table = usual.groups.map(|groups| Table::new(&mut memory, scores, labels, groups, threshold)).transpose()?;
    let positives = labels.iter().filter(|&&y| y == 1).count();
    let bins = match usual.probabilities.filter(|_| usual.reliability) {
        Some(sure) => Some(Metrics::<f64>::new().reliability(sure, labels, BINS)?),
        None => None,
    };
    if json {
        let mut object = Map::new();
        object.insert("rows".to_string(), labels.len().into());
        object.insert("positives".to_string(), positives.into());
        if let Some(at) = usual.threshold.filter(|at| at.is_finite()) {
            object.insert("threshold".to_string(), at.into());
        }
        if let Some(chosen) = usual.chosen {
            object.insert("chosen".to_string(), chosen.json());
        }
        if let Some(queries) = usual.queries {
            let mean = of_queries(OfQuery::AveragePrecision, scores, truth, queries)?;
            object.insert("queries".to_string(), (mean.queries + mean.left_out).into());
            object.insert("queries_without_positives".to_string(), mean.left_out.into());
        }
        if let Some(bins) = bins {
            let bins = bins.into_iter().map(|bin| {
                let ends = truth.weights().is_empty().then(|| bin.interval());
                json!({"low": bin.low, "high": bin.high, "mean": bin.mean, "rows": count(bin.rows), "positives": count(bin.positives),
                       "share": bin.share(), "interval": ends})
            });
            object.insert("reliability".to_string(), bins.collect());
        }
        for (metric, value) in metrics.iter().zip(&values) {
            object.insert(metric.name.clone(), value.value().into());
        }
        if let Some(table) = table {
            let told = metrics.iter().zip(&values).filter_map(|(m, value)| Some((m.name.clone(), value.json(names)?)));
            object.insert("of_groups".to_string(), Value::Object(told.collect()));
            object.insert("groups".to_string(), table.json());
        }
        let ends = metrics.iter().zip(&intervals).filter_map(|(metric, interval)| {
            interval.map(|interval| (metric.name.clone(), json!([interval.low, interval.high])))
        });
        object.insert("intervals".to_string(), Value::Object(ends.collect()));
        return output::line(Value::Object(object));
    }
    output::line(format!("{} rows, {positives} positive", labels.len()))?;
    if let Some(queries) = usual.queries {
        let mean = of_queries(OfQuery::AveragePrecision, scores, truth, queries)?;
        let graded = if queries.gains().is_empty() { "" } else { "; labels are graded" };
        output::line(format!(
            "{} queries, {} of them without a positive, which are left out of their means{graded}",
            mean.queries + mean.left_out,
            mean.left_out
        ))?;
    }
    match (usual.chosen, usual.threshold) {
        (Some(chosen), _) => output::line(chosen.text())?,
        (None, Some(at)) if metrics.iter().any(|metric| at_model(&metric)) => {
            output::line(format!("Threshold {at:.4}"))?;
        }
        _ => {}
    }
    let width = metrics.iter().map(|metric| metric.name.len()).max().unwrap_or(0);
    for ((metric, value), interval) in metrics.iter().zip(values).zip(intervals) {
        let figure = value.value().map_or_else(String::new, |value| format!("{value:.6}"));
        let ends = interval.map_or_else(String::new, |ends| format!("  [{:.6}, {:.6}]", ends.low, ends.high));
        output::line(format!("{:width$}  {figure}{}{ends}", metric.name, value.note(names)))?;
    }
    if let Some(bins) = bins {
        output::line(format!("\n{}", reliability_table(&bins, truth.weights().is_empty())))?;
    }
    table.map_or(Ok(()), |table| output::line(format!("\n{}", table.text())))
}

/// What probabilities say, and what comes true.
fn reliability_table(bins: &[Bin], intervals: bool) -> String {
    let mut lines = vec!["Probabilities, by tenths of the rows:".to_string()];
    let head = if intervals { "   95 % interval" } else { "" };
    lines.push(format!("{:>9} {:>9} {:>8} {:>8} {:>8}{head}", "from", "to", "rows", "mean", "positive"));
    for bin in bins {
        let ends = match bin.interval() {
            (low, high) if intervals => format!("   [{low:.4}, {high:.4}]"),
            _ => String::new(),
        };
        let (low, high, rows, mean, share) = (bin.low, bin.high, bin.rows, bin.mean, bin.share());
        lines.push(format!("{low:>9.4} {high:>9.4} {rows:>8} {mean:>8.4} {share:>8.4}{ends}"));
    }
    lines.join("\n")
}

/// The 95 % interval of a metric that has one; `known`: those over ranges that were computed before.
fn interval<T: Real>(
    kind: &Kind,
    memory: &mut Metrics<T>,
    scores: &[T],
    truth: Truth<'_>,
    usual: Usual<'_>,
    known: &mut Vec<((f64, f64), Intervals)>,
) -> undercurve::Result<Option<Interval>> {
    // (The rows would have to be drawn with their weights, each by itself.)
    if !truth.weights().is_empty() {
        return Ok(None);
    }
    if let (Kind::Query(of), Some(queries)) = (kind, usual.queries) {
        return Ok(of_queries(*of, scores, truth, queries)?.interval);
    }
    if let Kind::Top(of, top) = kind {
        return Ok(match of {
            OfTop::Precision => Some(memory.top(scores, &truth, *top)?.precision_interval()),
            OfTop::Recall => memory.top_recall_interval(scores, truth.labels(), *top)?,
            OfTop::Lift => None,
        });
    }
    let range = match kind {
        Kind::Auroc | Kind::Ap => known.first().map_or(usual.fpr, |first| first.0),
        Kind::Pauc(range) => range.unwrap_or(usual.fpr),
        _ => return Ok(None),
    };
    if known.iter().all(|other| other.0 != range) {
        known.push((range, memory.intervals(scores, truth.labels(), FprRange::new(range.0, range.1)?)?));
    }
    let all = known.iter().find(|other| other.0 == range).map(|other| other.1).unwrap_or_default();
    Ok(match kind {
        Kind::Auroc => all.auroc,
        Kind::Ap => all.ap,
        _ => all.pauc,
    })
}

/// The mean over queries.
fn of_queries<T: Real>(
    of: OfQuery,
    scores: &[T],
    truth: Truth<'_>,
    queries: &Queries,
) -> undercurve::Result<QueryMean> {
    let mut order = vec![0; scores.len()];
    query_mean(of, scores, truth.labels(), queries.gains(), queries.of(), &mut order)
}

fn value<T: Real>(
    metric: &Metric,
    memory: &mut Metrics<T>,
    scores: &[T],
    truth: Truth<'_>,
    usual: Usual<'_>,
) -> Result<Found> {
    let rule = TieRule::Trapezoid;
    Ok(Found::Number(match metric.kind {
        Kind::Auroc => memory.auroc(scores, &truth)?,
        Kind::Ap => memory.average_precision(scores, &truth)?,
        Kind::Pauc(range) => {
            let (low, high) = range.unwrap_or(usual.fpr);
            memory.partial_auc(scores, &truth, FprRange::new(low, high)?, rule)?
        }
        Kind::McClish((low, high)) => {
            let range = FprRange::new(low, high)?;
            mcclish(memory.partial_auc(scores, &truth, range, rule)?, range)
        }
        Kind::TwoWay(tpr, (low, high)) => {
            memory.partial_auc_two_way(scores, &truth, tpr, FprRange::new(low, high)?, rule)?
        }
        Kind::At(rate, threshold) => {
            let at = threshold.or(usual.threshold).unwrap_or(f64::INFINITY);
            return Ok(rate.of(Confusion::at(scores, &truth, T::of(at))?).map_or(Found::Nothing, Found::Number));
        }
        Kind::Top(of, rows) => {
            let top = memory.top(scores, &truth, rows).map_err(|error| match error {
                undercurve::Error::Param { .. } => {
                    CliError::input(format!("--metric {}: there are {} rows", metric.name, scores.len()))
                }
                error => error.into(),
            })?;
            match of {
                OfTop::Precision => top.precision(),
                OfTop::Recall => top.recall(),
                OfTop::Lift => top.lift(),
            }
        }
        Kind::Query(of) => match usual.queries {
            Some(_) if !truth.weights().is_empty() => {
                return Err(CliError::input(format!("--metric {}: metrics of queries take no weights", metric.name)));
            }
            Some(queries) => of_queries(of, scores, truth, queries)?.value,
            None => return Ok(Found::Nothing),
        },
        Kind::Probable(of) => {
            let sure = usual.probabilities.unwrap_or_default();
            match of {
                OfProbabilities::LogLoss => log_loss(sure, truth)?,
                OfProbabilities::Brier => brier(sure, truth)?,
                OfProbabilities::Error => calibration_error(&Metrics::<f64>::new().reliability(sure, &truth, BINS)?),
            }
        }
        Kind::PrecisionAtRecall(recall) => memory.precision_at_recall(scores, &truth, recall)?,
        Kind::RecallAtPrecision(precision) => memory.recall_at_precision(scores, &truth, precision)?,
        Kind::OfGroups(of) => {
            if !truth.weights().is_empty() {
                return Err(CliError::input(format!("--metric {}: metrics of groups take no weights", metric.name)));
            }
            let groups = usual.groups.ok_or_else(|| {
                CliError::input(format!("--metric {}: is of groups; --group names their column", metric.name))
            })?;
            return Ok(by_group::find(of, memory, scores, truth.labels(), groups)?);
        }
    }))
}
