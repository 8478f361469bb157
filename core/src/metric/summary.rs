//! What a report needs, from one ordering.

use super::amount::Amount;
use super::ap::ApTally;
use super::auroc::PairTally;
use super::labels::Labels;
use super::partial_auc::{FprRange, PaucTally, TieRule};
use crate::error::Result;
use crate::real::Real;
use crate::scratch::Scratch;

/// The metrics of one report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Area under the ROC curve; see [`auroc`](super::auroc).
    pub auroc: f64,
    /// Average precision; see [`average_precision`](super::average_precision).
    pub ap: f64,
    /// Partial AUC over the range asked for, by the trapezoid rule; see [`partial_auc`](super::partial_auc).
    pub pauc: f64,
    /// Share of right predictions where a score of 0 or more predicts the positive class.
    pub accuracy: f64,
    /// Share of the pairs of a positive and a negative that have one score.
    pub tied: f64,
    /// Rows with label 1 (and a weight).
    pub positives: u64,
    /// Rows with label 0.
    pub negatives: u64,
}

/// AUROC, average precision, partial AUC over `range` and accuracy. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{FprRange, summary};
///
/// let (scores, labels) = ([-1.0_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let all = summary(&scores, &labels, FprRange::new(0.0, 0.5)?, scratch)?;
/// assert_eq!((all.auroc, all.pauc), (0.75, 0.5)); // against the higher negative one of two positives is above
/// assert_eq!((all.accuracy, all.positives), (0.75, 2));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auroc`](super::auroc).
pub fn summary<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    range: FprRange,
    scratch: Scratch<'_, T>,
) -> Result<Summary> {
    let (mut pairs, mut ap) = (PairTally::default(), ApTally::default());
    let mut partial = PaucTally::new(range, TieRule::Trapezoid);
    let mut push = |classes, run| {
        pairs.push(run);
        ap.push(run);
        partial.push(classes, run);
    };
    let (classes, right) = if labels.are_weighed() {
        // Weights are added down the ordering, too, so that no order of the rows enters the sums.
        let mut right = Y::Amount::default();
        let classes = labels.groups(scores, scratch, |classes, group| {
            push(classes, group.run);
            right += if group.score >= T::ZERO { group.run.positives } else { group.run.negatives };
        })?;
        (classes, right)
    } else {
        let classes = labels.runs(scores, scratch, push)?;
        let confusion = labels.confusion(scores, T::ZERO)?;
        (classes, confusion.true_positives + confusion.true_negatives)
    };
    let pairs = pairs.finish(classes);
    let [positives, negatives] = labels.rows();
    Ok(Summary {
        auroc: pairs.auroc(),
        ap: ap.finish(classes),
        pauc: partial.finish(classes),
        accuracy: right.f64() / (classes.positives + classes.negatives).f64(),
        tied: pairs.ties.f64() / pairs.pairs.f64(),
        positives,
        negatives,
    })
}
