//! A linear model over all rows: scores s = Xw + b, h of them, and from the slopes c by h the gradient Xᵀ(c·h′(s)), Σ c·h′(s).
//!
//! Rows lie column by column, so that neighbouring invocations read neighbouring numbers. Scores are four partial sums of every
//! fourth column. Sums over rows go by chunks of 1024: four rows an invocation and a tree; then by column over the chunks, every
//! 256th an invocation and a tree: no term is in more than 84 additions, at 2²⁴ rows. The least and the greatest h, as keys,
//! come with the scores; h within 10⁻³⁸ of 0 is 0.
//!
//! Cost: each entry is read twice, each slope once for eight columns. Memory: rows × columns, and one score a row.

use super::{MOST_ROWS, ROUNDS};

/// Rows of a workgroup.
pub const CHUNK: usize = 1024;
/// Columns of a workgroup of `backward`, the bias included.
pub(crate) const COLUMNS: usize = 8;
/// Columns, at most: a workgroup each, and within the rounds of an invocation.
pub const MOST_COLUMNS: usize = 16_383;

const WIDTH: usize = 256;
const _: () = assert!(MOST_COLUMNS + 4 * 3 + 4 + 8 <= ROUNDS && MOST_ROWS / CHUNK / WIDTH + 8 <= ROUNDS);

pub(crate) fn text() -> String {
    wgsl!("linear.wgsl").to_string()
}

/// The uniform of a dispatch over the chunks from `first` on.
pub(crate) fn words(rows: usize, cols: usize, first: usize, sigmoid: bool) -> [u32; 12] {
    let mut words = [0; 12];
    let of = [rows, cols, rows.div_ceil(CHUNK), first, usize::from(sigmoid)];
    words.iter_mut().zip(of).for_each(|(word, of)| *word = of as u32);
    words
}

/// The same on the CPU.
pub mod mirror {
    use super::super::rank::fold;
    use super::{CHUNK, WIDTH};

    /// Scores of rows that lie column by column; `params` are weights and bias.
    #[must_use]
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
    #[must_use]
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
}
