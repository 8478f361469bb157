//! The partial AUC in a range as the difference of two sums of the largest losses, each in its dual form with one dual
//! variable for each positive: what AGD-SBCD and DCA draw from.
//!
//! Source: Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates", equations
//! (6), (12) and (13), algorithms 1, 2 and 4.
//!
//! ```text
//! F = f^n − f^m,   f^l = 1/(n₊n₋(β−α)) Σ_{i∈+} φ_l(S_i) = min_λ g^l,   m = αn₋,  n = βn₋,   S_i = {ℓ(h_i − h_j): j ∈ −}
//! g^l = 1/(n₊n₋(β−α)) Σ_{i∈+} (l λ_i + Σ_{j∈−} [ℓ(h_i − h_j) − λ_i]₊)
//! ```
//!
//! φ_l the sum of the l largest, h the link of the raw score. A batch of b₊ positives and b₋ negatives gives
//!
//! ```text
//! κ_ij = 1[ℓ(h_i − h_j) > λ_i] / (b₊b₋(β−α))          c_i += κ_ij ℓ'(h_i − h_j),   c_j −= κ_ij ℓ'(h_i − h_j)
//! λ_i ← λ_i − θ(l/n₋ − 1/b₋ Σ_j 1[ℓ(h_i − h_j) > λ_i])    for the positives of the batch
//! ```
//!
//! The mean of either over all batches is the exact subgradient of g^l. Deviations: the objective is divided by n₊n₋(β−α),
//! so that steps near 1 are sensible whatever the data and the range (θ here is the paper's times n₋); the mean λ̄ over the
//! steps of an inner problem is kept lazily, so that a batch costs what its own positives do.
//!
//! Term 0 is f^m and term 1 f^n. With α = 0 there is no f^m, and with β = 1 f^n is the sum of all losses and needs no λ.
//! State: a bank for each term, `[λ, λ̄ so far, steps that it holds]` for each positive of the data. Cost O(b₊b₋) a batch.
//! Scratch: 5 values and one `u64` a row.

use super::{Exact, Link, both_classes, commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::error::{Error, Result, exact_len};
use crate::pairs::brute;
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Surrogate, kernel};

/// Numbers of a bank for each positive of the data.
pub const DUAL: usize = 3;

/// What a batch does to the duals of its positives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// θ ≥ 0.
    pub rate: f64,
    /// Steps of the inner problem before this one.
    pub done: u64,
}

/// The two terms of the partial AUC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucDual {
    surrogate: AnySurrogate<f64>,
    link: Link,
    fpr: (f64, f64),
}

impl PaucDual {
    /// With the range, 0 ≤ α < β ≤ 1.
    ///
    /// # Errors
    /// `Param` (range), `Unsupported` (a surrogate that is not monotone).
    pub fn new(surrogate: AnySurrogate<f64>, link: Link, fpr: (f64, f64)) -> Result<Self> {
        Exact::pauc(surrogate, link, fpr)?;
        Ok(Self { surrogate, link, fpr })
    }

    /// Terms: f^m and f^n.
    #[must_use]
    pub fn terms(&self) -> usize {
        2
    }

    /// Whether a term is there at all: f^m is not where α = 0.
    #[must_use]
    pub fn has(&self, term: usize) -> bool {
        self.share(term) > 0.0
    }

    /// l/n₋ of a term.
    fn share(&self, term: usize) -> f64 {
        if term == 0 { self.fpr.0 } else { self.fpr.1 }
    }

    /// Elements of the bank of one term, for so many positives.
    #[must_use]
    pub fn bank_len(&self, positives: usize) -> usize {
        DUAL * positives
    }

    /// Working memory for a batch of this shape.
    #[must_use]
    pub fn need(&self, shape: Shape) -> Need {
        Need { real: (2 + DUAL) * shape.rows, u64: shape.rows, ..Need::NONE }
    }

    /// Sets a bank to the best λ of all positives: λ_i = ℓ(h_i − q) with q the ⌈l⌉-th highest negative, the same for all.
    /// `batch` is the whole data with the positives in the order of their slots. O(n log n).
    ///
    /// # Errors
    /// `OneClass`, `Unsupported` (a part of the data), `Length`, `Overflow`. The bank is then as before.
    pub fn start<T: Real>(
        &self,
        term: usize,
        batch: &Batch<'_, T>,
        bank: &mut [T],
        scratch: Scratch<'_, T>,
    ) -> Result<()> {
        let count = both_classes(batch)?.0.len();
        if batch.drawn() != Drawn::All {
            return Err(Error::Unsupported { what: "the best duals from a part of the data" });
        }
        scratch.check(self.need(batch.shape()))?;
        let h = &mut scratch.real[..batch.scores().len()];
        self.link.apply(batch.scores(), h);
        let (low, high) = h.split_at(count);
        exact_len("bank", self.bank_len(high.len()), bank.len())?;
        kernel!(self.surrogate.to::<T>(), loss => brute::check(loss, high, low)?);
        let keys = &mut scratch.u64[..count];
        keys.iter_mut().zip(low).for_each(|(key, h)| *key = h.key());
        crate::sort::ascending(keys);
        let rank = (libm::ceil(self.share(term) * count as f64) as usize).max(1).min(count);
        let threshold = T::of_key(keys[count - rank]);
        for (dual, &h) in bank.chunks_exact_mut(DUAL).zip(high) {
            dual.copy_from_slice(&[self.surrogate.to::<T>().value(h - threshold), T::ZERO, T::ZERO]);
        }
        Ok(())
    }

