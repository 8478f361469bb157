//! A plane to show many features on.

use alloc::vec;
use alloc::vec::Vec;

/// Values count up to so many mean absolute deviations from their column's mean. A normal column reaches that (3.2 of its
/// standard deviations) once in 700 rows; a column that is nearly always the same does not draw the plane to its few
/// exceptions.
const REACH: f64 = 4.0;

/// The first `most` rows on a plane: themselves for two features, else their first two principal components of
/// columns without their extremes (40 rounds of the power method on at most 1000 rows).
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
    let mut reach = vec![0.0_f64; cols];
    for row in x.chunks_exact(cols).take(used) {
        for ((r, &value), m) in reach.iter_mut().zip(row).zip(&mean) {
            *r += (f64::from(value) - m).abs() * (REACH / used as f64);
        }
    }
    let cut = |row: &[f32], j: usize| (f64::from(row[j]) - mean[j]).max(-reach[j]).min(reach[j]);
    // What was cut was more on one side.
    let mut rest = vec![0.0_f64; cols];
    for row in x.chunks_exact(cols).take(used) {
        for (j, r) in rest.iter_mut().enumerate() {
            *r += cut(row, j) / used as f64;
        }
    }
    let centred = |row: &[f32], j: usize| cut(row, j) - rest[j];
    let against = |row: &[f32], axis: &[f64]| -> f64 { (0..cols).map(|j| centred(row, j) * axis[j]).sum() };
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for number in 0..2 {
        let mut axis: Vec<f64> = (0..cols).map(|j| 1.0 / (1 + (j + number) % 7) as f64).collect();
        for _ in 0..40 {
            let mut next = vec![0.0; cols];
            for row in x.chunks_exact(cols).take(used) {
                let part = against(row, &axis);
                for (j, n) in next.iter_mut().enumerate() {
                    *n += part * centred(row, j);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_extreme_value_does_not_take_the_plane() {
        let cols = 3;
        let mut x: Vec<f32> = (0..200).flat_map(|k| [(k as f32).sin(), (k as f32).cos(), 0.0]).collect();
        x[5 * cols + 2] = 100.0;
        let flat = plane(&x, cols, 200);
        // The plane is that of the first two columns: distances in them are kept.
        let distance = |a: &[f32], b: &[f32]| libm::hypotf(a[0] - b[0], a[1] - b[1]);
        for k in (1..200).filter(|&k| k != 5) {
            let own = distance(&x[k * cols..], &x[..cols]);
            let shown = distance(&flat[2 * k..], &flat[..2]);
            assert!((own - shown).abs() < 0.02, "row {k}: {own} and {shown}");
        }
        // With its extreme value, that row alone would have been an axis.
        assert!(distance(&flat[10..], &flat[..2]) < 5.0);
    }
}
