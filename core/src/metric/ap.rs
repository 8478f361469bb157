//! Average precision.
//!
//! ```text
//! AP = 1/n₊ Σ_{i∈+} #{k∈+ : s_k ≥ s_i} / #{k : s_k ≥ s_i}
//! ```
//!
//! Equation (1) of Qi et al. 2021, "Stochastic Optimization of Areas Under Precision-Recall Curves with Provable
//! Convergence". Tied scores share the precision at the end of their group; the value equals
//! Σ_k (R_k − R_{k−1}) P_k over the points of the precision–recall curve.

use super::amount::Amount;
use super::labels::Labels;
use super::rank::{Classes, Run};
use crate::error::Result;
use crate::real::Real;
use crate::scratch::Scratch;

/// Average precision, in (0, 1]. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::{Scratch, metric};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let ap = metric::average_precision(&scores, &labels, scratch)?;
/// assert!((ap - (1.0 / 1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-12); // the precision at each of the two positives
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auroc`](super::auroc).
pub fn average_precision<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
) -> Result<f64> {
    let mut tally = ApTally::default();
    let classes = labels.runs(scores, scratch, |_, run| tally.push(run))?;
    Ok(tally.finish(classes))
}

/// The average precision along a walk down the groups of equal scores, for callers that go there for something else, too.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{ApTally, average_precision, rank};
///
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let mut keys = [0; 8];
/// let (classes, groups) = rank::groups(&scores, &labels, Scratch { u64: &mut keys, ..Scratch::default() })?;
/// let mut tally = ApTally::default();
/// groups.for_each(|group| tally.push(group.run));
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// assert_eq!(tally.finish(classes), average_precision(&scores, &labels, scratch)?);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ApTally<A = u64> {
    positives: A,
    all: A,
    sum: f64,
    lost: f64,
}

impl<A: Amount> ApTally<A> {
    /// The next group, or negatives alone of several.
    #[inline(always)]
    pub fn push(&mut self, run: Run<A>) {
        self.positives += run.positives;
        self.all += run.positives + run.negatives;
        if run.positives > A::default() {
            // Kahan's summation: the error does not grow with the number of positives.
            let term = run.positives.f64() * (self.positives.f64() / self.all.f64()) - self.lost;
            let sum = self.sum + term;
            self.lost = (sum - self.sum) - term;
            self.sum = sum;
        }
    }
    /// Of all of them.
    #[must_use]
    pub fn finish(self, classes: Classes<A>) -> f64 {
        self.sum / classes.positives.f64()
    }
}
