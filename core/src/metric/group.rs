//! Metrics of groups of examples: rates at a threshold, the worst group, CVaR of group losses, and the largest gap
//! between two groups over all thresholds.

use super::confusion::Confusion;
use super::rank::{self, check, sorted};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// The confusion counts of every group at `threshold`: `groups` holds a group number below `out.len()` for each
/// score; empty groups and groups of one class are accepted. O(n).
///
/// # Errors
/// `Empty`, `Length` (labels, groups), `NonFinite` (scores), `Label`, `Index` (groups), `Param` for a NaN threshold.
pub fn rates<T: Real>(scores: &[T], labels: &[u8], groups: &[u32], threshold: T, out: &mut [Confusion]) -> Result<()> {
    Confusion::at(scores, labels, threshold)?;
    check_groups(groups, scores.len(), out.len())?;
    out.fill(Confusion::default());
    for (at, &group) in groups.iter().enumerate() {
        out[group as usize].add(labels[at] == 1, scores[at] >= threshold);
    }
    Ok(())
}

fn check_groups(groups: &[u32], rows: usize, count: usize) -> Result<()> {
    exact_len("groups", rows, groups.len())?;
    match groups.iter().position(|&group| group as usize >= count) {
        Some(at) => Err(Error::Index { what: "groups", at, len: count }),
        None => Ok(()),
    }
}

/// The group of least accuracy and that accuracy; empty groups are passed over, the first of equals is taken.
///
/// # Errors
/// `Empty` when no group has an example.
pub fn worst_accuracy(groups: &[Confusion]) -> Result<(usize, f64)> {
    let mut worst: Option<(usize, f64)> = None;
    for (at, group) in groups.iter().enumerate() {
        if let Some(accuracy) = group.accuracy()
            && worst.is_none_or(|(_, least)| accuracy < least)
        {
            worst = Some((at, accuracy));
        }
    }
    worst.ok_or(Error::Empty { what: "groups" })
}

/// Scratch of [`cvar`] for `groups` losses.
#[must_use]
pub const fn cvar_need(groups: usize) -> Need {
    Need { real: 0, f64: groups, u32: 0, u64: 0 }
}

/// Conditional value at risk of equally weighted losses: the mean of the worst share `level` of them, the loss at the
/// boundary counting by its fraction. `level` 1 is the mean; 1/n and below the maximum. O(n log n).
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
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let worst = (level * losses.len() as f64).or_larger(f64::MIN_POSITIVE);
    let (mut left, mut mean) = (worst, 0.0);
    for &loss in sorted.iter() {
        let weight = left.or_smaller(1.0);
        mean += loss * (weight / worst);
        left -= weight;
        if left <= 0.0 {
            break;
        }
    }
    if mean.is_finite() { Ok(mean) } else { Err(Error::Overflow { what: "losses" }) }
}

/// Largest gaps between two groups over all thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaps {
    /// max_τ |TPR of group 1 − TPR of group 0|, in [0, 1].
    pub tpr: f64,
    /// max_τ |FPR of group 1 − FPR of group 0|, in [0, 1].
    pub fpr: f64,
}

/// Largest differences of true- and false-positive rates between group 1 and group 0 over all thresholds (the
/// two-sample Kolmogorov–Smirnov statistics of the scores within each class). `groups` holds 0 or 1 for each score.
/// `scratch` as [`need`](super::need) says; O(n).
///
/// # Errors
/// `Empty`, `Length` (labels, groups, scratch), `NonFinite` (scores), `Label`, `Index` (groups), `OneClass` when a
/// group lacks a class.
pub fn gaps<T: Real>(scores: &[T], labels: &[u8], groups: &[u32], mut scratch: Scratch<'_, T>) -> Result<Gaps> {
    check(scores, labels)?;
    check_groups(groups, scores.len(), 2)?;
    scratch.check(rank::need(scores.len()))?;
    let mut sizes = [[0u64; 2]; 2];
    for (&label, &group) in labels.iter().zip(groups) {
        sizes[usize::from(label)][group as usize] += 1;
    }
    if sizes.as_flattened().contains(&0) {
        return Err(Error::OneClass);
    }
    let mut largest = |label: u8| {
        let [zero, one] = sizes[usize::from(label)].map(|size| size as f64);
        let side = |at: usize| if labels[at] == label { Some(groups[at] == 1) } else { None };
        let (mut ones, mut zeros, mut gap) = (0u64, 0u64, 0.0);
        for group in sorted(scores, side, scratch.reborrow()) {
            ones += group.run.positives;
            zeros += group.run.negatives;
            gap = (ones as f64 / one - zeros as f64 / zero).abs().or_larger(gap);
        }
        gap
    };
    Ok(Gaps { tpr: largest(1), fpr: largest(0) })
}
