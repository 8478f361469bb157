//! A run that minimises a finite sum: one algorithm, and one sum over rows that are lent for every call.

use super::config::{Config, Length, TrainerError, counted, refuse_unread, room};
use super::given::Beside;
use super::passes::{SharedPasses, Work};
use super::predictor::Predictor;
use super::run::{CONVERGED, Diagnostic, Objective, Run, SumReport};
use crate::checkpoint::{CheckpointError, Coded, Reader, reals, write_reals};
use crate::data::{Dataset, Rows, Targets};
use crate::error::{Error, Result};
use crate::example_loss::GlmLoss;
use crate::finite_sum::{
    AnySum, AsOracle, Event, FiniteSum, Lent, Memory, ModelSum, Oracle, Run as SumState, View, gradient,
    largest_eigenvalue, largest_eigenvalue_need, loss_of,
};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::{Method, Settings};
use crate::rng::Rng;
use crate::scratch::Need;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// Where a run on a finite sum ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After so many minibatches.
    Steps(u64),
    /// Rows drawn, a full gradient counting all.
    Rows(u64),
}

/// Lanczos iterations of [`SumRun::curvature`](Run::curvature), and its relative tolerance.
const ITERATIONS: usize = 40;
const TOLERANCE: f64 = 1e-4;

/// A run on a finite sum: its algorithm, its sum, and everything that changes. Memory: that of the algorithm and one more
/// vector.
///
/// ```
/// use std::sync::Arc;
/// use undercurve::data::Dataset;
/// use undercurve::finite_sum::{AiSarah, GlmLoss, ModelSum};
/// use undercurve::model::{AnyModel, Linear};
/// use undercurve::trainer::{Config, End, SumRun, Trainer};
///
/// let data = Arc::new(Dataset::dense(vec![0.1, 0.9, 0.3, 0.2, 0.8, 0.4], vec![0, 1, 0, 0, 1, 0], 1)?);
/// let model = AnyModel::Linear(Linear::new(1, 1)?);
/// let sum = ModelSum::new(model, data.rows(), data.response(), GlmLoss::Logistic, 0.01)?;
/// let run = SumRun::new(model, AiSarah::new(2, 1.0 / 32.0, 0.999)?, sum, End::Rows(600), 1, &data)?;
/// let config = Config { method: "of my parts".into(), ..Config::default() };
/// let mut trainer = Trainer::with_run(&config, run, data, None)?;
/// assert_eq!(trainer.run()?.train.get("auroc"), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumRun<T: Real, M = AnyModel, F = AnySum, L = ModelSum> {
    model: M,
    algorithm: F,
    sum: L,
    end: End,
    seed: u64,
    /// Minibatches that fit into the run at most.
    total: u64,
    // What a checkpoint holds.
    run: SumState,
    real: Vec<T>,
    u32: Vec<u32>,
    /// Whether it has ended because the gradient is 0 to rounding.
    stationary: bool,
    // What it does not.
    params: Vec<T>,
    /// Whether `params` are the iterate.
    read: bool,
    /// Where it began, if not at the model's start values.
    start: Option<Vec<T>>,
    /// P where the run began, once it was asked for.
    began: Option<f64>,
    work: Work<T>,
    passes: SharedPasses<T>,
}

/// Where a run begins: at the model's start values, or at others.
fn first<T: Real, M: Model<T>>(model: &M, seed: u64, start: Option<&[T]>) -> Result<Vec<T>> {
    let mut params = vec![T::ZERO; model.param_len()];
    match start {
        Some(start) => {
            crate::error::exact_len("params", params.len(), start.len())?;
            params.copy_from_slice(start);
        }
        None => model.init(&mut Rng::keyed(seed, 0x1217, 0), &mut params)?,
    }
    Ok(params)
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

impl<T: Real> SumRun<T> {
    /// Of a method of the registry, at the model's start values or at others.
    pub(super) fn of_method(
        method: &'static Method,
        settings: &Settings<'_>,
        config: &Config,
        model: AnyModel,
        train: &Dataset<T>,
        beside: &Beside<T>,
        weights: &[f64],
    ) -> Result<Self, TrainerError> {
        // (A row of weight 0 may be drawn, and moves nothing.)
        let (n, start) = (train.len(), beside.start().map(Predictor::params));
        room::<T>(&config.model, Model::<T>::param_len(&model).saturating_mul(8))?;
        let (loss, lambda) = loss_of(settings, counted(weights, n))?;
        if let (Targets::Values(_), false) = (train.targets(), loss == GlmLoss::LeastSquares) {
            return Err(TrainerError::Config("numbers are fitted by loss=least-squares".to_string()));
        }
        let weights = match weights.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Vec::new(),
            false => {
                let mean = weights.iter().sum::<f64>() / n as f64;
                weights.iter().map(|w| w / mean).collect()
            }
        };
        if !weights.is_empty() && !matches!(model, AnyModel::Linear(_)) {
            let text = format!("method {} with {} takes no weights of rows or classes", method.name, config.model);
            return Err(TrainerError::Config(text));
        }
        let sum = ModelSum::weighted(model, train.rows(), train.response(), loss, lambda, weights)?;
        let smooth = sum.smooth();
        if smooth.is_none()
            && let Some(error) = refused(method.name, settings, &format!("{}", config.model))
        {
            return Err(error);
        }
        let algorithm = method.finite_sum(settings, n, smooth.unwrap_or(f64::NAN))?;
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
        refuse_unread(settings, method, config)?;
        let mut run = Self::of_sum(model, algorithm, sum, end, config.seed, train, start)?;
        run.total = total;
        Ok(run)
    }
}

