//! OOA: descent on the parameters and mirror ascent on the weights of groups, in turn with every batch.
//!
//! Source: Sagawa, Koh, Hashimoto and Liang 2020, "Distributionally Robust Neural Networks", algorithm 1, with the set of
//! weights that belongs to the conditional value at risk, as the paper of SONEX extends it:
//!
//! ```text
//! w ← w − η Σ_i p_i ∇L_i  by a step rule,   p ← the KL projection of p_i e^(θ L_i) onto {Σ p_i = 1, p_i ≤ c},   c = 1/(rn)
//! ```
//!
//! The projection is min(κ p_i, c) with κ such that the sum is 1. The auxiliaries hold p_i − 1/n, so that they begin at the
//! uniform weights.
//!
//! Points: 0, parameters and then p − 1/n. Memory: slots of the step rule for the parameters. Counter 0 is the number of
//! steps. Cost O(d + n²).

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, State, StepRule, in_range};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Mirror ascent on weights of groups.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, COUNTERS, Ooa, Schedule, Sgd, State, StepRule};
///
/// // Two groups, whose weights may be anything up to 1/(½·2) = 1.
/// let rule = Ooa::new(StepRule::Sgd(Sgd::new(Schedule::constant(0.1), 0.0)?), 2, 0.5, 0.5)?;
/// let mut point = [0.0f64; 3]; // a parameter, then p − ½
/// let mut state = State { points: &mut point, slots: &mut [], counters: &mut [0; COUNTERS] };
/// // Losses of 1 and 3; derivatives by weights come with their sign flipped.
/// rule.tell(&mut state, Answer::Gradient { value: 2.0, grad: &[0.0, -1.0, -3.0] })?;
/// let p = [point[1] + 0.5, point[2] + 0.5];
/// assert!((p[0] + p[1] - 1.0).abs() < 1e-12);
/// assert!((p[1] / p[0] - 1.0f64.exp()).abs() < 1e-9); // e^(½(3 − 1)): the worse group weighs more
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ooa {
    rule: StepRule,
    ascent: usize,
    rate: f64,
    share: f64,
}

impl Ooa {
    /// With the step rule of the parameters, the number n of weights, their rate θ ≥ 0, and r in (0, 1].
    ///
    /// # Errors
    /// `Param`.
    pub fn new(rule: StepRule, ascent: usize, rate: f64, share: f64) -> Result<Self> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::Param { what: "share" });
        }
        Ok(Self { rule, ascent, rate: in_range("dual-lr", rate, 0.0, f64::INFINITY)?, share })
    }
}

impl<T: Real> Algorithm<T> for Ooa {
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
        self.rule.step_beside(self.ascent, state, answer, |p, grad| mirror(p, grad, self.rate, self.share))
    }
}

/// A mirror step of weights, less 1/n, against the derivatives of descent.
fn mirror<T: Real>(p: &mut [T], grad: &[T], rate: f64, share: f64) {
    let n = p.len() as f64;
    let cap = (1.0 / (share * n)).or_smaller(1.0);
    // (No weight grows by more than e^0, so that none overflows; none falls to 0, from where it would not come back.)
    let best = grad.iter().fold(f64::INFINITY, |best, g| best.or_smaller(g.f64()));
    for (p, g) in p.iter_mut().zip(grad) {
        let raised = (p.f64() + 1.0 / n) * (rate * (best - g.f64())).or_larger(-600.0).exp_in_span();
        *p = T::of(raised.or_larger(1e-30));
    }
    // min(κp, c) sums to 1: those at the cap are the largest, as many as the cap takes.
    let (mut capped, mut factor) = (0.0, 0.0);
    for _ in 0..p.len() {
        let free: f64 = p.iter().map(|p| p.f64()).filter(|p| p * factor < cap).sum();
        let next = (1.0 - capped * cap) / free;
        if !next.is_finite() || next <= factor {
            break;
        }
        factor = next;
        capped = p.iter().filter(|p| p.f64() * factor >= cap).count() as f64;
    }
    p.iter_mut().for_each(|p| *p = T::of((p.f64() * factor).or_smaller(cap) - 1.0 / n));
}

impl Ooa {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        Self::new(StepRule::from_settings(settings)?, ascent, settings.value("dual-lr"), settings.value("share"))
    }
}
