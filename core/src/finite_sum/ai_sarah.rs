//! AI-SARAH, the SARAH recursion with a step size that needs no tuning.
//!
//! Algorithm 2 of Shi et al. 2021, "AI-SARAH: Adaptive and Implicit Stochastic Recursive Gradient Methods". Outer loop:
//! v₀ = ∇P(w₀). While ‖v‖² ≥ γ‖v₀‖², on a minibatch S:
//!
//! - α̃ = −ξ'(0)/|ξ''(0)| with ξ(α) = ‖∇f_S(w − αv) − ∇f_S(w) + v‖²; for a generalised linear model, with z = x_iᵀw and
//!   a = x_iᵀv, ξ'(0) = −2 vᵀHv and ξ''(0) = 2‖Hv‖² + (2/b) Σ φ'''(z_i)a_i³, Hv = (1/b) Σ φ''(z_i)a_i x_i + λv;
//! - δ = 1/α̃ at the very first step, else δ ← βδ + (1 − β)/α̃; it is carried from one outer loop to the next;
//! - α = min(α̃, 1/δ), w⁺ = w − αv, v⁺ = ∇f_S(w⁺) − ∇f_S(w) + v.
//!
//! Deviations: a minibatch with ξ'(0) ≥ 0 or ξ''(0) = 0 is skipped and δ left untouched (the paper divides by zero
//! there), and ⌈n/b⌉ skips in a row end the inner loop. The replay of given step sizes is an addition, for tests.
//!
//! On a sum that is not convex vᵀHv can be ≤ 0, and there is no Newton step: such a minibatch is skipped, too. The
//! derivatives are those of [`Gradients::along`](super::Gradients::along), exact for linear models and networks; where they
//! are differences of gradients α̃ is as exact as these.
//!
//! Cost of a step: O(values of the minibatch) on sparse rows of a linear model, O(b·dim) on dense ones; elsewhere one
//! gradient of the minibatch and the derivatives along v (exact on a network: a third of its cost more than a gradient; by
//! differences: three gradients). Memory: 3 vectors of length dim, n indices, and 4 numbers per example of the minibatch;
//! elsewhere 4 vectors, n indices and one per example of the minibatch. [`Run::gradients`] counts two a step.

use super::algorithm::{FiniteSum, Oracle, check_step};
use super::recursive::{self, Recursion, StepModel, Updates};
use super::run::{Event, Memory, Run};
use super::settings::{batch, fraction, positive};
use crate::Real;
use crate::error::Result;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{LAMBDA, LOSS, STOP, SUM_BATCH, SUM_PASSES, number};
use crate::registry::settings::Settings;

/// Configuration; the defaults are the paper's and need no tuning.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{AiSarah, FiniteSum, Glm, GlmLoss, Memory, Response};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = AiSarah::new(2, 1.0 / 32.0, 0.999)?; // no step size
/// let need = algorithm.need(&sum)?;
/// let (mut real, mut u32s) = (vec![0.0; need.real], vec![0; need.u32]);
/// let memory = &mut Memory { real: &mut real, u32: &mut u32s, scratch: &mut [] };
/// let mut run = algorithm.start(&sum, &[0.0], 1, memory)?;
/// for _ in 0..300 {
///     algorithm.step(&sum, &mut run, memory)?;
/// }
/// let mut w = [0.0f64];
/// algorithm.params(&sum, &run, memory.view(), &mut w)?;
/// assert!((w[0] - 1.1).abs() < 1e-6); // Σxy/Σx² = 33/30
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AiSarah {
    batch: usize,
    stop: f64,
    beta: f64,
    updates: Updates,
}

impl Default for AiSarah {
    fn default() -> Self {
        Self { batch: 64, stop: 1.0 / 32.0, beta: 0.999, updates: Updates::Auto }
    }
}

impl AiSarah {
    /// Minibatch size (≥ 1), stop γ in (0, 1), smoothing β in [0, 1).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, stop: f64, beta: f64) -> Result<Self> {
        positive("stop", fraction("stop", stop)?)?;
        positive("batch", batch as f64)?;
        Ok(Self { batch, stop, beta: fraction("beta", beta)?, updates: Updates::Auto })
    }

    /// With a fixed way of writing the vectors.
    #[must_use]
    pub fn with_updates(self, updates: Updates) -> Self {
        Self { updates, ..self }
    }

    /// A step as [`step`](FiniteSum::step) does it, but moving by `alpha` (or skipping, for `None`) and ending the inner
    /// loop only if `last`. For replaying a recorded run.
    ///
    /// # Errors
    /// As `step`.
    pub fn replay<T: Real>(
        &self,
        oracle: &dyn Oracle<T>,
        run: &mut Run,
        memory: &mut Memory<'_, T>,
        alpha: Option<f64>,
        last: bool,
    ) -> Result<Event> {
        let opens = run.phase == 0;
        let event = self.moved(oracle, run, memory, |_, _| alpha)?;
        if !opens {
            run.phase = u64::from(!last);
        }
        Ok(event)
    }

    /// A step by a size that is chosen of ξ'(0) and ξ''(0).
    fn moved<T: Real>(
        &self,
        oracle: &dyn Oracle<T>,
        run: &mut Run,
        memory: &mut Memory<'_, T>,
        choose: impl FnOnce(&mut Run, StepModel) -> Option<f64>,
    ) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        if let Some(event) = recursive::open(oracle, run, memory)? {
            return Ok(event);
        }
        oracle.settle(run, memory);
        run.on_subset(oracle.len(), memory, |run, memory| {
            let model = oracle.model(run, memory, self.updates)?;
            (run.slope, run.curvature) = (model.slope, model.curvature);
            run.count(self.batch, 2);
            let Some(alpha) = choose(run, model) else {
                run.skipped += 1;
                if run.skipped >= oracle.len().div_ceil(self.batch) as u64 {
                    run.phase = 0;
                }
                return Ok(Event::Skipped);
            };
            Recursion::advance(oracle, run, memory, alpha, 1.0, self.updates)?;
            run.skipped = 0;
            Ok(run.end_inner(alpha, |run| run.norm_sq < self.stop * run.start_norm_sq))
        })
    }
}

impl<T: Real> FiniteSum<T> for AiSarah {
    fn batch(&self) -> usize {
        self.batch
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        self.moved(oracle, run, memory, |run, model| {
            let (alpha, cap) = model.bounded(self.beta, &mut run.delta)?;
            run.alpha_max = cap;
            Some(alpha)
        })
    }
}

impl AiSarah {
    /// Of settings, for `n` examples.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, _: f64) -> Result<Self> {
        Self::new(batch(settings, n)?, settings.value("stop"), settings.value("beta"))
    }
}

pub(super) const AI_SARAH_PAPER: &str =
    "Shi, Sadiev, Loizou, Richtarik, Takac 2021, AI-SARAH: Adaptive and Implicit Stochastic Recursive Gradient Methods";

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "ai-sarah",
    title: "AI-SARAH",
    about: "Minimises a finite sum with step sizes that need no tuning.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
    params: &[
        SUM_PASSES,
        LOSS,
        LAMBDA,
        SUM_BATCH,
        STOP,
        number("beta", "0.999", 0.0, 0.999_999_999, "weight of the old bound in the bound of the step size"),
    ],
    paper: &[],
    source: Source { paper: AI_SARAH_PAPER, part: "algorithm 2" },
    files: &["core/src/finite_sum/ai_sarah.rs", "core/src/finite_sum/recursive.rs"],
};
