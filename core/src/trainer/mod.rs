//! The owning front of the crate: data, model, method and all their memory in one value.
//!
//! A [`Trainer`] draws batches, runs the model, the estimator and the algorithm, and reports exact metrics. Methods that
//! minimise a finite sum run by algorithms of their own instead; nothing else differs for the caller.
//! Everything that a run depends on is in its [`Config`] (seed included), and everything that changes is saved by
//! `Trainer::save`, so that a run resumed from any step gives the bits of one that was never stopped.

#[cfg(feature = "multiclass")]
mod classes;
mod config;
mod device;
mod learner;
mod passes;
mod saved;
#[cfg(feature = "multiclass")]
mod saved_classes;
mod scored;
#[cfg(feature = "every-method")]
mod summed;
mod warning;

#[cfg(feature = "multiclass")]
pub use classes::{ClassReport, ClassTrainer};
pub use config::{Config, Length, ModelSpec, TrainerError};
pub use device::Device;
pub use saved::Predictor;
#[cfg(feature = "multiclass")]
pub use saved_classes::ClassPredictor;
pub use warning::Warning;

use crate::data::{Dataset, Rows};
use crate::error::{Error, Result, count_labels};
use crate::estimator::AnyEstimator;
use crate::metric::{self, FprRange, Summary};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::{self, Method, Scope};
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use passes::{Passes, Work};
use scored::Scored;
#[cfg(feature = "every-method")]
use summed::Summed;

/// What a report holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Steps done.
    pub step: u64,
    /// Rows drawn so far / rows there are; a full gradient draws all of them.
    pub pass: f64,
    /// The method's objective over the whole training data, minimised; of Smooth-AP over so many evenly spaced rows that no
    /// more than 2²⁴ pairs are looked at.
    pub objective: f64,
    /// Squared norm of the gradient of what is minimised, weight decay included, over the whole training data: of finite
    /// sums and of the exact methods. `None` for the others, which never form it (and whose objective's estimate is
    /// another than the objective), and where it does not fit the number type.
    pub grad_norm_sq: Option<f64>,
    /// Metrics on the training data.
    pub train: Summary,
    /// Metrics on the test data, if there is any.
    pub test: Option<Summary>,
    /// Of methods that minimise a finite sum.
    pub sum: Option<SumReport>,
    /// What is to be said against the model, if anything.
    pub warning: Option<Warning>,
}

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

/// What every kind of run has.
#[derive(Clone, Debug)]
struct Common<T: Real> {
    config: Config,
    method: &'static Method,
    train: Arc<Dataset<T>>,
    test: Option<Arc<Dataset<T>>>,
    model: AnyModel,
    passes: Passes<T>,
    work: Work<T>,
}

impl<T: Real> Common<T> {
    fn summary(&mut self, scores: &[T], labels: &[u8]) -> Result<Summary> {
        let range = FprRange::new(self.config.fpr.0, self.config.fpr.1)?;
        metric::summary(scores, labels, range, self.work.lend(metric::need(scores.len())))
    }
}

// There is one to a trainer, whose vectors are larger by far.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Kind<T: Real> {
    Scored(Scored<T>),
    #[cfg(feature = "every-method")]
    Summed(Summed<T>),
}

/// Trains one model by one method.
#[derive(Clone, Debug)]
pub struct Trainer<T: Real> {
    common: Common<T>,
    kind: Kind<T>,
}

impl<T: Real> Trainer<T> {
    /// A trainer at step 0.
    ///
    /// # Errors
    /// `Config` for a method, setting, model or length that does not exist or fit; `Core` with `OneClass` when the
    /// training data has one class.
    pub fn new(config: &Config, train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
        let method = registry::method(&config.method).ok_or_else(|| {
            let names: Vec<&str> = registry::METHODS.iter().map(|m| m.name).collect();
            TrainerError::Config(format!("no method \"{}\"; there are {}", config.method, config::listed(&names)))
        })?;
        if !method.is_built() {
            return Err(TrainerError::NotBuilt { method: method.name });
        }
        let pairs = config.pairs();
        let settings = config.settings_of(method, &pairs)?;
        let network = config.model != ModelSpec::Linear;
        let (low, high) = config.fpr;
        if FprRange::new(low, high).is_err() {
            return Err(TrainerError::Config(match cfg!(feature = "compact") {
                true => "fpr: expected 0 <= LO < HI <= 1".to_string(),
                false => format!("fpr {low}:{high}: expected 0 <= LO < HI <= 1"),
            }));
        }
        let (positives, negatives) = count_labels(train.labels())?;
        if negatives == 0 || positives == 0 {
            return Err(Error::OneClass.into());
        }
        let population = [negatives, positives].map(|rows| rows as u32);
        if let Some(test) = &test
            && test.rows().cols() != train.rows().cols()
        {
            let (test, train) = (test.rows().cols(), train.rows().cols());
            return Err(TrainerError::Config(match cfg!(feature = "compact") {
                true => "the test data has other columns".to_string(),
                false => format!("the test data has {test} columns, the training data {train}"),
            }));
        }
        let model = config.model.build(train.rows().cols())?;
        let params = Model::<T>::param_len(&model);
        let settings = settings.with_scope(Scope { population, network, params, classes: 2, batch: 1, steps: 0 });
        let common = Common {
            config: config.clone(),
            method,
            train,
            test,
            model,
            passes: Passes::default(),
            work: Work::default(),
        };
        #[cfg(feature = "every-method")]
        if method.is_finite_sum() {
            let kind = Kind::Summed(Summed::new(&settings, &common)?);
            return Ok(Self { common, kind });
        }
        let kind = Kind::Scored(Scored::new(settings, &common)?);
        Ok(Self { common, kind })
    }

