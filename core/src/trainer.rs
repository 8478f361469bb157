//! The owning front of the crate: data, model, method and all their memory in one value.
//!
//! A [`Trainer`] draws batches, runs the model, the estimator and the algorithm, and reports exact metrics. Everything
//! that a run depends on is in its [`Config`] (seed included), and everything that changes is saved by
//! `Trainer::save`, so that a run resumed from any step gives the bits of one that was never stopped.

use crate::algorithm::{Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Draw, State};
use crate::batch::{Batch, Drawn, Shape};
use crate::data::{Dataset, Rows, Selection};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, Estimator, Exact, Grad};
use crate::metric::{self, FprRange, Summary};
use crate::model::{Activation, AnyModel, Linear, Mlp, Model};
use crate::real::Real;
use crate::registry::{self, Domain, SettingError, Settings};
use crate::rng::Rng;
use crate::sampler::{AnySampler, Classes, Cursor, Sampler, Whole};
use crate::scratch::{Need, Scratch};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

/// Rows that one pass of the model looks at together when there are more than a batch.
const CHUNK: usize = 256;

/// Which model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ModelSpec {
    /// Linear.
    Linear,
    /// Multilayer perceptron with these hidden widths.
    Mlp {
        /// Widths of the hidden layers.
        hidden: Vec<usize>,
        /// tanh between the layers instead of max(·, 0).
        tanh: bool,
    },
}

