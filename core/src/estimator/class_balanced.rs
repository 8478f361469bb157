//! Class-balanced cross-entropy: classes weighted by the inverse of their effective number of examples.
//!
//! Source: Cui, Jia, Lin, Song and Belongie 2019, "Class-Balanced Loss Based on Effective Number of Samples",
//! equations (4) and (8).
//!
//! w_y = (1 − β)/(1 − β^n_y), scaled so that both weights sum to 2 (the paper's normalisation); F = 1/n Σ w_y ℓ with ℓ the
//! cross-entropy of the raw score. β = 0 is plain cross-entropy, β → 1 weighs by the inverse of the counts. Accepts
//! batches of one class, but both classes must exist in the data. Cost O(rows). Scratch: 1 value a row.

use super::cross_entropy::weighted;
use super::{Estimator, Grad, Weights, class_weights, finite};
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

/// The weights of the negatives and the positives for their counts in the data (sums of weights, where rows have some), summing
/// to 2.
///
/// # Errors
/// `OneClass` when a count is 0.
pub(super) fn effective_weights(beta: f64, masses: [f64; 2]) -> Result<[f64; 2]> {
    if masses.contains(&0.0) {
        return Err(Error::OneClass);
    }
    // 1 − βⁿ without cancellation; for β = 0 it is 1.
    let inverse = |count: f64| match beta == 0.0 {
        true => 1.0,
        false => (1.0 - beta) / -libm::expm1(count * libm::log(beta)),
    };
    let [low, high] = masses.map(inverse);
    Ok([2.0 * low / (low + high), 2.0 * high / (low + high)])
}

/// Class-balanced cross-entropy.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{ClassBalanced, Estimator, Grad, Weights};
///
/// let scores = [0.0; 2]; // a negative of 1000, and a positive of 10
/// let batch = Batch::new(&scores, 1, &[0, 1, 2], &[1000, 10], Drawn::Stratified)?;
/// let mut grad = [0.0; 2];
/// let scratch = Scratch { real: &mut [0.0; 2], ..Scratch::default() }; // as `need` says, or more
/// let out = Grad { scores: &mut grad, aux: &mut [] };
/// ClassBalanced::new(0.99, Weights::AsDrawn)?.update(&batch, &[], &mut [], scratch, out)?;
/// // Effective numbers (1 − βⁿ)/(1 − β): 100 negatives and 9.6 positives.
/// let ratio = (1.0 - 0.99f64.powi(1000)) / (1.0 - 0.99f64.powi(10));
/// assert!((-grad[1] / grad[0] - ratio).abs() < 1e-9);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassBalanced {
    beta: f64,
    weights: Weights,
}

impl ClassBalanced {
    /// With β in [0, 1) and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(beta: f64, weights: Weights) -> Result<Self> {
        if (0.0..1.0).contains(&beta) { Ok(Self { beta, weights }) } else { Err(Error::Param { what: "beta" }) }
    }

    fn row_weights<T: Real>(&self, batch: &Batch<'_, T>) -> Result<[T; 2]> {
        batch.binary()?;
        if batch.shape().rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        let [low, high] = effective_weights(self.beta, [batch.mass(0), batch.mass(1)])?;
        let [wl, wh] = class_weights(self.weights, batch);
        Ok([T::of(wl * low), T::of(wh * high)])
    }
}

impl<T: Real> Estimator<T> for ClassBalanced {
    /// As cross-entropy's.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let [low, high] = self.row_weights(batch).ok()?;
        Some(Recipe::new("cross-entropy", &[low.f64(), high.f64()]))
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], _: Scratch<'_, T>) -> Result<f64> {
        let [wl, wh] = self.row_weights(batch)?;
        let (low, high) = batch.binary()?;
        let negatives: f64 = low.iter().map(|&s| s.softplus().f64()).sum();
        let positives: f64 = high.iter().map(|&s| (-s).softplus().f64()).sum();
        finite("cross-entropy", wl.f64() * negatives + wh.f64() * positives)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        weighted(batch, self.row_weights(batch)?, scratch, grad)
    }
}

impl ClassBalanced {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(settings.value("beta"), Weights::from_settings(settings))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "cb-ce",
    title: "Class-balanced CE",
    about: "Minimises the cross-entropy with classes weighted by the inverse of their effective numbers.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: with_first_order!(
        0.05,
        0.003,
        number("beta", "0.999", 0.0, 0.999_999_999, "weights are (1-beta)/(1-beta^n)")
    ),
    paper: &[],
    source: Source {
        paper: "Cui, Jia, Lin, Song, Belongie 2019, Class-Balanced Loss Based on Effective Number of Samples",
        part: "equations (4), (8)",
    },
    files: &["core/src/estimator/class_balanced.rs"],
};