    /// The estimate of g^l of a term from a batch, and its gradient by raw score; with `track`, the batch's duals move,
    /// after they were used. A term that is not there is 0.
    ///
    /// # Errors
    /// `OneClass`, `Unsupported`, `Length` (slots, bank, scratch, gradient), `Index` (a slot past the bank), `Param` (a
    /// negative rate), `Overflow`. Bank and gradient are then as before.
    pub fn term<T: Real>(
        &self,
        term: usize,
        batch: &Batch<'_, T>,
        bank: &mut [T],
        track: Option<Track>,
        scratch: Scratch<'_, T>,
        grad: &mut [T],
    ) -> Result<f64> {
        let count = both_classes(batch)?.0.len();
        scratch.check(self.need(batch.shape()))?;
        let (h, rest) = scratch.real.split_at_mut(batch.scores().len());
        let (out, next) = rest.split_at_mut(h.len());
        self.link.apply(batch.scores(), h);
        let (low, high) = h.split_at(count);
        let slots = batch.slots();
        exact_len("slots", high.len(), slots.len())?;
        let len = bank.len() / DUAL;
        if let Some(at) = slots.iter().position(|&slot| slot as usize >= len) {
            return Err(Error::Index { what: "slots", at, len });
        }
        if track.is_some_and(|track| !(track.rate >= 0.0 && track.rate.is_finite())) {
            return Err(Error::Param { what: "theta" });
        }
        let share = self.share(term);
        let width = self.fpr.1 - self.fpr.0;
        let pairs = high.len() as f64 * count as f64 * width;
        let kappa = T::of(1.0 / pairs);
        out.fill(T::ZERO);
        let (of_low, of_high) = out.split_at_mut(count);
        let mut total = 0.0;
        if share > 0.0 {
            kernel!(self.surrogate.to::<T>(), loss => {
                brute::check(loss, high, low)?;
                let duals = slots.iter().zip(next.chunks_exact_mut(DUAL));
                for ((&h, c), (&slot, next)) in high.iter().zip(of_high).zip(duals) {
                    let dual = &bank[DUAL * slot as usize..][..DUAL];
                    // All losses are among the n₋ largest.
                    let every = share >= 1.0;
                    let lambda = if every { T::ZERO } else { dual[0] };
                    let (mut slopes, mut above) = (T::ZERO, 0usize);
                    for (&other, g) in low.iter().zip(&mut *of_low) {
                        let value = loss.value(h - other);
                        if every || value > lambda {
                            let slope = loss.slope(h - other);
                            slopes += slope;
                            *g -= kappa * slope;
                            total += (value - lambda).f64();
                            above += 1;
                        }
                    }
                    *c = kappa * slopes;
                    total += share * count as f64 * lambda.f64();
                    let Some(Track { rate, done }) = track else { continue };
                    let done = (done + 1) as f64;
                    let moved = lambda.f64() - rate * (share - above as f64 / count as f64);
                    next.copy_from_slice(&[T::of(moved), mean_until(dual, done), T::of(done)]);
                    crate::error::all_finite("lambda", next).map_err(|_| Error::Overflow { what: "lambda" })?;
                }
            });
        }
        let value = finite("pairwise loss", total / pairs)?;
        self.link.chain(h, out);
        commit(out, grad)?;
        if track.is_some() && share > 0.0 && share < 1.0 {
            for (&slot, next) in slots.iter().zip(next.chunks_exact(DUAL)) {
                bank[DUAL * slot as usize..][..DUAL].copy_from_slice(next);
            }
        }
        Ok(value)
    }
}

/// Mean of λ over the first `steps` iterates of the inner problem: it has been what it is since the last that is held.
pub(super) fn mean_until<T: Real>(dual: &[T], steps: f64) -> T {
    let held = dual[2].f64();
    if steps <= held {
        return dual[1];
    }
    T::of((dual[1].f64() * held + dual[0].f64() * (steps - held)) / steps)
}

/// Ends an inner problem of so many steps: every λ of the bank becomes its mean over them, and the next begins. O(n₊).
pub fn turn_bank<T: Real>(bank: &mut [T], steps: u64) {
    for dual in bank.chunks_exact_mut(DUAL) {
        let mean = if steps > 0 { mean_until(dual, steps as f64) } else { dual[0] };
        dual.copy_from_slice(&[mean, T::ZERO, T::ZERO]);
    }
}
