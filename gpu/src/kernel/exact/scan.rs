//! Running sums along one class of the order: of weights N₀, of weighted distances N₁ and of their squares N₂, from the row
//! itself to the rows so far.
//!
//! ```text
//! N₂ ← N₂ + δ(2 N₁ + δ N₀),   N₁ ← N₁ + δ N₀
//! ```
//!
//! moves them over a gap δ. That is associative, so tiles are reduced, then their totals, then each row follows: `reduce`,
//! `spine`, `apply`. Every term is ≥ 0: nothing cancels, wherever the scores lie. Cost: each score is read twice; memory: two
//! floats a row.

use super::{MOST_ROWS, ROUNDS};

/// Rows of a workgroup.
pub const TILE: usize = 2048;
const WIDTH: usize = 256;
const EACH: usize = TILE / WIDTH;

// `spine`: its tiles twice, and the steps.
const _: () = assert!(2 * (MOST_ROWS / TILE).div_ceil(WIDTH) + 8 <= ROUNDS && 2 * EACH + 8 <= ROUNDS);

pub(crate) fn text() -> String {
    wgsl!("scan.wgsl").to_string()
}

/// What is scanned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scan {
    /// The first of the rows in the order.
    pub first: usize,
    /// How many.
    pub rows: usize,
    /// From the highest row down.
    pub down: bool,
    /// Keep N₁ and N₂ rather than N₀ and N₁.
    pub squares: bool,
    /// The weights of the lowest row and the highest, and 1 between them; none: each row has its own.
    pub ends: Option<[f32; 2]>,
}

impl Scan {
    /// Workgroups.
    pub fn tiles(&self) -> usize {
        self.rows.div_ceil(TILE)
    }

    /// As the shader has it.
    pub(crate) fn words(&self) -> [u32; 12] {
        let flags = u32::from(self.down) | u32::from(self.ends.is_none()) << 1 | u32::from(self.squares) << 2;
        let [low, high] = self.ends.unwrap_or_default().map(f32::to_bits);
        [self.first as u32, self.rows as u32, self.tiles() as u32, flags, low, high, 0, 0, 0, 0, 0, 0]
    }
}
