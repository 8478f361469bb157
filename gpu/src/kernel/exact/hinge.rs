//! Hinge and squared hinge over all pairs of a positive i and another row j, exactly: with d = (s_j − s_i) + m,
//!
//! ```text
//! AUC, partial AUC    1/(n₊ Σ w) Σ_i Σ_{j∈−} w_j ℓ(d)                                 ℓ = [d]₊ or [d]₊²
//! AP                  −1/n₊ Σ_i g₁/g₂,   g₁ = Σ_{j∈+} ℓ(d),   g₂ = Σ_j ℓ(d)
//! ```
//!
//! and their gradients by the scores. A row finds the last row of the other class with d > 0 by halving, and moves the
//! running sums that [`scan`](super::scan) left there by that d. d is made of scores, not of thresholds s_i − m: where
//! scores are far from 0 those are rounded by more than d is. One order serves both classes and every margin.
//!
//! AP: the pair (i, j) weighs g₁/g₂² for a negative j and (g₂ − g₁)/g₂² for a positive one, whose running sums along
//! the positives are the second sweep.
//!
//! Source: Qi et al. 2021, "Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence", eq.
//! (2)–(4), for the AP objective over all data; the sweeps are ours. Cost: a search a row (AP: three a positive).

use super::rank::fold;
use super::scan::Scan;
use super::{HALVINGS, Job, ROUNDS, on_order};

/// Rows of a workgroup.
pub const TILE: usize = 1024;

const WIDTH: usize = 256;
const _: () = assert!(TILE / WIDTH * (1 + 2 * HALVINGS) + 8 <= ROUNDS);

pub(crate) fn text() -> String {
    on_order(wgsl!("hinge.wgsl"))
}

/// The negatives that count, from the highest down.
pub(crate) fn negatives(job: &Job) -> Scan {
    let [first, last] = job.range;
    Scan { first, rows: last + 1 - first, down: true, squares: true, ends: Some(job.ends) }
}

/// The positives, each with the weight 1: from the lowest up for what is above them, or from the highest down.
pub(crate) fn positives(job: &Job, down: bool) -> Scan {
    Scan { first: job.negatives, rows: job.positives, down, squares: down, ends: Some([1.0; 2]) }
}

/// The positives by their weights, from the lowest up.
pub(crate) fn weighted(job: &Job) -> Scan {
    Scan { ends: None, ..positives(job, false) }
}

/// Adds what workgroups of 1024 rows from `first` on give.
pub(super) fn in_tiles(rows: std::ops::Range<usize>, mut value: impl FnMut(usize) -> f32) -> f64 {
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
pub(super) fn weight(job: &Job, at: usize) -> f32 {
    let [first, last] = job.range;
    match at {
        _ if at < first || at > last => 0.0,
        _ if at == first => job.ends[0],
        _ if at == last => job.ends[1],
        _ => 1.0,
    }
}

/// The same on the CPU.
pub mod mirror {
    use super::super::Job;
    use super::super::scan::mirror::scan;
    use super::super::sort::score;
    use super::{in_tiles, weight};

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
            let at =
                self.job.negatives + self.scores[self.job.negatives..].partition_point(|s| (s - own) + margin <= 0.0);
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
    #[must_use]
    pub fn auc(job: &Job, keys: &[u32], marks: &[u32]) -> (f64, Vec<f32>) {
        let [of_negatives, of_positives] = [super::negatives(job), super::positives(job, false)];
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
    #[must_use]
    pub fn ap(job: &Job, keys: &[u32], marks: &[u32]) -> (f64, Vec<f32>) {
        let mut sums = vec![[0.0; 2]; keys.len()];
        scan(&super::negatives(job), keys, &[], &mut sums);
        scan(&super::positives(job, true), keys, &[], &mut sums);
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
        let by = super::weighted(job);
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
}
