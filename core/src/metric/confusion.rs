//! Counts of right and wrong predictions at a threshold.

use super::rank::check;
use crate::error::{Error, Result};
use crate::real::Real;

/// Right and wrong predictions of each class, where a score at or above the threshold predicts the positive class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Positives at or above the threshold.
    pub true_positives: u64,
    /// Negatives at or above the threshold.
    pub false_positives: u64,
    /// Negatives below the threshold.
    pub true_negatives: u64,
    /// Positives below the threshold.
    pub false_negatives: u64,
}

impl Confusion {
    /// Counts at `threshold` (finite or infinite). O(n), no scratch. One class alone is accepted.
    ///
    /// # Errors
    /// `Empty`, `Length` (labels), `NonFinite` (scores), `Label`, `Param` for a NaN threshold.
    pub fn at<T: Real>(scores: &[T], labels: &[u8], threshold: T) -> Result<Self> {
        match check(scores, labels) {
            Ok(_) | Err(Error::OneClass) => {}
            Err(error) => return Err(error),
        }
        if threshold.partial_cmp(&T::ZERO).is_none() {
            return Err(Error::Param { what: "threshold" });
        }
        Ok(Self::count(scores, labels, threshold))
    }

    /// As [`Confusion::at`], of input already checked.
    pub(super) fn count<T: Real>(scores: &[T], labels: &[u8], threshold: T) -> Self {
        let (mut positives, mut tp, mut above) = (0u64, 0u64, 0u64);
        for (&score, &label) in scores.iter().zip(labels) {
            let hit = u64::from(score >= threshold);
            positives += u64::from(label);
            above += hit;
            tp += hit & u64::from(label);
        }
        let fp = above - tp;
        Self {
            true_positives: tp,
            false_positives: fp,
            true_negatives: scores.len() as u64 - positives - fp,
            false_negatives: positives - tp,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, positive: bool, hit: bool) {
        *match (positive, hit) {
            (true, true) => &mut self.true_positives,
            (false, true) => &mut self.false_positives,
            (false, false) => &mut self.true_negatives,
            (true, false) => &mut self.false_negatives,
        } += 1;
    }

    /// All examples.
    #[must_use]
    pub fn total(self) -> u64 {
        self.positives() + self.negatives()
    }
    /// Positive examples.
    #[must_use]
    pub fn positives(self) -> u64 {
        self.true_positives + self.false_negatives
    }
    /// Negative examples.
    #[must_use]
    pub fn negatives(self) -> u64 {
        self.true_negatives + self.false_positives
    }
    /// Share of right predictions; none without examples.
    #[must_use]
    pub fn accuracy(self) -> Option<f64> {
        share(self.true_positives + self.true_negatives, self.total())
    }
    /// True-positive rate (recall); none without positives.
    #[must_use]
    pub fn tpr(self) -> Option<f64> {
        share(self.true_positives, self.positives())
    }
    /// False-positive rate; none without negatives.
    #[must_use]
    pub fn fpr(self) -> Option<f64> {
        share(self.false_positives, self.negatives())
    }
    /// Precision; none when nothing is predicted positive.
    #[must_use]
    pub fn precision(self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    if whole == 0 { None } else { Some(part as f64 / whole as f64) }
}
