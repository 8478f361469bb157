//! Theoretical-AI-SARAH: step sizes from the smoothness of every example along the step.
//!
//! Algorithms 1, 3 (uniform sampling) and 4 (importance sampling) of Shi et al. 2021, "AI-SARAH". With
//! L_i = max over η in [0, 1/L_i] of ‖∇²f_i(w − ηv)‖ for every i,
//!
//! - uniform: p_i = 1/n, L = max L_i;
//! - importance: p_i = L_i/Σ L_i, L = (1/n) Σ L_i;
//! - η = 1/L; w⁺ = w − ηv, i drawn with p, v⁺ = v + (∇f_i(w⁺) − ∇f_i(w))/(n p_i).
//!
//! The rule η_t = min(1/L̄ᵗ, (L̄ᵗ⁻¹/L̄ᵗ)η_{t−1}) of algorithms 3 and 4, started at 1/L⁰, is 1/L̄ᵗ always. The next outer
//! loop starts from w_t, t in {0, …, inner} drawn with q_t ∝ η_t, as a reservoir of one.
//!
//! For a generalised linear model ‖∇²f_i‖ = ‖x_i‖² φ''(z) + λ, so L_i is the fixed point of a scalar function that does
//! not increase with L: it is bisected, unless an end of the segment already decides it.
//!
//! Cost of a step: O(all stored values) for the L_i, which is why this is theory. [`Run::gradients`] counts the two
//! gradients of the step only. Memory: 4 vectors of length dim, n numbers, n indices.

use super::ai_sarah::AI_SARAH_PAPER;
use super::algorithm::{FiniteSum, Oracle, check_batch, check_step};
use super::recursive::{Recursion, Updates};
use super::run::{Event, Memory, Run};
use super::settings::inner;
use crate::error::{Error, Result};
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{BIG, LAMBDA, LOSS, TINY, choice, number, number_or};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// How the example of a step is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Every example alike.
    Uniform,
    /// In proportion to its smoothness L_i.
    Importance,
}

/// Configuration.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{FiniteSum, Glm, GlmLoss, Memory, Response, Sampling, TheoreticalAiSarah};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = TheoreticalAiSarah::new(10, Sampling::Importance)?; // no step size
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
pub struct TheoreticalAiSarah {
    inner: u64,
    sampling: Sampling,
}

// `Run::phase`: a full gradient is due; a step is due; the L_i are due, after a full gradient or after a step.
const OPEN: u64 = 0;
const MOVE: u64 = 1;
const MEASURE_FIRST: u64 = 2;
const MEASURE: u64 = 3;

impl TheoreticalAiSarah {
    /// Steps of an inner loop (≥ 1) and the sampling.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(inner: u64, sampling: Sampling) -> Result<Self> {
        if inner == 0 {
            return Err(Error::Param { what: "inner" });
        }
        Ok(Self { inner, sampling })
    }
}

/// The recursion's memory, then the drawn iterate (`dim`) and the L_i (n).
struct Parts<'m, T> {
    memory: Memory<'m, T>,
    chosen: &'m mut [T],
    smooth: &'m mut [T],
}

impl TheoreticalAiSarah {
    fn split<'m, T: Real>(memory: &'m mut Memory<'_, T>, oracle: &dyn Oracle<T>) -> Parts<'m, T> {
        let (real, rest) = memory.real.split_at_mut(Recursion::need(oracle, 1).real);
        let (chosen, smooth) = rest.split_at_mut(oracle.dim());
        Parts { memory: Memory { real, u32: memory.u32, scratch: memory.scratch }, chosen, smooth }
    }

    /// η = 1/L at the present w and v, a piece at a time: whether it is done. `norm_sq` of the run keeps ‖v‖², `delta` the
    /// sum H of the η, `other_bound` Σ L_i.
    fn measure<T: Real>(&self, oracle: &dyn Oracle<T>, run: &mut Run, parts: &mut Parts<'_, T>) -> Result<bool> {
        let n = oracle.len();
        let from = (run.cursor as usize).min(n - 1);
        let to = oracle.piece_end(from);
        oracle.smoothness_here(run, &mut parts.memory, from..to, &mut parts.smooth[from..to])?;
        if to < n {
            run.cursor = to as u64;
            return Ok(false);
        }
        run.cursor = 0;
        let (mut sum, mut largest) = (0.0f64, 0.0f64);
        for kept in parts.smooth.iter() {
            sum += kept.f64();
            largest = largest.or_larger(kept.f64());
        }
        run.other_bound = sum;
        let whole = match self.sampling {
            Sampling::Uniform => largest,
            Sampling::Importance => sum / n as f64,
        };
        run.alpha_max = if whole > 0.0 { 1.0 / whole } else { 0.0 };
        run.delta += run.alpha_max;
        Ok(true)
    }

