//! Sorted positives, and the rank of any score among them.

use super::class::Class;
use crate::real::Real;

/// Bits of a radix digit.
const DIGIT: usize = 11;
/// Values of a radix digit.
const DIGITS: usize = 1 << DIGIT;
/// Below this many keys the comparison sort of `core` is faster.
const RADIX_FROM: usize = 1500;
/// A bucket with more entries is searched by halving.
const LINEAR: usize = 8;

/// `u32` elements that [`sort_positives`] borrows.
pub(super) const SORT_U32: usize = 3 * DIGITS;

/// Writes the positions of the positives in ascending order of score; ties in order of position for `f32`.
///
/// `order` is as long as there are positives, `keys` twice as long, `counts` has [`SORT_U32`] elements.
pub(super) fn sort_positives<S: Real, Y: Class>(
    scores: &[S],
    labels: &[Y],
    order: &mut [u32],
    keys: &mut [u64],
    counts: &mut [u32],
) {
    let count = order.len();
    let (keys, spare) = keys.split_at_mut(count);
    if S::BYTES > 4 {
        let positions = (0..).zip(labels).filter(|&(_, y)| y.is_positive());
        for (slot, (at, _)) in order.iter_mut().zip(positions) {
            *slot = at;
        }
        order.sort_unstable_by_key(|&at| (scores.get(at as usize).map_or(0, |s| s.key()), at));
        return;
    }
    // The key fills the upper half, the position the lower.
    let mut filled = 0;
    for (block, (scores, labels)) in scores.chunks(64).zip(labels.chunks(64)).enumerate() {
        let mut packed = [0u64; 64];
        let mut found = 0;
        for (l, (s, &y)) in scores.iter().zip(labels).enumerate() {
            packed[found & 63] = s.key() << 32 | (64 * block + l) as u64;
            found += usize::from(y.is_positive());
        }
        let end = (filled + found).min(count);
        keys[filled..end].copy_from_slice(&packed[..end - filled]);
        filled = end;
    }
    let sorted = if count < RADIX_FROM {
        keys.sort_unstable();
        keys
    } else {
        radix(keys, spare, counts)
    };
    for (slot, &key) in order.iter_mut().zip(&*sorted) {
        *slot = key as u32;
    }
}

/// Sorts by the upper half of each key, least significant digit first; returns the half of the memory with the result.
fn radix<'a>(keys: &'a mut [u64], spare: &'a mut [u64], counts: &mut [u32]) -> &'a mut [u64] {
    counts.fill(0);
    let (counts, _) = counts.as_chunks_mut::<DIGITS>();
    for &key in &*keys {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[(key >> (32 + DIGIT * pass)) as usize % DIGITS] += 1;
        }
    }
    let (mut from, mut to) = (keys, spare);
    for (pass, counts) in counts.iter_mut().enumerate() {
        if counts.iter().any(|&c| c as usize == from.len()) {
            continue; // all keys share this digit
        }
        let mut sum = 0;
        for c in counts.iter_mut() {
            (*c, sum) = (sum, sum + *c);
        }
        for &key in &*from {
            let slot = &mut counts[(key >> (32 + DIGIT * pass)) as usize % DIGITS];
            to[*slot as usize] = key;
            *slot += 1;
        }
        core::mem::swap(&mut from, &mut to);
    }
    from
}

/// Buckets over sorted thresholds: the number of thresholds below x in constant expected time.
///
/// The buckets divide the middle of the thresholds evenly; the lowest and highest 1/128 share the outermost buckets, so
/// that far outliers do not starve the others.
#[derive(Clone, Copy)]
pub(super) struct Buckets<'a> {
    low: f64,
    scale: f64,
    last: f64,
    mask: usize,
    /// Thresholds in lower buckets, by bucket, and the total at the end.
    starts: &'a [u32],
}

impl<'a> Buckets<'a> {
    /// `u32` elements for `count` thresholds.
    pub(super) const fn need(count: usize) -> usize {
        Self::buckets(count) + 1
    }
    const fn buckets(count: usize) -> usize {
        if count > 1 << 21 { 1 << 22 } else { (2 * count).next_power_of_two() }
    }

    /// Over `count` ≥ 1 ascending thresholds; `starts` has [`need`](Self::need) elements.
    pub(super) fn new(count: usize, threshold: impl Fn(usize) -> f64, starts: &'a mut [u32]) -> Self {
        let buckets = Self::buckets(count);
        let clip = count / 128;
        let (low, high) = (threshold(clip), threshold(count - 1 - clip));
        let last = (buckets - 1) as f64;
        let scale = if high > low { (last / (high - low)).or_smaller(f64::MAX) } else { 0.0 };
        starts.fill(0);
        let mut this = Self { low, scale, last, mask: buckets - 1, starts: &[] };
        for k in 0..count {
            starts[this.bucket(threshold(k)) + 1] += 1;
        }
        let mut sum = 0;
        for s in starts.iter_mut() {
            sum += *s;
            *s = sum;
        }
        this.starts = starts;
        this
    }

    /// The bucket of x; never falls as x rises.
    #[inline(always)]
    pub(super) fn bucket(&self, x: f64) -> usize {
        const ONES: f64 = 4_503_599_627_370_496.0; // 2^52, whose low bits count in ones
        let z = (x - self.low) * self.scale;
        let z = if z > 0.0 { z } else { 0.0 };
        let z = if z < self.last { z } else { self.last };
        (z + ONES).to_bits() as usize & self.mask
    }

    /// Thresholds below x, given its bucket. `cells[k + 1][0]` − `margin` is threshold k, followed by one of +∞.
    #[inline(always)]
    pub(super) fn below(&self, bucket: usize, x: f64, margin: f64, cells: &[[f64; 4]]) -> usize {
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        if end - start > LINEAR {
            return Self::search(start, end, x, margin, cells);
        }
        let mut k = start;
        while (x - cells[k + 1][0]) + margin > 0.0 {
            k += 1;
        }
        k
    }

    #[inline(never)]
    fn search(start: usize, end: usize, x: f64, margin: f64, cells: &[[f64; 4]]) -> usize {
        let run = &cells[start + 1..end + 1];
        let is_below = |c: &[f64; 4]| (x - c[0]) + margin > 0.0;
        // Points outside all thresholds are common and need no search.
        match (run.first(), run.last()) {
            (Some(first), Some(last)) if is_below(first) => {
                if is_below(last) {
                    end
                } else {
                    start + run.partition_point(is_below)
                }
            }
            _ => start,
        }
    }
}
