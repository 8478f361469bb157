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
pub fn negatives(job: &Job) -> Scan {
    let [first, last] = job.range;
    Scan { first, rows: last + 1 - first, down: true, squares: true, ends: Some(job.ends) }
}

/// The positives, each with the weight 1: from the lowest up for what is above them, or from the highest down.
pub fn positives(job: &Job, down: bool) -> Scan {
    Scan { first: job.negatives, rows: job.positives, down, squares: down, ends: Some([1.0; 2]) }
}

/// The positives by their weights, from the lowest up.
pub fn weighted(job: &Job) -> Scan {
    Scan { ends: None, ..positives(job, false) }
}