    /// w⁺ and v⁺, by an example drawn from the measured L_i.
    fn advance<T: Real>(&self, oracle: &dyn Oracle<T>, run: &mut Run, parts: &mut Parts<'_, T>) -> Result<()> {
        let memory = &mut parts.memory;
        oracle.settle(run, memory);
        let before = run.clone();
        let eta = run.alpha_max;
        let (i, weight) = self.pick(run, parts.smooth);
        memory.u32[0] = i as u32;
        let looked = oracle.probe(run, memory);
        let moved = looked.and_then(|()| Recursion::advance(oracle, run, memory, eta, weight, Updates::Auto));
        if moved.is_err() {
            *run = before;
            return moved;
        }
        run.count(1, 2);
        run.alpha = eta;
        Ok(())
    }

    fn pick<T: Real>(&self, run: &mut Run, smooth: &[T]) -> (usize, f64) {
        let n = smooth.len();
        if self.sampling == Sampling::Uniform || run.other_bound <= 0.0 {
            return (run.rng.below(n as u32) as usize, 1.0);
        }
        let goal = run.rng.uniform() * run.other_bound;
        let mut passed = 0.0;
        let mut found = None;
        for (i, l) in smooth.iter().enumerate() {
            let l = l.f64();
            if l > 0.0 {
                found = Some((i, run.other_bound / (n as f64 * l)));
                passed += l;
                if passed > goal {
                    break;
                }
            }
        }
        found.unwrap_or((0, 1.0))
    }
}

impl<T: Real> FiniteSum<T> for TheoreticalAiSarah {
    fn batch(&self) -> usize {
        1
    }

    fn need(&self, oracle: &dyn Oracle<T>) -> Result<Need> {
        check_batch(oracle, 1)?;
        let base = Recursion::need(oracle, 1);
        Ok(Need { real: base.real + oracle.dim() + oracle.len(), ..base })
    }

    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        // Whether the sum knows the L_i at all.
        oracle.smoothness(w0, w0, 0..0, &mut [])?;
        let mut run = Run::begin(oracle, self.need(oracle)?, w0, seed, memory)?;
        let mut parts = Self::split(memory, oracle);
        oracle.place(&mut run, &mut parts.memory, w0);
        parts.chosen.copy_from_slice(w0);
        Ok(run)
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        let mut parts = Self::split(memory, oracle);
        if run.phase == OPEN {
            if !Recursion::full_gradient(oracle, run, &mut parts.memory)? {
                return Ok(Event::Part);
            }
            if run.norm_sq == 0.0 {
                return Ok(Event::Stationary);
            }
            run.delta = 0.0;
            run.phase = MEASURE_FIRST;
        } else if run.phase == MOVE {
            self.advance(oracle, run, &mut parts)?;
            run.phase = MEASURE;
        }
        if !self.measure(oracle, run, &mut parts)? {
            return Ok(Event::Part);
        }
        let first = run.phase == MEASURE_FIRST;
        run.phase = MOVE;
        if first {
            Recursion::params(oracle, run, parts.memory.view(), parts.chosen);
            return Ok(Event::FullGradient { norm_sq: run.norm_sq });
        }
        if run.rng.uniform() * run.delta < run.alpha_max {
            Recursion::params(oracle, run, parts.memory.view(), parts.chosen);
        }
        if run.inner >= self.inner {
            oracle.place(run, &mut parts.memory, parts.chosen);
            run.phase = OPEN;
        }
        Ok(Event::Step { alpha: run.alpha })
    }
}

impl TheoreticalAiSarah {
    /// Of settings, for `n` examples.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, _: f64) -> Result<Self> {
        let uniform = settings.text("sampling") == Some("uniform");
        let sampling = if uniform { Sampling::Uniform } else { Sampling::Importance };
        Self::new(inner(settings, n, 16)?, sampling)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "theoretical-ai-sarah",
    title: "Theoretical-AI-SARAH",
    about: "Minimises a finite sum of a linear model by steps from each example's smoothness; a step walks over all rows.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
    params: &[
        number("passes", "2", TINY, BIG, "passes: a full gradient is one, a step one row's share"),
        LOSS,
        LAMBDA,
        choice("sampling", "importance", &["importance", "uniform"], "rows in proportion to smoothness, or alike"),
        number_or("inner", "n/16", 1.0, 4e9, "steps of an inner loop"),
    ],
    paper: &[],
    source: Source { paper: AI_SARAH_PAPER, part: "algorithms 1, 3, 4" },
    files: &["core/src/finite_sum/theoretical_ai_sarah.rs", "core/src/finite_sum/recursive.rs"],
};
