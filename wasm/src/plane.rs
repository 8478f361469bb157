//! A plane to show many features on.

use alloc::vec;
use alloc::vec::Vec;
/// The first `most` rows on a plane: themselves for two features, else their first two principal components (40 rounds
/// of the power method on at most 1000 rows).
pub fn plane(x: &[f32], cols: usize, most: usize) -> Vec<f32> {
    let rows = x.len() / cols.max(1);
    if cols == 2 {
        return x[..2 * most.min(rows)].to_vec();
    }
    let used = rows.min(1000);
    let mut mean = vec![0.0_f64; cols];
    for row in x.chunks_exact(cols).take(used) {
        for (m, &value) in mean.iter_mut().zip(row) {
            *m += f64::from(value) / used as f64;
        }
    }
    let against = |row: &[f32], axis: &[f64]| -> f64 {
        row.iter().zip(&mean).zip(axis).map(|((&value, m), a)| (f64::from(value) - m) * a).sum()
    };
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for number in 0..2 {
        let mut axis: Vec<f64> = (0..cols).map(|j| 1.0 / (1 + (j + number) % 7) as f64).collect();
        for _ in 0..40 {
            let mut next = vec![0.0; cols];
            for row in x.chunks_exact(cols).take(used) {
                let part = against(row, &axis);
                for ((n, &value), m) in next.iter_mut().zip(row).zip(&mean) {
                    *n += part * (f64::from(value) - m);
                }
            }
            for other in &axes {
                let part: f64 = next.iter().zip(other).map(|(a, b)| a * b).sum();
                next.iter_mut().zip(other).for_each(|(a, b)| *a -= part * b);
            }
            let norm = libm::sqrt(next.iter().map(|a| a * a).sum());
            if norm > 0.0 {
                next.iter_mut().for_each(|a| *a /= norm);
                axis = next;
            }
        }
        axes.push(axis);
    }
    x.chunks_exact(cols)
        .take(most)
        .flat_map(|row| [against(row, &axes[0]) as f32, against(row, &axes[1]) as f32])
        .collect()
}
