//! Stochastic gradient descent with momentum on a finite sum, epoch by epoch.
//!
//! Polyak 1964, in the form of common deep-learning libraries: g = ∇f_S(w), m ← βm + g, w ← w − αm, on consecutive
//! minibatches of a fresh random order in every pass; after each pass α ← (1 − decay)·α. β = 0 is plain SGD.
//!
//! A column that the minibatches do not hold moves by a constant 2 × 2 matrix, (w_j, m_j) ← M (w_j, m_j) with
//! M = [1 − λα, −αβ; λ, β]. So each column remembers when it was last written, and a table of the powers of M brings it
//! up to date when it is met. All columns are written out when the table ends and when α changes. A step size whose table
//! does not fit the number type is refused at the start (beyond λα = 2(1 + β) the penalty alone diverges).
//!
//! Cost of a step: O(values of the minibatch), and O(dim) once in 512 steps. Memory: 2 vectors of length dim, dim and n
//! indices, 2048 numbers, and 1 per example of the minibatch.

use super::glm::{Row, fits, limit, norm_sq};
use super::run::{Event, Memory, Run, View};
use super::{FiniteSum, Glm, check_batch, check_start, draw, fraction, positive};
use crate::error::{Error, Result, exact_len};
use crate::registry::entry::{Entry, Kind, Source};
use crate::registry::params::{BIG, LAMBDA, LOSS, SUM_BATCH, SUM_DECAY, SUM_PASSES, TINY, number};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Steps between two times that every column is written out.
const POWERS: usize = 512;

/// Configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentumSum {
    pub(super) batch: usize,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) decay: f64,
}

/// Layout: w, m, both `dim` long; the powers M¹, M², … as rows of 4; `batch` coefficients. Of the counts: the order of
/// the examples, then for each column the number of steps it has seen since all were written out.
struct Vectors<'m, T> {
    w: &'m mut [T],
    m: &'m mut [T],
    powers: &'m mut [T],
    coef: &'m mut [T],
    order: &'m mut [u32],
    seen: &'m mut [u32],
}

impl MomentumSum {
    /// Minibatch size ≥ 1, initial step size > 0, β in [0, 1), decay per pass in [0, 1).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, alpha: f64, beta: f64, decay: f64) -> Result<Self> {
        positive("batch", batch as f64)?;
        Ok(Self {
            batch,
            alpha: positive("alpha", alpha)?,
            beta: fraction("beta", beta)?,
            decay: fraction("decay", decay)?,
        })
    }
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

/// Whether restored counts fit: no column has seen more steps than there were since all were written out.
pub(super) fn sound(run: &Run, seen: &[u32]) -> bool {
    run.mark as usize <= POWERS && seen.iter().all(|&seen| u64::from(seen) <= run.mark)
}

#[inline]
fn moved<T: Real>(power: &[T], w: T, m: T) -> (T, T) {
    (power[0] * w + power[1] * m, (power[2] * w + power[3] * m).settled_below(T::TINY))
}

impl<T: Real> FiniteSum<T> for MomentumSum {
    fn need(&self, glm: &Glm<'_, T>) -> Result<Need> {
        check_batch(glm, self.batch)?;
        Ok(Need { real: 2 * glm.dim() + 4 * POWERS + self.batch, u32: glm.len() + glm.dim(), ..Need::NONE })
    }

    fn start(&self, glm: &Glm<'_, T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        check_start(glm, w0, self.need(glm)?, memory)?;
        // Later step sizes are smaller.
        if !powers(glm.lambda(), self.alpha, self.beta).flatten().all(|x| T::of(x).is_finite()) {
            return Err(Error::Overflow { what: "step size" });
        }
        let mut vectors = Vectors::split(memory, glm);
        vectors.w.copy_from_slice(w0);
        vectors.m.fill(T::ZERO);
        vectors.seen.fill(0);
        draw::identity(vectors.order);
        vectors.fill_powers(glm.lambda(), self.alpha, self.beta);
        let mut run = Run::new(seed);
        run.bound = Real::sqrt(norm_sq(w0));
        Ok(run)
    }

