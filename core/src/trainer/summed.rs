//! A run that minimises a finite sum, of a linear model or of a network, by an algorithm of its own.

use super::config::{Length, TrainerError, refuse_unread, room};
use super::passes::Work;
use super::{Common, SumReport};
use crate::error::Result;
use crate::finite_sum::{
    AnySum, Event, FiniteSum, Glm, GlmLoss, Memory, NetworkSum, OnNetwork, Run, Targets, View, largest_eigenvalue,
    largest_eigenvalue_need, loss_of,
};
use crate::model::{AnyModel, Mlp, Model};
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

/// The algorithm on the model it runs on.
#[derive(Clone, Copy, Debug)]
enum Road {
    Linear { algorithm: AnySum, max_row_norm: f64 },
    Network { algorithm: OnNetwork, model: Mlp },
}

/// A [`Road`] with the data it leads over.
enum Sum<'a, T> {
    Linear(AnySum, Glm<'a, T>),
    Network(OnNetwork, NetworkSum<'a, T>),
}

/// Algorithm and everything of the run that changes. Memory: that of the algorithm and one more vector.
#[derive(Clone, Debug)]
pub(super) struct Summed<T: Real> {
    road: Road,
    loss: GlmLoss,
    lambda: f64,
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

/// Working memory of a network's calls; the linear roads need none.
fn working<T: Real>(net: &NetworkSum<'_, T>) -> Need {
    Need { real: net.scratch_len(), ..Need::NONE }
}

/// Why a method cannot train a network with these settings.
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
        let road = match common.model {
            AnyModel::Linear(_) => {
                let glm = Glm::new(data.rows(), Targets::Labels(data.labels()), loss, lambda, true)?;
                let max_row_norm = glm.max_row_norm();
                let smooth = max_row_norm * max_row_norm * loss.curvature_bound() + lambda;
                Road::Linear { algorithm: common.method.finite_sum(settings, n, smooth)?, max_row_norm }
            }
            AnyModel::Mlp(model) => {
                if let Some(error) = refused(common.method.name, settings, &format!("{}", config.model)) {
                    return Err(error);
                }
                NetworkSum::new(model, data.rows(), data.labels(), loss, lambda)?;
                Road::Network { algorithm: OnNetwork::new(common.method.finite_sum(settings, n, f64::NAN)?)?, model }
            }
        };
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
            road,
            loss,
            lambda,
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
        let sum = self.sum(common);
        let (need, dim) = match &sum {
            Sum::Linear(algorithm, glm) => (algorithm.need(glm)?, glm.dim()),
            Sum::Network(algorithm, net) => (algorithm.need(net)?, net.dim()),
        };
        (self.real, self.u32, self.params) = (vec![T::ZERO; need.real], vec![0; need.u32], vec![T::ZERO; dim]);
        common.model.init(&mut Rng::keyed(common.config.seed, 0x1217, 0), &mut self.params)?;
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32 };
        let seed = common.config.seed;
        self.run = match &sum {
            Sum::Linear(algorithm, glm) => algorithm.start(glm, &self.params, seed, memory)?,
            Sum::Network(algorithm, net) => algorithm.start(net, &self.params, seed, memory)?,
        };
        Ok(())
    }

    fn sum<'a>(&self, common: &'a Common<T>) -> Sum<'a, T> {
        let (rows, labels) = (common.train.rows(), common.train.labels());
        let Self { loss, lambda, .. } = *self;
        match self.road {
            Road::Linear { algorithm, max_row_norm } => {
                Sum::Linear(algorithm, Glm::again(rows, Targets::Labels(labels), loss, lambda, max_row_norm))
            }
            Road::Network { algorithm, model } => {
                Sum::Network(algorithm, NetworkSum::again(model, rows, labels, loss, lambda))
            }
        }
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
        let sum = self.sum(common);
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32 };
        let event = match &sum {
            Sum::Linear(algorithm, glm) => algorithm.step(glm, &mut self.run, memory)?,
            Sum::Network(algorithm, net) => {
                algorithm.step(net, &mut self.run, memory, self.work.lend(working(net)).real)?
            }
        };
        self.stationary = event == Event::Stationary;
        Ok(!self.stationary)
    }

    fn view(&self) -> View<'_, T> {
        View { real: &self.real, u32: &self.u32 }
    }

    /// Rows of the last minibatch.
    pub fn batch(&self, common: &Common<T>) -> &[u32] {
        match self.sum(common) {
            Sum::Linear(algorithm, glm) => algorithm.minibatch(&glm, &self.run, self.view()),
            Sum::Network(algorithm, net) => algorithm.minibatch(&net, &self.run, self.view()),
        }
    }

    fn read_params(&self, common: &Common<T>, out: &mut [T]) -> Result<()> {
        match self.sum(common) {
            Sum::Linear(algorithm, glm) => algorithm.params(&glm, &self.run, self.view(), out),
            Sum::Network(algorithm, net) => {
                out.copy_from_slice(algorithm.params(&net, self.view())?);
                Ok(())
            }
        }
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
        let sum = self.sum(common);
        let (params, mut grad) = (&self.params, vec![T::ZERO; self.params.len()]);
        let (objective, grad_norm_sq) = match &sum {
            Sum::Linear(_, glm) => (glm.objective(params)?, glm.gradient(params, &mut grad)?),
            Sum::Network(_, net) => {
                let scratch = self.work.lend(working(net)).real;
                (net.objective(params, scratch)?, net.gradient(params, &mut grad, scratch)?)
            }
        };
        Ok(SumReport { objective, grad_norm_sq, alpha: self.run.alpha, alpha_max: self.run.alpha_max })
    }

    /// P where the run began, and P at the iterate.
    pub fn began_and_is(&mut self, common: &Common<T>) -> Result<[f64; 2]> {
        self.params(common)?;
        let sum = self.sum(common);
        let mut objective = |params: &[T]| match &sum {
            Sum::Linear(_, glm) => glm.objective(params),
            Sum::Network(_, net) => net.objective(params, self.work.lend(working(net)).real),
        };
        let from = match self.began {
            Some(from) => from,
            None => {
                let mut start = vec![T::ZERO; self.params.len()];
                common.model.init(&mut Rng::keyed(common.config.seed, 0x1217, 0), &mut start)?;
                objective(&start)?
            }
        };
        let to = objective(&self.params)?;
        self.began = Some(from);
        Ok([from, to])
    }

    /// λ_max(∇²P) at the iterate; `None` for a network.
    pub fn curvature(&mut self, common: &Common<T>) -> Result<Option<f64>> {
        self.params(common)?;
        let Sum::Linear(_, glm) = self.sum(common) else { return Ok(None) };
        let scratch = self.work.lend(largest_eigenvalue_need(self.params.len(), ITERATIONS));
        Ok(Some(largest_eigenvalue(&glm, Some(&self.params), ITERATIONS, TOLERANCE, 1, scratch)?.value))
    }

    /// Takes a saved state over; `false` when it is not one of this run.
    pub fn restore(&mut self, common: &Common<T>, run: Run, real: Vec<T>, u32: Vec<u32>) -> bool {
        (self.run, self.real, self.u32, self.read) = (run, real, u32, false);
        let fits = match self.sum(common) {
            Sum::Linear(algorithm, glm) => algorithm.check(&glm, &self.run, self.view()).is_ok(),
            Sum::Network(algorithm, net) => algorithm.check(&net, self.view()).is_ok(),
        };
        fits && self.run.sound()
    }
}
