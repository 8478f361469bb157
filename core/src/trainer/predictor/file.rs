//! The model of a model file, which scores rows of tables, too.

use super::super::best::best_params;
use super::super::saved::Saved;
use super::{Predictor, Scored, TrainerError, fits_probabilities};
use crate::checkpoint::{CheckpointError, SavedModel};
use crate::data::{Blocks, DataError, DataErrorKind, Missing, Preparation, RawTable, ReadOptions, Scale, Target};
use crate::decision::Calibration;
use crate::error::Error;
use crate::model::Model;
use crate::real::Real;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What a model file knows beside the model.
#[derive(Clone, Debug, Default)]
pub(super) struct FromFile {
    preparation: Option<Preparation>,
    threshold: Option<f64>,
    calibration: Option<Calibration>,
}

impl FromFile {
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }
}

const WITHOUT_PREPARATION: &str = "rows of a table by a model without its preparation";

pub(super) fn load<T: Real>(bytes: &[u8]) -> Result<Predictor<T>, TrainerError> {
    match SavedModel::of_file(bytes) {
        Ok(saved) => Predictor::of(&saved),
        Err(CheckpointError::NotOurs) => Predictor::of_run(bytes, None),
        Err(error) => Err(error.into()),
    }
}

impl SavedModel {
    /// What bytes hold: a model file, or a model alone ([`Predictor::save`], `uc_trainer_model` in C), whose columns are then x1, x2, …, as they are
    /// in the array it was trained on, and its classes 0 and 1, or numbers from 0.
    ///
    /// # Errors
    /// [`CheckpointError`]; never a panic, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let alone = match Self::of_file(bytes) {
            Err(CheckpointError::NotOurs) => Saved::read(bytes)?,
            found => return found,
        };
        if alone.run().is_ok() {
            return Err(CheckpointError::RunOnly);
        }
        // (Each column has a weight.)
        if alone.inputs > alone.params.len() {
            return Err(CheckpointError::Damaged);
        }
        let names: Vec<String> = (1..=alone.inputs).map(|k| format!("x{k}")).collect();
        let two = ["0", "1"].map(String::from);
        let classes = if alone.classes.is_empty() { &two } else { &alone.classes[..] };
        let preparation = Preparation::of_scaled(&names, names.len(), Scale::None, &[], Some("label".into()), classes);
        let preparation = preparation.map_err(|_| CheckpointError::Damaged)?;
        let probabilities = fits_probabilities(&alone.config);
        Ok(Self { probabilities, ..Self::new(preparation, alone.real_bytes as u8, bytes.to_vec()) })
    }
}

impl<T: Real> Predictor<T> {
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
        // (A run on arrays has numbers for classes; what they are called, the table says.)
        let names = saved.preparation.classes();
        let classes = if names.len() == model.classes.len() { names.to_vec() } else { model.classes.clone() };
        let calibration = saved.calibrated.as_ref().map(|calibrated| calibrated.calibration.clone());
        let file = FromFile { preparation: Some(saved.preparation.clone()), threshold: saved.threshold, calibration };
        Ok(Self { classes, file, ..model })
    }

    /// A model file of it, without a threshold and without what is known of its training.
    #[must_use]
    pub fn file(&self, preparation: Preparation) -> SavedModel {
        let probabilities = self.probable;
        SavedModel { probabilities, ..SavedModel::new(preparation, T::BYTES as u8, self.save()) }
    }

    /// What turns rows of tables into its columns, where it comes from a model file.
    #[must_use]
    pub fn preparation(&self) -> Option<&Preparation> {
        self.file.preparation.as_ref()
    }
    /// With missing values treated otherwise than in training: filled in, by the means of training.
    #[must_use]
    pub fn with_missing(mut self, missing: Missing) -> Self {
        self.file.preparation = self.file.preparation.map(|preparation| preparation.with_missing(missing));
        self
    }

    /// Scores of the rows of a table, as [`score`](Self::score). Its label column, if it has one, and columns that training
    /// did not use are not looked at.
    ///
    /// # Errors
    /// Those of [`Preparation::apply_unlabelled`]; `Core(Unsupported)` for a model without a preparation; `Core(NonFinite)`
    /// for a score that is no number.
    pub fn predict(&mut self, table: &RawTable) -> Result<Vec<T>, DataError> {
        let error = |kind: DataErrorKind| DataError { file: table.name().into(), line: 0, column: 0, kind };
        let Some(preparation) = &self.file.preparation else {
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
        let Some(preparation) = &self.file.preparation else {
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
        let sources = self.file.preparation.as_ref().map_or_else(Vec::new, Preparation::sources);
        let numbers: Vec<&str> =
            sources.into_iter().filter(|source| !source.1.is_category()).map(|source| source.0).collect();
        let na = self.file.preparation.as_ref().map_or(&[][..], Preparation::na);
        let known = self.file.preparation.as_ref().map_or_else(Vec::new, Preparation::known);
        let table = RawTable::of_row(row, &numbers, na, &known)?;
        self.predict(&table)
    }
}
