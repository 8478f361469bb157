//! `undercurve decide … --recheck`: whether the rule behind a threshold still holds on labelled rows that came later.

use super::file::DecisionFile;
use crate::error::{CliError, Result};
use crate::input::labelled::{Columns, Labelled};
use crate::input::{self, Layout};
use crate::output;
use crate::tell::{self, threshold::finite};
use serde_json::json;
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::Target;
use undercurve::decision::{Kept, Recheck, ThresholdRule};
use undercurve::expression::Sense;
use undercurve::judge::Verdict;
use undercurve::metric::{Confusion, Truth};

/// What is checked, and on what.
pub struct Check {
    /// A model, or a decision file.
    pub of: PathBuf,
    pub new: PathBuf,
    pub layout: Layout,
    /// In place of those of the decision file.
    pub columns: [Option<String>; 3],
    pub cluster: Option<String>,
    pub json: bool,
}

impl Check {
    /// # Errors
    /// `Input` for what cannot be checked; `Unmet` where the rule is broken, `Untold` where the rows cannot tell.
    pub fn run(self) -> Result<()> {
        if DecisionFile::is_one(&self.of) {
            let file = DecisionFile::read(&self.of)?;
            let known = file.columns();
            let [label, score, positive] = self.columns.clone();
            let columns = Columns {
                label: label.unwrap_or(known.label),
                score: score.unwrap_or(known.score),
                positive: positive.or(known.positive),
            };
            let cluster = self.cluster.as_ref().or(file.cluster.as_ref());
            let named = [cluster, file.weight.as_ref()].map(|column| column.map(String::as_str));
            let Labelled { scores, labels, weights, clusters } = columns.read(&self.new, self.layout, named)?;
            let truth = Truth::new(&labels, &weights)?;
            return self.tell(file.rule()?, file.at(), file.rows as u64, &scores, truth, clusters.as_deref());
        }
        let saved = input::saved(&self.of)?;
        match saved.real_bytes {
            4 => self.of_model::<f32>(&saved),
            _ => self.of_model::<f64>(&saved),
        }
    }

    fn of_model<T: Real>(&self, saved: &SavedModel) -> Result<()> {
        let model = self.of.display();
        if saved.preparation.target() != Target::Binary {
            return Err(CliError::input(format!("{model}: decisions are for a model of two classes")));
        }
        let Some(decided) = &saved.decided else {
            return Err(CliError::input(format!("{model}: has no rule of a threshold")));
        };
        let table = input::table_again(&self.new, self.layout, &saved.preparation)?;
        let data = saved.preparation.apply::<T>(&table)?;
        let scores = tell::scores(&mut input::model::<T>(&self.of, saved)?, &data)?;
        let (labels, weights) = (data.labels().to_vec(), data.weights().to_vec());
        let clusters = match &self.cluster {
            Some(column) => Some(input::labelled::clusters(&saved.preparation, &table, data, column)?),
            None => None,
        };
        let rows = decided.counts.map_or(0.0, |counts| counts.total()) as u64;
        let at = saved.threshold.unwrap_or(f64::INFINITY);
        self.tell(decided.rule, at, rows, &scores, Truth::new(&labels, &weights)?, clusters.as_deref())
    }

    fn tell<T: Real>(
        &self,
        rule: ThresholdRule,
        at: f64,
        chosen_on: u64,
        scores: &[T],
        truth: Truth<'_>,
        clusters: Option<&[u32]>,
    ) -> Result<()> {
        let counts = Confusion::at(scores, truth.labels(), T::of(at))?;
        let plain = clusters.is_none() && truth.weights().is_empty();
        let unbound = || CliError::input(format!("--recheck: {rule} bounds no rate that could hold or be broken"));
        let check = match rule.promise() {
            Some(promise) if !plain => promise.recheck_in(at, scores, truth, clusters)?,
            None if !plain && matches!(rule, ThresholdRule::Alerts(_)) => {
                return Err(CliError::input(format!(
                    "--recheck: {rule} is checked on independent rows without weights alone"
                )));
            }
            _ => rule.recheck(&counts, chosen_on).ok_or_else(unbound)?,
        };
        let (name, of) = words(rule);
        let verdict = match check.verdict {
            Verdict::Met => "met",
            Verdict::NotMet => "broken",
            Verdict::CannotTell => "cannot tell",
        };
        let Recheck { hits, rows, interval, percent, bound, .. } = check;
        let new = self.new.display();
        if self.json {
            output::line(json!({
                "rule": rule.to_string(), "threshold": finite(at), "verdict": verdict, "value": check.value,
                "interval": [interval.low, interval.high], "hits": hits, "rows": rows, "more_rows": check.more,
                "confidence": percent,
            }))?;
        } else {
            let value = check.value.map_or("–".to_string(), |value| format!("{value:.4}"));
            let more = match (check.verdict, check.more) {
                (Verdict::CannotTell, Some(more)) => format!("; some {more} more {of} would tell, at this value"),
                (Verdict::CannotTell, None) if rows == 0 => format!("; there are no {of}"),
                (Verdict::CannotTell, None) => "; it lies at its bound: no number of rows would tell".to_string(),
                _ => String::new(),
            };
            let sign = if check.sense == Sense::AtMost { "<=" } else { ">=" };
            output::line(format!(
                "{rule}: {verdict} on {new}, at {percent} %: {name} {value} [{:.4}, {:.4}] of {rows} {of}, to be {sign} {bound}{more}",
                interval.low, interval.high
            ))?;
        }
        match check.verdict {
            Verdict::Met => Ok(()),
            Verdict::NotMet => Err(CliError::Unmet(format!("{rule} is broken on {}", Path::new(&self.new).display()))),
            Verdict::CannotTell => Err(CliError::Untold(format!("{new}: its rows cannot tell whether {rule} holds"))),
        }
    }
}

/// What a rule bounds, and the rows that it is of.
fn words(rule: ThresholdRule) -> (&'static str, &'static str) {
    match rule.promise().map(|promise| promise.kept) {
        Some(Kept::Fpr) => ("false-positive rate", "negatives"),
        Some(Kept::Precision) => ("precision", "alerts"),
        Some(Kept::Recall) => ("recall", "positives"),
        None => match rule {
            ThresholdRule::Fpr(_) => ("false-positive rate", "negatives"),
            ThresholdRule::Precision(_) => ("precision", "alerts"),
            ThresholdRule::Recall(_) => ("recall", "positives"),
            _ => ("share of alerts", "rows"),
        },
    }
}
