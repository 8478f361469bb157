//! Average precision.
//!
//! ```text
//! AP = 1/n₊ Σ_{i∈+} #{k∈+ : s_k ≥ s_i} / #{k : s_k ≥ s_i}
//! ```
//!
//! Equation (1) of Qi et al. 2021, "Stochastic Optimization of Areas Under Precision-Recall Curves with Provable
//! Convergence". Tied scores share the precision at the end of their group; the value equals
//! Σ_k (R_k − R_{k−1}) P_k over the points of the precision–recall curve.

use super::rank::{Classes, Run, runs};
use crate::error::Result;
use crate::real::Real;
use crate::scratch::Scratch;

/// Average precision, in (0, 1]. `scratch` as [`need`](super::need) says; O(n).
///
/// # Errors
/// As [`auroc`](super::auroc).
pub fn average_precision<T: Real>(scores: &[T], labels: &[u8], scratch: Scratch<'_, T>) -> Result<f64> {
    let mut tally = ApTally::default();
    let classes = runs(scores, labels, scratch, |_, run| tally.push(run))?;
    Ok(tally.finish(classes))
}

/// Sums precisions along the descending order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ApTally {
    positives: u64,
    all: u64,
    sum: f64,
    lost: f64,
}

impl ApTally {
    #[inline(always)]
    pub(super) fn push(&mut self, run: Run) {
        self.positives += run.positives;
        self.all += run.positives + run.negatives;
        if run.positives > 0 {
            // Kahan's summation: the error does not grow with the number of positives.
            let term = run.positives as f64 * (self.positives as f64 / self.all as f64) - self.lost;
            let sum = self.sum + term;
            self.lost = (sum - self.sum) - term;
            self.sum = sum;
        }
    }
    pub(super) fn finish(self, classes: Classes) -> f64 {
        self.sum / classes.positives as f64
    }
}
