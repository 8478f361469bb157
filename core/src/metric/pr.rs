//! The precision–recall curve and its operating points.

use super::amount::Amount;
use super::curve::{Thinner, check_out};
use super::labels::Labels;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;

/// One point of the precision–recall curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PrPoint {
    /// A score at or above this predicts the positive class.
    pub threshold: f64,
    /// Share of the positives found, in [0, 1].
    pub recall: f64,
    /// Share of positives among what is predicted positive, in [0, 1].
    pub precision: f64,
}

/// The precision–recall curve by descending threshold, so by ascending recall: one point per distinct score, the last
/// of which has recall 1. There is no point at recall 0 unless the highest score belongs to negatives alone. Average
/// precision is Σ_k (R_k − R_{k−1}) P_k over these points with R_0 = 0. Returns the number of points written to the
/// front of `out`, which has as much room as there are scores. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{PrPoint, pr_curve};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let mut points = [PrPoint { threshold: 0.0, recall: 0.0, precision: 0.0 }; 4];
/// assert_eq!(pr_curve(&scores, &labels, scratch, &mut points)?, 4);
/// assert_eq!(points.map(|p| p.recall), [0.5, 0.5, 1.0, 1.0]);
/// assert_eq!(points.map(|p| p.precision), [1.0, 0.5, 2.0 / 3.0, 0.5]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auroc`](super::auroc), and `Length` for `out`.
pub fn pr_curve<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    out: &mut [PrPoint],
) -> Result<usize> {
    if out.len() < scores.len() {
        return Err(Error::Length { what: "out", need: scores.len(), got: out.len() });
    }
    let mut len = 0;
    walk(scores, labels, scratch, |point| {
        out[len] = point;
        len += 1;
    })?;
    Ok(len)
}

/// The precision–recall curve with at most `out.len()` points, at least 4, for drawing: the ends stay, and of each of
/// equal cells of recall the points of least and greatest precision. Returns the number of points.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{PrPoint, pr_curve_thinned};
///
/// let scores: Vec<f64> = (0..100).map(f64::from).collect();
/// let labels: Vec<u8> = (0..100).map(|k| u8::from(k % 3 == 0)).collect();
/// let (mut u32s, mut u64s) = ([0; 2048], [0; 200]);
/// let scratch = Scratch { u32: &mut u32s, u64: &mut u64s, ..Scratch::default() };
/// let mut points = [PrPoint { threshold: 0.0, recall: 0.0, precision: 0.0 }; 10];
/// let count = pr_curve_thinned(&scores, &labels[..], scratch, &mut points)?;
/// assert!(count <= 10);
/// assert_eq!((points[count - 1].recall, points[count - 1].precision), (1.0, 0.34)); // the end stays: all 34 of 100
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`pr_curve`].
pub fn pr_curve_thinned<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    out: &mut [PrPoint],
) -> Result<usize> {
    check_out(out)?;
    let mut thinner = Thinner::new(out);
    walk(scores, labels, scratch, |point| thinner.push(point.recall, point.precision, point))?;
    Ok(thinner.finish())
}

fn walk<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(PrPoint),
) -> Result<()> {
    let (mut tp, mut all) = (Y::Amount::default(), Y::Amount::default());
    labels.groups(scores, scratch, |classes, group| {
        tp += group.run.positives;
        all += group.run.positives + group.run.negatives;
        visit(PrPoint {
            threshold: group.score.f64(),
            recall: tp.f64() / classes.positives.f64(),
            precision: tp.f64() / all.f64(),
        });
    })?;
    Ok(())
}

/// The greatest precision of any threshold whose recall is at least `recall`, in (0, 1]. `scratch` as
/// [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::{Scratch, metric};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let mut at = |recall| {
///     let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
///     metric::precision_at_recall(&scores, &labels, recall, scratch)
/// };
/// assert_eq!((at(0.5)?, at(0.6)?), (1.0, 2.0 / 3.0)); // for both positives a negative comes along
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` for a recall outside [0, 1], and as [`auroc`](super::auroc).
pub fn precision_at_recall<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    recall: f64,
    scratch: Scratch<'_, T>,
) -> Result<f64> {
    best(scores, labels, ("recall", recall), scratch, |r, p| if r >= recall { p } else { 0.0 })
}

/// The greatest recall of any threshold whose precision is at least `precision`; 0 when no threshold reaches it.
/// `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::{Scratch, metric};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let mut at = |precision| {
///     let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
///     metric::recall_at_precision(&scores, &labels, precision, scratch)
/// };
/// assert_eq!((at(0.9)?, at(0.6)?), (0.5, 1.0));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` for a precision outside [0, 1], and as [`auroc`](super::auroc).
pub fn recall_at_precision<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    precision: f64,
    scratch: Scratch<'_, T>,
) -> Result<f64> {
    best(scores, labels, ("precision", precision), scratch, |r, p| if p >= precision { r } else { 0.0 })
}

/// The greatest `gain(recall, precision)` of any threshold.
fn best<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    (what, bound): (&'static str, f64),
    scratch: Scratch<'_, T>,
    gain: impl Fn(f64, f64) -> f64,
) -> Result<f64> {
    if !(0.0..=1.0).contains(&bound) {
        return Err(Error::Param { what });
    }
    let none = Y::Amount::default();
    let (mut tp, mut all, mut found) = (none, none, 0.0);
    labels.runs(scores, scratch, |classes, run| {
        tp += run.positives;
        all += run.positives + run.negatives;
        // Negatives alone only lower the precision, so the end of a run with positives is where the best lies. (The
        // first run may be empty.)
        if run.positives > none {
            found = gain(tp.f64() / classes.positives.f64(), tp.f64() / all.f64()).or_larger(found);
        }
    })?;
    Ok(found)
}
