//! OAUC: online AUC maximisation by plain primal-dual stochastic gradient.
//!
//! Source: Ying, Wen and Lyu 2016, "Stochastic Online AUC Maximization", algorithm 1 (SOLAM); a baseline of Liu, Yuan, Ying
//! and Yang 2020, "Stochastic AUC Maximization with Deep Neural Networks".
//!
//! ```text
//! η_t = lr/√t            v ← Π[v − η_t ĝ_v] onto ‖v‖ ≤ R        α ← Π[α + η_t ĝ_α] onto ‖α‖ ≤ 2R        t = 1, 2, …
//! ū = Σ η_t u_{t−1} / Σ η_t
//! ```
//!
//! Deviation: one ball for v = (w, a, b), where the source has one for w and intervals for a and b. Points: 0 the iterate,
//! 1 the weighted mean ū, the paper's answer. Slots: Σ η. Counters: steps. Cost O(d) a step.

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, Point, State, answer, gradient, in_range, shrink};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Online AUC maximisation.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, COUNTERS, Oauc, State};
///
/// let rule = Oauc::new(0.5, 10.0, 1)?; // in balls of radius 10 and 20, the last entry maximised over
/// let (mut points, mut slots) = (vec![0.0; 2 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // min over v, max over α of ½v² + α(1 − v) − ½α², whose saddle point is v = α = ½.
/// for _ in 0..1000 {
///     let (v, alpha) = (state.points[0], state.points[1]);
///     // (The derivative by α comes with its sign flipped.)
///     rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[v - alpha, alpha - (1.0 - v)] })?;
/// }
/// assert!((points[0] - 0.5f64).abs() < 1e-3 && (points[1] - 0.5f64).abs() < 1e-3);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oauc {
    lr: f64,
    radius: f64,
    ascent: usize,
    answer: Point,
}

impl Oauc {
    /// - `lr` ≥ 0: the first rate; `radius` > 0 (infinite: no projection).
    /// - `ascent`: how many of the last entries are maximised over.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(lr: f64, radius: f64, ascent: usize) -> Result<Self> {
        if radius.is_nan() || radius <= 0.0 {
            return Err(Error::Param { what: "radius" });
        }
        Ok(Self { lr: in_range("lr", lr, 0.0, f64::INFINITY)?, radius, ascent, answer: Point(0) })
    }

    /// With the point that is looked at between steps: 0, the last iterate, unless told otherwise, or
    /// 1, the weighted mean ū.
    #[must_use]
    pub fn with_answer(self, answer: Point) -> Self {
        Self { answer: Point(answer.0.min(1)), ..self }
    }
}

impl<T: Real> Algorithm<T> for Oauc {
    fn points(&self) -> usize {
        2
    }
    fn iterate(&self) -> Point {
        self.answer
    }
    fn slots_len(&self, _: usize) -> usize {
        1
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn ball(&self) -> Option<(f64, usize)> {
        Some((self.radius, self.ascent))
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        FRESH_GRADIENT
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / 2;
        let grad = gradient(len, state, 1, answer)?;
        let split = len.checked_sub(self.ascent).ok_or(Error::Param { what: "ascent" })?;
        let lr = T::of(self.lr / crate::Real::sqrt(state.counters[0].saturating_add(1) as f64));
        let (iterate, mean) = state.points.split_at_mut(len);
        let at = |k: usize| iterate[k] - lr * grad[k].settled();
        let mut odd = T::ZERO;
        for k in 0..len {
            let u = at(k);
            odd += T::ZERO * u;
        }
        if odd != T::ZERO {
            return Err(Error::Overflow { what: "params" });
        }
        let own = shrink(self.radius, (0..split).map(at));
        let dual = shrink(2.0 * self.radius, (split..len).map(at));
        let total = state.slots[0] + lr;
        let share = if total > T::ZERO { lr / total } else { T::ZERO };
        for k in 0..len {
            let u = iterate[k];
            mean[k] += (u - mean[k]) * share;
            iterate[k] = (u - lr * grad[k].settled()) * if k < split { own } else { dual };
        }
        state.slots[0] = total;
        state.counters[0] = state.counters[0].saturating_add(1);
        Ok(())
    }
}

impl Oauc {
    /// Of settings; the last `ascent` entries are maximised over.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        let algorithm = Self::new(settings.unit() * settings.value("lr"), settings.value("radius"), ascent)?;
        Ok(algorithm.with_answer(answer(settings)))
    }
}
