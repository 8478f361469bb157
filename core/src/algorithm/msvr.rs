//! MSVR in parameter space: a running gradient that is corrected by what the same batch says at the point before.
//!
//! Source: Jiang, Li, Wang, Zhang and Yang 2022, "Multi-block-Single-probe Variance Reduced Estimator for Coupled Compositional
//! Optimization", MSVR with the running gradient of STORM (version 2):
//!
//! ```text
//! G_{t−1} from a batch at w_{t−1} with the running values u_{t−1} of that time
//! G_t from the same batch at w_t with u_t, which its scores at w_t and w_{t−1} move      (`estimator::Tracker`)
//! z ← G_t + (1 − β)(z − G_{t−1}),   w ← w − ηz       (z_0 = G_0)
//! ```
//!
//! Deviation: the step along z is a step rule's, which may be momentum or Adam-type as well.
//!
//! Points: 0 w_t, 1 w_{t−1}. Memory: slots of the step rule, and 3d. Counters: steps along z, gradients, nothing, phase (0 the
//! gradient at w_{t−1}, which the first step does without, 1 that at w_t). A step of the run is a gradient, so a batch counts
//! twice. Cost O(d).

use super::{Algorithm, Answer, Ask, Draw, Point, State, StepRule, Want, gradient};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Steps along a running gradient that is corrected on each batch.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Draw, Msvr, Schedule, Sgd, State, StepRule};
///
/// let rule = Msvr::new(StepRule::Sgd(Sgd::new(Schedule::constant(0.1), 0.0)?), 0.1)?;
/// let (mut points, mut slots) = (vec![0.0f64; 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 1)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // ½(w − 3)² with noise of ±1 that a batch brings to both points: what they have in common cancels.
/// let mut noise = 1.0;
/// for _ in 0..401 {
///     let Ask::Evaluate { at, draw, .. } = rule.next(&state) else { unreachable!() };
///     noise = if draw == Draw::Again { noise } else { -noise };
///     let grad = [state.points[usize::from(at.0)] - 3.0 + noise];
///     rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &grad })?;
/// }
/// assert!((points[0] - 3.0).abs() < 0.01); // plain steps of this rate would stay 0.05 away
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Msvr {
    rule: StepRule,
    beta: f64,
}

impl Msvr {
    /// With its step rule and β in (0, 1], the weight of a batch's gradient by itself; at 1 nothing is corrected.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(rule: StepRule, beta: f64) -> Result<Self> {
        if beta > 0.0 && beta <= 1.0 { Ok(Self { rule, beta }) } else { Err(Error::Param { what: "beta" }) }
    }
}

/// Whether the gradient at the point before is the one that is wanted.
fn looks_back(counters: &[u64]) -> bool {
    counters[0] > 0 && counters[3] == 0
}

impl<T: Real> Algorithm<T> for Msvr {
    fn points(&self) -> usize {
        2
    }
    fn slots_len(&self, params: usize) -> usize {
        self.rule.slots_len::<T>(params) + 3 * params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        matches!(*counters, [moved, done, 0, phase] if moved <= done && done <= steps && phase <= u64::from(moved > 0))
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        let (term, rate, fresh) = (0, None, Draw::Fresh { sampler: 0 });
        if looks_back(state.counters) {
            return Ask::Evaluate { term, at: Point(1), previous: None, draw: fresh, rate, want: Want::Gradient };
        }
        let draw = if state.counters[0] == 0 { fresh } else { Draw::Again };
        Ask::Evaluate { term, at: Point(0), previous: Some(Point(1)), draw, rate, want: Want::Both }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / 2;
        let value = answer.value();
        let grad = gradient(len, state, Algorithm::<T>::slots_len(self, len), answer)?;
        let (z, rest) = state.slots.split_at_mut(len);
        if looks_back(state.counters) {
            // (1 − β)(z − G_{t−1}), to which G_t comes.
            let weight = T::of(1.0 - self.beta);
            z.iter_mut().zip(grad).for_each(|(z, &g)| *z = weight * (*z - g).settled());
            (state.counters[1], state.counters[3]) = (state.counters[1].saturating_add(1), 1);
            return Ok(());
        }
        let (now, before) = state.points.split_at_mut(len);
        let (estimate, rest) = rest.split_at_mut(len);
        let (kept, slots) = rest.split_at_mut(len);
        estimate.iter_mut().zip(&*z).zip(grad).for_each(|((to, &z), &g)| *to = (z + g).settled_below(T::TINY));
        kept.copy_from_slice(now);
        self.rule.step(now, slots, state.counters, value, estimate)?;
        z.copy_from_slice(estimate);
        before.copy_from_slice(kept);
        (state.counters[1], state.counters[3]) = (state.counters[1].saturating_add(1), 0);
        Ok(())
    }
}

impl Msvr {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        // Two gradients a step, but for the first: schedules are over the steps.
        let halved = settings.clone().with_steps(settings.scope().steps.div_ceil(2).max(1));
        let rule = StepRule::from_settings(&halved)?;
        settings.also_read(&halved);
        Self::new(rule, settings.value("beta"))
    }
}
