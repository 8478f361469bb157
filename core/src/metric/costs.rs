//! What wrong decisions cost, and where on the ROC curve that leads.
//!
//! With costs c₊ of a false positive and c₋ of a false negative, and a share π of positives where the model is used, a row
//! costs on average
//!
//! ```text
//! C = π c₋ (1 − TPR) + (1 − π) c₊ FPR
//! ```
//!
//! so points of equal cost lie on lines of slope m = c₊(1 − π)/(c₋π), and the cheapest point is where such a line touches the
//! convex hull of the curve (Metz 1978, "Basic Principles of ROC Analysis"; Provost and Fawcett 2001, "Robust Classification
//! for Imprecise Environments", who call them iso-performance lines).
//!
//! The range of false-positive rates that costs stand for is ours: from the cheapest point at slope 2m to that at m/2, for
//! costs that are known to a factor of two. It is at least ten negatives wide, around the middle of what was found, and its
//! ends are rounded outwards to four decimals.

use super::labels::Labels;
use super::partial_auc::FprRange;
use super::roc::{RocPoint, walk};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;

/// Costs are known to this factor.
const FACTOR: f64 = 2.0;
/// Negatives that a range holds at least.
const FEWEST: f64 = 10.0;
/// What its ends are rounded to.
const GRID: f64 = 1e4;

/// What wrong decisions cost, and how often there are positives where they are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    false_positive: f64,
    false_negative: f64,
    prevalence: f64,
}

impl Costs {
    /// Of a false positive, of a false negative, in any unit; and the share of positives.
    ///
    /// # Errors
    /// `Param` unless both costs are positive and finite and the share is above 0 and below 1.
    pub fn new(false_positive: f64, false_negative: f64, prevalence: f64) -> Result<Self> {
        let cost = |cost: f64| cost > 0.0 && cost.is_finite();
        for (sound, what) in [
            (cost(false_positive), "cost of a false positive"),
            (cost(false_negative), "cost of a false negative"),
            (prevalence > 0.0 && prevalence < 1.0, "prevalence"),
        ] {
            if !sound {
                return Err(Error::Param { what });
            }
        }
        Ok(Self { false_positive, false_negative, prevalence })
    }

    /// Of a false positive.
    #[must_use]
    pub fn false_positive(self) -> f64 {
        self.false_positive
    }
    /// Of a false negative.
    #[must_use]
    pub fn false_negative(self) -> f64 {
        self.false_negative
    }
    /// The share of positives.
    #[must_use]
    pub fn prevalence(self) -> f64 {
        self.prevalence
    }

    /// The slope of lines of equal cost in the ROC plane.
    ///
    /// ```
    /// // One positive in a hundred, missing one is as bad as 50 false alarms: m = 99/50.
    /// assert_eq!(undercurve::metric::Costs::new(1.0, 50.0, 0.01)?.slope(), 1.98);
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    #[must_use]
    pub fn slope(self) -> f64 {
        self.false_positive * (1.0 - self.prevalence) / (self.false_negative * self.prevalence)
    }

    /// What a row costs on average at these rates.
    #[must_use]
    pub fn of(self, fpr: f64, tpr: f64) -> f64 {
        self.prevalence * self.false_negative * (1.0 - tpr) + (1.0 - self.prevalence) * self.false_positive * fpr
    }

    /// The range of false-positive rates that they stand for, on the ROC curve of these scores. `scratch` as
    /// [`need`](super::need) says; O(n).
    ///
    /// # Errors
    /// As [`auroc`](super::auroc).
    pub fn range<T: Real, Y: Labels + ?Sized>(
        self,
        scores: &[T],
        labels: &Y,
        mut scratch: Scratch<'_, T>,
    ) -> Result<FprRange> {
        let negatives = labels.rows()[1] as f64;
        let mut at = |slope: f64| point_at_slope(scores, labels, slope, scratch.reborrow());
        let (mut low, mut high) = (at(self.slope() * FACTOR)?.fpr, at(self.slope() / FACTOR)?.fpr);
        let width = (FEWEST / negatives).or_smaller(1.0);
        if high - low < width {
            let middle = (0.5 * (low + high)).or_larger(0.5 * width).or_smaller(1.0 - 0.5 * width);
            (low, high) = (middle - 0.5 * width, middle + 0.5 * width);
        }
        // (What is on the grid already stays there.)
        let down = libm::floor(low * GRID + 1e-6) / GRID;
        let up = libm::ceil(high * GRID - 1e-6) / GRID;
        FprRange::new(down.or_larger(0.0), up.or_smaller(1.0))
    }
}

/// The point of the ROC curve where a line of this slope touches its convex hull: the greatest TPR − slope·FPR, of equal ones
/// the first from above. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{Costs, point_at_slope};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// // A missed positive is as bad as ten false alarms: better to find both with one.
/// for (costs, fpr) in [(Costs::new(1.0, 10.0, 0.5)?, 0.5), (Costs::new(10.0, 1.0, 0.5)?, 0.0)] {
///     let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
///     assert_eq!(point_at_slope(&scores, &labels, costs.slope(), scratch)?.fpr, fpr);
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` for a slope that is not positive (infinity is), and as [`auroc`](super::auroc).
pub fn point_at_slope<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    slope: f64,
    scratch: Scratch<'_, T>,
) -> Result<RocPoint> {
    if slope.is_nan() || slope <= 0.0 {
        return Err(Error::Param { what: "slope" });
    }
    // (FPR 0 stays 0, also times infinity.)
    let gain = |point: &RocPoint| if point.fpr > 0.0 { point.tpr - slope * point.fpr } else { point.tpr };
    let mut best = RocPoint { threshold: f64::INFINITY, fpr: 0.0, tpr: 0.0 };
    walk(scores, labels, scratch, |point| {
        if gain(&point) > gain(&best) {
            best = point;
        }
    })?;
    Ok(best)
}
