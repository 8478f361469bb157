//! A trained model alone. It scores rows of arrays, and, if it comes from a model file, rows of tables.

use super::best::best_params;
use super::config::{Config, TrainerError};
use super::given::Beside;
use super::passes::{SharedPasses, Work};
use super::run::Run;
use super::saved::{Saved, params, write};
use super::{Figures, Trainer};
use crate::checkpoint::{CheckpointError, SavedModel};
use crate::data::{Blocks, DataError, DataErrorKind, Dataset, Preparation, RawTable, ReadOptions, Rows, Target};
use crate::decision::Calibration;
use crate::error::Error;
use crate::features::{COMPACT, MULTICLASS};
use crate::metric::{self, FprRange};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A trained model alone, to score with.
///
/// ```
/// use undercurve::data::{Format, Options, Preparation, RawTable};
/// use undercurve::trainer::{Config, Predictor, Trainer};
///
/// let table = RawTable::parse(b"size,colour,label\n1,red,0\n3,blue,1\n2,red,0\n4,red,1\n", Format::Auto, "train.csv")?;
/// let preparation = Preparation::fit(&table, &Options::default())?;
/// let config = Config { method: "ce".into(), ..Config::default() };
/// let mut trainer = Trainer::<f32>::new(&config, preparation.apply(&table)?.into(), None)?;
/// trainer.run()?;
/// let bytes = trainer.predictor().file(preparation).to_bytes();
///
/// let mut model = Predictor::<f32>::load(&bytes)?;
/// let scores = model.predict_one(&[("colour", "blue"), ("size", "5")])?;
/// assert!(model.probability(scores[0]).is_some_and(|p| p > 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictor<T: Real> {
    config: Config,
    classes: Vec<String>,
    model: AnyModel,
    params: Vec<T>,
    /// The number of its training data.
    data: u64,
    /// Whether scores are log-odds of a likelihood.
    probable: bool,
    /// Whether it was read from a whole run.
    run: bool,
    preparation: Option<Preparation>,
    threshold: Option<f64>,
    calibration: Option<Calibration>,
    passes: SharedPasses<T>,
}

const WITHOUT_PREPARATION: &str = "rows of a table by a model without its preparation";

/// What [`Predictor::predict_file`] finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored<T> {
    /// A score for each row, or rows × classes, row-major.
    pub scores: Vec<T>,
    /// The cells of the columns to keep, rows × columns, row-major.
    pub kept: Vec<String>,
}

/// Whether the method fits probabilities to the rows as they are. (Small builds, in which looking a method up would bring its whole
/// table, know that of cross-entropy alone.)
fn fits_probabilities(config: &Config) -> bool {
    let pairs = config.pairs();
    let set = |name: &str| pairs.iter().rev().find(|pair| pair.0 == name).map(|pair| pair.1);
    if config.method == "ce" {
        return !(set("sampling") == Some("stratified") && set("weights") == Some("as-drawn"));
    }
    if config.method == "ce-exact" {
        return true;
    }
    if !COMPACT && let Some(method) = registry::method(&config.method).filter(|method| method.is_finite_sum()) {
        let default = method.params.iter().find(|param| param.name == "loss").map(|param| param.default);
        return set("loss").or(default) == Some("logistic");
    }
    false
}

impl<T: Real> Trainer<T> {
    /// The model as it is now.
    #[must_use]
    pub fn predictor(&self) -> Predictor<T> {
        Predictor {
            config: self.config.clone(),
            classes: self.train.classes().to_vec(),
            model: *self.model(),
            params: Run::<T>::copy_params(&self.run, &self.train),
            data: self.train.fingerprint(),
            probable: fits_probabilities(&self.config),
            run: false,
            preparation: None,
            threshold: None,
            calibration: None,
            passes: SharedPasses::default(),
        }
    }
}