    /// One step of the algorithm. Returns the objective's estimate on the step's batch (a running one, for methods with
    /// moving averages); `None` at the end of the run, past which no call changes anything: the steps or passes asked for
    /// are done, or the algorithm has nothing more to do (L-BFGS where no better point is found, a finite sum whose
    /// gradient is 0). So this loop ends, whatever the method, and may look, save and stop on its way:
    ///
    #[cfg_attr(feature = "every-method", doc = "```")]
    #[cfg_attr(not(feature = "every-method"), doc = "```ignore")]
    /// # use undercurve::{data::Dataset, trainer::{Config, Trainer}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let data = Dataset::dense(vec![0.1, 0.9, 0.3, 0.2], vec![0, 1, 0, 1], 1)?;
    /// # let config = Config { method: "auc-exact".into(), ..Config::default() };
    /// let mut trainer = Trainer::<f32>::new(&config, data.into(), None)?;
    /// while let Some(value) = trainer.step()? {
    ///     if trainer.steps_done() % 100 == 0 {
    ///         println!("step {}: {value}", trainer.steps_done());
    ///     }
    /// }
    /// assert!(trainer.is_done());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Finite sums do not look at their objective while they train: the value is NaN. They also walk over all rows now
    /// and then; such a walk is cut into pieces of bounded work, each a call that leaves [`steps_done`](Self::steps_done)
    /// as it was. So is a dual reset of many batches, whose value is the last step's.
    ///
    /// # Errors
    /// As the estimator and the algorithm; `Overflow` when training has left the number type's range. The parameters
    /// are then as before the step; the batch is drawn, and the estimator's state may have seen it.
    pub fn step(&mut self) -> Result<Option<f64>> {
        self.step_with(&mut device::Core)
    }

    /// As [`step`](Self::step), with the estimator computed by `device` where it does that. Everything else stays in the
    /// core, reports included.
    ///
    /// # Errors
    /// As there.
    pub fn step_with(&mut self, device: &mut dyn Device<T>) -> Result<Option<f64>> {
        match &mut self.kind {
            Kind::Scored(run) => run.step(&mut self.common, device),
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => Ok(run.step(&self.common)?.then_some(f64::NAN)),
        }
    }

