//! PPD-SG: proximal primal-dual stochastic gradient.
//!
//! Source: Liu, Yuan, Ying and Yang 2020, "Stochastic AUC Maximization with Deep Neural Networks", algorithm 2.
//!
//! v = parameters and descent auxiliaries, α = the ascent ones, last. For stages k = 0, 1, … with T_k and η_k of
//! [`Stages`], from v₀ = v̄_{k−1} and α₀ = ᾱ_{k−1}:
//!
//! ```text
//! v ← v − η_k(ĝ_v + (v − v₀)/prox)        α ← α + η_k ĝ_α                T_k − 1 times
//! v̄_k = mean of the iterates t = 0 … T_k − 1
//! ᾱ_k = mean of h(w̄_k) over the negatives − over the positives, on a fresh minibatch
//! ```
//!
//! Gradients by ascent auxiliaries come with their sign flipped, so that one rule serves both. The reset asks for
//! [`Ask::ClassMeans`] with so many batches; without resets, or where the batches had but one class, ᾱ_k is the mean of
//! α's iterates. With several ascent variables (pairs of classes) the answer to a reset is ᾱ_k itself,
//! [`Answer::Duals`]. Deviation: v starts where the points start, not at 0 (a
//! network cannot start there), an optional weight decay is added to ĝ, and every stage takes at least one step.
//!
//! Points: 0 the iterate, 1 the mean of the stage's iterates so far. Slots: v₀, α₀ (d values). Counters: steps, stage,
//! steps in the stage, phase. Cost O(d) a step.

use super::stages::{after_steps, ask, between, phase};
use super::{Algorithm, Answer, Ask, COUNTERS, Point, Stages, State, answer, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Proximal primal-dual stochastic gradient.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, PpdSg, Stages, State};
///
/// let rule = PpdSg::new(Stages::practice(0.5, 20.0, 0.0)?, f64::INFINITY, 0.0, 1)?; // the last entry is maximised over
/// let (mut points, mut slots) = (vec![0.0; 2 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // min over v, max over α of ½v² + α(1 − v) − ½α², whose saddle point is v = α = ½.
/// for _ in 0..1000 {
///     let (v, alpha) = (state.points[0], state.points[1]);
///     match rule.next(&state) {
///         // (The derivative by α comes with its sign flipped.)
///         Ask::Evaluate { .. } => {
///             rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[v - alpha, alpha - (1.0 - v)] })?;
///         }
///         _ => rule.tell(&mut state, Answer::Continue)?, // the end of a stage
///     }
/// }
/// assert!((points[0] - 0.5f64).abs() < 1e-3 && (points[1] - 0.5f64).abs() < 1e-3);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PpdSg {
    stages: Stages,
    prox: f64,
    decay: f64,
    ascent: usize,
    answer: Point,
}

impl PpdSg {
    /// - `prox` > 0 (infinite: no proximal term): the γ of the proximal term.
    /// - `decay` ≥ 0.
    /// - `ascent`: how many of the last entries are maximised over.
    ///
    /// # Errors
    /// `Param`; also for dual resets without an ascent variable.
    pub fn new(stages: Stages, prox: f64, decay: f64, ascent: usize) -> Result<Self> {
        if prox.is_nan() || prox <= 0.0 {
            return Err(Error::Param { what: "prox" });
        }
        if stages.reset(0) > 0 && ascent == 0 {
            return Err(Error::Param { what: "reset" });
        }
        Ok(Self { stages, prox, decay: in_range("decay", decay, 0.0, f64::INFINITY)?, ascent, answer: Point(0) })
    }

    /// With the point that is looked at between steps: 0, the last iterate, unless told otherwise, or
    /// 1, the mean of the stage.
    #[must_use]
    pub fn with_answer(self, answer: Point) -> Self {
        Self { answer: Point(answer.0.min(1)), ..self }
    }
}

impl<T: Real> Algorithm<T> for PpdSg {
    /// The decay, 1/prox; of a step the rate, and the share of the new iterate in the mean, ½ in the first step of a stage.
    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::new("ppd-sg", &[self.decay, 1.0 / self.prox]))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        super::stages::pace(&self.stages, 2, after_steps(&self.stages, counters[1]), counters, out)
    }
    fn points(&self) -> usize {
        2
    }
    fn iterate(&self) -> Point {
        self.answer
    }
    fn slots_len(&self, params: usize) -> usize {
        params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        ask(&self.stages, state.counters)
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        if state.counters[3] >= phase::RESET {
            return between(self.ascent, state, answer);
        }
        let len = state.points.len() / 2;
        let grad = gradient(len, state, len, answer)?;
        let split = len.checked_sub(self.ascent).ok_or(Error::Param { what: "ascent" })?;
        let (stage, done) = (state.counters[1], state.counters[2]);
        let lr = T::of(self.stages.lr(stage));
        let (pull, decay) = (T::of(1.0 / self.prox), T::of(self.decay));
        let start = state.counters[3] == phase::START;
        let (iterate, mean) = state.points.split_at_mut(len);
        let anchor = &mut state.slots[..];
        let moved = |k: usize, u: T, anchor: T| {
            let anchor = if start { u } else { anchor };
            let extra = if k < split { decay * u + pull * (u - anchor) } else { T::ZERO };
            u - lr * (grad[k] + extra).settled()
        };
        let mut odd = T::ZERO;
        for (k, (&u, &anchor)) in iterate.iter().zip(&*anchor).enumerate() {
            let u = moved(k, u, anchor);
            odd += T::ZERO * u;
        }
        if odd != T::ZERO {
            return Err(Error::Overflow { what: "params" });
        }
        // Iterates 0 … done + 1 are in the mean after this step.
        let share = T::of(1.0 / (done + 2) as f64);
        for (k, ((u, mean), anchor)) in iterate.iter_mut().zip(mean).zip(anchor).enumerate() {
            if start {
                *anchor = *u;
            }
            if done == 0 {
                *mean = *u;
            }
            *u = moved(k, *u, *anchor);
            *mean += (*u - *mean) * share;
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        state.counters[2] = done.saturating_add(1);
        state.counters[3] =
            if done + 2 >= self.stages.steps(stage) { after_steps(&self.stages, stage) } else { phase::STEPS };
        Ok(())
    }
}

impl PpdSg {
    /// Of settings; the last `ascent` entries are maximised over.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        let stages = match Stages::are_of_theory(settings) {
            false => Stages::of_practice(settings)?,
            true => {
                let (mu, l, l_tilde) = (settings.value("mu"), settings.value("smoothness"), settings.value("l-tilde"));
                Stages::theory(settings.value("lr"), mu, l, l_tilde, settings.value("reset"))?
            }
        };
        let algorithm = Self::new(stages, Stages::prox(settings), settings.decay(), ascent)?;
        Ok(algorithm.with_answer(answer(settings)))
    }
}
