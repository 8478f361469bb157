//! Sums over pairs (positive, other) that the objectives share.
//!
//! Small batches: [`brute`]. Whole data: [`auc`], [`ap`] and [`pauc`] take scores and labels as they come, in
//! any order, and return the value of the objective with its derivative by every score, in f64 inside; [`sum`] is whichever of
//! them, of rows that may have weights. They choose the
//! method by the surrogate and the size of the data:
//!
//! | surrogate | method | cost | error, relative to the absolute terms of an entry |
//! |---|---|---|---|
//! | hinge, squared hinge | sort the positives in streams, scan the gaps | O(n) to O(n log n₊) | rounding |
//! | sigmoid, logistic | panels, with tables that a [`Plan`] keeps; above 65,536 of them windows over sorted rows | O(n) to O(n log n) | [`Grade`]: 1e-6 or 1e-12 |
//! | square, exponential | closed form | O(n) | rounding |
//! | smoothed hinge, ramp | the same with two edges for each positive; scores over many magnitudes are sorted | O(n) to O(n log n) | rounding |
//! | any, with few positives | all pairs | O(n₊n) | rounding |
//!
//! Terms smaller than [`Real::FAINT`] of `f64`, 10⁻¹⁴⁶, count as 0, and so do derivatives below [`Real::TINY`] of their type.
//!
//! Conditions shared by the three:
//! - `scores` finite, `labels` 0 or 1, `grad` all of one length n < 2³²; at least one row of each label.
//! - scratch of [`need_for`] the loss, n and n₊, or of [`need`]`(n, n₊)`, which is enough for fewer positives, too.
//! - errors: `Length`, `Label`, `NonFinite`, `OneClass`, `Param`, `Overflow` (before anything but scratch is written).

mod all_pairs;
pub mod brute;
mod carry;
mod chosen;
mod closed;
#[cfg(feature = "distributed")]
pub mod distributed;
pub(crate) mod keep_slopes;
mod lanes;
mod needs;
mod order;
#[cfg(feature = "alloc")]
mod owned;
mod panel;
mod plan;
mod ramp_sums;
mod sorted;
mod streams;
mod tables;
mod way;
mod weight;
mod weighted;
mod wide;
mod windows;

// The inner loops: a copy for each loss, or with `compact` one for all.
#[cfg_attr(not(feature = "compact"), path = "blocked.rs")]
#[cfg_attr(feature = "compact", path = "tiled.rs")]
mod kernel;

pub(crate) use needs::by_class_need;
pub use needs::{need, need_by, need_for, sum_need};
#[cfg(feature = "alloc")]
pub use owned::Sums;
pub use plan::Plan;
pub use tables::Grade;
pub(crate) use way::How;
pub use way::Way;

use needs::need_of;

use crate::batch::PAIR_WEIGHTS;
use crate::error::{Error, Result, count_labels, exact_len};
use crate::features::COMPACT;
use crate::metric::Truth;
use crate::real::Real;
use crate::scratch::Scratch;
use crate::surrogate::AnySurrogate;
use weight::{Rows, finite_range};

/// The shared checks.
fn checked<'a, S: Real, G: Real>(
    how: &How<'_>,
    sum: Sum,
    scores: &'a [S],
    labels: &'a [u8],
    scratch: &Scratch<'_, f64>,
    grad: &[G],
) -> Result<Rows<'a, S, u8>> {
    exact_len("labels", scores.len(), labels.len())?;
    exact_len("grad", scores.len(), grad.len())?;
    if scores.len() > u32::MAX as usize {
        return Err(Error::Unsupported { what: "more than 2^32 rows" });
    }
    let (positives, negatives) = count_labels(labels)?;
    let range = finite_range(scores)?;
    if positives == 0 || negatives == 0 {
        return Err(Error::OneClass);
    }
    scratch.check(need_of(how.way, how.tables.is_some(), sum, how.loss, scores.len(), positives))?;
    Ok(Rows { scores, labels, positives, range })
}

/// Pairwise AUC loss over whole data: the mean of ℓ(s₊ − s₋) over all pairs.
///
/// Returns the value and writes ∂/∂s of every row to `grad`. `grade` is the accuracy of sigmoid and logistic sums.
/// Conditions, errors and cost: see the [module](self).
///
/// ```
/// use undercurve::pairs::{self, Grade};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels) = ([0.3f32, 1.2, -0.4], [1, 0, 0]);
/// let need = pairs::need(3, 1);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 3];
/// let loss = AnySurrogate::by_name("hinge", 1.0)?;
/// let value = pairs::auc(&scores, &labels, loss, Grade::Full, scratch, &mut grad)?;
/// assert!((value - 1.1).abs() < 1e-6); // mean of 1.9 and 0.3
/// assert_eq!(grad, [-1.0, 0.5, 0.5]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// See the [module](self).
pub fn auc<S: Real, G: Real>(
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    auc_by(Way::Chosen, scores, labels, loss, grade, scratch, grad)
}

