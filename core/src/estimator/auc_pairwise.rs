//! Pairwise surrogate of the AUC: F = mean over (positive i, negative j) of ℓ(h(s_i) − h(s_j)).
//!
//! Within a batch that is drawn per class the mean over its pairs is unbiased. c_i = Σ_j κℓ'(t_ij), c_j = −Σ_i κℓ'(t_ij)
//! with κ = 1/(b₊b₋), times h'(s). Cost O(b₊b₋). Memory: 2·rows values of scratch.

use super::{Estimator, Grad, Link, commit, finite};
use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::pairs::row;
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::AnySurrogate;
use crate::with_surrogate;

/// Mean pairwise surrogate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AucPairwise<T> {
    surrogate: AnySurrogate<T>,
    link: Link,
}

impl<T: Real> AucPairwise<T> {
    /// With its surrogate and link.
    #[must_use]
    pub fn new(surrogate: AnySurrogate<T>, link: Link) -> Self {
        Self { surrogate, link }
    }
}

/// Both classes of a binary batch, each with at least one example.
pub(super) fn both_classes<'a, T: Real>(batch: &Batch<'a, T>) -> Result<(&'a [T], &'a [T])> {
    let (low, high) = batch.binary()?;
    if low.is_empty() || high.is_empty() { Err(Error::OneClass) } else { Ok((low, high)) }
}

impl<T: Real> Estimator<T> for AucPairwise<T> {
    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        let (low, high) = both_classes(batch)?;
        scratch.check(self.need(batch.shape()))?;
        let h = &mut scratch.real[..batch.scores().len()];
        self.link.apply(batch.scores(), h);
        let (low_h, high_h) = h.split_at(low.len());
        let mut sum = 0.0;
        for &anchor in high_h {
            sum += with_surrogate!(self.surrogate, loss => row::sum(loss, anchor, low_h)).f64();
        }
        finite("pairwise loss", sum / (low.len() as f64 * high.len() as f64))
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
        let rows = batch.scores().len();
        let (h, rest) = scratch.real.split_at_mut(rows);
        let out = &mut rest[..rows];
        self.link.apply(batch.scores(), h);
        out.fill(T::ZERO);
        let (low_h, high_h) = h.split_at(low.len());
        let (out_low, out_high) = out.split_at_mut(low.len());
        let pairs = low.len() as f64 * high.len() as f64;
        let kappa = T::of(1.0 / pairs);
        let mut sum = 0.0;
        for (&anchor, c) in high_h.iter().zip(out_high) {
            with_surrogate!(self.surrogate, loss => {
                sum += row::sum(loss, anchor, low_h).f64();
                *c += row::grad(loss, anchor, low_h, kappa, out_low);
            });
        }
        let value = finite("pairwise loss", sum / pairs)?;
        self.link.chain(h, out);
        commit(out, grad.scores)?;
        Ok(value)
    }
}
