//! Sums whose rows and labels are lent anew for every call, for owners that cannot keep a borrowed sum.

use super::algorithm::Oracle;
use super::glm::{Glm, Targets};
use super::network::NetworkSum;
use crate::Real;
use crate::data::Rows;
use crate::error::Result;
use crate::example_loss::GlmLoss;
use crate::model::{AnyModel, Mlp};
use alloc::sync::Arc;
use core::fmt::Debug;

/// A finite sum without its rows and labels.
pub(crate) trait Lent<T: Real>: Debug + Send + Sync {
    /// L that every example is at most smooth by, where one is known.
    fn smooth(&self) -> Option<f64>;

    /// Calls `visit` once with the sum over these rows and labels, which must be those that it was made of.
    fn over(&self, rows: Rows<'_, T>, labels: &[u8], visit: &mut dyn FnMut(&dyn Oracle<T>));
}

/// The sum of a model over these rows and labels, checked.
///
/// # Errors
/// As [`Glm::new`] and [`NetworkSum::new`].
pub(crate) fn lent<T: Real>(
    model: &AnyModel,
    rows: Rows<'_, T>,
    labels: &[u8],
    loss: GlmLoss,
    lambda: f64,
) -> Result<Arc<dyn Lent<T>>> {
    Ok(match *model {
        AnyModel::Linear(_) => {
            let glm = Glm::new(rows, Targets::Labels(labels), loss, lambda, true)?;
            Arc::new(Linear { loss, lambda, max_row_norm: glm.max_row_norm() })
        }
        AnyModel::Mlp(model) => {
            NetworkSum::new(model, rows, labels, loss, lambda)?;
            Arc::new(Network { model, loss, lambda })
        }
    })
}

#[derive(Debug)]
struct Linear {
    loss: GlmLoss,
    lambda: f64,
    max_row_norm: f64,
}

#[derive(Debug)]
struct Network {
    model: Mlp,
    loss: GlmLoss,
    lambda: f64,
}

impl<T: Real> Lent<T> for Linear {
    fn smooth(&self) -> Option<f64> {
        Some(self.max_row_norm * self.max_row_norm * self.loss.curvature_bound() + self.lambda)
    }

    fn over(&self, rows: Rows<'_, T>, labels: &[u8], visit: &mut dyn FnMut(&dyn Oracle<T>)) {
        visit(&Glm::again(rows, Targets::Labels(labels), self.loss, self.lambda, self.max_row_norm));
    }
}

impl<T: Real> Lent<T> for Network {
    fn smooth(&self) -> Option<f64> {
        None
    }

    fn over(&self, rows: Rows<'_, T>, labels: &[u8], visit: &mut dyn FnMut(&dyn Oracle<T>)) {
        visit(&NetworkSum::again(self.model, rows, labels, self.loss, self.lambda));
    }
}
