//! Counts of right and wrong predictions at a threshold.

use super::amount::Amount;
use crate::real::Real;

/// Right and wrong predictions of each class, where a score at or above the threshold predicts the positive class.
///
/// ```
/// use undercurve::metric::Confusion;
///
/// let counts = Confusion::at(&[0.1_f32, 0.4, 0.35, 0.8], &[0, 0, 1, 1], 0.35)?;
/// assert_eq!((counts.true_positives, counts.false_positives), (2, 1));
/// assert_eq!((counts.tpr(), counts.fpr(), counts.precision()), (Some(1.0), Some(0.5), Some(2.0 / 3.0)));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion<A = u64> {
    /// Positives at or above the threshold.
    pub true_positives: A,
    /// Negatives at or above the threshold.
    pub false_positives: A,
    /// Negatives below the threshold.
    pub true_negatives: A,
    /// Positives below the threshold.
    pub false_negatives: A,
}

impl Confusion {
    /// As numbers that weights could have made.
    #[must_use]
    pub fn numbers(self) -> Confusion<f64> {
        Confusion {
            true_positives: self.true_positives as f64,
            false_positives: self.false_positives as f64,
            true_negatives: self.true_negatives as f64,
            false_negatives: self.false_negatives as f64,
        }
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
}

impl<A: Amount> Confusion<A> {
    #[inline]
    pub(super) fn add(&mut self, positive: bool, hit: bool, weight: A) {
        *match (positive, hit) {
            (true, true) => &mut self.true_positives,
            (false, true) => &mut self.false_positives,
            (false, false) => &mut self.true_negatives,
            (true, false) => &mut self.false_negatives,
        } += weight;
    }

    /// All examples.
    #[must_use]
    pub fn total(self) -> A {
        self.positives() + self.negatives()
    }
    /// Positive examples.
    #[must_use]
    pub fn positives(self) -> A {
        self.true_positives + self.false_negatives
    }
    /// Negative examples.
    #[must_use]
    pub fn negatives(self) -> A {
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
    /// Harmonic mean of precision and recall; none where there are neither positives nor predictions of them.
    #[must_use]
    pub fn f1(self) -> Option<f64> {
        let wrong = self.false_positives + self.false_negatives;
        share(self.true_positives + self.true_positives, self.true_positives + self.true_positives + wrong)
    }
    /// The correlation of prediction and label (Matthews 1975, "Comparison of the Predicted and Observed Secondary Structure of T4
    /// Phage Lysozyme"); 0 where all predictions are one class, none without examples of both.
    #[must_use]
    pub fn mcc(self) -> Option<f64> {
        let [tp, fp, tn, fn_] =
            [self.true_positives, self.false_positives, self.true_negatives, self.false_negatives].map(Amount::f64);
        if self.positives() == A::default() || self.negatives() == A::default() {
            return None;
        }
        let below = crate::Real::sqrt((tp + fp) * (tn + fn_)) * crate::Real::sqrt((tp + fn_) * (tn + fp));
        Some(if below > 0.0 { (tp * tn - fp * fn_) / below } else { 0.0 })
    }
}

fn share<A: Amount>(part: A, whole: A) -> Option<f64> {
    if whole == A::default() { None } else { Some(part.f64() / whole.f64()) }
}
