//! A run that minimises a finite sum: one algorithm, and one oracle over rows that are lent for every call.

use super::config::{Length, TrainerError, refuse_unread, room};
use super::passes::Work;
use super::{Common, SumReport};
use crate::error::{Error, Result};
use crate::finite_sum::{
    AnySum, Event, Lent, Memory, Oracle, OverRows, Run, View, gradient, largest_eigenvalue, largest_eigenvalue_need,
    loss_of,
};
use crate::model::Model;
use crate::real::Real;
use crate::registry::Settings;
use crate::rng::Rng;
use crate::scratch::Need;
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
    sum: Lent,
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
    /// Whether it has ended because the gradient is 0 to rounding.
    pub stationary: bool,
    /// P where the run began, once it was asked for.
    began: Option<f64>,
    work: Work<T>,
}

/// Working memory of a sum's calls.
fn working<T: Real>(oracle: &dyn Oracle<T>) -> Need {
    Need { real: oracle.scratch_len(), ..Need::NONE }
}

/// Why a method cannot train a model of unknown smoothness with these settings.
fn refused(method: &str, settings: &Settings<'_>, model: &str) -> Option<TrainerError> {
    if method == "theoretical-ai-sarah" {
        let text =
            format!("{method} needs the smoothness of every example, which is known for linear models, not {model}");
        return Some(TrainerError::Config(text));
    }
    for name in ["alpha", "alpha-min", "alpha-max"] {
        if let Some(word) = settings.text(name).filter(|word| word.ends_with("/L")) {
            let text =
                format!("{method} with {model} needs {name}: its default {word} is known for linear models alone");
            return Some(TrainerError::Config(text));
        }
    }
    None
}

impl<T: Real> Summed<T> {
    pub fn new(settings: &Settings<'_>, common: &Common<T>) -> Result<Self, TrainerError> {
        let (config, data) = (&common.config, &common.train);
        let n = data.len();
        room::<T>(&config.model, Model::<T>::param_len(&common.model).saturating_mul(8))?;
        let (loss, lambda) = loss_of(settings, n)?;
        let sum = Lent::new(common.model, data.rows(), data.labels(), loss, lambda)?;
        let smooth = sum.smooth();
        if smooth.is_none()
            && let Some(error) = refused(common.method.name, settings, &format!("{}", config.model))
        {
            return Err(error);
        }
        let algorithm = common.method.finite_sum(settings, n, smooth.unwrap_or(f64::NAN))?;
        let rows = |passes: f64| libm::ceil(passes * n as f64) as u64;
        let end = match config.length {
            Length::Method => End::Rows(rows(settings.number("passes")?)),
            Length::Steps(steps) => End::Steps(steps),
            Length::Passes(passes) => End::Rows(rows(passes)),
        };
        let total = match end {
            End::Steps(steps) => steps,
            // (The last minibatch of a walk in shuffled order is what the others leave.)
            End::Rows(rows) => {
                let (n, batch) = (n as u64, settings.count("batch").unwrap_or(1).clamp(1, n as u64));
                (rows / n).saturating_mul(n.div_ceil(batch)).saturating_add((rows % n).div_ceil(batch))
            }
        };
        refuse_unread(settings, common.method, config)?;
        let mut summed = Self {
            algorithm,
            sum,
            end,
            total,
            run: Run::from_words([0; Run::WORDS]),
            real: Vec::new(),
            u32: Vec::new(),
            params: Vec::new(),
            read: true,
            stationary: false,
            began: None,
            work: Work::default(),
        };
        summed.start(common)?;
        Ok(summed)
    }

