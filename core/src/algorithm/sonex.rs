//! SONEX in parameter space: a step along each batch's gradient, with the scores of the same rows at the point before it.
//!
//! Source: Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization, algorithm 1
//! and appendix E:
//!
//! ```text
//! G from the batch at w_t, whose scores at w_{t−1} correct the running values u     (w_{−1} = w_0)
//! v ← (1 − β)v + βG,   w ← w − ηv,   or Adam-type
//! ```
//!
//! With plain steps along G and the unsmoothed outer function it is SONX (Hu, Zhu and Yang 2023, algorithm 1).
//! Deviations: the Adam-type step is Adam's with bias correction, where the box divides by the second moment before the step
//! (0 in the first one). The answer is the last iterate, where the paper draws one.
//!
//! Points: 0 w_t, 1 w_{t−1}. Memory: slots of the step rule, and d. Counter 0 is the number of steps. Cost O(d) a step, and
//! a second forward pass of the batch, which is the host's.

use super::{Algorithm, Answer, Ask, Draw, Point, State, StepRule, Want, gradient};
use crate::error::Result;
use crate::real::Real;
use crate::registry::settings::Settings;

/// Steps with scores at two points.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Point, Schedule, Sgd, Sonex, State, StepRule};
///
/// let rule = Sonex::new(StepRule::Sgd(Sgd::new(Schedule::constant(0.5), 0.0)?));
/// let (mut points, mut slots) = (vec![0.0; 2], vec![0.0; 1]); // of one parameter: now, and the point before
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // Scores are asked for at both points, the gradient of ½(w − 3)² at the present one.
/// for _ in 0..2 {
///     assert!(matches!(rule.next(&state), Ask::Evaluate { at: Point(0), previous: Some(Point(1)), .. }));
///     let w = state.points[0];
///     rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[w - 3.0] })?;
/// }
/// assert_eq!(points, [2.25, 1.5]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sonex {
    rule: StepRule,
}

impl Sonex {
    /// With its step rule.
    #[must_use]
    pub fn new(rule: StepRule) -> Self {
        Self { rule }
    }
}

impl<T: Real> Algorithm<T> for Sonex {
    fn points(&self) -> usize {
        2
    }
    fn slots_len(&self, params: usize) -> usize {
        self.rule.slots_len::<T>(params) + params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        Ask::Evaluate {
            term: 0,
            at: Point(0),
            previous: Some(Point(1)),
            draw: Draw::Fresh { sampler: 0 },
            rate: None,
            want: Want::Both,
        }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / 2;
        let value = answer.value();
        let grad = gradient(len, state, Algorithm::<T>::slots_len(self, len), answer)?;
        let (now, before) = state.points.split_at_mut(len);
        let (kept, slots) = state.slots.split_at_mut(len);
        kept.copy_from_slice(now);
        self.rule.step(now, slots, state.counters, value, grad)?;
        before.copy_from_slice(kept);
        Ok(())
    }
}

impl Sonex {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::new(StepRule::from_settings(settings)?))
    }
}
