//! Focal loss: cross-entropy that gives less weight to examples already told apart.
//!
//! Source: Lin, Goyal, Girshick, He and Dollár 2017, "Focal Loss for Dense Object Detection", equation (4).
//!
//! With z = s for positives and −s for negatives, p = σ(z) the probability given to the true class:
//!
//! ```text
//! ℓ = −(1 − p)^γ ln p             ∂ℓ/∂z = −(1 − p)^γ (γ p (−ln p) + 1 − p)
//! ```
//!
//! γ = 0 is cross-entropy. (1 − p)^γ is computed as e^(−γ softplus(z)), so no score saturates it. Accepts batches of one
//! class. Cost O(rows). Scratch: 1 value a row.

use super::{Estimator, Grad, Weights, class_weights, commit, finite};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH, BATCH_STEPS, BETA1, BETA2, DECAY, EPS, NEGATIVES, POSITIVES, PRETRAIN, PRETRAIN_LR, RESTART, SAMPLING,
    SCHEDULE, WEIGHTS, adam_lr, number, with_first_order,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// Focal loss.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Focal, Weights};
///
/// let scores = [-(9.0f64.ln()), 9.0f64.ln()]; // a negative and a positive, each given its class with p = 0.9
/// let batch = Batch::new(&scores, 1, &[0, 1, 2], &[1, 1], Drawn::All)?;
/// let scratch = Scratch { real: &mut [0.0; 2], ..Scratch::default() }; // as `need` says, or more
/// let value: f64 = Focal::new(2.0, Weights::Unbiased)?.value(&batch, &[], scratch)?;
/// assert!((value - 0.1 * 0.1 * -(0.9f64.ln())).abs() < 1e-12); // a hundredth of the cross-entropy
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Focal {
    focus: f64,
    weights: Weights,
}

impl Focal {
    /// With the exponent γ (finite, ≥ 0) and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(focus: f64, weights: Weights) -> Result<Self> {
        if focus >= 0.0 && focus.is_finite() {
            Ok(Self { focus, weights })
        } else {
            Err(Error::Param { what: "focus" })
        }
    }

    /// ℓ and ∂ℓ/∂z.
    fn of<T: Real>(&self, z: T) -> (T, T) {
        let focus = T::of(self.focus);
        let loss = (-z).softplus().settled(); // −ln p
        let modulation = (-(focus * z.softplus())).fading_exp().settled();
        (modulation * loss, -(modulation * (focus * z.sigmoid() * loss + (-z).sigmoid()).settled()))
    }
}

impl<T: Real> Estimator<T> for Focal {
    /// The weight of a negative and of a positive; 0; γ.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        batch.binary().ok()?;
        let [low, high] = class_weights(self.weights, batch);
        Some(Recipe::new("focal", &[low, high, 0.0, self.focus]))
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], _: Scratch<'_, T>) -> Result<f64> {
        let (low, high) = batch.binary()?;
        if batch.shape().rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        let [wl, wh] = class_weights(self.weights, batch);
        let negatives: f64 = low.iter().map(|&s| self.of(-s).0.f64()).sum();
        let positives: f64 = high.iter().map(|&s| self.of(s).0.f64()).sum();
        finite("focal loss", wl * negatives + wh * positives)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        let (low, high) = batch.binary()?;
        if batch.shape().rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let [wl, wh] = class_weights(self.weights, batch);
        let out = &mut scratch.real[..batch.scores().len()];
        let (out_low, out_high) = out.split_at_mut(low.len());
        let (mut negatives, mut positives) = (0.0, 0.0);
        for (c, &s) in out_low.iter_mut().zip(low) {
            let (value, slope) = self.of(-s);
            *c = -(T::of(wl) * slope);
            negatives += value.f64();
        }
        for (c, &s) in out_high.iter_mut().zip(high) {
            let (value, slope) = self.of(s);
            *c = T::of(wh) * slope;
            positives += value.f64();
        }
        let value = finite("focal loss", wl * negatives + wh * positives)?;
        commit(out, grad.scores)?;
        Ok(value)
    }
}

impl Focal {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(settings.value("focus"), Weights::from_settings(settings))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "focal",
    title: "Focal loss",
    about: "Minimises a cross-entropy that gives less weight to examples already told apart.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: with_first_order!(0.05, 0.003, number("focus", "2", 0.0, 100.0, "exponent of the weight")),
    paper: &[],
    source: Source {
        paper: "Lin, Goyal, Girshick, He, Dollar 2017, Focal Loss for Dense Object Detection",
        part: "equation (4)",
    },
    files: &["core/src/estimator/focal.rs"],
};
