//! Stochastic gradient descent with momentum on a finite sum, epoch by epoch.
//!
//! Polyak 1964, in the form of common deep-learning libraries: g = ∇f_S(w), m ← βm + g, w ← w − αm, on consecutive
//! minibatches of a fresh random order in every pass; after each pass α ← (1 − decay)·α. β = 0 is plain SGD.
//!
//! Cost of a step on the rows of a linear model: O(values of the minibatch), and O(dim) once in 512 steps; memory there: 2
//! vectors of length dim, dim and n indices, 2048 numbers, and 1 per example of the minibatch (see `heavy_ball.rs`).
//! Elsewhere: one gradient of the minibatch, 3 vectors of length dim, and n indices.

use super::algorithm::{FiniteSum, Oracle, check_batch, check_order, check_out, check_step};
use super::draw;
use super::heavy_ball::HeavyBall;
use super::run::{Event, Memory, Run, View};
use super::settings::{batch, fraction, positive};
use crate::error::{Error, Result};
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{BIG, LAMBDA, LOSS, SUM_BATCH, SUM_DECAY, SUM_PASSES, TINY, number};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Configuration.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{FiniteSum, Glm, GlmLoss, Memory, MomentumSum, Response};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = MomentumSum::new(2, 0.02, 0.5, 0.05)?; // steps that shrink by 5 % a pass
/// let need = algorithm.need(&sum)?;
/// let (mut real, mut u32s) = (vec![0.0; need.real], vec![0; need.u32]);
/// let memory = &mut Memory { real: &mut real, u32: &mut u32s, scratch: &mut [] };
/// let mut run = algorithm.start(&sum, &[0.0], 1, memory)?;
/// for _ in 0..600 {
///     algorithm.step(&sum, &mut run, memory)?;
/// }
/// let mut w = [0.0f64];
/// algorithm.params(&sum, &run, memory.view(), &mut w)?;
/// assert!((w[0] - 1.1).abs() < 1e-3); // Σxy/Σx² = 33/30
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentumSum {
    batch: usize,
    alpha: f64,
    beta: f64,
    decay: f64,
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

impl<T: Real> FiniteSum<T> for MomentumSum {
    fn batch(&self) -> usize {
        self.batch
    }

    fn need(&self, oracle: &dyn Oracle<T>) -> Result<Need> {
        check_batch(oracle, self.batch)?;
        Ok(HeavyBall::need(oracle, self.batch))
    }

    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        HeavyBall::check(oracle, self.alpha, self.beta)?;
        Run::begin(oracle, self.need(oracle)?, w0, seed, memory)
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        let n = oracle.len();
        if run.phase == 0 {
            let event = run.begin_pass(self.alpha, self.decay, &mut memory.u32[..n]);
            HeavyBall::begin_pass(oracle, run, memory, self.beta);
            return Ok(event);
        }
        let turn = run.turn(n, self.batch);
        HeavyBall::advance(oracle, run, memory, turn.clone(), self.beta)?;
        Ok(run.end_turn(turn, n))
    }

    fn minibatch<'m>(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::consecutive(&memory.u32[..oracle.len().min(memory.u32.len())], run.inner, self.batch)
    }

    fn params(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        check_out(oracle, self.need(oracle), memory, out)?;
        HeavyBall::params(oracle, run, memory, out);
        Ok(())
    }

    fn check(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'_, T>) -> Result<()> {
        let n = oracle.len();
        check_order(n, self.need(oracle), memory)?;
        let sound = HeavyBall::sound(oracle, run, &memory.u32[n..]);
        if sound { Ok(()) } else { Err(Error::Index { what: "memory.u32", at: n, len: n }) }
    }
}

impl MomentumSum {
    /// Of settings, for `n` examples.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, _: f64) -> Result<Self> {
        let (alpha, beta) = (settings.value("alpha"), settings.value("beta"));
        Self::new(batch(settings, n)?, alpha, beta, settings.value("decay"))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "momentum-sum",
    title: "Momentum on a finite sum",
    about: "Minimises a finite sum by the heavy ball, pass by pass, lazily on sparse rows.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
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
    files: &["core/src/finite_sum/momentum.rs", "core/src/finite_sum/heavy_ball.rs"],
};
