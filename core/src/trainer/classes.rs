//! A trainer of several classes at once: a model with one score for each class under a softmax head.

use super::config::{Config, ModelSpec, TrainerError, listed, refuse_unread};
use super::learner::{Learner, Phase, Steps};
use super::passes::{Passes, Work};
use super::warning::Warning;
use crate::algorithm::{Adam, Answer, AnyAlgorithm, Ask, Draw, Point};
use crate::batch::{Batch, Drawn};
use crate::data::{ClassDataset, Rows};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, Estimator, Grad, SoftmaxCrossEntropy, Weights};
use crate::metric::{ClassSummary, class_summary, log_odds};
use crate::model::AnyModel;
use crate::real::Real;
use crate::registry::{self, Method, Scope};
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
    /// What is to be said against the model, if anything.
    pub warning: Option<Warning>,
}

/// Trains one model of several classes by one method of [`CLASS_METHODS`](registry::CLASS_METHODS).
///
/// Scores are [log-odds](log_odds) of each class against all others; a report's metrics are of those.
#[derive(Clone, Debug)]
pub struct ClassTrainer<T: Real> {
    config: Config,
    method: &'static Method,
    train: Arc<ClassDataset<T>>,
    test: Option<Arc<ClassDataset<T>>>,
    pub(super) model: AnyModel,
    passes: Passes<T>,
    work: Work<T>,
    pub(super) learner: Learner<T>,
    sampler: ClassSampler,
    /// Rows of each class.
    population: Vec<u32>,
    /// Row numbers by class, and where each class begins in them.
    by_class: Vec<u32>,
    class_starts: Vec<u32>,
    /// What a checkpoint holds.
    pub(super) cursor: Vec<u64>,
    // What it does not.
    order: Vec<u32>,
    index: Vec<u32>,
    starts: Vec<u32>,
    scores: Vec<T>,
    score_grad: Vec<T>,
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
                Some(_) => format!("method {name} trains two classes; of several classes are {}", listed(&names)),
                None => format!("no method \"{name}\" of several classes; there are {}", listed(&names)),
            })
        })?;
        let pairs = config.pairs();
        let settings = config.settings_of(method, &pairs)?;
        let (columns, classes, rows) = (train.features().cols(), train.classes().len(), train.len());
        let network = config.model != ModelSpec::Linear;
        let settings = settings.with_scope(Scope {
            population: [rows as u32, 0],
            network,
            params: 0,
            classes: classes as u32,
            batch: 1,
            steps: 0,
        });
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
        let sampler = ClassSampler::from_settings(&settings, rows)?;
        let batch = sampler.rows(&grouped);
        let mut settings = settings.with_batch(batch);
        let steps = Steps::new(&mut settings, config.length, rows, batch)?;
        let (estimator, algorithm) = method.parts(&settings)?;
        let early = match steps.before {
            0 => None,
            before => {
                let weights = Weights::from_settings(&settings);
                let estimator = AnyEstimator::Softmax(SoftmaxCrossEntropy::new(weights));
                Some(Phase { estimator, algorithm: AnyAlgorithm::Adam(Adam::of_pretraining(&settings, before)?) })
            }
        };
        let state = estimator.state_len(0);
        let phase = Phase { estimator, algorithm };
        let learner = Learner::new(phase, early, steps, state, &settings, config, &model)?;
        refuse_unread(&settings, method, config)?;
        let (mut order, cursor) = (vec![0; rows], vec![0; ClassSampler::cursor_len(classes)]);
        sampler.prepare(&grouped, &cursor, &mut order)?;
        Ok(Self {
            config: config.clone(),
            method,
            population: train.sizes(),
            train,
            test,
            model,
            passes: Passes::default(),
            work: Work::default(),
            learner,
            sampler,
            by_class,
            class_starts,
            cursor,
            order,
            index: vec![0; batch],
            starts: vec![0; classes + 1],
            scores: vec![T::ZERO; batch * classes],
            score_grad: vec![T::ZERO; batch * classes],
        })
    }

    fn classes(&self) -> usize {
        self.population.len()
    }

    /// One step of the algorithm. Returns the objective's estimate on the step's batch; `None` at the end of the run, past
    /// which no call changes anything. A dual reset of many batches is cut as [`Trainer::step`](super::Trainer::step) says.
    ///
    /// # Errors
    /// As the estimator and the algorithm; `Overflow` when training has left the number type's range. The parameters
    /// are then as before the step.
    pub fn step(&mut self) -> Result<Option<f64>> {
        if self.is_done() {
            return Ok(None);
        }
        let phase = self.learner.phase();
        loop {
            match self.learner.next(&phase) {
                Ask::Gradient { previous: Some(_), .. } => {
                    return Err(Error::Unsupported { what: "scores at a previous point, with several classes" });
                }
                Ask::Gradient { at, previous: None, draw } => {
                    let value = self.gradient(&phase, at, draw)?;
                    self.learner.follow(&phase, at, value, &self.config, &self.model)?;
                    return Ok(Some(value));
                }
                Ask::Report { .. } => self.learner.tell(&phase, Answer::Continue)?,
                Ask::ClassMeans { at, draw, batches } => {
                    let Some(alpha) = self.duals(&phase, at, draw, batches)? else {
                        return Ok(Some(self.learner.value));
                    };
                    self.learner.tell(&phase, Answer::Duals { alpha: &alpha })?;
                }
                Ask::Done => return Ok(None),
            }
        }
    }

    /// Whether the run is over: [`step`](Self::step) has nothing more to do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.learner.is_done()
    }

    /// Trains to the end of the run, and reports.
    ///
    /// # Errors
    /// Those of [`step`](Self::step) and [`report`](Self::report).
    pub fn run(&mut self) -> Result<ClassReport> {
        while self.step()?.is_some() {}
        self.report()
    }

    /// Draws rows into `self.index` and scores them at a point.
    fn draw(&mut self, phase: &Phase, at: Point, draw: Draw) -> Result<Drawn> {
        let grouped = ByClass::from_order(&self.by_class, &self.class_starts)?;
        let drawn = match draw {
            Draw::Fresh { sampler: 0 } => {
                let index = &mut self.index;
                self.sampler.draw(&grouped, &mut self.cursor, &mut self.order, index, &mut self.starts)?
            }
            Draw::Fresh { .. } => return Err(Error::Unsupported { what: "batches of a second sampler" }),
            Draw::All => return Err(Error::Unsupported { what: "batches of all rows, with several classes" }),
            Draw::Again => {
                return Err(Error::Unsupported { what: "the batch of the last request, with several classes" });
            }
        };
        self.learner.drawn += self.index.len() as u64;
        let params = &self.learner.point(at, phase)[..self.learner.params];
        let rows = self.train.features().rows();
        self.passes.forward(&self.model, params, rows, Some(&self.index), &mut self.scores)?;
        Ok(drawn)
    }

    /// Draws, scores, estimates and back-propagates; the gradient is left in `self.learner.grad`.
    fn gradient(&mut self, phase: &Phase, at: Point, draw: Draw) -> Result<f64> {
        let drawn = self.draw(phase, at, draw)?;
        let estimator = &phase.estimator;
        let batch = Batch::new(&self.scores, self.population.len(), &self.starts, &self.population, drawn)?;
        let work = self.learner.work(phase, at, 0);
        let out = Grad { scores: &mut self.score_grad, aux: work.grad_aux };
        let scratch = self.work.lend(estimator.need(batch.shape()));
        let value = estimator.update(&batch, work.aux, work.state, scratch, out)?;
        work.grad.fill(T::ZERO);
        let rows = self.train.features().rows();
        self.passes.backward(&self.model, work.params, rows, &self.index, &self.score_grad, work.grad)?;
        Ok(value)
    }

    /// The best dual variables given the means of some draws at a point: for a pair (i, j) the mean of h_i over class j
    /// less that over class i. Those of a class that was not drawn stay. `None` while draws are left for another call.
    fn duals(&mut self, phase: &Phase, at: Point, draw: Draw, batches: u64) -> Result<Option<Vec<T>>> {
        let classes = self.classes();
        let mut reset = self.learner.take_reset(batches, self.reset_size());
        let mut h = vec![T::ZERO; classes];
        for _ in 0..reset.piece(self.index.len()) {
            reset.left -= 1;
            self.draw(phase, at, draw)?;
            for class in 0..classes {
                let (from, to) = (self.starts[class] as usize, self.starts[class + 1] as usize);
                for scores in self.scores[from * classes..to * classes].chunks_exact(classes) {
                    crate::estimator::softmax(scores, &mut h);
                    for (sum, h) in reset.sums[class * classes..][..classes].iter_mut().zip(&h) {
                        *sum += h.f64();
                    }
                    reset.counts[class] += 1;
                }
            }
        }
        if reset.left > 0 {
            self.learner.reset = Some(reset);
            return Ok(None);
        }
        let (sums, counts) = (reset.sums, reset.counts);
        let mean = |class: usize, of: usize| sums[class * classes + of] / counts[class] as f64;
        let pairs = classes * (classes - 1);
        let point = self.learner.point(at, phase);
        let mut alpha = point[point.len() - pairs..].to_vec();
        for (k, alpha) in alpha.iter_mut().enumerate() {
            let (own, rest) = (k / (classes - 1), k % (classes - 1));
            let other = rest + usize::from(rest >= own);
            if counts[own] > 0 && counts[other] > 0 {
                *alpha = T::of(mean(other, own) - mean(own, own));
            }
        }
        Ok(Some(alpha))
    }

    /// Sums and counts of a dual reset: of every output over the rows of every class, and of those.
    pub(super) fn reset_size(&self) -> [usize; 2] {
        [self.classes() * self.classes(), self.classes()]
    }

    /// Objective and exact metrics, now. O(c n log n) for c classes.
    ///
    /// # Errors
    /// `OneClass` when the test data lacks a class; `NonFinite` or `Overflow` when training has left the number type's
    /// range.
    pub fn report(&mut self) -> Result<ClassReport> {
        let scores = self.train_scores()?;
        let objective = self.objective(&scores)?;
        let (summary, warning) = self.summary_of(scores)?;
        let test = match self.test.clone() {
            None => None,
            Some(test) => Some(self.evaluate(&test)?),
        };
        Ok(ClassReport { step: self.steps_done(), pass: self.pass(), objective, train: summary, test, warning })
    }

    /// The `warning` of a [`report`](Self::report), now, without the rest of it. O(c n log n) for c classes.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow` when training has left the number type's range.
    pub fn warning(&mut self) -> Result<Option<Warning>> {
        if self.steps_done() == 0 {
            return Ok(None);
        }
        let scores = self.train_scores()?;
        Ok(self.summary_of(scores)?.1)
    }

    /// Raw scores of the training rows, in the order of the classes throughout, so that no second copy of them is needed.
    fn train_scores(&mut self) -> Result<Vec<T>> {
        let mut scores = vec![T::ZERO; self.train.len() * self.classes()];
        let (params, rows) = (self.learner.params(), self.train.features().rows());
        self.passes.forward(&self.model, params, rows, Some(&self.by_class), &mut scores)?;
        Ok(scores)
    }

    /// Metrics of these scores, and what is to be said against the model; nothing before the first step.
    fn summary_of(&self, mut scores: Vec<T>) -> Result<(ClassSummary, Option<Warning>)> {
        let classes = self.classes();
        log_odds(&mut scores, classes)?;
        let same = scores.chunks_exact(classes).all(|row| row == &scores[..classes]);
        let labels: Vec<u32> = self.by_class.iter().map(|&row| self.train.labels()[row as usize]).collect();
        let summary = class_summary(&scores, classes, &labels)?;
        let warning = match self.steps_done() {
            0 => None,
            _ if same => Some(Warning::Constant),
            _ => (summary.hand_till < 0.5).then_some(Warning::Reversed { auroc: summary.hand_till }),
        };
        Ok((summary, warning))
    }

    /// The objective over the whole training data, from its raw scores class by class.
    fn objective(&mut self, scores: &[T]) -> Result<f64> {
        let phase = self.learner.phase();
        let (estimator, aux) = (&phase.estimator, &self.learner.iterate()[self.learner.params..]);
        let batch = Batch::new(scores, self.classes(), &self.class_starts, &self.population, Drawn::All)?;
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
        self.passes.forward(&self.model, self.learner.params(), rows, None, scores)?;
        log_odds(scores, self.classes())
    }

    /// Steps done.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        self.learner.steps
    }
    /// Steps that the run takes and the learning rate's schedule spans.
    #[must_use]
    pub fn total_steps(&self) -> u64 {
        self.learner.total
    }
    /// Rows drawn so far / rows there are.
    #[must_use]
    pub fn pass(&self) -> f64 {
        self.learner.drawn as f64 / self.train.len() as f64
    }
    /// Rows of the last batch, class by class.
    #[must_use]
    pub fn batch_index(&self) -> &[u32] {
        &self.index
    }
    /// The model's parameters.
    #[must_use]
    pub fn params(&self) -> &[T] {
        self.learner.params()
    }
    /// The model.
    #[must_use]
    pub fn model(&self) -> &AnyModel {
        &self.model
    }
    /// Of the steps, those of cross-entropy before the method's own.
    #[must_use]
    pub fn pretraining_steps(&self) -> u64 {
        self.learner.pretraining_steps()
    }
    /// The method.
    #[must_use]
    pub fn method(&self) -> &'static Method {
        self.method
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