    fn step(&self, glm: &Glm<'_, T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        memory.check(self.need(glm)?)?;
        let mut vectors = Vectors::split(memory, glm);
        if run.phase == 0 {
            vectors.flush(run);
            let event = run.begin_pass(self.alpha, self.decay, vectors.order);
            vectors.fill_powers(glm.lambda(), run.alpha, self.beta);
            return Ok(event);
        }
        if run.mark as usize >= POWERS {
            vectors.flush(run);
        }
        let n = glm.len();
        let turn = run.turn(n, self.batch);
        let (from, size) = (turn.start, turn.len());
        let share = T::of(1.0 / size as f64);
        let now = run.mark as u32;
        let mut pull = 0.0;
        for k in 0..size {
            let i = vectors.order[from + k] as usize;
            let mut z = T::ZERO;
            vectors.each_column(glm, i, |vectors, j, x| {
                vectors.catch_up(j, now);
                z += x * vectors.w[j];
            });
            vectors.coef[k] = glm.loss().slope(glm.target(i), z) * share;
            pull += vectors.coef[k].f64().abs();
        }
        let m_bound = self.beta * run.other_bound + glm.lambda() * run.bound + pull * glm.max_row_norm();
        let w_bound = run.bound + run.alpha * m_bound;
        let most = Real::sqrt(limit::<T>());
        if !fits(w_bound, most) || !fits(m_bound, most) {
            return Err(Error::Overflow { what: "w" });
        }
        run.bound = w_bound;
        run.other_bound = m_bound;
        let alpha = T::of(run.alpha);
        for k in 0..size {
            let i = vectors.order[from + k] as usize;
            let coef = vectors.coef[k];
            vectors.each_column(glm, i, |vectors, j, x| {
                vectors.catch_up(j, now + 1);
                let g = coef * x;
                vectors.m[j] += g;
                vectors.w[j] -= alpha * g;
            });
        }
        run.mark += 1;
        Ok(run.end_turn(turn, n))
    }

    fn minibatch<'m>(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::consecutive(&memory.u32[..glm.len().min(memory.u32.len())], run.inner, self.batch)
    }

    fn params(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        memory.check(self.need(glm)?)?;
        let dim = glm.dim();
        exact_len("out", dim, out.len())?;
        let (w, rest) = memory.real.split_at(dim);
        let (m, powers) = rest.split_at(dim);
        for j in 0..dim {
            let behind = (run.mark as usize).saturating_sub(memory.u32[glm.len() + j] as usize).min(POWERS);
            out[j] = if behind == 0 { w[j] } else { moved(&powers[4 * (behind - 1)..4 * behind], w[j], m[j]).0 };
        }
        Ok(())
    }
}

impl MomentumSum {
    /// Of settings, for `n` examples.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, _: f64) -> Result<Self> {
        let (alpha, beta) = (settings.value("alpha"), settings.value("beta"));
        Self::new(super::batch(settings, n)?, alpha, beta, settings.value("decay"))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "momentum-sum",
    title: "Momentum on a finite sum",
    about: "Minimises a finite sum by the heavy ball, pass by pass, lazily on sparse rows.",
    kind: Kind::FiniteSum,
    params: &[
        SUM_PASSES,
        LOSS,
        LAMBDA,
        SUM_BATCH,
        number("alpha", "0.1", TINY, BIG, "step size of the first pass"),
        number("beta", "0.9", 0.0, 0.999_999, "weight of the old direction; 0 is plain descent"),
        SUM_DECAY,
    ],
    paper: &[],
    source: Source {
        paper: "Polyak 1964, Some methods of speeding up the convergence of iteration methods",
        part: "the heavy ball",
    },
    files: &["core/src/finite_sum/momentum.rs"],
};
