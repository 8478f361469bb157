//! Training with one value that owns data, model, method and all their memory.
//!
//! A [`Trainer`] draws batches, runs the model, the estimator and the algorithm, and reports exact metrics for two classes, several
//! classes or regression, as its data set has them. It owns a [`Run`]: batches through a [`Host`](crate::host::Host), or a
//! finite sum with an algorithm of its own; the caller sees no other difference. Everything that a run depends on is in its
//! [`Config`], the seed included. `Trainer::save` saves everything that changes, so a run resumed from any step gives the bits
//! of one that was never stopped.

mod any_run;
mod batch_run;
mod best;
mod config;
#[cfg_attr(not(feature = "group-methods"), path = "constraints_none.rs")]
mod constraints;
mod figures;
// The full build alone can begin at a model, and look at rows of files.
#[cfg(feature = "more-methods")]
mod device;
#[cfg_attr(
    not(all(feature = "more-methods", any(not(feature = "compact"), feature = "group-methods"))),
    path = "given_none.rs"
)]
mod given;
mod grouped;
mod linear_start;
mod numbers;
mod passes;
mod predictor;
#[cfg_attr(not(feature = "exact-methods"), path = "ridge_none.rs")]
mod ridge;
mod run;
mod save;
mod saved;
#[cfg(feature = "stream")]
mod stream;
mod sum_run;
mod warning;
#[cfg(feature = "group-methods")]
mod watch;

pub use any_run::AnyRun;
pub use batch_run::BatchRun;
pub use best::{Best, LOOKS, own_metric};
pub use config::{Config, Init, Length, ModelSpec, TrainerError, check_splines};
pub use constraints::*;
#[cfg(feature = "more-methods")]
pub use device::Snapshot;
pub use figures::Figures;
pub use given::*;
pub use predictor::{Predictor, Scored};
#[cfg(feature = "exact-methods")]
pub use ridge::{Path, PathPoint, TOP_METHODS, TopPoint, top};
pub use run::{CONVERGED, Diagnostic, Objective, Run, SumReport};
#[cfg(feature = "stream")]
pub use stream::stream_methods;
pub use sum_run::{End, SumRun};
pub use warning::Warning;
#[cfg(feature = "group-methods")]
pub use watch::{Tracked, Watch};

use crate::data::{Dataset, Rows, Targets};
use crate::error::{Error, Result, count_labels, exact_len};
use crate::estimator::AnyEstimator;
use crate::features::{COMPACT, MULTICLASS};
use crate::metric::{self, FprRange};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::{self, Method, Scope};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;
use given::Beside;
use passes::Work;

/// What a report holds.
#[derive(Clone, Debug, PartialEq)]
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
    pub train: Figures,
    /// Metrics on the test data, if there is any.
    pub test: Option<Figures>,
    /// Of methods that minimise a finite sum.
    pub sum: Option<SumReport>,
    /// A warning about the model, if there is one.
    pub warning: Option<Warning>,
}

/// Trains one model by one method.
///
/// Of several classes, scores are log-odds of each (`metric::log_odds`) against all others.
///
/// ```
/// use std::sync::Arc;
/// use undercurve::data::Dataset;
/// use undercurve::trainer::{Config, Length, Trainer};
///
/// // 200 rows of two columns, every tenth of them a positive, which is higher in the first column.
/// let x = (0..400).map(|k| ((k * k) as f32).sin() + if k % 20 == 0 { 1.5 } else { 0.0 }).collect();
/// let y = (0..200).map(|row| u8::from(row % 10 == 0)).collect();
/// let data = Arc::new(Dataset::dense(x, y, 2)?);
/// let config = Config { method: "soap".into(), length: Length::Steps(200), ..Config::default() };
/// let mut trainer = Trainer::<f32>::new(&config, data.clone(), None)?;
/// assert_eq!(trainer.report()?.train.get("ap"), Some(0.1)); // the share of positives, where all scores tie
/// for _ in 0..100 {
///     trainer.step()?;
/// }
/// let mut resumed = Trainer::<f32>::load(&trainer.save(), data, None)?;
/// assert!(trainer.run()?.train.get("ap") > Some(0.5));
/// resumed.run()?;
/// assert_eq!(resumed.params(), trainer.params()); // the same bits, whether it was saved on its way or not
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trainer<T: Real, R = AnyRun<T>> {
    config: Config,
    range: FprRange,
    train: Arc<Dataset<T>>,
    test: Option<Arc<Dataset<T>>>,
    beside: Beside<T>,
    run: R,
    /// Rows of a pass.
    counted: usize,
    work: Work<T>,
    path: Option<ridge::Path>,
}

