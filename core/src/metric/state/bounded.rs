//! Counts in a fixed number of ranges of scores, and between which numbers that leaves the metrics.

use super::{Cell, MOST, ONE, State, count};
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::metric::ap::ApTally;
use crate::metric::auroc::PairTally;
use crate::metric::partial_auc::PaucTally;
use crate::metric::rank::{Classes, Run};
use crate::metric::{FprRange, TieRule};
use crate::real::Real;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

/// The fewest ranges of a state.
const FEWEST: usize = 1 << 8;
/// Bytes for each range, at most.
const RANGE: usize = 125;

/// The rows of a range of scores, whose keys agree in their top bits; or of one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) negatives: u64,
    pub(super) positives: u64,
}

impl Node {
    /// Its runs, the higher first: in the best order, or in the worst; those of a class tie.
    fn runs(&self, best: bool) -> [Run<u128>; 2] {
        let [positives, negatives] = [self.positives.into(), self.negatives.into()];
        let (above, below) = (Run { positives, negatives: 0 }, Run { positives: 0, negatives });
        match best {
            _ if self.low == self.high => [Run { positives, negatives }, Run::default()],
            true => [above, below],
            false => [below, above],
        }
    }
}

/// Between which numbers each metric lies; both are equal where no range holds rows of both classes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// Of the area under the ROC curve.
    pub auroc: (f64, f64),
    /// Of average precision.
    pub ap: (f64, f64),
    /// Of partial AUC, by the trapezoid rule.
    pub pauc: (f64, f64),
}

/// A state of a fixed size: rows without end, in at most so many ranges of scores, and metrics as bounds that contain those of a
/// [`State`] of the same rows.
///
/// While there are fewer different scores than ranges, each is a range of its own, and the bounds are one number. After that neighbouring
/// ranges become one where that widens the bounds least: they are finer at the top of the ordering, where average precision is made.
/// Merged in another order the ranges may differ; the bounds contain the metrics of all rows in any. A second pass
/// ([`Bounded::narrow`]) narrows them.
///
/// Memory: 64 bytes for each of `most` ranges, while rows come 125. Cost: O(log `most`) a row.
///
/// ```
/// use undercurve::metric::{Bounded, FprRange, State};
///
/// let (mut bounded, mut exact) = (Bounded::new(1000), State::new());
/// for k in 0..20_000_u32 {
///     let score = f64::from(k.wrapping_mul(2_654_435_769)) / 4294967296.0;
///     let label = u8::from(k % 9 == 0 && score > 0.3);
///     bounded.update(&[score], &[label])?;
///     exact.update(&[score], &[label], &[])?;
/// }
/// let (bounds, exact) = (bounded.bounds(FprRange::FULL)?, exact.summary(FprRange::FULL)?);
/// assert!(bounds.auroc.0 <= exact.auroc && exact.auroc <= bounds.auroc.1);
/// assert!(bounds.auroc.1 - bounds.auroc.0 < 0.01);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bounded {
    most: usize,
    pub(super) nodes: Vec<Node>,
    /// Keys of rows that are not yet counted: negatives and positives.
    waiting: [Vec<u64>; 2],
    rows: u64,
    /// What a range may widen the bounds by.
    widening: f64,
}

