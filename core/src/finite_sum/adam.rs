//! Adam on a finite sum, epoch by epoch.
//!
//! Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization": g = ∇f_S(w), m ← β₁m + (1 − β₁)g,
//! s ← β₂s + (1 − β₂)g², w ← w − α (m/(1 − β₁ᵗ))/(√(s/(1 − β₂ᵗ)) + ε), on consecutive minibatches of a fresh random order
//! in every pass; after each pass α ← (1 − decay)·α.
//!
//! Cost of a step: O(values of the minibatch + dim): the quotient moves every column in every step and has no closed
//! form over several. Memory: 4 vectors of length dim, n indices, 1 number per example of the minibatch.

use super::glm::{fits, limit, norm_sq};
use super::run::{Event, Memory, Run, View};
use super::{FiniteSum, Glm, check_batch, check_start, draw, fraction, positive};
use crate::error::{Error, Result, exact_len};
use crate::registry::entry::{Entry, Kind, Source};
use crate::registry::params::{BETA1, BETA2, BIG, EPS, LAMBDA, LOSS, SUM_BATCH, SUM_DECAY, SUM_PASSES, TINY, number};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSum {
    pub(super) batch: usize,
    pub(super) alpha: f64,
    beta1: f64,
    beta2: f64,
    eps: f64,
    pub(super) decay: f64,
}

/// Layout: w, m, s, zeroed work, all `dim` long; `batch` coefficients.
struct Vectors<'m, T> {
    w: &'m mut [T],
    m: &'m mut [T],
    s: &'m mut [T],
    work: &'m mut [T],
    coef: &'m mut [T],
    order: &'m mut [u32],
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(memory: &'m mut Memory<'_, T>, dim: usize) -> Self {
        let (w, rest) = memory.real.split_at_mut(dim);
        let (m, rest) = rest.split_at_mut(dim);
        let (s, rest) = rest.split_at_mut(dim);
        let (work, coef) = rest.split_at_mut(dim);
        Self { w, m, s, work, coef, order: memory.u32 }
    }
}

impl AdamSum {
    /// Minibatch size ≥ 1, initial step size > 0, decay per pass in [0, 1); β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, alpha: f64, decay: f64) -> Result<Self> {
        positive("batch", batch as f64)?;
        Ok(Self {
            batch,
            alpha: positive("alpha", alpha)?,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-8,
            decay: fraction("decay", decay)?,
        })
    }

    /// With other β₁, β₂ in [0, 1) and ε > 0.
    ///
    /// # Errors
    /// `Param`.
    pub fn with_moments(self, beta1: f64, beta2: f64, eps: f64) -> Result<Self> {
        Ok(Self {
            beta1: fraction("beta1", beta1)?,
            beta2: fraction("beta2", beta2)?,
            eps: positive("eps", eps)?,
            ..self
        })
    }
}

impl AdamSum {
    /// β₁ᵗ and β₂ᵗ ride in `scale` and `shift`, both 1 before the first step; `bound` is that of ‖w‖.
    pub(super) fn begin(run: &mut Run, w0_norm_sq: f64) {
        (run.scale, run.shift) = (1.0, 1.0);
        run.bound = Real::sqrt(w0_norm_sq);
    }

    /// A bound of ‖w‖ after a step along a gradient so long.
    pub(super) fn check<T: Real>(&self, run: &Run, gradient: f64, dim: usize) -> Result<f64> {
        // |m̂|/√ŝ is at most (1 − β₁)/√((1 − β₂)(1 − β₁²/β₂)) in each column; 10 is more than that for the defaults, and
        // √(1/(1 − β₂)) more than that for every choice.
        let reach = 10.0 + Real::sqrt(1.0 / (1.0 - self.beta2)) / (1.0 - self.beta1);
        let bound = run.bound + run.alpha * reach * Real::sqrt(dim as f64);
        let most = Real::sqrt(limit::<T>());
        if fits(gradient, most) && fits(bound, most) { Ok(bound) } else { Err(Error::Overflow { what: "w" }) }
    }

