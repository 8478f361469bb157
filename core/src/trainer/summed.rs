//! A run that minimises a finite sum of a linear model by an algorithm of its own.

use super::config::{Length, TrainerError};
use super::passes::Work;
use super::{Common, SumReport};
use crate::error::Result;
use crate::finite_sum::{
    AnySum, Event, FiniteSum, Glm, GlmLoss, Memory, Run, Targets, View, largest_eigenvalue, largest_eigenvalue_need,
};
use crate::model::AnyModel;
use crate::real::Real;
use crate::registry::Settings;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// Where the run ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Steps(u64),
    /// Rows drawn, a full gradient counting all.
    Rows(u64),
}

/// Lanczos iterations of [`Summed::curvature`], and its relative tolerance.
const ITERATIONS: usize = 40;
const TOLERANCE: f64 = 1e-4;

/// Algorithm and everything of the run that changes. Memory: that of the algorithm and one more vector.
#[derive(Clone, Debug)]
pub(super) struct Summed<T: Real> {
    algorithm: AnySum,
    loss: GlmLoss,
    lambda: f64,
    max_row_norm: f64,
    end: End,
    /// Minibatches that fit into the run at most.
    pub total: u64,
    // What a checkpoint holds.
    pub run: Run,
    pub real: Vec<T>,
    pub u32: Vec<u32>,
    // What it does not.
    params: Vec<T>,
    /// Whether `params` are the iterate.
    read: bool,
    stationary: bool,
}

impl<T: Real> Summed<T> {
    pub fn new(settings: &Settings<'_>, common: &Common<T>) -> Result<Self, TrainerError> {
        let (config, data) = (&common.config, &common.train);
        if !matches!(common.model, AnyModel::Linear(_)) {
            let text = format!("{} trains a linear model, not {}", config.method, config.model);
            return Err(TrainerError::Config(text));
        }
        let n = data.len();
        let (loss, lambda) = settings.glm(n)?;
        let glm = Glm::new(data.rows(), Targets::Labels(data.labels()), loss, lambda, true)?;
        let max_row_norm = glm.max_row_norm();
        let algorithm = settings.finite_sum(n, max_row_norm * max_row_norm * loss.curvature_bound() + lambda)?;
        let rows = |passes: f64| libm::ceil(passes * n as f64) as u64;
        let end = match config.length {
            Length::Method => End::Rows(rows(settings.number("passes")?)),
            Length::Steps(steps) => End::Steps(steps),
            Length::Passes(passes) => End::Rows(rows(passes)),
        };
        let total = match end {
            End::Steps(steps) => steps,
            End::Rows(rows) => rows.div_ceil(settings.count("batch").unwrap_or(1).clamp(1, n as u64)),
        };
        let need = algorithm.need(&glm)?;
        let (mut real, mut u32) = (vec![T::ZERO; need.real], vec![0; need.u32]);
        let mut params = vec![T::ZERO; glm.dim()];
        common.start(&mut params)?;
        let run = algorithm.start(&glm, &params, config.seed, &mut Memory { real: &mut real, u32: &mut u32 })?;
        Ok(Self {
            algorithm,
            loss,
            lambda,
            max_row_norm,
            end,
            total,
            run,
            real,
            u32,
            params,
            read: true,
            stationary: false,
        })
    }

    fn glm<'a>(&self, common: &'a Common<T>) -> Glm<'a, T> {
        let data = &common.train;
        Glm::again(data.rows(), Targets::Labels(data.labels()), self.loss, self.lambda, self.max_row_norm)
    }

    /// How far the run is, and how far it goes: minibatches or rows.
    pub fn progress(&self) -> (u64, u64) {
        match self.end {
            End::Steps(steps) => (self.run.steps, steps),
            End::Rows(rows) => (self.run.samples, rows),
        }
    }

    /// One minibatch, or a piece of a walk over all rows; `false` at the end of the run.
    pub fn step(&mut self, common: &Common<T>) -> Result<bool> {
        let (done, end) = self.progress();
        if done >= end || self.stationary {
            return Ok(false);
        }
        self.read = false;
        let glm = self.glm(common);
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32 };
        self.stationary = self.algorithm.step(&glm, &mut self.run, memory)? == Event::Stationary;
        Ok(!self.stationary)
    }

    fn view(&self) -> View<'_, T> {
        View { real: &self.real, u32: &self.u32 }
    }

    /// Rows of the last minibatch.
    pub fn batch(&self, common: &Common<T>) -> &[u32] {
        self.algorithm.minibatch(&self.glm(common), &self.run, self.view())
    }

    /// The iterate.
    pub fn params(&mut self, common: &Common<T>) -> Result<&[T]> {
        if !self.read {
            let mut params = core::mem::take(&mut self.params);
            let read = self.algorithm.params(&self.glm(common), &self.run, self.view(), &mut params);
            self.params = params;
            read?;
            self.read = true;
        }
        Ok(&self.params)
    }

    /// The iterate, without keeping it.
    pub fn iterate(&self, common: &Common<T>) -> Result<Vec<T>> {
        let mut params = vec![T::ZERO; self.params.len()];
        self.algorithm.params(&self.glm(common), &self.run, self.view(), &mut params)?;
        Ok(params)
    }

    /// P and its gradient at the iterate, and the step sizes.
    pub fn report(&mut self, common: &Common<T>) -> Result<SumReport> {
        self.params(common)?;
        let glm = self.glm(common);
        let mut grad = vec![T::ZERO; self.params.len()];
        Ok(SumReport {
            objective: glm.objective(&self.params)?,
            grad_norm_sq: glm.gradient(&self.params, &mut grad)?,
            alpha: self.run.alpha,
            alpha_max: self.run.alpha_max,
        })
    }

    /// λ_max(∇²P) at the iterate.
    pub fn curvature(&mut self, common: &Common<T>) -> Result<f64> {
        self.params(common)?;
        let mut work = Work::default();
        let scratch = work.lend(largest_eigenvalue_need(self.params.len(), ITERATIONS));
        let found = largest_eigenvalue(&self.glm(common), Some(&self.params), ITERATIONS, TOLERANCE, 1, scratch)?;
        Ok(found.value)
    }

    /// Takes a saved state over; `false` when it is not one of this run.
    pub fn restore(&mut self, common: &Common<T>, run: Run, real: Vec<T>, u32: Vec<u32>) -> bool {
        (self.run, self.real, self.u32, self.read) = (run, real, u32, false);
        self.algorithm.check(&self.glm(common), &self.run, self.view()).is_ok()
    }
}
