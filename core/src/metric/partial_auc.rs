//! Partial AUC in a range [α, β] of false-positive rates, and two-way partial AUC.
//!
//! Equation (2) of Yao et al. 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates":
//! with the negatives sorted descending, s₍₁₎ ≥ s₍₂₎ ≥ …,
//!
//! ```text
//! pAUC = 1/(n₊ (β−α) n₋) Σ_{i∈+} Σ_{j = αn₋+1 … βn₋} 1[s_i > s₍ⱼ₎]
//! ```
//!
//! Where αn₋ or βn₋ is no integer, the negative at the boundary counts by the fraction of it inside the range, which
//! makes pAUC continuous in α and β. With z the false positives, pAUC is then an integral over z from αn₋ to βn₋ of
//! the true positives, and [`TieRule`] says what they are inside a group of tied scores.

use super::amount::Amount;
use super::labels::Labels;
use super::rank::{Classes, Run};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;

/// A range of false-positive rates, 0 ≤ low < high ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FprRange {
    low: f64,
    high: f64,
}

impl FprRange {
    /// [0, 1].
    pub const FULL: Self = Self { low: 0.0, high: 1.0 };

    /// The range [low, high].
    ///
    /// # Errors
    /// `Param` unless 0 ≤ low < high ≤ 1.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        // NaN fails every comparison.
        if 0.0 <= low && low < high && high <= 1.0 { Ok(Self { low, high }) } else { Err(Error::Param { what: "fpr" }) }
    }
    /// The lower end α.
    #[must_use]
    pub fn low(self) -> f64 {
        self.low
    }
    /// The upper end β.
    #[must_use]
    pub fn high(self) -> f64 {
        self.high
    }
}

impl Default for FprRange {
    fn default() -> Self {
        Self::FULL
    }
}

/// What a group of tied scores contributes to a partial AUC. The rules differ only in groups that hold both classes,
/// and, apart from `Strict`, only where a boundary of the range splits such a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// The ROC curve is a straight line through the group (the interpolated curve), so that pAUC over [0, 1] is AUROC.
    #[default]
    Trapezoid,
    /// Every tied pair counts ½.
    Half,
    /// Tied pairs count 0, as in the paper: the lower step curve.
    Strict,
}

/// Partial AUC over `range`, divided by the width of the range: in [0, 1], and 1 for a perfect ordering. `scratch` as
/// [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{FprRange, TieRule, partial_auc};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// for (low, high, value) in [(0.0, 0.5, 0.5), (0.5, 1.0, 1.0), (0.0, 1.0, 0.75)] {
///     let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
///     let range = FprRange::new(low, high)?; // the higher negative, the lower one, or both
///     assert_eq!(partial_auc(&scores, &labels, range, TieRule::Trapezoid, scratch)?, value);
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auroc`](super::auroc).
pub fn partial_auc<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    range: FprRange,
    rule: TieRule,
    scratch: Scratch<'_, T>,
) -> Result<f64> {
    let mut tally = PaucTally::new(range, rule);
    let classes = labels.runs(scores, scratch, |classes, run| tally.push(classes, run))?;
    Ok(tally.finish(classes))
}

/// A partial AUC over `range` by the trapezoid rule, standardised so that chance gives ½ and perfection 1:
/// ½ (1 + (A − A_chance) / (A_perfect − A_chance)) with A the area between the ends of the range, A_perfect its width
/// β − α and A_chance (β² − α²)/2 (McClish 1989, "Analyzing a Portion of the ROC Curve"; scikit-learn's `max_fpr` is the
/// case α = 0). `partial` is that of [`partial_auc`]. Below chance it is below ½, and negative where the range is far
/// to the right.
///
/// ```
/// use undercurve::metric::{FprRange, mcclish};
///
/// let range = FprRange::new(0.0, 0.5)?;
/// assert_eq!(mcclish(0.25, range), 0.5); // chance: the area ½·½² as a share of the width ½
/// assert_eq!(mcclish(1.0, range), 1.0);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[must_use]
pub fn mcclish(partial: f64, range: FprRange) -> f64 {
    // Divided by β − α throughout.
    let chance = 0.5 * (range.low + range.high);
    0.5 * (1.0 + (partial - chance) / (1.0 - chance))
}

/// Integrates true positives over false positives along the descending order.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaucTally<A = u64> {
    range: FprRange,
    rule: TieRule,
    tp: A,
    fp: A,
    /// False positives up to the last run with a positive. Negatives between two such runs are one stretch, however
    /// they are split, so that every way of counting them gives the same bits.
    flat: A,
    /// Twice the area of the runs wholly inside the range: an integer, so that [0, 1] gives AUROC exactly.
    twice_inside: A,
    /// Area of the runs that a boundary cuts, four at most.
    cut: f64,
}

