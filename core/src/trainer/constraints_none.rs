//! In place of `constraints.rs` in builds without `group-methods`, which have no methods that train under constraints.

use super::best::Excess;
use super::config::{Config, TrainerError};
use super::given::Beside;
use super::run::Run;
use super::{AnyRun, Trainer};
use crate::constraint::Constraints;
use crate::data::Dataset;
use crate::error::Result;
use crate::real::Real;
use crate::registry::Method;

#[inline(always)]
pub(super) fn asked<T: Real>(
    config: &Config,
    method: &Method,
    _: &Dataset<T>,
    _: &Beside<T>,
) -> Result<Option<Constraints>, TrainerError> {
    if config.constraints.is_empty() { Ok(None) } else { Err(TrainerError::NotBuilt { method: method.name }) }
}

#[inline(always)]
pub(super) fn check_used<T: Real>(_: &Config, _: &AnyRun<T>) -> Result<(), TrainerError> {
    Ok(())
}

impl<T: Real, R: Run<T>> Trainer<T, R> {
    #[inline(always)]
    pub(super) fn excess(&mut self, _: &[T], _: &Dataset<T>) -> Result<Excess> {
        Ok(Excess::default())
    }

    #[inline(always)]
    pub(super) fn minimises_risk(&self) -> bool {
        false
    }

    #[inline(always)]
    pub(super) fn risk(&self, _: &[T], _: &Dataset<T>) -> Result<Option<f64>> {
        Ok(None)
    }
}
