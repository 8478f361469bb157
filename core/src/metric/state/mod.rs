//! Metrics of rows that are in several places, or too many for one.
//!
//! What a metric looks at is how many rows of each label have each score (and weight). A [`State`] is that count and nothing
//! else: distinct keys, ascending. Counts add, so any split of the rows over states, merged in any order, is one state, with
//! the same bytes and the metrics of all rows together, to the last bit. Pairs are counted in 128 bits.

mod bounded;
mod bytes;
mod narrowing;
mod view;

pub use bounded::{Bounded, Bounds};
pub use bytes::StateError;
pub use narrowing::Narrowing;

use super::amount::Amount;
use super::labels::{Labels, check_weights};
use super::owned::{self, Intervals, ranked::Ranked};
use super::radix::{counts_len, sort_keys};
use super::rank::Run;
use super::{
    Confusion, Estimate, FprRange, Interval, PrPoint, RocPoint, Summary, TieRule, Truth, interval, partial_auc, pr,
    roc, summary,
};
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::real::Real;
use crate::scratch::Scratch;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use view::{Counted, Weighed};

/// No state counts more rows than this; twice the pairs of so many fit 128 bits.
const MOST: u64 = 1 << 62;
/// The bits of a weight of 1, that of every row without one.
const ONE: u64 = 1.0_f64.to_bits();
/// At least so many rows are counted together.
const FEWEST: usize = 1 << 16;

/// Evaluates with the labels of a state, of whichever type they are.
macro_rules! each {
    ($state:expr, $labels:ident => $body:expr) => {{
        let cells = $state.settled();
        if $state.are_weighed() {
            let $labels = Weighed::new(&cells)?;
            $body
        } else {
            let $labels = Counted::new(&cells)?;
            $body
        }
    }};
}

/// The rows of one score and one weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    /// Of the score, as [`Real::key`] of `f64`.
    key: u64,
    /// Bits of the weight, which ascend with it.
    weight: u64,
    positives: u64,
    negatives: u64,
}

impl Cell {
    fn place(&self) -> (u64, u64) {
        (self.key, self.weight)
    }
}

/// Counted scores, which merge: see the [module](super)'s other functions for what its metrics are.
///
/// ```
/// use undercurve::metric::{FprRange, State};
///
/// let (mut here, mut there) = (State::new(), State::new());
/// here.update(&[0.1, 0.4], &[0, 0], &[])?;
/// there.update(&[0.35_f32, 0.8], &[1, 1], &[])?;
/// here.merge(&State::from_bytes(&there.to_bytes()).unwrap())?;
/// assert_eq!(here.summary(FprRange::FULL)?.auroc, 0.75);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Ascending by key and weight, distinct, none empty.
    cells: Vec<Cell>,
    /// Rows that are not yet counted, negatives and positives: keys alone, or with the bits of weights.
    plain: [Vec<u64>; 2],
    weighed: [Vec<(u64, u64)>; 2],
    /// Whether rows have weights; known from the first row on.
    weights: Option<bool>,
    rows: u64,
    /// Keys between which negatives are counted, ascending; see [`State::between`].
    anchors: Option<Vec<u64>>,
}

impl State {
    /// No rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No rows yet, and then those of the negatives alone, by the gap of `positives` that they are in: the second of two passes over
    /// rows. The first counts the positives. Merged, both have the metrics and intervals of all rows, but no curves. A state has at
    /// most two cells for each different score of a positive, and two more, however many rows there are.
    ///
    /// ```
    /// use undercurve::metric::{FprRange, State};
    ///
    /// let (scores, labels) = ([0.1, 0.4, 0.3, 0.35, 0.8], [0, 0, 0, 1, 1]);
    /// let mut all = State::new();
    /// all.update(&[0.35, 0.8], &[1, 1], &[])?;
    /// let mut gaps = State::between(&all)?;
    /// gaps.update(&scores, &labels, &[])?;
    /// all.merge(&gaps)?;
    /// assert_eq!((all.summary(FprRange::FULL)?.auroc, all.labels()), (5.0 / 6.0, [2, 3]));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for rows with weights: those of one gap would have to be added in another order.
    pub fn between(positives: &Self) -> Result<Self> {
        if positives.are_weighed() {
            return Err(Error::Unsupported { what: "rows with weights in two passes" });
        }
        let cells = positives.settled();
        let mut anchors: Vec<u64> = cells.iter().filter(|cell| cell.positives > 0).map(|cell| cell.key).collect();
        // The threshold of accuracy. (It also keeps the key between the numbers next to 0 out of use: −0 has that of +0.)
        let zero = 0.0_f64.key();
        if let Err(at) = anchors.binary_search(&zero) {
            anchors.insert(at, zero);
        }
        Ok(Self { anchors: Some(anchors), ..Self::default() })
    }