/// Where a trainer that is made begins.
enum Begin<'a, T> {
    /// At its own start.
    Fresh,
    /// At these parameters.
    #[cfg(feature = "more-methods")]
    At(&'a [T]),
    /// Where a saved state is about to be read.
    Saved(PhantomData<&'a T>),
}

/// A method of the registry for data of this kind.
fn method_for<T: Real>(config: &Config, train: &Dataset<T>) -> Result<&'static Method, TrainerError> {
    let name = &config.method;
    let method = registry::method(name).ok_or_else(|| {
        let names: Vec<&str> = registry::METHODS.iter().map(|m| m.name).collect();
        TrainerError::Config(format!("no method \"{name}\"; there are {}", config::listed(&names)))
    })?;
    let several = matches!(train.targets(), Targets::Classes { .. });
    let method = match several {
        false => method,
        true => method.of_classes().ok_or_else(|| {
            let names: Vec<&str> =
                registry::METHODS.iter().filter(|m| m.of_classes().is_some()).map(|m| m.name).collect();
            let text = format!("method {name} trains two classes; of several classes are {}", config::listed(&names));
            TrainerError::Config(text)
        })?,
    };
    if !method.is_built() {
        return Err(TrainerError::NotBuilt { method: method.name });
    }
    let fits_numbers = method.is_finite_sum() || !COMPACT && method.name == "sorr";
    if matches!(train.targets(), Targets::Values(_)) && !fits_numbers {
        let text = format!("method {name} tells classes apart; numbers are for finite sums (ai-sarah) and sorr");
        return Err(TrainerError::Config(text));
    }
    Ok(method)
}

impl<T: Real> Trainer<T> {
    /// A trainer at step 0. What the training data know of their rows decides what is trained: two classes, several, or
    /// numbers.
    ///
    /// # Errors
    /// `Config` for a method, setting, model or length that does not exist or fit; `Core` with `OneClass` when the
    /// training data lacks a class.
    pub fn new(config: &Config, train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
        Self::made(config, train, test, Beside::NONE, Begin::Fresh)
    }

