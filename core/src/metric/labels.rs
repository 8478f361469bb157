//! Which class each row has, and how much it counts.
//!
//! Without weights rows are counted, in integers. With weights w every count of a definition is a sum of them: the rates, the
//! ranks behind a range of false-positive rates, and the pairs, where (i, j) counts w_i·w_j,
//!
//! ```text
//! TPR(τ) = Σ_{i∈+, s_i ≥ τ} w_i / W₊      AUROC = Σ_{i∈+} Σ_{j∈−} w_i w_j (1[s_i > s_j] + ½ 1[s_i = s_j]) / (W₊W₋)
//! ```
//!
//! so whole weights say what repeated rows say, a row of weight 0 is one that is not there, and equal weights change nothing.
//! AUROC, partial AUC and the ROC curve do not move when the weights of one class are all multiplied; precision, and what is
//! made of it, does. Rows are then sorted, by score and among equal scores by weight (radix, linear time), and sums run down that order.

use super::amount::Amount;
use super::confusion::Confusion;
use super::order;
use super::rank::{self, Classes, Group, Run};
use crate::batch::PAIR_WEIGHTS;
use crate::error::{Error, Result, exact_len};
use crate::features::COMPACT;
use crate::real::Real;
use crate::scratch::Scratch;

/// Labels, 1 for positive and 0 for negative: plain ones, which are counted, or [`Truth`], which may weigh them.
pub trait Labels {
    /// What rows come to.
    type Amount: Amount;
    /// Calls `visit` for the groups of equal scores, from the highest score down. `scratch` as [`need`](super::need) says.
    ///
    /// # Errors
    /// As [`auroc`](super::auroc()).
    fn groups<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        visit: impl FnMut(Classes<Self::Amount>, Group<T, Self::Amount>),
    ) -> Result<Classes<Self::Amount>>;
    /// The same for what stands together in that order: every group that holds a positive alone, the negatives between two
    /// such groups together, or apart.
    ///
    /// # Errors
    /// As [`auroc`](super::auroc()).
    fn runs<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        visit: impl FnMut(Classes<Self::Amount>, Run<Self::Amount>),
    ) -> Result<Classes<Self::Amount>>;
    /// What is above and below a threshold; see [`Confusion::at`].
    ///
    /// # Errors
    /// As [`Confusion::at`].
    fn confusion<T: Real>(&self, scores: &[T], threshold: T) -> Result<Confusion<Self::Amount>>;
    /// Rows with label 1, and with label 0; none of weight 0.
    fn rows(&self) -> [u64; 2];
    /// Whether rows have weights.
    fn are_weighed(&self) -> bool {
        false
    }
}

impl<A: Amount> Confusion<A> {
    /// Counts at `threshold` (finite or infinite). O(n), no scratch. One class alone is accepted.
    ///
    /// # Errors
    /// `Empty`, `Length` (labels), `NonFinite` (scores), `Label`, `Param` for a NaN threshold.
    pub fn at<T: Real, Y: Labels<Amount = A> + ?Sized>(scores: &[T], labels: &Y, threshold: T) -> Result<Self> {
        labels.confusion(scores, threshold)
    }
}

impl Labels for [u8] {
    type Amount = u64;
    fn groups<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes, Group<T>),
    ) -> Result<Classes> {
        if COMPACT {
            let visit: &mut dyn FnMut(Classes, Group<T>) = &mut visit;
            return rank::each_group(scores, self, scratch, visit);
        }
        rank::each_group(scores, self, scratch, visit)
    }
    #[inline]
    fn runs<T: Real>(&self, scores: &[T], scratch: Scratch<'_, T>, visit: impl FnMut(Classes, Run)) -> Result<Classes> {
        rank::runs(scores, self, scratch, visit)
    }
    fn confusion<T: Real>(&self, scores: &[T], threshold: T) -> Result<Confusion> {
        match rank::check(scores, self) {
            Ok(_) | Err(Error::OneClass) => {}
            Err(error) => return Err(error),
        }
        if threshold.partial_cmp(&T::ZERO).is_none() {
            return Err(Error::Param { what: "threshold" });
        }
        Ok(Confusion::count(scores, self, threshold))
    }
    fn rows(&self) -> [u64; 2] {
        let positives = self.iter().filter(|&&label| label == 1).count();
        [positives as u64, (self.len() - positives) as u64]
    }
}

