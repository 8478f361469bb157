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

use super::auc_pairwise::both_classes;
use super::{Estimator, Grad, Link, Weights, commit, finite, rank_weights};
use crate::batch::{Batch, Shape};
use crate::error::Result;
use crate::pairs::kept::{self, Kept};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Sigmoid, Surrogate as _, kernel};

/// Smooth-AP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothAp<T> {
    step: Sigmoid<T>,
    link: Link,
    weights: Weights,
}

impl<T: Real> SmoothAp<T> {
    /// With the temperature τ (> 0) in units of h, the link, and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param` when τ or 1/τ is not a positive number.
    pub fn new(temperature: T, link: Link, weights: Weights) -> Result<Self> {
        let step = Sigmoid::new(T::ONE / temperature).map_err(|_| crate::Error::Param { what: "temperature" })?;
        Ok(Self { step, link, weights })
    }
}

impl<T: Real> SmoothAp<T> {
    /// F, and its gradient where one is asked for.
    fn evaluate(&self, batch: &Batch<'_, T>, scratch: Scratch<'_, T>, grad: Option<&mut [T]>) -> Result<f64> {
        let (low, high) = both_classes(batch)?;
        scratch.check(self.need(batch.shape()))?;
        let [wl, wh] = rank_weights(self.weights, batch).map(T::of);
        let rows = batch.scores().len();
        let (h, memory) = scratch.real.split_at_mut(rows);
        let (out, memory) = memory.split_at_mut(rows);
        self.link.apply(batch.scores(), h);
        out.fill(T::ZERO);
        let step = AnySurrogate::Sigmoid(self.step);
        let mut kept = kernel!(step, loss => Kept::new(loss, h, low.len(), memory));
        let scale = T::of(1.0 / high.len() as f64);
        let mut sum = 0.0;
        for (block, high) in high.chunks(kept::BLOCK).enumerate() {
            let (from, count) = (block * kept::BLOCK, high.len());
            let [of_low, of_high] = kernel!(step, loss => kept.sums(loss, from, count));
            let (mut kappa_low, mut kappa_high) = ([T::ZERO; kept::BLOCK], [T::ZERO; kept::BLOCK]);
            for i in 0..count {
                let own = T::ONE + wh * (of_high.values[i] - self.step.value(T::ZERO)).settled();
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

impl<T: Real> Estimator<T> for SmoothAp<T> {
    fn link(&self) -> Link {
        self.link
    }
    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows + kept::need(shape.rows), ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.evaluate(batch, scratch, None)
    }

    fn update(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.evaluate(batch, scratch, Some(grad.scores))
    }
}
