//! Metrics of merged states, told as those of rows are.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::measure::{ends, line};
use crate::tell::metric::{Kind, Metric, usual};
use serde_json::{Map, Value, json};
use std::path::Path;
use undercurve::metric::{Bounds, Estimate, FprRange, Interval, State, TieRule, mcclish};
use undercurve::trainer::Config;

/// Refuses metrics that need the rows.
pub fn check(metrics: &[Metric]) -> Result<()> {
    let told = |metric: &&Metric| match metric.kind {
        Kind::Auroc | Kind::Ap | Kind::Pauc(_) | Kind::McClish(_) => true,
        Kind::At(_, threshold) => threshold.is_some(),
        Kind::PrecisionAtRecall(_) | Kind::RecallAtPrecision(_) => true,
        _ => false,
    };
    match metrics.iter().find(|metric| !told(metric)) {
        None => Ok(()),
        Some(Metric { name, kind: Kind::At(..) }) => Err(CliError::input(format!("--metric {name}: {name}:THRESHOLD"))),
        Some(metric) => Err(CliError::input(format!("--metric {}: is not of files that are merged", metric.name))),
    }
}

/// Refuses metrics without bounds.
pub fn check_bounds(metrics: &[Metric]) -> Result<()> {
    let told = |metric: &&Metric| matches!(metric.kind, Kind::Auroc | Kind::Ap | Kind::Pauc(_) | Kind::McClish(_));
    match metrics.iter().find(|metric| !told(metric)) {
        None => Ok(()),
        Some(metric) => Err(CliError::input(format!("--metric {}: is not told with --memory", metric.name))),
    }
}

/// Prints between which numbers metrics lie, of so many rows and positives.
pub fn tell_bounds(
    [rows, positives]: [u64; 2],
    bounds: impl Fn(FprRange) -> undercurve::Result<Bounds>,
    metrics: &[Metric],
    json: bool,
) -> Result<()> {
    let usual = usual(false, false, false, false);
    let metrics = if metrics.is_empty() { &usual } else { metrics };
    let mut found = Vec::new();
    for metric in metrics {
        let of = match metric.kind {
            Kind::Pauc(of) => range(of)?,
            Kind::McClish(of) => range(Some(of))?,
            _ => range(None)?,
        };
        let all = bounds(of)?;
        let (low, high) = match metric.kind {
            Kind::Ap => all.ap,
            Kind::Pauc(_) => all.pauc,
            Kind::McClish(_) => (mcclish(all.pauc.0, of), mcclish(all.pauc.1, of)),
            _ => all.auroc,
        };
        found.push((metric, low, high));
    }
    if json {
        let bounds: Map<_, _> =
            found.into_iter().map(|(metric, low, high)| (metric.name.clone(), json!([low, high]))).collect();
        return output::line(json!({ "rows": rows, "positives": positives, "bounds": bounds }));
    }
    output::line(format!("{rows} rows, {positives} positive; the metrics lie between"))?;
    let width = metrics.iter().map(|metric| metric.name.len()).max().unwrap_or(0);
    found.into_iter().try_for_each(|(Metric { name, .. }, low, high)| {
        // (Rounded outwards.)
        let (low, high) = ((low * 1e9).floor() / 1e9, (high * 1e9).ceil() / 1e9);
        output::line(format!("{name:width$}  {low:.9} and {high:.9}"))
    })
}

/// Measures and prints.
pub fn tell(state: &State, metrics: &[Metric], json: bool) -> Result<()> {
    let usual = usual(false, false, false, false);
    let metrics = if metrics.is_empty() { &usual } else { metrics };
    let values = metrics.iter().map(|metric| value(&metric.kind, state)).collect::<Result<Vec<_>>>()?;
    let intervals = metrics.iter().map(|metric| interval(&metric.kind, state)).collect::<Result<Vec<_>>>()?;
    let (rows, positives) = (state.rows(), state.labels()[0]);
    if json {
        let mut object = Map::new();
        object.insert("rows".to_string(), rows.into());
        object.insert("positives".to_string(), positives.into());
        object.extend(metrics.iter().zip(&values).map(|(metric, &value)| (metric.name.clone(), value.into())));
        object.insert("intervals".to_string(), ends(metrics, &intervals));
        return output::line(Value::Object(object));
    }
    output::line(format!("{rows} rows, {positives} positive"))?;
    let width = metrics.iter().map(|metric| metric.name.len()).max().unwrap_or(0);
    let mut all = metrics.iter().zip(values).zip(intervals);
    all.try_for_each(|((metric, value), interval)| output::line(line(width, metric, value, "", interval)))
}

/// Says what a file holds.
pub fn written(state: &State, path: &Path, json: bool) -> Result<()> {
    let (rows, positives) = (state.rows(), state.labels()[0]);
    match json {
        true => output::line(json!({ "rows": rows, "positives": positives })),
        false => output::line(format!("{rows} rows, {positives} positive, in {}", path.display())),
    }
}

fn range(of: Option<(f64, f64)>) -> undercurve::Result<FprRange> {
    let (low, high) = of.unwrap_or(Config::default().fpr);
    FprRange::new(low, high)
}

/// None where there are no rows to tell it from.
fn value(kind: &Kind, state: &State) -> Result<Option<f64>> {
    let area = |of: Option<(f64, f64)>| state.partial_auc(range(of)?, TieRule::Trapezoid);
    Ok(Some(match *kind {
        Kind::Auroc => state.summary(FprRange::FULL)?.auroc,
        Kind::Ap => state.summary(FprRange::FULL)?.ap,
        Kind::Pauc(of) => area(of)?,
        Kind::McClish(of) => mcclish(area(Some(of))?, range(Some(of))?),
        Kind::At(rate, threshold) => return Ok(rate.of(state.confusion(threshold.unwrap_or(f64::INFINITY))?)),
        Kind::PrecisionAtRecall(recall) => state.precision_at_recall(recall)?,
        Kind::RecallAtPrecision(precision) => state.recall_at_precision(precision)?,
        _ => return Ok(None),
    }))
}

/// The interval of a metric that has one.
fn interval(kind: &Kind, state: &State) -> Result<Option<Interval>> {
    let of = match *kind {
        Kind::Auroc => Estimate::AUROC,
        Kind::Ap => Estimate::Ap,
        Kind::Pauc(of) => Estimate::Roc(range(of)?),
        Kind::McClish(of) => {
            let range = range(Some(of))?;
            let ends = state.interval(Estimate::Roc(range))?;
            let of = |end: f64| mcclish(end, range);
            return Ok(ends.map(|ends| Interval { low: of(ends.low), high: of(ends.high) }));
        }
        _ => return Ok(None),
    };
    Ok(state.interval(of)?)
}
