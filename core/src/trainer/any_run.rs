//! The runs of the registry's methods, by value.

use super::batch_run::BatchRun;
use super::run::{Diagnostic, Objective, Run};
use super::sum_run::SumRun;
use crate::checkpoint::CheckpointError;
use crate::data::{Dataset, Rows};
use crate::error::Result;
use crate::estimator::{AnyEstimator, Link};
use crate::model::AnyModel;
use crate::real::Real;
use alloc::vec::Vec;

/// The runs of the registry's methods.
// There is one to a trainer, whose vectors are larger by far.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyRun<T: Real> {
    /// An estimator and an algorithm, over batches or everything.
    Batches(BatchRun<T>),
    /// A finite sum.
    #[cfg(feature = "sum-methods")]
    Sum(SumRun<T>),
}

macro_rules! each {
    ($any:expr, $run:ident => $body:expr) => {
        match $any {
            AnyRun::Batches($run) => $body,
            #[cfg(feature = "sum-methods")]
            AnyRun::Sum($run) => $body,
        }
    };
}

impl<T: Real> AnyRun<T> {
    pub(super) fn model(&self) -> &AnyModel {
        each!(self, run => run.model())
    }
    pub(super) fn estimator_state(&self) -> &[T] {
        each!(self, run => run.estimator_state())
    }
    /// That of an estimator and an algorithm, if it is one.
    pub(super) fn batches(&self) -> Option<&BatchRun<T>> {
        match self {
            Self::Batches(run) => Some(run),
            #[cfg(feature = "sum-methods")]
            Self::Sum(_) => None,
        }
    }
}

impl<T: Real> Run<T> for AnyRun<T> {
    fn step(&mut self, data: &Dataset<T>) -> Result<Option<f64>> {
        each!(self, run => run.step(data))
    }
    fn is_done(&self) -> bool {
        each!(self, run => run.is_done())
    }
    fn steps_done(&self) -> u64 {
        each!(self, run => run.steps_done())
    }
    fn total_steps(&self) -> u64 {
        each!(self, run => run.total_steps())
    }
    fn pretraining_steps(&self) -> u64 {
        each!(self, run => run.pretraining_steps())
    }
    fn progress(&self) -> (u64, u64) {
        each!(self, run => run.progress())
    }
    fn drawn(&self) -> u64 {
        each!(self, run => run.drawn())
    }
    fn batch(&self, data: &Dataset<T>) -> &[u32] {
        each!(self, run => run.batch(data))
    }
    fn params(&mut self, data: &Dataset<T>) -> Result<&[T]> {
        each!(self, run => run.params(data))
    }
    fn copy_params(&self, data: &Dataset<T>) -> Vec<T> {
        each!(self, run => run.copy_params(data))
    }
    fn heads(&self) -> usize {
        each!(self, run => run.heads())
    }
    fn score(&mut self, data: &Dataset<T>, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        each!(self, run => run.score(data, rows, scores))
    }
    fn objective(&mut self, data: &Dataset<T>, scores: &[T]) -> Result<Objective> {
        each!(self, run => run.objective(data, scores))
    }
    fn link(&self) -> Link {
        each!(self, run => run.link())
    }
    fn estimator(&self) -> Option<&AnyEstimator> {
        self.batches().map(|run| &run.host().estimator)
    }
    fn diagnostic(&mut self, data: &Dataset<T>) -> Result<Option<Diagnostic>> {
        each!(self, run => run.diagnostic(data))
    }
    fn step_size(&self) -> Option<(f64, f64)> {
        each!(self, run => run.step_size())
    }
    fn curvature(&mut self, data: &Dataset<T>) -> Result<Option<f64>> {
        each!(self, run => run.curvature(data))
    }
    fn write(&self, out: &mut Vec<u8>) {
        each!(self, run => run.write(out));
    }
    fn read(&mut self, data: &Dataset<T>, from: &[u8]) -> Result<(), CheckpointError> {
        each!(self, run => run.read(data, from))
    }
}
