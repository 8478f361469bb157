//! Metrics of scores, printed.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::by_group::{self, Found, Grouping, Table};
use crate::tell::curves::{self, BINS, Of};
use crate::tell::metric::{Kind, Metric, OfProbabilities, OfTop, usual};
use crate::tell::report::{self, class_table};
use crate::tell::threshold::{Threshold, choose, count};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use undercurve::Real;
use undercurve::data::Queries;
use undercurve::decision::ThresholdRule;
use undercurve::metric::{
    Bin, ClassSummary, Confusion, Estimate, FprRange, Interval, Metrics, OfQuery, QueryMean, TieRule, Truth,
    ValueSummary, brier, calibration_error, log_loss, mcclish, query_mean,
};
use undercurve::trainer::Figures;

/// What is asked of scores.
pub struct Asked {
    /// None for the usual ones.
    pub metrics: Vec<Metric>,
    pub threshold: Option<ThresholdRule>,
    /// Whether the reliability table is told, too.
    pub reliability: bool,
    /// The columns of queries, of groups, of weights and of clusters.
    pub query: Option<String>,
    pub group: Vec<String>,
    pub weight: Option<String>,
    pub cluster: Option<String>,
    pub curves: Option<PathBuf>,
    pub json: bool,
}

/// Scores of two classes, and what is known of their rows.
#[derive(Clone, Copy)]
pub struct Scored<'a, T> {
    /// What they are of, for people, and the file of the rows.
    pub name: &'a str,
    pub file: &'a str,
    pub scores: &'a [T],
    pub truth: Truth<'a>,
    /// Whether a model gave them.
    pub of_model: bool,
    /// The range of `pauc`.
    pub fpr: (f64, f64),
    /// The threshold of `fpr` and its like, where there is one.
    pub threshold: Option<f64>,
    /// A probability of each row, where there are some.
    pub probabilities: Option<&'a [f64]>,
    pub queries: Option<&'a Queries>,
    pub groups: Option<Grouping<'a>>,
}

impl Asked {
    /// The first option that says something of two classes alone.
    pub fn of_two_classes(&self) -> Option<&'static str> {
        self.of_one_score().or(self.cluster.as_ref().map(|_| "--cluster"))
    }

    /// The first option that says something of one score alone.
    pub fn of_one_score(&self) -> Option<&'static str> {
        let all = [
            ("--group", !self.group.is_empty()),
            ("--threshold", self.threshold.is_some()),
            ("--reliability", self.reliability),
            ("--curves", self.curves.is_some()),
            ("--query", self.query.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Measures, prints and draws.
    pub fn tell<T: Real>(&self, of: Scored<'_, T>) -> Result<()> {
        // (Promises for clusters are of rows without weights.)
        let clusters = Some(of.truth.clusters()).filter(|of_rows| !of_rows.is_empty() && of.truth.weights().is_empty());
        let chosen = self.threshold.map(|rule| choose(rule, of.scores, of.truth, clusters, of.file)).transpose()?;
        let of = Scored { threshold: chosen.as_ref().map(Threshold::at).or(of.threshold), ..of };
        let probabilities = of.of_model && of.probabilities.is_some();
        let metrics = match self.metrics.as_slice() {
            [] => usual(of.threshold.is_some(), probabilities, of.queries.is_some(), of.groups.is_some()),
            asked => asked.to_vec(),
        };
        if let Some(path) = &self.curves {
            let positives = of.truth.labels().iter().filter(|&&label| label == 1).count();
            let title = format!("{}, {} rows, {positives} positive", of.name, of.scores.len());
            let Scored { scores, truth, probabilities, fpr, threshold, .. } = of;
            curves::write(path, &Of { title, scores, truth, probabilities, fpr, threshold })?;
        }
        check(&metrics, &of, self.reliability)?;
        let told = Told::new(&metrics, of, chosen.as_ref(), self.reliability)?;
        if self.json { output::line(told.json()) } else { told.print() }
    }
}

/// Refuses metrics of what is not there.
fn check<T: Real>(metrics: &[Metric], of: &Scored<'_, T>, reliability: bool) -> Result<()> {
    if let (None, Some(metric)) = (of.threshold, metrics.iter().find(|metric| at_model(metric))) {
        let name = &metric.name;
        return Err(CliError::input(format!(
            "--metric {name}: {name}:THRESHOLD, or --threshold RULE; only a model has one of its own"
        )));
    }
    let of_probabilities = metrics.iter().find(|metric| matches!(metric.kind, Kind::Probable(_)));
    let asked = of_probabilities.map(|metric| format!("--metric {}", metric.name));
    let asked = asked.or(reliability.then(|| "--reliability".to_string()));
    if let (None, Some(asked)) = (of.probabilities, asked) {
        return Err(CliError::input(format!(
            "{asked}: there are no probabilities; `undercurve decide --calibrate` makes some for a model, and scores from 0 to 1 \
             of a file are some"
        )));
    }
    if let (None, Some(metric)) = (of.queries, metrics.iter().find(|metric| matches!(metric.kind, Kind::Query(_)))) {
        return Err(CliError::input(format!("--metric {}: is of queries; --query names their column", metric.name)));
    }
    Ok(())
}

/// Whether a metric is at the model's threshold.
fn at_model(metric: &Metric) -> bool {
    matches!(metric.kind, Kind::At(_, None))
}

/// Everything that is told of scores.
struct Told<'a, T> {
    of: Scored<'a, T>,
    chosen: Option<&'a Threshold>,
    metrics: &'a [Metric],
    values: Vec<Found>,
    intervals: Vec<Option<Interval>>,
    table: Option<Table<'a>>,
    bins: Option<Vec<Bin>>,
    positives: usize,
    /// Queries, and those without a positive.
    queries: Option<[u64; 2]>,
}

