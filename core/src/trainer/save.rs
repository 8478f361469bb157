//! Saving a run, and going on with it.

use super::given::Beside;
use super::run::Run;
use super::saved::{Saved, write};
use super::{Begin, Trainer, TrainerError};
use crate::checkpoint::CheckpointError;
use crate::data::Dataset;
use crate::model::Model;
use crate::real::Real;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;

impl<T: Real, R: Run<T>> Trainer<T, R> {
    /// The whole state: configuration, parameters, optimiser, u, sampler and generator (both are a function of the
    /// seed and the cursor). (A finite sum writes out its lazy vectors for it.)
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut run = Vec::new();
        self.run.write(&mut run);
        let params = self.run.copy_params(&self.train);
        let origin = (self.train.cols(), self.train.fingerprint(), self.train.classes());
        write(&self.config, origin, &params, Some(&run), self.beside.write().as_deref())
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
        run.read(&train, saved.run()?)?;
        let beside = Beside::read(saved.beside, &train)?;
        Ok(Self { beside, ..Self::with_run(&saved.config, run, train, test)? })
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
        let beside = Beside::read(saved.beside, &train)?;
        Self::loaded(&saved, train, test, beside)
    }

    #[inline]
    pub(super) fn loaded(
        saved: &Saved<'_>,
        train: Arc<Dataset<T>>,
        test: Option<Arc<Dataset<T>>>,
        beside: Beside<T>,
    ) -> Result<Self, TrainerError> {
        saved.fits(&train)?;
        // Before memory for the model is asked for.
        if Model::<T>::param_len(&saved.model()?) != saved.params.len() / T::BYTES {
            return Err(CheckpointError::Mismatch("model").into());
        }
        let mut trainer = Self::made(&saved.config, train, test, beside, Begin::Saved(PhantomData))?;
        trainer.run.read(trainer.beside.rows(&trainer.train), saved.run()?)?;
        Ok(trainer)
    }
}
