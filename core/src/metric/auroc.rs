//! Area under the ROC curve, from counts of pairs.
//!
//! ```text
//! AUROC = P(s₊ > s₋) + ½ P(s₊ = s₋)
//! ```
//!
//! the Mann–Whitney statistic with mid-ranks divided by n₊n₋. The counts are integers and exact for any number of
//! examples that is accepted (n₊n₋ < 2⁶²), so the only rounding is that of the last division.

use super::amount::Amount;
use super::labels::Labels;
use super::rank::{Classes, Run};
use crate::error::Result;
use crate::real::Real;
use crate::scratch::Scratch;

/// Outcomes of all n₊n₋ comparisons of a positive with a negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCounts<A = u64> {
    /// The positive scores higher.
    pub wins: A,
    /// Both score the same.
    pub ties: A,
    /// All pairs.
    pub pairs: A,
}

impl<A: Amount> PairCounts<A> {
    /// P(s₊ > s₋) + ½ P(s₊ = s₋), in [0, 1].
    #[must_use]
    pub fn auroc(self) -> f64 {
        (self.wins + self.wins + self.ties).f64() / (self.pairs + self.pairs).f64()
    }
    /// P(s₊ > s₋): ties lose.
    #[must_use]
    pub fn strict(self) -> f64 {
        self.wins.f64() / self.pairs.f64()
    }
    /// P(s₊ ≥ s₋): ties win.
    #[must_use]
    pub fn lenient(self) -> f64 {
        (self.wins + self.ties).f64() / self.pairs.f64()
    }
}

/// AUROC, ties counting one half; in [0, 1]. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::{Scratch, metric};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// assert_eq!(metric::auroc(&scores, &labels, scratch)?, 0.75); // three of the four pairs are in order
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Empty`, `Length` (labels, scratch), `NonFinite` (scores), `Label`, `OneClass`, `Overflow` (over 2³² − 1 scores).
pub fn auroc<T: Real, Y: Labels + ?Sized>(scores: &[T], labels: &Y, scratch: Scratch<'_, T>) -> Result<f64> {
    Ok(pair_counts(scores, labels, scratch)?.auroc())
}

/// The counts behind AUROC, from which the strict and the lenient variant follow as well.
///
/// ```
/// use undercurve::{Scratch, metric};
///
/// let (scores, labels) = ([0.5_f32, 0.1, 0.5, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let counts = metric::pair_counts(&scores, &labels, scratch)?;
/// assert_eq!((counts.wins, counts.ties, counts.pairs), (3, 1, 4));
/// assert_eq!((counts.strict(), counts.auroc(), counts.lenient()), (0.75, 0.875, 1.0));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auroc`].
pub fn pair_counts<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
) -> Result<PairCounts<Y::Amount>> {
    let mut tally = PairTally::default();
    let classes = labels.runs(scores, scratch, |_, run| tally.push(run))?;
    Ok(tally.finish(classes))
}

/// Counts pairs along the descending order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairTally<A = u64> {
    above: A,
    wins: A,
    ties: A,
}

impl<A: Amount> PairTally<A> {
    #[inline(always)]
    pub(super) fn push(&mut self, run: Run<A>) {
        self.wins += run.negatives * self.above;
        self.ties += run.negatives * run.positives;
        self.above += run.positives;
    }
    pub(super) fn finish(self, classes: Classes<A>) -> PairCounts<A> {
        PairCounts { wins: self.wins, ties: self.ties, pairs: classes.positives * classes.negatives }
    }
}
