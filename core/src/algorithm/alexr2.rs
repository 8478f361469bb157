//! ALEXR2 in parameter space: momentum on the Moreau envelope of the smoothed objective, whose proximal points come from an
//! inner loop.
//!
//! Source: Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization, algorithm 2:
//!
//! ```text
//! z_0 = z_{−1} = w_t;  for k < K:   track u with the scores of a batch at z_k and z_{k−1}
//!                                   G from another batch at z_k and the new u
//!                                   z_{k+1} = (w/ν + z/η − G)/(1/ν + 1/η)
//! G_t = (w_t − z_K)/ν,   v ← (1 − β)v + βG_t,   w ← w − αv,   or Adam-type
//! ```
//!
//! The u form of its dual step (y = ∇f_λ(u), γ̂ = γ/(1 + γ), θ in the estimator's correction) keeps u from one outer step to
//! the next. Deviations: the box has β/ν in G_t, which would apply β twice. Adam-type is Adam's, with bias correction. With a
//! schedule both rates fall together, over the outer steps. Weight decay belongs to the outer step. The answer is w.
//!
//! Points: 0 w, 1 z_k, 2 z_{k−1}. Memory: slots of the step rule, and d. Counters: outer steps, gradients, inner steps,
//! phase (0 track, 1 gradient). A step of the run is a gradient and draws two batches. Cost O(d).

use super::{Algorithm, Answer, Ask, Draw, Point, Schedule, State, StepRule, Want, gradient, in_range};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::settings::Settings;

const POINTS: usize = 3;

/// A double loop around proximal points.
///
/// ```
/// use undercurve::algorithm::{Alexr2, Algorithm, Answer, Ask, COUNTERS, Schedule, Sgd, State, StepRule, Want};
///
/// // Ten steps of rate ½ to the proximal point of radius 1, and a step of rate 1 on the Moreau envelope.
/// let outer = StepRule::Sgd(Sgd::new(Schedule::constant(1.0), 0.0)?);
/// let rule = Alexr2::new(outer, 10, Schedule::constant(0.5), 1.0)?;
/// let (mut points, mut slots) = (vec![0.0; 3], vec![0.0; Algorithm::<f64>::slots_len(&rule, 1)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// for _ in 0..400 {
///     let answer = match rule.next(&state) {
///         Ask::Evaluate { want: Want::Track, .. } => Answer::Continue, // running values: an estimator's
///         _ => Answer::Gradient { value: 0.0, grad: &[state.points[1] - 3.0] }, // of ½(z − 3)², at point 1
///     };
///     rule.tell(&mut state, answer)?;
/// }
/// assert!((points[0] - 3.0f64).abs() < 1e-3);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alexr2 {
    rule: StepRule,
    inner: u64,
    eta: Schedule,
    nu: f64,
}

impl Alexr2 {
    /// With the outer step rule, K ≥ 1 inner steps of rate η > 0 (by the outer step), and the radius ν > 0.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(rule: StepRule, inner: u64, eta: Schedule, nu: f64) -> Result<Self> {
        if inner == 0 {
            return Err(Error::Param { what: "inner" });
        }
        let eta = eta.check().map_err(|_| Error::Param { what: "inner-lr" })?;
        Ok(Self { rule, inner, eta, nu: in_range("prox", nu, f64::MIN_POSITIVE, f64::INFINITY)? })
    }

    /// An inner step, and the outer step at the end of a loop.
    fn step<T: Real>(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / POINTS;
        let value = answer.value();
        let grad = gradient(len, state, Algorithm::<T>::slots_len(self, len), answer)?;
        let eta = self.eta.at(state.counters[0]);
        // (w/ν + z/η − G)/(1/ν + 1/η), as a step from z.
        let (rate, pull) = (T::of(eta / (1.0 + eta / self.nu)), T::of(1.0 / self.nu));
        let moved = |z: T, w: T, g: T| z + rate * ((w - z) * pull - g).settled();
        let (w, rest) = state.points.split_at_mut(len);
        let (z, before) = rest.split_at_mut(len);
        if z.iter().zip(&*w).zip(grad).any(|((&z, &w), &g)| !moved(z, w, g).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        if state.counters[2].saturating_add(1) < self.inner {
            for (((before, z), &w), &g) in before.iter_mut().zip(z).zip(&*w).zip(grad) {
                *before = *z;
                *z = moved(*z, w, g);
            }
            state.counters[2] = state.counters[2].saturating_add(1);
        } else {
            let (outer, slots) = state.slots.split_at_mut(len);
            for (((outer, &z), &w), &g) in outer.iter_mut().zip(&*z).zip(&*w).zip(grad) {
                *outer = (w - moved(z, w, g)) * pull;
            }
            self.rule.step(w, slots, state.counters, value, outer)?;
            z.copy_from_slice(w);
            before.copy_from_slice(w);
            state.counters[2] = 0;
        }
        state.counters[1] = state.counters[1].saturating_add(1);
        state.counters[3] = 0;
        Ok(())
    }
}

impl<T: Real> Algorithm<T> for Alexr2 {
    fn points(&self) -> usize {
        POINTS
    }
    fn batches(&self) -> u64 {
        2
    }
    fn slots_len(&self, params: usize) -> usize {
        self.rule.slots_len::<T>(params) + params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        matches!(*counters, [outer, done, inner, phase]
            if outer <= done && done <= steps && inner < self.inner && phase <= 1)
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        let (draw, term, rate, at) = (Draw::Fresh { sampler: 0 }, 0, None, Point(1));
        match state.counters[3] {
            0 => Ask::Evaluate { term, at, previous: Some(Point(2)), draw, rate, want: Want::Track },
            _ => Ask::Evaluate { term, at, previous: None, draw, rate, want: Want::Gradient },
        }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        match (state.counters.get(3), answer) {
            (Some(0), Answer::Continue) => {
                state.counters[3] = 1;
                Ok(())
            }
            (Some(1), answer) => self.step(state, answer),
            _ => Err(Error::Param { what: "answer" }),
        }
    }
}

impl Alexr2 {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let inner = settings.count("inner")?;
        // Schedules are over the outer steps.
        let outer = settings.clone().with_steps((settings.scope().steps / inner.max(1)).max(1));
        let eta = Schedule::from_settings(&outer)?.with_rate(settings.value("inner-lr"));
        let rule = StepRule::from_settings(&outer)?;
        settings.also_read(&outer);
        Self::new(rule, inner, eta, settings.value("prox"))
    }
}
