//! A trained model alone. It scores rows of arrays, and, if it comes from a model file, rows of tables.

use super::config::{Config, TrainerError};
use super::passes::{SharedPasses, Work};
use super::run::Run;
use super::saved::{Saved, params, write};
use super::{Figures, Trainer};
use crate::checkpoint::CheckpointError;
use crate::data::{Dataset, Rows};
use crate::decision::Calibration;
use crate::features::{COMPACT, MULTICLASS};
use crate::metric::{self, FprRange};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use file::FromFile;

#[cfg_attr(not(feature = "tables"), path = "predictor/no_file.rs")]
mod file;

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
    file: FromFile,
    passes: SharedPasses<T>,
}

/// What `Predictor::predict_file` finds.
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
            file: FromFile::default(),
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
        file::load(bytes)
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
        let (probable, file, passes) = (fits_probabilities(&config), FromFile::default(), SharedPasses::default());
        Ok(Self { config, classes, model, params, data, probable, run, file, passes })
    }

    /// The model alone, without the run: what [`load`](Self::load) reads, of a size that goes with the parameters.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let cols = Model::<T>::inputs(&self.model);
        write(&self.config, (cols, self.data, &self.classes), &self.params, None, None)
    }

    /// With other parameters.
    ///
    /// # Errors
    /// `Length`.
    pub fn with_params(self, params: Vec<T>) -> crate::Result<Self> {
        crate::error::exact_len("params", self.params.len(), params.len())?;
        Ok(Self { params, ..self })
    }

    /// One network whose scores are the mean of those of several alike, but for rounding ([`Mlp::average`]). All else is of the
    /// first of them.
    ///
    /// # Errors
    /// `Empty` for none, `Unsupported` for linear models, `Param` for other shapes or classes; `Overflow`.
    ///
    /// [`Mlp::average`]: crate::model::Mlp::average
    pub fn average(networks: &[Self]) -> crate::Result<Self> {
        use crate::error::Error;
        let Some(first) = networks.first() else { return Err(Error::Empty { what: "networks" }) };
        let (AnyModel::Mlp(one), super::ModelSpec::Mlp { hidden, tanh }) = (&first.model, &first.config.model) else {
            return Err(Error::Unsupported { what: "an average of linear models" });
        };
        if networks.iter().any(|other| other.model != first.model || other.classes != first.classes) {
            return Err(Error::Param { what: "networks" });
        }
        let wide = one.side_by_side(networks.len())?;
        let mut params = vec![T::ZERO; Model::<T>::param_len(&wide)];
        one.average(&networks.iter().map(|own| &own.params[..]).collect::<Vec<_>>(), &mut params)?;
        let hidden = hidden.iter().map(|width| width * networks.len()).collect();
        let config = Config { model: super::ModelSpec::Mlp { hidden, tanh: *tanh }, ..first.config.clone() };
        Ok(Self { config, model: AnyModel::Mlp(wide), params, ..first.clone() })
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
    /// Scores from here up predict the positive class, where it comes from a model file of two classes.
    #[must_use]
    pub fn threshold(&self) -> Option<f64> {
        self.file.threshold()
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

    /// The probability that a score stands for: of the positive class, or of the one whose log-odds it is. By the calibration of
    /// the model file, if it has one; else of methods that fit one (cross-entropy, and finite sums of the logistic loss), by what
    /// their model file says; `None` of others, whose scores rank only.
    #[must_use]
    pub fn probability(&self, score: T) -> Option<T> {
        let sure = match self.file.calibration() {
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
        self.probable || self.file.calibration().is_some()
    }

    /// Whether the method itself fits them.
    #[must_use]
    pub fn fits_probabilities(&self) -> bool {
        self.probable
    }

    /// What turns scores into probabilities, where that was fitted to rows afterwards.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibration> {
        self.file.calibration()
    }

    /// Of two classes whether the score reaches the threshold, as 1 or 0; of several the number of the highest score (of
    /// equal ones the first). `None` without a threshold, and of numbers.
    #[must_use]
    pub fn class(&self, scores: &[T]) -> Option<usize> {
        if self.classes.len() > 1 {
            let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
            return (scores.len() == self.classes.len()).then(|| (1..scores.len()).fold(0, better));
        }
        Some(usize::from(scores.first()?.f64() >= self.file.threshold()?))
    }
}
