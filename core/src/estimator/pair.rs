//! The seam inside an objective of pairs: sums, weights, slopes.
//!
//! ```text
//! sums      S⁻_i = Σ_{j∈−} ℓ(h_i − h_j),  S⁺_i = Σ_{j∈+} ℓ(h_i − h_j)        for each positive i of the batch
//! weights   κ⁻_i, κ⁺_i and the new state of i, from S⁻_i, S⁺_i and the state   (the objective's own)
//! slopes    c_i += κ_ij ℓ'(h_i − h_j),  c_j −= κ_ij ℓ'(h_i − h_j)             then times h'(s)
//! ```
//!
//! Whoever sweeps the pairs elsewhere meets the objective here: a GPU computes sums and slopes and leaves the weights to the
//! core; several machines add their sums before the weights are made.

use super::{AucPairwise, Estimator, Soap};
use crate::batch::Batch;
use crate::error::{Result, exact_len};
use crate::real::Real;
use crate::surrogate::{AnySurrogate, Loss};

/// Sums over the pairs of each positive of a batch, in its order.
#[derive(Clone, Copy, Debug)]
pub struct PairSums<'a, T> {
    /// Σ ℓ(h_i − h_j) over the negatives.
    pub low: &'a [T],
    /// Σ ℓ(h_i − h_j) over the positives, j = i included.
    pub high: &'a [T],
}

/// What becomes of the sums, for each positive of a batch.
#[derive(Debug)]
pub struct PairWeights<'a, T> {
    /// Its new state, [`PairEstimator::width`] numbers each. The caller copies it to the batch's slots when its step
    /// succeeds.
    pub state: &'a mut [T],
    /// κ of its pairs with negatives.
    pub low: &'a mut [T],
    /// κ of its pairs with other positives.
    pub high: &'a mut [T],
}

/// An objective of pairs, cut in three.
pub trait PairEstimator<T: Real>: Estimator<T> {
    /// ℓ.
    fn loss(&self) -> AnySurrogate<T>;
    /// Numbers of state of a positive.
    fn width(&self) -> usize;
    /// From the sums to the weights; the estimate. `state` is that of all positives of the data, read only. O(b₊).
    ///
    /// # Errors
    /// As [`Estimator::gradient`], `Length`. Only `Overflow` leaves something in `out`, which then means nothing.
    fn weigh(&self, batch: &Batch<'_, T>, sums: PairSums<'_, T>, state: &[T], out: PairWeights<'_, T>) -> Result<f64>;
}

impl<T: Real, L: Loss> PairEstimator<T> for Soap<L> {
    fn loss(&self) -> AnySurrogate<T> {
        self.surrogate()
    }
    fn width(&self) -> usize {
        2
    }
    fn weigh(&self, batch: &Batch<'_, T>, sums: PairSums<'_, T>, state: &[T], out: PairWeights<'_, T>) -> Result<f64> {
        Soap::weigh(self, batch, sums, state, out)
    }
}

impl<T: Real, L: Loss> PairEstimator<T> for AucPairwise<L> {
    fn loss(&self) -> AnySurrogate<T> {
        self.surrogate()
    }
    fn width(&self) -> usize {
        0
    }
    fn weigh(&self, batch: &Batch<'_, T>, sums: PairSums<'_, T>, _: &[T], out: PairWeights<'_, T>) -> Result<f64> {
        let (low, high) = super::both_classes(batch)?;
        for (what, got) in
            [("sums.low", sums.low.len()), ("weights.low", out.low.len()), ("weights.high", out.high.len())]
        {
            exact_len(what, high.len(), got)?;
        }
        let pairs = low.len() as f64 * high.len() as f64;
        out.low.fill(T::of(1.0 / pairs));
        out.high.fill(T::ZERO);
        super::finite("pairwise loss", sums.low.iter().map(|sum| sum.f64()).sum::<f64>() / pairs)
    }
}