impl<T: Real, M: Model<T>, F: FiniteSum<T>, L: Lent<T>> SumRun<T, M, F, L> {
    /// A run at the model's start values. `sum` is over the parameters of `model`, which scores rows with the iterate.
    ///
    /// # Errors
    /// `Length` for a sum of another number of parameters, and those of [`FiniteSum::need`] and [`FiniteSum::start`].
    pub fn new(model: M, algorithm: F, sum: L, end: End, seed: u64, train: &Dataset<T>) -> Result<Self> {
        Self::of_sum(model, algorithm, sum, end, seed, train, None)
    }

    /// At the model's start values, or at others.
    fn of_sum(
        model: M,
        algorithm: F,
        sum: L,
        end: End,
        seed: u64,
        train: &Dataset<T>,
        start: Option<&[T]>,
    ) -> Result<Self> {
        let params = first(&model, seed, start)?;
        let over = sum.over(train.rows(), train.response());
        crate::error::exact_len("params", over.oracle().dim(), params.len())?;
        let need = algorithm.need(over.oracle())?;
        let (mut real, mut u32) = (vec![T::ZERO; need.real], vec![0; need.u32]);
        let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut [] };
        let run = algorithm.start(over.oracle(), &params, seed, memory)?;
        drop(over);
        let total = match end {
            End::Steps(steps) => steps,
            End::Rows(rows) => rows,
        };
        Ok(Self {
            model,
            algorithm,
            sum,
            end,
            seed,
            total,
            run,
            real,
            u32,
            stationary: false,
            params,
            read: true,
            start: start.map(<[T]>::to_vec),
            began: None,
            work: Work::default(),
            passes: SharedPasses::default(),
        })
    }

    /// What scores rows with the iterate.
    #[must_use]
    pub fn model(&self) -> &M {
        &self.model
    }

    /// None: a finite sum has no estimator.
    pub(super) fn estimator_state(&self) -> &[T] {
        &[]
    }

    fn view(&self) -> View<'_, T> {
        View { real: &self.real, u32: &self.u32 }
    }
}

