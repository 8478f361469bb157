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
