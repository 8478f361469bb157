//! Sigmoid and logistic loss on the CPU, in the order of the device.

use super::hinge::{in_tiles, weight};
use super::scan::scan;
use crate::tree::{WIDTH, fold};
use undercurve_gpu::kernel::exact::panel::{self, Grid, STRETCH, Series, TERMS};
use undercurve_gpu::kernel::exact::{Job, hinge, sort::score};

type Terms = [f32; TERMS];

fn middle(grid: &Grid, panel: usize) -> f32 {
    ((grid.origin + panel as i32) as f32 + 0.5) * grid.width
}

/// The series of every panel, from the sums that `scan` left at the rows.
pub fn series(of: &Series, keys: &[u32], weights: &[f32], sums: &[[f32; 2]]) -> Vec<Terms> {
    let Series { grid, class: [start, end], range: [first, last], ends, down } = *of;
    let at = |k: usize| score(keys[k]);
    let weight = |k: usize| match ends {
        None => weights[k],
        Some([low, _]) if k == first => low,
        Some([_, high]) if k == last => high,
        Some(_) => 1.0,
    };
    let edge = |k: usize| (grid.origin + k as i32) as f32 * grid.width;
    let mut starts: Vec<usize> =
        (0..grid.panels).map(|k| start + keys[start..end].partition_point(|&key| score(key) < edge(k))).collect();
    starts.push(end);
    let moments = |panel: usize| -> Terms {
        let (from, to) = (starts[panel].max(first), starts[panel + 1].min(last + 1));
        let mut values = [[0.0f32; WIDTH]; TERMS];
        let rows: Vec<usize> = (from..to.max(from)).collect();
        for rows in rows.chunks(WIDTH * STRETCH) {
            let mut sums = [[0.0f32; WIDTH]; TERMS];
            for (k, &row) in rows.iter().enumerate() {
                let y = (middle(&grid, panel) - at(row)) / grid.width;
                let y2 = y * y;
                let powers = [1.0, y, y2 / 2.0, (y * y2) / 6.0].map(|power| weight(row) * power);
                for (p, power) in powers.into_iter().enumerate() {
                    sums[p][k % WIDTH] += power;
                    sums[p + 4][k % WIDTH] += (y2 * y2) * power;
                }
            }
            for (value, sum) in values.iter_mut().flatten().zip(sums.iter().flatten()) {
                *value += sum;
            }
        }
        let factors = [1.0, 1.0, 1.0, 1.0, 24.0, 120.0, 360.0, 840.0];
        std::array::from_fn(|p| fold(values[p]) / factors[p])
    };
    let moments: Vec<Terms> = (0..grid.panels).map(moments).collect();
    let table = grid.derivatives();
    let spread = |panel: usize| -> Terms {
        let (from, to) = (panel.saturating_sub(grid.band), grid.panels.min(panel + grid.band + 1));
        let mut sum = [0.0; TERMS];
        for q in from..to {
            let at = TERMS * if down { grid.band + q - panel } else { grid.band + panel - q };
            let sign = |p: usize| if down && p % 2 == 1 { -1.0 } else { 1.0 };
            for p in 0..TERMS {
                sum[p] += (p..TERMS).map(|a| sign(a) * table[at + a] * moments[q][a - p]).sum::<f32>();
            }
        }
        if down {
            if grid.linear && from > 0 && starts[from] > start {
                sum[1] += grid.unit * sums[starts[from] - 1][0];
            }
        } else if to < grid.panels && starts[to].max(first) <= last {
            let first_far = starts[to].max(first);
            let ends = ends.unwrap_or([1.0; 2]);
            let mass = match (first_far == first, last > first_far) {
                (false, _) => (last - first_far) as f32 + ends[1],
                (true, true) => (last - first_far - 1) as f32 + (ends[0] + ends[1]),
                (true, false) => ends[0],
            };
            if grid.linear {
                let far = sums[first_far][0] + mass * (at(first_far) - middle(&grid, panel));
                sum[0] += far * (grid.unit / grid.width);
                sum[1] -= grid.unit * mass;
            } else {
                sum[0] += mass;
            }
        }
        sum
    };
    (0..grid.panels).map(spread).collect()
}