    /// [`new`](Self::new) at these parameters, such as those of a run on other rows or with another false-positive range. Methods that
    /// begin with cross-entropy then do not, unless their `pretrain` is set.
    ///
    /// ```
    /// use undercurve::data::Dataset;
    /// use undercurve::trainer::{Config, Trainer};
    ///
    /// let data = std::sync::Arc::new(Dataset::dense(vec![0.1f32, 0.9, 0.3, 0.2], vec![0, 1, 0, 1], 1)?);
    /// let config = |name: &str| Config { method: name.into(), ..Config::default() };
    /// let mut first = Trainer::new(&config("ce"), data.clone(), None)?;
    /// first.run()?;
    /// let mut second = Trainer::new_at(&config("soap"), data.clone(), None, first.params())?;
    /// assert_eq!(second.params(), first.params());
    /// assert_eq!(second.pretraining_steps(), 0);
    /// assert!(Trainer::new_at(&config("soap"), data, None, &[1.0]).is_err()); // of another model
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); `Config` for a finite sum; `Core` with `Length` or `NonFinite` for the parameters.
    #[cfg(feature = "more-methods")]
    pub fn new_at(
        config: &Config,
        train: Arc<Dataset<T>>,
        test: Option<Arc<Dataset<T>>>,
        params: &[T],
    ) -> Result<Self, TrainerError> {
        Self::made(config, train, test, Beside::NONE, Begin::At(params))
    }

    /// At its start, or where a saved state is about to be read.
    fn made(
        config: &Config,
        train: Arc<Dataset<T>>,
        test: Option<Arc<Dataset<T>>>,
        beside: Beside<T>,
        begin: Begin<'_, T>,
    ) -> Result<Self, TrainerError> {
        let method = method_for(config, &train)?;
        // (Small builds fit numbers by finite sums alone.)
        let numbers = !COMPACT && matches!(train.targets(), Targets::Values(_)) && !method.is_finite_sum();
        let rate = if numbers { numbers::rate(train.rows()) } else { String::new() };
        let mut pairs = config.pairs();
        let at: Option<&[T]> = match begin {
            #[cfg(feature = "more-methods")]
            Begin::At(params) => Some(params),
            Begin::Fresh | Begin::Saved(_) => None,
        };
        if beside.begins(config, &train)? || at.is_some() {
            let set = pairs.iter().any(|pair| pair.0 == "pretrain");
            if !set && method.params.iter().any(|param| param.name == "pretrain") {
                pairs.push(("pretrain", "0"));
            }
        }
        if numbers {
            numbers::check(config)?;
            pairs.extend(numbers::usual(config, &rate));
        }
        let weights = config::importance(config, beside.rows(&train))?;
        if !weights.is_empty() && method.kind == registry::Kind::Cells {
            return Err(config::no_weights(method));
        }
        let settings = config.settings_of(method, &pairs)?;
        check_range(config)?;
        check_test(&train, test.as_deref())?;
        let network = config.model != ModelSpec::Linear;
        let (population, classes) = match train.targets() {
            Targets::Binary(labels) => {
                count_labels(labels)?;
                let mut rows = [0.0; 2];
                for (row, &y) in labels.iter().enumerate() {
                    rows[usize::from(y)] += weights.get(row).copied().unwrap_or(1.0);
                }
                if rows.contains(&0.0) {
                    return Err(Error::OneClass.into());
                }
                (rows.map(|rows| (libm::rint(rows) as u32).max(1)), 2)
            }
            Targets::Classes { names, .. } => ([config::counted(&weights, train.len()) as u32, 0], names.len()),
            Targets::Values(_) => ([config::counted(&weights, train.len()) as u32, 0], 1),
            Targets::None => return Err(Error::OneClass.into()),
        };
        let population = train.stands_for().unwrap_or(population);
        let heads = train.classes().len().max(1);
        let model = config.model.build_with(train.cols(), heads)?;
        // (Weight decay by parameters and positives is for positives and negatives.)
        let params = if heads > 1 { 0 } else { Model::<T>::param_len(&model) };
        let (protected, rows) = (beside.files().len() as u32, beside.rows(&train));
        let groups = if method.kind == registry::Kind::Cells { rows.groups() as u32 } else { 1 };
        // (Before anything as large is made.)
        config::room::<T>(&config.model, Model::<T>::param_len(&model).saturating_mul(8))?;
        let init = match at {
            Some(_) => Init::Random,
            None => linear_start::init(config, method, &model, &train, &beside)?,
        };
        let from_linear = init == Init::Linear;
        let classes = classes as u32;
        let scope = Scope { population, network, params, classes, batch: 1, steps: 0, groups, protected, from_linear };
        let mut settings = settings.with_scope(scope);
        let path = if matches!(begin, Begin::Fresh) {
            ridge::path(method, &settings, config, &model, beside.rows(&train), &weights)?
        } else {
            None
        };
        let mut class_weights = config.class_weights.clone();
        let mut weights = weights;
        if let Some(path) = &path {
            if path.positive() != 1.0 {
                class_weights = vec![1.0, path.positive()];
                let weighted = Config { class_weights: class_weights.clone(), ..config.clone() };
                weights = config::importance(&weighted, beside.rows(&train))?;
            }
            pairs.push(("decay", path.decay()));
            settings = config.settings_of(method, &pairs)?.with_scope(scope);
        }
        if path.is_some() || matches!(begin, Begin::Saved(_)) {
            // (They have had their effect.)
            ridge::CHOOSING.iter().for_each(|name| _ = settings.text(name));
        }
        let constraints = constraints::asked(config, method, &train, &beside)?;
        if let Some(constraints) = &constraints {
            settings = settings.with_constraints(constraints);
        }
        // (Finite sums draw all rows alike.)
        let counted = if method.is_finite_sum() { rows.len() } else { config::counted(&weights, rows.len()) };
        let counted = train.stands_for_rows().unwrap_or(counted);
        let run = match method.kind {
            #[cfg(feature = "sum-methods")]
            registry::Kind::FiniteSum if at.is_some() => {
                return Err(TrainerError::Config(format!("method {} begins at no given parameters", method.name)));
            }
            #[cfg(feature = "sum-methods")]
            registry::Kind::FiniteSum => {
                AnyRun::Sum(SumRun::of_method(method, &settings, config, model, rows, &beside, &weights)?)
            }
            #[cfg(not(feature = "sum-methods"))]
            registry::Kind::FiniteSum => return Err(TrainerError::NotBuilt { method: method.name }),
            registry::Kind::Batches | registry::Kind::Cells | registry::Kind::Whole => {
                if let Some(params) = at {
                    exact_len("params", Model::<T>::param_len(&model), params.len())?;
                    crate::error::all_finite("params", params)?;
                }
                let first = match from_linear && matches!(begin, Begin::Fresh) {
                    true => Some(linear_start::params(config, &model, &train)?),
                    false => None,
                };
                let start = at.or(beside.start().map(Predictor::params)).or(first.as_deref());
                AnyRun::Batches(BatchRun::of_method(method, settings, config, model, rows, start, &weights)?)
            }
        };
        constraints::check_used(config, &run)?;
        let mut config = Config { init, class_weights, ..config.clone() };
        if let Some(path) = &path {
            config.settings.push(("decay".to_string(), path.decay().to_string()));
        }
        Ok(Self { counted, beside, path, ..Self::with_run(&config, run, train, test)? })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &AnyModel {
        self.run.model()
    }
    /// The method; `None` for a run of your own whose configuration names none.
    #[must_use]
    pub fn method(&self) -> Option<&'static Method> {
        method_for(&self.config, &self.train).ok()
    }
    /// The estimator's state (u, for SOAP).
    #[must_use]
    pub fn estimator_state(&self) -> &[T] {
        self.run.estimator_state()
    }
}

