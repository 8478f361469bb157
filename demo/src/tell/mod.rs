//! What is printed and drawn.

pub mod behind;
pub mod by_group;
pub mod certificate;
pub mod constraints;
pub mod conventions;
pub mod curves;
pub mod explain;
pub mod figure;
pub mod leaks;
pub mod measure;
pub mod merged;
pub mod metric;
pub mod outliers;
pub mod paired;
pub mod report;
pub mod risks;
pub mod signal;
pub mod svg;
pub mod table;
pub mod text;
pub mod threshold;
pub mod top;
pub mod two_scores;
pub mod unvalidated;

use crate::error::Result;
use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::trainer::Predictor;

/// A progress bar of this form.
pub fn bar(total: u64, form: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(total).with_style(style);
    if output::is_quiet() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// The scores of rows; of several classes, one for each.
pub fn scores<T: Real>(model: &mut Predictor<T>, data: &Dataset<T>) -> Result<Vec<T>> {
    let mut scores = vec![T::ZERO; data.len() * model.classes().len().max(1)];
    model.score(data.rows(), &mut scores)?;
    Ok(scores)
}
