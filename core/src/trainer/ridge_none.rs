//! In place of `ridge.rs` in builds without `exact-methods`: decays are given, not chosen.

use super::{BatchRun, Config, TrainerError};
use crate::data::Dataset;
use crate::model::AnyModel;
use crate::real::Real;
use crate::registry::{Method, Settings};

/// There is none.
#[derive(Clone, Debug)]
pub(super) enum Path {}

impl Path {
    pub(super) fn decay(&self) -> &str {
        match *self {}
    }
    pub(super) fn positive(&self) -> f64 {
        match *self {}
    }
}

pub(super) const CHOOSING: [&str; 0] = [];

#[inline(always)]
pub(super) fn path<T: Real>(
    _: &Method,
    _: &Settings<'_>,
    _: &Config,
    _: &AnyModel,
    _: &Dataset<T>,
    _: &[f64],
) -> Result<Option<Path>, TrainerError> {
    Ok(None)
}

impl<T: Real> BatchRun<T> {
    #[inline(always)]
    pub(super) fn with_curvature(self, _: &Dataset<T>, _: &[f64]) -> Self {
        self
    }
}
