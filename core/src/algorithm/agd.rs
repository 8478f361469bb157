//! AGD-SBCD in parameter space: approximate gradient descent on the Moreau envelopes of a difference f^n − f^m, whose
//! proximal points come from stochastic block coordinate descent.
//!
//! Source: Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
//! algorithms 1 and 2; algorithm 3 (sums of ranked losses) is the same here, the difference is the estimator's.
//!
//! For stages k = 0, 1, … with T_k = C(k+1)² steps and η_k = c/(k+1), from v_m = v_n = w, G by terms:
//!
//! ```text
//! v ← (w/μ + v/η_k − G)/(1/μ + 1/η_k)                  T_k times, for m and for n
//! v̄ = mean of the iterates t = 0 … T_k − 1
//! w ← w − relax (v̄_m − v̄_n),   relax = γ/μ
//! ```
//!
//! Where there is no f^m (α = 0), v̄_m = w. The proof asks for γ ≤ μ(1 − μρ)/2, so for relax ≤ ½; the paper's grids have 2 to
//! 50, with which w overshoots. Deviations: the answer is v̄_n of the last stage that ended, where the paper draws a stage;
//! both terms use the same draws. In the estimator's units (divided by n₊n₋(β−α), and by the mean ‖x‖² where a model is
//! linear) a c near 1 is sensible.
//!
//! Points: 0 the answer, 1 w, 2 v_m, 3 v_n, 4 v̄_m so far, 5 v̄_n so far. Counters: steps (a step is a gradient of each term
//! that there is), stage, steps in the stage, phase. Cost O(d) a gradient.

use super::{COUNTERS, State, in_range};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;

/// Vectors that it keeps.
pub const POINTS: usize = 6;

/// What it wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AgdAsk {
    /// The gradient of a term at a point, moving the term's dual variables at a rate.
    Term {
        /// 0 for f^m, 1 for f^n.
        term: usize,
        /// Index of the point.
        at: usize,
        /// Whether on the rows of the request before; a fresh batch otherwise.
        again: bool,
        /// θ of the dual variables.
        rate: f64,
        /// Steps of the inner problem before this one.
        done: u64,
    },
    /// The inner problems are over, after so many steps: every λ becomes its mean.
    Turn {
        /// Steps that the means are over.
        steps: u64,
    },
}

/// Approximate gradient descent with inner problems by stochastic block coordinate descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgdSbcd {
    first: u64,
    eta: f64,
    theta: f64,
    mu: f64,
    relax: f64,
    low: bool,
}

/// Where it stands, in counter 3.
mod phase {
    pub const LOW: u64 = 0;
    pub const HIGH: u64 = 1;
    pub const TURN: u64 = 2;
}