fn check_range(config: &Config) -> Result<FprRange, TrainerError> {
    let (low, high) = config.fpr;
    FprRange::new(low, high).map_err(|_| {
        TrainerError::Config(match COMPACT {
            true => "fpr: expected 0 <= LO < HI <= 1".to_string(),
            false => format!("fpr {low}:{high}: expected 0 <= LO < HI <= 1"),
        })
    })
}

fn check_test<T: Real>(train: &Dataset<T>, test: Option<&Dataset<T>>) -> Result<(), TrainerError> {
    let Some(test) = test else { return Ok(()) };
    if test.cols() != train.cols() {
        return Err(TrainerError::Config(match COMPACT {
            true => "the test data has other columns".to_string(),
            false => format!("the test data has {} columns, the training data {}", test.cols(), train.cols()),
        }));
    }
    if test.classes() != train.classes() {
        return Err(TrainerError::Config("the test data has other classes than the training data".to_string()));
    }
    Ok(())
}

impl<T: Real, R: Run<T>> Trainer<T, R> {
    /// A trainer of a run of your own: any [`BatchRun`], [`SumRun`] or other [`Run`]. Of `config`
    /// the false-positive range and the method's name are used, which a saved run is known by.
    ///
    /// # Errors
    /// `Config` (the range, test data of other columns or classes).
    pub fn with_run(
        config: &Config,
        run: R,
        train: Arc<Dataset<T>>,
        test: Option<Arc<Dataset<T>>>,
    ) -> Result<Self, TrainerError> {
        let range = check_range(config)?;
        check_test(&train, test.as_deref())?;
        let (config, beside, counted, work) = (config.clone(), Beside::NONE, train.len(), Work::default());
        Ok(Self { config, range, train, test, beside, run, counted, work, path: None })
    }

