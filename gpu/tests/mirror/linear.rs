//! A linear model on the CPU, in the order of the device.

use crate::tree::{WIDTH, fold};
use undercurve_gpu::kernel::exact::linear::CHUNK;

/// Scores of rows that lie column by column; `params` are weights and bias.
pub fn forward(x: &[f32], params: &[f32]) -> Vec<f32> {
    let cols = params.len() - 1;
    let rows = x.len() / cols;
    let score = |row| {
        let mut sum = [0.0f32; 4];
        for column in 0..cols {
            let lane = if column < cols / 4 * 4 { column % 4 } else { 0 };
            sum[lane] += params[column] * x[column * rows + row];
        }
        params[cols] + ((sum[0] + sum[2]) + (sum[1] + sum[3]))
    };
    (0..rows).map(score).collect()
}

/// The gradient by weights and bias, from that by the scores.
pub fn backward(x: &[f32], slopes: &[f32]) -> Vec<f32> {
    let rows = slopes.len();
    let sum = |column: usize| {
        let entry = |row: usize| if column * rows < x.len() { x[column * rows + row] } else { 1.0 };
        let chunk = |from: usize| {
            let mut values = [0.0f32; WIDTH];
            for (k, row) in (from..rows.min(from + CHUNK)).enumerate() {
                values[k % WIDTH] += slopes[row] * entry(row);
            }
            fold(values)
        };
        let mut values = [0.0f32; WIDTH];
        (0..rows).step_by(CHUNK).enumerate().for_each(|(k, from)| values[k % WIDTH] += chunk(from));
        fold(values)
    };
    (0..=x.len() / rows).map(sum).collect()
}
