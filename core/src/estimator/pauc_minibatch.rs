//! Partial AUC of the mini-batch itself: each batch is taken for the whole data.
//!
//! Source: Kar, Narasimhan and Jain 2014, "Online and Stochastic Gradient Methods for Non-decomposable Loss Functions",
//! algorithm 1PMB, for the partial AUC; the baseline MB of Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in
//! a Range of False Positive Rates".
//!
//! ```text
//! F_B = 1/(b₊b₋(β−α)) Σ_{i∈B₊} Σ_{j = αb₋+1 … βb₋} ℓ(h_i − h₍ⱼ₎),    h₍₁₎ ≥ h₍₂₎ ≥ … the batch's negatives
//! ```
//!
//! with h the link of the raw score, and a negative on a fractional end by its part inside; of equal scores the earlier rank
//! higher. The mean over all batches is not the objective: the batch's own range is wider or narrower than the data's, the
//! more so the fewer negatives βb₋ holds. Over everything it is exact. No state. Cost O(b₋ log b₋ + b₊k) with k negatives in
//! the range. Scratch: 2 values and one `u32` a row.

use super::{Estimator, Exact, Grad, Link, both_classes, commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::Result;
use crate::pairs::brute;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::*;
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Surrogate, kernel};

/// The partial AUC of each batch.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, Link, PaucMinibatch};
/// use undercurve::surrogate::AnySurrogate;
///
/// let scores = [0.0, 1.0, 0.5]; // two negatives, then a positive
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[200, 10], Drawn::Stratified)?;
/// let loss = PaucMinibatch::new(AnySurrogate::by_name("hinge", 1.0)?, Link::Identity, (0.0, 0.5))?;
/// let scratch = Scratch { real: &mut [0.0; 6], u32: &mut [0; 3], ..Scratch::default() }; // as `need` says, or more
/// let mut grad = [0.0; 3];
/// let value = loss.update(&batch, &[], &mut [], scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// assert_eq!(value, 1.5); // 1 − (½ − 1), of the higher half of the batch's negatives
/// assert_eq!(grad, [0.0, 1.0, -1.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucMinibatch {
    surrogate: AnySurrogate<f64>,
    link: Link,
    fpr: (f64, f64),
}

impl PaucMinibatch {
    /// - `fpr`: the range, 0 ≤ α < β ≤ 1.
    ///
    /// # Errors
    /// `Param` (range), `Unsupported` (a surrogate that is not monotone).
    pub fn new(surrogate: AnySurrogate<f64>, link: Link, fpr: (f64, f64)) -> Result<Self> {
        Exact::pauc(surrogate, link, fpr)?;
        Ok(Self { surrogate, link, fpr })
    }

    /// The surrogate ℓ.
    #[must_use]
    pub(super) fn surrogate<T: Real>(&self) -> AnySurrogate<T> {
        self.surrogate.to()
    }

    pub(super) fn link(&self) -> Link {
        self.link
    }

    pub(super) fn fpr(&self) -> (f64, f64) {
        self.fpr
    }

    /// Mean over the positives of ℓ to the negatives, each of which has a weight and its own place for its slopes, over
    /// b₋(β−α); with the gradient by h, if one is wanted.
    pub(super) fn sum<T: Real>(
        &self,
        low: impl Iterator<Item = (T, f64, usize)>,
        negatives: usize,
        high: &[T],
        mut grad: Option<&mut [T]>,
    ) -> Result<f64> {
        let share = 1.0 / (high.len() as f64 * negatives as f64 * (self.fpr.1 - self.fpr.0));
        let mut total = 0.0;
        kernel!(self.surrogate::<T>(), loss => {
            for (other, weight, at) in low {
                let (kappa, mut slopes) = (T::of(weight * share), T::ZERO);
                for (i, &h) in high.iter().enumerate() {
                    total += weight * loss.value(h - other).f64();
                    if let Some(grad) = grad.as_deref_mut() {
                        let c = kappa * loss.slope(h - other);
                        grad[negatives + i] += c;
                        slopes += c;
                    }
                }
                if let Some(grad) = grad.as_deref_mut() {
                    grad[at] = -slopes;
                }
            }
        });
        finite("pairwise loss", total * share)
    }

