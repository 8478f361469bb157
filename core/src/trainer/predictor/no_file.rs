//! In place of `file.rs` in builds without tables: the model alone.

use super::{Predictor, TrainerError};
use crate::decision::Calibration;
use crate::real::Real;

/// Nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct FromFile;

impl FromFile {
    pub fn threshold(&self) -> Option<f64> {
        None
    }

    pub fn calibration(&self) -> Option<&Calibration> {
        None
    }
}

pub(super) fn load<T: Real>(bytes: &[u8]) -> Result<Predictor<T>, TrainerError> {
    Predictor::of_run(bytes, None)
}
