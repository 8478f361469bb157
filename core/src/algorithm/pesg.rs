//! PESG: proximal epoch stochastic gradient for the min-max margin objective.
//!
//! Source: Yuan, Yan, Sonka and Yang 2021, "Large-scale Robust Deep AUC Maximization", algorithm 1; Guo, Yan, Yuan and Yang
//! 2020, "Fast Objective & Duality Gap Convergence for Nonconvex-Strongly-Concave Min-Max Problems".
//!
//! v = parameters and descent auxiliaries, α = the ascent ones, last. In stage k with rate η_k and length T_k of
//! [`Stages`]:
//!
//! ```text
//! v ← v − η_k(ĝ_v + pull·(v − v_ref) + decay·v)        α ← max(α + η_k ĝ_α, 0)
//! at the end: v_ref ← mean of the stage's iterates t = 1 … T_k
//! ```
//!
//! The iterate itself goes on. Deviation: α starts at the larger of 0 and its start value. Points: 0 the iterate, 1 the
//! mean of the stage's iterates so far. Slots: v_ref (d values). Counters: steps, stage, steps in the stage, phase. Cost
//! O(d) a step.

use super::stages::phase;
use super::{Algorithm, Answer, Ask, COUNTERS, FRESH_GRADIENT, Point, Stages, State, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Proximal epoch stochastic gradient.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Pesg, Stages, State};
///
/// let rule = Pesg::new(Stages::new(0.2, 0.5, 100.0, 1.0, 0.0)?, 0.0, 0.0, 1)?; // the last entry is maximised over, ≥ 0
/// let (mut points, mut slots) = (vec![0.0; 2 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // min over v, max over α ≥ 0 of ½(v − 2)² + α(1 − v) − ½α²: the constraint on α holds it at 0.
/// for _ in 0..300 {
///     let (v, alpha) = (state.points[0], state.points[1]);
///     match rule.next(&state) {
///         // (The derivative by α comes with its sign flipped.)
///         Ask::Evaluate { .. } => {
///             rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[v - 2.0 - alpha, alpha - (1.0 - v)] })?;
///         }
///         _ => rule.tell(&mut state, Answer::Continue)?, // the end of a stage
///     }
/// }
/// assert!((points[0] - 2.0f64).abs() < 1e-3);
/// assert_eq!(points[1], 0.0);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pesg {
    stages: Stages,
    pull: f64,
    decay: f64,
    ascent: usize,
}

impl Pesg {
    /// - `stages`: its dual batches are not used.
    /// - `pull` ≥ 0: weight of the pull toward the last stage's mean; `decay` ≥ 0.
    /// - `ascent`: how many of the last entries are maximised over.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(stages: Stages, pull: f64, decay: f64, ascent: usize) -> Result<Self> {
        Ok(Self {
            stages,
            pull: in_range("pull", pull, 0.0, f64::INFINITY)?,
            decay: in_range("decay", decay, 0.0, f64::INFINITY)?,
            ascent,
        })
    }
}

impl<T: Real> Algorithm<T> for Pesg {
    /// The decay, the pull; of a step the rate, and the share of the new iterate in the mean, 1 in the first step of a stage.
    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::new("pesg", &[self.decay, self.pull]))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        super::stages::pace(&self.stages, 1, phase::REPORT, counters, out)
    }
    fn points(&self) -> usize {
        2
    }
    fn slots_len(&self, params: usize) -> usize {
        params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        if state.counters[3] == phase::REPORT { Ask::Report { at: Point(0) } } else { FRESH_GRADIENT }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let len = state.points.len() / 2;
        let (stage, done) = (state.counters[1], state.counters[2]);
        if state.counters[3] == phase::REPORT {
            let Answer::Continue = answer else {
                return Err(Error::Param { what: "answer" });
            };
            state.slots.copy_from_slice(&state.points[len..]);
            state.counters[1] = state.counters[1].saturating_add(1);
            state.counters[2] = 0;
            state.counters[3] = phase::STEPS;
            return Ok(());
        }
        let grad = gradient(len, state, len, answer)?;
        let split = len.checked_sub(self.ascent).ok_or(Error::Param { what: "ascent" })?;
        let lr = T::of(self.stages.lr(stage));
        let (pull, decay) = (T::of(self.pull), T::of(self.decay));
        let start = state.counters[3] == phase::START;
        let (iterate, mean) = state.points.split_at_mut(len);
        let reference = &mut state.slots[..];
        let moved = |k: usize, u: T, reference: T| {
            let reference = if start { u } else { reference };
            if k < split {
                u - lr * (grad[k] + pull * (u - reference) + decay * u).settled()
            } else {
                (u - lr * grad[k].settled()).or_larger(T::ZERO)
            }
        };
        let mut odd = T::ZERO;
        for k in 0..len {
            let u = moved(k, iterate[k], reference[k]);
            odd += T::ZERO * u;
        }
        if odd != T::ZERO {
            return Err(Error::Overflow { what: "params" });
        }
        let share = T::of(1.0 / done.saturating_add(1) as f64);
        for k in 0..len {
            let u = iterate[k];
            iterate[k] = moved(k, u, reference[k]);
            if start {
                reference[k] = u;
            }
            mean[k] = if done == 0 { iterate[k] } else { mean[k] + (iterate[k] - mean[k]) * share };
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        state.counters[2] = done.saturating_add(1);
        state.counters[3] =
            if done.saturating_add(1) >= self.stages.steps(stage) { phase::REPORT } else { phase::STEPS };
        Ok(())
    }
}

impl Pesg {
    /// Of settings; the last `ascent` entries are maximised over.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        let stages = Stages::new(settings.value("lr"), 0.1, settings.value("stage"), 1.0, 0.0)?;
        Self::new(stages, settings.value("pull"), settings.decay(), ascent)
    }
}
