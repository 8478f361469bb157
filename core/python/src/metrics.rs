//! Exact metrics, intervals and curves.

use crate::arrays::{Column, Floats};
use crate::arrays::{same, weights as weights_of};
use crate::error::{core, value};
use crate::table::two_labels;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use undercurve::Real;
use undercurve::decision::{Decision, ThresholdRule, rate_intervals_in};
use undercurve::measure::{Detail, Groups, Metric, Needs, Ranked, Refusal, Rows, TABLE, Wrong};
use undercurve::metric::{
    FprRange, Interval, Intervals, Metrics, Pair, PrPoint, RocPoint, Summary, Truth, brier, log_loss,
};

pub fn range(fpr: (f64, f64)) -> PyResult<FprRange> {
    FprRange::new(fpr.0, fpr.1)
        .map_err(|_| value(format!("fpr: expected (low, high) with 0 <= low < high <= 1, got ({}, {})", fpr.0, fpr.1)))
}

/// Scores, labels and weights of as many rows.
pub fn rows<'py>(
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Floats<'py>, Vec<u8>, Vec<f64>)> {
    let scores = Floats::of("scores", scores)?;
    let y = two_labels(labels, positive)?;
    same("labels", scores.len(), y.len())?;
    let w = weights_of(weights, scores.len())?;
    Ok((scores, y, w))
}

/// The same for scores of either type, without the lock of the interpreter.
macro_rules! each {
    ($py:expr, $scores:expr, $s:ident => $body:expr) => {
        match &$scores {
            Floats::F32(scores) => {
                let $s = scores.slice();
                $py.detach(|| $body).map_err(core)
            }
            Floats::F64(scores) => {
                let $s = scores.slice();
                $py.detach(|| $body).map_err(core)
            }
        }
    };
}

/// AUROC, average precision, partial AUC, accuracy at a threshold of 0, share of tied pairs, positives, negatives.
#[pyfunction]
#[pyo3(signature = (scores, labels, positive=None, weights=None, fpr=(0.0, 0.05)))]
pub fn summary<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
    fpr: (f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let range = range(fpr)?;
    let (scores, y, w) = rows(scores, labels, positive, weights)?;
    let all = each!(py, scores, s => match &w[..] {
        [] => Metrics::new().summary(s, &y[..], range),
        w => Metrics::new().summary(s, &Truth::new(&y, w)?, range),
    })?;
    summary_told(py, &all)
}

pub fn summary_told<'py>(py: Python<'py>, all: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("auroc", all.auroc)?;
    out.set_item("ap", all.ap)?;
    out.set_item("pauc", all.pauc)?;
    out.set_item("accuracy", all.accuracy)?;
    out.set_item("tied", all.tied)?;
    out.set_item("positives", all.positives)?;
    out.set_item("negatives", all.negatives)?;
    Ok(out)
}

/// What the arrays of a call are made of.
fn truth<'a>(y: &'a [u8], w: &'a [f64], clusters: &'a [u32]) -> PyResult<Truth<'a>> {
    Truth::new(y, w).and_then(|truth| truth.clustered(clusters)).map_err(core)
}

/// Metrics by name.
fn named(names: &[String]) -> PyResult<Vec<Metric>> {
    names.iter().map(|name| name.parse().map_err(|wrong: Wrong| value(format!("metrics: {wrong}")))).collect()
}

/// Why a metric is not told, in Python's words.
fn refused(why: Refusal) -> PyErr {
    let way = match &why {
        Refusal::Rows(error) => return core(*error),
        Refusal::Needs { what: Needs::Threshold, .. } => " has, or pass threshold",
        Refusal::Needs { what: Needs::Queries, .. } => "; pass queries",
        Refusal::Needs { what: Needs::Groups, .. } => "; pass groups",
        _ => "",
    };
    value(format!("metrics: {why}{way}"))
}

fn wide(scores: &Floats<'_>) -> Vec<f64> {
    match scores {
        Floats::F32(scores) => scores.slice().iter().map(|&score| f64::from(score)).collect(),
        Floats::F64(scores) => scores.slice().to_vec(),
    }
}

