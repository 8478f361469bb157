//! The run that a [`Trainer`](super::Trainer) owns.

use crate::checkpoint::CheckpointError;
use crate::data::{Dataset, Rows};
use crate::error::Result;
use crate::estimator::{AnyEstimator, Link};
use crate::real::Real;
use alloc::vec::Vec;

/// A finite sum at the iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumReport {
    /// P.
    pub objective: f64,
    /// ‖∇P‖² of the whole sum at the iterate.
    pub grad_norm_sq: f64,
    /// The last step size; 0 before the first.
    pub alpha: f64,
    /// The bound of the step size; infinite where there is none.
    pub alpha_max: f64,
}

/// What a report says of the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Over the whole training data.
    pub value: f64,
    /// Squared norm of its gradient, where the run knows it.
    pub grad_norm_sq: Option<f64>,
    /// Of a finite sum.
    pub sum: Option<SumReport>,
}

/// The largest norm of a gradient at the end of a run, over that at the start, which counts as converged. On ten small tables (140 linear
/// runs by seven finite sums) it separates best those that have more than 2 % of their decrease before them: tests/results/tables.md.
pub const CONVERGED: f64 = 0.05;

/// What a run says against its own model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Diagnostic {
    /// It has been put back to where the method's own steps began.
    Start,
    /// Its algorithm ended without a step.
    Stuck,
    /// What it minimises is larger than where it began.
    Risen {
        /// The objective at the start.
        from: f64,
        /// The objective now.
        to: f64,
    },
    /// It has ended with a gradient, over all rows, that is more than [`CONVERGED`] of that at the model's start values.
    Unconverged {
        /// The gradient's norm over that.
        share: f64,
    },
    /// The iterate lies on the edge of the ball that it is projected onto.
    Edge {
        /// The ball's radius.
        radius: f64,
    },
}

/// A run over one data set, lent at every call: batches through a host, a finite sum, or one of your own.
pub trait Run<T: Real> {
    /// One step, or a piece of a long walk that leaves [`steps_done`](Self::steps_done) as it was; the objective's estimate
    /// (NaN where the run does not look at it), or `None` at the end.
    ///
    /// # Errors
    /// As its parts. The model is then as before.
    fn step(&mut self, data: &Dataset<T>) -> Result<Option<f64>>;
    /// Whether [`step`](Self::step) has nothing more to do.
    fn is_done(&self) -> bool;
    /// Steps done.
    fn steps_done(&self) -> u64;
    /// Steps that it takes at most.
    fn total_steps(&self) -> u64;
    /// Of them, those before the method's own.
    fn pretraining_steps(&self) -> u64 {
        0
    }
    /// How far it is and how far it goes, in a unit of its own.
    fn progress(&self) -> (u64, u64) {
        (self.steps_done(), self.total_steps())
    }
    /// Rows drawn.
    fn drawn(&self) -> u64;
    /// Rows of the last batch.
    fn batch(&self, data: &Dataset<T>) -> &[u32];
    /// The model's parameters.
    ///
    /// # Errors
    /// `Length` for memory of another run.
    fn params(&mut self, data: &Dataset<T>) -> Result<&[T]>;
    /// A copy of them, of a run that is only looked at.
    fn copy_params(&self, data: &Dataset<T>) -> Vec<T>;
    /// Scores of a row.
    fn heads(&self) -> usize {
        1
    }
    /// Raw scores of any rows with the training data's columns, rows × heads.
    ///
    /// # Errors
    /// `Length`.
    fn score(&mut self, data: &Dataset<T>, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()>;
    /// The objective at the model, whose raw scores of the training rows these are.
    ///
    /// # Errors
    /// `Overflow`.
    fn objective(&mut self, data: &Dataset<T>, scores: &[T]) -> Result<Objective>;
    /// The function between raw scores and what the objective sees.
    fn link(&self) -> Link {
        Link::Identity
    }
    /// Warnings about the model, the most serious first.
    ///
    /// # Errors
    /// `Overflow`.
    fn diagnostic(&mut self, _data: &Dataset<T>) -> Result<Option<Diagnostic>> {
        Ok(None)
    }
    /// The estimator, of the registry's methods; `None` of runs of your own and of finite sums.
    fn estimator(&self) -> Option<&AnyEstimator> {
        None
    }
    /// Last step size and its bound, where the run chooses them itself.
    fn step_size(&self) -> Option<(f64, f64)> {
        None
    }
    /// The largest eigenvalue of the objective's Hessian at the model, where the run can tell it.
    ///
    /// # Errors
    /// `Overflow`.
    fn curvature(&mut self, _data: &Dataset<T>) -> Result<Option<f64>> {
        Ok(None)
    }
    /// Everything that changes, as bytes.
    fn write(&self, out: &mut Vec<u8>);
    /// Takes over what [`write`](Self::write) wrote of a run of the same make.
    ///
    /// # Errors
    /// `Damaged`, `Mismatch`. The run is then not to be used.
    fn read(&mut self, data: &Dataset<T>, from: &[u8]) -> Result<(), CheckpointError>;
}
