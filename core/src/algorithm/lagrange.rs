//! Descent on the parameters and projected ascent on multipliers, in turn with every batch.
//!
//! The method of multipliers' simplest stochastic form (Arrow, Hurwicz and Uzawa 1958), as in Cotter, Jiang and Sridharan 2019,
//! "Two-Player Games for Efficient Non-Convex Constrained Optimization", algorithm 2 (TFCO):
//!
//! ```text
//! w ← w − η (∇F₀ + Σ ω_i y_i ∇g_i)  by a step rule,   y_i ← min(max(y_i + θ u_i, 0), ρ)
//! ```
//!
//! with y of before the step in both and u the tracked values of the constraint functions. θ is constant.
//!
//! Points: 0, parameters and then multipliers. Memory: slots of the step rule for the parameters. Counter 0 is the number of
//! steps. Cost O(d).

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, State, StepRule, in_range};
use crate::error::Result;
use crate::outer::clip;
use crate::real::Real;
use crate::registry::settings::Settings;

/// Projected ascent on multipliers.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, COUNTERS, Lagrange, Schedule, Sgd, State, StepRule};
///
/// // One multiplier, of rate 0.1 and at most 10.
/// let rule = Lagrange::new(StepRule::Sgd(Sgd::new(Schedule::constant(0.1), 0.0)?), 1, 0.1, 10.0)?;
/// let mut point = [0.0f64; 2]; // w, then y
/// let mut state = State { points: &mut point, slots: &mut [], counters: &mut [0; COUNTERS] };
/// // min ½w² where 1 − w ≤ 0.
/// for _ in 0..1000 {
///     let (w, y) = (state.points[0], state.points[1]);
///     // The derivative by y is the constraint's value with its sign flipped.
///     rule.tell(&mut state, Answer::Gradient { value: 0.5 * w * w, grad: &[w - y, -(1.0 - w)] })?;
/// }
/// assert!((point[0] - 1.0).abs() < 1e-3); // the constraint holds
/// assert!((point[1] - 1.0).abs() < 1e-3); // and y is what it costs: d(½w²)/dw at w = 1
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lagrange {
    rule: StepRule,
    ascent: usize,
    rate: f64,
    bound: f64,
}

impl Lagrange {
    /// With the step rule of the parameters, the number of multipliers, their rate θ ≥ 0 and their bound ρ ≥ 0.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(rule: StepRule, ascent: usize, rate: f64, bound: f64) -> Result<Self> {
        let rate = in_range("dual-lr", rate, 0.0, f64::INFINITY)?;
        Ok(Self { rule, ascent, rate, bound: in_range("penalty", bound, 0.0, f64::INFINITY)? })
    }
}

impl<T: Real> Algorithm<T> for Lagrange {
    fn slots_len(&self, params: usize) -> usize {
        self.rule.slots_len::<T>(params.saturating_sub(self.ascent))
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        FRESH_GRADIENT
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        self.rule.step_beside(self.ascent, state, answer, |y, grad| ascend(y, grad, self.rate, self.bound))
    }
}

/// A projected step of multipliers against the derivatives of descent.
pub(super) fn ascend<T: Real>(y: &mut [T], grad: &[T], rate: f64, bound: f64) {
    y.iter_mut().zip(grad).for_each(|(y, g)| *y = T::of(clip(y.f64() - rate * g.f64(), 0.0, bound)));
}

impl Lagrange {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        Self::new(StepRule::from_settings(settings)?, ascent, settings.value("dual-lr"), settings.value("penalty"))
    }
}
