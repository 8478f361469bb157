//! Stochastic gradient descent: w ← w − lr_t (G + decay·w).
//!
//! Source: Robbins and Monro 1951; the SGD-style step of SOAP (Qi et al. 2021, algorithm 3). Decay is the gradient of
//! (decay/2)‖w‖². Cost O(d) a step. Memory: none. Counter 0 is the number of steps.

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, Schedule, State, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Optimizer, Source};
use crate::registry::settings::Settings;

/// Stochastic gradient descent.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Draw, Point, Schedule, Sgd, State};
///
/// let rule = Sgd::new(Schedule::constant(0.25), 0.0)?;
/// let mut w = [1.0, -2.0];
/// let mut state = State { points: &mut w, slots: &mut [], counters: &mut [0; COUNTERS] };
/// // It asks for the gradient at point 0, the iterate, on a fresh batch; the answer moves it by −lr times that.
/// assert_eq!(rule.next(&state), Ask::gradient(Point(0), Draw::Fresh { sampler: 0 }));
/// rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[2.0, -4.0] })?;
/// assert_eq!(w, [0.5, -1.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    lr: Schedule,
    decay: f64,
}

impl Sgd {
    /// With a rate (≥ 0) and a weight decay (≥ 0).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(lr: Schedule, decay: f64) -> Result<Self> {
        Ok(Self { lr: lr.check()?, decay: in_range("decay", decay, 0.0, f64::INFINITY)? })
    }
}

impl<T: Real> Algorithm<T> for Sgd {
    /// The decay; of a step the rate.
    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::new("sgd", &[self.decay]))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        super::even_pace(counters, out, |step| [self.lr.at(step), 0.0])
    }
    fn slots_len(&self, _: usize) -> usize {
        0
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        FRESH_GRADIENT
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let grad = gradient(state.points.len(), state, 0, answer)?;
        let (lr, decay) = (T::of(self.lr.at(state.counters[0])), T::of(self.decay));
        let moved = |w: T, g: T| w - lr * (g + decay * w).settled();
        if state.points.iter().zip(grad).any(|(&w, &g)| !moved(w, g).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        for (w, &g) in state.points.iter_mut().zip(grad) {
            *w = moved(*w, g);
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        Ok(())
    }
}

impl Sgd {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(Schedule::from_settings(settings)?, settings.decay())
    }
}

/// Its entry in the table of step rules.
pub(crate) const ENTRY: Optimizer = Optimizer {
    name: "sgd",
    about: "Stochastic gradient descent.",
    source: Source { paper: "Robbins, Monro 1951, A Stochastic Approximation Method", part: "the recursion" },
    file: "core/src/algorithm/sgd.rs",
};
