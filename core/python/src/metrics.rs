//! Exact metrics, intervals and curves.

use crate::arrays::{Column, Floats};
use crate::error::{core, value};
use crate::loss::rows;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use undercurve::Real;
use undercurve::decision::{Decision, ThresholdRule, rate_intervals_in};
use undercurve::metric::{
    Estimate, FprRange, Interval, Intervals, Metrics, Pair, PrPoint, RocPoint, Summary, Truth, brier, log_loss,
};

pub fn range(fpr: (f64, f64)) -> PyResult<FprRange> {
    FprRange::new(fpr.0, fpr.1)
        .map_err(|_| value(format!("fpr: expected (low, high) with 0 <= low < high <= 1, got ({}, {})", fpr.0, fpr.1)))
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
#[pyo3(signature = (scores, labels, weights=None, fpr=(0.0, 0.05)))]
pub fn summary<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    fpr: (f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let range = range(fpr)?;
    let (scores, y, w) = rows(scores, labels, weights)?;
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

/// 95 % intervals of AUROC, average precision and partial AUC, or None for each.
#[pyfunction]
#[pyo3(signature = (scores, labels, weights=None, clusters=None, fpr=(0.0, 0.05)))]
pub fn intervals<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    clusters: Option<Vec<u32>>,
    fpr: (f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let range = range(fpr)?;
    let (scores, y, w) = rows(scores, labels, weights)?;
    let clusters = clusters.unwrap_or_default();
    let truth = Truth::new(&y, &w).and_then(|truth| truth.clustered(&clusters)).map_err(core)?;
    let all = each!(py, scores, s => Metrics::new().intervals(s, truth, range))?;
    intervals_told(py, &all)
}

/// AUROC, average precision and partial AUC of two scores of the same rows, their differences and p-values.
#[pyfunction]
#[pyo3(signature = (a, b, labels, weights=None, clusters=None, fpr=(0.0, 0.05)))]
pub fn compare<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    clusters: Option<Vec<u32>>,
    fpr: (f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let range = range(fpr)?;
    let ((a, y, w), (b, ..)) = (rows(a, labels, weights)?, rows(b, labels, None)?);
    let clusters = clusters.unwrap_or_default();
    let truth = Truth::new(&y, &w).and_then(|truth| truth.clustered(&clusters)).map_err(core)?;
    let wide = |scores: &Floats<'py>| match scores {
        Floats::F32(scores) => scores.slice().iter().map(|&score| f64::from(score)).collect(),
        Floats::F64(scores) => scores.slice().to_vec(),
    };
    let (a, b): (Vec<f64>, Vec<f64>) = (wide(&a), wide(&b));
    let pair = py.detach(|| Pair::new([&a, &b], truth)).map_err(core)?;
    let out = PyDict::new(py);
    for (name, of) in [("auroc", Estimate::AUROC), ("ap", Estimate::Ap), ("pauc", Estimate::Roc(range))] {
        let found = py.detach(|| pair.compare(of)).map_err(core)?;
        let all = PyDict::new(py);
        all.set_item("values", (found.values[0], found.values[1]))?;
        all.set_item("intervals", (ends(found.intervals[0]), ends(found.intervals[1])))?;
        all.set_item("difference", found.difference)?;
        all.set_item("interval", ends(found.interval))?;
        all.set_item("z", found.z)?;
        all.set_item("p", found.p)?;
        out.set_item(name, all)?;
    }
    Ok(out)
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
#[pyo3(signature = (scores, labels, weights=None, points=None))]
pub fn curves<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
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
    let (scores, y, w) = rows(scores, labels, weights)?;
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
#[pyo3(signature = (probabilities, labels, weights=None))]
pub fn calibration<'py>(
    probabilities: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
) -> PyResult<(f64, f64)> {
    let (p, y, w) = rows(probabilities, labels, weights)?;
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
#[pyo3(signature = (scores, labels, rule, weights=None, clusters=None))]
pub fn decide<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    rule: &str,
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
    let (scores, y, w) = rows(scores, labels, weights)?;
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
