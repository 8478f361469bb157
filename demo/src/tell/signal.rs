//! Whether a run has found anything: the 95 % interval of the AUROC against ½.
//!
//! On the rows that the model has seen least of: the test rows, else the validation rows, else the training rows. Where a model
//! has learned its rows by heart the interval on them says nothing, and so does this: it is silent.

use crate::error::Result;
use crate::tell::scores;
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::data::Targets;
use undercurve::metric::{Estimate, Metrics};
use undercurve::trainer::{Best, Predictor, Trainer};

/// An interval that does not lie above ½.
pub struct NoSignal {
    part: &'static str,
    auroc: f64,
    ends: [f64; 2],
}

impl NoSignal {
    /// Of a run's model; `None` where there is signal, or nobody can tell.
    pub fn of<T: Real>(trainer: &Trainer<T>, best: Option<&Best<T>>, model: &mut Predictor<T>) -> Result<Option<Self>> {
        let (part, rows) = match (trainer.test_data(), best) {
            (Some(test), _) => ("test", test),
            (None, Some(best)) => ("validation", Best::valid_data(best)),
            (None, None) => ("training", trainer.train_data()),
        };
        if !matches!(rows.targets(), Targets::Binary(_)) {
            return Ok(None);
        }
        let scores = scores(model, rows)?;
        let mut memory = Metrics::new();
        let Some(ends) = memory.interval(&scores, rows.truth(), Estimate::AUROC)? else { return Ok(None) };
        if ends.low > 0.5 {
            return Ok(None);
        }
        let auroc = memory.auroc(&scores, &rows.truth())?;
        Ok(Some(Self { part, auroc, ends: [ends.low, ends.high] }))
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let ([low, high], part) = (self.ends, self.part);
        let where_to = if high < 0.5 { "lies below" } else { "holds" };
        format!("No signal found: the 95 % interval of AUROC on the {part} rows, [{low:.4}, {high:.4}], {where_to} 0.5")
    }

    /// For programs.
    pub fn object(&self) -> Value {
        json!({"part": self.part, "auroc": self.auroc, "interval": self.ends})
    }
}
