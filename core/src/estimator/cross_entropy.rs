//! Cross-entropy of raw scores: ℓ = ln(1 + e^(−s)) for positives, ln(1 + e^s) for negatives; c = σ(s) − y.
//!
//! The objective is Σ_c w_c · (mean of ℓ over class c). Plain cross-entropy has w_c = n_c/n, the balanced one w_c = ½
//! ("class-weighted" in the AUPRC papers). Accepts batches of one class. Cost O(rows). Memory: rows values of scratch.

use super::{Estimator, Grad, Weights, class_weights, commit, finite};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH, BATCH_STEPS, BETA1, BETA2, DECAY, EPS, NEGATIVES, POSITIVES, Param, SAMPLING, SCHEDULE, WEIGHTS, adam_lr,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// How classes weigh in the cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClassWeights {
    /// By their number of examples.
    Plain,
    /// Equally.
    Balanced,
}

/// Cross-entropy.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{ClassWeights, CrossEntropy, Estimator, Grad, Weights};
///
/// let scores = [0.0; 4]; // three negatives, then a positive
/// let batch = Batch::new(&scores, 1, &[0, 3, 4], &[3, 1], Drawn::All)?;
/// for (classes, expected) in [
///     (ClassWeights::Plain, [0.125, 0.125, 0.125, -0.125]), // (σ(0) − y)/4: the negatives win
///     (ClassWeights::Balanced, [1.0 / 12.0, 1.0 / 12.0, 1.0 / 12.0, -0.25]), // each class weighs ½
/// ] {
///     let scratch = Scratch { real: &mut [0.0; 4], ..Scratch::default() }; // as `need` says, or more
///     let mut grad = [0.0f64; 4];
///     let loss = CrossEntropy::new(classes, Weights::Unbiased);
///     let value = loss.update(&batch, &[], &mut [], scratch, Grad { scores: &mut grad, aux: &mut [] })?;
///     assert!((value - 2.0f64.ln()).abs() < 1e-12);
///     assert!(grad.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-12));
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossEntropy {
    classes: ClassWeights,
    weights: Weights,
}

/// The plain one; a drawn row weighs what rows of its class do in the data.
impl Default for CrossEntropy {
    fn default() -> Self {
        Self::new(ClassWeights::Plain, Weights::Unbiased)
    }
}

impl CrossEntropy {
    /// With its class weights, and the weights of a batch's examples.
    #[must_use]
    pub fn new(classes: ClassWeights, weights: Weights) -> Self {
        Self { classes, weights }
    }

    /// Weight of each negative and each positive of the batch.
    fn row_weights<T: Real>(&self, batch: &Batch<'_, T>) -> Result<[T; 2]> {
        batch.binary()?;
        if batch.shape().rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        let mut w = class_weights(self.weights, batch);
        if self.classes == ClassWeights::Balanced {
            let [negatives, positives] = [batch.mass(0), batch.mass(1)];
            if negatives == 0.0 || positives == 0.0 {
                return Err(Error::OneClass);
            }
            let all = negatives + positives;
            w = [w[0] * all / (2.0 * negatives), w[1] * all / (2.0 * positives)];
        }
        Ok(w.map(T::of))
    }
}

/// Value and gradient of the cross-entropy with a weight for each negative and each positive of a binary batch.
pub(super) fn weighted<T: Real>(
    batch: &Batch<'_, T>,
    [wl, wh]: [T; 2],
    scratch: Scratch<'_, T>,
    grad: Grad<'_, T>,
) -> Result<f64> {
    let (low, high) = batch.binary()?;
    scratch.check(Need { real: batch.shape().rows, ..Need::NONE })?;
    let out = &mut scratch.real[..low.len() + high.len()];
    let (out_low, out_high) = out.split_at_mut(low.len());
    let (mut negatives, mut positives) = (0.0, 0.0);
    for (c, &s) in out_low.iter_mut().zip(low) {
        *c = wl * s.sigmoid().settled();
        negatives += s.softplus().f64();
    }
    for (c, &s) in out_high.iter_mut().zip(high) {
        *c = -(wh * (-s).sigmoid().settled());
        positives += (-s).softplus().f64();
    }
    let value = finite("cross-entropy", wl.f64() * negatives + wh.f64() * positives)?;
    commit(out, grad.scores)?;
    Ok(value)
}

impl<T: Real> Estimator<T> for CrossEntropy {
    /// The weight of a negative and of a positive.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let [low, high] = self.row_weights(batch).ok()?;
        Some(Recipe::new("cross-entropy", &[low.f64(), high.f64()]))
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], _: Scratch<'_, T>) -> Result<f64> {
        let (low, high) = batch.binary()?;
        let [wl, wh] = self.row_weights(batch)?;
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
        batch.binary()?;
        weighted(batch, self.row_weights(batch)?, scratch, grad)
    }
}

impl CrossEntropy {
    /// Plain, of settings.
    pub(crate) fn plain(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::new(ClassWeights::Plain, Weights::from_settings(settings)))
    }
    /// Balanced, of settings.
    pub(crate) fn balanced(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::new(ClassWeights::Balanced, Weights::from_settings(settings)))
    }
}

/// Parameters of plain and balanced cross-entropy.
const CE: &[Param] = &[
    BATCH_STEPS,
    optimizer("adam"),
    adam_lr(0.05, 0.003, 20_000),
    SCHEDULE,
    SAMPLING,
    POSITIVES,
    NEGATIVES,
    BATCH,
    WEIGHTS,
    BETA1,
    BETA2,
    EPS,
    DECAY,
];

/// Its entry in the table of methods.
pub(crate) const PLAIN: Entry = Entry {
    name: "ce",
    title: "Cross-entropy",
    about: "Minimises the mean cross-entropy (logistic regression, for a linear model).",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: CE,
    paper: &[],
    source: Source {
        paper: "Cox 1958, The Regression Analysis of Binary Sequences",
        part: "the likelihood of the logistic model",
    },
    files: &["core/src/estimator/cross_entropy.rs"],
};

/// Its entry in the table of methods.
pub(crate) const BALANCED: Entry = Entry {
    name: "ce-balanced",
    title: "Balanced cross-entropy",
    about: "Minimises the mean of the two classes' mean cross-entropies.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: CE,
    paper: &[],
    source: Source {
        paper: "King, Zeng 2001, Logistic Regression in Rare Events Data",
        part: "weighting, equation (8), with a target share of one half",
    },
    files: &["core/src/estimator/cross_entropy.rs"],
};
