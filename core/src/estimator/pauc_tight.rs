//! The most violated ordering of SVMpAUC-tight, exactly: its value and its gradient by score.
//!
//! Source: Narasimhan and Agarwal 2013, "SVM pAUC tight: A New Support Vector Method for Optimizing Partial AUC Based on a
//! Tight Convex Upper Bound".
//!
//! ```text
//! H(s) = 1/(n₊(n−m)) max_π Σ_{i∈+} Σ_{j ≤ n} π_ij (1[j > m] − (s_i − s₍ⱼ₎)),   m = ⌈αn₋⌉,  n = ⌊βn₋⌋
//! ```
//!
//! over all orderings π (π_ij = 1 where the j-th of the negatives in π's order stands above positive i) and all choices of n
//! negatives. A negative with a higher score is never worse at a higher rank, so the n highest by score are the choice, and
//! each positive stands below the first r_i of them. Its terms fall with the rank up to m, and again from m + 1 on, where each
//! has one more for the loss: r_i is the end of the positive terms either up to m, or past it.
//!
//! The bound is convex, and for α = 0 it is the mean hinge loss with the n highest negatives. Cost O(n log n); scratch 2
//! values, 3 f64 and one `u32` a row.

use super::{commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// SVMpAUC-tight's bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucTight {
    fpr: (f64, f64),
}

/// What the most violated ordering comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Violation {
    /// H: the loss and what the scores add, with the gradient.
    pub value: f64,
    /// The ordering's own loss, the part that does not depend on the scores.
    pub loss: f64,
}

impl PaucTight {
    /// With the range, 0 ≤ α < β ≤ 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(fpr: (f64, f64)) -> Result<Self> {
        if !(0.0 <= fpr.0 && fpr.0 < fpr.1 && fpr.1 <= 1.0) {
            return Err(Error::Param { what: "fpr" });
        }
        Ok(Self { fpr })
    }

    /// Working memory for a batch of this shape.
    #[must_use]
    pub fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, f64: 2 * shape.rows + 1, u32: shape.rows, ..Need::NONE }
    }

    /// m and n for so many negatives.
    fn ranks(&self, negatives: usize) -> Result<(usize, usize)> {
        // (.3 of 10 negatives are three, whatever .3 is rounded to.)
        let slack = negatives as f64 * 4.0 * f64::EPSILON;
        let from = libm::ceil(self.fpr.0 * negatives as f64 - slack) as usize;
        let to = (libm::floor(self.fpr.1 * negatives as f64 + slack) as usize).min(negatives);
        if from < to { Ok((from, to)) } else { Err(Error::Param { what: "fpr" }) }
    }

    /// H and its gradient by score, over the whole data. A range without a whole negative is an error.
    ///
    /// # Errors
    /// `OneClass`, `Unsupported` (a part of the data), `Length`, `Param` (range), `Overflow`. The gradient is then as before.
    pub fn most_violated<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        scratch: Scratch<'_, T>,
        grad: &mut [T],
    ) -> Result<Violation> {
        let (low, high) = super::both_classes(batch)?;
        if batch.drawn() != Drawn::All {
            return Err(Error::Unsupported { what: "the most violated ordering of a part of the data" });
        }
        scratch.check(self.need(batch.shape()))?;
        let (m, n) = self.ranks(low.len())?;
        let order = &mut scratch.u32[..low.len()];
        order.iter_mut().zip(0..).for_each(|(item, row)| *item = row);
        crate::sort::ascending_by(order, |a, b| {
            let by = |row: u32| low[row as usize].key();
            by(b).cmp(&by(a)).then(a.cmp(&b))
        });
        let score = |rank: usize| low[order[rank] as usize].f64();
        // Sums of the highest scores, and how many positives stand below so many.
        let (sums, counts) = scratch.f64.split_at_mut(n + 1);
        let counts = &mut counts[..n];
        sums[0] = 0.0;
        for rank in 0..n {
            sums[rank + 1] = sums[rank] + score(rank);
        }
        counts.fill(0.0);
        // The first of some ranks whose score is not above a bar.
        let end = |mut from: usize, mut to: usize, bar: f64| {
            while from < to {
                let middle = from + (to - from) / 2;
                if score(middle) > bar { from = middle + 1 } else { to = middle }
            }
            from
        };
        let unit = 1.0 / (high.len() as f64 * (n - m) as f64);
        let out = &mut scratch.real[..batch.scores().len()];
        let (of_low, of_high) = out.split_at_mut(low.len());
        let (mut value, mut loss) = (0.0, 0.0);
        for (&s, c) in high.iter().zip(of_high) {
            let s = s.f64();
            let (near, far) = (end(0, m, s), end(m, n, s - 1.0));
            let of = |place: usize| sums[place] - place as f64 * s;
            let past = (far - m) as f64;
            let (place, own) = if far > m && of(far) + past > of(near) { (far, past) } else { (near, 0.0) };
            value += of(place) + own;
            loss += own;
            *c = T::of(-(place as f64) * unit);
            if place > 0 {
                counts[place - 1] += 1.0;
            }
        }
        of_low.fill(T::ZERO);
        let mut below = 0.0;
        for rank in (0..n).rev() {
            below += counts[rank];
            of_low[order[rank] as usize] = T::of(below * unit);
        }
        let value = finite("hinge", value * unit)?;
        commit(out, grad)?;
        Ok(Violation { value, loss: loss * unit })
    }
}