impl<T: Real> Predictor<T> {
    /// The model of a saved run, of a model saved alone, or of a model file with either, which scores rows of tables, too. Of
    /// a run with validation rows the best one. Values saved in the other precision are converted.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn load(bytes: &[u8]) -> Result<Self, TrainerError> {
        match SavedModel::from_bytes(bytes) {
            Ok(saved) => Self::of(&saved),
            Err(CheckpointError::NotOurs) => Self::of_run(bytes, None),
            Err(error) => Err(error.into()),
        }
    }

    /// [`load`](Self::load) of a file.
    ///
    /// # Errors
    /// `Checkpoint`; `Config`, where the file cannot be read.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, TrainerError> {
        let path = path.as_ref();
        let bytes =
            std::fs::read(path).map_err(|error| TrainerError::Config(alloc::format!("{}: {error}", path.display())))?;
        Self::load(&bytes)
    }

    /// The model of a model file.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn of(saved: &SavedModel) -> Result<Self, TrainerError> {
        let best = saved.best.as_deref().map(best_params).transpose()?.flatten();
        let model = Self { probable: saved.probabilities, ..Self::of_run(&saved.trainer, best)? };
        if saved.preparation.cols() != Model::<T>::inputs(&model.model) {
            return Err(CheckpointError::Damaged.into());
        }
        if saved.calibrated.is_some() && saved.preparation.target() != Target::Binary {
            return Err(CheckpointError::Damaged.into());
        }
        let calibration = saved.calibrated.as_ref().map(|calibrated| calibrated.calibration.clone());
        Ok(Self { preparation: Some(saved.preparation.clone()), threshold: saved.threshold, calibration, ..model })
    }

    /// The model of a run, or its best.
    pub(super) fn of_run(bytes: &[u8], best: Option<&[u8]>) -> Result<Self, TrainerError> {
        let saved = Saved::read(bytes)?;
        let model = saved.model()?;
        let count = Model::<T>::param_len(&model);
        let values = best.unwrap_or(saved.params);
        // (A model of your own is none of these, whatever the configuration beside it says.)
        if values.len() != count.saturating_mul(saved.real_bytes) {
            return Err(CheckpointError::Mismatch("model").into());
        }
        let params = params(values, saved.real_bytes, count)?;
        let run = saved.run().is_ok();
        let Saved { config, classes, data, .. } = saved;
        let (probable, preparation, threshold, calibration) = (fits_probabilities(&config), None, None, None);
        let passes = SharedPasses::default();
        Ok(Self { config, classes, model, params, data, probable, run, preparation, threshold, calibration, passes })
    }

    /// The model alone, without the run: what [`load`](Self::load) reads, of a size that goes with the parameters.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let cols = Model::<T>::inputs(&self.model);
        write(&self.config, (cols, self.data, &self.classes), &self.params, None, &Beside::NONE)
    }

    /// A model file of it, without a threshold and without what is known of its training.
    #[must_use]
    pub fn file(&self, preparation: Preparation) -> SavedModel {
        let probabilities = self.probable;
        SavedModel { probabilities, ..SavedModel::new(preparation, T::BYTES as u8, self.save()) }
    }

    /// With other parameters.
    ///
    /// # Errors
    /// `Length`.
    pub fn with_params(self, params: Vec<T>) -> crate::Result<Self> {
        crate::error::exact_len("params", self.params.len(), params.len())?;
        Ok(Self { params, ..self })
    }

    /// The configuration it was trained with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
    /// What the classes are called; empty unless there are several.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
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
    /// What turns rows of tables into its columns, where it comes from a model file.
    #[must_use]
    pub fn preparation(&self) -> Option<&Preparation> {
        self.preparation.as_ref()
    }
    /// Scores from here up predict the positive class, where it comes from a model file of two classes.
    #[must_use]
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }
    /// Whether it was read from a whole run, which can go on, and not from a model alone.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.run
    }
    /// Whether these are the rows that it was trained on.
    #[must_use]
    pub fn was_trained_on(&self, data: &Dataset<T>) -> bool {
        self.data == data.fingerprint()
    }

    /// With missing values treated otherwise than in training: filled in, by the means of training.
    #[must_use]
    pub fn with_missing(mut self, missing: crate::data::Missing) -> Self {
        self.preparation = self.preparation.map(|preparation| preparation.with_missing(missing));
        self
    }

    /// Scores of any rows with the model's columns: raw ones, or of several classes the log-odds of each, rows × classes,
    /// row-major.
    ///
    /// # Errors
    /// `Length`; of several classes `NonFinite`, `Overflow`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> crate::Result<()> {
        crate::error::exact_len("scores", rows.len() * Model::<T>::heads(&self.model), scores.len())?;
        self.passes.forward_all(&self.model, &self.params, rows, scores)?;
        if MULTICLASS && self.classes.len() > 1 {
            return crate::metric::log_odds(scores, self.classes.len());
        }
        Ok(())
    }

    /// Exact metrics on any labelled data with its columns (and classes); the partial AUC over the run's range.
    ///
    /// # Errors
    /// As [`Trainer::evaluate`].
    pub fn evaluate(&mut self, data: &Dataset<T>) -> crate::Result<Figures> {
        let mut scores = vec![T::ZERO; data.len() * Model::<T>::heads(&self.model)];
        self.score(data.rows(), &mut scores)?;
        let range = FprRange::new(self.config.fpr.0, self.config.fpr.1)?;
        Figures::of(&scores, data, range, Work::default().lend(metric::need(scores.len())))
    }

    /// Scores of the rows of a table, as [`score`](Self::score). Its label column, if it has one, and columns that training
    /// did not use are not looked at.
    ///
    /// # Errors
    /// Those of [`Preparation::apply_unlabelled`]; `Core(Unsupported)` for a model without a preparation; `Core(NonFinite)`
    /// for a score that is no number.
    pub fn predict(&mut self, table: &RawTable) -> Result<Vec<T>, DataError> {
        let error = |kind: DataErrorKind| DataError { file: table.name().into(), line: 0, column: 0, kind };
        let Some(preparation) = &self.preparation else {
            return Err(error(Error::Unsupported { what: WITHOUT_PREPARATION }.into()));
        };
        let data = preparation.apply_unlabelled::<T>(table)?;
        let mut scores = vec![T::ZERO; data.len() * Model::<T>::heads(&self.model)];
        self.score(data.rows(), &mut scores).map_err(|e| error(e.into()))?;
        crate::error::all_finite("scores", &scores).map_err(|e| error(e.into()))?;
        Ok(scores)
    }

    /// Scores of the rows of a file (CSV or LIBSVM, not packed), with the cells of the columns `keep` as they are written:
    /// what [`predict`](Self::predict) gives, whatever the columns of a table of these rows alone would be taken for. `name` is
    /// what errors call it.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and everything about the text itself, as [`RawTable::parse`].
    pub fn predict_file(&mut self, bytes: &[u8], keep: &[String], name: &str) -> Result<Scored<T>, DataError> {
        let Some(preparation) = &self.preparation else {
            let kind = Error::Unsupported { what: WITHOUT_PREPARATION }.into();
            return Err(DataError { file: name.into(), line: 0, column: 0, kind });
        };
        let mut blocks = Blocks::new(preparation, &ReadOptions::default(), keep, name);
        let mut all = Scored { scores: Vec::new(), kept: Vec::new() };
        for block in [blocks.push(bytes)?, blocks.finish()?].into_iter().flatten() {
            all.scores.extend(self.predict(&block.table)?);
            all.kept.extend(block.kept);
        }
        Ok(all)
    }

    /// Scores of one row, given as names of columns and what a file would have in them; others than the model's are not
    /// looked at.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_one(&mut self, row: &[(&str, &str)]) -> Result<Vec<T>, DataError> {
        let sources = self.preparation.as_ref().map_or_else(Vec::new, Preparation::sources);
        let numbers: Vec<&str> =
            sources.into_iter().filter(|source| !source.1.is_category()).map(|source| source.0).collect();
        let na = self.preparation.as_ref().map_or(&[][..], Preparation::na);
        let known = self.preparation.as_ref().map_or(&[][..], Preparation::notations);
        let table = RawTable::of_row(row, &numbers, na, known)?;
        self.predict(&table)
    }

    /// The probability that a score stands for: of the positive class, or of the one whose log-odds it is. By the calibration of
    /// the model file, if it has one; else of methods that fit one (cross-entropy, and finite sums of the logistic loss), by what
    /// their model file says; `None` of others, whose scores rank only.
    #[must_use]
    pub fn probability(&self, score: T) -> Option<T> {
        let sure = match &self.calibration {
            Some(calibration) => calibration.probability(score),
            None if self.probable => score.sigmoid(),
            None => return None,
        };
        // Nothing is certain, also where rounding says so.
        Some(sure.or_larger(T::TINY).or_smaller(T::of(1.0 - 0.5 * T::EPSILON.f64())))
    }

    /// Whether there are [`probabilities`](Self::probability).
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        self.probable || self.calibration.is_some()
    }

    /// Whether the method itself fits them.
    #[must_use]
    pub fn fits_probabilities(&self) -> bool {
        self.probable
    }

    /// What turns scores into probabilities, where that was fitted to rows afterwards.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// Of two classes whether the score reaches the threshold, as 1 or 0; of several the number of the highest score (of
    /// equal ones the first). `None` without a threshold, and of numbers.
    #[must_use]
    pub fn class(&self, scores: &[T]) -> Option<usize> {
        if self.classes.len() > 1 {
            let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
            return (scores.len() == self.classes.len()).then(|| (1..scores.len()).fold(0, better));
        }
        Some(usize::from(scores.first()?.f64() >= self.threshold?))
    }
}
