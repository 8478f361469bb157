//! Pairs of a positive with the negatives, each with a weight of its own.

use crate::mirror::{Estimated, Run, four};
use undercurve::surrogate::Surrogate;

/// A batch: scores of both classes.
#[derive(Clone, Copy)]
pub struct Classes<'a> {
    pub low: &'a [f32],
    pub high: &'a [f32],
}

impl<'a> Classes<'a> {
    pub fn of(run: &Run<'_>, h: &'a [f32]) -> Self {
        let (low, high) = h.split_at(run.negatives);
        Self { low, high }
    }

    pub fn negatives(&self) -> f32 {
        self.low.len() as f32
    }

    pub fn positives(&self) -> f32 {
        self.high.len() as f32
    }

    /// Σ over the negatives.
    pub fn over(&self, term: impl Fn(usize) -> f32) -> f32 {
        four(0, self.low.len(), term)
    }

    /// How many are ahead of a negative, the earlier one of equal scores.
    pub fn ahead(&self, j: usize) -> usize {
        let own = self.low[j];
        self.low.iter().enumerate().filter(|&(k, &h)| h > own || h == own && k < j).count()
    }

    /// The gradient of `unit` · Σ weight · ℓ, by weights of a positive, a negative and their margin.
    pub fn slopes(&self, run: &Run<'_>, unit: f32, weight: impl Fn(usize, usize, f32) -> f32) -> Vec<f32> {
        let pair = |i: usize, j: usize| {
            let margin = self.high[i] - self.low[j];
            weight(i, j, margin) * run.loss.slope(margin)
        };
        let of_low = (0..self.low.len()).map(|j| -(unit * four(0, self.high.len(), |i| pair(i, j))));
        let of_high = (0..self.high.len()).map(|i| unit * self.over(|j| pair(i, j)));
        of_low.chain(of_high).collect()
    }
}

/// Σ of the shares of the positives.
pub fn total(shares: impl IntoIterator<Item = f32>) -> f32 {
    shares.into_iter().fold(0.0, |sum, share| sum + share)
}

/// The mean loss in a range of false-positive rates, of which each negative counts as much as its gate says.
pub fn in_range(run: &Run<'_>, of: Classes<'_>, gates: &[f32]) -> Estimated {
    let (n, loss) = (run.numbers(), run.loss);
    let unit = 1.0 / (of.positives() * (n[1] - n[0]));
    let share = |&own: &f32| of.over(|j| gates[j] * loss.value(own - of.low[j]));
    let sum = total(of.high.iter().map(share));
    (of.slopes(run, unit, |_, j, _| gates[j]), sum * unit)
}
