//! Sums whose rows and labels are lent anew for every call, for owners that cannot keep a borrowed sum.

use super::algorithm::Oracle;
use super::glm::{Glm, Targets};
use super::network::NetworkSum;
use crate::Real;
use crate::data::Rows;
use crate::error::Result;
use crate::example_loss::GlmLoss;
use crate::model::AnyModel;

/// The finite sum of a model without its rows and labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent {
    model: AnyModel,
    loss: GlmLoss,
    lambda: f64,
    /// Of the rows of a linear model.
    max_row_norm: Option<f64>,
}

/// A sum over the rows that it was lent.
pub(crate) enum OverRows<'a, T> {
    Linear(Glm<'a, T>),
    Network(NetworkSum<'a, T>),
}

impl Lent {
    /// The sum of a model over these rows and labels, checked.
    ///
    /// # Errors
    /// As [`Glm::new`] and [`NetworkSum::new`].
    pub fn new<T: Real>(model: AnyModel, rows: Rows<'_, T>, labels: &[u8], loss: GlmLoss, lambda: f64) -> Result<Self> {
        let max_row_norm = match model {
            AnyModel::Linear(_) => Some(Glm::new(rows, Targets::Labels(labels), loss, lambda, true)?.max_row_norm()),
            AnyModel::Mlp(model) => NetworkSum::new(model, rows, labels, loss, lambda).map(|_| None)?,
        };
        Ok(Self { model, loss, lambda, max_row_norm })
    }

    /// L that every example is at most smooth by, where one is known.
    pub fn smooth(&self) -> Option<f64> {
        self.max_row_norm.map(|norm| norm * norm * self.loss.curvature_bound() + self.lambda)
    }

    /// The sum over rows and labels, which must be those that it was made of.
    pub fn over<'a, T: Real>(&self, rows: Rows<'a, T>, labels: &'a [u8]) -> OverRows<'a, T> {
        let Self { loss, lambda, .. } = *self;
        match self.model {
            AnyModel::Linear(_) => {
                let norm = self.max_row_norm.unwrap_or(f64::INFINITY);
                OverRows::Linear(Glm::again(rows, Targets::Labels(labels), loss, lambda, norm))
            }
            AnyModel::Mlp(model) => OverRows::Network(NetworkSum::again(model, rows, labels, loss, lambda)),
        }
    }
}

impl<T: Real> OverRows<'_, T> {
    /// What algorithms ask.
    pub fn oracle(&self) -> &dyn Oracle<T> {
        match self {
            Self::Linear(sum) => sum,
            Self::Network(sum) => sum,
        }
    }
}
