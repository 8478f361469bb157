//! Minimising finite sums of generalised linear models, and of networks: AI-SARAH and its family.
//!
//! An algorithm here is a resumable machine over memory that the caller owns: [`FiniteSum::need`] says how much,
//! [`FiniteSum::start`] fills it, every [`FiniteSum::step`] does one unit of work (one minibatch, or a piece of a walk over
//! all examples: on linear models well under a millisecond on an ordinary machine, whatever the data; on networks 8 to 256
//! examples) and says what it was, [`FiniteSum::params`] reads the iterate. Configuration, memory and [`Run`] together are
//! the whole state: saved and restored they continue with the same bits.
//!
//! On sparse rows a step touches the columns of its minibatch only. See [`recursive`] for how. On networks the same
//! algorithms run through [`OnNetwork`], over a [`NetworkSum`].
//!
//! Passes are counted in two ways, as integers of examples: [`Run::samples`] counts a full gradient as n and a minibatch
//! as b; [`Run::gradients`] counts every gradient of one example, so that a minibatch difference costs 2b.

// Without the feature the table lists these methods only.
#![cfg_attr(not(feature = "every-method"), allow(dead_code))]

pub(crate) mod adam;
pub(crate) mod ai_sarah;
mod any_model;
mod any_sum;
pub(crate) mod bounded_ai_sarah;
mod draw;
mod glm;
mod largest_eigenvalue;
pub(crate) mod momentum;
mod network;
mod on_network;
pub mod recursive;
mod run;
pub(crate) mod sarah;
pub(crate) mod svrg;
pub(crate) mod theoretical_ai_sarah;
mod windows;

pub use adam::AdamSum;
pub use ai_sarah::AiSarah;
pub use any_model::{AiSarahAnyModel, AnyModelAsk, AnyModelRun};
pub use any_sum::AnySum;
pub use bounded_ai_sarah::BoundedAiSarah;
pub use glm::{GLM_LOSSES, Glm, GlmLoss, Targets};
pub use largest_eigenvalue::{Eigenvalue, largest_eigenvalue, largest_eigenvalue_need};
pub use momentum::MomentumSum;
pub use network::NetworkSum;
pub use on_network::OnNetwork;
pub use recursive::Updates;
pub use run::{Event, Memory, Run, View};
pub use sarah::Sarah;
pub use svrg::Svrg;
pub use theoretical_ai_sarah::{Sampling, TheoreticalAiSarah};

use crate::error::{Error, Result, all_finite, exact_len};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// One algorithm of the family. Holds configuration only.
pub trait FiniteSum<T: Real> {
    /// Memory of a run on this sum.
    ///
    /// # Errors
    /// `Param` when the minibatch is larger than the sum.
    fn need(&self, glm: &Glm<'_, T>) -> Result<Need>;

    /// Starts at `w0`, `glm.dim()` long.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Param`, `Overflow` for a start or a step size that does not fit the number type.
    fn start(&self, glm: &Glm<'_, T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run>;

    /// One unit of work. `glm` and `memory` must be those of the run.
    ///
    /// # Errors
    /// `Length` for memory of another size, `Overflow` when the iterate or its direction would not fit the number type;
    /// the run has then not moved.
    fn step(&self, glm: &Glm<'_, T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event>;

    /// The examples of the last minibatch; empty before the first and, for some algorithms, right after a full gradient or
    /// a shuffle.
    fn minibatch<'m>(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32];

    /// The present iterate into `out`, `glm.dim()` long. O(dim).
    ///
    /// # Errors
    /// `Length`.
    fn params(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()>;
}

fn check_batch<T: Real>(glm: &Glm<'_, T>, batch: usize) -> Result<()> {
    if batch == 0 || batch > glm.len() { Err(Error::Param { what: "batch" }) } else { Ok(()) }
}

fn check_start<T: Real>(glm: &Glm<'_, T>, w0: &[T], need: Need, memory: &Memory<'_, T>) -> Result<()> {
    exact_len("w0", glm.dim(), w0.len())?;
    all_finite("w0", w0)?;
    memory.check(need)?;
    if glm::norm_sq(w0) < glm::limit::<T>() { Ok(()) } else { Err(Error::Overflow { what: "w0" }) }
}

/// A finite parameter > 0, or the error that names it.
fn positive(what: &'static str, x: f64) -> Result<f64> {
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err(Error::Param { what }) }
}

/// A parameter in [0, 1), or the error that names it.
fn fraction(what: &'static str, x: f64) -> Result<f64> {
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
fn batch(settings: &Settings<'_>, n: usize) -> Result<usize> {
    Ok((settings.count("batch")? as usize).min(n))
}

/// A step size of settings, by default so many times 1/L; where every example is flat and nothing is set, so much.
fn step_size(settings: &Settings<'_>, name: &'static str, share: f64, smooth: f64) -> Result<f64> {
    settings.number_or(name, if smooth > 0.0 { share / smooth } else { share })
}

/// Steps of an inner loop, of settings.
fn inner(settings: &Settings<'_>, n: usize, batch: usize) -> Result<u64> {
    Ok(settings.number_or("inner", n.div_ceil(batch) as f64)? as u64)
}
