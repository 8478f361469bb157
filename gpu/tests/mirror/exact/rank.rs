//! Counts, average precision and points of the curves on the CPU, in the order of the device.

use crate::tree::{WIDTH, fold};
use undercurve_gpu::kernel::exact::rank::{POINTS, TILE};

/// Wins, ties, and the sum of the precisions, over the keys as `sort` leaves them.
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