/// What holds labels has their metrics.
macro_rules! holds_labels {
    ($([$($generics:tt)*] $Type:ty;)*) => {$(
        impl<$($generics)*> Labels for $Type {
            type Amount = u64;
            #[inline]
            fn groups<T: Real>(
                &self,
                scores: &[T],
                scratch: Scratch<'_, T>,
                visit: impl FnMut(Classes, Group<T>),
            ) -> Result<Classes> {
                self[..].groups(scores, scratch, visit)
            }
            #[inline]
            fn runs<T: Real>(
                &self,
                scores: &[T],
                scratch: Scratch<'_, T>,
                visit: impl FnMut(Classes, Run),
            ) -> Result<Classes> {
                self[..].runs(scores, scratch, visit)
            }
            #[inline]
            fn confusion<T: Real>(&self, scores: &[T], threshold: T) -> Result<Confusion> {
                self[..].confusion(scores, threshold)
            }
            fn rows(&self) -> [u64; 2] {
                self[..].rows()
            }
        }
    )*};
}

holds_labels! {
    [const N: usize] [u8; N];
}
#[cfg(feature = "alloc")]
holds_labels! {
    [] alloc::vec::Vec<u8>;
}

/// Labels that may have weights, which is known when the program runs. Without weights the figures are those of the plain
/// labels, to the last bit for up to 2⁵² pairs.
///
/// ```
/// use undercurve::{Scratch, metric::{self, Truth}};
/// let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let mut keys = [0; 8];
/// let scratch = Scratch { u64: &mut keys, ..Scratch::default() };
/// // The negative that a positive is below counts three times: 5 of 8 pairs are in order.
/// assert_eq!(metric::auroc(&scores, &Truth::new(&labels, &[1.0, 3.0, 1.0, 1.0])?, scratch), Ok(0.625));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth<'a> {
    labels: &'a [u8],
    weights: &'a [f64],
    clusters: &'a [u32],
}

impl<'a> From<&'a [u8]> for Truth<'a> {
    fn from(labels: &'a [u8]) -> Self {
        Self { labels, weights: &[], clusters: &[] }
    }
}

impl<'a> Truth<'a> {
    /// A weight for each label, 0 or more; none at all where `weights` is empty.
    ///
    /// # Errors
    /// `Length`; `Weight` for one that is negative, NaN or infinite; `Overflow` when their sum does not fit.
    pub fn new(labels: &'a [u8], weights: &'a [f64]) -> Result<Self> {
        if !weights.is_empty() {
            exact_len("weights", labels.len(), weights.len())?;
            check_weights(weights)?;
        }
        Ok(Self { labels, weights, clusters: &[] })
    }

    /// Of weights already checked.
    pub(crate) fn of_checked(labels: &'a [u8], weights: &'a [f64], clusters: &'a [u32]) -> Self {
        Self { labels, weights, clusters }
    }

    /// With the cluster (patient, site) of each row, of which only whole ones are independent: no metric looks at them, but intervals and
    /// comparisons do. None at all where `clusters` is empty.
    ///
    /// # Errors
    /// `Length`.
    pub fn clustered(self, clusters: &'a [u32]) -> Result<Self> {
        if !clusters.is_empty() {
            exact_len("clusters", self.labels.len(), clusters.len())?;
        }
        Ok(Self { clusters, ..self })
    }