/// What metrics are asked of; of two scores neither a threshold, queries nor groups.
#[derive(FromPyObject)]
pub struct Asked {
    #[pyo3(item)]
    metrics: Vec<String>,
    #[pyo3(item)]
    fpr: (f64, f64),
    #[pyo3(item)]
    clusters: Option<Vec<u32>>,
    #[pyo3(item, default)]
    threshold: Option<f64>,
    #[pyo3(item, default)]
    queries: Option<Vec<u32>>,
    #[pyo3(item, default)]
    gains: Option<Vec<f64>>,
    #[pyo3(item, default)]
    groups: Option<(Vec<u32>, usize)>,
}

/// Metrics by name, each with its interval and what stands behind it.
#[pyfunction]
#[pyo3(signature = (scores, labels, asked, positive=None, weights=None))]
pub fn measure<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    asked: Asked,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (range, metrics) = (range(asked.fpr)?, named(&asked.metrics)?);
    let given = Floats::of("scores", scores)?;
    // (Graded labels are numbers, and all above 0 are positive.)
    let y = match &asked.gains {
        Some(gains) => gains.iter().map(|&gain| u8::from(gain > 0.0)).collect(),
        None => two_labels(labels, positive)?,
    };
    same("labels", given.len(), y.len())?;
    let w = weights_of(weights, given.len())?;
    let (scores, clusters) = (wide(&given), asked.clusters.unwrap_or_default());
    let gains = asked.gains.unwrap_or_default();
    let all = Rows {
        single: matches!(given, Floats::F32(_)),
        fpr: range,
        threshold: asked.threshold,
        queries: asked.queries.as_ref().map(|of| Ranked { of, gains: &gains }),
        groups: asked.groups.as_ref().map(|(of, count)| Groups { of, count: *count }),
        ..Rows::new(&scores, truth(&y, &w, &clusters)?)
    };
    let found = py.detach(|| {
        let mut memory = Metrics::new();
        metrics.iter().map(|metric| all.find(metric, &mut memory)).collect::<Result<Vec<_>, _>>()
    });
    let out = PyDict::new(py);
    for (metric, found) in metrics.iter().zip(found.map_err(refused)?) {
        let told = PyDict::new(py);
        told.set_item("value", found.value)?;
        told.set_item("interval", ends(found.interval))?;
        let (groups, noise) = match found.detail {
            Detail::Gap(gap) => (gap.groups.map(|group| group as usize).to_vec(), Some(gap.noise)),
            Detail::Group(group) => (vec![group], None),
            Detail::Rows => (Vec::new(), None),
        };
        told.set_item("groups", groups)?;
        told.set_item("noise", noise)?;
        out.set_item(metric.name(), told)?;
    }
    Ok(out)
}

/// Metrics by name of two scores of the same rows, their differences and p-values.
#[pyfunction]
#[pyo3(signature = (a, b, labels, asked, positive=None, weights=None))]
pub fn compare<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    asked: Asked,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (range, metrics) = (range(asked.fpr)?, named(&asked.metrics)?);
    let ((a, y, w), b) = (rows(a, labels, positive, weights)?, Floats::of("b", b)?);
    same("b", a.len(), b.len())?;
    let clusters = asked.clusters.unwrap_or_default();
    let truth = truth(&y, &w, &clusters)?;
    let (a, b): (Vec<f64>, Vec<f64>) = (wide(&a), wide(&b));
    let pair = py.detach(|| Pair::new([&a, &b], truth)).map_err(core)?;
    let out = PyDict::new(py);
    for metric in &metrics {
        let found = py.detach(|| metric.compare(&pair, range)).map_err(refused)?;
        let all = PyDict::new(py);
        all.set_item("values", (found.values[0], found.values[1]))?;
        all.set_item("intervals", (ends(found.intervals[0]), ends(found.intervals[1])))?;
        all.set_item("difference", found.difference)?;
        all.set_item("interval", ends(found.interval))?;
        all.set_item("z", found.z)?;
        all.set_item("p", found.p)?;
        out.set_item(metric.name(), all)?;
    }
    Ok(out)
}

/// Names of metrics, with what they are.
pub fn table() -> Vec<(String, &'static str)> {
    TABLE.iter().map(|entry| (format!("{}{}", entry.name, entry.form), entry.about)).collect()
}

fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    interval.map(|interval| (interval.low, interval.high))
}

pub fn intervals_told<'py>(py: Python<'py>, all: &Intervals) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("auroc", ends(all.auroc))?;
    out.set_item("ap", ends(all.ap))?;
    out.set_item("pauc", ends(all.pauc))?;
    Ok(out)
}

