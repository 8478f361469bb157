//! The panels that scores lie in.

use crate::features::{COMPACT, SORTS};
use crate::pairs::tables::{BROAD_TERMS, FAST_TERMS, FULL_TERMS, Grade, whole, width};
use crate::real::Real;
use crate::slices::Place as _;

/// Rows taken at a time.
pub(super) const BLOCK: usize = 64;

/// Panels that so many rows can fill, at most.
pub(in crate::pairs) const fn panels(rows: usize) -> usize {
    if rows > 1 << 16 { 1 << 16 } else { rows }
}

/// Whether there may be more panels than are kept, which are then taken window by window.
pub(in crate::pairs) const fn is_windowed(rows: usize) -> bool {
    SORTS && panels(rows) < rows
}

/// Consecutive panels up to which no row is sorted.
const fn dense_panels(rows: usize) -> usize {
    if rows < 512 { 512 } else { panels(rows) }
}

/// The same limit for panels of `P` terms: those of the lower grade are half as wide, and hold half as much; those of few rows
/// hold half as much again.
pub(super) const fn limit<const P: usize>(rows: usize, most: usize) -> usize {
    if P >= FULL_TERMS {
        most * FULL_TERMS / P
    } else if 2 * most < panels(rows) {
        2 * most
    } else {
        panels(rows)
    }
}

/// Where a score lies.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    /// The width of a panel, and 1 / that.
    width: f64,
    inverse: f64,
    /// Half the width of a panel in units of 1/c.
    pub half: f64,
    /// Panel numbers (score / width, rounded) in ascending order.
    pub numbers: &'a [f64],
    /// Which of them are consecutive.
    bulk: (usize, usize),
    /// Whether all scores lie in those.
    pub dense: bool,
}

/// 1.5·2^52: adding it rounds to an integer, which the low bits then count.
const ONES: f64 = 6_755_399_441_055_744.0;
/// Panel numbers below this may be found so.
const LARGEST: f64 = 1e15;

/// The panel that a score, in widths of panels, lies in.
#[inline(always)]
pub(in crate::pairs) fn rounded(u: f64) -> f64 {
    if u.abs() < LARGEST { (u + ONES) - ONES } else { libm::rint(u) }
}

impl Grid<'_> {
    /// Panel and place in it (|x| ≤ 1) of up to [`BLOCK`] scores.
    #[inline(always)]
    pub(super) fn place<S: Real, const P: usize>(&self, scores: &[S], panel: &mut [u32; BLOCK], x: &mut [f64; BLOCK]) {
        let (start, end) = self.bulk;
        // The place of a score that is u widths in the panel of this number, without loss: 1 / a power of two is exact.
        let place = |score: f64, u: f64, number: f64| match P {
            BROAD_TERMS => 2.0 * (score - number * self.width) * self.inverse,
            _ => 2.0 * (u - number),
        };
        let first = (self.numbers.get(start).unwrap_or(&0.0) + ONES).to_bits();
        if self.dense {
            for ((s, p), x) in scores.iter().zip(panel).zip(x) {
                let u = s.f64() * self.inverse;
                let shifted = u + ONES;
                *p = shifted.to_bits().wrapping_sub(first) as u32;
                *x = place(s.f64(), u, shifted - ONES);
            }
            return;
        }
        for ((s, p), x) in scores.iter().zip(panel).zip(x) {
            let u = s.f64() * self.inverse;
            let shifted = u + ONES;
            let at = shifted.to_bits().wrapping_sub(first);
            if at < (end - start) as u64 {
                *p = start as u32 + at as u32;
                *x = place(s.f64(), u, shifted - ONES);
            } else {
                let number = libm::rint(u);
                *p = self.numbers.partition_point(|&k| k < number) as u32;
                *x = place(s.f64(), u, number);
            }
        }
    }
}

