//! Runs and models as bytes.

use super::config::{Config, TrainerError};
use super::passes::Passes;
use super::{Kind as Running, Trainer, scored};
use crate::checkpoint::{CheckpointError, Coded, Kind, Reader, open, seal};
use crate::data::{Dataset, Rows};
#[cfg(feature = "every-method")]
use crate::finite_sum::Run;
use crate::model::{AnyModel, Model};
use crate::real::Real;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is saved of every run behind its configuration: columns, number type and data, and where the model was.
pub(super) struct Origin<'a> {
    pub inputs: usize,
    real_bytes: usize,
    data: u64,
    /// The model's parameters come first, at the iterate.
    pub points: &'a [u8],
}

impl<'a> Origin<'a> {
    /// Writes all but the points.
    pub fn write<T: Real>(model: &AnyModel, data: u64, out: &mut Vec<u8>) {
        Model::<T>::inputs(model).write(out);
        out.push(T::BYTES as u8);
        data.write(out);
    }

    pub fn read(from: &mut Reader<'a>) -> Option<Self> {
        Some(Self {
            inputs: from.value()?,
            real_bytes: from.byte()?.into(),
            data: from.value()?,
            points: from.bytes()?,
        })
    }

    /// Whether a run of this number type on data of this number can go on from it with a model.
    pub fn fits<T: Real>(&self, data: u64, model: &AnyModel) -> Result<(), CheckpointError> {
        if self.real_bytes != T::BYTES {
            return Err(CheckpointError::Mismatch("precision"));
        }
        if self.data != data {
            return Err(CheckpointError::Mismatch("training data set"));
        }
        // Before memory for the model is asked for.
        let enough = Model::<T>::param_len(model) <= self.points.len() / T::BYTES;
        if enough { Ok(()) } else { Err(CheckpointError::Mismatch("model")) }
    }

    /// The model's parameters, converted where they were saved in the other precision.
    pub fn params<T: Real>(&self, model: &AnyModel) -> Result<Vec<T>, CheckpointError> {
        params(self.points, self.real_bytes, Model::<T>::param_len(model))
    }
}

/// What follows is of a run with an estimator.
const SCORED: u8 = 0;
/// What follows is of a finite sum.
#[cfg(feature = "every-method")]
const SUMMED: u8 = 1;

pub(super) fn write_reals<T: Real>(values: &[T], out: &mut Vec<u8>) {
    (values.len() * T::BYTES).write(out);
    for x in values {
        out.extend_from_slice(&x.to_le()[..T::BYTES]);
    }
}

fn number<T: Real>(bytes: &[u8]) -> T {
    let mut little = [0; 8];
    little[..T::BYTES].copy_from_slice(bytes);
    T::from_le(little)
}

pub(super) fn reals<T: Real>(bytes: &[u8], out: &mut [T]) -> Result<(), CheckpointError> {
    if bytes.len() != out.len() * T::BYTES {
        return Err(CheckpointError::Mismatch("model"));
    }
    for (x, part) in out.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
        *x = number(part);
        if !x.is_finite() {
            return Err(CheckpointError::Damaged);
        }
    }
    Ok(())
}

/// A number that tells data sets apart (FNV-1a over labels, shape and stored values).
pub(super) fn fingerprint<T: Real>(rows: Rows<'_, T>, labels: impl Iterator<Item = u64>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut eat = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    eat(rows.len() as u64);
    eat(rows.cols() as u64);
    labels.for_each(&mut eat);
    match rows {
        Rows::Dense { data, .. } => data.iter().for_each(|x| eat(u64::from_le_bytes(x.to_le()))),
        Rows::Csr { ptr, col, val, .. } => {
            ptr.iter().for_each(|&p| eat(p as u64));
            col.iter().for_each(|&c| eat(u64::from(c)));
            val.iter().for_each(|x| eat(u64::from_le_bytes(x.to_le())));
        }
    }
    hash
}

