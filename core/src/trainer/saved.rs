//! Runs and models as bytes.

use super::config::{Config, TrainerError};
use super::passes::Passes;
use super::{Kind as Running, Trainer};
use crate::algorithm::COUNTERS;
use crate::checkpoint::{CheckpointError, Kind, open, seal};
use crate::data::{Dataset, Rows};
use crate::finite_sum::Run;
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::sampler::Cursor;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Everything of a run that changes, and what it depends on.
#[derive(Serialize, Deserialize)]
struct Saved {
    config: Config,
    inputs: u64,
    real_bytes: u8,
    data: u64,
    /// The model's parameters come first.
    points: Vec<u8>,
    run: SavedRun,
}

#[derive(Serialize, Deserialize)]
enum SavedRun {
    Scored { steps: u64, drawn: u64, slots: Vec<u8>, counters: [u64; COUNTERS], state: Vec<u8>, cursor: Cursor },
    Summed { words: Vec<u64>, real: Vec<u8>, u32: Vec<u32> },
}

fn bytes<T: Real>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le().into_iter().take(T::BYTES)).collect()
}

fn number<T: Real>(bytes: &[u8]) -> T {
    let mut little = [0; 8];
    little[..T::BYTES].copy_from_slice(bytes);
    T::from_le(little)
}

fn reals<T: Real>(bytes: &[u8], out: &mut [T]) -> Result<(), CheckpointError> {
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
fn fingerprint<T: Real>(data: &Dataset<T>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut eat = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    let rows = data.rows();
    eat(rows.len() as u64);
    eat(rows.cols() as u64);
    data.labels().iter().for_each(|&y| eat(u64::from(y)));
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

fn decode(bytes: &[u8]) -> Result<Saved, CheckpointError> {
    postcard::from_bytes(open(Kind::Trainer, bytes)?).map_err(|_| CheckpointError::Damaged)
}

impl<T: Real> Trainer<T> {
    /// The whole state: configuration, parameters, optimiser, u, sampler and generator (both are a function of the
    /// seed and the cursor).
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let (points, run) = match &self.kind {
            Running::Scored(run) => (
                bytes(&run.points),
                SavedRun::Scored {
                    steps: run.steps,
                    drawn: run.drawn,
                    slots: bytes(&run.slots),
                    counters: run.counters,
                    state: bytes(&run.state),
                    cursor: run.cursor,
                },
            ),
            Running::Summed(run) => (
                // The memory fits the run it was made for.
                bytes(&run.iterate(&self.common).unwrap_or_default()),
                SavedRun::Summed { words: run.run.words().to_vec(), real: bytes(&run.real), u32: run.u32.clone() },
            ),
        };
        let saved = Saved {
            config: self.common.config.clone(),
            inputs: Model::<T>::inputs(&self.common.model) as u64,
            real_bytes: T::BYTES as u8,
            data: fingerprint(&self.common.train),
            points,
            run,
        };
        // Writing to memory that grows cannot fail for these types.
        seal(Kind::Trainer, &postcard::to_allocvec(&saved).unwrap_or_default())
    }

    /// Continues a saved run on the same training data.
    ///
    /// # Errors
    /// `Checkpoint` for bytes that are damaged, of another version, or saved with other data or another number
    /// type.
    pub fn load(bytes: &[u8], train: Arc<Dataset<T>>, test: Option<Arc<Dataset<T>>>) -> Result<Self, TrainerError> {
        let saved = decode(bytes)?;
        if usize::from(saved.real_bytes) != T::BYTES {
            return Err(CheckpointError::Mismatch("precision").into());
        }
        if saved.data != fingerprint(&train) {
            return Err(CheckpointError::Mismatch("training data set").into());
        }
        let mut trainer = Self::new(&saved.config, train, test)?;
        match (&mut trainer.kind, saved.run) {
            (Running::Scored(run), SavedRun::Scored { steps, drawn, slots, counters, state, cursor }) => {
                reals(&saved.points, &mut run.points)?;
                reals(&slots, &mut run.slots)?;
                reals(&state, &mut run.state)?;
                (run.counters, run.steps, run.drawn, run.cursor) = (counters, steps, drawn, cursor);
                run.resume()?;
            }
            (Running::Summed(run), SavedRun::Summed { words, real, u32 }) => {
                let words = words.try_into().map_err(|_| CheckpointError::Damaged)?;
                let real = real.chunks_exact(T::BYTES).map(number).collect();
                if !run.restore(&trainer.common, Run::from_words(words), real, u32) {
                    return Err(CheckpointError::Damaged.into());
                }
            }
            _ => return Err(CheckpointError::Damaged.into()),
        }
        Ok(trainer)
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
        let saved = decode(bytes)?;
        let model = saved.config.model.build(usize::try_from(saved.inputs).unwrap_or(0))?;
        let count = Model::<T>::param_len(&model);
        let mut params = alloc::vec![T::ZERO; count];
        let width = usize::from(saved.real_bytes);
        let bytes = saved.points.get(..count * width).ok_or(CheckpointError::Damaged)?;
        match width {
            w if w == T::BYTES => reals(bytes, &mut params)?,
            4 => {
                let mut other = alloc::vec![0.0f32; count];
                reals(bytes, &mut other)?;
                params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x.f64()));
            }
            8 => {
                let mut other = alloc::vec![0.0f64; count];
                reals(bytes, &mut other)?;
                params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x));
            }
            _ => return Err(CheckpointError::Damaged.into()),
        }
        Ok(Self { config: saved.config, model, params, passes: Passes::default() })
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