    /// Whether the run is over: [`step`](Self::step) has nothing more to do. Also of a run that was saved at its end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.kind {
            Kind::Scored(run) => run.learner.is_done(),
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.is_done(),
        }
    }

    /// Trains to the end of the run, and reports. To look at it on the way, or to stop it, [`step`](Self::step).
    ///
    /// # Errors
    /// Those of [`step`](Self::step) and [`report`](Self::report).
    pub fn run(&mut self) -> Result<Report> {
        while self.step()?.is_some() {}
        self.report()
    }

    /// Objective and exact metrics, now. O(n log n) for the metrics; the objective by the exact sums.
    ///
    /// # Errors
    /// `NonFinite` when a score is NaN or infinite.
    pub fn report(&mut self) -> Result<Report> {
        let train = Arc::clone(&self.common.train);
        let mut scores = vec![T::ZERO; train.labels().len()];
        self.score(train.rows(), &mut scores)?;
        let (objective, grad_norm_sq, sum) = match &mut self.kind {
            Kind::Scored(run) => {
                let objective = run.objective(&mut self.common, &scores)?;
                #[cfg(feature = "every-method")]
                let norm = run.grad_norm_sq(&mut self.common)?;
                #[cfg(not(feature = "every-method"))]
                let norm = None;
                (objective, norm, None)
            }
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => {
                let sum = run.report(&self.common)?;
                (sum.objective, Some(sum.grad_norm_sq), Some(sum))
            }
        };
        let summary = self.common.summary(&scores, train.labels())?;
        let test = match self.common.test.clone() {
            None => None,
            Some(test) => Some(self.evaluate(&test)?),
        };
        let (step, pass) = (self.steps_done(), self.pass());
        let warning = self.warning_of(&scores, &summary, test.as_ref())?;
        Ok(Report { step, pass, objective, grad_norm_sq, train: summary, test, sum, warning })
    }

    /// Exact metrics of the model, now, on any labelled data with the training data's columns: what a
    /// [`report`](Self::report) says of its test data, without the rest of it.
    ///
    /// # Errors
    /// `Length`; `OneClass`; `NonFinite` when a score is NaN or infinite.
    pub fn evaluate(&mut self, data: &Dataset<T>) -> Result<Summary> {
        let mut scores = vec![T::ZERO; data.labels().len()];
        self.score(data.rows(), &mut scores)?;
        self.common.summary(&scores, data.labels())
    }

    /// Raw scores of any rows with the training data's columns.
    ///
    /// # Errors
    /// `Length`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        crate::error::exact_len("scores", rows.len(), scores.len())?;
        let Self { common, kind } = self;
        let params = match kind {
            Kind::Scored(run) => run.params(),
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.params(common)?,
        };
        common.passes.forward(&common.model, params, rows, None, scores)
    }

    /// What a report says of a finite sum, without the metrics; `None` for other methods. Two walks over all rows.
    ///
    /// # Errors
    /// `Overflow`.
    pub fn sum(&mut self) -> Result<Option<SumReport>> {
        match &mut self.kind {
            Kind::Scored(_) => Ok(None),
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.report(&self.common).map(Some),
        }
    }

    /// The largest eigenvalue of the objective's Hessian at the iterate, to about four digits; `None` for methods that do
    /// not minimise a finite sum, and for networks. At most 40 walks over the stored values.
    ///
    /// # Errors
    /// `Overflow`.
    pub fn curvature(&mut self) -> Result<Option<f64>> {
        match &mut self.kind {
            Kind::Scored(_) => Ok(None),
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.curvature(&self.common),
        }
    }

    /// Last step size and its present bound, of methods that minimise a finite sum; 0 and infinite before the first.
    #[must_use]
    pub fn step_size(&self) -> Option<(f64, f64)> {
        match &self.kind {
            Kind::Scored(_) => None,
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => Some((run.run.alpha, run.run.alpha_max)),
        }
    }

    /// Steps done; of finite sums, minibatches.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        match &self.kind {
            Kind::Scored(run) => run.learner.steps,
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.run.steps,
        }
    }
    /// Steps that the learning rate's schedule spans, and the most that the run takes: L-BFGS may end before, and a finite
    /// sum that runs for so many passes takes fewer by as many full gradients as it needs. Its end is where
    /// [`is_done`](Self::is_done) says.
    #[must_use]
    pub fn total_steps(&self) -> u64 {
        match &self.kind {
            Kind::Scored(run) => run.learner.total,
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.total,
        }
    }
    /// Of them, steps of cross-entropy before the method's own.
    #[must_use]
    pub fn pretraining_steps(&self) -> u64 {
        match &self.kind {
            Kind::Scored(run) => run.learner.pretraining_steps(),
            #[cfg(feature = "every-method")]
            Kind::Summed(_) => 0,
        }
    }
    /// How far the run is and how far it goes, in a unit of its own: steps, or rows drawn.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        match &self.kind {
            Kind::Scored(run) => (run.learner.steps, run.learner.total),
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.progress(),
        }
    }
    /// Rows drawn so far / rows there are; a full gradient draws all of them.
    #[must_use]
    pub fn pass(&self) -> f64 {
        let drawn = match &self.kind {
            Kind::Scored(run) => run.learner.drawn,
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.run.samples,
        };
        drawn as f64 / self.common.train.labels().len() as f64
    }
    /// Rows of the last batch; stratified ones negatives first.
    #[must_use]
    pub fn batch_index(&self) -> &[u32] {
        match &self.kind {
            Kind::Scored(run) => &run.index,
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.batch(&self.common),
        }
    }
    /// The model's parameters.
    #[must_use]
    pub fn params(&mut self) -> &[T] {
        match &mut self.kind {
            Kind::Scored(run) => run.params(),
            // The memory fits the run it was made for.
            #[cfg(feature = "every-method")]
            Kind::Summed(run) => run.params(&self.common).unwrap_or(&[]),
        }
    }
    /// The model.
    #[must_use]
    pub fn model(&self) -> &AnyModel {
        &self.common.model
    }
    /// The method.
    #[must_use]
    pub fn method(&self) -> &'static Method {
        self.common.method
    }
    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.common.config
    }
    /// The training data.
    #[must_use]
    pub fn train_data(&self) -> &Arc<Dataset<T>> {
        &self.common.train
    }
    /// The test data.
    #[must_use]
    pub fn test_data(&self) -> Option<&Arc<Dataset<T>>> {
        self.common.test.as_ref()
    }
    /// The method's estimator; `None` for methods that minimise a finite sum.
    #[must_use]
    pub fn estimator(&self) -> Option<&AnyEstimator> {
        match &self.kind {
            Kind::Scored(run) => Some(&run.learner.method.estimator),
            #[cfg(feature = "every-method")]
            Kind::Summed(_) => None,
        }
    }
    /// The estimator's state (u, for SOAP).
    #[must_use]
    pub fn estimator_state(&self) -> &[T] {
        match &self.kind {
            Kind::Scored(run) => &run.learner.state,
            #[cfg(feature = "every-method")]
            Kind::Summed(_) => &[],
        }
    }
}
