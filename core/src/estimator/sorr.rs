//! Sum of ranked range: the losses of single examples ranked m + 1 to n, as the difference of two sums of the largest.
//!
//! Source: Hu, Ying, Wang and Lyu 2020, "Learning by Minimizing the Sum of Ranked Range"; in the form of Yao, Lin and Yang
//! 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates", equations (5) and (7), algorithm 3.
//!
//! ```text
//! F = f^n − f^m,   f^l = 1/(N(β−α)) φ_l(ℓ_1 … ℓ_N) = 1/(N(β−α)) min_λ (l λ + Σ_j [ℓ_j − λ]₊),   m = αN,  n = βN
//! ```
//!
//! φ_l the sum of the l largest. m > 0 leaves the m worst out, as outliers. A batch of b examples gives
//! c_j = 𝟙(ℓ_j > λ) ℓ'_j/(b(β−α)) and λ ← λ − θ(l/N − 1/b Σ_j 𝟙(ℓ_j > λ)). Deviation: the objective is divided by N(β−α), θ
//! here is the paper's times N.
//!
//! Term 0 is f^m and term 1 f^n, each with `[λ, λ̄ so far, steps that it holds]` for its state; there is no f^m where α = 0,
//! and f^n needs no λ where β = 1. Cost O(b), [`Sorr::largest`] O(N log N).

use super::pauc_dual::{mean_until, turn_bank};
use super::{commit, finite};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Numbers of a term's state.
pub const DUAL: usize = super::pauc_dual::DUAL;

/// What a batch does to the dual of its term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// θ ≥ 0.
    pub rate: f64,
    /// Steps of the inner problem before this one.
    pub done: u64,
}

/// Ends an inner problem of so many steps: λ becomes its mean over them, and the next begins.
pub fn turn<T: Real>(dual: &mut [T; DUAL], steps: u64) {
    turn_bank(dual, steps as f64);
}

/// Loss of one example, of its score s and its target y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExampleLoss {
    /// ln(1 + e^−s) for y > 0 and ln(1 + e^s) for others: the log loss of σ(s).
    Logistic,
    /// (s − y)²/2.
    Squares,
    /// |s − y|, 0 for its slope at 0.
    Absolute,
}

impl ExampleLoss {
    /// Value and slope by the score.
    fn parts<T: Real>(self, s: T, y: T) -> (T, T) {
        match self {
            Self::Logistic if y > T::ZERO => ((-s).softplus(), -(-s).sigmoid()),
            Self::Logistic => (s.softplus(), s.sigmoid()),
            Self::Squares => {
                let d = s - y;
                (T::of(0.5) * d * d, d)
            }
            Self::Absolute => {
                let d = s - y;
                let sign = if d > T::ZERO {
                    T::ONE
                } else if d < T::ZERO {
                    -T::ONE
                } else {
                    T::ZERO
                };
                (d.abs(), sign)
            }
        }
    }
}

/// The two terms of a sum of ranked range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sorr {
    loss: ExampleLoss,
    range: (f64, f64),
}

impl Sorr {
    /// With the range of ranks as shares of the examples, 0 ≤ α < β ≤ 1.
    ///
    /// # Errors
    /// `Param` (range).
    pub fn new(loss: ExampleLoss, range: (f64, f64)) -> Result<Self> {
        if !(0.0 <= range.0 && range.0 < range.1 && range.1 <= 1.0) {
            return Err(Error::Param { what: "range" });
        }
        Ok(Self { loss, range })
    }

    /// Whether a term is there at all: f^m is not where α = 0.
    #[must_use]
    pub fn has(&self, term: usize) -> bool {
        self.share(term) > 0.0
    }

    fn share(&self, term: usize) -> f64 {
        if term == 0 { self.range.0 } else { self.range.1 }
    }

    /// Working memory for so many rows.
    #[must_use]
    pub fn need(&self, rows: usize) -> Need {
        Need { real: 2 * rows, u32: rows, ..Need::NONE }
    }