/// [`auc`] in a given way.
#[doc(hidden)]
pub fn auc_by<S: Real, G: Real>(
    way: Way,
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    sum_as(How::new(way, loss, grade), Sum::Auc, scores, labels, scratch, grad)
}

/// Any of the sums over rows without weights. (Inlined, so that programs that take one sum link no other.)
#[inline(always)]
fn sum_as<S: Real, G: Real>(
    how: How<'_>,
    sum: Sum,
    scores: &[S],
    labels: &[u8],
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let rows = checked(&how, sum, scores, labels, &scratch, grad)?;
    chosen::sum(sum, how, rows, scratch, grad)
}

/// The AP objective over whole data: P = −1/n₊ Σ_{i∈+} g1_i/g2_i with g1_i = Σ_{j∈+} ℓ(s_i − s_j) and g2_i the same sum
/// over all rows, j = i included (Qi et al. 2021, eq. (2)–(4)).
///
/// Returns P and writes ∂P/∂s of every row to `grad`. `grade` is the accuracy of sigmoid and logistic sums.
/// Conditions, errors and cost: see the [module](self).
///
/// ```
/// use undercurve::pairs::{self, Grade};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels) = ([5.0f32, 0.0, -5.0, -9.0], [1, 0, 1, 0]);
/// let need = pairs::need(4, 2);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 4];
/// let loss = AnySurrogate::by_name("sigmoid", 20.0)?;
/// let value = pairs::ap(&scores, &labels, loss, Grade::Full, scratch, &mut grad)?;
/// // A steep sigmoid counts who is above, and itself half: (½/½ + (1 + ½)/(2 + ½))/2.
/// assert!((value + (1.0 + 1.5 / 2.5) / 2.0).abs() < 1e-9);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// See the [module](self).
pub fn ap<S: Real, G: Real>(
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    ap_by(Way::Chosen, scores, labels, loss, grade, scratch, grad)
}

/// [`ap`] in a given way.
#[doc(hidden)]
pub fn ap_by<S: Real, G: Real>(
    way: Way,
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    sum_as(How::new(way, loss, grade), Sum::Ap, scores, labels, scratch, grad)
}

/// Partial AUC loss over whole data: the mean of ℓ(s₊ − s₋) over all positives and the negatives of the false-positive
/// range `fpr` = (α, β), 0 ≤ α < β ≤ 1: those ranked αn₋ to βn₋ by descending score. Negatives on a fractional boundary
/// count by the part of them inside, so the value is continuous in α and β (Yao et al. 2022, "Large-scale Optimization
/// of Partial AUC in a Range of False Positive Rates", eq. (2); the fractions are ours).
///
/// Returns the value and writes its derivative (a subgradient where tied scores lie on a boundary) to `grad`.
/// Conditions, errors and cost: see the [module](self); the negatives are selected in expected linear time.
///
/// ```
/// use undercurve::pairs::{self, Grade};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels) = ([0.5f32, 1.0, 0.0], [1, 0, 0]);
/// let need = pairs::need(3, 1);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 3];
/// let loss = AnySurrogate::by_name("hinge", 1.0)?;
/// let value = pairs::pauc(&scores, &labels, loss, (0.0, 0.5), Grade::Full, scratch, &mut grad)?;
/// assert_eq!(value, 1.5); // 1 − (½ − 1), of the higher half of the negatives
/// assert_eq!(grad, [-1.0, 1.0, 0.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// See the [module](self); `Unsupported` for a surrogate that is not monotone, whose largest terms are not those of the
/// highest negatives.
pub fn pauc<S: Real, G: Real>(
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    fpr: (f64, f64),
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    sum_as(How::new(Way::Chosen, loss, grade), Sum::Pauc { fpr, tpr: 0.0 }, scores, labels, scratch, grad)
}

/// Which of the sums over whole data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// [`auc`]'s.
    Auc,
    /// [`ap`]'s.
    Ap,
    /// [`pauc`]'s.
    Pauc {
        /// The range of false-positive rates.
        fpr: (f64, f64),
        /// The least true-positive rate; 0 for all positives.
        tpr: f64,
    },
}

