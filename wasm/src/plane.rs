//! A plane on which rows with many features are drawn.

use alloc::vec;
use alloc::vec::Vec;
use undercurve::data::Rows;

/// Values count up to so many mean absolute deviations from their column's mean. A normal column reaches that (3.2 of its
/// standard deviations) once in 700 rows; a column that is nearly always the same does not draw the plane to its few
/// exceptions.
const REACH: f64 = 4.0;

/// Rows as what they store: column and value, and where each row ends.
struct Entries {
    entries: Vec<(usize, f64)>,
    ends: Vec<usize>,
}

impl Entries {
    fn of(rows: Rows<'_, f32>, count: usize) -> Self {
        let cols = rows.cols();
        let (mut entries, mut ends) = (Vec::new(), vec![0]);
        for row in 0..count {
            match rows {
                Rows::Dense { data, .. } => {
                    entries.extend(data[row * cols..][..cols].iter().map(|&x| f64::from(x)).enumerate());
                }
                Rows::Csr { ptr, col, val, .. } => {
                    entries.extend((ptr[row]..ptr[row + 1]).map(|at| (col[at] as usize, f64::from(val[at]))));
                }
            }
            ends.push(entries.len());
        }
        Self { entries, ends }
    }

    fn row(&self, row: usize) -> &[(usize, f64)] {
        &self.entries[self.ends[row]..self.ends[row + 1]]
    }

    fn dot(&self, row: usize, axis: &[f64]) -> f64 {
        self.row(row).iter().map(|&(j, value)| value * axis[j]).sum()
    }

    /// Cuts extremes off and centres, by the first `used` rows. Returns a row of zeros, centred; the others differ from it where
    /// they store a value, by what is left here.
    fn centre(&mut self, cols: usize, used: usize) -> Vec<f64> {
        let share = 1.0 / used as f64;
        let stored = &self.entries[..self.ends[used]];
        let mut mean = vec![0.0_f64; cols];
        // Values that are not stored are 0, in so many of the rows.
        let mut zeros = vec![used as f64; cols];
        for &(j, value) in stored {
            mean[j] += value * share;
            zeros[j] -= 1.0;
        }
        let mut reach: Vec<f64> = zeros.iter().zip(&mean).map(|(n, m)| n * m.abs() * (REACH * share)).collect();
        for &(j, value) in stored {
            reach[j] += (value - mean[j]).abs() * (REACH * share);
        }
        let cut = |j: usize, value: f64| (value - mean[j]).max(-reach[j]).min(reach[j]);
        // What was cut was more on one side.
        let mut rest: Vec<f64> = (0..cols).map(|j| zeros[j] * cut(j, 0.0) * share).collect();
        for &(j, value) in stored {
            rest[j] += cut(j, value) * share;
        }
        for (j, value) in &mut self.entries {
            *value = cut(*j, *value) - cut(*j, 0.0);
        }
        (0..cols).map(|j| cut(j, 0.0) - rest[j]).collect()
    }
}

/// The first `most` rows on a plane: themselves for two features, else their first two principal components of
/// columns without their extremes (40 rounds of the power method on at most 1000 rows). Costs O(values stored + columns)
/// a round: centred sparse rows are a vector that all share and what each adds to it.
pub fn plane(rows: Rows<'_, f32>, most: usize) -> Vec<f32> {
    let cols = rows.cols();
    let most = most.min(rows.len());
    let used = rows.len().min(1000);
    let mut stored = Entries::of(rows, most.max(used));
    if cols == 2 {
        let mut out = vec![0.0; 2 * most];
        for row in 0..most {
            stored.row(row).iter().for_each(|&(j, value)| out[2 * row + j] = value as f32);
        }
        return out;
    }
    let zero = stored.centre(cols, used);
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for number in 0..2 {
        let mut axis: Vec<f64> = (0..cols).map(|j| 1.0 / (1 + (j + number) % 7) as f64).collect();
        for _ in 0..40 {
            let mut next = vec![0.0; cols];
            let base = dot(&zero, &axis);
            let mut total = 0.0;
            for at in 0..used {
                let part = base + stored.dot(at, &axis);
                total += part;
                stored.row(at).iter().for_each(|&(j, value)| next[j] += part * value);
            }
            next.iter_mut().zip(&zero).for_each(|(n, z)| *n += total * z);
            for other in &axes {
                let part = dot(&next, other);
                next.iter_mut().zip(other).for_each(|(a, b)| *a -= part * b);
            }
            let norm = libm::sqrt(dot(&next, &next));
            if norm > 0.0 {
                next.iter_mut().for_each(|a| *a /= norm);
                axis = next;
            }
        }
        axes.push(axis);
    }
    let base = [dot(&zero, &axes[0]), dot(&zero, &axes[1])];
    (0..most).flat_map(|at| [0, 1].map(|axis| (base[axis] + stored.dot(at, &axes[axis])) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_extreme_value_does_not_take_the_plane() {
        let cols = 3;
        let mut x: Vec<f32> = (0..200).flat_map(|k| [(k as f32).sin(), (k as f32).cos(), 0.0]).collect();
        x[5 * cols + 2] = 100.0;
        let flat = plane(Rows::dense(&x, cols).unwrap(), 200);
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

    #[test]
    fn sparse_rows_lie_where_the_same_rows_lie_dense() {
        let (rows, cols) = (150, 9);
        let value =
            |row: usize, j: usize| if (row * 7 + j * 5).is_multiple_of(4) { ((row + 3 * j) as f32).sin() } else { 0.0 };
        let x: Vec<f32> = (0..rows * cols).map(|at| value(at / cols, at % cols)).collect();
        let (mut ptr, mut col, mut val) = (vec![0], Vec::new(), Vec::new());
        for row in x.chunks_exact(cols) {
            for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                col.push(j as u32);
                val.push(value);
            }
            ptr.push(col.len());
        }
        let dense = plane(Rows::dense(&x, cols).unwrap(), 60);
        let sparse = plane(Rows::csr(&ptr, &col, &val, cols).unwrap(), 60);
        assert_eq!((dense.len(), sparse.len()), (120, 120));
        assert!(dense.iter().zip(&sparse).all(|(a, b)| (a - b).abs() < 1e-6), "{dense:?}\n{sparse:?}");
        assert!(dense.iter().any(|a| a.abs() > 0.1));
    }
}
