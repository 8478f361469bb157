//! Gradient descent with momentum as an average of gradients: v ← βv + (1 − β)(G + decay·w), w ← w − lr_t v.
//!
//! Source: Polyak 1964; the momentum-style step of SOAP (Qi et al. 2021, algorithm 3) in this averaged form, where β
//! weighs the OLD value. (The heavy-ball form v ← βv + G is this one with lr·(1 − β) for lr.) Cost O(d) a step.
//! Memory: d values, v, from 0. Counter 0 is the number of steps.

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, Schedule, State, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Optimizer, Source};
use crate::registry::settings::Settings;

/// Gradient descent with momentum.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, COUNTERS, Momentum, Schedule, State};
///
/// let rule = Momentum::new(Schedule::constant(1.0), 0.5, 0.0)?;
/// let (mut w, mut v) = ([0.0], [0.0]);
/// let mut state = State { points: &mut w, slots: &mut v, counters: &mut [0; COUNTERS] };
/// for grad in [1.0, 0.0] {
///     rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[grad] })?;
/// }
/// assert_eq!(v, [0.25]); // ½·(½·0 + ½·1) + ½·0
/// assert_eq!(w, [-0.75]); // by ½, and on by ¼ where the gradient was 0
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    lr: Schedule,
    beta: f64,
    decay: f64,
}

impl Momentum {
    /// With a rate (≥ 0), the weight of the old average (in [0, 1)) and a weight decay (≥ 0).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(lr: Schedule, beta: f64, decay: f64) -> Result<Self> {
        let decay = in_range("decay", decay, 0.0, f64::INFINITY)?;
        Ok(Self { lr: lr.check()?, beta: in_range("beta", beta, 0.0, 1.0)?, decay })
    }
}

impl<T: Real> Algorithm<T> for Momentum {
    /// The decay, β, 1 − β; of a step the rate.
    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::new("momentum", &[self.decay, self.beta, 1.0 - self.beta]))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        super::even_pace(counters, out, |step| [self.lr.at(step), 0.0])
    }
    fn slots_len(&self, params: usize) -> usize {
        params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        FRESH_GRADIENT
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let grad = gradient(state.points.len(), state, state.points.len(), answer)?;
        let lr = T::of(self.lr.at(state.counters[0]));
        let (beta, fresh, decay) = (T::of(self.beta), T::of(1.0 - self.beta), T::of(self.decay));
        let moved = |w: T, v: T, g: T| {
            let v = (beta * v + fresh * (g + decay * w).settled()).settled_below(T::TINY);
            (w - lr * v, v)
        };
        let each = state.points.iter().zip(&*state.slots).zip(grad);
        if each.into_iter().any(|((&w, &v), &g)| !moved(w, v, g).0.is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        for ((w, v), &g) in state.points.iter_mut().zip(&mut *state.slots).zip(grad) {
            (*w, *v) = moved(*w, *v, g);
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        Ok(())
    }
}

impl Momentum {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(Schedule::from_settings(settings)?, settings.value("beta1"), settings.decay())
    }
}

/// Its entry in the table of step rules.
pub(crate) const ENTRY: Optimizer = Optimizer {
    name: "momentum",
    about: "Gradient descent along an average of gradients.",
    source: Source {
        paper: "Polyak 1964, Some methods of speeding up the convergence of iteration methods",
        part: "the heavy ball",
    },
    file: "core/src/algorithm/momentum.rs",
};