/// A [`Sum`] over rows in any order, which may have weights: the pair (i, j) then counts w_i·w_j, a row of weight 2 is two
/// rows, and one of weight 0 none (its derivative is 0).
///
/// Returns the value and writes its derivative by every score to `grad`. Without weights it is [`auc`], [`ap`] or [`pauc`],
/// to the bit. Scratch of [`sum_need`]`(n)`. A surrogate that is summed again and again is worth a [`Plan`].
///
/// ```
/// use undercurve::metric::Truth;
/// use undercurve::pairs::{self, Grade, Sum};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels, weights) = ([0.3f32, 1.2, -0.4], [1, 0, 0], [1.0, 3.0, 1.0]);
/// let need = pairs::sum_need(3);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 3];
/// let loss = AnySurrogate::by_name("hinge", 1.0)?;
/// let truth = Truth::new(&labels, &weights)?;
/// let value = pairs::sum(Sum::Auc, &scores, truth, loss, Grade::Full, scratch, &mut grad)?;
/// assert!((value - 1.5).abs() < 1e-6); // (3 · 1.9 + 0.3) / 4
/// assert_eq!(grad, [-1.0, 0.75, 0.25]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auc`] and [`pauc`]; `OneClass` where a class has no weight; `Overflow` for weights, and beside them margins, that are
/// neither 0 nor from 10⁻⁶⁰ to 10⁶⁰, and scores further apart. (Builds with `compact` take no weights without the feature `weights`: [`Truth`] has none there.)
pub fn sum<S: Real, G: Real>(
    sum: Sum,
    scores: &[S],
    truth: Truth<'_>,
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    true_sum(How::new(Way::Chosen, loss, grade), sum, scores, truth, scratch, grad)
}

/// [`sum`], with a plan or without.
fn true_sum<S: Real, G: Real>(
    how: How<'_>,
    sum: Sum,
    scores: &[S],
    truth: Truth<'_>,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let (labels, weights) = (truth.labels(), truth.weights());
    if weights.is_empty() {
        let rows = checked(&how, sum, scores, labels, &scratch, grad)?;
        // With `compact` weights, so that there is one copy of each sum.
        if COMPACT {
            scratch.check(sum_need(scores.len()))?;
            let (signed, rest) = scratch.f64.split_at_mut(scores.len());
            scratch.f64 = rest;
            signed.iter_mut().zip(labels).for_each(|(signed, &y)| *signed = 1.0 - 2.0 * f64::from(y));
            let Rows { positives, range, .. } = rows;
            return chosen::sum(sum, how, Rows { scores, labels: &*signed, positives, range }, scratch, grad);
        }
        return chosen::sum(sum, how, rows, scratch, grad);
    }
    exact_len("labels", scores.len(), labels.len())?;
    exact_len("grad", scores.len(), grad.len())?;
    count_labels(labels)?;
    let range = finite_range(scores)?;
    scratch.check(sum_need(scores.len()))?;
    let (signed, rest) = scratch.f64.split_at_mut(scores.len());
    scratch.f64 = rest;
    let mut count = [0; 2];
    for (signed, (&label, &weight)) in signed.iter_mut().zip(labels.iter().zip(weights)) {
        count[usize::from(label)] += usize::from(weight > 0.0);
        *signed = if label == 1 && weight > 0.0 { -weight } else { (1.0 - f64::from(label)) * weight };
    }
    if count.contains(&0) {
        return Err(Error::OneClass);
    }
    let rows = Rows { scores, labels: &*signed, positives: count[1], range };
    chosen::weighted_sum(sum, how, rows, scratch, grad)
}

/// A sum over whole data whose rows lie in class order, the negatives first, with a weight above 0 for each or none at all.
pub(crate) fn by_class<S: Real, G: Real>(
    sum: Sum,
    how: How<'_>,
    scores: &[S],
    negatives: usize,
    weights: &[f64],
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    exact_len("grad", scores.len(), grad.len())?;
    let range = finite_range(scores)?;
    let positives = scores.len() - negatives;
    if positives == 0 || negatives == 0 {
        return Err(Error::OneClass);
    }
    scratch.check(by_class_need(sum, how.loss, scores.len()))?;
    if PAIR_WEIGHTS && !weights.is_empty() {
        exact_len("weights", scores.len(), weights.len())?;
        if let Some(at) = weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
            return Err(Error::Weight { at });
        }
        let (labels, rest) = scratch.f64.split_at_mut(scores.len());
        scratch.f64 = rest;
        labels.copy_from_slice(weights);
        labels[negatives..].iter_mut().for_each(|w| *w = -*w);
        let rows = Rows { scores, labels: &*labels, positives, range };
        return chosen::weighted_sum(sum, how, rows, scratch, grad);
    }
    // With `compact` weights, as partial AUC has them, so that there is one copy of each sum.
    if COMPACT {
        let (labels, rest) = scratch.f64.split_at_mut(scores.len());
        scratch.f64 = rest;
        labels[..negatives].fill(1.0);
        labels[negatives..].fill(-1.0);
        return chosen::sum(sum, how, Rows { scores, labels: &*labels, positives, range }, scratch, grad);
    }
    let (labels, rest) = scratch.u32.split_at_mut(scores.len());
    scratch.u32 = rest;
    labels[..negatives].fill(0);
    labels[negatives..].fill(1);
    chosen::sum(sum, how, Rows { scores, labels: &*labels, positives, range }, scratch, grad)
}
