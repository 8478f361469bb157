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
//! unbiased for the ranks in the whole data: (n₊−1)/(b₊−1) and n₋/b₋. Cost O(b₊b). Scratch: 8 values a row
//! at most (2 a row and 6 a positive).

use super::auc_pairwise::both_classes;
use super::{Estimator, Grad, Link, Weights, commit, finite, rank_weights};
use crate::batch::{Batch, Shape};
use crate::error::Result;
use crate::pairs::brute;
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{Sigmoid, Surrogate};

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

/// Scratch of one batch, cut into its parts; all but `h` and `out` have one value for each positive.
struct Parts<'a, T> {
    h: &'a mut [T],
    out: &'a mut [T],
    low: &'a mut [T],
    low_slopes: &'a mut [T],
    high: &'a mut [T],
    high_slopes: &'a mut [T],
    kappa_low: &'a mut [T],
    kappa_high: &'a mut [T],
}

impl<'a, T: Real> Parts<'a, T> {
    fn cut(memory: &'a mut [T], rows: usize, count: usize) -> Self {
        let (h, memory) = memory.split_at_mut(rows);
        let (out, memory) = memory.split_at_mut(rows);
        let (low, memory) = memory.split_at_mut(count);
        let (low_slopes, memory) = memory.split_at_mut(count);
        let (high, memory) = memory.split_at_mut(count);
        let (high_slopes, memory) = memory.split_at_mut(count);
        let (kappa_low, memory) = memory.split_at_mut(count);
        Self { h, out, low, low_slopes, high, high_slopes, kappa_low, kappa_high: &mut memory[..count] }
    }
}

impl<T: Real> SmoothAp<T> {
    /// F, the link scores, their pair sums and the κ of each positive.
    fn evaluate(&self, batch: &Batch<'_, T>, parts: &mut Parts<'_, T>) -> Result<f64> {
        let [wl, wh] = rank_weights(self.weights, batch).map(T::of);
        self.link.apply(batch.scores(), parts.h);
        let (low, high) = parts.h.split_at(batch.starts()[1] as usize);
        brute::row_sums(self.step, high, low, parts.low, parts.low_slopes)?;
        brute::row_sums(self.step, high, high, parts.high, parts.high_slopes)?;
        let count = high.len();
        let scale = T::of(1.0 / count as f64);
        let mut sum = 0.0;
        for i in 0..count {
            let own = T::ONE + wh * (parts.high[i] - self.step.value(T::ZERO));
            let all = own + wl * parts.low[i];
            let (ratio, over) = (own / all, scale / all);
            sum += ratio.f64();
            parts.kappa_high[i] = wh * over * (ratio - T::ONE);
            parts.kappa_low[i] = wl * over * ratio;
        }
        finite("average precision loss", 1.0 - sum / count as f64)
    }
}

impl<T: Real> Estimator<T> for SmoothAp<T> {
    fn need(&self, shape: Shape) -> Need {
        Need { real: 8 * shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        let (_, high) = both_classes(batch)?;
        scratch.check(self.need(batch.shape()))?;
        self.evaluate(batch, &mut Parts::cut(scratch.real, batch.scores().len(), high.len()))
    }

    fn update(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        let (low, high) = both_classes(batch)?;
        scratch.check(self.need(batch.shape()))?;
        let mut parts = Parts::cut(scratch.real, batch.scores().len(), high.len());
        let value = self.evaluate(batch, &mut parts)?;
        let (low_h, high_h) = parts.h.split_at(low.len());
        let (out_low, out_high) = parts.out.split_at_mut(low.len());
        out_low.fill(T::ZERO);
        for (i, c) in out_high.iter_mut().enumerate() {
            *c = parts.kappa_low[i] * parts.low_slopes[i] + parts.kappa_high[i] * parts.high_slopes[i];
        }
        // The pair (i, i) was added above and is taken away here.
        brute::add_slopes(self.step, high_h, parts.kappa_low, low_h, out_low)?;
        brute::add_slopes(self.step, high_h, parts.kappa_high, high_h, out_high)?;
        self.link.chain(parts.h, parts.out);
        commit(parts.out, grad.scores)?;
        Ok(value)
    }
}