impl<'a, T: Real> Told<'a, T> {
    fn new(metrics: &'a [Metric], of: Scored<'a, T>, chosen: Option<&'a Threshold>, reliability: bool) -> Result<Self> {
        let labels = of.truth.labels();
        let mut memory = Metrics::new();
        let (mut values, mut intervals) = (Vec::with_capacity(metrics.len()), Vec::with_capacity(metrics.len()));
        for metric in metrics {
            values.push(value(metric, &mut memory, &of)?);
            intervals.push(interval(&metric.kind, &mut memory, &of)?);
        }
        let threshold = of.threshold.unwrap_or(0.0);
        let table =
            of.groups.map(|groups| Table::new(&mut memory, of.scores, labels, groups, threshold)).transpose()?;
        let bins = match of.probabilities.filter(|_| reliability) {
            Some(sure) => Some(Metrics::<f64>::new().reliability(sure, labels, BINS)?),
            None => None,
        };
        let positives = labels.iter().filter(|&&label| label == 1).count();
        let mean = of.queries.map(|queries| of_queries(OfQuery::AveragePrecision, &of, queries)).transpose()?;
        let queries = mean.map(|mean| [mean.queries + mean.left_out, mean.left_out]);
        Ok(Self { of, chosen, metrics, values, intervals, table, bins, positives, queries })
    }

    fn names(&self) -> &[String] {
        self.of.groups.map_or(&[][..], |groups| groups.names)
    }

    /// For programs.
    fn json(&self) -> Value {
        let (mut object, of) = (Map::new(), &self.of);
        object.insert("rows".to_string(), of.scores.len().into());
        object.insert("positives".to_string(), self.positives.into());
        if let Some(at) = of.threshold.filter(|at| at.is_finite()) {
            object.insert("threshold".to_string(), at.into());
        }
        if let Some(chosen) = self.chosen {
            object.insert("chosen".to_string(), chosen.json());
        }
        if let Some([queries, left_out]) = self.queries {
            object.insert("queries".to_string(), queries.into());
            object.insert("queries_without_positives".to_string(), left_out.into());
        }
        if let Some(bins) = &self.bins {
            let bins = bins.iter().map(|bin| {
                let ends = of.truth.weights().is_empty().then(|| bin.interval());
                json!({"low": bin.low, "high": bin.high, "mean": bin.mean, "rows": count(bin.rows), "positives": count(bin.positives),
                       "share": bin.share(), "interval": ends})
            });
            object.insert("reliability".to_string(), bins.collect());
        }
        let all = || self.metrics.iter().zip(&self.values);
        object.extend(all().map(|(metric, value)| (metric.name.clone(), value.value().into())));
        if let Some(table) = &self.table {
            let told = all().filter_map(|(m, value)| Some((m.name.clone(), value.json(self.names())?)));
            object.insert("of_groups".to_string(), Value::Object(told.collect()));
            object.insert("groups".to_string(), table.json());
        }
        object.insert("intervals".to_string(), ends(self.metrics, &self.intervals));
        Value::Object(object)
    }

