//! Runs and models of several classes as bytes.

use super::classes::ClassTrainer;
use super::config::{Config, TrainerError};
use super::passes::Passes;
use super::saved::{counted, enough, fingerprint, params, reals, write_reals};
use crate::algorithm::COUNTERS;
use crate::checkpoint::{CheckpointError, Coded, Kind, Reader, open, seal};
use crate::data::{ClassDataset, Rows};
use crate::metric::log_odds;
use crate::model::{AnyModel, Model};
use crate::real::Real;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the saved bytes begin with: what the run depends on, and where the model was.
struct Head<'a> {
    config: Config,
    classes: Vec<String>,
    inputs: usize,
    real_bytes: usize,
    data: u64,
    /// The model's parameters come first.
    points: &'a [u8],
}

impl<'a> Head<'a> {
    fn read(from: &mut Reader<'a>) -> Option<Self> {
        Some(Self {
            config: from.value()?,
            classes: from.value()?,
            inputs: from.value()?,
            real_bytes: from.byte()?.into(),
            data: from.value()?,
            points: from.bytes()?,
        })
    }
}

/// What follows: everything else that changes.
struct Rest<'a> {
    steps: u64,
    drawn: u64,
    slots: &'a [u8],
    counters: [u64; COUNTERS],
    state: &'a [u8],
    cursor: Vec<u64>,
}

impl<'a> Rest<'a> {
    fn read(from: &mut Reader<'a>) -> Option<Self> {
        Some(Self {
            steps: from.value()?,
            drawn: from.value()?,
            slots: from.bytes()?,
            counters: from.value()?,
            state: from.bytes()?,
            cursor: from.value()?,
        })
    }
}

fn number_of<T: Real>(data: &ClassDataset<T>) -> u64 {
    fingerprint(data.features().rows(), data.labels().iter().map(|&label| u64::from(label)))
}

fn begin(bytes: &[u8]) -> Result<(Head<'_>, Reader<'_>), CheckpointError> {
    let mut from = Reader(open(Kind::ClassTrainer, bytes)?);
    let head = Head::read(&mut from).ok_or(CheckpointError::Damaged)?;
    Ok((head, from))
}

impl<T: Real> ClassTrainer<T> {
    /// The whole state: configuration, classes, parameters, duals, optimiser and sampler.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.config().write(&mut out);
        self.train_data().classes().to_vec().write(&mut out);
        Model::<T>::inputs(&self.model).write(&mut out);
        out.push(T::BYTES as u8);
        number_of(self.train_data()).write(&mut out);
        write_reals(&self.points, &mut out);
        self.steps.write(&mut out);
        self.drawn.write(&mut out);
        write_reals(&self.slots, &mut out);
        self.counters.write(&mut out);
        write_reals(&self.state, &mut out);
        self.cursor.write(&mut out);
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
        let (head, mut from) = begin(bytes)?;
        if head.real_bytes != T::BYTES {
            return Err(CheckpointError::Mismatch("precision").into());
        }
        if head.data != number_of(&train) || head.classes != train.classes() {
            return Err(CheckpointError::Mismatch("training data set").into());
        }
        let rest = Rest::read(&mut from).ok_or(CheckpointError::Damaged)?;
        let model = head.config.model.build_with(train.features().cols(), head.classes.len())?;
        enough::<T>(&model, head.points)?;
        let mut run = Self::new(&head.config, train, test)?;
        reals(head.points, &mut run.points)?;
        reals(rest.slots, &mut run.slots)?;
        reals(rest.state, &mut run.state)?;
        if rest.cursor.len() != run.cursor.len() {
            return Err(CheckpointError::Damaged.into());
        }
        (run.counters, run.steps, run.drawn, run.cursor) = (rest.counters, rest.steps, rest.drawn, rest.cursor);
        if !counted(&run.current().1, &run.counters, run.steps, run.drawn) {
            return Err(CheckpointError::Damaged.into());
        }
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
        let (head, _) = begin(bytes)?;
        let model = head.config.model.build_with(head.inputs, head.classes.len())?;
        let params = params(head.points, head.real_bytes, Model::<T>::param_len(&model))?;
        Ok(Self { config: head.config, classes: head.classes, model, params, passes: Passes::default() })
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
