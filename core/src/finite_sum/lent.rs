//! Sums whose rows and responses are lent anew for every call, for owners that cannot keep a borrowed sum.

use super::algorithm::Oracle;
use super::glm::Glm;
use super::network::NetworkSum;
use crate::Real;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::example_loss::{GlmLoss, Response};
use crate::model::AnyModel;
use alloc::vec::Vec;

/// A finite sum without its rows and responses: what an owner keeps of it.
pub trait Lent<T: Real> {
    /// The sum over rows.
    type Sum<'a>: AsOracle<T>
    where
        Self: 'a,
        T: 'a;

    /// The sum over these rows and responses, which must be those that it was made of.
    fn over<'a>(&'a self, rows: Rows<'a, T>, response: Response<'a, T>) -> Self::Sum<'a>;
}

/// What algorithms can ask: an [`Oracle`], or one of several.
pub trait AsOracle<T: Real> {
    /// The oracle.
    fn oracle(&self) -> &dyn Oracle<T>;
}

/// The finite sum of a model of the core without its rows and responses.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{AsOracle, GlmLoss, Lent, ModelSum, Response};
/// use undercurve::model::{AnyModel, Linear};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let model = AnyModel::Linear(Linear::new(1, 1)?);
/// let sum = ModelSum::new(model, Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0)?;
/// // It borrows nothing: the rows are lent for every use.
/// let over = sum.over(Rows::dense(&x, 1)?, Response::Values(&y));
/// let value: f64 = over.oracle().objective(&[1.0, 0.0], &mut [])?;
/// assert_eq!(value, 0.375); // (0 + 1 + 1 + 1)/8
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelSum {
    model: AnyModel,
    loss: GlmLoss,
    lambda: f64,
    /// Of the rows of a linear model; and the largest squared norm times weight.
    max_row_norm: Option<f64>,
    max_weighted: Option<f64>,
    /// Of the examples, 1 in the mean; empty without.
    weights: Vec<f64>,
}

/// The sum of a model over the rows that it was lent.
#[derive(Debug)]
#[non_exhaustive]
pub enum OverRows<'a, T> {
    /// Of a linear model.
    Linear(Glm<'a, T>),
    /// Of a network.
    Network(NetworkSum<'a, T>),
}

impl ModelSum {
    /// The sum of a model over these rows and responses, checked.
    ///
    /// # Errors
    /// As [`Glm::new`] and [`NetworkSum::of`].
    pub fn new<T: Real>(
        model: AnyModel,
        rows: Rows<'_, T>,
        response: Response<'_, T>,
        loss: GlmLoss,
        lambda: f64,
    ) -> Result<Self> {
        Self::weighted(model, rows, response, loss, lambda, Vec::new())
    }

    /// The same with a weight for each example, 1 in the mean, or none.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`Glm::with_weights`]; `Unsupported` for weights of a network's sum.
    pub fn weighted<T: Real>(
        model: AnyModel,
        rows: Rows<'_, T>,
        response: Response<'_, T>,
        loss: GlmLoss,
        lambda: f64,
        weights: Vec<f64>,
    ) -> Result<Self> {
        let (max_row_norm, max_weighted) = match model {
            AnyModel::Linear(_) => {
                let sum = Glm::new(rows, response, loss, lambda, true)?;
                let norm = sum.max_row_norm();
                match weights.is_empty() {
                    true => (Some(norm), Some(norm * norm)),
                    false => (Some(norm), Some(sum.with_weights(&weights)?.max_weighted_norm_sq())),
                }
            }
            AnyModel::Mlp(_) if !weights.is_empty() => {
                return Err(Error::Unsupported { what: "weights of examples in a network's sum" });
            }
            AnyModel::Mlp(model) => NetworkSum::of(model, rows, response, loss, lambda).map(|_| (None, None))?,
        };
        Ok(Self { model, loss, lambda, max_row_norm, max_weighted, weights })
    }

    /// L that every example is at most smooth by, where one is known.
    pub fn smooth(&self) -> Option<f64> {
        self.max_weighted.map(|square| square * self.loss.curvature_bound() + self.lambda)
    }
}

impl<T: Real> Lent<T> for ModelSum {
    type Sum<'a> = OverRows<'a, T>;

    fn over<'a>(&'a self, rows: Rows<'a, T>, response: Response<'a, T>) -> OverRows<'a, T> {
        let Self { loss, lambda, .. } = *self;
        match self.model {
            AnyModel::Linear(_) => {
                let norm = self.max_row_norm.unwrap_or(f64::INFINITY);
                OverRows::Linear(Glm::again(rows, response, loss, lambda, norm, &self.weights))
            }
            AnyModel::Mlp(model) => OverRows::Network(NetworkSum::again(model, rows, response, loss, lambda)),
        }
    }
}

impl<T: Real> AsOracle<T> for OverRows<'_, T> {
    fn oracle(&self) -> &dyn Oracle<T> {
        match self {
            Self::Linear(sum) => sum,
            Self::Network(sum) => sum,
        }
    }
}
