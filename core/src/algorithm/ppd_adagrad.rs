//! PPD-AdaGrad: proximal primal-dual AdaGrad.
//!
//! Source: Liu, Yuan, Ying and Yang 2020, "Stochastic AUC Maximization with Deep Neural Networks", algorithm 3 inside
//! algorithm 2, lemma 3.
//!
//! u = [v; α], stages as in [`PpdSg`](super::PpdSg). Within stage k from u₀, with ĝ_τ = [ĝ_v + (v − v₀)/prox; −ĝ_α]:
//!
//! ```text
//! s_i = ‖ĝ_{1:t,i}‖₂          H = δI + diag(s)
//! u_{t+1} = argmin_u η_k⟨1/t Σ_τ ĝ_τ, u⟩ + 1/(2t)⟨u − u₀, H(u − u₀)⟩ = u₀ − η_k H⁻¹ Σ_{τ≤t} ĝ_τ
//! ```
//!
//! Length of a stage: T_k of [`Stages`] ([`StageLength::Fixed`]), or with its real length as M_k the first
//!
//! ```text
//! T ≥ M_k max((δ + max_i s_i) max(1, 8L̃²)/c, 2c(Σ_i s_i + d'(δ + max_i s_i)))        c = 1/√d', d' entries in u
//! ```
//!
//! ([`StageLength::Data`], lemma 3, or [`StageLength::Theory`], theorem 3; s is known only up to the gradient before, so T − 1 steps are the first that meet it).
//! Points: 0 the iterate, 1 the mean of the stage's iterates so far. Slots: u₀, Σ ĝ, Σ ĝ² (3d values). Counters: steps,
//! stage, steps in the stage, phase. Cost O(d) a step.

use super::stages::{after_steps, ask, between, phase};
use super::{Algorithm, Answer, Ask, COUNTERS, Point, Stages, State, answer, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

/// When a stage ends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StageLength {
    /// After the steps of the schedule.
    Fixed,
    /// When the gradients seen say so.
    Data {
        /// L̃, the bound of ‖∇h‖.
        l_tilde: f64,
    },
    /// As `Data`, with c times the real length of the stages as M_k: theorem 3, with
    /// [`Stages::theory_adagrad`].
    Theory {
        /// L̃, the bound of ‖∇h‖.
        l_tilde: f64,
    },
}

/// Proximal primal-dual AdaGrad.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, PpdAdagrad, StageLength, Stages, State};
///
/// let stages = Stages::practice(0.5, 20.0, 0.0)?;
/// let rule = PpdAdagrad::new(stages, f64::INFINITY, 0.1, StageLength::Fixed, 1)?; // the last entry is maximised over
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
pub struct PpdAdagrad {
    stages: Stages,
    prox: f64,
    delta: f64,
    length: StageLength,
    ascent: usize,
    answer: Point,
}

impl PpdAdagrad {
    /// - `prox` > 0 (infinite: no proximal term), `delta` > 0.
    /// - `ascent`: how many of the last entries are maximised over.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(stages: Stages, prox: f64, delta: f64, length: StageLength, ascent: usize) -> Result<Self> {
        if prox.is_nan() || prox <= 0.0 {
            return Err(Error::Param { what: "prox" });
        }
        if stages.reset(0) > 0 && ascent == 0 {
            return Err(Error::Param { what: "reset" });
        }
        if let StageLength::Data { l_tilde } | StageLength::Theory { l_tilde } = length {
            in_range("l_tilde", l_tilde, 0.0, f64::INFINITY)?;
        }
        let delta = in_range("delta", delta, f64::MIN_POSITIVE, f64::INFINITY)?;
        Ok(Self { stages, prox, delta, length, ascent, answer: Point(0) })
    }

    /// With the point that is looked at between steps: 0, the last iterate, unless told otherwise, or
    /// 1, the mean of the stage.
    #[must_use]
    pub fn with_answer(self, answer: Point) -> Self {
        Self { answer: Point(answer.0.min(1)), ..self }
    }

    /// Whether a stage is over after `done` steps with these Σ ĝ².
    fn over<T: Real>(&self, stage: u64, done: u64, squares: &[T]) -> bool {
        match self.length {
            StageLength::Fixed => done.saturating_add(1) >= self.stages.steps(stage),
            StageLength::Data { l_tilde } | StageLength::Theory { l_tilde } => {
                let (mut sum, mut largest) = (0.0f64, 0.0f64);
                for s in squares.iter().map(|s| crate::Real::sqrt(s.f64())) {
                    sum += s;
                    largest = if s > largest { s } else { largest };
                }
                let count = squares.len() as f64;
                let c = 1.0 / crate::Real::sqrt(count);
                let bound = 8.0 * l_tilde * l_tilde;
                let first = (self.delta + largest) * (if bound > 1.0 { bound } else { 1.0 }) / c;
                let second = 2.0 * c * (sum + count * (self.delta + largest));
                let scale = if matches!(self.length, StageLength::Theory { .. }) { c } else { 1.0 };
                done.saturating_add(1) as f64
                    >= scale * self.stages.length(stage) * (if first > second { first } else { second })
            }
        }
    }
}