    /// Memory of the right size, with the run at its start.
    fn start(&mut self, common: &Common<T>) -> Result<()> {
        let (sum, algorithm, seed) = (self.over(common), self.algorithm.get(), common.config.seed);
        let oracle = sum.oracle();
        let need = algorithm.need(oracle)?;
        (self.real, self.u32, self.params) = (vec![T::ZERO; need.real], vec![0; need.u32], vec![T::ZERO; oracle.dim()]);
        common.model.init(&mut Rng::keyed(seed, 0x1217, 0), &mut self.params)?;
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32, scratch: &mut [] };
        self.run = algorithm.start(oracle, &self.params, seed, memory)?;
        Ok(())
    }

    fn over<'a>(&self, common: &'a Common<T>) -> OverRows<'a, T> {
        self.sum.over(common.train.rows(), common.train.labels())
    }

    /// How far the run is, and how far it goes: minibatches or rows.
    pub fn progress(&self) -> (u64, u64) {
        match self.end {
            End::Steps(steps) => (self.run.steps, steps),
            End::Rows(rows) => (self.run.samples, rows),
        }
    }

    /// Whether the run is as long as it was to be, or the gradient is 0.
    pub fn is_done(&self) -> bool {
        let (done, end) = self.progress();
        done >= end || self.stationary
    }

    /// One minibatch, or a piece of a walk over all rows; `false` at the end of the run.
    pub fn step(&mut self, common: &Common<T>) -> Result<bool> {
        if self.is_done() {
            return Ok(false);
        }
        self.read = false;
        let sum = self.over(common);
        let scratch = self.work.lend(working(sum.oracle())).real;
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32, scratch };
        let event = self.algorithm.get().step(sum.oracle(), &mut self.run, memory)?;
        self.stationary = event == Event::Stationary;
        Ok(!self.stationary)
    }

    fn view(&self) -> View<'_, T> {
        View { real: &self.real, u32: &self.u32 }
    }

    /// Rows of the last minibatch.
    pub fn batch(&self, common: &Common<T>) -> &[u32] {
        self.algorithm.get().minibatch(self.over(common).oracle(), &self.run, self.view())
    }

    fn read_params(&self, common: &Common<T>, out: &mut [T]) -> Result<()> {
        self.algorithm.get().params(self.over(common).oracle(), &self.run, self.view(), out)
    }

    /// The iterate.
    pub fn params(&mut self, common: &Common<T>) -> Result<&[T]> {
        if !self.read {
            let mut params = core::mem::take(&mut self.params);
            let read = self.read_params(common, &mut params);
            self.params = params;
            read?;
            self.read = true;
        }
        Ok(&self.params)
    }

    /// The iterate, without keeping it.
    pub fn iterate(&self, common: &Common<T>) -> Result<Vec<T>> {
        let mut params = vec![T::ZERO; self.params.len()];
        self.read_params(common, &mut params)?;
        Ok(params)
    }

    /// P and its gradient at the iterate, and the step sizes.
    pub fn report(&mut self, common: &Common<T>) -> Result<SumReport> {
        self.params(common)?;
        let (sum, params, mut grad) = (self.over(common), &self.params, vec![T::ZERO; self.params.len()]);
        let scratch = self.work.lend(working(sum.oracle())).real;
        let objective = sum.oracle().objective(params, scratch)?;
        let grad_norm_sq = gradient(sum.oracle(), params, &mut grad, scratch)?;
        Ok(SumReport { objective, grad_norm_sq, alpha: self.run.alpha, alpha_max: self.run.alpha_max })
    }

    /// P where the run began, and P at the iterate.
    pub fn began_and_is(&mut self, common: &Common<T>) -> Result<[f64; 2]> {
        self.params(common)?;
        let sum = self.over(common);
        let scratch = self.work.lend(working(sum.oracle())).real;
        let from = match self.began {
            Some(from) => from,
            None => {
                let mut start = vec![T::ZERO; self.params.len()];
                common.model.init(&mut Rng::keyed(common.config.seed, 0x1217, 0), &mut start)?;
                sum.oracle().objective(&start, scratch)?
            }
        };
        let to = sum.oracle().objective(&self.params, scratch)?;
        self.began = Some(from);
        Ok([from, to])
    }

    /// λ_max(∇²P) at the iterate; `None` where the sum has no Hessian.
    pub fn curvature(&mut self, common: &Common<T>) -> Result<Option<f64>> {
        self.params(common)?;
        let sum = self.over(common);
        let scratch = self.work.lend(largest_eigenvalue_need(self.params.len(), ITERATIONS));
        match largest_eigenvalue(sum.oracle(), Some(&self.params), ITERATIONS, TOLERANCE, 1, scratch) {
            Ok(largest) => Ok(Some(largest.value)),
            Err(Error::Unsupported { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes a saved state over; `false` when it is not one of this run.
    pub fn restore(&mut self, common: &Common<T>, run: Run, real: Vec<T>, u32: Vec<u32>) -> bool {
        (self.run, self.real, self.u32, self.read) = (run, real, u32, false);
        let fits = self.algorithm.get().check(self.over(common).oracle(), &self.run, self.view());
        fits.is_ok() && self.run.sound()
    }
}