    /// Adds rows: scores, labels (1 for positive, 0 for negative), and a weight for each or none at all. Scores of `f32` are
    /// those numbers in `f64`. Rows may be none, or of one class. O(n log n), amortised.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Label`, `Weight`, `Overflow`; `Unsupported` for rows with weights beside rows without.
    pub fn update<T: Real>(&mut self, scores: &[T], labels: &[u8], weights: &[f64]) -> Result<()> {
        exact_len("labels", scores.len(), labels.len())?;
        all_finite("scores", scores)?;
        count_labels(labels)?;
        if !weights.is_empty() {
            exact_len("weights", scores.len(), weights.len())?;
            check_weights(weights)?;
        }
        if let Some(anchors) = self.anchors.take() {
            let done = self.update_gaps(&anchors, scores, labels, weights);
            self.anchors = Some(anchors);
            return done;
        }
        self.take(scores.len() as u64, !weights.is_empty())?;
        let rows = scores.iter().zip(labels);
        // (In f64, so that both types meet in one order.)
        if weights.is_empty() {
            rows.for_each(|(score, &label)| self.plain[usize::from(label)].push(score.f64().key()));
        } else {
            for ((score, &label), &weight) in rows.zip(weights) {
                // −0 is +0.
                self.weighed[usize::from(label)].push((score.f64().key(), (weight + 0.0).to_bits()));
            }
        }
        self.settle_many();
        Ok(())
    }

    /// Adds the negatives among checked rows, each as the lowest number of its gap.
    fn update_gaps<T: Real>(&mut self, anchors: &[u64], scores: &[T], labels: &[u8], weights: &[f64]) -> Result<()> {
        if !weights.is_empty() {
            return Err(Error::Unsupported { what: "rows with weights in two passes" });
        }
        self.take(labels.iter().filter(|&&label| label == 0).count() as u64, false)?;
        let lowest = (-f64::MAX).key();
        for (score, _) in scores.iter().zip(labels).filter(|row| *row.1 == 0) {
            let key = score.f64().key();
            let below = anchors.partition_point(|&anchor| anchor <= key).checked_sub(1).map(|at| anchors[at]);
            self.plain[0].push(below.map_or(lowest, |anchor| if anchor == key { key } else { anchor + 1 }));
        }
        self.settle_many();
        Ok(())
    }

    /// Counts the rows that wait, if they are many.
    fn settle_many(&mut self) {
        if self.waiting() >= FEWEST.max(self.cells.len() / 2) {
            self.settle();
        }
    }

