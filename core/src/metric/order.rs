//! Rows with weights in the order that sums run down: by falling score, among equal scores by rising weight.
//!
//! A row's number lies below 32 bits of what it is sorted by, in one `u64`: of the score's key the high half, among equal ones the low half, then
//! both halves of the weight. Each is a radix sort of those 32 bits alone, or below a thousand rows one by comparing. O(n). What sums are of is then
//! fetched once, since it lies anywhere.

use super::radix::{SMALL, sort_high};
use crate::real::Real;
use core::cmp::Ordering;

/// What is sorted.
struct Rows<'a, T> {
    scores: &'a [T],
    weights: &'a [f64],
}

impl<T: Real> Rows<'_, T> {
    /// The key of a row, of which the smallest comes first.
    fn key(&self, row: usize) -> (u64, u64) {
        let score = self.scores.get(row).map_or(0, |score| score.key());
        (!score, self.weights.get(row).map_or(0, |weight| weight.to_bits()))
    }

    /// A quarter of it.
    fn part(&self, row: usize, level: u32) -> u64 {
        let (score, weight) = self.key(row);
        let half = if level < 2 { score } else { weight };
        if level.is_multiple_of(2) { half >> 32 } else { half & u64::from(u32::MAX) }
    }

    fn compare(&self, a: u64, b: u64) -> Ordering {
        let row = |item: u64| (item & u64::from(u32::MAX)) as usize;
        self.key(row(a)).cmp(&self.key(row(b))).then(a.cmp(&b))
    }

    /// Sorts rows that agree in all parts before this one.
    fn sort(&self, items: &mut [u64], spare: &mut [u64], counts: &mut [u32], level: u32) {
        if items.len() < SMALL {
            crate::sort::ascending_by(items, |a, b| self.compare(a, b));
            return;
        }
        if level == 4 {
            return;
        }
        for item in items.iter_mut() {
            let row = *item & u64::from(u32::MAX);
            *item = self.part(row as usize, level) << 32 | row;
        }
        sort_high(items, spare, counts);
        for equal in items.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if equal.len() > 1 {
                self.sort(equal, spare, counts, level + 1);
            }
        }
    }
}

/// Writes to the front of `items` the rows that weigh something, in order; how many there are. `items` and `spare` are as long as `scores`, `counts`
/// as [`counts_len`](super::radix::counts_len) says.
pub(super) fn falling<T: Real>(
    scores: &[T],
    weights: &[f64],
    items: &mut [u64],
    spare: &mut [u64],
    counts: &mut [u32],
) -> usize {
    let mut count = 0;
    for (row, &weight) in weights.iter().enumerate() {
        // Every row is written; only one with a weight is kept.
        items[count] = row as u64;
        count += usize::from(weight > 0.0);
    }
    let items = &mut items[..count];
    Rows { scores, weights }.sort(items, spare, counts, 0);
    items.iter_mut().for_each(|item| *item &= u64::from(u32::MAX));
    count
}

/// The sign of a weight, which has none, says that its row is a positive.
const POSITIVE: u64 = 1 << 63;

/// For rows in order the keys of their scores, in their place, and to `weighed` their weights with their classes.
pub(super) fn fetch<T: Real>(scores: &[T], labels: &[u8], weights: &[f64], rows: &mut [u64], weighed: &mut [u64]) {
    for (row, weighed) in rows.iter_mut().zip(weighed) {
        let at = *row as usize;
        *weighed = weights[at].to_bits() | if labels[at] == 1 { POSITIVE } else { 0 };
        *row = scores[at].key();
    }
}

/// The groups of equal keys, with what was fetched of their rows.
pub(super) fn groups<'a>(keys: &'a [u64], mut weighed: &'a [u64]) -> impl Iterator<Item = (u64, &'a [u64])> {
    keys.chunk_by(|a, b| a == b).map(move |equal| {
        let (group, rest) = weighed.split_at(equal.len());
        weighed = rest;
        (equal[0], group)
    })
}

/// Each weight of a group, with the positives and negatives that have it.
pub(super) fn alike(group: &[u64]) -> impl Iterator<Item = (f64, u64, u64)> {
    group.chunk_by(|a, b| a & !POSITIVE == b & !POSITIVE).map(|rows| {
        let positives = rows.iter().map(|weighed| weighed >> 63).sum::<u64>();
        (f64::from_bits(rows[0] & !POSITIVE), positives, rows.len() as u64 - positives)
    })
}