    /// One step of the algorithm. Returns the objective's estimate on the step's batch (a running one, for methods with
    /// moving averages); `None` at the end of the run, past which no call changes anything: the steps or passes asked for
    /// are done, or the algorithm has nothing more to do (L-BFGS where no better point is found, a finite sum whose
    /// gradient is 0). So this loop ends, whatever the method, and may look, save and stop on its way:
    ///
    /// ```
    /// use undercurve::data::Dataset;
    /// use undercurve::trainer::{Config, Trainer};
    ///
    /// let data = Dataset::dense(vec![0.1, 0.9, 0.3, 0.2], vec![0, 1, 0, 1], 1)?;
    /// let config = Config { method: "ce".into(), ..Config::default() };
    /// let mut trainer = Trainer::<f32>::new(&config, data.into(), None)?;
    /// while let Some(value) = trainer.step()? {
    ///     if trainer.steps_done() % 100 == 0 {
    ///         println!("step {}: {value}", trainer.steps_done());
    ///     }
    /// }
    /// assert!(trainer.is_done());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
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
        self.run.step(self.beside.rows(&self.train))
    }

    /// Whether the run is over: [`step`](Self::step) has nothing more to do. Also of a run that was saved at its end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.run.is_done()
    }

    /// Trains to the end of the run, and reports. To look at it on the way, or to stop it, [`step`](Self::step).
    ///
    /// # Errors
    /// Those of [`step`](Self::step) and [`report`](Self::report).
    pub fn run(&mut self) -> Result<Report> {
        while self.step()?.is_some() {}
        self.report()
    }

    /// Objective and exact metrics, now. O(n log n) for the metrics, for each class where there are several; the objective by
    /// the exact sums.
    ///
    /// # Errors
    /// `OneClass` when the test data lacks a class; `NonFinite` when a score is NaN or infinite, `Overflow`.
    pub fn report(&mut self) -> Result<Report> {
        let all = self.beside.rows(&self.train);
        let mut scores = vec![T::ZERO; all.len() * self.run.heads()];
        self.run.score(all, all.rows(), &mut scores)?;
        let Objective { value: objective, grad_norm_sq, sum } = self.run.objective(all, &scores)?;
        scores.truncate(self.train.len() * self.run.heads());
        self.to_log_odds(&mut scores)?;
        let figures = Figures::of(&scores, &self.train, self.range, self.work.lend(metric::need(scores.len())))?;
        let test = match self.test.clone() {
            None => None,
            Some(test) => Some(self.evaluate(&test)?),
        };
        let warning = self.warning_of(&scores, &figures, test.as_ref().and_then(Figures::binary))?;
        let (step, pass) = (self.steps_done(), self.pass());
        Ok(Report { step, pass, objective, grad_norm_sq, train: figures, test, sum, warning })
    }

    /// Exact metrics of the model, now, on any labelled data with the training data's columns (and classes): what a
    /// [`report`](Self::report) says of its test data, without the rest of it.
    ///
    /// # Errors
    /// `Length`; `OneClass`; `NonFinite` when a score is NaN or infinite, `Overflow`.
    pub fn evaluate(&mut self, data: &Dataset<T>) -> Result<Figures> {
        let mut scores = vec![T::ZERO; data.len() * self.run.heads()];
        self.score(data.rows(), &mut scores)?;
        Figures::of(&scores, data, self.range, self.work.lend(metric::need(scores.len())))
    }

    /// Scores of any rows with the training data's columns: raw ones, or of several classes the log-odds of each, rows ×
    /// classes, row-major.
    ///
    /// # Errors
    /// `Length`; of several classes `NonFinite`, `Overflow`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        exact_len("scores", rows.len() * self.run.heads(), scores.len())?;
        self.run.score(self.beside.rows(&self.train), rows, scores)?;
        self.to_log_odds(scores)
    }

    fn to_log_odds(&self, scores: &mut [T]) -> Result<()> {
        if MULTICLASS && self.run.heads() > 1 {
            return metric::log_odds(scores, self.run.heads());
        }
        Ok(())
    }

    /// What a report says of a finite sum, without the metrics; `None` for other methods. Two walks over all rows.
    ///
    /// # Errors
    /// `Overflow`.
    pub fn sum(&mut self) -> Result<Option<SumReport>> {
        match self.run.step_size() {
            None => Ok(None),
            Some(_) => Ok(self.run.objective(self.beside.rows(&self.train), &[])?.sum),
        }
    }

    /// The largest eigenvalue of the objective's Hessian at the iterate, to about four digits; `None` for methods that do
    /// not minimise a finite sum, and for networks. At most 40 walks over the stored values.
    ///
    /// # Errors
    /// `Overflow`.
    pub fn curvature(&mut self) -> Result<Option<f64>> {
        self.run.curvature(self.beside.rows(&self.train))
    }

    /// The method's estimator; `None` for methods that minimise a finite sum, and for runs of your own.
    #[must_use]
    pub fn estimator(&self) -> Option<&AnyEstimator> {
        self.run.estimator()
    }
    /// Last step size and its present bound, of methods that minimise a finite sum; 0 and infinite before the first.
    #[must_use]
    pub fn step_size(&self) -> Option<(f64, f64)> {
        self.run.step_size()
    }

    /// Steps done; of finite sums, minibatches.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        self.run.steps_done()
    }
    /// Steps that the learning rate's schedule spans, and the most that the run takes: L-BFGS may end before, and a finite
    /// sum that runs for so many passes takes fewer by as many full gradients as it needs. Its end is where
    /// [`is_done`](Self::is_done) says.
    #[must_use]
    pub fn total_steps(&self) -> u64 {
        self.run.total_steps()
    }
    /// Of them, steps of cross-entropy before the method's own.
    #[must_use]
    pub fn pretraining_steps(&self) -> u64 {
        self.run.pretraining_steps()
    }
    /// How far the run is and how far it goes, in a unit of its own: steps, or rows drawn.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        self.run.progress()
    }
    /// Rows drawn so far / rows there are, by their weights, those of protected files included; a full gradient draws all of them.
    #[must_use]
    pub fn pass(&self) -> f64 {
        self.run.drawn() as f64 / self.counted as f64
    }
    /// Rows of the last batch; class by class, negatives first, where it was drawn so. Rows of protected files are numbered on
    /// from the training rows.
    #[must_use]
    pub fn batch_index(&self) -> &[u32] {
        self.run.batch(self.beside.rows(&self.train))
    }
    /// The model's parameters.
    #[must_use]
    pub fn params(&mut self) -> &[T] {
        // The memory fits the run it was made for.
        self.run.params(self.beside.rows(&self.train)).unwrap_or(&[])
    }
    /// How cross-validation chose the weight decay, if it did when the trainer was made; its configuration then has the decay among its
    /// settings. A saved run keeps the decay alone.
    #[cfg(feature = "exact-methods")]
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_ref()
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
}