/// Thresholds, false- and true-positive rates of the ROC curve; thresholds, precision and recall of the other.
#[pyfunction]
#[pyo3(signature = (scores, labels, positive=None, weights=None, points=None))]
pub fn curves<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
    points: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    fn of<T: Real>(
        s: &[T],
        truth: &Truth<'_>,
        points: Option<usize>,
    ) -> undercurve::Result<(Vec<RocPoint>, Vec<PrPoint>)> {
        let mut metrics = Metrics::new();
        Ok((metrics.roc_curve(s, truth, points)?, metrics.pr_curve(s, truth, points)?))
    }
    let (scores, y, w) = rows(scores, labels, positive, weights)?;
    let (roc, pr) = each!(py, scores, s => of(s, &Truth::new(&y, &w)?, points))?;
    curves_told(py, &roc, &pr)
}

pub fn curves_told<'py>(py: Python<'py>, roc: &[RocPoint], pr: &[PrPoint]) -> PyResult<Bound<'py, PyDict>> {
    let all: [Vec<f64>; 6] = [
        roc.iter().map(|point| point.threshold).collect(),
        roc.iter().map(|point| point.fpr).collect(),
        roc.iter().map(|point| point.tpr).collect(),
        pr.iter().map(|point| point.threshold).collect(),
        pr.iter().map(|point| point.precision).collect(),
        pr.iter().map(|point| point.recall).collect(),
    ];
    let out = PyDict::new(py);
    let names = ["roc_thresholds", "fpr", "tpr", "pr_thresholds", "precision", "recall"];
    for (name, values) in names.into_iter().zip(all) {
        out.set_item(name, values.into_pyarray(py))?;
    }
    Ok(out)
}

/// Log loss and Brier score of probabilities.
#[pyfunction]
#[pyo3(signature = (probabilities, labels, positive=None, weights=None))]
pub fn calibration<'py>(
    probabilities: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
) -> PyResult<(f64, f64)> {
    let (p, y, w) = rows(probabilities, labels, positive, weights)?;
    let p: Column<'_, f64> = match p {
        Floats::F32(column) => Column::Own(column.slice().iter().map(|&x| f64::from(x)).collect()),
        Floats::F64(column) => column,
    };
    let truth = Truth::new(&y, &w).map_err(core)?;
    Ok((log_loss(p.slice(), truth).map_err(core)?, brier(p.slice(), truth).map_err(core)?))
}

/// The rule of a threshold, which an argument has.
pub fn threshold_rule(argument: &str, text: &str) -> PyResult<ThresholdRule> {
    text.parse().map_err(|_| value(format!("{argument}: expected {}, got {text:?}", ThresholdRule::FORMS)))
}

/// A threshold by a rule: with its counts, and 95 % intervals of false-positive rate, recall and precision.
#[pyfunction]
#[pyo3(signature = (scores, labels, rule, positive=None, weights=None, clusters=None))]
pub fn decide<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    rule: &str,
    positive: Option<&str>,
    weights: Option<&Bound<'py, PyAny>>,
    clusters: Option<Vec<u32>>,
) -> PyResult<Bound<'py, PyDict>> {
    fn of<T: Real>(
        s: &[T],
        truth: Truth<'_>,
        rule: ThresholdRule,
        clusters: Option<&[u32]>,
    ) -> undercurve::Result<(Decision<f64>, [Interval; 3])> {
        let found = Metrics::new().decide_in(s, truth, clusters, rule)?;
        Ok((found, rate_intervals_in(found.threshold, s, truth, clusters)?))
    }
    let rule = threshold_rule("rule", rule)?;
    let (scores, y, w) = rows(scores, labels, positive, weights)?;
    let truth = Truth::new(&y, &w).map_err(core)?;
    let (found, [fpr, recall, precision]) = each!(py, scores, s => of(s, truth, rule, clusters.as_deref()))?;
    let out = PyDict::new(py);
    out.set_item("rule", rule.to_string())?;
    out.set_item("threshold", found.threshold)?;
    out.set_item("true_positives", found.counts.true_positives)?;
    out.set_item("false_positives", found.counts.false_positives)?;
    out.set_item("true_negatives", found.counts.true_negatives)?;
    out.set_item("false_negatives", found.counts.false_negatives)?;
    let ends = PyDict::new(py);
    for (name, interval) in [("fpr", fpr), ("recall", recall), ("precision", precision)] {
        ends.set_item(name, (interval.low, interval.high))?;
    }
    out.set_item("intervals", ends)?;
    Ok(out)
}
