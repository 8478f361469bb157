//! Adam on a finite sum, epoch by epoch.
//!
//! Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization": g = ∇f_S(w), m ← β₁m + (1 − β₁)g,
//! s ← β₂s + (1 − β₂)g², w ← w − α (m/(1 − β₁ᵗ))/(√(s/(1 − β₂ᵗ)) + ε), on consecutive minibatches of a fresh random order
//! in every pass; after each pass α ← (1 − decay)·α.
//!
//! Cost of a step: a gradient of the minibatch and O(dim): the quotient moves every column in every step and has no closed
//! form over several. Memory: 4 vectors of length dim, n indices.

use super::algorithm::{FiniteSum, Oracle, check_batch, check_out, check_step};
use super::draw;
use super::oracle::Examples;
use super::run::{Event, Memory, Run, View};
use super::settings::{batch, fraction, positive};
use super::vectors::{fits, limit, norm_sq};
use crate::error::{Error, Result};
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{BETA1, BETA2, BIG, EPS, LAMBDA, LOSS, SUM_BATCH, SUM_DECAY, SUM_PASSES, TINY, number};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Configuration.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{AdamSum, FiniteSum, Glm, GlmLoss, Memory, Response};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = AdamSum::new(2, 0.1, 0.05)?; // steps that shrink by 5 % a pass
/// let need = algorithm.need(&sum)?;
/// let (mut real, mut u32s) = (vec![0.0; need.real], vec![0; need.u32]);
/// let memory = &mut Memory { real: &mut real, u32: &mut u32s, scratch: &mut [] };
/// let mut run = algorithm.start(&sum, &[0.0], 1, memory)?;
/// for _ in 0..600 {
///     algorithm.step(&sum, &mut run, memory)?;
/// }
/// let mut w = [0.0f64];
/// algorithm.params(&sum, &run, memory.view(), &mut w)?;
/// assert!((w[0] - 1.1).abs() < 1e-2); // Σxy/Σx² = 33/30
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSum {
    batch: usize,
    alpha: f64,
    beta1: f64,
    beta2: f64,
    eps: f64,
    decay: f64,
}

/// Layout: w, m, s, work, all `dim` long.
struct Vectors<'m, T> {
    w: &'m mut [T],
    m: &'m mut [T],
    s: &'m mut [T],
    work: &'m mut [T],
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(real: &'m mut [T], dim: usize) -> Self {
        let (w, rest) = real.split_at_mut(dim);
        let (m, rest) = rest.split_at_mut(dim);
        let (s, work) = rest.split_at_mut(dim);
        Self { w, m, s, work }
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
    /// A bound of ‖w‖ after a step along a gradient so long.
    fn check<T: Real>(&self, run: &Run, gradient: f64, dim: usize) -> Result<f64> {
        // |m̂|/√ŝ is at most (1 − β₁)/√((1 − β₂)(1 − β₁²/β₂)) in each column; 10 is more than that for the defaults, and
        // √(1/(1 − β₂)) more than that for every choice.
        let reach = 10.0 + Real::sqrt(1.0 / (1.0 - self.beta2)) / (1.0 - self.beta1);
        let bound = run.bound + run.alpha * reach * Real::sqrt(dim as f64);
        let most = Real::sqrt(limit::<T>());
        if fits(gradient, most) && fits(bound, most) { Ok(bound) } else { Err(Error::Overflow { what: "w" }) }
    }

    /// The step along the gradient `work` + λw.
    fn advance<T: Real>(&self, run: &mut Run, lambda: f64, w: &mut [T], m: &mut [T], s: &mut [T], work: &[T]) {
        run.scale *= self.beta1;
        run.shift *= self.beta2;
        let (beta1, beta2, lambda, eps) = (T::of(self.beta1), T::of(self.beta2), T::of(lambda), T::of(self.eps));
        let (new1, new2) = (T::of(1.0 - self.beta1), T::of(1.0 - self.beta2));
        let step = T::of(run.alpha / (1.0 - run.scale));
        let root = T::of(1.0 / Real::sqrt(1.0 - run.shift));
        for (((w, m), s), work) in w.iter_mut().zip(m).zip(s).zip(work.iter()) {
            let g = (*work + lambda * *w).settled();
            *m = (beta1 * *m + new1 * g).settled_below(T::TINY);
            *s = (beta2 * *s + new2 * g * g).settled_below(T::TINY * T::EPSILON);
            *w -= step * *m / (s.sqrt() * root + eps);
        }
    }
}

impl<T: Real> FiniteSum<T> for AdamSum {
    fn batch(&self) -> usize {
        self.batch
    }

    fn need(&self, oracle: &dyn Oracle<T>) -> Result<Need> {
        check_batch(oracle, self.batch)?;
        Ok(Need { real: 4 * oracle.dim(), u32: oracle.len(), ..Need::NONE })
    }

    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        let run = Run::begin(oracle, self.need(oracle)?, w0, seed, memory)?;
        // β₁ᵗ and β₂ᵗ ride in `scale` and `shift`, both 1 before the first step; `bound` is that of ‖w‖.
        Ok(Run { scale: 1.0, shift: 1.0, bound: Real::sqrt(norm_sq(w0)), ..run })
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        let (n, lambda) = (oracle.len(), oracle.lambda());
        let Vectors { w, m, s, work } = Vectors::split(memory.real, oracle.dim());
        if run.phase == 0 {
            run.bound = Real::sqrt(norm_sq(w));
            return Ok(run.begin_pass(self.alpha, self.decay, memory.u32));
        }
        let turn = run.turn(n, self.batch);
        let which = Examples::Picked(&memory.u32[turn.clone()]);
        work.fill(T::ZERO);
        oracle.add_slopes(w, which, 1.0 / turn.len() as f64, work, memory.scratch)?;
        run.bound = self.check::<T>(run, Real::sqrt(norm_sq(work)) + lambda * run.bound, w.len())?;
        self.advance(run, lambda, w, m, s, work);
        Ok(run.end_turn(turn, n))
    }

    fn minibatch<'m>(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::consecutive(&memory.u32[..oracle.len().min(memory.u32.len())], run.inner, self.batch)
    }

    fn params(&self, oracle: &dyn Oracle<T>, _: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        check_out(oracle, self.need(oracle), memory, out)?;
        out.copy_from_slice(&memory.real[..out.len()]);
        Ok(())
    }
}

impl AdamSum {
    /// Of settings, for `n` examples.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, _: f64) -> Result<Self> {
        let (alpha, decay) = (settings.value("alpha"), settings.value("decay"));
        let moments = (settings.value("beta1"), settings.value("beta2"), settings.value("eps"));
        Self::new(batch(settings, n)?, alpha, decay)?.with_moments(moments.0, moments.1, moments.2)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "adam-sum",
    title: "Adam on a finite sum",
    about: "Minimises a finite sum by Adam, pass by pass.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
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
