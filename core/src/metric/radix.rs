//! Least-significant-digit radix sort of `u64` keys.

use crate::slices::Part;

/// Bits of a digit: three passes for the keys of `f32`, six for those of `f64`.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;
/// Below this a comparison sort wins.
pub(super) const SMALL: usize = 1 << 10;

/// Elements of `counts` that [`sort_keys`] needs for `n` keys.
pub(crate) const fn counts_len(n: usize) -> usize {
    if n < SMALL { 0 } else { BUCKETS }
}

/// Sorts `keys` ascending. `spare` is at least as long as `keys`, `counts` at least [`counts_len`]; both are
/// overwritten. Digits in which all keys agree cost no pass.
///
/// Linear time, plus one reading pass to find those digits.
pub(crate) fn sort_keys(keys: &mut [u64], spare: &mut [u64], counts: &mut [u32]) {
    if !sort_from(keys, spare, counts, 0) {
        crate::sort::ascending(keys);
    }
}

/// Sorts by the high 32 bits alone, which leaves equal ones in their order; at least a thousand.
pub(super) fn sort_high(keys: &mut [u64], spare: &mut [u64], counts: &mut [u32]) {
    sort_from(keys, spare, counts, 32);
}

/// Sorts by the bits from this one on; `false` where there are too few keys, or there is too little room.
fn sort_from(keys: &mut [u64], spare: &mut [u64], counts: &mut [u32], lowest: u32) -> bool {
    let (Some(spare), Some(counts), Some(&first), true) =
        (spare.get_mut(..keys.len()), counts.first_chunk_mut(), keys.first(), keys.len() >= SMALL)
    else {
        return false;
    };
    let varied = keys.iter().fold(0, |bits, &key| bits | (key ^ first));
    let mut in_keys = true;
    for shift in (lowest..u64::BITS).step_by(DIGIT as usize) {
        if (varied >> shift) & (BUCKETS as u64 - 1) == 0 {
            continue;
        }
        if in_keys {
            pass(keys, spare, counts, shift);
        } else {
            pass(spare, keys, counts, shift);
        }
        in_keys = !in_keys;
    }
    if !in_keys {
        keys.copy(spare);
    }
    true
}

/// One stable pass by the digit at `shift`.
fn pass(from: &[u64], to: &mut [u64], counts: &mut [u32; BUCKETS], shift: u32) {
    let digit = |key: u64| (key >> shift) as usize & (BUCKETS - 1);
    counts.fill(0);
    for &key in from {
        counts[digit(key)] += 1;
    }
    let mut start = 0;
    for count in counts.iter_mut() {
        start += core::mem::replace(count, start);
    }
    for &key in from {
        let slot = &mut counts[digit(key)];
        // (There is room for every key.)
        if let Some(to) = to.get_mut(*slot as usize) {
            *to = key;
        }
        *slot += 1;
    }
}
