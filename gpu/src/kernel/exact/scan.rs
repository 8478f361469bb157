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
    pub(crate) fn tiles(&self) -> usize {
        self.rows.div_ceil(TILE)
    }

    /// As the shader has it.
    pub(crate) fn words(&self) -> [u32; 12] {
        let flags = u32::from(self.down) | u32::from(self.ends.is_none()) << 1 | u32::from(self.squares) << 2;
        let [low, high] = self.ends.unwrap_or_default().map(f32::to_bits);
        [self.first as u32, self.rows as u32, self.tiles() as u32, flags, low, high, 0, 0, 0, 0, 0, 0]
    }
}

/// The same on the CPU.
pub mod mirror {
    use super::super::sort::score;
    use super::{EACH, Scan, TILE, WIDTH};

    /// Score, N₀, N₁, N₂.
    type Sums = [f32; 4];

    fn join(a: Sums, b: Sums) -> Sums {
        let gap = (b[0] - a[0]).abs();
        [b[0], a[1] + b[1], (a[2] + gap * a[1]) + b[2], (a[3] + gap * (2.0 * a[2] + gap * a[1])) + b[3]]
    }

    /// Inclusive sums in doubling steps.
    fn run_up(runs: &mut [Sums; WIDTH]) {
        let mut step = 1;
        while step < WIDTH {
            let before = *runs;
            for local in step..WIDTH {
                runs[local] = join(before[local - step], before[local]);
            }
            step += step;
        }
    }

    /// Writes the two sums of each row of the scan to `sums`, which is as long as `keys`; `weights` too, where it is read.
    pub fn scan(scan: &Scan, keys: &[u32], weights: &[f32], sums: &mut [[f32; 2]]) {
        let place = |k: usize| scan.first + if scan.down { scan.rows - 1 - k } else { k };
        let item = |k: usize| -> Sums {
            let at = place(k.min(scan.rows - 1));
            let weight = match scan.ends {
                None => weights[at],
                Some([low, _]) if at == scan.first => low,
                Some([_, high]) if at == scan.first + scan.rows - 1 => high,
                Some(_) => 1.0,
            };
            [score(keys[at]), if k < scan.rows { weight } else { 0.0 }, 0.0, 0.0]
        };
        let own = |tile: usize| {
            let mut runs = [[0.0; 4]; WIDTH];
            for (local, run) in runs.iter_mut().enumerate() {
                let k = tile * TILE + local * EACH;
                *run = (1..EACH).fold(item(k), |run, e| join(run, item(k + e)));
            }
            run_up(&mut runs);
            runs
        };
        let tiles = scan.tiles();
        let mut totals: Vec<Sums> = (0..tiles).map(|tile| own(tile)[WIDTH - 1]).collect();
        let each = tiles.div_ceil(WIDTH);
        let mut runs = [[0.0; 4]; WIDTH];
        for (local, run) in runs.iter_mut().enumerate() {
            let (start, end) = ((local * each).min(tiles), (local * each + each).min(tiles));
            let nothing = [item((start * TILE).min(scan.rows))[0], 0.0, 0.0, 0.0];
            *run = totals[start..end].iter().fold(nothing, |run, total| join(run, *total));
        }
        run_up(&mut runs);
        for local in 0..WIDTH {
            let (start, end) = ((local * each).min(tiles), (local * each + each).min(tiles));
            let mut run = if local > 0 { runs[local - 1] } else { [item(0)[0], 0.0, 0.0, 0.0] };
            for total in &mut totals[start..end] {
                let before = run;
                run = join(run, *total);
                *total = before;
            }
        }
        for (tile, total) in totals.iter().enumerate() {
            let runs = own(tile);
            for local in 0..WIDTH {
                let mut run = if local > 0 { join(*total, runs[local - 1]) } else { *total };
                let k = tile * TILE + local * EACH;
                for k in k..scan.rows.min(k + EACH) {
                    run = join(run, item(k));
                    sums[place(k)] = if scan.squares { [run[2], run[3]] } else { [run[1], run[2]] };
                }
            }
        }
    }
}
