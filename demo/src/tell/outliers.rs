//! The rows that `sorr` leaves out of numbers.

use crate::error::Result;
use undercurve::data::Targets;
use undercurve::estimator::AnyEstimator;
use undercurve::trainer::{Predictor, Trainer};
use undercurve::{Real, Scratch};

/// Rows that a sentence names at most.
const SAID: usize = 10;

/// The training rows of the largest losses, the worst first, by their numbers in the data, from 1.
pub struct Outliers {
    pub rows: Vec<u32>,
    of: usize,
}

impl Outliers {
    /// Those of a run that leaves some out.
    pub fn of<T: Real>(trainer: &Trainer<T>, model: &mut Predictor<T>) -> Result<Option<Self>> {
        let data = trainer.train_data();
        let (Some(AnyEstimator::Sorr(sorr)), Targets::Values(values)) = (trainer.estimator(), data.targets()) else {
            return Ok(None);
        };
        let (mut scores, need) = (vec![T::ZERO; data.len()], sorr.need(data.len()));
        model.score(data.rows(), &mut scores)?;
        let (mut real, mut order) = (vec![T::ZERO; need.real], vec![0; need.u32]);
        let scratch = Scratch { real: &mut real, u32: &mut order, ..Scratch::default() };
        let rows: Vec<u32> = sorr.left_out(&scores, values, scratch)?.iter().map(|&row| data.place(row) + 1).collect();
        Ok((!rows.is_empty()).then_some(Self { rows, of: data.len() }))
    }

    pub fn sentence(&self) -> String {
        let first: Vec<String> = self.rows.iter().take(SAID).map(u32::to_string).collect();
        let more = if self.rows.len() > SAID { ", …; --json has all" } else { "" };
        let (count, of) = (self.rows.len(), self.of);
        format!("Left out as outliers: {count} of {of} training rows, the worst first: {}{more}", first.join(", "))
    }
}
