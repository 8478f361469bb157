//! Something outside the core that computes estimators.

use crate::batch::Batch;
use crate::error::Result;
use crate::estimator::{AnyEstimator, Grad};
use crate::real::Real;
use core::fmt;

/// Something outside the core that computes estimators, such as a GPU.
pub trait Device<T: Real>: fmt::Debug {
    /// What it is, for display.
    fn name(&self) -> &str;
    /// Whether it computes this estimator.
    fn takes(&self, estimator: &AnyEstimator) -> bool;
    /// As [`Estimator::update`](crate::estimator::Estimator::update), with memory of its own. `None` when it does not
    /// compute this estimator or can no longer compute anything; state and gradient are then as before, and the core
    /// computes the step.
    fn update(
        &mut self,
        estimator: &AnyEstimator,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        grad: Grad<'_, T>,
    ) -> Option<Result<f64>>;
    /// Why it can no longer compute anything.
    fn failure(&self) -> Option<&dyn fmt::Display> {
        None
    }
}

/// The device that leaves everything to the core.
#[derive(Debug)]
pub(super) struct Core;

impl<T: Real> Device<T> for Core {
    fn name(&self) -> &str {
        "cpu"
    }
    fn takes(&self, _: &AnyEstimator) -> bool {
        false
    }
    fn update(
        &mut self,
        _: &AnyEstimator,
        _: &Batch<'_, T>,
        _: &[T],
        _: &mut [T],
        _: Grad<'_, T>,
    ) -> Option<Result<f64>> {
        None
    }
}
