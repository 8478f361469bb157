//! AdaGrad: v ← v + G'², w ← w − lr_t G'/(√v + ε), with G' = G + decay·w.
//!
//! Source: Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization",
//! the diagonal form. Cost O(d) a step. Memory: d values, v, from 0. Counter 0 is the number of steps.

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, Schedule, State, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Optimizer, Source};
use crate::registry::settings::Settings;

/// AdaGrad.
///
/// ```
/// use undercurve::algorithm::{Adagrad, Algorithm, Answer, COUNTERS, Schedule, State};
///
/// let rule = Adagrad::new(Schedule::constant(0.1), 1e-10, 0.0)?;
/// let (mut w, mut squares) = ([0.0f64], [0.0]);
/// let mut state = State { points: &mut w, slots: &mut squares, counters: &mut [0; COUNTERS] };
/// for _ in 0..4 {
///     rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[3.0] })?;
/// }
/// // Steps of lr/√t, whatever the size of the gradient.
/// let way: f64 = (1..=4).map(|t| 0.1 / f64::from(t).sqrt()).sum();
/// assert!((w[0] + way).abs() < 1e-9);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adagrad {
    lr: Schedule,
    eps: f64,
    decay: f64,
}

impl Adagrad {
    /// With a rate (≥ 0), ε (> 0) and a weight decay (≥ 0).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(lr: Schedule, eps: f64, decay: f64) -> Result<Self> {
        Ok(Self {
            lr: lr.check()?,
            eps: in_range("eps", eps, f64::MIN_POSITIVE, f64::INFINITY)?,
            decay: in_range("decay", decay, 0.0, f64::INFINITY)?,
        })
    }
}

impl<T: Real> Algorithm<T> for Adagrad {
    /// The decay, ε; of a step the rate.
    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::new("adagrad", &[self.decay, self.eps]))
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
        let (eps, decay) = (T::of(self.eps), T::of(self.decay));
        let moved = |w: T, v: T, g: T| {
            let g = (g + decay * w).settled();
            let v = v + g * g;
            (w - lr * g / (v.sqrt() + eps), v)
        };
        let mut odd = T::ZERO;
        for ((&w, &v), &g) in state.points.iter().zip(&*state.slots).zip(grad) {
            let (w, v) = moved(w, v, g);
            odd += T::ZERO * w + T::ZERO * v;
        }
        if odd != T::ZERO {
            return Err(Error::Overflow { what: "params" });
        }
        for ((w, v), &g) in state.points.iter_mut().zip(&mut *state.slots).zip(grad) {
            (*w, *v) = moved(*w, *v, g);
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        Ok(())
    }
}

impl Adagrad {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(Schedule::from_settings(settings)?, settings.value("eps"), settings.decay())
    }
}

/// Its entry in the table of step rules.
pub(crate) const ENTRY: Optimizer = Optimizer {
    name: "adagrad",
    about: "AdaGrad, diagonal.",
    source: Source {
        paper: "Duchi, Hazan, Singer 2011, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization",
        part: "figure 1, diagonal matrices",
    },
    file: "core/src/algorithm/adagrad.rs",
};