    /// Adds the rows of another state. O(distinct scores).
    ///
    /// ```
    /// use undercurve::{Error, metric::State};
    ///
    /// let (mut plain, mut weighed) = (State::new(), State::new());
    /// plain.update(&[0.5], &[1], &[])?;
    /// weighed.update(&[0.5], &[0], &[2.0])?;
    /// assert!(matches!(plain.merge(&weighed), Err(Error::Unsupported { .. })));
    /// assert_eq!(plain.rows(), 1); // as before
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// `Overflow` above 2⁶² rows; `Unsupported` when one has weights and the other has none.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.take(other.rows, other.weights.unwrap_or_default())?;
        self.settle();
        let cells = other.settled();
        self.cells = if self.cells.is_empty() { cells.into_owned() } else { join(&self.cells, &cells) };
        Ok(())
    }

    /// Notes so many more rows.
    fn take(&mut self, rows: u64, weighed: bool) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        if self.weights.is_some_and(|weights| weights != weighed) {
            return Err(Error::Unsupported { what: "rows with weights beside rows without" });
        }
        match self.rows.checked_add(rows) {
            Some(sum) if sum <= MOST => (self.rows, self.weights) = (sum, Some(weighed)),
            _ => return Err(Error::Overflow { what: "rows" }),
        }
        Ok(())
    }

    /// Rows, those of weight 0 included.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows with label 1, and with label 0, likewise.
    #[must_use]
    pub fn labels(&self) -> [u64; 2] {
        let count = |label: usize| (self.plain[label].len() + self.weighed[label].len()) as u64;
        self.cells.iter().fold([count(1), count(0)], |[positives, negatives], cell| {
            [positives + cell.positives, negatives + cell.negatives]
        })
    }

    /// Whether rows have weights.
    #[must_use]
    pub fn are_weighed(&self) -> bool {
        self.weights.unwrap_or_default()
    }

    /// Rows that wait to be counted.
    fn waiting(&self) -> usize {
        self.plain.iter().map(Vec::len).sum::<usize>() + self.weighed.iter().map(Vec::len).sum::<usize>()
    }

    fn settle(&mut self) {
        if self.waiting() > 0 {
            let new = count(core::mem::take(&mut self.plain), core::mem::take(&mut self.weighed));
            self.cells = if self.cells.is_empty() { new } else { join(&self.cells, &new) };
        }
    }

    /// All rows, counted.
    fn settled(&self) -> Cow<'_, [Cell]> {
        if self.waiting() == 0 {
            return Cow::Borrowed(&self.cells);
        }
        Cow::Owned(join(&self.cells, &count(self.plain.clone(), self.weighed.clone())))
    }

    /// What [`summary()`] says of all rows together.
    ///
    /// # Errors
    /// `Empty` without rows, `OneClass`; `Overflow` when the sum of the weights does not fit.
    pub fn summary(&self, range: FprRange) -> Result<Summary> {
        each!(self, labels => summary::<f64, _>(&[], &labels, range, Scratch::default()))
    }

    /// What [`partial_auc()`] says of them.
    ///
    /// # Errors
    /// As [`State::summary`].
    pub fn partial_auc(&self, range: FprRange, rule: TieRule) -> Result<f64> {
        each!(self, labels => partial_auc::<f64, _>(&[], &labels, range, rule, Scratch::default()))
    }

    /// What [`precision_at_recall`](super::precision_at_recall) says of them.
    ///
    /// # Errors
    /// `Param` for a recall outside [0, 1], and as [`State::summary`].
    pub fn precision_at_recall(&self, recall: f64) -> Result<f64> {
        each!(self, labels => pr::precision_at_recall::<f64, _>(&[], &labels, recall, Scratch::default()))
    }

    /// What [`recall_at_precision`](super::recall_at_precision) says of them.
    ///
    /// # Errors
    /// `Param` for a precision outside [0, 1], and as [`State::summary`].
    pub fn recall_at_precision(&self, precision: f64) -> Result<f64> {
        each!(self, labels => pr::recall_at_precision::<f64, _>(&[], &labels, precision, Scratch::default()))
    }

    /// What [`Confusion::at`] says of them, but both classes are needed; weights are added by descending score.
    ///
    /// # Errors
    /// `Param` for a NaN threshold, and as [`State::summary`].
    pub fn confusion(&self, threshold: f64) -> Result<Confusion<f64>> {
        if threshold.is_nan() {
            return Err(Error::Param { what: "threshold" });
        }
        each!(self, labels => {
            let all = labels.confusion::<f64>(&[], threshold)?;
            Ok(Confusion {
                true_positives: Amount::f64(all.true_positives),
                false_positives: Amount::f64(all.false_positives),
                true_negatives: Amount::f64(all.true_negatives),
                false_negatives: Amount::f64(all.false_negatives),
            })
        })
    }

    /// What the room for a curve goes by: the rows where it is thinned, as it is for rows.
    fn room(&self, points: usize, most: Option<usize>) -> usize {
        let rows = usize::try_from(self.rows).unwrap_or(usize::MAX).min(usize::MAX / 4);
        if most.is_some() { rows } else { points }
    }

    /// The ROC curve, as [`Metrics::roc_curve`](super::Metrics::roc_curve).
    ///
    /// # Errors
    /// `Length` for fewer than 4 points, and as [`State::summary`].
    pub fn roc_curve(&self, most: Option<usize>) -> Result<Vec<RocPoint>> {
        each!(self, labels => {
            let mut out = owned::points(self.room(labels.points(), most) + 1, most);
            let len = match most {
                None => roc::roc_curve::<f64, _>(&[], &labels, Scratch::default(), &mut out)?,
                Some(_) => roc::roc_curve_thinned::<f64, _>(&[], &labels, Scratch::default(), &mut out)?,
            };
            out.truncate(len);
            Ok(out)
        })
    }

    /// The precision–recall curve, as [`Metrics::pr_curve`](super::Metrics::pr_curve).
    ///
    /// # Errors
    /// As [`State::roc_curve`].
    pub fn pr_curve(&self, most: Option<usize>) -> Result<Vec<PrPoint>> {
        each!(self, labels => {
            let mut out = owned::points(self.room(labels.points(), most), most);
            let len = match most {
                None => pr::pr_curve::<f64, _>(&[], &labels, Scratch::default(), &mut out)?,
                Some(_) => pr::pr_curve_thinned::<f64, _>(&[], &labels, Scratch::default(), &mut out)?,
            };
            out.truncate(len);
            Ok(out)
        })
    }

    /// The 95 % interval of a metric, as [`Metrics::interval`](super::Metrics::interval).
    ///
    /// # Errors
    /// As [`State::summary`].
    pub fn interval(&self, of: Estimate) -> Result<Option<Interval>> {
        self.with_intervals(|each| each(of))
    }

    /// Those of a summary, as [`Metrics::intervals`](super::Metrics::intervals).
    ///
    /// # Errors
    /// As [`State::summary`].
    pub fn intervals(&self, range: FprRange) -> Result<Intervals> {
        self.with_intervals(|each| Intervals::of(range, each))
    }

    /// Ranks the rows once.
    fn with_intervals<R>(
        &self,
        tell: impl FnOnce(&mut dyn FnMut(Estimate) -> Result<Option<Interval>>) -> Result<R>,
    ) -> Result<R> {
        let cells = self.settled();
        if self.are_weighed() {
            Weighed::new(&cells)?;
            let mut ranked = Ranked::default();
            let there: Vec<Cell> = cells.iter().filter(|cell| cell.weight > 0).copied().collect();
            for rows in there.chunk_by(|a, b| a.key == b.key).rev() {
                ranked.begin();
                rows.iter().for_each(|cell| ranked.add(f64::from_bits(cell.weight), cell.positives, cell.negatives));
            }
            return tell(&mut |of| ranked.interval(of, Truth::from(&[][..])));
        }
        Counted::new(&cells)?;
        let mut found = Vec::new();
        for cell in cells.iter().rev() {
            owned::join(&mut found, Run { positives: cell.positives, negatives: cell.negatives });
        }
        let mut moved = vec![[0.0; 2]; found.len()];
        tell(&mut |of| interval(of, &found, &mut moved))
    }
}

