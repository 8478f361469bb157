//! The ROC curve.

use super::amount::Amount;
use super::curve::{Thinner, check_out};
use super::labels::Labels;
use super::rank::Classes;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;

/// One point of the ROC curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RocPoint {
    /// A score at or above this predicts the positive class; +∞ for the first point.
    pub threshold: f64,
    /// False-positive rate, in [0, 1].
    pub fpr: f64,
    /// True-positive rate, in [0, 1].
    pub tpr: f64,
}

/// Points that [`roc_curve`] may write for `n` scores: one per score, and the first.
#[must_use]
pub const fn roc_len(n: usize) -> usize {
    n + 1
}

/// The ROC curve by descending threshold: (0, 0), then one point per distinct score, the last of which is (1, 1).
/// Tied scores move in one step; the straight line between neighbouring points is the curve whose area AUROC is.
/// Returns the number of points written to the front of `out`, which has [`roc_len`] room. `scratch` as
/// [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{RocPoint, roc_curve, roc_len};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let mut points = [RocPoint { threshold: 0.0, fpr: 0.0, tpr: 0.0 }; roc_len(4)];
/// let count = roc_curve(&scores, &labels, scratch, &mut points)?;
/// let points = points[..count].iter().map(|p| (p.fpr, p.tpr));
/// assert!(points.eq([(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auroc`](super::auroc), and `Length` for `out`.
pub fn roc_curve<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    out: &mut [RocPoint],
) -> Result<usize> {
    if out.len() < roc_len(scores.len()) {
        return Err(Error::Length { what: "out", need: roc_len(scores.len()), got: out.len() });
    }
    let mut len = 0;
    walk(scores, labels, scratch, |point| {
        out[len] = point;
        len += 1;
    })?;
    Ok(len)
}

/// The ROC curve with at most `out.len()` points, at least 4, for drawing: the ends stay, and along the curve, in
/// cells of equal TPR + FPR, the points nearest and farthest from chance. Returns the number of points.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{RocPoint, roc_curve_thinned};
///
/// let scores: Vec<f64> = (0..100).map(f64::from).collect();
/// let labels: Vec<u8> = (0..100).map(|k| u8::from(k % 3 == 0)).collect();
/// let (mut u32s, mut u64s) = ([0; 2048], [0; 200]);
/// let scratch = Scratch { u32: &mut u32s, u64: &mut u64s, ..Scratch::default() };
/// let mut points = [RocPoint { threshold: 0.0, fpr: 0.0, tpr: 0.0 }; 10];
/// let count = roc_curve_thinned(&scores, &labels[..], scratch, &mut points)?;
/// assert!(count <= 10);
/// assert_eq!((points[0].tpr, points[count - 1].fpr), (0.0, 1.0)); // the ends stay
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`roc_curve`].
pub fn roc_curve_thinned<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    out: &mut [RocPoint],
) -> Result<usize> {
    check_out(out)?;
    let mut thinner = Thinner::new(out);
    walk(scores, labels, scratch, |point| {
        thinner.push(0.5 * (point.fpr + point.tpr), point.tpr - point.fpr, point);
    })?;
    Ok(thinner.finish())
}

/// The point of the ROC curve with the greatest true-positive rate among those whose false-positive rate is at most `most`,
/// in [0, 1], of equal ones the first: predicting the positive class from its threshold up keeps that rate on these rows. `scratch` as
/// [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::{Scratch, metric};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let point = metric::point_at_fpr(&scores, &labels, 0.5, scratch)?;
/// assert_eq!((point.threshold as f32, point.fpr, point.tpr), (0.35, 0.5, 1.0));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` for a rate outside [0, 1], and as [`auroc`](super::auroc).
pub fn point_at_fpr<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    most: f64,
    scratch: Scratch<'_, T>,
) -> Result<RocPoint> {
    if !(0.0..=1.0).contains(&most) {
        return Err(Error::Param { what: "fpr" });
    }
    let mut best = RocPoint { tpr: -1.0, ..RocPoint::default() };
    walk(scores, labels, scratch, |point| {
        if point.fpr <= most && point.tpr > best.tpr {
            best = point;
        }
    })?;
    Ok(best)
}

/// Visits the points of the curve, from (0, 0).
pub(super) fn walk<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(RocPoint),
) -> Result<Classes<Y::Amount>> {
    let (mut begun, mut tp, mut fp) = (false, Y::Amount::default(), Y::Amount::default());
    labels.groups(scores, scratch, |classes, group| {
        if !core::mem::replace(&mut begun, true) {
            visit(RocPoint { threshold: f64::INFINITY, fpr: 0.0, tpr: 0.0 });
        }
        tp += group.run.positives;
        fp += group.run.negatives;
        let (fpr, tpr) = (fp.f64() / classes.negatives.f64(), tp.f64() / classes.positives.f64());
        visit(RocPoint { threshold: group.score.f64(), fpr, tpr });
    })
}