fn number_of<T: Real>(data: &Dataset<T>) -> u64 {
    fingerprint(data.rows(), data.labels().iter().map(|&y| u64::from(y)))
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

fn begin(bytes: &[u8]) -> Result<(Config, Origin<'_>, Reader<'_>), CheckpointError> {
    let mut from = Reader(open(Kind::Trainer, bytes)?);
    let mut read = || Some((from.value()?, Origin::read(&mut from)?));
    let (config, origin) = read().ok_or(CheckpointError::Damaged)?;
    Ok((config, origin, from))
}

impl Config {
    /// The configuration of a saved run.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn of_saved(bytes: &[u8]) -> Result<Self, TrainerError> {
        Ok(begin(bytes)?.0)
    }
}

impl<T: Real> Trainer<T> {
    /// The whole state: configuration, parameters, optimiser, u, sampler and generator (both are a function of the
    /// seed and the cursor).
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.common.config.write(&mut out);
        Origin::write::<T>(&self.common.model, number_of(&self.common.train), &mut out);
        match &self.kind {
            Running::Scored(run) => {
                run.learner.write_points(&mut out);
                out.push(SCORED);
                run.learner.write(&mut out);
                run.cursor.write(&mut out);
                run.learner.write_reset(&mut out);
            }
            #[cfg(feature = "every-method")]
            Running::Summed(run) => {
                // The memory fits the run it was made for.
                write_reals(&run.iterate(&self.common).unwrap_or_default(), &mut out);
                out.push(SUMMED);
                run.run.words().to_vec().write(&mut out);
                write_reals(&run.real, &mut out);
                run.u32.write(&mut out);
                if run.stationary {
                    out.push(1);
                }
            }
        }
        seal(Kind::Trainer, &out)
    }

    /// Continues a saved run on the same training data.
    ///
    /// # Errors
    /// `Checkpoint` for bytes that are damaged, of another version, or saved with other data or another number
    /// type; `NotBuilt` for a method that this build does not have.
    pub fn load(bytes: &[u8], train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
        let (config, origin, mut from) = begin(bytes)?;
        origin.fits::<T>(number_of(&train), &config.model.build(train.cols())?)?;
        let mut trainer = Self::new(&config, train, test)?;
        trainer.restore(origin.points, &mut from)?;
        Ok(trainer)
    }

    /// Takes over what changes.
    fn restore(&mut self, points: &[u8], from: &mut Reader<'_>) -> Result<(), TrainerError> {
        match (&mut self.kind, from.byte()) {
            (Running::Scored(run), Some(SCORED)) => {
                run.learner.read(points, from)?;
                run.cursor = from.value().ok_or(CheckpointError::Damaged)?;
                run.learner.read_reset(scored::RESET, from)?;
                run.resume().map_err(|_| CheckpointError::Damaged)?;
            }
            #[cfg(feature = "every-method")]
            (Running::Summed(run), Some(SUMMED)) => {
                let mut read = || Some((from.value::<Vec<u64>>()?.try_into().ok()?, from.bytes()?, from.value()?));
                let (words, real, u32) = read().ok_or(CheckpointError::Damaged)?;
                let mut restored = alloc::vec![T::ZERO; run.real.len()];
                reals(real, &mut restored)?;
                if !run.restore(&self.common, Run::from_words(words), restored, u32) {
                    return Err(CheckpointError::Damaged.into());
                }
                run.stationary = from.byte() == Some(1);
            }
            _ => return Err(CheckpointError::Damaged.into()),
        }
        Ok(())
    }
}

/// A trained model alone, to score with.
#[derive(Clone, Debug)]
pub struct Predictor<T: Real> {
    config: Config,
    model: AnyModel,
    params: Vec<T>,
    passes: Passes<T>,
}

impl<T: Real> Predictor<T> {
    /// The model of a saved run. Values saved in the other precision are converted.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn load(bytes: &[u8]) -> Result<Self, TrainerError> {
        let (config, origin, _) = begin(bytes)?;
        let model = config.model.build(origin.inputs)?;
        let params = origin.params(&model)?;
        Ok(Self { config, model, params, passes: Passes::default() })
    }

    /// The configuration it was trained with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
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

    /// Raw scores of any rows with the model's columns.
    ///
    /// # Errors
    /// `Length`.
    pub fn score(&mut self, rows: Rows<'_, T>, scores: &mut [T]) -> crate::Result<()> {
        crate::error::exact_len("scores", rows.len(), scores.len())?;
        self.passes.forward(&self.model, &self.params, rows, None, scores)
    }
}