impl ModelSpec {
    /// `linear`, or `mlp:64,64`, or `mlp-tanh:16`.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("model \"{text}\": expected linear, mlp:WIDTHS or mlp-tanh:WIDTHS, e.g. mlp:64,64");
        let (tanh, widths) = match text.split_once(':') {
            None if text == "linear" => return Ok(Self::Linear),
            Some(("mlp", widths)) => (false, widths),
            Some(("mlp-tanh", widths)) => (true, widths),
            _ => return Err(expected()),
        };
        let hidden: Vec<usize> = widths.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| expected())?;
        match Mlp::new(1, &hidden, 1, Activation::Relu) {
            Ok(_) => Ok(Self::Mlp { hidden, tanh }),
            Err(_) => Err(expected()),
        }
    }

    /// The model for so many feature columns.
    ///
    /// # Errors
    /// `Param`, `Overflow`.
    pub fn build(&self, inputs: usize) -> Result<AnyModel> {
        Ok(match self {
            Self::Linear => AnyModel::Linear(Linear::new(inputs, 1)?),
            Self::Mlp { hidden, tanh } => {
                let activation = if *tanh { Activation::Tanh } else { Activation::Relu };
                AnyModel::Mlp(Mlp::new(inputs, hidden, 1, activation)?)
            }
        })
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Mlp { hidden, tanh } => {
                f.write_str(if *tanh { "mlp-tanh" } else { "mlp" })?;
                for (k, width) in hidden.iter().enumerate() {
                    write!(f, "{}{width}", if k == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

/// How long to train.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Length {
    /// The method's `steps`.
    Method,
    /// So many steps.
    Steps(u64),
    /// So many passes over the data (rows drawn / rows there are).
    Passes(f64),
}

/// Everything a run depends on but its data.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Config {
    /// Name of the method in the [registry].
    pub method: String,
    /// `(name, value)` pairs that override the method's defaults.
    pub settings: Vec<(String, String)>,
    /// The model.
    pub model: ModelSpec,
    /// Start values and batches follow from it.
    pub seed: u64,
    /// How long.
    pub length: Length,
    /// False-positive range of the partial AUC in reports (and in methods that train for one).
    pub fpr: (f64, f64),
}

impl Default for Config {
    fn default() -> Self {
        Self {
            method: "soap".to_string(),
            settings: Vec::new(),
            model: ModelSpec::Linear,
            seed: 1,
            length: Length::Method,
            fpr: (0.0, 0.05),
        }
    }
}

/// Why a trainer cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrainerError {
    /// A wrong method, setting, model or length, as a sentence.
    Config(String),
    /// From the core.
    Core(Error),
    /// Saved bytes that cannot be used.
    #[cfg(feature = "serde")]
    Checkpoint(crate::checkpoint::CheckpointError),
}

impl fmt::Display for TrainerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(text) => f.write_str(text),
            Self::Core(error) => error.fmt(f),
            #[cfg(feature = "serde")]
            Self::Checkpoint(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TrainerError {}

impl From<Error> for TrainerError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

#[cfg(feature = "serde")]
impl From<crate::checkpoint::CheckpointError> for TrainerError {
    fn from(error: crate::checkpoint::CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

/// What a report holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Steps done.
    pub step: u64,
    /// Rows drawn so far / rows there are.
    pub pass: f64,
    /// The method's objective over the whole training data, minimised.
    pub objective: f64,
    /// Metrics on the training data.
    pub train: Summary,
    /// Metrics on the test data, if there is any.
    pub test: Option<Summary>,
}

/// Working memory of the calls of one step, grown once.
#[derive(Clone, Debug, Default)]
struct Work<T> {
    real: Vec<T>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

impl<T: Real> Work<T> {
    fn lend(&mut self, need: Need) -> Scratch<'_, T> {
        fn grow<E: Clone>(memory: &mut Vec<E>, need: usize, zero: E) -> &mut [E] {
            if memory.len() < need {
                memory.resize(need, zero);
            }
            memory
        }
        Scratch {
            real: grow(&mut self.real, need.real, T::ZERO),
            f64: grow(&mut self.f64, need.f64, 0.0),
            u32: grow(&mut self.u32, need.u32, 0),
            u64: grow(&mut self.u64, need.u64, 0),
        }
    }
}

/// Memory of forward and backward passes over chunks of rows.
#[derive(Clone, Debug, Default)]
struct Passes<T> {
    gathered: Vec<T>,
    cache: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> Passes<T> {
    /// Calls `step` with the selected rows, chunk by chunk: model, rows, position of the first, cache, scratch. Dense rows
    /// are gathered so that the model sees contiguous memory.
    fn run(
        &mut self,
        model: &AnyModel,
        rows: Rows<'_, T>,
        index: Option<&[u32]>,
        mut step: impl FnMut(&AnyModel, Selection<'_, T>, usize, &mut [T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let count = index.map_or_else(|| rows.len(), <[u32]>::len);
        let chunk = CHUNK.min(count.max(1));
        self.cache.resize(Model::<T>::cache_len(model, chunk), T::ZERO);
        self.scratch.resize(Model::<T>::scratch_len(model, chunk), T::ZERO);
        let identity: Vec<u32>;
        let index = match index {
            Some(index) => index,
            None => {
                identity = (0..count as u32).collect();
                &identity
            }
        };
        for (k, part) in index.chunks(chunk).enumerate() {
            let selection = match rows {
                Rows::Dense { data, cols } => {
                    self.gathered.clear();
                    for &row in part {
                        self.gathered.extend_from_slice(&data[row as usize * cols..][..cols]);
                    }
                    Selection::all(Rows::Dense { data: &self.gathered, cols })
                }
                Rows::Csr { .. } => Selection::of(rows, part)?,
            };
            step(model, selection, k * chunk, &mut self.cache, &mut self.scratch)?;
        }
        Ok(())
    }

    fn forward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: Option<&[u32]>,
        scores: &mut [T],
    ) -> Result<()> {
        self.run(model, rows, index, |model, x, at, cache, _| {
            let out = &mut scores[at..at + x.len()];
            model.forward(params, x, cache, out)
        })
    }

    /// Adds the parameter gradient. When the rows were one chunk, `forward` left their cache; otherwise it is made again.
    fn backward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        score_grad: &[T],
        grad: &mut [T],
    ) -> Result<()> {
        let again = index.len() > CHUNK;
        let mut scores = [T::ZERO; CHUNK];
        self.run(model, rows, Some(index), |model, x, at, cache, scratch| {
            let len = x.len();
            if again {
                model.forward(params, x, cache, &mut scores[..len])?;
            }
            model.backward(params, x, cache, &score_grad[at..at + len], scratch, grad)
        })
    }
}

/// Cross-entropy steps before the method's own.
#[derive(Clone, Copy, Debug)]
struct Pretraining<T> {
    steps: u64,
    estimator: AnyEstimator<T>,
    algorithm: AnyAlgorithm,
    /// Whether the last layer starts again after them.
    restart: bool,
}

/// Something outside the core that computes estimators, such as a GPU.
pub trait Device<T: Real>: fmt::Debug {
    /// What it is, for display.
    fn name(&self) -> &str;
    /// Whether it computes this estimator.
    fn takes(&self, estimator: &AnyEstimator<T>) -> bool;
    /// As [`Estimator::update`], with memory of its own. `None` when it does not compute this estimator or can no longer
    /// compute anything; state and gradient are then as before, and the core computes the step.
    fn update(
        &mut self,
        estimator: &AnyEstimator<T>,
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
struct Core;

impl<T: Real> Device<T> for Core {
    fn name(&self) -> &str {
        "cpu"
    }
    fn takes(&self, _: &AnyEstimator<T>) -> bool {
        false
    }
    fn update(
        &mut self,
        _: &AnyEstimator<T>,
        _: &Batch<'_, T>,
        _: &[T],
        _: &mut [T],
        _: Grad<'_, T>,
    ) -> Option<Result<f64>> {
        None
    }
}

/// Trains one model by one method.
#[derive(Clone, Debug)]
pub struct Trainer<T: Real> {
    config: Config,
    train: Arc<Dataset<T>>,
    test: Option<Arc<Dataset<T>>>,
    model: AnyModel,
    estimator: AnyEstimator<T>,
    algorithm: AnyAlgorithm,
    pretraining: Option<Pretraining<T>>,
    /// The near-linear form of the objective, for reports.
    whole: Option<Exact>,
    sampler: AnySampler,
    total: u64,
    population: [u32; 2],
    /// Row numbers by class, negatives first.
    by_class: Vec<u32>,
    // What a checkpoint holds.
    steps: u64,
    drawn: u64,
    points: Vec<T>,
    slots: Vec<T>,
    counters: [u64; COUNTERS],
    state: Vec<T>,
    cursor: Cursor,
    // What it does not.
    order: Vec<u32>,
    index: Vec<u32>,
    batch_slots: Vec<u32>,
    starts: [u32; 3],
    scores: Vec<T>,
    score_grad: Vec<T>,
    grad: Vec<T>,
    passes: Passes<T>,
    work: Work<T>,
}

fn setting_text(error: SettingError, config: &Config) -> String {
    match error {
        SettingError::Unknown { at } => {
            let known: Vec<&str> =
                registry::method(&config.method).map_or(&[][..], |m| m.params).iter().map(|p| p.name).collect();
            format!(
                "method {} has no parameter \"{}\"; it has {}",
                config.method,
                config.settings[at].0,
                known.join(", ")
            )
        }
        SettingError::Value { at, param } => {
            let domain = match param.domain {
                // Printing numbers with a fraction takes a sixth of a small module.
                Domain::Number { .. } if cfg!(feature = "compact") => "a number in its range".to_string(),
                Domain::Number { low, high } => format!("a number from {low} to {high}"),
                Domain::Count { low, high } => format!("a whole number from {low} to {high}"),
                Domain::Choice(words) => format!("one of {}", words.join(", ")),
            };
            format!("{} = \"{}\": expected {domain}", param.name, config.settings[at].1)
        }
    }
}

impl<T: Real> Trainer<T> {
    /// A trainer at step 0.
    ///
    /// # Errors
    /// `Config` for a method, setting or length that does not exist or fit; `Core` with `OneClass` when the training
    /// data has one class.
    pub fn new(config: &Config, train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
        let method = registry::method(&config.method).ok_or_else(|| {
            let names: Vec<&str> = registry::METHODS.iter().map(|m| m.name).collect();
            TrainerError::Config(format!("no method \"{}\"; there are {}", config.method, names.join(", ")))
        })?;
        let pairs: Vec<(&str, &str)> = config.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let settings = Settings::new(method, &pairs)
            .map_err(|error| TrainerError::Config(setting_text(error, config)))?
            .with_fpr(config.fpr);
        let (low, high) = config.fpr;
        if FprRange::new(low, high).is_err() {
            return Err(TrainerError::Config(match cfg!(feature = "compact") {
                true => "fpr: expected 0 <= LO < HI <= 1".to_string(),
                false => format!("fpr {low}:{high}: expected 0 <= LO < HI <= 1"),
            }));
        }
        let rows = train.labels().len();
        let mut by_class = vec![0; rows];
        let population = Classes::new(train.labels(), &mut by_class)?.population();
        if population.contains(&0) {
            return Err(Error::OneClass.into());
        }
        if let Some(test) = &test
            && test.rows().cols() != train.rows().cols()
        {
            return Err(TrainerError::Config(format!(
                "the test data has {} columns, the training data {}",
                test.rows().cols(),
                train.rows().cols()
            )));
        }
        let sampler = settings.sampler(config.seed, population)?;
        let batch = sampler.rows();
        let before = settings.pretrain_steps();
        let total = match config.length {
            Length::Method => settings.count("steps")?.saturating_add(before),
            Length::Steps(steps) => steps,
            Length::Passes(passes) if passes > 0.0 && passes < 1e12 => {
                libm::ceil(passes * rows as f64 / batch as f64) as u64
            }
            Length::Passes(_) => return Err(TrainerError::Config("passes must be positive".to_string())),
        };
        let estimator = settings.estimator::<T>()?;
        let algorithm = settings.algorithm(total.saturating_sub(before))?;
        let model = config.model.build(train.rows().cols())?;
        let params = Model::<T>::param_len(&model);
        let pretraining = match before {
            0 => None,
            steps => {
                let (estimator, algorithm) = settings.pretraining(steps)?;
                let last = Model::<T>::part(&model, "last").map_or(0, |part| part.len());
                Some(Pretraining { steps, estimator, algorithm, restart: settings.restarts(last == params) })
            }
        };
        let (low, high) = estimator.aux();
        let length = params + low + high;
        let mut points = vec![T::ZERO; length * Algorithm::<T>::points(&algorithm)];
        model.init(&mut Rng::keyed(config.seed, 0x1217, 0), &mut points[..params])?;
        for copy in 1..points.len() / length {
            points.copy_within(..length, copy * length);
        }
        let early = pretraining.as_ref().map_or(0, |first| Algorithm::<T>::slots_len(&first.algorithm, params));
        let slots = Algorithm::<T>::slots_len(&algorithm, length).max(early);
        let mut order = vec![0; rows];
        let cursor = Cursor::default();
        sampler.prepare(&Classes::from_order(&by_class, population[0])?, &cursor, &mut order)?;
        Ok(Self {
            config: config.clone(),
            train,
            test,
            model,
            estimator,
            algorithm,
            pretraining,
            whole: settings.whole()?,
            sampler,
            total,
            population,
            by_class,
            steps: 0,
            drawn: 0,
            slots: vec![T::ZERO; slots],
            points,
            counters: [0; COUNTERS],
            state: vec![T::ZERO; estimator.state_len(population[1] as usize)],
            cursor,
            order,
            index: vec![0; batch],
            batch_slots: vec![0; batch],
            starts: [0; 3],
            scores: vec![T::ZERO; batch],
            score_grad: vec![T::ZERO; batch],
            grad: vec![T::ZERO; length],
            passes: Passes::default(),
            work: Work::default(),
        })
    }

    /// One step of the algorithm. Returns the objective's estimate on the step's batch (a running one, for methods with
    /// moving averages); `None` when the algorithm has nothing more to do.
    ///
    /// # Errors
    /// As the estimator and the algorithm; `Overflow` when training has left the number type's range. The parameters
    /// are then as before the step.
    pub fn step(&mut self) -> Result<Option<f64>> {
        self.step_with(&mut Core)
    }

    /// As [`step`](Self::step), with the estimator computed by `device` where it does that. Everything else stays in the
    /// core, reports included.
    ///
    /// # Errors
    /// As there.
    pub fn step_with(&mut self, device: &mut dyn Device<T>) -> Result<Option<f64>> {
        let (estimator, algorithm) = self.current();
        loop {
            match algorithm.next(&self.memory(&algorithm)) {
                Ask::Gradient { at, draw, .. } => {
                    let value = match self.gradient(&estimator, usize::from(at.0), draw, device) {
                        // A line search may try a point whose value does not fit; that is no decrease, not the end.
                        Err(Error::Overflow { .. }) if draw == Draw::All => {
                            self.grad.fill(T::ZERO);
                            f64::INFINITY
                        }
                        other => other?,
                    };
                    let grad = core::mem::take(&mut self.grad);
                    let length = self.length(&estimator);
                    let told =
                        algorithm.tell(&mut self.memory(&algorithm), Answer::Gradient { value, grad: &grad[..length] });
                    self.grad = grad;
                    told?;
                    self.steps += 1;
                    if self.pretraining.is_some_and(|first| first.steps == self.steps) {
                        self.begin_method()?;
                    }
                    return Ok(Some(value));
                }
                Ask::Report { .. } => algorithm.tell(&mut self.memory(&algorithm), Answer::Continue)?,
                Ask::ClassMeans { at, draw, batches } => {
                    let [negative, positive] = self.class_means(&estimator, usize::from(at.0), draw, batches)?;
                    algorithm.tell(&mut self.memory(&algorithm), Answer::ClassMeans { positive, negative })?;
                }
                Ask::Done => return Ok(None),
            }
        }
    }

    /// What the next step is made with: cross-entropy while pre-training, then the method.
    fn current(&self) -> (AnyEstimator<T>, AnyAlgorithm) {
        match &self.pretraining {
            Some(first) if self.steps < first.steps => (first.estimator, first.algorithm),
            _ => (self.estimator, self.algorithm),
        }
    }

    /// Parameters and auxiliaries together.
    fn length(&self, estimator: &AnyEstimator<T>) -> usize {
        let (low, high) = estimator.aux();
        Model::<T>::param_len(&self.model) + low + high
    }

    /// The part of the memory that an algorithm works on.
    fn memory(&mut self, algorithm: &AnyAlgorithm) -> State<'_, T> {
        let early = self.pretraining.is_some_and(|first| self.steps < first.steps);
        let length = if early { Model::<T>::param_len(&self.model) } else { self.aux_end() };
        State {
            points: &mut self.points[..length * Algorithm::<T>::points(algorithm)],
            slots: &mut self.slots[..Algorithm::<T>::slots_len(algorithm, length)],
            counters: &mut self.counters,
        }
    }

    /// Ends pre-training: a new last layer where one is wanted, and the method's own memory at its start.
    fn begin_method(&mut self) -> Result<()> {
        let params = Model::<T>::param_len(&self.model);
        if self.pretraining.is_some_and(|first| first.restart)
            && let Some(last) = Model::<T>::part(&self.model, "last")
        {
            let mut fresh = vec![T::ZERO; params];
            self.model.init(&mut Rng::keyed(self.config.seed, 0x1217, 1), &mut fresh)?;
            self.points[last.clone()].copy_from_slice(&fresh[last]);
        }
        let length = self.aux_end();
        self.points[params..length].fill(T::ZERO);
        for copy in 1..self.points.len() / length {
            self.points.copy_within(..length, copy * length);
        }
        self.slots.fill(T::ZERO);
        self.state.fill(T::ZERO);
        self.counters = [0; COUNTERS];
        Ok(())
    }

    /// Parameters and auxiliaries of the method itself.
    fn aux_end(&self) -> usize {
        self.length(&self.estimator)
    }

    /// Draws rows into `self.index` and scores them at a point, given the length of a point.
    fn draw(&mut self, point: usize, length: usize, draw: Draw) -> Result<([u32; 3], Drawn)> {
        let classes = Classes::from_order(&self.by_class, self.population[0])?;
        let (starts, drawn) = match draw {
            Draw::Fresh { .. } => {
                let rows = self.sampler.rows();
                self.index.resize(rows, 0);
                self.batch_slots.resize(rows, 0);
                let taken = self.sampler.draw(
                    &classes,
                    &mut self.cursor,
                    &mut self.order,
                    &mut self.index,
                    &mut self.batch_slots,
                )?;
                (taken.starts, taken.drawn)
            }
            Draw::All => {
                let rows = self.by_class.len();
                self.index.resize(rows, 0);
                self.batch_slots.resize(rows, 0);
                let taken = Whole::new(rows as u32)?.draw(
                    &classes,
                    &mut Cursor::default(),
                    &mut self.order,
                    &mut self.index,
                    &mut self.batch_slots,
                )?;
                (taken.starts, taken.drawn)
            }
            Draw::Again => (self.starts, Drawn::Stratified),
        };
        self.starts = starts;
        let rows = self.index.len();
        self.drawn += rows as u64;
        self.scores.resize(rows, T::ZERO);
        let params = &self.points[point * length..][..Model::<T>::param_len(&self.model)];
        self.passes.forward(&self.model, params, self.train.rows(), Some(&self.index), &mut self.scores)?;
        Ok((starts, drawn))
    }

    /// Draws, scores, estimates and back-propagates; the gradient is left in `self.grad`.
    fn gradient(
        &mut self,
        estimator: &AnyEstimator<T>,
        point: usize,
        draw: Draw,
        device: &mut dyn Device<T>,
    ) -> Result<f64> {
        let length = self.length(estimator);
        let (starts, drawn) = self.draw(point, length, draw)?;
        self.score_grad.resize(self.index.len(), T::ZERO);
        let split = Model::<T>::param_len(&self.model);
        let (params, aux) = self.points[point * length..][..length].split_at(split);
        let batch = Batch::new(&self.scores, 1, &starts, &self.population, drawn)?
            .with_slots(&self.batch_slots[..(starts[2] - starts[1]) as usize]);
        let (grad, grad_aux) = self.grad[..length].split_at_mut(split);
        let state = &mut self.state[..estimator.state_len(self.population[1] as usize)];
        let out = Grad { scores: &mut self.score_grad, aux: &mut *grad_aux };
        let value = match device.update(estimator, &batch, aux, state, out) {
            Some(value) => value?,
            None => {
                let scratch = self.work.lend(estimator.need(batch.shape()));
                let out = Grad { scores: &mut self.score_grad, aux: grad_aux };
                estimator.update(&batch, aux, state, scratch, out)?
            }
        };
        grad.fill(T::ZERO);
        self.passes.backward(&self.model, params, self.train.rows(), &self.index, &self.score_grad, grad)?;
        Ok(value)
    }

    /// Mean link score of the negatives and of the positives over some draws; `None` for a class that was not drawn.
    fn class_means(
        &mut self,
        estimator: &AnyEstimator<T>,
        point: usize,
        draw: Draw,
        batches: u64,
    ) -> Result<[Option<T>; 2]> {
        let length = self.length(estimator);
        let (mut sums, mut counts) = ([0.0; 2], [0u64; 2]);
        for _ in 0..batches {
            let (starts, _) = self.draw(point, length, draw)?;
            for class in 0..2 {
                for &s in &self.scores[starts[class] as usize..starts[class + 1] as usize] {
                    let mut h = [T::ZERO];
                    Estimator::<T>::link(estimator).apply(&[s], &mut h);
                    sums[class] += h[0].f64();
                    counts[class] += 1;
                }
            }
        }
        Ok([0, 1].map(|class| (counts[class] > 0).then(|| T::of(sums[class] / counts[class] as f64))))
    }

    /// Objective and exact metrics, now. O(n log n) for the metrics; the objective by the exact sums.
    ///
    /// # Errors
    /// `NonFinite` when a score is NaN or infinite.
    pub fn report(&mut self) -> Result<Report> {
        let train = Arc::clone(&self.train);
        let mut scores = vec![T::ZERO; train.labels().len()];
        self.score(train.rows(), &mut scores)?;
        let objective = self.objective(&scores)?;
        let summary = self.summary(&scores, train.labels())?;
        let test = match self.test.clone() {
            None => None,
            Some(test) => Some(self.evaluate(&test)?),
        };
        Ok(Report { step: self.steps, pass: self.pass(), objective, train: summary, test })
    }

    fn summary(&mut self, scores: &[T], labels: &[u8]) -> Result<Summary> {
        let range = FprRange::new(self.config.fpr.0, self.config.fpr.1)?;
        metric::summary(scores, labels, range, self.work.lend(metric::need(scores.len())))
    }

    /// Exact metrics of the model, now, on any labelled data with the training data's columns: what a
    /// [`report`](Self::report) says of its test data, without the rest of it.
    ///
    /// # Errors
    /// `Length`; `OneClass`; `NonFinite` when a score is NaN or infinite.
    pub fn evaluate(&mut self, data: &Dataset<T>) -> Result<Summary> {
        let mut scores = vec![T::ZERO; data.labels().len()];
        self.score(data.rows(), &mut scores)?;
        self.summary(&scores, data.labels())
    }

    /// The objective over the whole training data, from its scores in row order.
    fn objective(&mut self, scores: &[T]) -> Result<f64> {
        let ordered: Vec<T> = self.by_class.iter().map(|&row| scores[row as usize]).collect();
        let slots: Vec<u32> = (0..self.population[1]).collect();
        let starts = [0, self.population[0], self.by_class.len() as u32];
        let batch = Batch::new(&ordered, 1, &starts, &self.population, Drawn::All)?.with_slots(&slots);
        let split = Model::<T>::param_len(&self.model);
        let at = usize::from(Algorithm::<T>::iterate(&self.current().1).0) * self.grad.len();
        let aux = &self.points[at + split..at + self.grad.len()];
        if let Some(whole) = &self.whole {
            return whole.value(&batch, aux, self.work.lend(Estimator::<T>::need(whole, batch.shape())));
        }
        self.estimator.value(&batch, aux, self.work.lend(self.estimator.need(batch.shape())))
    }

    /// Raw scores of any rows with the training data's columns.
    ///
    /// # Errors
    /// `Length`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        crate::error::exact_len("scores", rows.len(), scores.len())?;
        let split = Model::<T>::param_len(&self.model);
        let at = usize::from(Algorithm::<T>::iterate(&self.current().1).0) * self.grad.len();
        self.passes.forward(&self.model, &self.points[at..at + split], rows, None, scores)
    }

    /// Steps done.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        self.steps
    }
    /// Steps that the learning rate's schedule spans.
    #[must_use]
    pub fn total_steps(&self) -> u64 {
        self.total
    }
    /// Rows drawn so far / rows there are.
    #[must_use]
    pub fn pass(&self) -> f64 {
        self.drawn as f64 / self.by_class.len() as f64
    }
    /// Rows of the last batch, negatives first.
    #[must_use]
    pub fn batch_index(&self) -> &[u32] {
        &self.index
    }
    /// Shape of a batch.
    #[must_use]
    pub fn batch_shape(&self) -> Shape {
        Shape { rows: self.sampler.rows(), heads: 1, segments: 2, slots: (self.starts[2] - self.starts[1]) as usize }
    }
    /// The model's parameters.
    #[must_use]
    pub fn params(&self) -> &[T] {
        &self.iterate()[..Model::<T>::param_len(&self.model)]
    }

    /// Parameters and auxiliaries at the algorithm's iterate.
    fn iterate(&self) -> &[T] {
        let at = usize::from(Algorithm::<T>::iterate(&self.current().1).0);
        &self.points[at * self.grad.len()..][..self.grad.len()]
    }
    /// The model.
    #[must_use]
    pub fn model(&self) -> &AnyModel {
        &self.model
    }
    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
    /// The training data.
    #[must_use]
    pub fn train_data(&self) -> &Arc<Dataset<T>> {
        &self.train
    }
    /// The test data.
    #[must_use]
    pub fn test_data(&self) -> Option<&Arc<Dataset<T>>> {
        self.test.as_ref()
    }
    /// The method's estimator.
    #[must_use]
    pub fn estimator(&self) -> &AnyEstimator<T> {
        &self.estimator
    }
    /// The estimator's state (u, for SOAP).
    #[must_use]
    pub fn estimator_state(&self) -> &[T] {
        &self.state
    }
}

#[cfg(feature = "serde")]
mod saved {
    use super::{AnyModel, Arc, Classes, Config, Dataset, Model, Passes, Real, Rows, Sampler, Trainer, TrainerError};
    use crate::algorithm::COUNTERS;
    use crate::checkpoint::{CheckpointError, Kind, open, seal};
    use crate::sampler::Cursor;
    use alloc::vec::Vec;
    use serde::{Deserialize, Serialize};

    /// Everything of a run that changes, and what it depends on.
    #[derive(Serialize, Deserialize)]
    struct Saved {
        config: Config,
        inputs: u64,
        real_bytes: u8,
        data: u64,
        steps: u64,
        drawn: u64,
        points: Vec<u8>,
        slots: Vec<u8>,
        counters: [u64; COUNTERS],
        state: Vec<u8>,
        cursor: Cursor,
    }

    fn bytes<T: Real>(values: &[T]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le().into_iter().take(T::BYTES)).collect()
    }

    fn reals<T: Real>(bytes: &[u8], out: &mut [T]) -> Result<(), CheckpointError> {
        if bytes.len() != out.len() * T::BYTES {
            return Err(CheckpointError::Mismatch("model"));
        }
        for (x, part) in out.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
            let mut little = [0; 8];
            little[..T::BYTES].copy_from_slice(part);
            *x = T::from_le(little);
            if !x.is_finite() {
                return Err(CheckpointError::Damaged);
            }
        }
        Ok(())
    }

    /// A number that tells data sets apart (FNV-1a over labels, shape and stored values).
    fn fingerprint<T: Real>(data: &Dataset<T>) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut eat = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        let rows = data.rows();
        eat(rows.len() as u64);
        eat(rows.cols() as u64);
        data.labels().iter().for_each(|&y| eat(u64::from(y)));
        match rows {
            Rows::Dense { data, .. } => data.iter().for_each(|x| eat(u64::from_le_bytes(x.to_le()))),
            Rows::Csr { ptr, col, val, .. } => {
                ptr.iter().for_each(|&p| eat(p as u64));
                col.iter().for_each(|&c| eat(u64::from(c)));
                val.iter().for_each(|x| eat(u64::from_le_bytes(x.to_le())));
            }
        }
        hash
    }

    fn decode(bytes: &[u8]) -> Result<Saved, CheckpointError> {
        postcard::from_bytes(open(Kind::Trainer, bytes)?).map_err(|_| CheckpointError::Damaged)
    }

    impl<T: Real> Trainer<T> {
        /// The whole state: configuration, parameters, optimiser, u, sampler and generator (both are a function of the
        /// seed and the cursor).
        #[must_use]
        pub fn save(&self) -> Vec<u8> {
            let saved = Saved {
                config: self.config.clone(),
                inputs: Model::<T>::inputs(&self.model) as u64,
                real_bytes: T::BYTES as u8,
                data: fingerprint(&self.train),
                steps: self.steps,
                drawn: self.drawn,
                points: bytes(&self.points),
                slots: bytes(&self.slots),
                counters: self.counters,
                state: bytes(&self.state),
                cursor: self.cursor,
            };
            // Writing to memory that grows cannot fail for these types.
            seal(Kind::Trainer, &postcard::to_allocvec(&saved).unwrap_or_default())
        }

        /// Continues a saved run on the same training data.
        ///
        /// # Errors
        /// `Checkpoint` for bytes that are damaged, of another version, or saved with other data or another number
        /// type.
        pub fn load(bytes: &[u8], train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
            let saved = decode(bytes)?;
            if usize::from(saved.real_bytes) != T::BYTES {
                return Err(CheckpointError::Mismatch("precision").into());
            }
            if saved.data != fingerprint(&train) {
                return Err(CheckpointError::Mismatch("training data set").into());
            }
            let mut trainer = Self::new(&saved.config, train, test)?;
            reals(&saved.points, &mut trainer.points)?;
            reals(&saved.slots, &mut trainer.slots)?;
            reals(&saved.state, &mut trainer.state)?;
            trainer.counters = saved.counters;
            trainer.steps = saved.steps;
            trainer.drawn = saved.drawn;
            trainer.cursor = saved.cursor;
            let classes = Classes::from_order(&trainer.by_class, trainer.population[0])?;
            trainer.sampler.prepare(&classes, &trainer.cursor, &mut trainer.order)?;
            Ok(trainer)
        }
    }

    /// A trained model alone, to score with.
    #[derive(Clone, Debug)]
    pub struct Predictor<T: Real> {
        config: Config,
        model: AnyModel,
        params: Vec<T>,
        passes: Passes<T>,
    }

    impl<T: Real> Predictor<T> {
        /// The model of a saved run. Values saved in the other precision are converted.
        ///
        /// # Errors
        /// `Checkpoint`.
        pub fn load(bytes: &[u8]) -> Result<Self, TrainerError> {
            let saved = decode(bytes)?;
            let model = saved.config.model.build(usize::try_from(saved.inputs).unwrap_or(0))?;
            let count = Model::<T>::param_len(&model);
            let mut params = alloc::vec![T::ZERO; count];
            let width = usize::from(saved.real_bytes);
            let bytes = saved.points.get(..count * width).ok_or(CheckpointError::Damaged)?;
            match width {
                w if w == T::BYTES => reals(bytes, &mut params)?,
                4 => {
                    let mut other = alloc::vec![0.0f32; count];
                    reals(bytes, &mut other)?;
                    params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x.f64()));
                }
                8 => {
                    let mut other = alloc::vec![0.0f64; count];
                    reals(bytes, &mut other)?;
                    params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x));
                }
                _ => return Err(CheckpointError::Damaged.into()),
            }
            Ok(Self { config: saved.config, model, params, passes: Passes::default() })
        }

        /// The configuration it was trained with.
        #[must_use]
        pub fn config(&self) -> &Config {
            &self.config
        }
        /// The model.
        #[must_use]
        pub fn model(&self) -> &AnyModel {
            &self.model
        }
        /// Its parameters.
        #[must_use]
        pub fn params(&self) -> &[T] {
            &self.params
        }

        /// Raw scores of any rows with the model's columns.
        ///
        /// # Errors
        /// `Length`.
        pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> crate::Result<()> {
            crate::error::exact_len("scores", rows.len(), scores.len())?;
            self.passes.forward(&self.model, &self.params, rows, None, scores)
        }
    }
}

#[cfg(feature = "serde")]
pub use saved::Predictor;
