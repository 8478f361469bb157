//! Whole data by brute force, in f64: the fastest way for few positives, and the way of losses without a better one.

use super::brute;
use super::weight::Class;
use crate::error::Result;
use crate::real::Real;
use crate::slices::{Part as _, Place as _};
use crate::surrogate::Surrogate;

/// `f64` elements that [`auc`] borrows, or [`ap`].
pub(super) const fn need(rows: usize, positives: usize, ap: bool) -> usize {
    2 * rows + if ap { 6 } else { 3 } * positives
}

/// The three kinds of rows, in the order in which they are laid out.
fn kind<Y: Class>(y: Y) -> usize {
    if y.is_positive() {
        2
    } else if !Y::WEIGHTED || y.weight() == 1.0 {
        0
    } else {
        1
    }
}

/// Mean of ℓ over positives × weighted negatives, and its derivative by every score; see the sorted sums for what the
/// caller has checked.
///
/// # Errors
/// `Overflow`, before anything is written.
pub(super) fn auc<S: Real, Y: Class, G: Real, L: Surrogate<f64>>(
    scores: &[S],
    labels: &[Y],
    loss: L,
    mean: f64,
    memory: &mut [f64],
    grad: &mut [G],
) -> Result<f64> {
    let (all, rest) = memory.split_at_mut(scores.len());
    let (slopes, rest) = rest.split_at_mut(scores.len());
    let mut ends = [0; 3];
    for &y in labels {
        ends[kind(y)] += 1;
    }
    let (full, partial) = (ends[0], ends[1]);
    let mut next = [0, full, full + partial];
    for (s, &y) in scores.iter().zip(labels) {
        let slot = &mut next[kind(y)];
        all[*slot] = s.f64();
        *slot += 1;
    }
    let (negatives, positives) = all.split_at(full + partial);
    brute::check(loss, positives, negatives)?;
    let (of_negatives, of_positives) = slopes.split_at_mut(full + partial);
    let (row_value, rest) = rest.split_at_mut(positives.len());
    let (row_slope, rest) = rest.split_at_mut(positives.len());
    let ones = &mut rest[..positives.len()];
    ones.fill(1.0);
    of_negatives.fill(0.0);
    brute::row_sums(loss, positives, &negatives[..full], row_value, of_positives)?;
    brute::add_slopes(loss, positives, ones, negatives, of_negatives)?;
    let mut value = row_value.iter().sum::<f64>();
    // The few negatives on the edge of a range of ranks.
    for (at, &y) in (full..).zip(labels.iter().filter(|&&y| kind(y) == 1)) {
        let weight = y.weight();
        of_negatives[at] *= weight;
        if weight > 0.0 {
            brute::row_sums(loss, positives, &negatives[at..=at], row_value, row_slope)?;
            value += weight * row_value.iter().sum::<f64>();
            for (sum, s) in of_positives.iter_mut().zip(&*row_slope) {
                *sum += weight * s;
            }
        }
    }
    let mut next = [0, full, full + partial];
    for (g, &y) in grad.iter_mut().zip(labels) {
        let slot = &mut next[kind(y)];
        *g = G::settled_of(mean * slopes[*slot]);
        *slot += 1;
    }
    Ok(value * mean)
}

/// The AP objective −1/n₊ Σ g1/g2 and its derivative by every score; see [`auc`].
///
/// # Errors
/// `Overflow`, before anything is written.
pub(super) fn ap<S: Real, Y: Class, G: Real, L: Surrogate<f64>>(
    scores: &[S],
    labels: &[Y],
    loss: L,
    positives: usize,
    memory: &mut [f64],
    grad: &mut [G],
) -> Result<f64> {
    let (all, rest) = memory.halves_mut(scores.len())?;
    let (slopes, rest) = rest.halves_mut(scores.len())?;
    let negatives = scores.len() - positives;
    let mut next = [0, negatives];
    for (s, &y) in scores.iter().zip(labels) {
        let slot = &mut next[usize::from(y.is_positive())];
        all.put(*slot, s.f64());
        *slot += 1;
    }
    let (low, high) = all.halves(negatives)?;
    brute::check(loss, high, low)?;
    brute::check(loss, high, high)?;
    let mut parts = rest.chunks_exact_mut(positives.max(1));
    let mut part = || parts.next().unwrap_or_default();
    let (value_n, value_p, slope_n, slope_p, beta, both) = (part(), part(), part(), part(), part(), part());
    brute::row_sums(loss, high, low, value_n, slope_n)?;
    brute::row_sums(loss, high, high, value_p, slope_p)?;
    let share = 1.0 / positives as f64;
    let (of_negatives, of_positives) = slopes.halves_mut(negatives)?;
    let mut value = 0.0;
    let sums = value_n.iter().zip(&*value_p).zip(slope_n.iter().zip(&*slope_p));
    let weights = beta.iter_mut().zip(&mut *both).zip(&mut *of_positives);
    for (((value_n, value_p), (slope_n, slope_p)), ((beta, both), slope)) in sums.zip(weights) {
        let below = value_n.settled();
        let inverse = 1.0 / (below + value_p);
        let ratio = value_p * inverse;
        value -= share * ratio;
        *beta = share * ratio * inverse;
        *both = -(share * (below * inverse) * inverse).settled();
        *slope = *beta * slope_n + *both * slope_p;
    }
    of_negatives.fill(0.0);
    brute::add_slopes(loss, high, beta, low, of_negatives)?;
    brute::add_slopes(loss, high, both, high, of_positives)?;
    let mut next = [0, negatives];
    for (g, &y) in grad.iter_mut().zip(labels) {
        let slot = &mut next[usize::from(y.is_positive())];
        *g = G::settled_of(slopes.at(*slot));
        *slot += 1;
    }
    Ok(value)
}
