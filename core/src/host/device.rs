//! Something outside the core that computes sums over pairs.

use crate::batch::Batch;
use crate::error::Result;
use crate::estimator::PairEstimator;
use crate::real::Real;
use core::fmt;

/// Something outside the core that computes the sums of [`PairEstimator`]s, such as a GPU.
pub trait Device<T: Real>: fmt::Debug {
    /// What it is, for display.
    fn name(&self) -> &str;
    /// As [`Estimator::update`](crate::estimator::Estimator::update), with memory of its own; the gradient is by raw score.
    /// `None` when it can no longer compute anything; state and gradient are then as before, and the core computes the step.
    fn update(
        &mut self,
        estimator: &dyn PairEstimator<T>,
        batch: &Batch<'_, T>,
        state: &mut [T],
        grad: &mut [T],
    ) -> Option<Result<f64>>;
    /// Why it can no longer compute anything.
    fn failure(&self) -> Option<&dyn fmt::Display> {
        None
    }
}
