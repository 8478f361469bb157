//! DCA and proximal DCA in parameter space: a difference f^n − f^m is minimised by making f^m linear where an outer step
//! begins, and descending on f^n less that.
//!
//! Source: Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
//! algorithm 4 and equations (37) and (38); DCA for ranked losses: Hu, Ying, Wang and Lyu 2020, "Learning by Minimizing the
//! Sum of Ranked Range".
//!
//! For outer steps k = 0, 1, … with ξ = ∂f^m(w_k) over all rows:
//!
//! ```text
//! w ← w − η_k(G − ξ + L(w − w_k))          T_k times, G of f^n on a batch
//! ```
//!
//! L = 0 is DCA. Steps are constant (η, T) or change as AGD-SBCD's: η/(k+1), T(k+1)². The answer is the last iterate.
//!
//! Points: 0 the iterate, 1 w_k. Slots: ξ (d values). Counters: steps, outer steps, steps in the outer step, phase. Cost O(d)
//! a step.

use super::{COUNTERS, State, in_range};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;

/// Vectors that it keeps.
pub const POINTS: usize = 2;

/// What it wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DcaAsk {
    /// ξ: a subgradient of f^m over all rows at the iterate. Zeros where there is no f^m.
    Linear,
    /// The gradient of f^n at the iterate on a fresh batch, moving its dual variables at a rate.
    Term {
        /// θ of the dual variables.
        rate: f64,
    },
}

/// Descent on a difference of convex functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dca {
    steps: u64,
    eta: f64,
    theta: f64,
    prox: f64,
    changing: bool,
}

impl Dca {
    /// - `steps` ≥ 1: of the first outer step.
    /// - `eta` > 0, `theta` ≥ 0: the steps there.
    /// - `prox` ≥ 0: L, 0 for DCA itself.
    /// - `changing`: whether steps shorten and outer steps lengthen.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(steps: u64, eta: f64, theta: f64, prox: f64, changing: bool) -> Result<Self> {
        if steps == 0 {
            return Err(Error::Param { what: "stage" });
        }
        let eta = in_range("lr", eta, f64::MIN_POSITIVE, f64::INFINITY)?;
        let theta = in_range("theta", theta, 0.0, f64::INFINITY)?;
        Ok(Self { steps, eta, theta, prox: in_range("prox", prox, 0.0, f64::INFINITY)?, changing })
    }

    /// Steps of an outer step.
    #[must_use]
    pub fn steps(&self, outer: u64) -> u64 {
        let factor = if self.changing { outer.saturating_add(1) } else { 1 };
        self.steps.saturating_mul(factor.saturating_mul(factor))
    }

    /// What the steps of an outer step are divided by.
    fn shrink(&self, outer: u64) -> f64 {
        if self.changing { outer.saturating_add(1) as f64 } else { 1.0 }
    }

    /// What it wants next.
    #[must_use]
    pub fn next(&self, counters: &[u64; COUNTERS]) -> DcaAsk {
        match counters[3] {
            0 => DcaAsk::Linear,
            _ => DcaAsk::Term { rate: self.theta / self.shrink(counters[1]) },
        }
    }

    /// Takes the gradient that was asked for: the linear part, or that of a step.
    ///
    /// # Errors
    /// `Length`, `NonFinite` (gradient), `Overflow` (a parameter). Nothing has changed then.
    pub fn tell<T: Real>(&self, state: &mut State<'_, T>, grad: &[T]) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let len = state.points.len() / POINTS;
        exact_len("grad", len, grad.len())?;
        exact_len("slots", len, state.slots.len())?;
        all_finite("grad", grad)?;
        let (w, centre) = state.points.split_at_mut(len);
        if state.counters[3] == 0 {
            state.slots.copy_from_slice(grad);
            centre.copy_from_slice(w);
            state.counters[3] = 1;
            return Ok(());
        }
        let outer = state.counters[1];
        let (eta, prox) = (T::of(self.eta / self.shrink(outer)), T::of(self.prox));
        let moved = |w: T, centre: T, linear: T, g: T| w - eta * (g - linear + prox * (w - centre)).settled();
        let each = || w.iter().zip(&*centre).zip(&*state.slots).zip(grad);
        if each().any(|(((&w, &centre), &linear), &g)| !moved(w, centre, linear, g).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        for (((w, &centre), &linear), &g) in w.iter_mut().zip(&*centre).zip(&*state.slots).zip(grad) {
            *w = moved(*w, centre, linear, g);
        }
        state.counters[0] += 1;
        state.counters[2] += 1;
        if state.counters[2] >= self.steps(outer) {
            state.counters[1] += 1;
            state.counters[2] = 0;
            state.counters[3] = 0;
        }
        Ok(())
    }
}
