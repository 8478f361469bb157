//! Metrics that bring their own memory.

pub(super) mod ranked;

use super::group::{self, GroupSummary};
use super::labels::{Labels, Truth};
use super::rank::{Run, runs};
use super::{
    Bin, Cells, Costs, Estimate, FprRange, Gap, Interval, PairCounts, PrPoint, Rate, RocPoint, Summary, TieRule, Top,
    TopRows, average_precision, cells_need, interval, pair_counts, pairs_of_groups, partial_auc, partial_auc_two_way,
    point_at_fpr, point_at_slope, pr_curve, pr_curve_thinned, precision_at_recall, recall_at_precision, roc_curve,
    roc_curve_thinned, roc_len, summary,
};
use crate::decision::{Decision, ThresholdRule};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use alloc::vec;
use alloc::vec::Vec;
use ranked::Ranked;
pub use ranked::{Comparison, Pair};

/// Memory for metrics, which grows to the largest input seen and is kept between calls. The methods are the functions
/// of [`metric`](super) of the same names, with the same errors.
///
/// ```
/// use undercurve::metric::Metrics;
/// let mut metrics = Metrics::new();
/// assert_eq!(metrics.auroc(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1]), Ok(0.75));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics<T> {
    real: Vec<T>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

/// 95 % intervals of the metrics of a [`Summary`]; `None` where a class has one row, or one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Intervals {
    /// Of AUROC.
    pub auroc: Option<Interval>,
    /// Of average precision.
    pub ap: Option<Interval>,
    /// Of the partial AUC over the range asked for.
    pub pauc: Option<Interval>,
}

impl Intervals {
    /// Each by itself.
    pub(super) fn of(range: FprRange, mut each: impl FnMut(Estimate) -> Result<Option<Interval>>) -> Result<Self> {
        Ok(Self { auroc: each(Estimate::AUROC)?, ap: each(Estimate::Ap)?, pauc: each(Estimate::Roc(range))? })
    }
}

/// Adds the next run of the descending order; negatives alone, one below the other, are one.
pub(super) fn join(found: &mut Vec<Run>, run: Run) {
    match found.last_mut() {
        Some(last) if last.positives == 0 && run.positives == 0 => last.negatives += run.negatives,
        _ if run.positives + run.negatives == 0 => {}
        _ => found.push(run),
    }
}

/// Room for a curve of so many points at most: for all, or for `most` but no more than a thinned curve can fill.
pub(super) fn points<P: Clone + Default>(all: usize, most: Option<usize>) -> Vec<P> {
    vec![P::default(); most.map_or(all, |most| most.min(2 * all + 4))]
}

