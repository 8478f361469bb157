//! Whole numbers in a state of reals: two values, a multiple of 2²⁰ and a rest, exact in `f32` up to 2⁴⁴.

use crate::error::{Error, Result};
use crate::real::Real;

const RADIX: u64 = 1 << 20;
/// No run comes to as many; sums of a few of them are far from the end of `u64`.
const MOST: u64 = 1 << 44;

/// The number in `[multiple, rest]`, at most 2⁴⁴.
pub(super) fn read<T: Real>(pair: &[T]) -> u64 {
    // A float-to-integer cast saturates, so whatever a damaged state holds, this is a number.
    (pair[0].f64() as u64).saturating_mul(RADIX).saturating_add(pair[1].f64() as u64).min(MOST)
}

/// The number of updates in `[multiple, rest]`, to which one can be added.
///
/// # Errors
/// `Overflow` for a number that no run comes to, as a damaged state may hold.
pub(super) fn updates<T: Real>(pair: &[T]) -> Result<u64> {
    match read(pair) {
        MOST => Err(Error::Overflow { what: "the number of updates" }),
        count => Ok(count),
    }
}

/// Writes a number as `[multiple, rest]`.
pub(super) fn write<T: Real>(count: u64, pair: &mut [T]) {
    pair[0] = T::of((count / RADIX) as f64);
    pair[1] = T::of((count % RADIX) as f64);
}