impl AgdSbcd {
    /// - `first` ≥ 1: C, the steps of the first stage.
    /// - `eta` > 0, `theta` ≥ 0: steps of v and of the dual variables in the first stage.
    /// - `mu` > 0, `relax` in (0, 2]: the smoothing, and the share of v̄_m − v̄_n that w moves by.
    /// - `low`: whether there is an f^m.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(first: u64, eta: f64, theta: f64, mu: f64, relax: f64, low: bool) -> Result<Self> {
        if first == 0 {
            return Err(Error::Param { what: "stage" });
        }
        let above = |what, x: f64| in_range(what, x, f64::MIN_POSITIVE, f64::INFINITY);
        if !(relax > 0.0 && relax <= 2.0) {
            return Err(Error::Param { what: "relax" });
        }
        let theta = in_range("theta", theta, 0.0, f64::INFINITY)?;
        Ok(Self { first, eta: above("lr", eta)?, theta, mu: above("mu", mu)?, relax, low })
    }

    /// Steps of a stage.
    #[must_use]
    pub fn steps(&self, stage: u64) -> u64 {
        let factor = stage.saturating_add(1);
        self.first.saturating_mul(factor.saturating_mul(factor))
    }

    /// Sets all points to the first; counters to their start.
    ///
    /// # Errors
    /// `Length`.
    pub fn start<T: Real>(&self, state: &mut State<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        if !state.points.len().is_multiple_of(POINTS) {
            return Err(Error::Param { what: "points" });
        }
        let len = state.points.len() / POINTS;
        for k in 1..POINTS {
            state.points.copy_within(..len, k * len);
        }
        state.counters.fill(0);
        state.counters[3] = self.begin();
        Ok(())
    }

    fn begin(&self) -> u64 {
        if self.low { phase::LOW } else { phase::HIGH }
    }

    /// What it wants next.
    #[must_use]
    pub fn next(&self, counters: &[u64; COUNTERS]) -> AgdAsk {
        let [_, stage, done, now] = *counters;
        match now {
            phase::TURN => AgdAsk::Turn { steps: done },
            _ => AgdAsk::Term {
                term: now as usize,
                at: 2 + now as usize,
                again: now == phase::HIGH && self.low,
                rate: self.theta / stage.saturating_add(1) as f64,
                done,
            },
        }
    }

    /// Takes the gradient of the term that was asked for.
    ///
    /// # Errors
    /// `Length`, `NonFinite` (gradient), `Overflow` (a parameter), `Param` (no gradient was asked for). Nothing has changed
    /// then.
    pub fn tell<T: Real>(&self, state: &mut State<'_, T>, grad: &[T]) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let len = state.points.len() / POINTS;
        exact_len("grad", len, grad.len())?;
        all_finite("grad", grad)?;
        let term = state.counters[3];
        if term > phase::HIGH {
            return Err(Error::Param { what: "answer" });
        }
        let eta = self.eta / state.counters[1].saturating_add(1) as f64;
        // (w/μ + v/η − G)/(1/μ + 1/η), as a step from v.
        let (rate, pull) = (T::of(eta / (1.0 + eta / self.mu)), T::of(1.0 / self.mu));
        let moved = |v: T, w: T, g: T| v + rate * ((w - v) * pull - g).settled();
        let (head, means) = state.points.split_at_mut(4 * len);
        let (w, v) = head[len..].split_at_mut(len);
        let v = &mut v[term as usize * len..][..len];
        let mean = &mut means[term as usize * len..][..len];
        if v.iter().zip(&*w).zip(grad).any(|((&v, &w), &g)| !moved(v, w, g).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        let share = T::of(1.0 / (state.counters[2] + 1) as f64);
        for (((mean, v), &w), &g) in mean.iter_mut().zip(v).zip(&*w).zip(grad) {
            *mean = (T::ONE - share) * *mean + share * *v;
            *v = moved(*v, w, g);
        }
        if term == phase::LOW {
            state.counters[3] = phase::HIGH;
            return Ok(());
        }
        state.counters[0] += 1;
        state.counters[2] += 1;
        let over = state.counters[2] >= self.steps(state.counters[1]);
        state.counters[3] = if over { phase::TURN } else { self.begin() };
        Ok(())
    }

    /// Ends a stage, after the dual variables have become their means: w moves, and the next inner problems begin there.
    ///
    /// # Errors
    /// `Overflow` (a parameter), `Param` (the stage is not over). Nothing has changed then.
    pub fn turn<T: Real>(&self, state: &mut State<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        if state.counters[3] != phase::TURN {
            return Err(Error::Param { what: "answer" });
        }
        let len = state.points.len() / POINTS;
        let relax = T::of(self.relax);
        let (answer, rest) = state.points.split_at_mut(len);
        let (w, rest) = rest.split_at_mut(len);
        let (v, means) = rest.split_at_mut(2 * len);
        let (low, high) = means.split_at(len);
        let moved = |w: T, low: T, high: T| w - relax * ((if self.low { low } else { w }) - high);
        if w.iter().zip(low).zip(high).any(|((&w, &low), &high)| !moved(w, low, high).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        for ((w, &low), &high) in w.iter_mut().zip(low).zip(high) {
            *w = moved(*w, low, high);
        }
        answer.copy_from_slice(high);
        for v in v.chunks_exact_mut(len.max(1)) {
            v.copy_from_slice(w);
        }
        state.counters[1] += 1;
        state.counters[2] = 0;
        state.counters[3] = self.begin();
        Ok(())
    }
}