    /// The step along the gradient `work` + λw; `work` becomes zero.
    pub(super) fn advance<T: Real>(
        &self,
        run: &mut Run,
        lambda: f64,
        w: &mut [T],
        m: &mut [T],
        s: &mut [T],
        work: &mut [T],
    ) {
        run.scale *= self.beta1;
        run.shift *= self.beta2;
        let (beta1, beta2, lambda, eps) = (T::of(self.beta1), T::of(self.beta2), T::of(lambda), T::of(self.eps));
        let (new1, new2) = (T::of(1.0 - self.beta1), T::of(1.0 - self.beta2));
        let step = T::of(run.alpha / (1.0 - run.scale));
        let root = T::of(1.0 / Real::sqrt(1.0 - run.shift));
        for (((w, m), s), work) in w.iter_mut().zip(m).zip(s).zip(work) {
            let g = (*work + lambda * *w).settled();
            *work = T::ZERO;
            *m = (beta1 * *m + new1 * g).settled_below(T::TINY);
            *s = (beta2 * *s + new2 * g * g).settled_below(T::TINY * T::EPSILON);
            *w -= step * *m / (s.sqrt() * root + eps);
        }
    }
}

impl<T: Real> FiniteSum<T> for AdamSum {
    fn need(&self, glm: &Glm<'_, T>) -> Result<Need> {
        check_batch(glm, self.batch)?;
        Ok(Need { real: 4 * glm.dim() + self.batch, u32: glm.len(), ..Need::NONE })
    }

    fn start(&self, glm: &Glm<'_, T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        check_start(glm, w0, self.need(glm)?, memory)?;
        let vectors = Vectors::split(memory, glm.dim());
        vectors.w.copy_from_slice(w0);
        vectors.m.fill(T::ZERO);
        vectors.s.fill(T::ZERO);
        vectors.work.fill(T::ZERO);
        draw::identity(vectors.order);
        let mut run = Run::new(seed);
        Self::begin(&mut run, norm_sq(w0));
        Ok(run)
    }

    fn step(&self, glm: &Glm<'_, T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        memory.check(self.need(glm)?)?;
        let vectors = Vectors::split(memory, glm.dim());
        if run.phase == 0 {
            run.bound = Real::sqrt(norm_sq(vectors.w));
            return Ok(run.begin_pass(self.alpha, self.decay, vectors.order));
        }
        let n = glm.len();
        let turn = run.turn(n, self.batch);
        let (from, size) = (turn.start, turn.len());
        let share = T::of(1.0 / size as f64);
        let mut pull = 0.0;
        for k in 0..size {
            let i = vectors.order[from + k] as usize;
            vectors.coef[k] = glm.loss().slope(glm.target(i), glm.margin(i, vectors.w)) * share;
            pull += vectors.coef[k].f64().abs();
        }
        let bound = self.check::<T>(run, pull * glm.max_row_norm() + glm.lambda() * run.bound, glm.dim())?;
        for k in 0..size {
            glm.add_row(vectors.order[from + k] as usize, vectors.coef[k], vectors.work);
        }
        run.bound = bound;
        self.advance(run, glm.lambda(), vectors.w, vectors.m, vectors.s, vectors.work);
        Ok(run.end_turn(turn, n))
    }

    fn minibatch<'m>(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::consecutive(&memory.u32[..glm.len().min(memory.u32.len())], run.inner, self.batch)
    }

    fn params(&self, glm: &Glm<'_, T>, _: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        memory.check(self.need(glm)?)?;
        exact_len("out", glm.dim(), out.len())?;
        out.copy_from_slice(&memory.real[..glm.dim()]);
        Ok(())
    }
}

impl AdamSum {
    /// Of settings, for `n` examples.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, _: f64) -> Result<Self> {
        let (alpha, decay) = (settings.value("alpha"), settings.value("decay"));
        let moments = (settings.value("beta1"), settings.value("beta2"), settings.value("eps"));
        Self::new(super::batch(settings, n)?, alpha, decay)?.with_moments(moments.0, moments.1, moments.2)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "adam-sum",
    title: "Adam on a finite sum",
    about: "Minimises a finite sum by Adam, pass by pass.",
    kind: Kind::FiniteSum,
    params: &[
        SUM_PASSES,
        LOSS,
        LAMBDA,
        SUM_BATCH,
        number("alpha", "0.01", TINY, BIG, "step size of the first pass"),
        BETA1,
        BETA2,
        EPS,
        SUM_DECAY,
    ],
    paper: &[],
    source: Source { paper: "Kingma, Ba 2015, Adam: A Method for Stochastic Optimization", part: "algorithm 1" },
    files: &["core/src/finite_sum/adam.rs"],
};
