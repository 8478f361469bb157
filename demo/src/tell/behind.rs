//! Whether a ranking method is behind plain cross-entropy in its own metric, on the validation rows.
//!
//! The rule: a linear model is trained by `ce` at its defaults on the same training rows, and draws no more rows than the run did, so
//! that it costs less than the run. The run is behind where the whole 95 % interval of the difference of the metric on the validation rows, the kept model's
//! less the linear one's, lies below 0 ([`Metrics::compare`], with rows that splits keep together as clusters). Test rows have no part in it.

use crate::error::Result;
use crate::tell::scores;
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::data::{Dataset, Targets};
use undercurve::metric::{Comparison, Estimate, FprRange, Metrics};
use undercurve::trainer::{Best, Config, Length, ModelSpec, Predictor, Trainer};

/// Methods that are cross-entropy themselves.
pub const SAME: [&str; 2] = ["ce", "ce-exact"];

/// A run that is behind.
#[derive(Debug)]
pub struct Behind {
    metric: String,
    /// Whether the run's own model is linear, too.
    linear: bool,
    difference: f64,
    ends: [f64; 2],
}

impl Behind {
    /// Of the model that a run keeps; `None` where it is not behind, or nobody can tell: without validation rows of two classes,
    /// under constraints, and for cross-entropy itself.
    pub fn of<T: Real>(trainer: &Trainer<T>, best: Option<&Best<T>>, model: &mut Predictor<T>) -> Result<Option<Self>> {
        let (Some(best), config) = (best, trainer.config()) else { return Ok(None) };
        let valid = best.valid_data();
        let two = matches!(valid.targets(), Targets::Binary(_));
        let asked = SAME.contains(&config.method.as_str()) || !config.constraints.is_empty();
        let figure = match best.metric() {
            "ap" => Estimate::Ap,
            "auroc" => Estimate::AUROC,
            "pauc" => Estimate::Roc(FprRange::new(config.fpr.0, config.fpr.1)?),
            _ => return Ok(None),
        };
        if !two || asked || trainer.steps_done() == 0 {
            return Ok(None);
        }
        let ours = scores(model, valid)?;
        // (Numbers that leave their range tell nothing here; the run's own did not.)
        let Ok(theirs) = of_cross_entropy(trainer, valid) else { return Ok(None) };
        let Comparison { difference, interval, .. } = Metrics::compare([&ours, &theirs], valid.truth(), figure)?;
        let Some(ends) = interval.map(|ends| [ends.low, ends.high]).filter(|ends| ends[1] < 0.0) else {
            return Ok(None);
        };
        let metric = match (best.metric(), config.fpr) {
            ("pauc", (low, high)) => format!("pauc {low}:{high}"),
            (metric, _) => metric.to_string(),
        };
        Ok(Some(Self { metric, linear: config.model == ModelSpec::Linear, difference, ends }))
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let Self { metric, linear, difference, ends: [low, high] } = self;
        let (than, with) = if *linear { ("", "") } else { (" with a linear model", " with this model, or linear") };
        format!(
            "on the validation rows the model is behind cross-entropy{than} by {:.4} in {metric}, 95 % interval [{:.4}, {:.4}]; \
             try --method ce{with}, or `undercurve compare` on all rows",
            -difference, -high, -low
        )
    }

    /// For programs.
    pub fn object(&self) -> Value {
        json!({"metric": self.metric, "part": "validation", "difference": self.difference, "interval": self.ends})
    }
}

/// Scores by a linear model that cross-entropy has fitted to a run's training rows, of which it has drawn no more than the run.
fn of_cross_entropy<T: Real>(run: &Trainer<T>, rows: &Dataset<T>) -> Result<Vec<T>> {
    let of = run.config();
    let (seed, class_weights) = (of.seed, of.class_weights.clone());
    let config = Config { method: SAME[0].to_string(), seed, class_weights, ..Config::default() };
    let mut linear = Trainer::new(&config, run.train_data().clone(), None)?;
    linear.step()?;
    if linear.pass() * linear.total_steps() as f64 > run.pass() {
        let length = Length::Passes(run.pass());
        linear = Trainer::new(&Config { length, ..config }, run.train_data().clone(), None)?;
    }
    while linear.step()?.is_some() {}
    scores(&mut linear.predictor(), rows)
}
