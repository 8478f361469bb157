//! Models with forward and backward passes over dense and sparse rows.
//!
//! A model turns parameters and feature rows into scores, and a score gradient into a parameter gradient. A network in another
//! library can take its place: back-propagate Σ_j c_j·s_j there, with the score gradient c held constant.

mod along;
mod average;
mod dense;
mod linear;
mod mlp;

pub use along::{Along, Path};
pub(crate) use dense::axpy;
pub use linear::Linear;
pub use mlp::{Activation, MAX_HIDDEN, Mlp};

use crate::data::Selection;
use crate::error::Result;
use crate::real::Real;
use crate::rng::Rng;
use core::ops::Range;

/// Parameters and rows to scores, score gradient to parameter gradient.
pub trait Model<T: Real> {
    /// Number of parameters.
    fn param_len(&self) -> usize;
    /// Feature columns it reads.
    fn inputs(&self) -> usize;
    /// Scores per row.
    fn heads(&self) -> usize;
    /// A named part of the parameters: `"bias"` (of the last layer), `"last"` (the last layer whole).
    fn part(&self, name: &str) -> Option<Range<usize>>;
    /// Start values, the same for a seed everywhere.
    ///
    /// # Errors
    /// `Length` (params).
    fn init(&self, rng: &mut Rng, params: &mut [T]) -> Result<()>;
    /// Elements that `forward` leaves for `backward`, for so many rows.
    fn cache_len(&self, rows: usize) -> usize;
    /// Elements of working memory of `backward`, for so many rows.
    fn scratch_len(&self, rows: usize) -> usize;
    /// Raw scores of the selected rows, rows × heads, row-major.
    ///
    /// # Errors
    /// `Length` (params, columns of the rows, cache, scores).
    fn forward(&self, params: &[T], x: Selection<'_, T>, cache: &mut [T], scores: &mut [T]) -> Result<()>;
    /// ADDS Σ_j c_j ∇h(x_j) to `grad`, so that large data can be walked in chunks. `cache` is what `forward` left for
    /// the same rows and parameters.
    ///
    /// # Errors
    /// `Length` (params, columns of the rows, cache, score gradient, scratch, gradient).
    fn backward(
        &self,
        params: &[T],
        x: Selection<'_, T>,
        cache: &[T],
        score_grad: &[T],
        scratch: &mut [T],
        grad: &mut [T],
    ) -> Result<()>;
}

/// Either model by value, for choices made at run time.
///
/// ```
/// use undercurve::model::{Activation, AnyModel, Linear, Mlp, Model};
///
/// let choice = |hidden: &[usize]| match hidden {
///     [] => Linear::new(10, 1).map(AnyModel::Linear),
///     _ => Mlp::new(10, hidden, 1, Activation::Relu).map(AnyModel::Mlp),
/// };
/// assert_eq!(Model::<f64>::param_len(&choice(&[])?), 10 + 1);
/// assert_eq!(Model::<f64>::param_len(&choice(&[32])?), 32 * (10 + 1) + (32 + 1));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyModel {
    /// Linear.
    Linear(Linear),
    /// Multilayer perceptron.
    Mlp(Mlp),
}

macro_rules! each {
    ($any:expr, $m:ident => $body:expr) => {
        match $any {
            AnyModel::Linear($m) => $body,
            AnyModel::Mlp($m) => $body,
        }
    };
}

impl<T: Real> Model<T> for AnyModel {
    fn param_len(&self) -> usize {
        each!(self, m => Model::<T>::param_len(m))
    }
    fn inputs(&self) -> usize {
        each!(self, m => Model::<T>::inputs(m))
    }
    fn heads(&self) -> usize {
        each!(self, m => Model::<T>::heads(m))
    }
    fn part(&self, name: &str) -> Option<Range<usize>> {
        each!(self, m => Model::<T>::part(m, name))
    }
    fn init(&self, rng: &mut Rng, params: &mut [T]) -> Result<()> {
        each!(self, m => m.init(rng, params))
    }
    fn cache_len(&self, rows: usize) -> usize {
        each!(self, m => Model::<T>::cache_len(m, rows))
    }
    fn scratch_len(&self, rows: usize) -> usize {
        each!(self, m => Model::<T>::scratch_len(m, rows))
    }
    fn forward(&self, params: &[T], x: Selection<'_, T>, cache: &mut [T], scores: &mut [T]) -> Result<()> {
        each!(self, m => m.forward(params, x, cache, scores))
    }
    fn backward(
        &self,
        params: &[T],
        x: Selection<'_, T>,
        cache: &[T],
        score_grad: &[T],
        scratch: &mut [T],
        grad: &mut [T],
    ) -> Result<()> {
        each!(self, m => m.backward(params, x, cache, score_grad, scratch, grad))
    }
}