impl<A: Amount> PaucTally<A> {
    pub(super) fn new(range: FprRange, rule: TieRule) -> Self {
        let none = A::default();
        Self { range, rule, tp: none, fp: none, flat: none, twice_inside: none, cut: 0.0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, classes: Classes<A>, run: Run<A>) {
        if run.positives > A::default() {
            self.flatten(classes);
            let to = self.fp + run.negatives;
            self.area(classes, self.fp, to, run);
            self.tp += run.positives;
            (self.fp, self.flat) = (to, to);
        } else {
            self.fp += run.negatives;
        }
    }

    /// The stretch of negatives since the last run with a positive.
    fn flatten(&mut self, classes: Classes<A>) {
        let run = Run { positives: A::default(), negatives: self.fp - self.flat };
        self.area(classes, self.flat, self.fp, run);
        self.flat = self.fp;
    }

    /// Adds the area of a run between two numbers of false positives.
    #[inline(always)]
    fn area(&mut self, classes: Classes<A>, from: A, to: A, run: Run<A>) {
        let (low, high) = (self.range.low * classes.negatives.f64(), self.range.high * classes.negatives.f64());
        let (from, to) = (from.f64(), to.f64());
        if run.negatives > A::default() && from < high && to > low {
            if from >= low && to <= high {
                let shared = if self.rule == TieRule::Strict { A::default() } else { run.positives };
                self.twice_inside += run.negatives * (self.tp + self.tp + shared);
            } else {
                let (start, end) = (from.or_larger(low), to.or_smaller(high));
                let share = match self.rule {
                    TieRule::Trapezoid => (0.5 * (start + end) - from) / run.negatives.f64(),
                    TieRule::Half => 0.5,
                    TieRule::Strict => 0.0,
                };
                self.cut += (end - start) * (self.tp.f64() + share * run.positives.f64());
            }
        }
    }

    pub(super) fn finish(mut self, classes: Classes<A>) -> f64 {
        self.flatten(classes);
        let width = self.range.high - self.range.low;
        let pairs = (classes.positives * classes.negatives).f64();
        // Halving is exact, so [0, 1] divides the same two numbers as AUROC.
        (0.5 * self.twice_inside.f64() + self.cut) / (width * pairs)
    }
}

/// Two-way partial AUC: the area of the ROC curve above TPR `min_tpr` and inside `range`, as a share of that rectangle.
/// Pairs of a positive among the lowest-scored share 1 − `min_tpr` and a negative of the range, with fractional weights
/// at all boundaries; in [0, 1]. With `min_tpr` 0 it is [`partial_auc`]. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{FprRange, TieRule, partial_auc_two_way};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let range = FprRange::new(0.0, 0.5)?;
/// // The lower positive against the higher negative: the hardest pair.
/// assert_eq!(partial_auc_two_way(&scores, &labels, 0.5, range, TieRule::Trapezoid, scratch)?, 0.0);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` unless 0 ≤ `min_tpr` < 1, and as [`auroc`](super::auroc).
pub fn partial_auc_two_way<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    min_tpr: f64,
    range: FprRange,
    rule: TieRule,
    scratch: Scratch<'_, T>,
) -> Result<f64> {
    if !(0.0..1.0).contains(&min_tpr) {
        return Err(Error::Param { what: "min_tpr" });
    }
    let none = Y::Amount::default();
    let (mut tp, mut fp, mut area) = (none, none, 0.0);
    let classes = labels.runs(scores, scratch, |classes, run| {
        let base = min_tpr * classes.positives.f64();
        let [low, high] = [range.low, range.high].map(|rate| rate * classes.negatives.f64());
        // The part of this run's negatives inside the range, counted from its first.
        let (dn, first) = (run.negatives.f64(), fp.f64());
        let (start, end) = ((low - first).or_larger(0.0), (high - first).or_smaller(dn));
        if end > start {
            let dp = run.positives.f64();
            let over = (tp.f64() - base).or_larger(0.0);
            // How much of this run's positives lies below the required rate.
            let hidden = (base - tp.f64()).or_larger(0.0).or_smaller(dp);
            let shared = match rule {
                TieRule::Strict => 0.0,
                TieRule::Half => 0.5 * (end - start) * (dp - hidden),
                TieRule::Trapezoid if run.positives == none => 0.0,
                TieRule::Trapezoid => {
                    // The line rises from where it crosses the required rate.
                    let slope = dp / dn;
                    let [left, right] = [start, end].map(|at| (at - hidden / slope).or_larger(0.0));
                    0.5 * (right - left) * (right + left) * slope
                }
            };
            area += (end - start) * over + shared;
        }
        tp += run.positives;
        fp += run.negatives;
    })?;
    let rectangle = (1.0 - min_tpr) * (range.high - range.low) * (classes.positives * classes.negatives).f64();
    Ok(area / rectangle)
}
