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
pub(crate) const DIGITS: usize = 16;
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

/// The same passes on the CPU.
pub mod mirror {
    use super::{DIGITS, PASSES, TILE, key};

    /// Keys and marks (row, and class << 31): the negatives, then the positives, each by ascending score, rows of one score
    /// by number.
    #[must_use]
    pub fn sort(scores: &[f32], labels: &[u8]) -> (Vec<u32>, Vec<u32>) {
        let mut keys: Vec<u32> = scores.iter().map(|&s| key(s)).collect();
        let mut marks: Vec<u32> = (0..).zip(labels).map(|(row, &y)| row | u32::from(y) << 31).collect();
        for pass in 0..PASSES {
            let digits: Vec<usize> = match pass {
                8 => marks.iter().map(|mark| (mark >> 31) as usize).collect(),
                _ => keys.iter().map(|key| (key >> (4 * pass)) as usize % DIGITS).collect(),
            };
            // `count` and `offsets`.
            let tiles: Vec<&[usize]> = digits.chunks(TILE).collect();
            let mut next = vec![[0; DIGITS]; tiles.len()];
            let mut sum = 0;
            for digit in 0..DIGITS {
                for (next, tile) in next.iter_mut().zip(&tiles) {
                    next[digit] = sum;
                    sum += tile.iter().filter(|&&d| d == digit).count();
                }
            }
            // `scatter`.
            let (mut keys_to, mut marks_to) = (keys.clone(), marks.clone());
            for (at, &digit) in digits.iter().enumerate() {
                let place = &mut next[at / TILE][digit];
                (keys_to[*place], marks_to[*place]) = (keys[at], marks[at]);
                *place += 1;
            }
            (keys, marks) = (keys_to, marks_to);
        }
        (keys, marks)
    }
}
