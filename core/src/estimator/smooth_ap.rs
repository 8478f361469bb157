//! Smooth-AP: the average precision of a batch with its indicators smoothed.
//!
//! Source: Brown, Xie, Kalogeiton and Zisserman 2020, "Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval",
//! equations (5) and (6).
//!
//! With ℓ(t) = σ(−t/τ), h the link of the raw score and ω the weight of the other positives and of the negatives:
//!
//! ```text
//! P_i = 1 + ω₊ Σ_{j∈+, j≠i} ℓ(h_i − h_j)      R_i = P_i + ω₋ Σ_{j∈−} ℓ(h_i − h_j)
//! F = 1 − mean_i P_i/R_i
//! κ_ij = −ω₊(R_i − P_i)/(b₊R_i²) for j∈+      κ_ij = ω₋P_i/(b₊R_i²) for j∈−
//! ```
//!
//! `Weights::AsDrawn` (ω = 1) is the paper's: the ranks are those in the batch. `Weights::Unbiased` makes P_i and R_i
//! unbiased for the ranks in the whole data: (n₊−1)/(b₊−1) and n₋/b₋. Cost O(b₊b). Scratch: 11 values a row.

use super::{Estimator, Grad, Link, Weights, both_classes, commit, finite, rank_weights};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::pairs::keep_slopes::{self, Kept};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH, BETA1, BETA2, BIG, DECAY_TO, EPS, FROM_CE, FROM_CE_STEPS, NEGATIVES, NO_RESTART, POSITIVES, PRETRAIN_LR,
    SAMPLING, SCHEDULE, TINY, WEIGHTS, adam_lr, from_cross_entropy, link, number, pull,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Sigmoid, Surrogate as _, kernel};

/// Smooth-AP.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, Link, SmoothAp, Weights};
///
/// let scores = [0.0, 1.0, 0.5]; // two negatives, one of them above the positive: an AP of ½
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?;
/// let loss = SmoothAp::new(0.01, Link::Identity, Weights::AsDrawn)?;
/// let mut real = vec![0.0; Estimator::<f64>::need(&loss, batch.shape()).real];
/// let scratch = Scratch { real: &mut real, ..Scratch::default() };
/// let mut grad = [0.0; 3];
/// let value: f64 = loss.update(&batch, &[], &mut [], scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// assert!((value - 0.5).abs() < 1e-12);
/// assert!(grad.iter().sum::<f64>().abs() < 1e-12); // a shift of all scores changes nothing
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothAp {
    temperature: f64,
    link: Link,
    weights: Weights,
}

impl SmoothAp {
    /// With the temperature τ (> 0) in units of h, the link, and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param` when τ or 1/τ is not a positive number.
    pub fn new(temperature: f64, link: Link, weights: Weights) -> Result<Self> {
        Sigmoid::new(1.0 / temperature).map_err(|_| Error::Param { what: "temperature" })?;
        Ok(Self { temperature, link, weights })
    }

    /// F, and its gradient where one is asked for.
    fn evaluate<T: Real>(&self, batch: &Batch<'_, T>, scratch: Scratch<'_, T>, grad: Option<&mut [T]>) -> Result<f64> {
        let (low, high) = both_classes(batch)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let [wl, wh] = rank_weights(self.weights, batch).map(T::of);
        let rows = batch.scores().len();
        let (h, memory) = scratch.real.split_at_mut(rows);
        let (out, memory) = memory.split_at_mut(rows);
        self.link.apply(batch.scores(), h);
        out.fill(T::ZERO);
        // Of a temperature past the number type's range there is no such loss.
        let step = Sigmoid::new(T::ONE / T::of(self.temperature)).map_err(|_| Error::Param { what: "temperature" })?;
        let own_value = step.value(T::ZERO);
        let step = AnySurrogate::Sigmoid(step);
        let mut kept = kernel!(step, loss => Kept::new(loss, h, low.len(), memory));
        let scale = T::of(1.0 / high.len() as f64);
        let mut sum = 0.0;
        for (block, high) in high.chunks(keep_slopes::BLOCK).enumerate() {
            let (from, count) = (block * keep_slopes::BLOCK, high.len());
            let [of_low, of_high] = kernel!(step, loss => kept.sums(loss, from, count));
            let (mut kappa_low, mut kappa_high) = ([T::ZERO; keep_slopes::BLOCK], [T::ZERO; keep_slopes::BLOCK]);
            for i in 0..count {
                let own = T::ONE + wh * (of_high.values[i] - own_value).settled();
                let all = own + wl * of_low.values[i].settled();
                let (ratio, over) = (own / all, scale / all);
                sum += ratio.f64();
                kappa_high[i] = (wh * over * (ratio - T::ONE)).settled();
                kappa_low[i] = (wl * over * ratio).settled();
                out[low.len() + from + i] += kappa_low[i] * of_low.slopes[i] + kappa_high[i] * of_high.slopes[i];
            }
            // The pair (i, i) was added above and is taken away here.
            kept.subtract(from, &kappa_low[..count], &kappa_high[..count], out);
        }
        kept.finish(out);
        let value = finite("average precision loss", 1.0 - sum / high.len() as f64)?;
        if let Some(grad) = grad {
            self.link.chain(h, out);
            commit(out, grad)?;
        }
        Ok(value)
    }
}

impl<T: Real> Estimator<T> for SmoothAp {
    /// Whether weights are unbiased; negatives and positives of the data, in units of a positive.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        both_classes(batch).ok()?;
        let positives = f64::from(batch.population()[1]);
        let negatives = batch.mass(0) / (batch.mass(1) / positives);
        let unbiased = f64::from(u8::from(self.weights == Weights::Unbiased));
        let loss = AnySurrogate::by_name("sigmoid", 1.0 / self.temperature).ok()?;
        Some(Recipe::new("smooth-ap", &[unbiased, negatives, positives]).with_surrogate(loss))
    }

    fn link(&self) -> Link {
        self.link
    }
    fn values_all_pairs(&self) -> bool {
        true
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows + keep_slopes::need(shape.rows), ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.evaluate(batch, scratch, None)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.evaluate(batch, scratch, Some(grad.scores))
    }
}

impl SmoothAp {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let (link, weights) = (Link::from_settings(settings), Weights::from_settings(settings));
        Self::new(settings.value("temperature"), link, weights)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "smooth-ap",
    title: "Smooth-AP",
    about: "Maximises a smoothed average precision of the batch.",
    kind: Kind::Batches,
    metric: Metric::Ap,
    params: from_cross_entropy!(
        0.02,
        0.0003,
        number("temperature", "0.01", TINY, BIG, "of the sigmoid that stands for the indicator"),
        link("sigmoid")
    ),
    paper: &[("weights", "as-drawn"), ("decay-to", "zero"), ("pretrain", "0")],
    source: Source {
        paper: "Brown, Xie, Kalogeiton, Zisserman 2020, Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval",
        part: "equations (5), (6)",
    },
    files: &["core/src/estimator/smooth_ap.rs", "core/src/pairs/keep_slopes.rs"],
};
