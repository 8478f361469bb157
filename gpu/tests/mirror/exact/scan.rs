//! Running sums on the CPU, in the order of the device.

use undercurve_gpu::kernel::exact::scan::{Scan, TILE};
use undercurve_gpu::kernel::exact::sort::score;

const WIDTH: usize = 256;
const EACH: usize = TILE / WIDTH;

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
