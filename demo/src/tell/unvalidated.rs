//! Whether a run on few rows is compared with nothing.
//!
//! On sets with fewer than [`FEW`] rows of a class, or negatives in the range of false-positive rates, methods at their defaults were behind
//! cross-entropy of the same model by more than .02 in one of eight of their cells, and in 33 of these 84 some run had no other warning
//! (tests/results/tables.md). Only rows that a run does not train on can tell, so a run without validation rows says where to look.

use serde_json::{Value, json};
use undercurve::Real;
use undercurve::registry;
use undercurve::trainer::{Best, Trainer};

/// Rows that count, from which on nothing is said.
const FEW: f64 = 250.0;

/// A run of few rows without validation rows.
pub struct Unvalidated {
    method: &'static str,
    metric: &'static str,
    positives: usize,
    /// In the range of the partial AUC, where that is the metric.
    negatives: usize,
}

impl Unvalidated {
    /// `None` for cross-entropy itself, under constraints, and where it is not so.
    pub fn of<T: Real>(trainer: &Trainer<T>, best: Option<&Best<T>>) -> Option<Self> {
        let config = trainer.config();
        let method = registry::method(&config.method).filter(|method| !super::behind::SAME.contains(&method.name))?;
        let metric = Some(method.metric()).filter(|metric| ["ap", "auroc", "pauc"].contains(metric))?;
        let labels = trainer.train_data().labels();
        if best.is_some() || labels.is_empty() || !config.constraints.is_empty() {
            return None;
        }
        let positives = labels.iter().filter(|&&label| label == 1).count();
        let share = if metric == "pauc" { config.fpr.1 - config.fpr.0 } else { 1.0 };
        let negatives = (share * (labels.len() - positives) as f64).ceil() as usize;
        let few = (positives.min(negatives) as f64) < FEW;
        few.then_some(Self { method: method.name, metric, positives, negatives })
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let Self { method, metric, positives, negatives } = self;
        let range = if *metric == "pauc" { " in the range" } else { "" };
        format!(
            "{positives} positives and {negatives} negatives{range} are few, and no validation rows tell whether {method} is ahead of \
             cross-entropy here; try `undercurve compare FILE --metric {metric}`, or --valid 0.3"
        )
    }

    /// For programs.
    pub fn object(&self) -> Value {
        json!({"metric": self.metric, "positives": self.positives, "negatives": self.negatives})
    }
}