    /// For people.
    fn print(&self) -> Result<()> {
        let of = &self.of;
        output::line(format!("{} rows, {} positive", of.scores.len(), self.positives))?;
        if let Some([queries, left_out]) = self.queries {
            let graded = of.queries.is_some_and(|queries| !queries.gains().is_empty());
            let graded = if graded { "; labels are graded" } else { "" };
            output::line(format!(
                "{queries} queries, {left_out} of them without a positive, which are left out of their means{graded}"
            ))?;
        }
        match (self.chosen, of.threshold) {
            (Some(chosen), _) => output::line(chosen.text())?,
            (None, Some(at)) if self.metrics.iter().any(at_model) => output::line(format!("Threshold {at:.4}"))?,
            _ => {}
        }
        let width = self.metrics.iter().map(|metric| metric.name.len()).max().unwrap_or(0);
        for ((metric, value), interval) in self.metrics.iter().zip(&self.values).zip(&self.intervals) {
            output::line(line(width, metric, value.value(), &value.note(self.names()), *interval))?;
        }
        if let Some(bins) = &self.bins {
            output::line(format!("\n{}", reliability_table(bins, of.truth.weights().is_empty())))?;
        }
        self.table.as_ref().map_or(Ok(()), |table| output::line(format!("\n{}", table.text())))
    }
}

/// A metric for people, its name as wide as all are.
pub fn line(width: usize, metric: &Metric, value: Option<f64>, note: &str, interval: Option<Interval>) -> String {
    let figure = value.map_or_else(String::new, |value| format!("{value:.6}"));
    let ends = interval.map_or_else(String::new, |ends| format!("  [{:.6}, {:.6}]", ends.low, ends.high));
    format!("{:width$}  {figure}{note}{ends}", metric.name)
}

