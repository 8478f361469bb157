//! The passes of the sort on the CPU.

use undercurve_gpu::kernel::exact::sort::{DIGITS, PASSES, TILE, key};

/// Keys and marks (row, and class << 31): the negatives, then the positives, each by ascending score, rows of one score
/// by number.
pub fn sort(scores: &[f32], labels: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let mut keys: Vec<u32> = scores.iter().map(|&s| key(s)).collect();
    let mut marks: Vec<u32> = (0..).zip(labels).map(|(row, &y)| row | u32::from(y) << 31).collect();
    for pass in 0..PASSES {
        let digits: Vec<usize> = if pass + 1 == PASSES {
            marks.iter().map(|mark| (mark >> 31) as usize).collect()
        } else {
            keys.iter().map(|key| (key >> (4 * pass)) as usize % DIGITS).collect()
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
