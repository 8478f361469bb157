//! Metrics of groups of examples: rates at a threshold, loss, accuracy and AUROC of each, the worst of them, and CVaR of
//! group losses. The gaps between groups over all thresholds are those of [`Cells`].

use super::cells::{Cells, check_groups};
use super::confusion::Confusion;
use crate::error::{Error, Result, all_finite};
use crate::example_loss::GlmLoss;
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// The confusion counts of every group at `threshold`: `groups` holds a group number below `out.len()` for each
/// score; empty groups and groups of one class are accepted. O(n).
///
/// ```
/// use undercurve::metric::{Confusion, group};
///
/// let (scores, labels, groups) = ([0.9_f32, 0.2, 0.8, 0.7], [1, 1, 1, 0], [0, 0, 1, 1]);
/// let mut counts = [Confusion::default(); 2];
/// group::rates(&scores, &labels, &groups, 0.5, &mut counts)?;
/// assert_eq!(counts.map(|group| group.tpr()), [Some(0.5), Some(1.0)]);
/// assert_eq!(counts.map(|group| group.fpr()), [None, Some(1.0)]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Empty`, `Length` (labels, groups), `NonFinite` (scores), `Label`, `Index` (groups), `Param` for a NaN threshold.
pub fn rates<T: Real>(scores: &[T], labels: &[u8], groups: &[u32], threshold: T, out: &mut [Confusion]) -> Result<()> {
    Confusion::at(scores, labels, threshold)?;
    check_groups(groups, scores.len(), out.len())?;
    out.fill(Confusion::default());
    for (at, &group) in groups.iter().enumerate() {
        out[group as usize].add(labels[at] == 1, scores[at] >= threshold, 1);
    }
    Ok(())
}

/// What there is to know of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupSummary {
    /// Right and wrong predictions at the threshold asked for.
    pub counts: Confusion,
    /// Mean logistic loss ln(1 + e^(∓s)); none without rows.
    pub loss: Option<f64>,
    /// AUROC of the rows of this group, ties counting one half; none where it lacks a label.
    pub auroc: Option<f64>,
}

/// Counts at `threshold`, logistic loss and AUROC of every group: `groups` holds a number below `out.len()` for each score.
/// `scratch` as [`cells_need`](super::cells_need) says for `out.len()` groups; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{cells_need, group};
///
/// let (scores, labels, groups) = ([0.9_f32, 0.2, 0.8, 0.7], [1, 0, 1, 1], [0, 0, 1, 1]);
/// let need = cells_need(4, 2);
/// let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { u32: &mut u32s, u64: &mut u64s, ..Scratch::default() };
/// let mut of = [group::GroupSummary::default(); 2];
/// group::summaries(&scores, &labels, &groups, 0.5, scratch, &mut of)?;
/// assert_eq!((of[0].auroc, of[1].auroc), (Some(1.0), None)); // group 1 has no negatives
/// assert_eq!(of.map(|group| group.counts.accuracy()), [Some(1.0); 2]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`rates`] and [`Cells::new`], and `Overflow` when a loss does not fit.
pub fn summaries<T: Real>(
    scores: &[T],
    labels: &[u8],
    groups: &[u32],
    threshold: T,
    scratch: Scratch<'_, T>,
    out: &mut [GroupSummary],
) -> Result<()> {
    Confusion::at(scores, labels, threshold)?;
    let cells = Cells::new(scores, labels, groups, out.len(), scratch)?;
    let loss = |at: usize| GlmLoss::Logistic.value(if labels[at] == 1 { 1.0 } else { -1.0 }, scores[at].f64());
    if !(0..scores.len()).map(loss).sum::<f64>().is_finite() {
        return Err(Error::Overflow { what: "losses" });
    }
    out.fill(GroupSummary::default());
    for (at, &group) in groups.iter().enumerate() {
        let group = &mut out[group as usize];
        group.counts.add(labels[at] == 1, scores[at] >= threshold, 1);
        group.loss = Some(group.loss.unwrap_or(0.0) + loss(at));
    }
    for (at, group) in out.iter_mut().enumerate() {
        group.loss = group.loss.map(|sum| sum / group.counts.total() as f64);
        group.auroc = cells.auroc(at);
    }
    Ok(())
}

/// The group of the largest value and that value; those without one are passed over, the first of equals is taken.
///
/// ```
/// use undercurve::metric::group;
///
/// let losses = [Some(0.2), None, Some(0.7)]; // group 1 has no rows
/// assert_eq!(group::largest(losses), Some((2, 0.7)));
/// assert_eq!(group::least(losses), Some((0, 0.2)));
/// ```
#[must_use]
pub fn largest(values: impl IntoIterator<Item = Option<f64>>) -> Option<(usize, f64)> {
    let there = values.into_iter().enumerate().filter_map(|(at, value)| Some((at, value?)));
    there.fold(None, |worst, (at, value)| match worst {
        Some((_, most)) if value <= most => worst,
        _ => Some((at, value)),
    })
}

/// The group of the least value, likewise.
#[must_use]
pub fn least(values: impl IntoIterator<Item = Option<f64>>) -> Option<(usize, f64)> {
    largest(values.into_iter().map(|value| value.map(|x| -x))).map(|(at, value)| (at, -value))
}

/// Scratch of [`cvar`] for `groups` losses.
#[must_use]
pub const fn cvar_need(groups: usize) -> Need {
    Need { real: 0, f64: groups, u32: 0, u64: 0 }
}

/// Conditional value at risk of equally weighted losses: the mean of the worst share `level` of them, the loss at the
/// boundary counting by its fraction. `level` 1 is the mean; 1/n and below the maximum. O(n log n).
///
/// ```
/// use undercurve::{Scratch, metric::group};
///
/// let scratch = Scratch::<f64> { f64: &mut [0.0; 4], ..Scratch::default() };
/// // The worst 3/8 of four losses: 8 whole, and 2 by its half.
/// assert!((group::cvar(&[1.0, 8.0, 2.0, 1.0], 0.375, scratch)? - (8.0 + 0.5 * 2.0) / 1.5).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` unless 0 < `level` ≤ 1, `Empty`, `NonFinite`, `Length` (scratch), `Overflow` when the sum does not fit.
pub fn cvar<T: Real>(losses: &[f64], level: f64, scratch: Scratch<'_, T>) -> Result<f64> {
    if !(0.0 < level && level <= 1.0) {
        return Err(Error::Param { what: "level" });
    }
    if losses.is_empty() {
        return Err(Error::Empty { what: "losses" });
    }
    all_finite("losses", losses)?;
    scratch.check(cvar_need(losses.len()))?;
    let sorted = &mut scratch.f64[..losses.len()];
    sorted.copy_from_slice(losses);
    crate::sort::numbers(sorted);
    let worst = (level * losses.len() as f64).or_larger(f64::MIN_POSITIVE);
    let (mut left, mut mean) = (worst, 0.0);
    for &loss in sorted.iter().rev() {
        let weight = left.or_smaller(1.0);
        mean += loss * (weight / worst);
        left -= weight;
        if left <= 0.0 {
            break;
        }
    }
    if mean.is_finite() { Ok(mean) } else { Err(Error::Overflow { what: "losses" }) }
}
