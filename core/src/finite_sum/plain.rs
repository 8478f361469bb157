//! Plain vectors: what the forms of vectors are by default, of any sum that has gradients.

use super::oracle::{Examples, Gradients};
use super::run::{Memory, Run};
use super::vectors::{finish_gradient, fits, limit, norm_sq};
use crate::error::{Error, Result};
use crate::{Need, Real};

/// Memory of so many vectors, and so many exchanges.
pub(super) fn need<T: Real, O: Gradients<T> + ?Sized>(sum: &O, vectors: usize, exchanges: usize) -> Need {
    Need { real: vectors * sum.dim(), u32: sum.len() + exchanges, ..Need::NONE }
}

/// Layout: w; then v (the recursion), μ (an anchor) or m (momentum); then work, in which a full gradient grows; then a
/// point or Hv (the recursion) or the anchor w̃ (none for momentum). All `dim` long. Of the counts: the order of the
/// examples, then `batch` exchanges, or none where minibatches follow one another.
pub(super) struct Plain<'m, T> {
    pub w: &'m mut [T],
    pub v: &'m mut [T],
    pub work: &'m mut [T],
    pub other: &'m mut [T],
    pub order: &'m [u32],
    /// The drawn minibatch, first in that order.
    pub drawn: &'m [u32],
    pub scratch: &'m mut [T],
}

impl<'m, T: Real> Plain<'m, T> {
    pub fn split<O: Gradients<T> + ?Sized>(sum: &O, memory: &'m mut Memory<'_, T>) -> Self {
        let dim = sum.dim();
        let (w, rest) = memory.real.split_at_mut(dim);
        let (v, rest) = rest.split_at_mut(dim);
        let (work, other) = rest.split_at_mut(dim);
        let other_len = other.len().min(dim);
        let other = &mut other[..other_len];
        let (order, partner) = memory.u32.split_at(sum.len());
        Self { w, v, work, other, order, drawn: &order[..partner.len().min(order.len())], scratch: memory.scratch }
    }

    /// v ← ∇P(w), a piece at a time: whether it is done. After an error the walk begins anew.
    pub fn full_gradient<O: Gradients<T> + ?Sized>(&mut self, sum: &O, run: &mut Run) -> Result<bool> {
        let n = sum.len();
        let from = (core::mem::take(&mut run.cursor) as usize).min(n - 1);
        let to = sum.piece_end(from);
        if from == 0 {
            self.work.fill(T::ZERO);
        }
        sum.add_slopes(self.w, Examples::Span(from, to), 1.0 / n as f64, self.work, self.scratch)?;
        if to < n {
            run.cursor = to as u64;
            return Ok(false);
        }
        let norm = finish_gradient(sum.lambda(), self.w, self.work)?;
        self.v.copy_from_slice(self.work);
        run.anchor(n, norm);
        Ok(true)
    }

    /// −∇f_S(w) into `work`, without λ.
    pub fn subtract_here<O: Gradients<T> + ?Sized>(&mut self, sum: &O) -> Result<()> {
        self.work.fill(T::ZERO);
        let scale = -1.0 / self.drawn.len() as f64;
        sum.add_slopes(self.w, Examples::Picked(self.drawn), scale, self.work, self.scratch)
    }

    /// Adds ∇f_S at `other`, without λ, to `work`.
    pub fn add_there<O: Gradients<T> + ?Sized>(&mut self, sum: &O) -> Result<()> {
        let scale = 1.0 / self.drawn.len() as f64;
        sum.add_slopes(self.other, Examples::Picked(self.drawn), scale, self.work, self.scratch)
    }
}

/// An error that names it where a vector so long does not fit the number type.
pub(super) fn check_length<T: Real>(what: &'static str, norm_sq: f64) -> Result<()> {
    if fits(norm_sq, limit::<T>()) { Ok(()) } else { Err(Error::Overflow { what }) }
}

/// The same of all its entries.
pub(super) fn check<T: Real>(what: &'static str, vector: &[T]) -> Result<()> {
    check_length::<T>(what, norm_sq(vector))
}
