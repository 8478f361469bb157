//! Ranks of numbers, between knots.

use crate::checkpoint::{Coded, Reader};
use alloc::vec::Vec;

/// A point of a line of straight pieces: a number and its rank, which is the share of the rows below it, with half of those that
/// have it, less ½, times √12: of numbers without ties mean 0 and deviation 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// The number.
    pub at: f64,
    /// Its rank.
    pub rank: f64,
}

impl Coded for Knot {
    fn write(&self, out: &mut Vec<u8>) {
        self.at.write(out);
        self.rank.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { at: from.value()?, rank: from.value()? })
    }
}

/// The rank of a number: on the straight line between the knots beside it, and beyond the ends theirs.
#[must_use]
pub fn rank(knots: &[Knot], x: f64) -> f64 {
    let right = knots.partition_point(|knot| knot.at < x);
    match (right.checked_sub(1).and_then(|left| knots.get(left)), knots.get(right)) {
        (Some(left), Some(right)) => left.rank + (x - left.at) / (right.at - left.at) * (right.rank - left.rank),
        (Some(end), None) | (None, Some(end)) => end.rank,
        (None, None) => 0.0,
    }
}

/// Whether knots are those of a column: at least two, in ascending order.
pub(super) fn sound(knots: &[Knot]) -> bool {
    let above = |pair: &[Knot]| pair[0].at < pair[1].at && pair[0].rank < pair[1].rank;
    let finite = |knot: &Knot| knot.at.is_finite() && knot.rank.is_finite();
    knots.len() > 1 && knots.windows(2).all(above) && knots.iter().all(finite)
}