impl Bounded {
    /// No rows, and at most so many ranges; 256 at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = most.max(FEWEST);
        let widening = 1.0 / (most as f64 * most as f64);
        Self { most, nodes: Vec::new(), waiting: [Vec::new(), Vec::new()], rows: 0, widening }
    }

    /// As many ranges as fit so many bytes.
    #[must_use]
    pub fn of_memory(bytes: usize) -> Self {
        Self::new(bytes / RANGE)
    }

    /// Adds rows: scores and labels, 1 for positive and 0 for negative.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Label`; `Overflow` above 2⁶² rows.
    pub fn update<T: Real>(&mut self, scores: &[T], labels: &[u8]) -> Result<()> {
        exact_len("labels", scores.len(), labels.len())?;
        all_finite("scores", scores)?;
        count_labels(labels)?;
        self.take(scores.len() as u64)?;
        for (score, &label) in scores.iter().zip(labels) {
            self.waiting[usize::from(label)].push(score.f64().key());
            if self.waiting[0].len() + self.waiting[1].len() >= self.most / 2 {
                self.settle();
            }
        }
        Ok(())
    }

    /// Adds the rows of another one, whose ranges may be more or fewer.
    ///
    /// # Errors
    /// `Overflow` above 2⁶² rows.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.take(other.rows)?;
        self.settle();
        let mut other = other.clone();
        other.settle();
        self.join(other.nodes);
        Ok(())
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn take(&mut self, rows: u64) -> Result<()> {
        self.rows = self.rows.checked_add(rows).filter(|&sum| sum <= MOST).ok_or(Error::Overflow { what: "rows" })?;
        Ok(())
    }

    pub(super) fn settle(&mut self) {
        if !self.waiting.iter().all(Vec::is_empty) {
            let nodes = counted(self.waiting.each_mut().map(core::mem::take));
            self.join(nodes);
        }
    }

    fn join(&mut self, other: Vec<Node>) {
        self.nodes = joined(&self.nodes, &other);
        drop(other);
        if self.nodes.len() > self.most {
            self.shrink();
        }
    }

    /// To half as many ranges.
    fn shrink(&mut self) {
        while self.nodes.len() > self.most / 2 {
            let mut sums = vec![[0_u64; 2]; self.nodes.len() + 1];
            for (at, node) in self.nodes.iter().enumerate() {
                sums[at + 1] = [sums[at][0] + node.negatives, sums[at][1] + node.positives];
            }
            let mut out = Vec::with_capacity(self.most);
            fold(&self.nodes, &sums, 0, self.widening, &mut out);
            self.nodes = out;
            self.widening *= 2.0;
        }
    }

    /// Between which numbers the metrics of all rows lie.
    ///
    /// # Errors
    /// `Empty` without rows, `OneClass`.
    pub fn bounds(&self, range: FprRange) -> Result<Bounds> {
        bounds(self.settled().iter().rev().copied(), range)
    }

    /// Rows with label 1, and with label 0.
    #[must_use]
    pub fn labels(&self) -> [u64; 2] {
        let count = |label: usize| self.waiting[label].len() as u64;
        self.nodes.iter().fold([count(1), count(0)], |[p, n], node| [p + node.positives, n + node.negatives])
    }

    /// The state of the same rows, as long as each score has a range of its own.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        let nodes = self.settled();
        if nodes.iter().any(|node| node.low < node.high) {
            return None;
        }
        let cell =
            |&Node { low: key, negatives, positives, .. }: &Node| Cell { key, weight: ONE, positives, negatives };
        let cells = nodes.iter().map(cell).collect();
        Some(State { cells, rows: self.rows, weights: (self.rows > 0).then_some(false), ..State::default() })
    }

    /// The ranges of all rows; some more while rows wait.
    fn settled(&self) -> Cow<'_, [Node]> {
        if self.waiting.iter().all(Vec::is_empty) {
            return Cow::Borrowed(&self.nodes);
        }
        Cow::Owned(joined(&self.nodes, &counted(self.waiting.clone())))
    }
}

/// Each score as a range.
fn counted(keys: [Vec<u64>; 2]) -> Vec<Node> {
    let node =
        |cell: Cell| Node { low: cell.key, high: cell.key, negatives: cell.negatives, positives: cell.positives };
    count(keys, [Vec::new(), Vec::new()]).into_iter().map(node).collect()
}

/// Ranges lie apart or inside each other; one inside becomes part of the other.
fn joined(mut a: &[Node], mut b: &[Node]) -> Vec<Node> {
    let mut all: Vec<Node> = Vec::with_capacity(a.len() + b.len());
    loop {
        let next = match (a.first(), b.first()) {
            (Some(one), Some(two)) if (one.low, !one.high) <= (two.low, !two.high) => take(&mut a),
            (_, Some(_)) => take(&mut b),
            (Some(_), None) => take(&mut a),
            (None, None) => break,
        };
        let Some(next) = next else { break };
        match all.last_mut() {
            Some(last) if last.high >= next.low => {
                last.negatives += next.negatives;
                last.positives += next.positives;
            }
            _ => all.push(next),
        }
    }
    all
}

