//! Figures of groups of rows: a table, gaps with their noise, and the JSON of both.

use crate::error::Result;
use serde_json::{Value, json};
use undercurve::metric::group::{GroupSummary, largest, least};
use undercurve::metric::{Gap, Metrics, Rate};
use undercurve::{Need, Real, Scratch};

/// Which group each row is in, and what they are called.
#[derive(Clone, Copy)]
pub struct Grouping<'a> {
    pub of: &'a [u32],
    pub names: &'a [String],
    /// Groups that training had; they come first.
    pub known: usize,
}

/// One group's share of a metric of groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfGroups {
    /// The largest difference of a rate between two groups, at the threshold of a pooled false-positive rate if there is one.
    Gap(Rate, Option<f64>),
    WorstLoss,
    /// At a threshold.
    WorstAccuracy(f64),
    WorstAuroc,
    /// Of the groups' losses, over this share of the groups.
    Cvar(f64),
}

/// What a metric says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// Of all rows.
    Number(f64),
    Gap(Gap),
    /// The group and its figure.
    Worst(usize, f64),
    Cvar(f64),
    /// There are no rows to tell it from.
    Nothing,
}

impl Found {
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Gap(gap) => Some(gap.value),
            Self::Number(value) | Self::Worst(_, value) | Self::Cvar(value) => Some(value),
            Self::Nothing => None,
        }
    }

    /// What stands behind the figure.
    pub fn note(self, names: &[String]) -> String {
        match self {
            Self::Gap(gap) => {
                let [a, b] = gap.groups.map(|group| &names[group as usize]);
                format!(" ± {:.4}  {a} ({} rows) and {b} ({})", gap.noise, gap.rows[0], gap.rows[1])
            }
            Self::Worst(group, _) => format!("  {}", names[group]),
            Self::Number(_) | Self::Cvar(_) => String::new(),
            Self::Nothing => "fewer than two groups have such rows".to_string(),
        }
    }

    pub fn json(self, names: &[String]) -> Option<Value> {
        match self {
            Self::Gap(gap) => Some(json!({
                "value": gap.value, "noise": gap.noise, "groups": gap.groups.map(|group| &names[group as usize]),
                "rows": gap.rows, "threshold": gap.threshold.is_finite().then_some(gap.threshold),
            })),
            Self::Worst(group, value) => Some(json!({"value": value, "group": names[group]})),
            Self::Number(_) | Self::Cvar(_) | Self::Nothing => None,
        }
    }
}

/// A metric of groups.
pub fn find<T: Real>(
    of: OfGroups,
    memory: &mut Metrics<T>,
    scores: &[T],
    labels: &[u8],
    groups: Grouping<'_>,
) -> undercurve::Result<Found> {
    let count = groups.names.len();
    if let OfGroups::Gap(rate, fpr) = of {
        let gaps = memory.gaps(scores, labels, groups.of, count, rate, fpr)?;
        return Ok(Gap::worst(&gaps).map_or(Found::Nothing, Found::Gap));
    }
    let threshold = if let OfGroups::WorstAccuracy(threshold) = of { threshold } else { 0.0 };
    let groups = memory.groups(scores, labels, groups.of, count, T::of(threshold))?;
    let worst = match of {
        OfGroups::WorstAuroc => least(groups.iter().map(|group| group.auroc)),
        OfGroups::WorstAccuracy(_) => least(groups.iter().map(|group| group.counts.accuracy())),
        OfGroups::Cvar(share) => {
            let losses: Vec<f64> = groups.iter().filter_map(|group| group.loss).collect();
            let Need { f64: room, .. } = undercurve::metric::group::cvar_need(losses.len());
            let mut room = vec![0.0; room];
            let scratch = Scratch::<T> { f64: &mut room, ..Scratch::default() };
            return undercurve::metric::group::cvar(&losses, share, scratch).map(Found::Cvar);
        }
        _ => largest(groups.iter().map(|group| group.loss)),
    };
    Ok(worst.map_or(Found::Nothing, |(group, value)| Found::Worst(group, value)))
}

/// The figures of every group: accuracy from 0, the rates from `threshold`.
pub struct Table<'a> {
    groups: Grouping<'a>,
    threshold: f64,
    at_zero: Vec<GroupSummary>,
    at_threshold: Vec<GroupSummary>,
}

impl<'a> Table<'a> {
    pub fn new<T: Real>(
        memory: &mut Metrics<T>,
        scores: &[T],
        labels: &[u8],
        groups: Grouping<'a>,
        threshold: f64,
    ) -> Result<Self> {
        let mut at = |threshold: f64| memory.groups(scores, labels, groups.of, groups.names.len(), T::of(threshold));
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