impl<T: Real> Metrics<T> {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self { real: Vec::new(), u32: Vec::new(), u64: Vec::new() }
    }

    /// Scratch for `n` scores.
    fn scratch(&mut self, n: usize) -> Scratch<'_, T> {
        self.lend(super::need(n))
    }

    fn lend(&mut self, need: Need) -> Scratch<'_, T> {
        let Need { real, u32, u64, .. } = need;
        if self.real.len() < real {
            self.real.resize(real, T::ZERO);
        }
        if self.u32.len() < u32 {
            self.u32.resize(u32, 0);
        }
        if self.u64.len() < u64 {
            self.u64.resize(u64, 0);
        }
        Scratch { real: &mut self.real, f64: &mut [], u32: &mut self.u32, u64: &mut self.u64 }
    }

    /// See [`auroc`](super::auroc()).
    pub fn auroc(&mut self, scores: &[T], labels: &(impl Labels + ?Sized)) -> Result<f64> {
        Ok(self.pair_counts(scores, labels)?.auroc())
    }
    /// See [`pair_counts`].
    pub fn pair_counts<Y: Labels + ?Sized>(&mut self, scores: &[T], labels: &Y) -> Result<PairCounts<Y::Amount>> {
        pair_counts(scores, labels, self.scratch(scores.len()))
    }
    /// See [`average_precision`].
    pub fn average_precision(&mut self, scores: &[T], labels: &(impl Labels + ?Sized)) -> Result<f64> {
        average_precision(scores, labels, self.scratch(scores.len()))
    }
    /// See [`partial_auc`].
    pub fn partial_auc(
        &mut self,
        scores: &[T],
        labels: &(impl Labels + ?Sized),
        range: FprRange,
        rule: TieRule,
    ) -> Result<f64> {
        partial_auc(scores, labels, range, rule, self.scratch(scores.len()))
    }
    /// See [`partial_auc_two_way`].
    pub fn partial_auc_two_way(
        &mut self,
        scores: &[T],
        labels: &(impl Labels + ?Sized),
        min_tpr: f64,
        range: FprRange,
        rule: TieRule,
    ) -> Result<f64> {
        partial_auc_two_way(scores, labels, min_tpr, range, rule, self.scratch(scores.len()))
    }
    /// See [`summary`].
    pub fn summary(&mut self, scores: &[T], labels: &(impl Labels + ?Sized), range: FprRange) -> Result<Summary> {
        summary(scores, labels, range, self.scratch(scores.len()))
    }
    /// See [`precision_at_recall`].
    pub fn precision_at_recall(&mut self, scores: &[T], labels: &(impl Labels + ?Sized), recall: f64) -> Result<f64> {
        precision_at_recall(scores, labels, recall, self.scratch(scores.len()))
    }
    /// See [`recall_at_precision`].
    pub fn recall_at_precision(
        &mut self,
        scores: &[T],
        labels: &(impl Labels + ?Sized),
        precision: f64,
    ) -> Result<f64> {
        recall_at_precision(scores, labels, precision, self.scratch(scores.len()))
    }
    /// See [`point_at_fpr`].
    pub fn point_at_fpr(&mut self, scores: &[T], labels: &(impl Labels + ?Sized), most: f64) -> Result<RocPoint> {
        point_at_fpr(scores, labels, most, self.scratch(scores.len()))
    }
    /// The threshold of a rule; see [`ThresholdRule::decide`].
    pub fn decide<Y: Labels + ?Sized>(
        &mut self,
        scores: &[T],
        labels: &Y,
        rule: ThresholdRule,
    ) -> Result<Decision<Y::Amount>> {
        rule.decide(scores, labels, self.scratch(scores.len()))
    }
    /// The threshold of a rule on rows that may have weights, and may lie in clusters (a number for each row, equal ones for rows of
    /// one cluster), of which only whole ones are independent: both change what can be promised.
    ///
    /// # Errors
    /// As [`decide`](Self::decide) and [`Promise::decide_in`](crate::decision::Promise::decide_in).
    pub fn decide_in(
        &mut self,
        scores: &[T],
        truth: Truth<'_>,
        clusters: Option<&[u32]>,
        rule: ThresholdRule,
    ) -> Result<Decision<f64>> {
        match rule {
            ThresholdRule::Promised(promise) if clusters.is_some() || truth.are_weighed() => {
                promise.decide_in(scores, truth, clusters)
            }
            _ => self.decide(scores, &truth, rule),
        }
    }
    /// See [`top`](super::top()).
    pub fn top(&mut self, scores: &[T], labels: &(impl Labels + ?Sized), top: Top) -> Result<TopRows> {
        super::top(scores, labels, top, self.scratch(scores.len()))
    }
    /// At most so many bins; see [`reliability`](super::reliability).
    pub fn reliability(
        &mut self,
        probabilities: &[T],
        labels: &(impl Labels + ?Sized),
        bins: usize,
    ) -> Result<Vec<Bin>> {
        let mut out = vec![Bin::default(); bins];
        let count = super::reliability(probabilities, labels, self.scratch(probabilities.len()), &mut out)?;
        out.truncate(count);
        Ok(out)
    }
    /// The cells of `count` groups; see [`Cells::new`].
    pub fn cells(&mut self, scores: &[T], labels: &[u8], groups: &[u32], count: usize) -> Result<Cells<'_, T>> {
        if count > super::MAX_GROUPS {
            return Err(Error::Param { what: "groups" });
        }
        Cells::new(scores, labels, groups, count, self.lend(cells_need(scores.len(), count)))
    }
    /// The gaps between all pairs of `count` groups; see [`Cells::gaps`], and with a pooled false-positive rate
    /// [`Cells::gaps_at`].
    pub fn gaps(
        &mut self,
        scores: &[T],
        labels: &[u8],
        groups: &[u32],
        count: usize,
        rate: Rate,
        fpr: Option<f64>,
    ) -> Result<Vec<Gap>> {
        let mut cells = self.cells(scores, labels, groups, count)?;
        let mut out = vec![Gap::default(); pairs_of_groups(count)];
        match fpr {
            None => cells.gaps(rate, &mut out)?,
            Some(fpr) => cells.gaps_at(rate, fpr, &mut out)?,
        }
        Ok(out)
    }
    /// What there is to know of each of `count` groups; see [`group::summaries`].
    pub fn groups(
        &mut self,
        scores: &[T],
        labels: &[u8],
        groups: &[u32],
        count: usize,
        threshold: T,
    ) -> Result<Vec<GroupSummary>> {
        if count > super::MAX_GROUPS {
            return Err(Error::Param { what: "groups" });
        }
        let mut out = vec![GroupSummary::default(); count];
        let scratch = self.lend(cells_need(scores.len(), count));
        group::summaries(scores, labels, groups, threshold, scratch, &mut out)?;
        Ok(out)
    }
    /// See [`point_at_slope`].
    pub fn point_at_slope(&mut self, scores: &[T], labels: &(impl Labels + ?Sized), slope: f64) -> Result<RocPoint> {
        point_at_slope(scores, labels, slope, self.scratch(scores.len()))
    }
    /// See [`Costs::range`].
    pub fn range_of_costs(&mut self, scores: &[T], labels: &(impl Labels + ?Sized), costs: Costs) -> Result<FprRange> {
        costs.range(scores, labels, self.scratch(scores.len()))
    }
    /// The 95 % interval of a metric; see [`interval()`]. O(n log n).
    ///
    /// # Errors
    /// As [`auroc`](super::auroc()), and [`Top::of`].
    pub fn interval(&mut self, scores: &[T], truth: Truth<'_>, of: Estimate) -> Result<Option<Interval>> {
        self.with_intervals(scores, truth, |each| each(of))
    }
    /// Those of AUROC, average precision and the partial AUC over `range`.
    ///
    /// # Errors
    /// As [`auroc`](super::auroc()).
    pub fn intervals(&mut self, scores: &[T], truth: Truth<'_>, range: FprRange) -> Result<Intervals> {
        self.with_intervals(scores, truth, |each| Intervals::of(range, each))
    }
    /// Ranks the rows once.
    fn with_intervals<R>(
        &mut self,
        scores: &[T],
        truth: Truth<'_>,
        tell: impl FnOnce(&mut dyn FnMut(Estimate) -> Result<Option<Interval>>) -> Result<R>,
    ) -> Result<R> {
        if truth.are_weighed() || !truth.clusters().is_empty() {
            let ranked = Ranked::new(scores, truth)?;
            return tell(&mut |of| ranked.interval(of, truth));
        }
        let mut found = Vec::new();
        runs(scores, truth.labels(), self.scratch(scores.len()), |_, run| join(&mut found, run))?;
        let mut moved = vec![[0.0; 2]; found.len()];
        tell(&mut |of| interval(of, &found, &mut moved))
    }
    /// A metric of two scores of the same rows, with the interval of its difference and a p-value; for several metrics, [`Pair`]. O(n log n).
    ///
    /// ```
    /// use undercurve::metric::{Estimate, Metrics, Truth};
    /// let labels = [1, 1, 1, 0, 0, 0, 0, 1];
    /// let (a, b) = ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [0.6, 0.8, 0.7, 0.9, 0.5, 0.4, 0.3, 0.2]);
    /// let found = Metrics::compare([&a, &b], Truth::new(&labels, &[])?, Estimate::AUROC)?;
    /// assert_eq!(found.values, [0.75, 0.5625]);
    /// assert!(found.p.unwrap() > 0.05);
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`auroc`](super::auroc()); `Length` for the second scores.
    pub fn compare(scores: [&[T]; 2], truth: Truth<'_>, of: Estimate) -> Result<Comparison> {
        Pair::new(scores, truth)?.compare(of)
    }
    /// See [`roc_curve`]; with `most` points at most if given, as [`roc_curve_thinned`].
    pub fn roc_curve(
        &mut self,
        scores: &[T],
        labels: &(impl Labels + ?Sized),
        most: Option<usize>,
    ) -> Result<Vec<RocPoint>> {
        let mut out = points(roc_len(scores.len()), most);
        let scratch = self.scratch(scores.len());
        let len = match most {
            None => roc_curve(scores, labels, scratch, &mut out)?,
            Some(_) => roc_curve_thinned(scores, labels, scratch, &mut out)?,
        };
        out.truncate(len);
        Ok(out)
    }
    /// See [`pr_curve`]; with `most` points at most if given, as [`pr_curve_thinned`].
    pub fn pr_curve(
        &mut self,
        scores: &[T],
        labels: &(impl Labels + ?Sized),
        most: Option<usize>,
    ) -> Result<Vec<PrPoint>> {
        let mut out = points(scores.len(), most);
        let scratch = self.scratch(scores.len());
        let len = match most {
            None => pr_curve(scores, labels, scratch, &mut out)?,
            Some(_) => pr_curve_thinned(scores, labels, scratch, &mut out)?,
        };
        out.truncate(len);
        Ok(out)
    }
}
