//! Runs and models of several classes as bytes.

use super::classes::ClassTrainer;
use super::config::{Config, TrainerError};
use super::passes::Passes;
use super::saved::{Origin, fingerprint};
use crate::checkpoint::{CheckpointError, Coded, Kind, Reader, open, seal};
use crate::data::{ClassDataset, Rows};
use crate::metric::log_odds;
use crate::model::AnyModel;
use crate::real::Real;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

fn number_of<T: Real>(data: &ClassDataset<T>) -> u64 {
    fingerprint(data.features().rows(), data.labels().iter().map(|&label| u64::from(label)))
}

/// What the saved bytes begin with: configuration, classes, and where the model was.
type Head<'a> = (Config, Vec<String>, Origin<'a>);

fn begin(bytes: &[u8]) -> Result<(Head<'_>, Reader<'_>), CheckpointError> {
    let mut from = Reader(open(Kind::ClassTrainer, bytes)?);
    let mut read = || Some((from.value()?, from.value()?, Origin::read(&mut from)?));
    let head = read().ok_or(CheckpointError::Damaged)?;
    Ok((head, from))
}

impl<T: Real> ClassTrainer<T> {
    /// The whole state: configuration, classes, parameters, duals, optimiser and sampler.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.config().write(&mut out);
        self.train_data().classes().to_vec().write(&mut out);
        Origin::write::<T>(&self.model, number_of(self.train_data()), &mut out);
        self.learner.write_points(&mut out);
        self.learner.write(&mut out);
        self.cursor.write(&mut out);
        self.learner.write_reset(&mut out);
        seal(Kind::ClassTrainer, &out)
    }

    /// Continues a saved run on the same training data.
    ///
    /// # Errors
    /// `Checkpoint` for bytes that are damaged, of another version, or saved with other data, classes or another number
    /// type.
    pub fn load(
        bytes: &[u8],
        train: Arc<ClassDataset<T>>,
        test: Option<Arc<ClassDataset<T>>>,
    ) -> Result<Self, TrainerError> {
        let ((config, classes, origin), mut from) = begin(bytes)?;
        if classes != train.classes() {
            return Err(CheckpointError::Mismatch("training data set").into());
        }
        let model = config.model.build_with(train.features().cols(), classes.len())?;
        origin.fits::<T>(number_of(&train), &model)?;
        let mut run = Self::new(&config, train, test)?;
        run.learner.read(origin.points, &mut from)?;
        let cursor: Vec<u64> = from.value().ok_or(CheckpointError::Damaged)?;
        if cursor.len() != run.cursor.len() {
            return Err(CheckpointError::Damaged.into());
        }
        run.cursor = cursor;
        run.learner.read_reset(run.reset_size(), &mut from)?;
        run.resume().map_err(|_| CheckpointError::Damaged)?;
        Ok(run)
    }
}

/// A trained model of several classes alone, to score with.
#[derive(Clone, Debug)]
pub struct ClassPredictor<T: Real> {
    config: Config,
    classes: Vec<String>,
    model: AnyModel,
    params: Vec<T>,
    passes: Passes<T>,
}

impl<T: Real> ClassPredictor<T> {
    /// The model of a saved run. Values saved in the other precision are converted.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn load(bytes: &[u8]) -> Result<Self, TrainerError> {
        let ((config, classes, origin), _) = begin(bytes)?;
        let model = config.model.build_with(origin.inputs, classes.len())?;
        let params = origin.params(&model)?;
        Ok(Self { config, classes, model, params, passes: Passes::default() })
    }

    /// The configuration it was trained with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
    /// What the classes are called.
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

    /// Log-odds of each class, rows × classes, row-major, of any rows with the model's columns.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> crate::Result<()> {
        crate::error::exact_len("scores", rows.len() * self.classes.len(), scores.len())?;
        self.passes.forward(&self.model, &self.params, rows, None, scores)?;
        log_odds(scores, self.classes.len())
    }
}
