//! Vectors of momentum: m ← βm + ∇f_S(w), w ← w − αm.
//!
//! A column that the minibatches do not hold moves by a constant 2 × 2 matrix, (w_j, m_j) ← M (w_j, m_j) with
//! M = [1 − λα, −αβ; λ, β]. So each column remembers when it was last written, and a table of the powers of M brings it
//! up to date when it is met. All columns are written out when the table ends and when α changes. A step size whose table
//! does not fit the number type is refused at the start (beyond λα = 2(1 + β) the penalty alone diverges).

use super::anchored::Anchored;
use super::glm::{Glm, Row};
use super::oracle::{Examples, Gradients};
use super::plain::{self, Plain};
use super::run::{Memory, Run, View};
use super::vectors::{fits, limit, norm_sq};
use crate::error::{Error, Result};
use crate::{Need, Real};
use core::ops::Range;

/// Steps between two times that every column is written out.
const POWERS: usize = 512;

/// Vectors w and m on a sum, in zeroed memory that begins with w. By default plain; lazily on the rows of a linear model.
pub trait HeavyBall<T: Real>: Anchored<T> {
    /// Memory for minibatches of `batch`; of the counts the order of the examples comes first.
    fn need(&self, _batch: usize) -> Need {
        plain::need(self, 3, 0)
    }

    /// Whether the form bears steps of at most α.
    ///
    /// # Errors
    /// `Overflow`.
    fn check(&self, _alpha: f64, _beta: f64) -> Result<()> {
        Ok(())
    }

    /// A pass begins, with the step size of the run.
    fn begin_pass(&self, _run: &mut Run, _memory: &mut Memory<'_, T>, _beta: f64) {}

    /// The step on the examples at `turn` of the order. Checks, then writes.
    ///
    /// # Errors
    /// `Overflow`, and those of the sum.
    fn advance(&self, run: &mut Run, memory: &mut Memory<'_, T>, turn: Range<usize>, beta: f64) -> Result<()> {
        let Plain { w, v: m, work, order, scratch, .. } = Plain::split(self, memory);
        work.fill(T::ZERO);
        let scale = 1.0 / turn.len() as f64;
        self.add_slopes(w, Examples::Picked(&order[turn]), scale, work, scratch)?;
        let (alpha, beta, lambda) = (T::of(run.alpha), T::of(beta), T::of(self.lambda()));
        let mut w_norm = 0.0;
        for ((work, &m), &w) in work.iter_mut().zip(m.iter()).zip(w.iter()) {
            *work += beta * m + lambda * w;
            let next = (w - alpha * *work).f64();
            w_norm += next * next;
        }
        plain::check("w", work)?;
        plain::check_length::<T>("w", w_norm)?;
        m.copy_from_slice(work);
        for (w, &m) in w.iter_mut().zip(m.iter()) {
            *w -= alpha * m;
        }
        Ok(())
    }

    /// w into `out`.
    fn params(&self, _run: &Run, memory: View<'_, T>, out: &mut [T]) {
        out.copy_from_slice(&memory.real[..out.len()]);
    }

    /// Whether restored counts behind the order of the examples can be of this run.
    fn sound(&self, _run: &Run, _counts: &[u32]) -> bool {
        true
    }
}

/// The lazy form. Layout: w, m, both `dim` long; the powers M¹, M², … as rows of 4; `batch` coefficients. Of the counts:
/// the order of the examples, then for each column the number of steps it has seen since all were written out.
impl<T: Real> HeavyBall<T> for Glm<'_, T> {
    fn need(&self, batch: usize) -> Need {
        Need { real: 2 * self.dim() + 4 * POWERS + batch, u32: self.len() + self.dim(), ..Need::NONE }
    }

    fn check(&self, alpha: f64, beta: f64) -> Result<()> {
        // (Later step sizes are smaller.)
        if powers(self.lambda(), alpha, beta).flatten().all(|x| T::of(x).is_finite()) {
            Ok(())
        } else {
            Err(Error::Overflow { what: "step size" })
        }
    }

    fn begin_pass(&self, run: &mut Run, memory: &mut Memory<'_, T>, beta: f64) {
        let mut vectors = Vectors::split(memory, self);
        vectors.flush(run);
        vectors.fill_powers(self.lambda(), run.alpha, beta);
    }

    fn advance(&self, run: &mut Run, memory: &mut Memory<'_, T>, turn: Range<usize>, beta: f64) -> Result<()> {
        Vectors::split(memory, self).advance(self, run, turn, beta)
    }

    fn params(&self, run: &Run, memory: View<'_, T>, out: &mut [T]) {
        let (w, rest) = memory.real.split_at(out.len());
        let (m, powers) = rest.split_at(out.len());
        let seen = &memory.u32[self.len()..];
        for (j, out) in out.iter_mut().enumerate() {
            let behind = (run.mark as usize).saturating_sub(seen[j] as usize).min(POWERS);
            *out = if behind == 0 { w[j] } else { moved(&powers[4 * (behind - 1)..4 * behind], w[j], m[j]).0 };
        }
    }

