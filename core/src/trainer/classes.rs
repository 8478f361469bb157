//! A trainer of several classes at once: a model with one score for each class under a softmax head.

use super::config::{self, Config, Length, TrainerError};
use super::passes::{Passes, Work};
use crate::algorithm::{Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Draw, State};
use crate::batch::{Batch, Drawn};
use crate::data::{ClassDataset, Rows};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, Estimator, Grad};
use crate::metric::{ClassSummary, class_summary, log_odds};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::{self, Settings};
use crate::rng::Rng;
use crate::sampler::{ByClass, ClassSampler};
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// What a report holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReport {
    /// Steps done.
    pub step: u64,
    /// Rows drawn so far / rows there are.
    pub pass: f64,
    /// The method's objective over the whole training data, minimised.
    pub objective: f64,
    /// Metrics on the training data.
    pub train: ClassSummary,
    /// Metrics on the test data, if there is any.
    pub test: Option<ClassSummary>,
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

/// Trains one model of several classes by one method of [`CLASS_METHODS`](registry::CLASS_METHODS).
///
/// Scores are [log-odds](log_odds) of each class against all others; a report's metrics are of those.
#[derive(Clone, Debug)]
pub struct ClassTrainer<T: Real> {
    config: Config,
    train: Arc<ClassDataset<T>>,
    test: Option<Arc<ClassDataset<T>>>,
    pub(super) model: AnyModel,
    passes: Passes<T>,
    work: Work<T>,
    estimator: AnyEstimator<T>,
    algorithm: AnyAlgorithm,
    pretraining: Option<Pretraining<T>>,
    sampler: ClassSampler,
    /// Parameters of the model.
    params: usize,
    total: u64,
    /// Rows of each class.
    population: Vec<u32>,
    /// Row numbers by class, and where each class begins in them.
    by_class: Vec<u32>,
    class_starts: Vec<u32>,
    // What a checkpoint holds.
    pub(super) steps: u64,
    pub(super) drawn: u64,
    pub(super) points: Vec<T>,
    pub(super) slots: Vec<T>,
    pub(super) counters: [u64; COUNTERS],
    pub(super) state: Vec<T>,
    pub(super) cursor: Vec<u64>,
    // What it does not.
    order: Vec<u32>,
    index: Vec<u32>,
    starts: Vec<u32>,
    scores: Vec<T>,
    score_grad: Vec<T>,
    grad: Vec<T>,
}

