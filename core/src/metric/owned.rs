//! Metrics that bring their own memory.

use super::curve;
use super::group::{self, GroupSummary};
use super::labels::{Labels, Truth};
use super::rank::{Run, runs};
use super::{
    Bin, Cells, Costs, FprRange, Gap, Interval, PairCounts, PrPoint, REPLICATES, Rate, RocPoint, Summary, TieRule, Top,
    TopRows, average_precision, bootstrap, bootstrap_top, cells_need, delong, pair_counts, pairs_of_groups,
    partial_auc, partial_auc_two_way, point_at_fpr, point_at_slope, pr_curve, pr_curve_thinned, precision_at_recall,
    recall_at_precision, roc_curve, roc_curve_thinned, roc_len, summary,
};
use crate::decision::{Decision, ThresholdRule};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use alloc::vec;
use alloc::vec::Vec;

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

/// 95 % intervals of the metrics of a [`Summary`]; `None` where nothing tells them (see [`delong`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Intervals {
    /// By [`delong`].
    pub auroc: Option<Interval>,
    /// By [`bootstrap`].
    pub ap: Option<Interval>,
    /// Likewise, over the range asked for.
    pub pauc: Option<Interval>,
}

/// Of more runs than this no intervals are computed: they would be narrower than a thousandth, and take seconds.
pub const MOST_RUNS: usize = 1 << 20;

impl Intervals {
    /// Of joined runs.
    pub(super) fn of(found: &[Run], range: FprRange) -> Result<Self> {
        let mut weights = vec![0.0; 2 * found.len()];
        let [ap, pauc] = bootstrap(found, range, REPLICATES, 1, &mut weights)?;
        Ok(Self { auroc: delong(found)?, ap, pauc })
    }
}

/// Runs of the descending order, of which neighbours without a positive are one.
#[derive(Default)]
pub(super) struct Joined(Vec<Run>);

impl Joined {
    pub(super) fn push(&mut self, run: Run) {
        let full = self.0.len() > MOST_RUNS;
        match self.0.last_mut() {
            // Negatives alone, one below the other, are one run.
            Some(last) if last.positives == 0 && run.positives == 0 => last.negatives += run.negatives,
            _ if full || run.positives + run.negatives == 0 => {}
            _ => self.0.push(run),
        }
    }
    /// Them, unless there are more than [`MOST_RUNS`].
    pub(super) fn finish(self) -> Option<Vec<Run>> {
        (self.0.len() <= MOST_RUNS).then_some(self.0)
    }
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
    /// 95 % intervals of AUROC, average precision and the partial AUC over `range`, from [`REPLICATES`] replicates of seed 1;
    /// none where there are more than [`MOST_RUNS`] runs. O(n log n), and O(runs) a replicate.
    ///
    /// # Errors
    /// As [`auroc`](super::auroc()).
    pub fn intervals(&mut self, scores: &[T], labels: &[u8], range: FprRange) -> Result<Intervals> {
        let Some(found) = self.found_runs(scores, labels)? else { return Ok(Intervals::default()) };
        Intervals::of(&found, range)
    }
    /// The 95 % interval of the recall of the highest scores, likewise; see [`bootstrap_top`].
    ///
    /// # Errors
    /// As [`top`](super::top()).
    pub fn top_recall_interval(&mut self, scores: &[T], labels: &[u8], top: Top) -> Result<Option<Interval>> {
        let share = top.of(scores.len() as f64)? / scores.len() as f64;
        let Some(found) = self.found_runs(scores, labels)? else { return Ok(None) };
        bootstrap_top(&found, share, REPLICATES, 1, &mut vec![0.0; 2 * found.len()])
    }
    /// The runs of the descending order, unless there are more than [`MOST_RUNS`].
    fn found_runs(&mut self, scores: &[T], labels: &[u8]) -> Result<Option<Vec<Run>>> {
        let mut found = Joined::default();
        runs(scores, labels, self.scratch(scores.len()), |_, run| found.push(run))?;
        Ok(found.finish())
    }
    /// See [`roc_curve`]; with `most` points at most if given, as [`roc_curve_thinned`].
    pub fn roc_curve(
        &mut self,
        scores: &[T],
        labels: &(impl Labels + ?Sized),
        most: Option<usize>,
    ) -> Result<Vec<RocPoint>> {
        let mut out = curve::out(roc_len(scores.len()), most);
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
        let mut out = curve::out(scores.len(), most);
        let scratch = self.scratch(scores.len());
        let len = match most {
            None => pr_curve(scores, labels, scratch, &mut out)?,
            Some(_) => pr_curve_thinned(scores, labels, scratch, &mut out)?,
        };
        out.truncate(len);
        Ok(out)
    }
}
