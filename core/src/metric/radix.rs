//! Least-significant-digit radix sort of `u64` keys.

/// Bits of a digit: three passes for the keys of `f32`, six for those of `f64`.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;
/// Below this the comparison sort of the standard library wins.
const SMALL: usize = 1 << 10;

/// Elements of `counts` that [`sort_keys`] needs for `n` keys.
pub(crate) const fn counts_len(n: usize) -> usize {
    if n < SMALL { 0 } else { BUCKETS }
}

/// Sorts `keys` ascending. `spare` is at least as long as `keys`, `counts` at least [`counts_len`]; both are
/// overwritten. Digits in which all keys agree cost no pass.
///
/// Linear time, plus one reading pass to find those digits.
pub(crate) fn sort_keys(keys: &mut [u64], spare: &mut [u64], counts: &mut [u32]) {
    if keys.len() < SMALL || spare.len() < keys.len() || counts.len() < BUCKETS {
        crate::sort::ascending(keys);
        return;
    }
    let spare = &mut spare[..keys.len()];
    let counts = &mut counts[..BUCKETS];
    let first = keys[0];
    let varied = keys.iter().fold(0, |bits, &key| bits | (key ^ first));
    let mut in_keys = true;
    for shift in (0..u64::BITS).step_by(DIGIT as usize) {
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
        keys.copy_from_slice(spare);
    }
}

/// One stable pass by the digit at `shift`.
fn pass(from: &[u64], to: &mut [u64], counts: &mut [u32], shift: u32) {
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
        to[*slot as usize] = key;
        *slot += 1;
    }
}