impl<T: Real, M: Model<T> + Sync, F: FiniteSum<T>, L: Lent<T>> Run<T> for SumRun<T, M, F, L> {
    /// One minibatch, or a piece of a walk over all rows.
    fn step(&mut self, data: &Dataset<T>) -> Result<Option<f64>> {
        if self.is_done() {
            return Ok(None);
        }
        self.read = false;
        let sum = self.sum.over(data.rows(), data.response());
        let scratch = self.work.lend(working(sum.oracle())).real;
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32, scratch };
        let event = self.algorithm.step(sum.oracle(), &mut self.run, memory)?;
        self.stationary = event == Event::Stationary;
        Ok((!self.stationary).then_some(f64::NAN))
    }

    /// The run is as long as it was to be, or the gradient is 0.
    fn is_done(&self) -> bool {
        let (done, end) = self.progress();
        done >= end || self.stationary
    }

    fn steps_done(&self) -> u64 {
        self.run.steps
    }

    fn total_steps(&self) -> u64 {
        self.total
    }

    /// Minibatches or rows.
    fn progress(&self) -> (u64, u64) {
        match self.end {
            End::Steps(steps) => (self.run.steps, steps),
            End::Rows(rows) => (self.run.samples, rows),
        }
    }

    fn drawn(&self) -> u64 {
        self.run.samples
    }

    fn batch(&self, data: &Dataset<T>) -> &[u32] {
        let sum = self.sum.over(data.rows(), data.response());
        self.algorithm.minibatch(sum.oracle(), &self.run, self.view())
    }

    fn params(&mut self, data: &Dataset<T>) -> Result<&[T]> {
        if !self.read {
            let Self { algorithm, sum, real, u32, run, params, .. } = self;
            let sum = sum.over(data.rows(), data.response());
            algorithm.params(sum.oracle(), run, View { real, u32 }, params)?;
            self.read = true;
        }
        Ok(&self.params)
    }

    fn copy_params(&self, data: &Dataset<T>) -> Vec<T> {
        let mut params = self.params.clone();
        // (The memory fits the run it was made for.)
        let sum = self.sum.over(data.rows(), data.response());
        let _ = self.algorithm.params(sum.oracle(), &self.run, self.view(), &mut params);
        params
    }

    fn heads(&self) -> usize {
        self.model.heads()
    }

    fn score(&mut self, data: &Dataset<T>, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        self.params(data)?;
        self.passes.forward_all(&self.model, &self.params, rows, scores)
    }

    fn objective(&mut self, data: &Dataset<T>, _: &[T]) -> Result<Objective> {
        self.params(data)?;
        let (sum, mut grad) = (self.sum.over(data.rows(), data.response()), vec![T::ZERO; self.params.len()]);
        let scratch = self.work.lend(working(sum.oracle())).real;
        let value = sum.oracle().objective(&self.params, scratch)?;
        let grad_norm_sq = gradient(sum.oracle(), &self.params, &mut grad, scratch)?;
        let (alpha, alpha_max) = (self.run.alpha, self.run.alpha_max);
        let sum = Some(SumReport { objective: value, grad_norm_sq, alpha, alpha_max });
        Ok(Objective { value, grad_norm_sq: Some(grad_norm_sq), sum })
    }

    fn diagnostic(&mut self, data: &Dataset<T>) -> Result<Option<Diagnostic>> {
        self.params(data)?;
        let sum = self.sum.over(data.rows(), data.response());
        let scratch = self.work.lend(working(sum.oracle())).real;
        let start = first(&self.model, self.seed, self.start.as_deref())?;
        let from = match self.began {
            Some(from) => from,
            None => sum.oracle().objective(&start, scratch)?,
        };
        let to = sum.oracle().objective(&self.params, scratch)?;
        self.began = Some(from);
        if to > from || !self.is_done() {
            return Ok((to > from).then_some(Diagnostic::Risen { from, to }));
        }
        let mut grad = vec![T::ZERO; self.params.len()];
        let scratch = self.work.lend(working(sum.oracle())).real;
        // (Where a run goes on from another model, its first gradient is no measure.)
        let origin = first(&self.model, self.seed, None)?;
        let [whole, last] = [&origin, &self.params].map(|at| gradient(sum.oracle(), at, &mut grad, scratch));
        let share = crate::Real::sqrt(last? / whole?);
        Ok((share > CONVERGED).then_some(Diagnostic::Unconverged { share }))
    }

    fn step_size(&self) -> Option<(f64, f64)> {
        Some((self.run.alpha, self.run.alpha_max))
    }

    /// `None` where the sum has no Hessian. At most 40 walks over the stored values.
    fn curvature(&mut self, data: &Dataset<T>) -> Result<Option<f64>> {
        self.params(data)?;
        let sum = self.sum.over(data.rows(), data.response());
        let scratch = self.work.lend(largest_eigenvalue_need(self.params.len(), ITERATIONS));
        match largest_eigenvalue(sum.oracle(), Some(&self.params), ITERATIONS, TOLERANCE, 1, scratch) {
            Ok(largest) => Ok(Some(largest.value)),
            Err(Error::Unsupported { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.run.words().to_vec().write(out);
        write_reals(&self.real, out);
        self.u32.write(out);
        self.stationary.write(out);
    }

    fn read(&mut self, data: &Dataset<T>, from: &[u8]) -> Result<(), CheckpointError> {
        let mut from = Reader(from);
        let mut read = || {
            Some((from.value::<Vec<u64>>()?.try_into().ok()?, from.bytes()?, from.value::<Vec<u32>>()?, from.value()?))
        };
        let (words, real, u32, stationary) = read().ok_or(CheckpointError::Damaged)?;
        reals(real, &mut self.real)?;
        (self.run, self.u32, self.read, self.stationary) = (SumState::from_words(words), u32, false, stationary);
        let sum = self.sum.over(data.rows(), data.response());
        let fits = self.algorithm.check(sum.oracle(), &self.run, self.view()).is_ok();
        if fits && self.run.sound() { Ok(()) } else { Err(CheckpointError::Damaged) }
    }
}