impl<T: Real> Algorithm<T> for PpdAdagrad {
    /// 0, 1/prox, δ; of a step as PPD-SG. Not of stages whose length the data decide.
    fn recipe(&self) -> Option<Recipe> {
        (self.length == StageLength::Fixed).then(|| Recipe::new("ppd-adagrad", &[0.0, 1.0 / self.prox, self.delta]))
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
        3 * params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        ask(&self.stages, state.counters)
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let len = state.points.len() / 2;
        exact_len("slots", 3 * len, state.slots.len())?;
        if state.counters[3] >= phase::RESET {
            let begins = state.counters[3] == phase::REPORT;
            between(self.ascent, state, answer)?;
            if begins {
                state.slots[len..].fill(T::ZERO);
            }
            return Ok(());
        }
        let grad = gradient(len, state, 3 * len, answer)?;
        let split = len.checked_sub(self.ascent).ok_or(Error::Param { what: "ascent" })?;
        let (stage, done) = (state.counters[1], state.counters[2]);
        let (lr, delta) = (T::of(self.stages.lr(stage)), T::of(self.delta));
        let pull = T::of(1.0 / self.prox);
        let start = state.counters[3] == phase::START;
        let (iterate, mean) = state.points.split_at_mut(len);
        let (anchor, rest) = state.slots.split_at_mut(len);
        let (sums, squares) = rest.split_at_mut(len);
        let moved = |k: usize, u: T, anchor: T, sum: T, square: T| {
            let anchor = if start { u } else { anchor };
            let g = if k < split { grad[k] + pull * (u - anchor) } else { grad[k] }.settled();
            let (sum, square) = (sum + g, square + g * g);
            (anchor - lr * sum / (delta + square.sqrt()), sum, square)
        };
        let mut odd = T::ZERO;
        for k in 0..len {
            let (u, _, square) = moved(k, iterate[k], anchor[k], sums[k], squares[k]);
            odd += T::ZERO * u + T::ZERO * square;
        }
        if odd != T::ZERO {
            return Err(Error::Overflow { what: "params" });
        }
        let share = T::of(1.0 / (done + 2) as f64);
        for k in 0..len {
            if done == 0 {
                mean[k] = iterate[k];
            }
            let u = iterate[k];
            (iterate[k], sums[k], squares[k]) = moved(k, u, anchor[k], sums[k], squares[k]);
            if start {
                anchor[k] = u;
            }
            mean[k] += (iterate[k] - mean[k]) * share;
        }
        let over = self.over(stage, done.saturating_add(1), squares);
        state.counters[0] = state.counters[0].saturating_add(1);
        state.counters[2] = done.saturating_add(1);
        state.counters[3] = if over { after_steps(&self.stages, stage) } else { phase::STEPS };
        Ok(())
    }
}

impl PpdAdagrad {
    /// Of settings; the last `ascent` entries are maximised over.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        let (stages, length) = if Stages::are_of_theory(settings) {
            let (mu, l) = (settings.value("mu"), settings.value("smoothness"));
            let stages = Stages::theory_adagrad(settings.value("lr"), mu, l, settings.value("reset"))?;
            (stages, StageLength::Theory { l_tilde: settings.value("l-tilde") })
        } else if settings.text("stages") == Some("data") {
            (Stages::of_practice(settings)?, StageLength::Data { l_tilde: settings.value("l-tilde") })
        } else {
            (Stages::of_practice(settings)?, StageLength::Fixed)
        };
        let algorithm = Self::new(stages, Stages::prox(settings), settings.value("delta"), length, ascent)?;
        Ok(algorithm.with_answer(answer(settings)))
    }
}
