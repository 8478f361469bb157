//! The step that an algorithm makes along its estimate of the gradient: "w ← w − ηv or an Adam-type update".

use super::{Adam, AdamForm, Algorithm, Answer, Momentum, Sgd, State, gradient};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::settings::Settings;

/// A step rule inside another algorithm: by itself it would ask for nothing but gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepRule {
    /// w ← w − ηG.
    Sgd(Sgd),
    /// Along a running mean of the gradients.
    Momentum(Momentum),
    /// The same over the root of a running mean of their squares.
    Adam(Adam),
}

impl StepRule {
    /// Elements of slots for so many parameters.
    pub(super) fn slots_len<T: Real>(&self, params: usize) -> usize {
        match self {
            Self::Sgd(rule) => Algorithm::<T>::slots_len(rule, params),
            Self::Momentum(rule) => Algorithm::<T>::slots_len(rule, params),
            Self::Adam(rule) => Algorithm::<T>::slots_len(rule, params),
        }
    }

    /// Moves a point along a gradient, as long; the first of the counters are the steps.
    ///
    /// # Errors
    /// As [`Algorithm::tell`]: nothing has changed then.
    pub(super) fn step<T: Real>(
        &self,
        points: &mut [T],
        slots: &mut [T],
        counters: &mut [u64],
        value: f64,
        grad: &[T],
    ) -> Result<()> {
        let slots = &mut slots[..self.slots_len::<T>(points.len())];
        let mut state = State { points, slots, counters };
        let answer = Answer::Gradient { value, grad };
        match self {
            Self::Sgd(rule) => rule.tell(&mut state, answer),
            Self::Momentum(rule) => rule.tell(&mut state, answer),
            Self::Adam(rule) => rule.tell(&mut state, answer),
        }
    }

    /// Moves the parameters by their gradient, and the last `ascent` variables of the point by `ascend`, which is given them and
    /// their derivatives.
    ///
    /// # Errors
    /// As [`Algorithm::tell`]: nothing has changed then.
    pub(super) fn step_beside<T: Real>(
        &self,
        ascent: usize,
        state: &mut State<'_, T>,
        answer: Answer<'_, T>,
        ascend: impl FnOnce(&mut [T], &[T]),
    ) -> Result<()> {
        let len = state.points.len();
        let params = len.checked_sub(ascent).ok_or(Error::Length { what: "points", need: ascent, got: len })?;
        let value = answer.value();
        let grad = gradient(len, state, self.slots_len::<T>(params), answer)?;
        let (descent, ascents) = state.points.split_at_mut(params);
        self.step(descent, state.slots, state.counters, value, &grad[..params])?;
        ascend(ascents, &grad[params..]);
        Ok(())
    }

    /// Of settings: `step`.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        match settings.word("step")? {
            "sgd" => Sgd::from_settings(settings).map(Self::Sgd),
            "momentum" => Momentum::from_settings(settings).map(Self::Momentum),
            "adam" => Adam::from_settings(settings, AdamForm::Corrected).map(Self::Adam),
            _ => Err(Error::Param { what: "step" }),
        }
    }
}
