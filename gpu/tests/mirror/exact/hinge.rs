//! Hinge and squared hinge on the CPU, in the order of the device.

use super::scan::scan;
use crate::tree::{WIDTH, fold};
use undercurve_gpu::kernel::exact::hinge::{TILE, negatives, positives, weighted};
use undercurve_gpu::kernel::exact::{Job, sort::score};

/// Adds what workgroups of 1024 rows from `first` on give.
pub fn in_tiles(rows: std::ops::Range<usize>, mut value: impl FnMut(usize) -> f32) -> f64 {
    let mut sum = 0.0;
    for start in rows.clone().step_by(TILE) {
        let mut values = [0.0f32; WIDTH];
        for at in start..rows.end.min(start + TILE) {
            values[(at - start) % WIDTH] += value(at);
        }
        sum += f64::from(fold(values));
    }
    sum
}

/// The weight of a negative.
pub fn weight(job: &Job, at: usize) -> f32 {
    let [first, last] = job.range;
    if at < first || at > last {
        0.0
    } else if at == first {
        job.ends[0]
    } else if at == last {
        job.ends[1]
    } else {
        1.0
    }
}

fn moved([n0, n1, n2]: [f32; 3], d: f32) -> [f32; 3] {
    [n0, n1 + d * n0, n2 + d * (2.0 * n1 + d * n0)]
}

/// The order, and the sums of both classes.
struct Rows<'a> {
    job: &'a Job,
    scores: Vec<f32>,
    sums: Vec<[f32; 2]>,
}

impl Rows<'_> {
    fn over_negatives(&self, own: f32) -> [f32; 3] {
        let Job { range: [first, last], ends, margin, .. } = *self.job;
        let at = first + self.scores[first..=last].partition_point(|s| (s - own) + margin <= 0.0);
        if at > last {
            return [0.0; 3];
        }
        let mut mass = (last - at) as f32 + ends[1];
        if at == first {
            mass = if last > at { (last - at - 1) as f32 + (ends[0] + ends[1]) } else { ends[0] };
        }
        moved([mass, self.sums[at][0], self.sums[at][1]], (self.scores[at] - own) + margin)
    }

    fn over_positives(&self, own: f32) -> [f32; 3] {
        let (rows, margin) = (self.scores.len(), self.job.margin);
        let at = self.job.negatives + self.scores[self.job.negatives..].partition_point(|s| (s - own) + margin <= 0.0);
        moved([(rows - at) as f32, self.sums[at][0], self.sums[at][1]], (self.scores[at] - own) + margin)
    }

    /// Σ of the weights, or of the weighted d, over the positives with d > 0.
    fn over_lower(&self, own: f32, sums: &[[f32; 2]]) -> f32 {
        let Job { negatives, margin, square, .. } = *self.job;
        let beyond = self.scores[negatives..].partition_point(|s| (own - s) + margin > 0.0);
        match (beyond, square) {
            (0, _) => 0.0,
            (_, false) => sums[negatives + beyond - 1][0],
            (_, true) => {
                let near = sums[negatives + beyond - 1];
                near[1] + ((own - self.scores[negatives + beyond - 1]) + margin) * near[0]
            }
        }
    }
}

/// Σ ℓ over the pairs of the job, and the gradient in the order of the rows.
pub fn auc(job: &Job, keys: &[u32], marks: &[u32]) -> (f64, Vec<f32>) {
    let [of_negatives, of_positives] = [negatives(job), positives(job, false)];
    let mut sums = vec![[0.0; 2]; keys.len()];
    scan(&of_negatives, keys, &[], &mut sums);
    scan(&of_positives, keys, &[], &mut sums);
    let rows = Rows { job, scores: keys.iter().map(|&key| score(key)).collect(), sums };
    let mut grad = vec![0.0; keys.len()];
    let value = in_tiles(0..keys.len(), |at| {
        let own = rows.scores[at];
        let row = (marks[at] & 0x7fff_ffff) as usize;
        if at < job.negatives {
            grad[row] = job.scale * (weight(job, at) * rows.over_lower(own, &rows.sums));
            return 0.0;
        }
        let n = rows.over_negatives(own);
        grad[row] = -(job.scale * if job.square { n[1] } else { n[0] });
        if job.square { n[2] } else { n[1] }
    });
    (value, grad)
}

/// Σ g₁/g₂ over the positives, and the gradient in the order of the rows.
pub fn ap(job: &Job, keys: &[u32], marks: &[u32]) -> (f64, Vec<f32>) {
    let mut sums = vec![[0.0; 2]; keys.len()];
    scan(&negatives(job), keys, &[], &mut sums);
    scan(&positives(job, true), keys, &[], &mut sums);
    let mut rows = Rows { job, scores: keys.iter().map(|&key| score(key)).collect(), sums };
    let mut weights = [vec![0.0; keys.len()], vec![0.0; keys.len()]];
    let mut grad = vec![0.0; keys.len()];
    let value = in_tiles(job.negatives..keys.len(), |at| {
        let (n, p) = (rows.over_negatives(rows.scores[at]), rows.over_positives(rows.scores[at]));
        let q = usize::from(job.square);
        let both = n[q + 1] + p[q + 1];
        let share = [n[q + 1] / both, p[q + 1] / both];
        let [of_negative, of_positive] = [share[1] / both, share[0] / both];
        (weights[0][at], weights[1][at]) = (of_negative, of_positive);
        grad[(marks[at] & 0x7fff_ffff) as usize] = of_positive * p[q] - of_negative * n[q];
        share[1]
    });
    let by = weighted(job);
    let mut more = rows.sums.clone();
    scan(&by, keys, &weights[0], &mut rows.sums);
    scan(&by, keys, &weights[1], &mut more);
    for (at, &mark) in marks.iter().enumerate() {
        let (own, grad) = (rows.scores[at], &mut grad[(mark & 0x7fff_ffff) as usize]);
        let sum =
            if at < job.negatives { rows.over_lower(own, &rows.sums) } else { *grad - rows.over_lower(own, &more) };
        *grad = job.scale * sum;
    }
    (value, grad)
}
