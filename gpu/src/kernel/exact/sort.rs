//! A stable radix sort of the scores, four bits at a time, and the classes apart at the end.
//!
//! Eight passes over the digits of the keys and one over the class, each of `count`, `offsets` and `scatter`. Nothing waits
//! for another workgroup within a dispatch, as a look-back would have to, which many devices do not promise to end.
//! Cost: 9 · (3 reads and 2 writes) of a word a row; memory: four words a row.

use super::{MOST_ROWS, ROUNDS};

/// Rows of a workgroup.
pub const TILE: usize = 4096;
/// Passes: the digits of a key, least first, and the class.
pub const PASSES: usize = 9;
/// Values of a digit.
pub const DIGITS: usize = 16;
const WIDTH: usize = 256;

const TILES: usize = MOST_ROWS / TILE;
// `scatter`: of each round its two sums over 8 words, and the digits before. `offsets`: its tiles twice, and the steps.
const _: () = assert!(TILE / WIDTH * (1 + 8 + 8) + DIGITS <= ROUNDS && 2 * TILES.div_ceil(WIDTH) + 8 <= ROUNDS);

pub(crate) fn text() -> String {
    wgsl!("sort.wgsl").to_string()
}

/// Workgroups for so many rows.
pub(crate) fn tiles(rows: usize) -> usize {
    rows.div_ceil(TILE)
}

/// Words of counts for so many rows.
pub(crate) fn counts_len(rows: usize) -> usize {
    DIGITS * (tiles(rows) + 1)
}

/// The uniform of a pass.
pub(crate) fn words(rows: usize, pass: usize) -> [u32; 12] {
    let mut words = [0; 12];
    words[..3].copy_from_slice(&[rows as u32, tiles(rows) as u32, 4 * pass as u32]);
    words
}

/// The key of a finite score: unsigned keys compare as the scores do, and both zeros have one.
#[must_use]
pub fn key(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits ^ 0x8000_0000 }
}

/// The score of a key.
#[must_use]
pub fn score(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key ^ 0x8000_0000 } else { !key })
}