/// Intervals for programs.
pub fn ends(metrics: &[Metric], intervals: &[Option<Interval>]) -> Value {
    let ends = metrics.iter().zip(intervals).filter_map(|(metric, interval)| {
        interval.map(|interval| (metric.name.clone(), json!([interval.low, interval.high])))
    });
    Value::Object(ends.collect())
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

/// What the interval of a metric, and a difference of two scores, is that of, and the range that it is then standardised by.
pub fn estimate(kind: &Kind, fpr: (f64, f64)) -> undercurve::Result<Option<(Estimate, Option<FprRange>)>> {
    let range = |(low, high): (f64, f64)| FprRange::new(low, high);
    Ok(Some(match *kind {
        Kind::Auroc => (Estimate::AUROC, None),
        Kind::Ap => (Estimate::Ap, None),
        Kind::Pauc(asked) => (Estimate::Roc(range(asked.unwrap_or(fpr))?), None),
        Kind::McClish(asked) => (Estimate::Roc(range(asked)?), Some(range(asked)?)),
        Kind::Top(OfTop::Precision, top) => (Estimate::PrecisionAt(top), None),
        Kind::Top(OfTop::Recall, top) => (Estimate::RecallAt(top), None),
        _ => return Ok(None),
    }))
}

/// The 95 % interval of a metric that has one.
fn interval<T: Real>(kind: &Kind, memory: &mut Metrics<T>, of: &Scored<'_, T>) -> undercurve::Result<Option<Interval>> {
    if let Kind::Query(mean) = *kind {
        let found = of.queries.map(|queries| of_queries(mean, of, queries)).transpose()?;
        return Ok(found.and_then(|found| found.interval));
    }
    let Some((estimate, standard)) = estimate(kind, of.fpr)? else { return Ok(None) };
    let ends = memory.interval(of.scores, of.truth, estimate)?;
    Ok(match standard {
        Some(range) => ends.map(|ends| Interval { low: mcclish(ends.low, range), high: mcclish(ends.high, range) }),
        None => ends,
    })
}

/// The mean over queries.
fn of_queries<T: Real>(mean: OfQuery, of: &Scored<'_, T>, queries: &Queries) -> undercurve::Result<QueryMean> {
    let mut order = vec![0; of.scores.len()];
    query_mean(mean, of.scores, of.truth.labels(), queries.gains(), queries.of(), &mut order)
}

fn value<T: Real>(metric: &Metric, memory: &mut Metrics<T>, of: &Scored<'_, T>) -> Result<Found> {
    let Scored { scores, truth, .. } = *of;
    let area = |memory: &mut Metrics<T>, (low, high): (f64, f64)| {
        let range = FprRange::new(low, high)?;
        memory.partial_auc(scores, &truth, range, TieRule::Trapezoid).map(|area| (area, range))
    };
    let unweighted = |what: &str| match truth.weights() {
        [] => Ok(()),
        _ => Err(CliError::input(format!("--metric {}: metrics of {what} take no weights", metric.name))),
    };
    Ok(Found::Number(match metric.kind {
        Kind::Auroc => memory.auroc(scores, &truth)?,
        Kind::Ap => memory.average_precision(scores, &truth)?,
        Kind::Pauc(range) => area(memory, range.unwrap_or(of.fpr))?.0,
        Kind::McClish(range) => {
            let (area, range) = area(memory, range)?;
            mcclish(area, range)
        }
        Kind::TwoWay(tpr, (low, high)) => {
            memory.partial_auc_two_way(scores, &truth, tpr, FprRange::new(low, high)?, TieRule::Trapezoid)?
        }
        Kind::At(rate, threshold) => {
            let at = threshold.or(of.threshold).unwrap_or(f64::INFINITY);
            return Ok(rate.of(Confusion::at(scores, &truth, T::of(at))?).map_or(Found::Nothing, Found::Number));
        }
        Kind::Top(figure, rows) => {
            let top = memory.top(scores, &truth, rows).map_err(|error| match error {
                undercurve::Error::Param { .. } => {
                    CliError::input(format!("--metric {}: there are {} rows", metric.name, scores.len()))
                }
                error => error.into(),
            })?;
            match figure {
                OfTop::Precision => top.precision(),
                OfTop::Recall => top.recall(),
                OfTop::Lift => top.lift(),
            }
        }
        Kind::Query(mean) => {
            let Some(queries) = of.queries else { return Ok(Found::Nothing) };
            unweighted("queries")?;
            of_queries(mean, of, queries)?.value
        }
        Kind::Probable(figure) => probable(figure, of.probabilities.unwrap_or_default(), truth)?,
        Kind::PrecisionAtRecall(recall) => memory.precision_at_recall(scores, &truth, recall)?,
        Kind::RecallAtPrecision(precision) => memory.recall_at_precision(scores, &truth, precision)?,
        Kind::OfGroups(figure) => {
            unweighted("groups")?;
            let groups = of.groups.ok_or_else(|| {
                CliError::input(format!("--metric {}: is of groups; --group names their column", metric.name))
            })?;
            return Ok(by_group::find(figure, memory, scores, truth.labels(), groups)?);
        }
    }))
}

/// How good probabilities are.
fn probable(of: OfProbabilities, sure: &[f64], truth: Truth<'_>) -> undercurve::Result<f64> {
    match of {
        OfProbabilities::LogLoss => log_loss(sure, truth),
        OfProbabilities::Brier => brier(sure, truth),
        OfProbabilities::Error => Ok(calibration_error(&Metrics::<f64>::new().reliability(sure, &truth, BINS)?)),
    }
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