/// Σ ℓ at a score and its derivative by the score.
fn ends_of(grid: &Grid, series: &[Terms], own: f32) -> [f32; 2] {
    let panel = ((own / grid.width).floor() as i32 - grid.origin).clamp(0, grid.panels as i32 - 1) as usize;
    let y = (own - middle(grid, panel)) / grid.width;
    let terms = &series[panel];
    let value = (1..TERMS).rev().fold(terms[TERMS - 1], |sum, p| terms[p - 1] + y / p as f32 * sum);
    let slope = (2..TERMS).rev().fold(terms[TERMS - 1], |sum, p| terms[p - 1] + y / (p - 1) as f32 * sum);
    [value, slope / grid.width]
}

/// Σ ℓ over the pairs of the job, and the gradient in the order of the rows.
pub fn auc(job: &Job, grid: Grid, keys: &[u32], marks: &[u32]) -> (f64, Vec<f32>) {
    let mut sums = vec![[0.0; 2]; keys.len()];
    scan(&hinge::negatives(job), keys, &[], &mut sums);
    scan(&hinge::positives(job, false), keys, &[], &mut sums);
    let low = series(&panel::negatives(job, grid), keys, &[], &sums);
    let high = series(&panel::positives(job, grid, true), keys, &[], &sums);
    let mut grad = vec![0.0; keys.len()];
    let value = in_tiles(0..keys.len(), |at| {
        let (own, row) = (score(keys[at]), (marks[at] & 0x7fff_ffff) as usize);
        if at < job.negatives {
            grad[row] = job.scale * (weight(job, at) * ends_of(&grid, &high, own)[1]);
            return 0.0;
        }
        let [value, slope] = ends_of(&grid, &low, own);
        grad[row] = job.scale * slope;
        value
    });
    (value, grad)
}

/// Σ g₁/g₂ over the positives, and the gradient in the order of the rows.
pub fn ap(job: &Job, grid: Grid, keys: &[u32], marks: &[u32]) -> (f64, Vec<f32>) {
    let mut sums = vec![[0.0; 2]; keys.len()];
    scan(&hinge::negatives(job), keys, &[], &mut sums);
    scan(&hinge::positives(job, true), keys, &[], &mut sums);
    let low = series(&panel::negatives(job, grid), keys, &[], &sums);
    let high = series(&panel::positives(job, grid, false), keys, &[], &sums);
    let mut weights = [vec![0.0; keys.len()], vec![0.0; keys.len()]];
    let mut grad = vec![0.0; keys.len()];
    let value = in_tiles(job.negatives..keys.len(), |at| {
        let (n, p) = (ends_of(&grid, &low, score(keys[at])), ends_of(&grid, &high, score(keys[at])));
        let both = n[0] + p[0];
        (weights[0][at], weights[1][at]) = (p[0] / both / both, n[0] / both / both);
        grad[(marks[at] & 0x7fff_ffff) as usize] = weights[0][at] * n[1] - weights[1][at] * p[1];
        p[0] / both
    });
    let by = |weights: &[f32]| {
        let mut sums = vec![[0.0; 2]; keys.len()];
        scan(&hinge::weighted(job), keys, weights, &mut sums);
        series(&panel::weighted(job, grid), keys, weights, &sums)
    };
    let by = [by(&weights[0]), by(&weights[1])];
    for (at, &mark) in marks.iter().enumerate() {
        let (own, grad) = (score(keys[at]), &mut grad[(mark & 0x7fff_ffff) as usize]);
        let sum =
            if at < job.negatives { ends_of(&grid, &by[0], own)[1] } else { *grad - ends_of(&grid, &by[1], own)[1] };
        *grad = job.scale * sum;
    }
    (value, grad)
}
