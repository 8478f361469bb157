//! Figures of groups of rows: a table, gaps with their noise, and the JSON of both.

use crate::error::Result;
use serde_json::{Value, json};
use undercurve::measure::{Detail, Found};
use undercurve::metric::Metrics;
use undercurve::metric::group::GroupSummary;

/// Which group each row is in, and what they are called.
#[derive(Clone, Copy)]
pub struct Grouping<'a> {
    pub of: &'a [u32],
    pub names: &'a [String],
    /// Groups that training had; they come first.
    pub known: usize,
}

/// What stands behind a figure, for people.
pub fn note(found: &Found, names: &[String]) -> String {
    match found.detail {
        Detail::Gap(gap) => {
            let [a, b] = gap.groups.map(|group| &names[group as usize]);
            format!(" ± {:.4}  {a} ({} rows) and {b} ({})", gap.noise, gap.rows[0], gap.rows[1])
        }
        Detail::Group(group) => format!("  {}", names[group]),
        Detail::Rows if found.value.is_none() => "fewer than two groups have such rows".to_string(),
        Detail::Rows => String::new(),
    }
}

/// The same for programs.
pub fn detail(found: &Found, names: &[String]) -> Option<Value> {
    match found.detail {
        Detail::Gap(gap) => Some(json!({
            "value": gap.value, "noise": gap.noise, "groups": gap.groups.map(|group| &names[group as usize]),
            "rows": gap.rows, "threshold": gap.threshold.is_finite().then_some(gap.threshold),
        })),
        Detail::Group(group) => Some(json!({"value": found.value, "group": names[group]})),
        Detail::Rows => None,
    }
}

/// The figures of every group: accuracy from 0, the rates from `threshold`.
pub struct Table<'a> {
    groups: Grouping<'a>,
    threshold: f64,
    at_zero: Vec<GroupSummary>,
    at_threshold: Vec<GroupSummary>,
}

impl<'a> Table<'a> {
    pub fn new(
        memory: &mut Metrics<f64>,
        scores: &[f64],
        labels: &[u8],
        groups: Grouping<'a>,
        threshold: f64,
    ) -> Result<Self> {
        let mut at = |threshold: f64| memory.groups(scores, labels, groups.of, groups.names.len(), threshold);
        Ok(Self { groups, threshold, at_zero: at(0.0)?, at_threshold: at(threshold)? })
    }

    fn rows(&self) -> impl Iterator<Item = (&String, &GroupSummary, &GroupSummary)> {
        self.groups.names.iter().zip(&self.at_zero).zip(&self.at_threshold).map(|((name, a), b)| (name, a, b))
    }

    /// A line for each group.
    pub fn text(&self) -> String {
        let width = self.groups.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
        let mut lines = vec![
            format!("By group (accuracy from 0, rates from {:.4}):", self.threshold),
            format!("{:width$} {:>8} {:>8}   AUROC    loss accuracy     tpr     fpr", "group", "rows", "positive"),
        ];
        let cell = |x: Option<f64>| x.map_or("      –".to_string(), |x| format!("{x:>7.4}"));
        for (at, (name, zero, there)) in self.rows().enumerate() {
            let (accuracy, tpr, fpr) = (zero.counts.accuracy(), there.counts.tpr(), there.counts.fpr());
            let unseen = if at < self.groups.known { "" } else { "  (not in training)" };
            lines.push(format!(
                "{name:width$} {:>8} {:>8} {} {}  {} {} {}{unseen}",
                zero.counts.total(),
                zero.counts.positives(),
                cell(zero.auroc),
                cell(zero.loss),
                cell(accuracy),
                cell(tpr),
                cell(fpr),
            ));
        }
        lines.join("\n")
    }

    /// An object for each group.
    pub fn json(&self) -> Value {
        let object = |(at, (name, zero, there)): (usize, (&String, &GroupSummary, &GroupSummary))| {
            json!({
                "group": name, "rows": zero.counts.total(), "positives": zero.counts.positives(), "auroc": zero.auroc,
                "loss": zero.loss, "accuracy": zero.counts.accuracy(), "tpr": there.counts.tpr(),
                "fpr": there.counts.fpr(), "in_training": at < self.groups.known,
            })
        };
        Value::from_iter(self.rows().enumerate().map(object))
    }
}
