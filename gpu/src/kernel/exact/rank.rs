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

/// Sums a workgroup's values as the shader does.
pub(super) fn fold(mut values: [f32; WIDTH]) -> f32 {
    let mut step = WIDTH / 2;
    while step > 0 {
        for k in 0..step {
            values[k] += values[k + step];
        }
        step /= 2;
    }
    values[0]
}

/// The same on the CPU.
pub mod mirror {
    use super::{POINTS, TILE, WIDTH, fold};

    /// Wins, ties, and the sum of the precisions, over the keys as `sort` leaves them.
    #[must_use]
    pub fn tally(keys: &[u32], negatives: usize) -> (u64, u64, f64) {
        let (low, high) = keys.split_at(negatives);
        let (mut wins, mut ties, mut sum) = (0, 0, 0.0);
        for group in (0..high.len()).step_by(TILE) {
            let mut values = [0.0f32; WIDTH];
            for (k, &key) in high[group..].iter().take(TILE).enumerate() {
                let under = low.partition_point(|&x| x < key);
                wins += under as u64;
                ties += (low.partition_point(|&x| x <= key) - under) as u64;
                let found = high.len() - high.partition_point(|&x| x < key);
                values[k % WIDTH] += found as f32 / (found + low.len() - under) as f32;
            }
            sum += f64::from(fold(values));
        }
        (wins, ties, sum)
    }

    /// Key, true and false positives of each point.
    #[must_use]
    pub fn sample(keys: &[u32], negatives: usize) -> Vec<[u32; 3]> {
        let (low, high) = keys.split_at(negatives);
        let least = |class: &[u32], key: u32| (class.len() - class.partition_point(|&x| x < key)) as u32;
        let point = |class: &[u32], k: usize| {
            let key = class[class.len() - ((k + 1) * class.len()).div_ceil(POINTS / 2)];
            [key, least(high, key), least(low, key)]
        };
        [low, high]
            .into_iter()
            .flat_map(|class| (0..POINTS / 2).map(move |k| (class, k)))
            .map(|(c, k)| point(c, k))
            .collect()
    }
}
