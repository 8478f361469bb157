//! SVRG, the stochastic variance-reduced gradient.
//!
//! Johnson and Zhang 2013, "Accelerating Stochastic Gradient Descent using Predictive Variance Reduction". Outer loop:
//! anchor w̃, μ = ∇P(w̃); then `inner` times, on minibatches S, w ← w − α(∇f_S(w) − ∇f_S(w̃) + μ). The last iterate is the
//! next anchor.
//!
//! With u = w − w̃ a column that the minibatch does not hold obeys u_j ← (1 − λα)u_j − αμ_j, so u = s·û − m·μ with two
//! scalars common to all columns, and a step on sparse rows writes only û_j −= αg_j/s.
//!
//! Cost of a step: O(values of the minibatch) on sparse rows, O(b·dim) on dense ones. Memory: 4 vectors of length dim,
//! n indices, 2 numbers per example of the minibatch.

use super::glm::{fits, limit, norm_sq};
use super::run::{Event, Memory, Run, View};
use super::{FiniteSum, Glm, check_batch, check_start, draw, positive};
use crate::error::{Error, Result, exact_len};
use crate::registry::entry::{Entry, Kind, Source};
use crate::registry::params::{ALPHA, INNER, LAMBDA, LOSS, SUM_BATCH, SUM_PASSES};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Below this s the lazy vector is written out.
const SMALL_SCALE: f64 = 1.0 / 1_048_576.0;

/// Configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svrg {
    pub(super) batch: usize,
    pub(super) alpha: f64,
    pub(super) inner: u64,
}

/// Layout: anchor w̃, its gradient μ, û, zeroed work, all `dim` long; then `batch` coefficients.
struct Vectors<'m, T> {
    anchor: &'m mut [T],
    mean: &'m mut [T],
    away: &'m mut [T],
    work: &'m mut [T],
    coef: &'m mut [T],
    order: &'m mut [u32],
    partner: &'m mut [u32],
}

impl Svrg {
    /// Minibatch size, step size > 0, steps of an inner loop, all ≥ 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, alpha: f64, inner: u64) -> Result<Self> {
        positive("batch", batch as f64)?;
        if inner == 0 {
            return Err(Error::Param { what: "inner" });
        }
        Ok(Self { batch, alpha: positive("alpha", alpha)?, inner })
    }
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(memory: &'m mut Memory<'_, T>, glm: &Glm<'_, T>) -> Self {
        let dim = glm.dim();
        let (anchor, rest) = memory.real.split_at_mut(dim);
        let (mean, rest) = rest.split_at_mut(dim);
        let (away, rest) = rest.split_at_mut(dim);
        let (work, coef) = rest.split_at_mut(dim);
        let (order, partner) = memory.u32.split_at_mut(glm.len());
        Self { anchor, mean, away, work, coef, order, partner }
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
        glm.add_slopes(self.anchor, from, to, self.work);
        if to < glm.len() {
            run.cursor = to as u64;
            return Ok(false);
        }
        run.cursor = 0;
        let gradient = glm.finish_gradient(self.anchor, self.work);
        if let Ok(norm) = gradient {
            self.mean.copy_from_slice(self.work);
            run.other_bound = Real::sqrt(norm_sq(self.anchor));
            run.anchor(glm.len(), norm);
        }
        self.work.fill(T::ZERO);
        gradient.map(|_| true)
    }

    fn advance(&mut self, glm: &Glm<'_, T>, run: &mut Run, alpha: f64) -> Result<()> {
        let batch = self.partner.len();
        let share = T::of(1.0 / batch as f64);
        let (s, m) = (T::of(run.scale), T::of(run.shift));
        let mut pull = 0.0;
        let mut touched = 0;
        for k in 0..batch {
            let i = self.order[k] as usize;
            let y = glm.target(i);
            let at_anchor = glm.margin(i, self.anchor);
            let z = at_anchor + s * glm.margin(i, self.away) - m * glm.margin(i, self.mean);
            self.coef[k] = (glm.loss().slope(y, z) - glm.loss().slope(y, at_anchor)) * share;
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
                glm.add_row(self.order[k] as usize, self.coef[k], self.work);
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
                glm.add_row(self.order[k] as usize, coef, self.away);
            }
        }
        run.bound = bound;
        Ok(())
    }
}

impl<T: Real> FiniteSum<T> for Svrg {
    fn need(&self, glm: &Glm<'_, T>) -> Result<Need> {
        check_batch(glm, self.batch)?;
        Ok(Need { real: 4 * glm.dim() + self.batch, u32: glm.len() + self.batch, ..Need::NONE })
    }

    fn start(&self, glm: &Glm<'_, T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        check_start(glm, w0, self.need(glm)?, memory)?;
        let vectors = Vectors::split(memory, glm);
        vectors.anchor.copy_from_slice(w0);
        vectors.mean.fill(T::ZERO);
        vectors.away.fill(T::ZERO);
        vectors.work.fill(T::ZERO);
        draw::identity(vectors.order);
        Ok(Run::new(seed))
    }

    fn step(&self, glm: &Glm<'_, T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        memory.check(self.need(glm)?)?;
        let mut vectors = Vectors::split(memory, glm);
        if run.phase == 0 {
            let done = vectors.full_gradient(glm, run)?;
            return Ok(run.opened(done));
        }
        let before = run.clone();
        draw::subset(&mut run.rng, vectors.order, vectors.partner);
        if let Err(error) = vectors.advance(glm, run, self.alpha) {
            draw::undo(vectors.order, vectors.partner);
            *run = before;
            return Err(error);
        }
        run.count(self.batch, 2);
        run.alpha = self.alpha;
        if run.inner >= self.inner {
            run.phase = 0;
        }
        Ok(Event::Step { alpha: self.alpha })
    }

    fn minibatch<'m>(&self, _: &Glm<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::drawn(memory.u32, run.steps, self.batch)
    }

    fn params(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        memory.check(self.need(glm)?)?;
        let dim = glm.dim();
        exact_len("out", dim, out.len())?;
        let (s, m) = (T::of(run.scale), T::of(run.shift));
        for j in 0..dim {
            out[j] = memory.real[j] + s * memory.real[2 * dim + j] - m * memory.real[dim + j];
        }
        Ok(())
    }
}

impl Svrg {
    /// Of settings, for `n` examples, each at most `smooth`-smooth.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        let batch = super::batch(settings, n)?;
        Self::new(batch, super::step_size(settings, "alpha", 1.0, smooth)?, super::inner(settings, n, batch)?)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "svrg",
    title: "SVRG",
    about: "Minimises a finite sum by gradients whose variance an anchor reduces.",
    kind: Kind::FiniteSum,
    params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, INNER],
    paper: &[],
    source: Source {
        paper: "Johnson, Zhang 2013, Accelerating Stochastic Gradient Descent using Predictive Variance Reduction",
        part: "procedure SVRG, option I",
    },
    files: &["core/src/finite_sum/svrg.rs"],
};
