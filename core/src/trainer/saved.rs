//! Runs and models as bytes.

use super::Trainer;
use super::config::{Config, TrainerError};
use super::passes::SharedPasses;
use super::run::Run;
use crate::checkpoint::{CheckpointError, Coded, Kind, Reader, open, reals, seal, section, sections, write_reals};
use crate::data::{Dataset, Rows, Targets};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The sections of a saved run.
mod tag {
    /// The configuration.
    pub const CONFIG: u8 = b'c';
    /// Columns, bytes of a number, a number that tells data sets apart, names of the classes.
    pub const ORIGIN: u8 = b'o';
    /// The model's parameters.
    pub const PARAMETERS: u8 = b'p';
    /// Everything of the run that changes.
    pub const RUN: u8 = b'r';
}

/// What is saved of every run beside what changes.
struct Saved<'a> {
    config: Config,
    inputs: usize,
    real_bytes: usize,
    data: u64,
    classes: Vec<String>,
    /// The model's parameters.
    params: &'a [u8],
    run: &'a [u8],
}

impl<'a> Saved<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        let payload = open(Kind::Trainer, bytes)?;
        let find = |tag| section(payload, tag).ok_or(CheckpointError::Damaged);
        let mut origin = Reader(find(tag::ORIGIN)?);
        let mut read = || Some((origin.value()?, origin.byte()?.into(), origin.value()?, origin.value()?));
        let (inputs, real_bytes, data, classes) = read().ok_or(CheckpointError::Damaged)?;
        let config = Reader(find(tag::CONFIG)?).value().ok_or(CheckpointError::Damaged)?;
        let params = Reader(find(tag::PARAMETERS)?).bytes().ok_or(CheckpointError::Damaged)?;
        let run = find(tag::RUN)?;
        Ok(Self { config, inputs, real_bytes, data, classes, params, run })
    }

    /// Whether a run of this number type on this data can go on from it.
    fn fits<T: Real>(&self, data: &Dataset<T>) -> Result<(), CheckpointError> {
        if self.real_bytes != T::BYTES {
            return Err(CheckpointError::Mismatch("precision"));
        }
        if self.data != number_of(data) || self.classes != data.classes() {
            return Err(CheckpointError::Mismatch("training data set"));
        }
        Ok(())
    }

    fn model(&self) -> Result<AnyModel, TrainerError> {
        Ok(self.config.model.build_with(self.inputs, self.classes.len().max(1))?)
    }
}

/// FNV-1a over words.
struct Fingerprint(u64);

impl Fingerprint {
    // (Once, and not at each of its places.)
    #[inline(never)]
    fn eat(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

/// A number that tells data sets apart: of shape, targets and stored values.
fn number_of<T: Real>(data: &Dataset<T>) -> u64 {
    let mut hash = Fingerprint(0xcbf2_9ce4_8422_2325);
    let reals = |hash: &mut Fingerprint, values: &[T]| {
        for x in values {
            hash.eat(u64::from_le_bytes(x.to_le()));
        }
    };
    let rows = data.rows();
    hash.eat(rows.len() as u64);
    hash.eat(rows.cols() as u64);
    match data.targets() {
        Targets::Binary(labels) => labels.iter().for_each(|&y| hash.eat(u64::from(y))),
        Targets::Classes { labels, .. } => labels.iter().for_each(|&y| hash.eat(u64::from(y))),
        Targets::Values(values) => reals(&mut hash, values),
        Targets::None => {}
    }
    match rows {
        Rows::Dense { data, .. } => reals(&mut hash, data),
        Rows::Csr { ptr, col, val, .. } => {
            ptr.iter().for_each(|&p| hash.eat(p as u64));
            col.iter().for_each(|&c| hash.eat(u64::from(c)));
            reals(&mut hash, val);
        }
    }
    hash.0
}

/// The first `count` of saved numbers of `width` bytes, as `T`.
fn params<T: Real>(saved: &[u8], width: usize, count: usize) -> Result<Vec<T>, CheckpointError> {
    let bytes = count.checked_mul(width).and_then(|length| saved.get(..length)).ok_or(CheckpointError::Damaged)?;
    if width != 4 && width != 8 {
        return Err(CheckpointError::Damaged);
    }
    let mut params = alloc::vec![T::ZERO; count];
    if width == T::BYTES {
        reals(bytes, &mut params)?;
    } else if width == 4 {
        let mut other = alloc::vec![0.0f32; count];
        reals(bytes, &mut other)?;
        params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x.f64()));
    } else {
        let mut other = alloc::vec![0.0f64; count];
        reals(bytes, &mut other)?;
        params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x));
    }
    Ok(params)
}