/// The grid for these scores and the arrays of its panels, or `None` when the scratch holds too few panels.
pub(super) fn grid<'a, S: Real, const P: usize>(
    scores: &[S],
    range: (f64, f64),
    scale: f64,
    most: usize,
    memory: &'a mut [f64],
    keys: &mut [u64],
) -> Option<(Grid<'a>, &'a mut [f64])> {
    let (half, inverse) = width::<P>(scale)?;
    let (low, high) = range;
    let (first, last) = (libm::rint(low * inverse), libm::rint(high * inverse));
    if !(last - first).is_finite() {
        return None;
    }
    let limit = limit::<P>(scores.len(), most);
    let (numbers, arrays) = memory.split_at_mut_checked(limit)?;
    let dense = fits(first, last, limit);
    let (low, high) = if dense {
        (first, last)
    } else {
        let (low, high, distinct) = bulk(scores, inverse, keys, |a, b| fits(a, b, limit / 2));
        // Rows that need sorting, in so many panels, are for `wide.rs`.
        if is_windowed(scores.len()) && low > high && 4 * distinct > SAMPLE {
            return None;
        }
        (low, high)
    };
    // The panels of the rows outside the bulk, ascending.
    let mut outside = 0;
    if !dense {
        for s in scores {
            let number = libm::rint(s.f64() * inverse);
            if !(number >= low && number <= high) {
                *keys.get_mut(outside)? = number.key();
                outside += 1;
            }
        }
    }
    let keys = keys.span_mut(0..outside);
    crate::sort::ascending(keys);
    let mut count = 0;
    let below = keys.partition_point(|&k| k < low.key());
    let distinct = |keys: &[u64], numbers: &mut [f64], count: &mut usize| -> Option<()> {
        let mut last = None;
        for &key in keys {
            if last != Some(key) {
                *numbers.get_mut(*count)? = f64::of_key(key);
                *count += 1;
            }
            last = Some(key);
        }
        Some(())
    };
    distinct(keys.span(0..below), numbers, &mut count)?;
    let start = count;
    let mut number = low;
    while number <= high {
        *numbers.get_mut(count)? = number;
        count += 1;
        number += 1.0;
    }
    let bulk = (start, count);
    distinct(keys.span(below..outside), numbers, &mut count)?;
    Some((Grid { width: whole::<P>(scale), inverse, half, numbers: numbers.get(..count)?, bulk, dense }, arrays))
}

/// Rows that a sample has at most.
const SAMPLE: usize = 1024;

/// Panel numbers that most scores lie between, judged from a sample; an empty range (low > high) when they are too far
/// apart by `fits`; and how many panels the sample has.
fn bulk<S: Real>(scores: &[S], inverse: f64, keys: &mut [u64], fits: impl Fn(f64, f64) -> bool) -> (f64, f64, usize) {
    let count = scores.len().min(SAMPLE);
    let keys = keys.span_mut(0..count);
    for (at, key) in keys.iter_mut().enumerate() {
        // Spread over the rows, with both ends, in integers.
        let row = (at as u64 * (scores.len() as u64 - 1) / (count as u64 - 1).max(1)) as usize;
        if let Some(score) = scores.get(row) {
            *key = libm::rint(score.f64() * inverse).key();
        }
    }
    crate::sort::ascending(keys);
    // Without the outermost 1/32 on either side, but with room for rows the sample missed.
    let clip = count / 32;
    let (low, high) = (f64::of_key(keys.at(clip)), f64::of_key(keys.at(count - 1 - clip)));
    let room = libm::rint(high - low) + 1.0;
    let distinct = 1 + keys.iter().zip(keys.iter().skip(1)).filter(|(a, b)| a != b).count();
    if fits(low - room, high + room) {
        (low - room, high + room, distinct)
    } else {
        (f64::INFINITY, f64::NEG_INFINITY, distinct)
    }
}

/// Whether all scores lie in consecutive panels of so many terms, which are then found without sorting.
fn is_dense<const P: usize>(rows: usize, (low, high): (f64, f64), scale: f64) -> bool {
    width::<P>(scale)
        .is_some_and(|(_, inverse)| fits(libm::rint(low * inverse), libm::rint(high * inverse), dense_panels(rows)))
}

/// Whether the lower grade is taken where it is asked for. Its panels are half as wide: where they are too many to be found
/// without sorting, and the others are not, they cost more. (`compact` has the higher grade alone.)
pub(in crate::pairs) fn is_fast(grade: Grade, range: (f64, f64), scale: f64, rows: usize) -> bool {
    !COMPACT
        && grade == Grade::Fast
        && (is_dense::<FAST_TERMS>(rows, range, scale) || !is_dense::<FULL_TERMS>(rows, range, scale))
}

/// Whether the panels from `first` to `last` are at most `limit` and may be found by adding [`ONES`].
fn fits(first: f64, last: f64, limit: usize) -> bool {
    last - first < limit as f64 && first.abs().or_larger(last.abs()) < LARGEST
}
