//! Vectors around an anchor: w̃, its gradient μ = ∇P(w̃), and w, that moves by w ← w − α(∇f_S(w) − ∇f_S(w̃) + μ).
//!
//! With u = w − w̃ a column that the minibatch does not hold obeys u_j ← (1 − λα)u_j − αμ_j, so u = s·û − m·μ with two
//! scalars common to all columns, and a step on sparse rows writes only û_j −= αg_j/s.

use super::glm::Glm;
use super::oracle::{Examples, Gradients};
use super::plain::{self, Plain};
use super::recursive::Recursion;
use super::run::{Memory, Run, View};
use super::vectors::{finish_gradient, fits, limit, norm_sq};
use crate::error::{Error, Result};
use crate::{Need, Real};

/// Below this s the lazy vector is written out.
const SMALL_SCALE: f64 = 1.0 / 1_048_576.0;

/// Vectors around an anchor on a sum, in zeroed memory that begins with w. By default plain; lazily on the rows of a
/// linear model.
pub trait Anchored<T: Real>: Recursion<T> {
    /// Memory for minibatches of `batch`: of the counts the order of the examples, then `batch` exchanges.
    fn need(&self, batch: usize) -> Need {
        plain::need(self, 4, batch)
    }

    /// w̃ ← w and μ ← ∇P(w̃), a piece at a time: whether it is done.
    ///
    /// # Errors
    /// `Overflow`, and those of the sum; the walk then begins anew.
    fn full_gradient(&self, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<bool> {
        let mut vectors = Plain::split(self, memory);
        let done = vectors.full_gradient(self, run)?;
        if done {
            vectors.other.copy_from_slice(vectors.w);
        }
        Ok(done)
    }

    /// The step by α on the drawn minibatch. Checks, then writes.
    ///
    /// # Errors
    /// `Overflow`, and those of the sum.
    fn advance(&self, _run: &mut Run, memory: &mut Memory<'_, T>, alpha: f64) -> Result<()> {
        let mut vectors = Plain::split(self, memory);
        vectors.subtract_here(self)?;
        vectors.add_there(self)?;
        let Plain { w, v: mean, work, other: anchor, .. } = vectors;
        let (step, lambda) = (T::of(alpha), T::of(self.lambda()));
        for (((work, &w), &anchor), &mean) in work.iter_mut().zip(w.iter()).zip(anchor.iter()).zip(mean.iter()) {
            *work = w - step * (lambda * (w - anchor) - *work + mean);
        }
        plain::check("w", work)?;
        w.copy_from_slice(work);
        Ok(())
    }

    /// w into `out`.
    fn params(&self, _run: &Run, memory: View<'_, T>, out: &mut [T]) {
        out.copy_from_slice(&memory.real[..out.len()]);
    }
}

/// The lazy form. Layout: anchor w̃, its gradient μ, û, zeroed work, all `dim` long; then `batch` coefficients.
impl<T: Real> Anchored<T> for Glm<'_, T> {
    fn need(&self, batch: usize) -> Need {
        Need { real: 4 * self.dim() + batch, u32: self.len() + batch, ..Need::NONE }
    }

    fn full_gradient(&self, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<bool> {
        Vectors::split(memory, self).full_gradient(self, run)
    }

    fn advance(&self, run: &mut Run, memory: &mut Memory<'_, T>, alpha: f64) -> Result<()> {
        Vectors::split(memory, self).advance(self, run, alpha)
    }

    fn params(&self, run: &Run, memory: View<'_, T>, out: &mut [T]) {
        let dim = out.len();
        let (s, m) = (T::of(run.scale), T::of(run.shift));
        for (j, out) in out.iter_mut().enumerate() {
            *out = memory.real[j] + s * memory.real[2 * dim + j] - m * memory.real[dim + j];
        }
    }
}

/// The lazy form by name.
struct Vectors<'m, T> {
    anchor: &'m mut [T],
    mean: &'m mut [T],
    away: &'m mut [T],
    work: &'m mut [T],
    coef: &'m mut [T],
    drawn: &'m [u32],
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(memory: &'m mut Memory<'_, T>, glm: &Glm<'_, T>) -> Self {
        let dim = glm.dim();
        let (anchor, rest) = memory.real.split_at_mut(dim);
        let (mean, rest) = rest.split_at_mut(dim);
        let (away, rest) = rest.split_at_mut(dim);
        let (work, coef) = rest.split_at_mut(dim);
        let batch = memory.u32.len() - glm.len();
        Self { anchor, mean, away, work, coef, drawn: &memory.u32[..batch] }
    }