/// Between which numbers the metrics lie of rows in these ranges, the highest first.
pub(super) fn bounds(nodes: impl Iterator<Item = Node> + Clone, range: FprRange) -> Result<Bounds> {
    let mut classes = Classes::<u128>::default();
    let (mut empty, mut single) = (true, true);
    for node in nodes.clone() {
        classes.positives += u128::from(node.positives);
        classes.negatives += u128::from(node.negatives);
        (empty, single) = (false, single && node.low == node.high);
    }
    if empty {
        return Err(Error::Empty { what: "scores" });
    }
    if classes.positives == 0 || classes.negatives == 0 {
        return Err(Error::OneClass);
    }
    let [worst, best] = [false, true].map(|best| {
        let (mut pairs, mut ap) = (PairTally::default(), ApTally::default());
        let mut partial = PaucTally::new(range, TieRule::Trapezoid);
        for run in nodes.clone().flat_map(|node| node.runs(best)) {
            pairs.push(run);
            ap.push(run);
            partial.push(classes, run);
        }
        (pairs.finish(classes).auroc(), ap.finish(classes), partial.finish(classes))
    });
    let ap = if single { worst.1 } else { least_ap(nodes) };
    Ok(Bounds { auroc: (worst.0, best.0), ap: (ap, best.1), pauc: (worst.2, best.2) })
}

/// Average precision is least where all negatives of a range come first and its positives do not tie: the terms
/// (T + k)/(T + F + k) rise ever slower in k, so their mean is at least that of the first and the last.
fn least_ap(nodes: impl Iterator<Item = Node>) -> f64 {
    let (mut above, mut positives, mut sum) = (0.0, 0.0, 0.0);
    for node in nodes {
        let (p, n) = (node.positives as f64, node.negatives as f64);
        if node.positives > 0 {
            let term = |k: f64| (positives + k) / (positives + above + n + k);
            sum += p * if node.low == node.high { term(p) } else { 0.5 * (term(1.0) + term(p)) };
        }
        positives += p;
        above += n;
    }
    // (Rounding.)
    sum / positives * (1.0 - 1e-12)
}

fn take(nodes: &mut &[Node]) -> Option<Node> {
    let (&first, rest) = nodes.split_first()?;
    *nodes = rest;
    Some(first)
}

/// Makes one range of neighbours that share their top bits where that widens the bounds by no more than so much.
/// `sums` are the rows below each of them, from the `from`-th on.
fn fold(nodes: &[Node], sums: &[[u64; 2]], from: usize, widening: f64, out: &mut Vec<Node>) {
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return };
    let to = from + nodes.len();
    let [n, p] = [0, 1].map(|class| sums[to][class] - sums[from][class]);
    if nodes.len() == 1 {
        out.push(*first);
        return;
    }
    let split = 63 - (first.low ^ last.high).leading_zeros();
    let mask = u64::MAX >> (63 - split);
    if costs(sums, to, n, p) <= widening {
        out.push(Node { low: first.low & !mask, high: first.low | mask, negatives: n, positives: p });
        return;
    }
    let middle = (last.high >> split) << split;
    let at = nodes.partition_point(|node| node.low < middle);
    fold(&nodes[..at], sums, from, widening, out);
    fold(&nodes[at..], sums, from + at, widening, out);
}

/// About what a range with these rows below its end widens the bounds of AUROC and of average precision by. Rows still to come are
/// taken to be of both classes.
fn costs(sums: &[[u64; 2]], to: usize, n: u64, p: u64) -> f64 {
    let [all_n, all_p] = sums[sums.len() - 1].map(|count| count as f64);
    let rows = (n + p) as f64;
    let (all, above) = (all_n + all_p, all_n + all_p - (sums[to][0] + sums[to][1]) as f64);
    let share_p = (p as f64 + rows * all_p / all) / all_p.or_larger(1.0);
    let n = n as f64 + rows * all_n / all;
    share_p * (n / all_n.or_larger(1.0) + n / (above + rows))
}
