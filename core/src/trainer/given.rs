//! The inputs of a run: rows, the model to start from, and rows of files whose loss is bounded. (Small builds have `given_none.rs` in
//! its place.)

use super::run::Run;
use super::saved::Saved;
use super::{Begin, Config, Predictor, Trainer, TrainerError};
use crate::checkpoint::{CheckpointError, Coded, Reader, write_bytes};
use crate::data::Dataset;
use crate::model::Model;
use crate::real::Real;
use crate::registry::{Domain, Method, Param};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// What a run is given beside its [`Config`](super::Config). Builds with `compact` have no other beginnings than start values,
/// unless they have `group-methods`.
///
/// ```
/// use std::sync::Arc;
/// use undercurve::data::Dataset;
/// use undercurve::trainer::{Config, Given, Length, Trainer};
///
/// let rows = |shift: f32| (0..40).map(|k| (k % 7) as f32 + shift * (k % 3) as f32).collect();
/// let labels = || (0..40).map(|k| u8::from(k % 7 > 4)).collect();
/// let first = Arc::new(Dataset::dense(rows(0.0), labels(), 1)?);
/// let second = Arc::new(Dataset::dense(rows(1.0), labels(), 1)?);
/// let mut old = Trainer::<f32>::new(&Config { method: "ce".into(), ..Config::default() }, first.clone(), None)?;
/// old.run()?;
/// let config = Config {
///     method: "sonex".into(),
///     settings: vec![("objective".into(), "ce".into())],
///     constraints: vec!["loss(first) <= old".into()],
///     length: Length::Steps(100),
///     ..Config::default()
/// };
/// let files = vec![("first".into(), first)];
/// let mut new = Trainer::of(&config, Given { start: Some(old.predictor()), files, ..Given::rows(second) })?;
/// assert_eq!(new.params(), old.params());
/// new.run()?;
/// assert_ne!(new.params(), old.params());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Given<T: Real> {
    /// The training rows.
    pub train: Arc<Dataset<T>>,
    /// Held-out rows, for reports.
    pub test: Option<Arc<Dataset<T>>>,
    /// A model to begin at, with the run's model, columns and classes; it is also what `old` means in constraints. Methods that
    /// begin with cross-entropy then do not, unless their `pretrain` is set. Without one a run begins at start values.
    pub start: Option<Predictor<T>>,
    /// Of every file that a constraint `loss(FILE)` names the rows, by that name: of two classes, of one alone, too.
    pub files: Vec<(String, Arc<Dataset<T>>)>,
}

impl<T: Real> Given<T> {
    /// Training rows alone.
    #[must_use]
    pub fn rows(train: Arc<Dataset<T>>) -> Self {
        Self { train, test: None, start: None, files: Vec::new() }
    }
}

/// What a trainer keeps beside its training rows.
#[derive(Clone, Debug)]
pub(super) struct Beside<T: Real> {
    start: Option<Predictor<T>>,
    files: Vec<(String, Arc<Dataset<T>>)>,
    /// The training rows and those of the files, where there are some.
    all: Option<Arc<Dataset<T>>>,
}

impl<T: Real> Beside<T> {
    pub const NONE: Self = Self { start: None, files: Vec::new(), all: None };

    /// Of a run on these rows.
    ///
    /// # Errors
    /// `Config`: files without rows, of other columns or targets, too many of them.
    pub fn of(
        train: &Dataset<T>,
        start: Option<Predictor<T>>,
        files: Vec<(String, Arc<Dataset<T>>)>,
    ) -> Result<Self, TrainerError> {
        if files.is_empty() {
            return Ok(Self { start, ..Self::NONE });
        }
        for (name, data) in &files {
            let refuse = |why: &str| Err(TrainerError::Config(format!("loss({name}): {why}")));
            if data.is_empty() {
                return refuse("there are no rows");
            }
            if data.cols() != train.cols() {
                return refuse(&format!("{} columns, the training data {}", data.cols(), train.cols()));
            }
            if data.labels().is_empty() {
                return refuse("the rows have no labels of two classes");
            }
        }
        let rows: Vec<&Dataset<T>> = files.iter().map(|(_, data)| &**data).collect();
        let all = Some(Arc::new(train.beside(&rows)?));
        Ok(Self { start, files, all })
    }

