//! What a run is given: rows, where it begins, and rows of files whose loss is bounded.

use super::Predictor;
use crate::data::Dataset;
use crate::real::Real;
use alloc::string::String;
use alloc::sync::Arc;
#[cfg(all(feature = "every-method", not(feature = "compact")))]
use {
    super::{Config, TrainerError},
    crate::model::Model,
    alloc::format,
    alloc::vec::Vec,
};

/// What a run is given beside its [`Config`](super::Config). Builds with `compact` have no other beginnings than start values.
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
#[cfg(all(feature = "every-method", not(feature = "compact")))]
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

#[cfg(all(feature = "every-method", not(feature = "compact")))]
impl<T: Real> Given<T> {
    /// Training rows alone.
    #[must_use]
    pub fn rows(train: Arc<Dataset<T>>) -> Self {
        Self { train, test: None, start: None, files: Vec::new() }
    }
}

/// What a trainer keeps beside its training rows. Nothing in small builds, so that nothing of it is left in them.
#[derive(Clone, Debug)]
pub(super) struct Beside<T: Real> {
    #[cfg(all(feature = "every-method", not(feature = "compact")))]
    start: Option<Predictor<T>>,
    #[cfg(all(feature = "every-method", not(feature = "compact")))]
    files: Vec<(String, Arc<Dataset<T>>)>,
    /// The training rows and those of the files, where there are some.
    #[cfg(all(feature = "every-method", not(feature = "compact")))]
    all: Option<Arc<Dataset<T>>>,
    #[cfg(not(all(feature = "every-method", not(feature = "compact"))))]
    nothing: core::marker::PhantomData<T>,
}

impl<T: Real> Beside<T> {
    pub const NONE: Self = Self {
        #[cfg(all(feature = "every-method", not(feature = "compact")))]
        start: None,
        #[cfg(all(feature = "every-method", not(feature = "compact")))]
        files: Vec::new(),
        #[cfg(all(feature = "every-method", not(feature = "compact")))]
        all: None,
        #[cfg(not(all(feature = "every-method", not(feature = "compact"))))]
        nothing: core::marker::PhantomData,
    };

    /// The rows that a run draws from.
    #[inline(always)]
    pub fn rows<'a>(&'a self, train: &'a Arc<Dataset<T>>) -> &'a Arc<Dataset<T>> {
        #[cfg(all(feature = "every-method", not(feature = "compact")))]
        if let Some(all) = &self.all {
            return all;
        }
        train
    }

    /// The model to begin at.
    #[inline(always)]
    pub fn start(&self) -> Option<&Predictor<T>> {
        #[cfg(all(feature = "every-method", not(feature = "compact")))]
        return self.start.as_ref();
        #[cfg(not(all(feature = "every-method", not(feature = "compact"))))]
        None
    }

    /// Rows of files, by name.
    #[inline(always)]
    pub fn files(&self) -> &[(String, Arc<Dataset<T>>)] {
        #[cfg(all(feature = "every-method", not(feature = "compact")))]
        return &self.files;
        #[cfg(not(all(feature = "every-method", not(feature = "compact"))))]
        &[]
    }
}

#[cfg(all(feature = "every-method", not(feature = "compact")))]
impl<T: Real> Beside<T> {
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
}

/// `Ok` when a run of this model on these rows can begin at that one.
#[cfg(all(feature = "every-method", not(feature = "compact")))]
pub(super) fn check_start<T: Real>(
    start: &Predictor<T>,
    config: &Config,
    train: &Dataset<T>,
) -> Result<(), TrainerError> {
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
    Ok(())
}
