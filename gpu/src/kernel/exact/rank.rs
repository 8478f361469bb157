//! Wins and ties, average precision and points of the curves from the order.
//!
//! Each positive looks itself up among the rows of either class by halving. Wins and ties are integers of 64 bits in two
//! words; precisions are f32, summed in a fixed tree for 1024 positives and by the CPU, in f64, from there on.
//! Cost: 3 searches a positive.

use super::{HALVINGS, ROUNDS, on_order};

/// Positives of a workgroup.
pub const TILE: usize = 1024;
/// Words of a workgroup: wins, ties, precision.
pub(crate) const PART: usize = 5;
/// Points of the curves, those of each class by half.
pub const POINTS: usize = 510;

const WIDTH: usize = 256;
const _: () = assert!(TILE / WIDTH * (1 + 3 * HALVINGS) + 8 <= ROUNDS);

pub(crate) fn text() -> String {
    on_order(wgsl!("rank.wgsl"))
}

/// Words that a call writes.
pub(crate) fn parts_len(positives: usize) -> usize {
    PART * positives.div_ceil(TILE) + 3 * POINTS
}
