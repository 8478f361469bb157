//! What is printed and drawn.

pub mod by_group;
pub mod constraints;
pub mod curves;
pub mod figure;
pub mod measure;
pub mod metric;
pub mod paired;
pub mod report;
pub mod risks;
pub mod signal;
pub mod svg;
pub mod table;
pub mod threshold;

use crate::error::Result;
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::trainer::Predictor;

/// The scores of rows; of several classes, one for each.
pub fn scores<T: Real>(model: &mut Predictor<T>, data: &Dataset<T>) -> Result<Vec<T>> {
    let mut scores = vec![T::ZERO; data.len() * model.classes().len().max(1)];
    model.score(data.rows(), &mut scores)?;
    Ok(scores)
}
