//! In place of `given.rs` in small builds: training rows alone.

use super::{Config, Predictor, TrainerError};
use crate::checkpoint::CheckpointError;
use crate::data::Dataset;
use crate::real::Real;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// Nothing, so that nothing of it is left in the build.
#[derive(Clone, Debug)]
pub(super) struct Beside<T>(PhantomData<T>);

impl<T: Real> Beside<T> {
    pub const NONE: Self = Self(PhantomData);

    #[inline(always)]
    pub fn rows<'a>(&'a self, train: &'a Arc<Dataset<T>>) -> &'a Arc<Dataset<T>> {
        train
    }

    #[inline(always)]
    pub fn start(&self) -> Option<&Predictor<T>> {
        None
    }

    #[inline(always)]
    pub fn files(&self) -> &[(String, Arc<Dataset<T>>)] {
        &[]
    }

    #[inline(always)]
    pub fn begins(&self, _: &Config, _: &Dataset<T>) -> Result<bool, TrainerError> {
        Ok(false)
    }

    #[inline(always)]
    pub fn write(&self) -> Option<Vec<u8>> {
        None
    }

    #[inline(always)]
    pub fn read(saved: Option<&[u8]>, _: &Dataset<T>) -> Result<Self, TrainerError> {
        match saved {
            None => Ok(Self::NONE),
            Some(_) => Err(CheckpointError::Mismatch("build").into()),
        }
    }
}
