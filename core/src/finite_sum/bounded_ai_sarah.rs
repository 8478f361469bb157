//! AI-SARAH with fixed bounds of the step size.
//!
//! Algorithm 5 (the alternative analysis) of Shi et al. 2021, "AI-SARAH". Outer loop: v₀ = ∇P(w₀); `inner` times, on
//! minibatches S, α minimises ξ(α) = ‖∇f_S(w − αv) − ∇f_S(w) + v‖² over [α_min, α_max], by a Newton step from 0 that is
//! clamped; w⁺ = w − αv, v⁺ = ∇f_S(w⁺) − ∇f_S(w) + v. The next outer loop starts from w_t, t uniform in {0, …, inner}.
//!
//! t is drawn when the loop opens and the loop ends there: the same law for half the work. Where the Newton step does
//! not exist, α = α_min. α_min = α_max is SARAH.
//!
//! Cost and memory are those of AI-SARAH.

use super::ai_sarah::AI_SARAH_PAPER;
use super::algorithm::{FiniteSum, Oracle, check_step};
use super::recursive::{self, Recursion, StepModel, Updates};
use super::run::{Event, Memory, Run};
use super::settings::{batch, inner, positive, step_size};
use crate::Real;
use crate::error::{Error, Result};
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{BIG, INNER, LAMBDA, LOSS, SUM_BATCH, SUM_PASSES, TINY, number_or};
use crate::registry::settings::Settings;

/// Configuration.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{BoundedAiSarah, FiniteSum, Glm, GlmLoss, Memory, Response};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = BoundedAiSarah::new(2, 10, 0.01, 0.05)?; // steps between 0.01 and 0.05
/// let need = algorithm.need(&sum)?;
/// let (mut real, mut u32s) = (vec![0.0; need.real], vec![0; need.u32]);
/// let memory = &mut Memory { real: &mut real, u32: &mut u32s, scratch: &mut [] };
/// let mut run = algorithm.start(&sum, &[0.0], 1, memory)?;
/// for _ in 0..2000 {
///     algorithm.step(&sum, &mut run, memory)?;
/// }
/// let mut w = [0.0f64];
/// algorithm.params(&sum, &run, memory.view(), &mut w)?;
/// assert!((w[0] - 1.1).abs() < 1e-6); // Σxy/Σx² = 33/30
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedAiSarah {
    batch: usize,
    inner: u32,
    alpha_min: f64,
    alpha_max: f64,
}

impl BoundedAiSarah {
    /// Minibatch size ≥ 1, steps of an inner loop ≥ 1, 0 < `alpha_min` ≤ `alpha_max`.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, inner: u32, alpha_min: f64, alpha_max: f64) -> Result<Self> {
        positive("batch", batch as f64)?;
        if inner == 0 || inner == u32::MAX {
            return Err(Error::Param { what: "inner" });
        }
        positive("alpha_min", alpha_min)?;
        if positive("alpha_max", alpha_max)? < alpha_min {
            return Err(Error::Param { what: "alpha_max" });
        }
        Ok(Self { batch, inner, alpha_min, alpha_max })
    }
}

impl BoundedAiSarah {
    /// Draws the step at which the loop that has just opened ends.
    fn draw_end(&self, run: &mut Run) {
        run.mark = u64::from(run.rng.below(self.inner + 1));
        // t = 0 keeps w₀: the next loop opens at once.
        run.phase = u64::from(run.mark > 0);
    }

    fn clamp(&self, model: StepModel) -> f64 {
        model.newton().unwrap_or(self.alpha_min).or_larger(self.alpha_min).or_smaller(self.alpha_max)
    }
}

impl<T: Real> FiniteSum<T> for BoundedAiSarah {
    fn batch(&self) -> usize {
        self.batch
    }

    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        let mut run = Run::begin(oracle, self.need(oracle)?, w0, seed, memory)?;
        oracle.place(&mut run, memory, w0);
        run.alpha_max = self.alpha_max;
        Ok(run)
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        if let Some(event) = recursive::open(oracle, run, memory)? {
            if let Event::FullGradient { .. } = event {
                self.draw_end(run);
            }
            return Ok(event);
        }
        oracle.settle(run, memory);
        run.on_subset(oracle.len(), memory, |run, memory| {
            let model = oracle.model(run, memory, Updates::Auto)?;
            (run.slope, run.curvature) = (model.slope, model.curvature);
            let alpha = self.clamp(model);
            Recursion::advance(oracle, run, memory, alpha, 1.0, Updates::Auto)?;
            run.count(self.batch, 2);
            Ok(run.end_inner(alpha, |run| run.inner >= run.mark))
        })
    }
}

impl BoundedAiSarah {
    /// Of settings, for `n` examples, each at most `smooth`-smooth.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        let batch = batch(settings, n)?;
        let of = |name, share| step_size(settings, name, share, smooth);
        Self::new(batch, inner(settings, n, batch)? as u32, of("alpha-min", 1.0)?, of("alpha-max", 4.0)?)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "bounded-ai-sarah",
    title: "Bounded AI-SARAH",
    about: "Minimises a finite sum by AI-SARAH's steps within fixed bounds.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
    params: &[
        SUM_PASSES,
        LOSS,
        LAMBDA,
        SUM_BATCH,
        number_or(
            "alpha-min",
            "1/L",
            TINY,
            BIG,
            "least step size; L as for sarah (linear models; networks need a number)",
        ),
        number_or("alpha-max", "4/L", TINY, BIG, "greatest step size (networks need a number)"),
        INNER,
    ],
    paper: &[],
    source: Source { paper: AI_SARAH_PAPER, part: "algorithm 5" },
    files: &["core/src/finite_sum/bounded_ai_sarah.rs", "core/src/finite_sum/recursive.rs"],
};