    /// The batch's own objective, with its gradient by raw score if one is wanted.
    pub(super) fn evaluate<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        scratch: Scratch<'_, T>,
        grad: Option<&mut [T]>,
    ) -> Result<f64> {
        let count = both_classes(batch)?.0.len();
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let (h, rest) = scratch.real.split_at_mut(batch.scores().len());
        let (out, order) = (&mut rest[..h.len()], &mut scratch.u32[..count]);
        self.link.apply(batch.scores(), h);
        let (low, high) = h.split_at(count);
        kernel!(self.surrogate::<T>(), loss => brute::check(loss, high, low)?);
        crate::sort::falling(low, order);
        let [from, to] = [self.fpr.0, self.fpr.1].map(|rate| rate * count as f64);
        let ranked = order.iter().enumerate().filter_map(|(rank, &row)| {
            let rank = rank as f64;
            let inside = (rank + 1.0).or_smaller(to) - rank.or_larger(from);
            (inside > 0.0).then(|| (low[row as usize], inside, row as usize))
        });
        let Some(grad) = grad else { return self.sum(ranked, count, high, None) };
        out.fill(T::ZERO);
        let value = self.sum(ranked, count, high, Some(out))?;
        self.link.chain(h, out);
        commit(out, grad)?;
        Ok(value)
    }
}

impl<T: Real> Estimator<T> for PaucMinibatch {
    /// The ends of the range among the negatives of a batch.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let count = stratified(batch)?;
        Some(Recipe::new("pauc-minibatch", &[self.fpr.0 * count, self.fpr.1 * count]).with_surrogate(self.surrogate))
    }

    fn link(&self) -> Link {
        self.link
    }

    fn whole(&self) -> Option<Exact> {
        Exact::pauc(self.surrogate, self.link, self.fpr).ok()
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows, u32: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.evaluate(batch, scratch, None)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.evaluate(batch, scratch, Some(grad.scores))
    }
}

impl PaucMinibatch {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(super::surrogate(settings)?, Link::from_settings(settings), settings.fpr())
    }
}

/// The negatives of batches that have as many each, and of both classes some.
pub(super) fn stratified<T: Real>(batch: &Batch<'_, T>) -> Option<f64> {
    let (low, _) = both_classes(batch).ok()?;
    (batch.drawn() == Drawn::Stratified).then_some(low.len() as f64)
}

/// Parameters of a method that steps along batches of positives and many negatives, after its own.
macro_rules! over_batches {
    ($batch:expr; $($own:expr),*) => {
        &[
            FROM_CE_STEPS, optimizer("adam"), auto_lr(0.02, 0.0003), SCHEDULE, surrogate("sigmoid"), MARGIN, scale("30"),
            SMOOTHING, link("identity"), $($own,)* $batch[0], $batch[1], BETA1, BETA2, EPS, pull(0.03, 4.0), DECAY_TO, FROM_CE,
            PRETRAIN_LR, NO_RESTART,
        ]
    };
}
pub(super) use over_batches;

/// Its entry in the table of methods.
/// A batch has room for more pairs than others', of which most are not in the range.
pub(super) const MANY: [Param; 2] = in_range(2);

pub(crate) const ENTRY: Entry = Entry {
    name: "pauc-minibatch",
    title: "Mini-batch partial AUC",
    about: "Minimises the pairwise surrogate over the negatives of a false-positive range (--fpr) of each batch by itself.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: over_batches!(MANY;),
    paper: &[],
    source: Source {
        paper: "Kar, Narasimhan, Jain 2014, Online and Stochastic Gradient Methods for Non-decomposable Loss Functions",
        part: "algorithm 1PMB, on the loss of Yao, Lin, Yang 2022, equation (2)",
    },
    files: &["core/src/estimator/pauc_minibatch.rs"],
};
