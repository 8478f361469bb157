//! Metrics of two scores of the same rows, their differences, and how often scores that are equally good differ by as much.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::measure::estimate;
use crate::tell::metric::{Metric, usual};
use serde_json::{Map, Value, json};
use undercurve::metric::{Comparison, FprRange, Interval, Pair, Truth, mcclish};

/// Two scores of each row, and what they are called.
pub struct TwoScores<'a> {
    pub names: [&'a str; 2],
    pub scores: [&'a [f64]; 2],
    pub truth: Truth<'a>,
    /// The range of `pauc`.
    pub fpr: (f64, f64),
}

impl TwoScores<'_> {
    /// A metric of both.
    fn compare(&self, pair: &Pair<'_>, metric: &Metric) -> Result<Comparison> {
        let Some((of, standard)) = estimate(&metric.kind, self.fpr)? else {
            return Err(CliError::input(format!(
                "--metric {}: of two scores there are auroc, ap, pauc, mcclish, precision-at and recall-at",
                metric.name
            )));
        };
        let found = pair.compare(of)?;
        Ok(standard.map_or(found, |range| standardised(found, range)))
    }

    /// Measures and prints.
    pub fn tell(&self, metrics: &[Metric], as_json: bool) -> Result<()> {
        let usual = usual(false, false, false, false);
        let metrics = if metrics.is_empty() { &usual } else { metrics };
        let pair = Pair::new(self.scores, self.truth)?;
        let all: Vec<(&str, Comparison)> =
            metrics.iter().map(|metric| Ok((&*metric.name, self.compare(&pair, metric)?))).collect::<Result<_>>()?;
        if as_json { output::line(self.json(&all)) } else { output::line(self.text(&all)) }
    }

    fn positives(&self) -> usize {
        self.truth.labels().iter().filter(|&&label| label == 1).count()
    }

    fn json(&self, all: &[(&str, Comparison)]) -> Value {
        let ends = |interval: Option<Interval>| interval.map(|ends| [ends.low, ends.high]);
        let of = |found: &Comparison| {
            json!({"values": found.values, "intervals": found.intervals.map(ends), "difference": found.difference,
                   "interval": ends(found.interval), "z": found.z, "p": found.p})
        };
        let all: Map<String, Value> = all.iter().map(|(name, found)| (name.to_string(), of(found))).collect();
        let rows = self.truth.labels().len();
        json!({"rows": rows, "positives": self.positives(), "scores": self.names, "differences": all})
    }

    fn text(&self, all: &[(&str, Comparison)]) -> String {
        let figure = |value: f64, ends: Option<Interval>| {
            format!("{value:.6}{}", ends.map_or(String::new(), |ends| format!(" [{:.6}, {:.6}]", ends.low, ends.high)))
        };
        let head = ["metric", self.names[0], self.names[1], "difference", "p"].map(str::to_string);
        let lines = all.iter().map(|(name, found)| {
            let [a, b] = [0, 1].map(|k| figure(found.values[k], found.intervals[k]));
            let p = found.p.map_or("-".to_string(), |p| if p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") });
            [name.to_string(), a, b, figure(found.difference, found.interval), p]
        });
        let lines: Vec<[String; 5]> = std::iter::once(head).chain(lines).collect();
        let widths: [usize; 5] =
            std::array::from_fn(|k| lines.iter().map(|line| line[k].chars().count()).max().unwrap_or(0));
        let line = |cells: &[String; 5]| {
            let cells: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            cells.join("  ").trim_end().to_string()
        };
        let table: Vec<String> = lines.iter().map(line).collect();
        format!("{} rows, {} positive\n{}", self.truth.labels().len(), self.positives(), table.join("\n"))
    }
}

/// On the scale of McClish, of which a partial AUC is a rising line.
fn standardised(found: Comparison, range: FprRange) -> Comparison {
    let of = |value: f64| mcclish(value, range);
    let apart = |value: f64| of(value) - of(0.0);
    let ends = |ends: Interval, of: &dyn Fn(f64) -> f64| Interval { low: of(ends.low), high: of(ends.high) };
    Comparison {
        values: found.values.map(of),
        intervals: found.intervals.map(|interval| interval.map(|found| ends(found, &of))),
        difference: apart(found.difference),
        interval: found.interval.map(|found| ends(found, &apart)),
        ..found
    }
}
