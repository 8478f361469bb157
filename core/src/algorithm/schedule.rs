//! Learning rates over the steps.

use crate::error::{Error, Result};
use crate::registry::settings::Settings;

/// How the rate falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// lr at every step.
    Constant,
    /// lr·(1 − t/total): 0 would be reached at t = total.
    Linear,
    /// lr·½(1 + cos(π t/total)).
    Cosine,
    /// A tenth from half of the steps on, a hundredth from three quarters on.
    Steps,
}

/// A learning rate for every step t = 0, 1, ….
///
/// ```
/// use undercurve::algorithm::{Schedule, ScheduleShape};
///
/// let rate = Schedule::new(0.1, ScheduleShape::Linear, 100);
/// assert_eq!((rate.at(0), rate.at(50)), (0.1, 0.05));
/// assert_eq!(rate.at(1000), rate.at(99)); // it stays at its last value, which is not 0
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    lr: f64,
    shape: Shape,
    total: u64,
}

impl Schedule {
    /// The same rate always.
    #[must_use]
    pub fn constant(lr: f64) -> Self {
        Self { lr, shape: Shape::Constant, total: 0 }
    }

    /// A rate that falls over `total` steps and stays at its last value after them.
    #[must_use]
    pub fn new(lr: f64, shape: Shape, total: u64) -> Self {
        Self { lr, shape, total }
    }

    /// The same fall from another rate.
    pub(super) fn with_rate(self, lr: f64) -> Self {
        Self { lr, ..self }
    }

    /// Finite rate ≥ 0.
    pub(super) fn check(self) -> Result<Self> {
        if self.lr.is_finite() && self.lr >= 0.0 { Ok(self) } else { Err(Error::Param { what: "lr" }) }
    }

    /// The rate of step `t`.
    #[must_use]
    pub fn at(&self, t: u64) -> f64 {
        let total = self.total.max(1);
        let done = t.min(total - 1) as f64 / total as f64;
        let factor = match self.shape {
            Shape::Constant => 1.0,
            Shape::Linear => 1.0 - done,
            Shape::Cosine => 0.5 * (1.0 + libm::cos(core::f64::consts::PI * done)),
            Shape::Steps if done >= 0.75 => 0.01,
            Shape::Steps if done >= 0.5 => 0.1,
            Shape::Steps => 1.0,
        };
        self.lr * factor
    }
}

/// Every shape by its name.
const SHAPES: [(&str, Shape); 4] =
    [("constant", Shape::Constant), ("linear", Shape::Linear), ("cosine", Shape::Cosine), ("steps", Shape::Steps)];

impl Schedule {
    /// Of settings, over the run's steps.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::over(settings, settings.scope().steps)
    }
    /// Of settings, over so many steps.
    pub(super) fn over(settings: &Settings<'_>, steps: u64) -> Result<Self> {
        let name = settings.word("schedule")?;
        let (_, shape) = SHAPES.iter().find(|shape| shape.0 == name).ok_or(Error::Param { what: "schedule" })?;
        Ok(Self::new(settings.value("lr"), *shape, steps))
    }
}