    /// No column has seen more steps than there were since all were written out.
    fn sound(&self, run: &Run, seen: &[u32]) -> bool {
        run.mark as usize <= POWERS && seen.iter().all(|&seen| u64::from(seen) <= run.mark)
    }
}

/// The lazy form by name.
struct Vectors<'m, T> {
    w: &'m mut [T],
    m: &'m mut [T],
    powers: &'m mut [T],
    coef: &'m mut [T],
    order: &'m [u32],
    seen: &'m mut [u32],
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(memory: &'m mut Memory<'_, T>, glm: &Glm<'_, T>) -> Self {
        let (w, rest) = memory.real.split_at_mut(glm.dim());
        let (m, rest) = rest.split_at_mut(glm.dim());
        let (powers, coef) = rest.split_at_mut(4 * POWERS);
        let (order, seen) = memory.u32.split_at_mut(glm.len());
        Self { w, m, powers, coef, order, seen }
    }

    /// The table for this step size.
    fn fill_powers(&mut self, lambda: f64, alpha: f64, beta: f64) {
        for (slot, power) in self.powers.as_chunks_mut::<4>().0.iter_mut().zip(powers(lambda, alpha, beta)) {
            *slot = power.map(T::settled_of);
        }
    }

    #[inline]
    fn catch_up(&mut self, j: usize, now: u32) {
        let behind = (now - self.seen[j]) as usize;
        if behind > 0 {
            (self.w[j], self.m[j]) = moved(&self.powers[4 * (behind - 1)..4 * behind], self.w[j], self.m[j]);
            self.seen[j] = now;
        }
    }

    fn flush(&mut self, run: &mut Run) {
        let now = run.mark as u32;
        for j in 0..self.w.len() {
            self.catch_up(j, now);
            self.seen[j] = 0;
        }
        run.mark = 0;
        run.bound = Real::sqrt(norm_sq(self.w));
        run.other_bound = Real::sqrt(norm_sq(self.m));
    }

    fn advance(&mut self, glm: &Glm<'_, T>, run: &mut Run, turn: Range<usize>, beta: f64) -> Result<()> {
        if run.mark as usize >= POWERS {
            self.flush(run);
        }
        let (from, size) = (turn.start, turn.len());
        let share = T::of(1.0 / size as f64);
        let now = run.mark as u32;
        let mut pull = 0.0;
        for k in 0..size {
            let i = self.order[from + k] as usize;
            let mut z = T::ZERO;
            self.each_column(glm, i, |vectors, j, x| {
                vectors.catch_up(j, now);
                z += x * vectors.w[j];
            });
            self.coef[k] = glm.slope(i, z) * share;
            pull += self.coef[k].f64().abs();
        }
        let m_bound = beta * run.other_bound + glm.lambda() * run.bound + pull * glm.max_row_norm();
        let w_bound = run.bound + run.alpha * m_bound;
        let most = Real::sqrt(limit::<T>());
        if !fits(w_bound, most) || !fits(m_bound, most) {
            return Err(Error::Overflow { what: "w" });
        }
        run.bound = w_bound;
        run.other_bound = m_bound;
        let alpha = T::of(run.alpha);
        for k in 0..size {
            let i = self.order[from + k] as usize;
            let coef = self.coef[k];
            self.each_column(glm, i, |vectors, j, x| {
                vectors.catch_up(j, now + 1);
                let g = coef * x;
                vectors.m[j] += g;
                vectors.w[j] -= alpha * g;
            });
        }
        run.mark += 1;
        Ok(())
    }

    fn each_column(&mut self, glm: &Glm<'_, T>, i: usize, mut visit: impl FnMut(&mut Self, usize, T)) {
        match glm.row(i) {
            Row::Dense(x) => {
                for (j, &x) in x.iter().enumerate() {
                    visit(self, j, x);
                }
            }
            Row::Sparse(col, x) => {
                for (&j, &x) in col.iter().zip(x) {
                    visit(self, j as usize, x);
                }
            }
        }
        if let Some(at) = glm.bias() {
            visit(self, at, T::ONE);
        }
    }
}

/// M¹, M², … up to M^[`POWERS`].
fn powers(lambda: f64, alpha: f64, beta: f64) -> impl Iterator<Item = [f64; 4]> {
    let one = [1.0 - lambda * alpha, -(alpha * beta), lambda, beta];
    let next = move |power: &[f64; 4]| {
        Some([
            one[0] * power[0] + one[1] * power[2],
            one[0] * power[1] + one[1] * power[3],
            one[2] * power[0] + one[3] * power[2],
            one[2] * power[1] + one[3] * power[3],
        ])
    };
    core::iter::successors(Some(one), next).take(POWERS)
}

#[inline]
fn moved<T: Real>(power: &[T], w: T, m: T) -> (T, T) {
    (power[0] * w + power[1] * m, (power[2] * w + power[3] * m).settled_below(T::TINY))
}