impl<T: Real> ClassTrainer<T> {
    /// A trainer at step 0. `config.fpr` is not used.
    ///
    /// # Errors
    /// `Config` for a method, setting, model or length that does not exist or fit; `Core` with `OneClass` when the
    /// training data lacks a class.
    pub fn new(
        config: &Config,
        train: Arc<ClassDataset<T>>,
        test: Option<Arc<ClassDataset<T>>>,
    ) -> Result<Self, TrainerError> {
        let method = registry::class_method(&config.method).ok_or_else(|| {
            let names: Vec<&str> = registry::CLASS_METHODS.iter().map(|m| m.name).collect();
            let name = &config.method;
            TrainerError::Config(match registry::method(name) {
                Some(_) => format!("method {name} trains two classes; of several classes are {}", names.join(", ")),
                None => format!("no method \"{name}\" of several classes; there are {}", names.join(", ")),
            })
        })?;
        let pairs: Vec<(&str, &str)> = config.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let settings = Settings::new(method, &pairs)
            .map_err(|error| TrainerError::Config(config::setting_text(error, method, config)))?;
        if matches!(config.length, Length::Passes(passes) if !(passes > 0.0 && passes < 1e12)) {
            return Err(TrainerError::Config("passes must be positive".to_string()));
        }
        let (columns, classes, rows) = (train.features().cols(), train.classes().len(), train.len());
        if let Some(test) = &test {
            if test.features().cols() != columns {
                let text = "the test data has other columns than the training data".to_string();
                return Err(TrainerError::Config(text));
            }
            if test.classes() != train.classes() {
                let text = "the test data has other classes than the training data".to_string();
                return Err(TrainerError::Config(text));
            }
        }
        let model = config.model.build_with(columns, classes)?;
        let (mut by_class, mut class_starts) = (vec![0; rows], vec![0; classes + 1]);
        let grouped = ByClass::new(train.labels(), &mut by_class, &mut class_starts)?;
        let sampler = settings.class_sampler(config.seed, rows)?;
        let batch = sampler.rows(&grouped);
        let before = settings.pretrain_steps();
        let total = match config.length {
            Length::Method => settings.count("steps")?.saturating_add(before),
            Length::Steps(steps) => steps,
            Length::Passes(passes) => libm::ceil(passes * rows as f64 / batch as f64) as u64,
        };
        let estimator = settings.class_estimator::<T>(classes, config.seed)?;
        let algorithm = settings.class_algorithm(&estimator, total.saturating_sub(before))?;
        let params = Model::<T>::param_len(&model);
        let pretraining = match before {
            0 => None,
            steps => {
                let (estimator, algorithm) = settings.class_pretraining(steps)?;
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
        let (mut order, cursor) = (vec![0; rows], vec![0; ClassSampler::cursor_len(classes)]);
        sampler.prepare(&grouped, &cursor, &mut order)?;
        Ok(Self {
            config: config.clone(),
            population: train.sizes(),
            state: vec![T::ZERO; estimator.state_len(0)],
            train,
            test,
            model,
            passes: Passes::default(),
            work: Work::default(),
            estimator,
            algorithm,
            pretraining,
            sampler,
            params,
            total,
            by_class,
            class_starts,
            steps: 0,
            drawn: 0,
            slots: vec![T::ZERO; slots],
            points,
            counters: [0; COUNTERS],
            cursor,
            order,
            index: vec![0; batch],
            starts: vec![0; classes + 1],
            scores: vec![T::ZERO; batch * classes],
            score_grad: vec![T::ZERO; batch * classes],
            grad: vec![T::ZERO; length],
        })
    }

    fn classes(&self) -> usize {
        self.population.len()
    }

    /// One step of the algorithm. Returns the objective's estimate on the step's batch; `None` when the algorithm has
    /// nothing more to do.
    ///
    /// # Errors
    /// As the estimator and the algorithm; `Overflow` when training has left the number type's range. The parameters
    /// are then as before the step.
    pub fn step(&mut self) -> Result<Option<f64>> {
        let (estimator, algorithm) = self.current();
        loop {
            match algorithm.next(&self.memory(&algorithm)) {
                Ask::Gradient { at, draw, .. } => {
                    let value = self.gradient(&estimator, usize::from(at.0), draw)?;
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
                Ask::ClassMeans { at, batches, .. } => {
                    let alpha = self.duals(&estimator, usize::from(at.0), batches)?;
                    algorithm.tell(&mut self.memory(&algorithm), Answer::Duals { alpha: &alpha })?;
                }
                Ask::Done => return Ok(None),
            }
        }
    }

    /// What the next step is made with: cross-entropy while pre-training, then the method.
    pub(super) fn current(&self) -> (AnyEstimator<T>, AnyAlgorithm) {
        match &self.pretraining {
            Some(first) if self.steps < first.steps => (first.estimator, first.algorithm),
            _ => (self.estimator, self.algorithm),
        }
    }

    /// Parameters and auxiliaries together.
    fn length(&self, estimator: &AnyEstimator<T>) -> usize {
        let (low, high) = estimator.aux();
        self.params + low + high
    }

    /// The part of the memory that an algorithm works on.
    fn memory(&mut self, algorithm: &AnyAlgorithm) -> State<'_, T> {
        let early = self.pretraining.is_some_and(|first| self.steps < first.steps);
        let length = if early { self.params } else { self.length(&self.estimator) };
        State {
            points: &mut self.points[..length * Algorithm::<T>::points(algorithm)],
            slots: &mut self.slots[..Algorithm::<T>::slots_len(algorithm, length)],
            counters: &mut self.counters,
        }
    }

    /// Ends pre-training: a new last layer where one is wanted, and the method's own memory at its start.
    fn begin_method(&mut self) -> Result<()> {
        let (params, length) = (self.params, self.length(&self.estimator));
        if self.pretraining.is_some_and(|first| first.restart)
            && let Some(last) = Model::<T>::part(&self.model, "last")
        {
            let mut fresh = vec![T::ZERO; params];
            self.model.init(&mut Rng::keyed(self.config.seed, 0x1217, 1), &mut fresh)?;
            self.points[last.clone()].copy_from_slice(&fresh[last]);
        }
        self.points[params..length].fill(T::ZERO);
        for copy in 1..self.points.len() / length {
            self.points.copy_within(..length, copy * length);
        }
        self.slots.fill(T::ZERO);
        self.state.fill(T::ZERO);
        self.counters = [0; COUNTERS];
        Ok(())
    }

    /// Draws rows into `self.index` and scores them at a point, given the length of a point.
    fn draw(&mut self, point: usize, length: usize, draw: Draw) -> Result<Drawn> {
        let grouped = ByClass::from_order(&self.by_class, &self.class_starts)?;
        let drawn = match draw {
            Draw::Fresh { .. } => {
                let index = &mut self.index;
                self.sampler.draw(&grouped, &mut self.cursor, &mut self.order, index, &mut self.starts)?
            }
            _ => return Err(Error::Unsupported { what: "batches of all rows, with several classes" }),
        };
        self.drawn += self.index.len() as u64;
        let params = &self.points[point * length..][..self.params];
        let rows = self.train.features().rows();
        self.passes.forward(&self.model, params, rows, Some(&self.index), &mut self.scores)?;
        Ok(drawn)
    }

    /// Draws, scores, estimates and back-propagates; the gradient is left in `self.grad`.
    fn gradient(&mut self, estimator: &AnyEstimator<T>, point: usize, draw: Draw) -> Result<f64> {
        let length = self.length(estimator);
        let drawn = self.draw(point, length, draw)?;
        let (params, aux) = self.points[point * length..][..length].split_at(self.params);
        let batch = Batch::new(&self.scores, self.population.len(), &self.starts, &self.population, drawn)?;
        let (grad, grad_aux) = self.grad[..length].split_at_mut(self.params);
        let state = &mut self.state[..estimator.state_len(0)];
        let out = Grad { scores: &mut self.score_grad, aux: grad_aux };
        let value = estimator.update(&batch, aux, state, self.work.lend(estimator.need(batch.shape())), out)?;
        grad.fill(T::ZERO);
        let rows = self.train.features().rows();
        self.passes.backward(&self.model, params, rows, &self.index, &self.score_grad, grad)?;
        Ok(value)
    }

    /// The best dual variables given the means of some draws at a point: for a pair (i, j) the mean of h_i over class j
    /// less that over class i. Those of a class that was not drawn stay.
    fn duals(&mut self, estimator: &AnyEstimator<T>, point: usize, batches: u64) -> Result<Vec<T>> {
        let (length, classes) = (self.length(estimator), self.classes());
        let (mut sums, mut counts) = (vec![0.0; classes * classes], vec![0u64; classes]);
        let mut h = vec![T::ZERO; classes];
        for _ in 0..batches {
            self.draw(point, length, Draw::Fresh { sampler: 0 })?;
            for class in 0..classes {
                let (from, to) = (self.starts[class] as usize, self.starts[class + 1] as usize);
                for scores in self.scores[from * classes..to * classes].chunks_exact(classes) {
                    crate::estimator::softmax(scores, &mut h);
                    for (sum, h) in sums[class * classes..][..classes].iter_mut().zip(&h) {
                        *sum += h.f64();
                    }
                    counts[class] += 1;
                }
            }
        }
        let mean = |class: usize, of: usize| sums[class * classes + of] / counts[class] as f64;
        let pairs = classes * (classes - 1);
        let mut alpha = self.points[point * length..][length - pairs..length].to_vec();
        for (k, alpha) in alpha.iter_mut().enumerate() {
            let (own, rest) = (k / (classes - 1), k % (classes - 1));
            let other = rest + usize::from(rest >= own);
            if counts[own] > 0 && counts[other] > 0 {
                *alpha = T::of(mean(other, own) - mean(own, own));
            }
        }
        Ok(alpha)
    }

    /// Objective and exact metrics, now. O(c n log n) for c classes.
    ///
    /// # Errors
    /// `OneClass` when the test data lacks a class; `NonFinite` or `Overflow` when training has left the number type's
    /// range.
    pub fn report(&mut self) -> Result<ClassReport> {
        let classes = self.classes();
        let mut scores = vec![T::ZERO; self.train.len() * classes];
        // In the order of the classes throughout, so that no second copy of the scores is needed.
        let (params, rows) = (&self.points[..self.params], self.train.features().rows());
        self.passes.forward(&self.model, params, rows, Some(&self.by_class), &mut scores)?;
        let objective = self.objective(&scores)?;
        log_odds(&mut scores, classes)?;
        let labels: Vec<u32> = self.by_class.iter().map(|&row| self.train.labels()[row as usize]).collect();
        let summary = class_summary(&scores, classes, &labels)?;
        drop((scores, labels));
        let test = match self.test.clone() {
            None => None,
            Some(test) => Some(self.evaluate(&test)?),
        };
        Ok(ClassReport { step: self.steps, pass: self.pass(), objective, train: summary, test })
    }

    /// The objective over the whole training data, from its raw scores class by class.
    fn objective(&mut self, scores: &[T]) -> Result<f64> {
        let (estimator, _) = self.current();
        let (classes, length) = (self.classes(), self.length(&estimator));
        let batch = Batch::new(scores, classes, &self.class_starts, &self.population, Drawn::All)?;
        let aux = &self.points[self.params..length];
        estimator.value(&batch, aux, self.work.lend(estimator.need(batch.shape())))
    }

    /// Exact metrics of the model, now, on any labelled data with the training data's columns and classes.
    ///
    /// # Errors
    /// `Length`; `OneClass` (a class without a row); `NonFinite`, `Overflow`.
    pub fn evaluate(&mut self, data: &ClassDataset<T>) -> Result<ClassSummary> {
        let mut scores = vec![T::ZERO; data.len() * self.classes()];
        self.score(data.features().rows(), &mut scores)?;
        class_summary(&scores, self.classes(), data.labels())
    }

    /// Log-odds of each class, rows × classes, row-major.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        crate::error::exact_len("scores", rows.len() * self.classes(), scores.len())?;
        self.passes.forward(&self.model, &self.points[..self.params], rows, None, scores)?;
        log_odds(scores, self.classes())
    }

    /// Steps done.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        self.steps
    }
    /// Steps that the run takes and the learning rate's schedule spans.
    #[must_use]
    pub fn total_steps(&self) -> u64 {
        self.total
    }
    /// Rows drawn so far / rows there are.
    #[must_use]
    pub fn pass(&self) -> f64 {
        self.drawn as f64 / self.train.len() as f64
    }
    /// Rows of the last batch, class by class.
    #[must_use]
    pub fn batch_index(&self) -> &[u32] {
        &self.index
    }
    /// The model's parameters.
    #[must_use]
    pub fn params(&self) -> &[T] {
        &self.points[..self.params]
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
    pub fn train_data(&self) -> &Arc<ClassDataset<T>> {
        &self.train
    }
    /// The test data.
    #[must_use]
    pub fn test_data(&self) -> Option<&Arc<ClassDataset<T>>> {
        self.test.as_ref()
    }

    /// Makes what follows from the restored cursor.
    pub(super) fn resume(&mut self) -> Result<()> {
        let grouped = ByClass::from_order(&self.by_class, &self.class_starts)?;
        self.sampler.prepare(&grouped, &self.cursor, &mut self.order)
    }
}
