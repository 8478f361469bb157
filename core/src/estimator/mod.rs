//! Score space: one file per published objective.
//!
//! An estimator takes the scores of a batch and returns an estimate of the objective and its derivative by each score.
//! It holds configuration only; moving averages and the like are in a state slice of the caller's, passed at each call.

mod auc_pairwise;
mod cross_entropy;
mod soap;

pub use auc_pairwise::AucPairwise;
pub use cross_entropy::{ClassWeights, CrossEntropy};
pub use soap::{First, Soap};

use crate::batch::{Batch, Drawn, Shape};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Gradient of the objective's estimate. Ascent variables come with the sign flipped, so that descent on everything
/// is right.
#[derive(Debug)]
pub struct Grad<'a, T> {
    /// By raw score, rows × heads.
    pub scores: &'a mut [T],
    /// By auxiliary variable.
    pub aux: &'a mut [T],
}

/// An objective in score space.
pub trait Estimator<T: Real> {
    /// Elements of state for so many slots (the positives of the data, for SOAP). They start at 0.
    fn state_len(&self, _slots: usize) -> usize {
        0
    }
    /// Auxiliary variables that ride behind the parameters: how many are minimised over, then how many maximised.
    fn aux(&self) -> (usize, usize) {
        (0, 0)
    }
    /// Working memory for a batch of this shape.
    fn need(&self, shape: Shape) -> Need;
    /// The objective's estimate on the batch alone; the state stays as it is. With [`Drawn::All`] it is exact.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64>;
    /// Updates the state, writes the gradient and returns the estimate.
    ///
    /// # Errors
    /// `Length` (state, scratch, gradient), `Index` (a slot past the state), `OneClass`, `Unsupported` (segments),
    /// `Overflow`. After an error state and gradient are as before.
    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64>;
}

/// Weights of the examples of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// So that the estimate's mean over all draws is the objective over the whole data.
    Unbiased,
    /// Every example of the batch alike, however it was drawn (what papers and peers do).
    AsDrawn,
}

/// The function between raw scores and the scores an objective sees. Metrics always use raw scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// h = s.
    Identity,
    /// h = σ(s).
    Sigmoid,
}

impl Link {
    /// Writes h(s).
    fn apply<T: Real>(self, scores: &[T], out: &mut [T]) {
        match self {
            Self::Identity => out.copy_from_slice(scores),
            Self::Sigmoid => out.iter_mut().zip(scores).for_each(|(h, &s)| *h = s.sigmoid()),
        }
    }
    /// Turns a gradient by h into one by s, given h.
    fn chain<T: Real>(self, h: &[T], grad: &mut [T]) {
        if self == Self::Sigmoid {
            grad.iter_mut().zip(h).for_each(|(g, &h)| *g = *g * h * (T::ONE - h));
        }
    }
}

/// Weight of each negative and of each positive in a mean over all examples.
fn class_weights<T: Real>(weights: Weights, batch: &Batch<'_, T>) -> [f64; 2] {
    let [low, high] = [batch.starts()[1], batch.starts()[2] - batch.starts()[1]].map(f64::from);
    match (weights, batch.drawn()) {
        (Weights::Unbiased, Drawn::Stratified) => {
            let [negatives, positives] = [batch.population()[0], batch.population()[1]].map(f64::from);
            let all = negatives + positives;
            [negatives / (all * low), positives / (all * high)].map(|w| if w.is_finite() { w } else { 0.0 })
        }
        _ => [1.0 / (low + high); 2],
    }
}

/// Copies a finished gradient out, or says that it does not fit.
fn commit<T: Real>(from: &[T], to: &mut [T]) -> Result<()> {
    exact_len("grad.scores", from.len(), to.len())?;
    crate::error::all_finite("grad", from).map_err(|_| Error::Overflow { what: "score gradient" })?;
    to.copy_from_slice(from);
    Ok(())
}

/// A finite value, or `Overflow`.
fn finite(what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::Overflow { what }) }
}

/// Every estimator by value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyEstimator<T> {
    /// Cross-entropy, plain or class-weighted.
    CrossEntropy(CrossEntropy),
    /// Mean pairwise surrogate of the AUC.
    AucPairwise(AucPairwise<T>),
    /// SOAP's objective.
    Soap(Soap<T>),
}

macro_rules! each {
    ($any:expr, $e:ident => $body:expr) => {
        match $any {
            AnyEstimator::CrossEntropy($e) => $body,
            AnyEstimator::AucPairwise($e) => $body,
            AnyEstimator::Soap($e) => $body,
        }
    };
}

impl<T: Real> Estimator<T> for AnyEstimator<T> {
    fn state_len(&self, slots: usize) -> usize {
        each!(self, e => Estimator::<T>::state_len(e, slots))
    }
    fn aux(&self) -> (usize, usize) {
        each!(self, e => Estimator::<T>::aux(e))
    }
    fn need(&self, shape: Shape) -> Need {
        each!(self, e => Estimator::<T>::need(e, shape))
    }
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        each!(self, e => e.value(batch, aux, scratch))
    }
    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        each!(self, e => e.update(batch, aux, state, scratch, grad))
    }
}
