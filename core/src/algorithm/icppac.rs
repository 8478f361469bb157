//! ICPPAC: proximal points of a problem under constraints, each by steps of constraint extrapolation (ConEx).
//!
//! Source: Boob, Deng and Lan 2023, "Stochastic First-order Methods for Convex and Nonconvex Functional Constrained
//! Optimization", the constraint extrapolation method inside the inexact constrained proximal point method:
//!
//! ```text
//! x_0 = x_{−1} = w̄;  for k < K:   s = (1 + θ) g(x_k) − θ g(x_{k−1}) on a batch,   y ← min([y + τ s]₊, ρ)
//!                                 G = ∇F₀ + Σ ω_i y_i ∇g_i at x_k on another batch, with the new y
//!                                 x_{k+1} = argmin ⟨G, x⟩ + ‖x − w̄‖²/(2ν) + ‖x − x_k‖²/(2η)
//! w̄ ← Σ (k + 1) x_{k+1} / Σ (k + 1)
//! ```
//!
//! The minimum is x_k − lr (G + (x_k − w̄)/ν) with 1/lr = 1/ν + 1/η; another step rule takes the same gradient. s is what the
//! estimator tracks with γ = 1 and γ' = θ. Deviations: the paper's model of g at x_k is linear, from the values and gradients at
//! x_{k−1}; here it is g itself on the same rows. The proximal term belongs to the objective alone, where the paper adds one to
//! each constraint. y goes on from one proximal point to the next, and is at most ρ.
//!
//! Points: 0 w̄, 1 x_k, 2 x_{k−1}, each with y behind the parameters. Memory: slots of the step rule for the parameters, and 3d.
//! Counters: descents, gradients, k, phase (0 ascent, 1 descent). A step of the run is a gradient: of an ascent only the part by
//! y is used. Cost O(d).

use super::lagrange::ascend;
use super::{Algorithm, Answer, Ask, Draw, Point, State, StepRule, Want, gradient, in_range};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::settings::Settings;

const POINTS: usize = 3;

/// A double loop of proximal points and constraint extrapolation.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Icppac, Schedule, Sgd, State, StepRule};
///
/// // Ten inner steps a proximal point of radius 1; one multiplier, of rate 0.1 and at most 10.
/// let rule = Icppac::new(StepRule::Sgd(Sgd::new(Schedule::constant(0.2), 0.0)?), 10, 1.0, 1, 0.2, 10.0)?;
/// let (mut points, mut slots) = (vec![0.0; 3 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // min ½w² where 1 − w ≤ 0, at w = y = 1.
/// for _ in 0..4000 {
///     let Ask::Evaluate { at, .. } = rule.next(&state) else { unreachable!() };
///     let point = &state.points[2 * usize::from(at.0)..];
///     let (w, y) = (point[0], point[1]);
///     // The derivative by y is the constraint's value with its sign flipped.
///     rule.tell(&mut state, Answer::Gradient { value: 0.5 * w * w, grad: &[w - y, -(1.0 - w)] })?;
/// }
/// assert!((points[0] - 1.0f64).abs() < 1e-2);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Icppac {
    rule: StepRule,
    inner: u64,
    nu: f64,
    ascent: usize,
    rate: f64,
    bound: f64,
}

impl Icppac {
    /// With the step rule of the parameters, K ≥ 1 inner steps and the radius ν > 0, the number of multipliers, their rate τ ≥ 0
    /// and their bound ρ ≥ 0.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(rule: StepRule, inner: u64, nu: f64, ascent: usize, rate: f64, bound: f64) -> Result<Self> {
        if inner == 0 {
            return Err(Error::Param { what: "inner" });
        }
        let nu = in_range("prox", nu, f64::MIN_POSITIVE, f64::INFINITY)?;
        let rate = in_range("dual-lr", rate, 0.0, f64::INFINITY)?;
        Ok(Self { rule, inner, nu, ascent, rate, bound: in_range("penalty", bound, 0.0, f64::INFINITY)? })
    }

    /// Parameters of so many entries of a point.
    fn params(&self, len: usize) -> Result<usize> {
        len.checked_sub(self.ascent).ok_or(Error::Length { what: "points", need: self.ascent, got: len })
    }

    /// An inner step of the parameters, and the new centre at the end of a loop.
    fn descend<T: Real>(&self, state: &mut State<'_, T>, value: f64, grad: &[T]) -> Result<()> {
        let len = state.points.len() / POINTS;
        let params = self.params(len)?;
        let (centre, rest) = state.points.split_at_mut(len);
        let (x, before) = rest.split_at_mut(len);
        let (centre, x, before) = (&mut centre[..params], &mut x[..params], &mut before[..params]);
        let (mean, rest) = state.slots.split_at_mut(params);
        let (pulled, rest) = rest.split_at_mut(params);
        let (kept, slots) = rest.split_at_mut(params);
        let pull = T::of(1.0 / self.nu);
        for (((to, &g), &x), &centre) in pulled.iter_mut().zip(grad).zip(&*x).zip(&*centre) {
            *to = g + (pull * (x - centre)).settled();
        }
        kept.copy_from_slice(x);
        self.rule.step(x, slots, state.counters, value, pulled)?;
        before.copy_from_slice(kept);
        // The mean with weights 1, 2, 3, …
        let share = 2.0 / state.counters[2].saturating_add(2) as f64;
        let (old, new) = (T::of(1.0 - share), T::of(share));
        mean.iter_mut().zip(&*x).for_each(|(mean, &x)| *mean = (old * *mean).settled_below(T::TINY) + new * x);
        state.counters[2] = state.counters[2].saturating_add(1);
        if state.counters[2] == self.inner {
            [centre, x, before].into_iter().for_each(|point| point.copy_from_slice(mean));
            state.counters[2] = 0;
        }
        Ok(())
    }
}

impl<T: Real> Algorithm<T> for Icppac {
    fn points(&self) -> usize {
        POINTS
    }
    fn slots_len(&self, params: usize) -> usize {
        let params = params.saturating_sub(self.ascent);
        self.rule.slots_len::<T>(params) + 3 * params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        matches!(*counters, [moved, done, inner, phase]
            if moved <= done && done <= steps && inner < self.inner && phase <= 1)
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        let (draw, term, rate, at) = (Draw::Fresh { sampler: 0 }, 0, None, Point(1));
        match state.counters[3] {
            0 => Ask::Evaluate { term, at, previous: Some(Point(2)), draw, rate, want: Want::Both },
            _ => Ask::Evaluate { term, at, previous: None, draw, rate, want: Want::Gradient },
        }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / POINTS;
        let params = self.params(len)?;
        let value = answer.value();
        let grad = gradient(len, state, Algorithm::<T>::slots_len(self, len), answer)?;
        if state.counters[3] == 0 {
            let y = &mut state.points[len..2 * len][params..];
            ascend(y, &grad[params..], self.rate, self.bound);
            state.points.copy_within(len + params..2 * len, params);
        } else {
            self.descend(state, value, &grad[..params])?;
        }
        state.counters[1] = state.counters[1].saturating_add(1);
        state.counters[3] ^= 1;
        Ok(())
    }
}

impl Icppac {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        // Schedules are over the descents.
        let halved = settings.clone().with_steps((settings.scope().steps / 2).max(1));
        let rule = StepRule::from_settings(&halved)?;
        settings.also_read(&halved);
        let (nu, rate, bound) = (settings.value("prox"), settings.value("dual-lr"), settings.value("penalty"));
        Self::new(rule, settings.count("inner")?, nu, ascent, rate, bound)
    }
}