    /// Losses and slopes of all rows into scratch.
    fn losses<'a, T: Real>(&self, scores: &[T], targets: &[T], scratch: Scratch<'a, T>) -> Result<Losses<'a, T>> {
        if scores.is_empty() {
            return Err(Error::Empty { what: "scores" });
        }
        exact_len("targets", scores.len(), targets.len())?;
        scratch.check(self.need(scores.len()))?;
        all_finite("scores", scores)?;
        all_finite("targets", targets)?;
        let (losses, rest) = scratch.real.split_at_mut(scores.len());
        let slopes = &mut rest[..scores.len()];
        for ((&s, &y), (loss, slope)) in scores.iter().zip(targets).zip(losses.iter_mut().zip(&mut *slopes)) {
            (*loss, *slope) = self.loss.parts(s, y);
        }
        all_finite("loss", losses).map_err(|_| Error::Overflow { what: "loss" })?;
        Ok((losses, slopes, &mut scratch.u32[..scores.len()]))
    }

    /// f^l of a term over all rows exactly, with a subgradient by score, and the best λ of the term in `dual` (its mean
    /// begins anew). Where l is no integer the last loss counts by its fraction; of equal losses the earlier rank higher.
    ///
    /// # Errors
    /// `Empty`, `Length`, `NonFinite`, `Overflow`. Nothing has changed then.
    pub fn largest<T: Real>(
        &self,
        term: usize,
        scores: &[T],
        targets: &[T],
        dual: &mut [T; DUAL],
        scratch: Scratch<'_, T>,
        grad: &mut [T],
    ) -> Result<f64> {
        let (losses, slopes, order) = self.losses(scores, targets, scratch)?;
        let rows = scores.len() as f64;
        let wanted = self.share(term) * rows;
        let unit = 1.0 / (rows * (self.range.1 - self.range.0));
        order.iter_mut().zip(0..).for_each(|(item, row)| *item = row);
        crate::sort::ascending_by(order, |a, b| {
            let by = |row: u32| losses[row as usize].key();
            by(b).cmp(&by(a)).then(a.cmp(&b))
        });
        let mut total = 0.0;
        for (rank, &row) in order.iter().enumerate() {
            let part = (wanted - rank as f64).or_larger(0.0).or_smaller(1.0);
            total += part * losses[row as usize].f64();
            slopes[row as usize] *= T::of(part * unit);
        }
        let value = finite("ranked loss", total * unit)?;
        let last = (libm::ceil(wanted) as usize).max(1).min(order.len()) - 1;
        let lambda = losses[order[last] as usize];
        commit(slopes, grad)?;
        *dual = [lambda, T::ZERO, T::ZERO];
        Ok(value)
    }

    /// The estimate of the dual form of a term from a batch, and its gradient by score; with `track`, λ moves after it was
    /// used. A term that is not there is 0.
    ///
    /// # Errors
    /// `Empty`, `Length`, `NonFinite`, `Param` (a negative rate), `Overflow`. Nothing has changed then.
    pub fn term<T: Real>(
        &self,
        term: usize,
        scores: &[T],
        targets: &[T],
        dual: &mut [T; DUAL],
        track: Option<Track>,
        scratch: Scratch<'_, T>,
        grad: &mut [T],
    ) -> Result<f64> {
        if track.is_some_and(|track| !(track.rate >= 0.0 && track.rate.is_finite())) {
            return Err(Error::Param { what: "theta" });
        }
        let (losses, slopes, _) = self.losses(scores, targets, scratch)?;
        let (share, rows) = (self.share(term), scores.len() as f64);
        let unit = 1.0 / (rows * (self.range.1 - self.range.0));
        // All losses are among the N largest.
        let every = share >= 1.0;
        let lambda = if every { T::ZERO } else { dual[0] };
        let (mut total, mut above) = (share * rows * lambda.f64(), 0usize);
        for (&loss, slope) in losses.iter().zip(&mut *slopes) {
            let counts = share > 0.0 && (every || loss > lambda);
            *slope = if counts { *slope * T::of(unit) } else { T::ZERO };
            if counts {
                total += (loss - lambda).f64();
                above += 1;
            }
        }
        let value = if share > 0.0 { finite("ranked loss", total * unit)? } else { 0.0 };
        let mut next = *dual;
        if let (Some(Track { rate, done }), true) = (track, share > 0.0 && !every) {
            let done = (done + 1) as f64;
            let moved = lambda.f64() - rate * (share - above as f64 / rows);
            next = [T::of(moved), mean_until(dual, done), T::of(done)];
            all_finite("lambda", &next).map_err(|_| Error::Overflow { what: "lambda" })?;
        }
        commit(slopes, grad)?;
        *dual = next;
        Ok(value)
    }
}

/// Losses, slopes and room for an order.
type Losses<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [u32]);