/// Equal states hold equal rows.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.weights == other.weights && self.settled() == other.settled()
    }
}

/// Cells of rows, of which those of one kind are given.
fn count(mut plain: [Vec<u64>; 2], mut weighed: [Vec<(u64, u64)>; 2]) -> Vec<Cell> {
    let longest = plain.iter().map(Vec::len).max().unwrap_or(0);
    let (mut spare, mut counts) = (vec![0; longest], vec![0; counts_len(longest)]);
    plain.iter_mut().for_each(|keys| sort_keys(keys, &mut spare, &mut counts));
    drop(spare);
    weighed.iter_mut().for_each(|rows| rows.sort_unstable());
    let [negatives, positives] = [0, 1].map(|label| {
        let cell = |(key, weight), rows: usize| {
            let rows = rows as u64;
            let (positives, negatives) = if label == 1 { (rows, 0) } else { (0, rows) };
            Cell { key, weight, positives, negatives }
        };
        let keys = plain[label].chunk_by(|a, b| a == b).map(|rows| cell((rows[0], ONE), rows.len()));
        keys.chain(weighed[label].chunk_by(|a, b| a == b).map(|rows| cell(rows[0], rows.len()))).collect::<Vec<_>>()
    });
    join(&negatives, &positives)
}

/// Both together.
fn join(mut a: &[Cell], mut b: &[Cell]) -> Vec<Cell> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    while let ([one, behind @ ..], [other, beyond @ ..]) = (a, b) {
        let order = one.place().cmp(&other.place());
        let mut cell = if order.is_le() { *one } else { *other };
        if order.is_eq() {
            cell.positives += other.positives;
            cell.negatives += other.negatives;
        }
        out.push(cell);
        if order.is_le() {
            a = behind;
        }
        if order.is_ge() {
            b = beyond;
        }
    }
    out.extend_from_slice(a);
    out.extend_from_slice(b);
    out
}