impl Config {
    /// The configuration of a saved run.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn of_saved(bytes: &[u8]) -> Result<Self, TrainerError> {
        Ok(Saved::read(bytes)?.config)
    }

    /// What the classes of a saved run are called; empty unless there are several.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn classes_of_saved(bytes: &[u8]) -> Result<Vec<String>, TrainerError> {
        Ok(Saved::read(bytes)?.classes)
    }
}

impl<T: Real, R: Run<T>> Trainer<T, R> {
    /// The whole state: configuration, parameters, optimiser, u, sampler and generator (both are a function of the
    /// seed and the cursor). (A finite sum writes out its lazy vectors for it.)
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut origin = Vec::new();
        self.train.cols().write(&mut origin);
        origin.push(T::BYTES as u8);
        number_of(&self.train).write(&mut origin);
        self.train.classes().to_vec().write(&mut origin);
        let (mut config, mut params, mut run) = (Vec::new(), Vec::new(), Vec::new());
        self.config.write(&mut config);
        write_reals(&self.run.copy_params(&self.train), &mut params);
        self.run.write(&mut run);
        let parts: [(u8, &[u8]); 4] =
            [(tag::CONFIG, &config), (tag::ORIGIN, &origin), (tag::PARAMETERS, &params), (tag::RUN, &run)];
        seal(Kind::Trainer, &sections(&parts))
    }

    /// Continues a saved run with a run of the same make at its start, on the same training data.
    ///
    /// # Errors
    /// As [`load`](Trainer::load).
    pub fn resume_run(
        bytes: &[u8],
        mut run: R,
        train: Arc<Dataset<T>>,
        test: Option<Arc<Dataset<T>>>,
    ) -> Result<Self, TrainerError> {
        let saved = Saved::read(bytes)?;
        saved.fits(&train)?;
        run.read(&train, saved.run)?;
        Self::with_run(&saved.config, run, train, test)
    }
}

impl<T: Real> Trainer<T> {
    /// Continues a saved run on the same training data.
    ///
    /// # Errors
    /// `Checkpoint` for bytes that are damaged, of another version, or saved with other data or another number
    /// type; `NotBuilt` for a method that this build does not have.
    pub fn load(bytes: &[u8], train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
        let saved = Saved::read(bytes)?;
        saved.fits(&train)?;
        // Before memory for the model is asked for.
        if Model::<T>::param_len(&saved.model()?) != saved.params.len() / T::BYTES {
            return Err(CheckpointError::Mismatch("model").into());
        }
        let mut trainer = Self::new(&saved.config, train, test)?;
        trainer.run.read(&trainer.train, saved.run)?;
        Ok(trainer)
    }
}

/// A trained model alone, to score with.
#[derive(Clone, Debug)]
pub struct Predictor<T: Real> {
    config: Config,
    classes: Vec<String>,
    model: AnyModel,
    params: Vec<T>,
    passes: SharedPasses<T>,
}

impl<T: Real> Predictor<T> {
    /// The model of a saved run. Values saved in the other precision are converted.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn load(bytes: &[u8]) -> Result<Self, TrainerError> {
        let saved = Saved::read(bytes)?;
        let model = saved.model()?;
        let count = Model::<T>::param_len(&model);
        // (A model of one's own is none of these, whatever the configuration beside it says.)
        if saved.params.len() != count.saturating_mul(saved.real_bytes) {
            return Err(CheckpointError::Mismatch("model").into());
        }
        let params = params(saved.params, saved.real_bytes, count)?;
        Ok(Self { config: saved.config, classes: saved.classes, model, params, passes: SharedPasses::default() })
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

    /// Scores of any rows with the model's columns: raw ones, or of several classes the log-odds of each, rows × classes,
    /// row-major.
    ///
    /// # Errors
    /// `Length`; of several classes `NonFinite`, `Overflow`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> crate::Result<()> {
        crate::error::exact_len("scores", rows.len() * Model::<T>::heads(&self.model), scores.len())?;
        self.passes.forward_all(&self.model, &self.params, rows, scores)?;
        #[cfg(feature = "multiclass")]
        if self.classes.len() > 1 {
            return crate::metric::log_odds(scores, self.classes.len());
        }
        Ok(())
    }
}
