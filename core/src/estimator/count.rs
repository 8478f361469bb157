//! Whole numbers in a state of reals: two values, a multiple of 2²⁰ and a rest, exact in `f32` up to 2⁴⁴.

use crate::real::Real;

const RADIX: u64 = 1 << 20;

/// The number in `[multiple, rest]`.
pub(super) fn read<T: Real>(pair: &[T]) -> u64 {
    // A float-to-integer cast saturates, so whatever a damaged state holds, this is a number.
    (pair[0].f64() as u64).saturating_mul(RADIX).saturating_add(pair[1].f64() as u64)
}

/// Writes a number as `[multiple, rest]`.
pub(super) fn write<T: Real>(count: u64, pair: &mut [T]) {
    pair[0] = T::of((count / RADIX) as f64);
    pair[1] = T::of((count % RADIX) as f64);
}