    /// û ← u, s = 1, m = 0. `scale` is s, `shift` is m, `bound` bounds ‖u‖.
    fn sync(&mut self, run: &mut Run) {
        let (s, m) = (T::of(run.scale), T::of(run.shift));
        for (u, &mean) in self.away.iter_mut().zip(self.mean.iter()) {
            *u = s * *u - m * mean;
        }
        run.scale = 1.0;
        run.shift = 0.0;
        run.touched = 0;
        run.bound = Real::sqrt(norm_sq(self.away));
    }

    /// w̃ ← w, u ← 0 and μ ← ∇P(w̃), a piece at a time: whether it is done.
    fn full_gradient(&mut self, glm: &Glm<'_, T>, run: &mut Run) -> Result<bool> {
        if run.cursor == 0 {
            self.sync(run);
            for (anchor, u) in self.anchor.iter_mut().zip(self.away.iter_mut()) {
                *anchor += *u;
                *u = T::ZERO;
            }
            run.bound = 0.0;
        }
        let from = (run.cursor as usize).min(glm.len());
        let to = glm.piece_end(from);
        let scale = T::of(1.0 / glm.len() as f64);
        glm.add_rows(self.anchor, Examples::Span(from, to), scale, self.work);
        if to < glm.len() {
            run.cursor = to as u64;
            return Ok(false);
        }
        run.cursor = 0;
        let gradient = finish_gradient(glm.lambda(), self.anchor, self.work);
        if let Ok(norm) = gradient {
            self.mean.copy_from_slice(self.work);
            run.other_bound = Real::sqrt(norm_sq(self.anchor));
            run.anchor(glm.len(), norm);
        }
        self.work.fill(T::ZERO);
        gradient.map(|_| true)
    }

    fn advance(&mut self, glm: &Glm<'_, T>, run: &mut Run, alpha: f64) -> Result<()> {
        let batch = self.drawn.len();
        let share = T::of(1.0 / batch as f64);
        let (s, m) = (T::of(run.scale), T::of(run.shift));
        let mut pull = 0.0;
        let mut touched = 0;
        for k in 0..batch {
            let i = self.drawn[k] as usize;
            let at_anchor = glm.margin(i, self.anchor);
            let z = at_anchor + s * glm.margin(i, self.away) - m * glm.margin(i, self.mean);
            self.coef[k] = (glm.slope(i, z) - glm.slope(i, at_anchor)) * share;
            pull += self.coef[k].f64().abs();
            touched += glm.row_len(i);
        }
        let shrink = 1.0 - glm.lambda() * alpha;
        let bound = shrink.abs() * run.bound + alpha * (Real::sqrt(run.start_norm_sq) + pull * glm.max_row_norm());
        let most = Real::sqrt(limit::<T>());
        if !fits(bound + run.other_bound, most) {
            return Err(Error::Overflow { what: "direction" });
        }
        let scale = run.scale * shrink;
        let shift = run.shift * shrink + alpha;
        let crowded = !fits((1.0 + shift.abs()) / scale * (bound + Real::sqrt(run.start_norm_sq)), most);
        if !glm.is_sparse() || touched >= self.away.len() || scale < SMALL_SCALE || crowded {
            if run.scale != 1.0 || run.shift != 0.0 {
                self.sync(run);
            }
            for k in 0..batch {
                glm.add_row(self.drawn[k] as usize, self.coef[k], self.work);
            }
            let (alpha, shrink) = (T::of(alpha), T::of(shrink));
            for ((u, g), &mean) in self.away.iter_mut().zip(self.work.iter_mut()).zip(self.mean.iter()) {
                *u = shrink * *u - alpha * (mean + *g);
                *g = T::ZERO;
            }
        } else {
            run.scale = scale;
            run.shift = shift;
            run.touched += touched as u64;
            for k in 0..batch {
                let coef = T::of(-alpha * self.coef[k].f64() / scale);
                glm.add_row(self.drawn[k] as usize, coef, self.away);
            }
        }
        run.bound = bound;
        Ok(())
    }
}