    /// The rows that a run draws from.
    #[inline(always)]
    pub fn rows<'a>(&'a self, train: &'a Arc<Dataset<T>>) -> &'a Arc<Dataset<T>> {
        self.all.as_ref().unwrap_or(train)
    }

    /// The model to begin at.
    #[inline(always)]
    pub fn start(&self) -> Option<&Predictor<T>> {
        self.start.as_ref()
    }

    /// Rows of files, by name.
    #[inline(always)]
    pub fn files(&self) -> &[(String, Arc<Dataset<T>>)] {
        &self.files
    }

    /// Whether there is a model to begin at, where a run of this configuration on these rows can.
    pub fn begins(&self, config: &Config, train: &Dataset<T>) -> Result<bool, TrainerError> {
        let Some(start) = &self.start else { return Ok(false) };
        let refuse = |text| Err(TrainerError::Config(format!("the model to start from {text}")));
        if start.config().model != config.model {
            return refuse(format!("is {}, and that of the run {}", start.config().model, config.model));
        }
        let inputs = Model::<T>::inputs(start.model());
        if inputs != train.cols() {
            return refuse(format!("has {inputs} columns, and the training data {}", train.cols()));
        }
        if start.classes() != train.classes() {
            return refuse(String::from("has other classes than the training data"));
        }
        Ok(true)
    }

    /// What is saved of it: nothing, where there is nothing.
    pub fn write(&self) -> Option<Vec<u8>> {
        if self.start.is_none() && self.files.is_empty() {
            return None;
        }
        let mut bytes = Vec::new();
        self.start.is_some().write(&mut bytes);
        if let Some(start) = &self.start {
            write_bytes(&start.save(), &mut bytes);
        }
        self.files.iter().map(|(_, data)| data.fingerprint()).collect::<Vec<u64>>().write(&mut bytes);
        Some(bytes)
    }

    /// What was saved, without files: the model that the run began at.
    pub fn read(saved: Option<&[u8]>, train: &Dataset<T>) -> Result<Self, TrainerError> {
        Self::read_with(saved, train, Vec::new())
    }

    /// The same with these rows of files.
    fn read_with(
        saved: Option<&[u8]>,
        train: &Dataset<T>,
        files: Vec<(String, Arc<Dataset<T>>)>,
    ) -> Result<Self, TrainerError> {
        let mut from = Reader(saved.unwrap_or(&[0, 0]));
        let mut read = || Some((if from.value()? { Some(from.bytes()?) } else { None }, from.value::<Vec<u64>>()?));
        let (start, known) = read().ok_or(CheckpointError::Damaged)?;
        if !files.is_empty() && !files.iter().map(|(_, data)| data.fingerprint()).eq(known) {
            return Err(CheckpointError::Mismatch("set of rows whose loss is bounded").into());
        }
        let start = start.map(|start| Predictor::of_run(start, None)).transpose()?;
        Self::of(train, start, files)
    }
}

impl Config {
    /// `Ok` where a run of this configuration can go on under the other.
    fn can_become(&self, other: &Self, method: Option<&'static Method>) -> Result<(), CheckpointError> {
        for (what, same) in [
            ("method", self.method == other.method),
            ("model", self.model == other.model),
            ("seed", self.seed == other.seed),
            ("false-positive range", self.fpr == other.fpr),
            ("list of constraints", self.constraints == other.constraints),
        ] {
            if !same {
                return Err(CheckpointError::Mismatch(what));
            }
        }
        // (Counts and words decide what there is to save.)
        let last = |config: &Self, name: &str| config.settings.iter().rev().find(|(n, _)| n == name).cloned();
        let fixed = method.map_or(&[][..], |method| method.params);
        let is_number = |p: &&Param| matches!(p.domain, Domain::Number { .. } | Domain::NumberOr { .. });
        let mut fixed = fixed.iter().filter(|p| !is_number(p) && p.name != "steps").map(|param| param.name);
        let other = fixed.find(|name| last(self, name) != last(other, name));
        other.map_or(Ok(()), |name| Err(CheckpointError::Mismatch(name)))
    }
}