    /// The cluster of each row; empty where each row is one.
    #[must_use]
    pub fn clusters(&self) -> &'a [u32] {
        self.clusters
    }

    /// The labels.
    #[must_use]
    pub fn labels(&self) -> &'a [u8] {
        self.labels
    }

    /// The weights; empty without.
    #[must_use]
    pub fn weights(&self) -> &'a [f64] {
        if PAIR_WEIGHTS { self.weights } else { &[] }
    }

    /// What a row counts.
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    fn each_group<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Group<T, f64>),
    ) -> Result<Classes<f64>> {
        if !self.weights().is_empty() {
            return self.weighted(scores, scratch, visit);
        }
        let of =
            |classes, group: Group<T>| visit(numbers(classes), Group { score: group.score, run: number(group.run) });
        self.labels.groups(scores, scratch, of).map(numbers)
    }

    fn each_run<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Run<f64>),
    ) -> Result<Classes<f64>> {
        if !self.weights().is_empty() {
            return self.weighted(scores, scratch, |classes, group| visit(classes, group.run));
        }
        self.labels.runs(scores, scratch, |classes, run| visit(numbers(classes), number(run))).map(numbers)
    }

    /// Calls `visit` for the groups of equal scores, descending, of rows with a weight.
    fn weighted<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Group<T, f64>),
    ) -> Result<Classes<f64>> {
        if COMPACT {
            let visit: &mut dyn FnMut(Classes<f64>, Group<T, f64>) = &mut visit;
            return self.weighed(scores, scratch, visit);
        }
        self.weighed(scores, scratch, visit)
    }

    fn weighed<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Group<T, f64>),
    ) -> Result<Classes<f64>> {
        rank::check(scores, self.labels)?;
        scratch.check(super::need(scores.len()))?;
        let (order, spare) = scratch.u64.split_at_mut(scores.len());
        // Rows of one score are added by ascending weight, equal weights at once: no order of the rows enters the sums.
        let count = order::falling(scores, self.weights, order, spare, scratch.u32);
        let (keys, weighed) = (&mut order[..count], &mut spare[..count]);
        order::fetch(scores, self.labels, self.weights, keys, weighed);
        let (keys, weighed) = (&*keys, &*weighed);
        let groups = || {
            order::groups(keys, weighed).map(|(key, group)| {
                let mut run = Run::<f64>::default();
                for (weight, positives, negatives) in order::alike(group) {
                    run.positives += positives as f64 * weight;
                    run.negatives += negatives as f64 * weight;
                }
                Group { score: T::of_key(key), run }
            })
        };
        // Added as the sums over the groups are, so that the last of these is all, to the last bit.
        let mut classes = Classes::<f64>::default();
        groups().for_each(|group| {
            classes.positives += group.run.positives;
            classes.negatives += group.run.negatives;
        });
        if classes.positives == 0.0 || classes.negatives == 0.0 {
            return Err(Error::OneClass);
        }
        // (Pairs count by products of weights.)
        let pairs = classes.positives * classes.negatives;
        if PAIR_WEIGHTS && !(f64::MIN_POSITIVE..f64::MAX / 4.0).contains(&pairs) {
            return Err(Error::Overflow { what: "the product of the weights of both classes" });
        }
        groups().for_each(|group| visit(classes, group));
        Ok(classes)
    }
}

/// `Ok` when every weight is a number of 0 or more, and so is their sum.
pub(crate) fn check_weights(weights: &[f64]) -> Result<()> {
    if let Some(at) = weights.iter().position(|&w| !(w >= 0.0 && w.is_finite())) {
        return Err(Error::Weight { at });
    }
    if weights.iter().sum::<f64>().is_finite() {
        Ok(())
    } else {
        Err(Error::Overflow { what: "the sum of the weights" })
    }
}

/// Counts as numbers.
fn numbers(classes: Classes) -> Classes<f64> {
    Classes { positives: classes.positives as f64, negatives: classes.negatives as f64 }
}

fn number(run: Run) -> Run<f64> {
    Run { positives: run.positives as f64, negatives: run.negatives as f64 }
}

impl Labels for Truth<'_> {
    type Amount = f64;
    fn groups<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Group<T, f64>),
    ) -> Result<Classes<f64>> {
        if COMPACT {
            // (One copy for all metrics.)
            let visit: &mut dyn FnMut(Classes<f64>, Group<T, f64>) = &mut visit;
            return self.each_group(scores, scratch, visit);
        }
        self.each_group(scores, scratch, visit)
    }
    fn runs<T: Real>(
        &self,
        scores: &[T],
        scratch: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Run<f64>),
    ) -> Result<Classes<f64>> {
        if COMPACT {
            let visit: &mut dyn FnMut(Classes<f64>, Run<f64>) = &mut visit;
            return self.each_run(scores, scratch, visit);
        }
        self.each_run(scores, scratch, visit)
    }
    fn confusion<T: Real>(&self, scores: &[T], threshold: T) -> Result<Confusion<f64>> {
        let counts = self.labels.confusion(scores, threshold)?;
        if self.weights().is_empty() {
            return Ok(counts.numbers());
        }
        let mut sums = Confusion::<f64>::default();
        for ((&score, &label), &weight) in scores.iter().zip(self.labels).zip(self.weights) {
            sums.add(label == 1, score >= threshold, weight);
        }
        Ok(sums)
    }
    fn rows(&self) -> [u64; 2] {
        if self.weights().is_empty() {
            return self.labels.rows();
        }
        let of =
            |label: u8| self.labels.iter().zip(self.weights).filter(|&(&y, &w)| y == label && w > 0.0).count() as u64;
        [of(1), of(0)]
    }
    fn are_weighed(&self) -> bool {
        !self.weights().is_empty()
    }
}
