//! What each column adds to the score of a row.
//!
//! A score is compared with that of a row of zeros as the model sees it: of standardised columns that is their mean, of categories
//! none of them. Of a linear model the parts are exact, coefficient times value. Of a network each column moves from 0 to
//! its value in [`STEPS`] steps, all others with it, and what the score gains by its steps alone is its part (Aumann and Shapley's
//! value, by the midpoint rule); what the parts leave of the difference is told as the rest.

use crate::error::{CliError, Result};
use undercurve::Real;
use undercurve::data::{Preparation, Rows};
use undercurve::trainer::{ModelSpec, Predictor};
use undercurve_search::places;

/// Steps of the way to a row.
pub const STEPS: usize = 32;

/// Parts of scores.
pub struct Explainer {
    pub columns: Vec<(String, Vec<usize>)>,
    linear: bool,
}

fn no_names() -> CliError {
    CliError::input("--explain: the columns of this model have no names; `inspect` has its coefficients")
}

impl Explainer {
    /// # Errors
    /// `Input` for models of several classes, and of columns without names.
    pub fn new<T: Real>(model: &Predictor<T>, of: &Preparation) -> Result<Self> {
        if !model.classes().is_empty() {
            return Err(CliError::input(
                "--explain: is of one score for each row, and this model has one for each class",
            ));
        }
        if of.is_sparse() {
            return Err(no_names());
        }
        Ok(Self { columns: places(of), linear: model.config().model == ModelSpec::Linear })
    }

    /// What is told of a row, in order: the score of zeros, each column's part, and of networks the rest.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let rest = (!self.linear).then_some("(rest)");
        ["(start)"].into_iter().chain(self.columns.iter().map(|column| column.0.as_str())).chain(rest)
    }

    /// Of each row all of that.
    pub fn parts<T: Real>(&self, model: &mut Predictor<T>, rows: Rows<'_, T>, scores: &[T]) -> Result<Vec<f64>> {
        let cols = rows.cols();
        let (mut row, mut start) = (vec![T::ZERO; cols], [T::ZERO]);
        model.score(Rows::dense(&row, cols)?, &mut start)?;
        let start = start[0].f64();
        let mut all = Vec::with_capacity(scores.len() * (self.columns.len() + 2));
        for (at, score) in scores.iter().enumerate() {
            rows.copy_row(at, &mut row)?;
            all.push(start);
            if self.linear {
                let part = |at: &usize| model.params()[*at].f64() * row[*at].f64();
                all.extend(self.columns.iter().map(|column| column.1.iter().map(part).sum::<f64>()));
                continue;
            }
            let mut rest = score.f64() - start;
            for column in &self.columns {
                let part = along(model, &row, &column.1)?;
                rest -= part;
                all.push(part);
            }
            all.push(rest);
        }
        Ok(all)
    }
}

/// What a network's score gains by the steps of these values, where all go from 0 to those of a row.
fn along<T: Real>(model: &mut Predictor<T>, row: &[T], places: &[usize]) -> Result<f64> {
    if places.iter().all(|&at| row[at] == T::ZERO) {
        return Ok(0.0);
    }
    let cols = row.len();
    let mut points = Vec::with_capacity(2 * STEPS * cols);
    for step in 0..STEPS {
        for end in [step, step + 1] {
            let middle = (step as f64 + 0.5) / STEPS as f64;
            let begin = points.len();
            points.extend(row.iter().map(|&x| T::of(x.f64() * middle)));
            places.iter().for_each(|&at| points[begin + at] = T::of(row[at].f64() * end as f64 / STEPS as f64));
        }
    }
    let mut scores = vec![T::ZERO; 2 * STEPS];
    model.score(Rows::dense(&points, cols)?, &mut scores)?;
    Ok(scores.chunks_exact(2).map(|ends| ends[1].f64() - ends[0].f64()).sum())
}
