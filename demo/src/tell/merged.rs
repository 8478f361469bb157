//! Metrics of merged states, told as those of rows are.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::measure::{ends, line};
use serde_json::{Map, Value, json};
use std::path::Path;
use undercurve::measure::{Metric, Refusal};
use undercurve::metric::{Bounds, FprRange, State};
use undercurve::trainer::Config;

/// Refuses metrics that need the rows.
pub fn check(metrics: &[Metric]) -> Result<()> {
    metrics.iter().try_for_each(|metric| match metric.check_state() {
        Err(Refusal::Counted { metric }) => {
            Err(CliError::input(format!("--metric {metric}: is not of files that are merged")))
        }
        Err(Refusal::Needs { metric, .. }) => Err(CliError::input(format!("--metric {metric}: {metric}:THRESHOLD"))),
        told => Ok(told?),
    })
}

/// Refuses metrics without bounds.
pub fn check_bounds(metrics: &[Metric]) -> Result<()> {
    match metrics.iter().find(|metric| !metric.entry().has_bounds()) {
        None => Ok(()),
        Some(metric) => Err(CliError::input(format!("--metric {metric}: is not told with --memory"))),
    }
}

/// Prints between which numbers metrics lie, of so many rows and positives.
pub fn tell_bounds(
    [rows, positives]: [u64; 2],
    bounds: impl Fn(FprRange) -> undercurve::Result<Bounds>,
    metrics: &[Metric],
    json: bool,
) -> Result<()> {
    let usual = Metric::usual(false, false, false, false);
    let metrics = if metrics.is_empty() { &usual } else { metrics };
    let (mut found, usual) = (Vec::new(), range()?);
    for metric in metrics {
        if let Some((low, high)) = metric.bounds(&bounds, usual)? {
            found.push((metric, low, high));
        }
    }
    if json {
        let bounds: Map<_, _> =
            found.into_iter().map(|(metric, low, high)| (metric.name().to_string(), json!([low, high]))).collect();
        return output::line(json!({ "rows": rows, "positives": positives, "bounds": bounds }));
    }
    output::line(format!("{rows} rows, {positives} positive; the metrics lie between"))?;
    let width = metrics.iter().map(|metric| metric.name().len()).max().unwrap_or(0);
    found.into_iter().try_for_each(|(metric, low, high)| {
        // (Rounded outwards.)
        let (low, high) = ((low * 1e9).floor() / 1e9, (high * 1e9).ceil() / 1e9);
        output::line(format!("{:width$}  {low:.9} and {high:.9}", metric.name()))
    })
}

/// Measures and prints.
pub fn tell(state: &State, metrics: &[Metric], json: bool) -> Result<()> {
    let usual = Metric::usual(false, false, false, false);
    let metrics = if metrics.is_empty() { &usual } else { metrics };
    let range = range()?;
    let found = metrics.iter().map(|metric| metric.of_state(state, range));
    let found = found.collect::<std::result::Result<Vec<_>, _>>()?;
    let (rows, positives) = (state.rows(), state.labels()[0]);
    if json {
        let mut object = Map::new();
        object.insert("rows".to_string(), rows.into());
        object.insert("positives".to_string(), positives.into());
        object
            .extend(metrics.iter().zip(&found).map(|(metric, found)| (metric.name().to_string(), found.value.into())));
        object.insert("intervals".to_string(), ends(metrics, &found));
        return output::line(Value::Object(object));
    }
    output::line(format!("{rows} rows, {positives} positive"))?;
    let width = metrics.iter().map(|metric| metric.name().len()).max().unwrap_or(0);
    metrics.iter().zip(&found).try_for_each(|(metric, found)| output::line(line(width, metric, found, "")))
}

/// Says what a file holds.
pub fn written(state: &State, path: &Path, json: bool) -> Result<()> {
    let (rows, positives) = (state.rows(), state.labels()[0]);
    match json {
        true => output::line(json!({ "rows": rows, "positives": positives })),
        false => output::line(format!("{rows} rows, {positives} positive, in {}", path.display())),
    }
}

/// The range of `pauc`.
fn range() -> undercurve::Result<FprRange> {
    let (low, high) = Config::default().fpr;
    FprRange::new(low, high)
}
