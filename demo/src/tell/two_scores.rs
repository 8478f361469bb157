//! Metrics of two scores of the same rows, their differences, and how often scores that are equally good differ by as much.

use crate::error::{CliError, Result};
use crate::output;
use serde_json::{Map, Value, json};
use undercurve::measure::{Metric, Refusal, TABLE};
use undercurve::metric::{Comparison, FprRange, Interval, Pair, Truth};

/// Two scores of each row, and what they are called.
pub struct TwoScores<'a> {
    pub names: [&'a str; 2],
    pub scores: [&'a [f64]; 2],
    pub truth: Truth<'a>,
    /// The range of `pauc`.
    pub fpr: (f64, f64),
}

impl TwoScores<'_> {
    /// Measures and prints.
    pub fn tell(&self, metrics: &[Metric], as_json: bool) -> Result<()> {
        let usual = Metric::usual(false, false, false, false);
        let metrics = if metrics.is_empty() { &usual } else { metrics };
        let pair = Pair::new(self.scores, self.truth)?;
        let range = FprRange::new(self.fpr.0, self.fpr.1)?;
        let all = metrics.iter().map(|metric| match metric.compare(&pair, range) {
            Ok(found) => Ok((metric.name(), found)),
            Err(Refusal::Alone { metric }) => {
                let all: Vec<&str> = TABLE.iter().filter(|entry| entry.is_compared()).map(|entry| entry.name).collect();
                Err(CliError::input(format!("--metric {metric}: of two scores there are {}", all.join(", "))))
            }
            Err(why) => Err(why.into()),
        });
        let all: Vec<(&str, Comparison)> = all.collect::<Result<_>>()?;
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
