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

use super::Estimator;
use crate::batch::Batch;
use crate::error::Result;
use crate::real::Real;
use crate::surrogate::AnySurrogate;

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