impl<T: Real> Trainer<T> {
    /// [`new`](Self::new) with a model to start from, and rows of files whose loss is bounded.
    ///
    /// # Errors
    /// As [`new`](Self::new); `Config` for a start of another model, other columns or classes, rows of files that are none, or
    /// that no constraint names, or a constraint of a file that is not there, or of `old` without a start.
    pub fn of(config: &Config, given: Given<T>) -> Result<Self, TrainerError> {
        let Given { train, test, start, files } = given;
        let beside = Beside::of(&train, start, files)?;
        Self::made(config, train, test, beside, Begin::Fresh)
    }

    /// [`load`](Self::load) with the rows of files whose loss is bounded. The model that the run began at is among the bytes; another that
    /// is given is not looked at.
    ///
    /// # Errors
    /// As [`load`](Self::load) and [`of`](Self::of).
    pub fn load_with(bytes: &[u8], given: Given<T>) -> Result<Self, TrainerError> {
        let saved = Saved::read(bytes)?;
        let beside = Beside::read_with(saved.beside, &given.train, given.files)?;
        Self::loaded(&saved, given.train, given.test, beside)
    }

    /// The same under another configuration: for longer, or with other numbers as parameters of the method, like its rate. The
    /// cross-entropy that the run began with stays as long as it was; schedules are then those of the whole new length.
    ///
    /// # Errors
    /// As [`load_with`](Self::load_with); `Config` for a length that the run has already passed; `Checkpoint` with `Mismatch`, where
    /// anything else differs.
    pub fn load_as(bytes: &[u8], config: &Config, given: Given<T>) -> Result<Self, TrainerError> {
        let saved = Saved::read(bytes)?;
        let beside = Beside::read_with(saved.beside, &given.train, given.files.clone())?;
        let before = Self::loaded(&saved, given.train, given.test, beside)?;
        if *config == saved.config {
            return Ok(before);
        }
        saved.config.can_become(config, before.method())?;
        let mut config = config.clone();
        let set = config.settings.iter().any(|(name, _)| name == "pretrain");
        if !set && before.method().is_some_and(|method| method.params.iter().any(|param| param.name == "pretrain")) {
            config.settings.push(("pretrain".into(), format!("{}", before.pretraining_steps())));
        }
        // (The decay that cross-validation chose stays, too.)
        let chosen = |method: &Method| method.params.iter().any(|param| param.name == "folds");
        let chosen = cfg!(feature = "exact-methods") && before.method().is_some_and(chosen);
        if chosen && config.settings.iter().all(|(name, _)| name != "decay") {
            config.settings.extend(before.config.settings.iter().rfind(|(name, _)| name == "decay").cloned());
        }
        let done = before.steps_done();
        let Self { train, test, beside, .. } = before;
        let mut trainer = Self::made(&config, train, test, beside, Begin::Saved(PhantomData))?;
        if trainer.total_steps() < done {
            return Err(TrainerError::Config(format!(
                "a length of {} steps: the run has done {done} already",
                trainer.total_steps()
            )));
        }
        let read = trainer.run.read(trainer.beside.rows(&trainer.train), saved.run()?);
        read.map_err(|_| CheckpointError::Mismatch("setting"))?;
        Ok(trainer)
    }
}

impl<T: Real, R> Trainer<T, R> {
    /// The model that it began at, if not at start values.
    #[must_use]
    pub fn start(&self) -> Option<&Predictor<T>> {
        self.beside.start()
    }
    /// The rows of the files whose loss is bounded, by the names that constraints call them.
    #[must_use]
    pub fn files(&self) -> &[(alloc::string::String, Arc<Dataset<T>>)] {
        self.beside.files()
    }
}
