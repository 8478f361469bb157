//! What the algorithms read of settings, and the checks of their parameters.

use crate::error::{Error, Result};
use crate::example_loss::{GLM_LOSSES, GlmLoss};
use crate::registry::settings::Settings;

/// A finite parameter > 0, or the error that names it.
pub(super) fn positive(what: &'static str, x: f64) -> Result<f64> {
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err(Error::Param { what }) }
}

/// A parameter in [0, 1), or the error that names it.
pub(super) fn fraction(what: &'static str, x: f64) -> Result<f64> {
    if (0.0..1.0).contains(&x) { Ok(x) } else { Err(Error::Param { what }) }
}

/// Loss and λ of settings, for `n` examples.
///
/// # Errors
/// `Param` when they are not those of a finite sum.
pub fn loss_of(settings: &Settings<'_>, n: usize) -> Result<(GlmLoss, f64)> {
    let name = settings.word("loss")?;
    let loss = GLM_LOSSES.iter().find(|entry| entry.0 == name).ok_or(Error::Param { what: "loss" })?;
    Ok((loss.1, settings.number_or("lambda", 1.0 / n as f64)?))
}

/// Examples a minibatch, of settings.
pub(super) fn batch(settings: &Settings<'_>, n: usize) -> Result<usize> {
    Ok((settings.count("batch")? as usize).min(n))
}

/// A step size of settings, by default so many times 1/L; where every example is flat and nothing is set, so much.
pub(super) fn step_size(settings: &Settings<'_>, name: &'static str, share: f64, smooth: f64) -> Result<f64> {
    settings.number_or(name, if smooth > 0.0 { share / smooth } else { share })
}

/// Steps of an inner loop, of settings.
pub(super) fn inner(settings: &Settings<'_>, n: usize, batch: usize) -> Result<u64> {
    Ok(settings.number_or("inner", n.div_ceil(batch) as f64)? as u64)
}
