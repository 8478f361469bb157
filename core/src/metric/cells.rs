//! Gaps between groups: how far the rates of two groups are apart, over all thresholds or at one.
//!
//! ```text
//! gap(tpr)   = sup_τ |TPR_a(τ) − TPR_b(τ)|        the two-sample Kolmogorov–Smirnov statistic of the positives' scores
//! gap(fpr)   = sup_τ |FPR_a(τ) − FPR_b(τ)|        of the negatives'
//! gap(·@α)   = the same difference at the lowest τ whose false-positive rate over all groups is at most α
//! ```
//!
//! A cell is what has one label and one group; a score at or above τ predicts the positive class. The scores of every cell
//! are sorted once, and the cells merged from the highest score down, tied scores in one step: all pairs of groups at once,
//! and the AUROC within each group from the same order.
//!
//! Each gap comes with its noise: what it would stay below in 95 of 100 samples of such sizes from groups that do not differ.
//! Over all thresholds that is Smirnov's 1.36 √(1/n_a + 1/n_b), at one 1.96 √(p (1 − p) (1/n_a + 1/n_b)) with
//! p = (k + 2)/(n + 4) for the k of n rows of both groups that score above it (Agresti, Coull 1998: not 0 where k is).
//!
//! And each comes with an upper end at 95 %: the greatest over τ of |d| + 1.645 √(p_a (1 − p_a)/(n_a + 2) + p_b (1 − p_b)/(n_b + 2)), with
//! d = p_a − p_b, p = (k + 1)/(n + 2) (Agresti, Caffo 2000). It needs no correction for looking at every τ: a gap of B or more is one at
//! some τ, and is taken for less only where the bound at that very τ fails, in 5 of 100 samples at most (an intersection–union test, Berger
//! 1982). The same holds over both rates and all pairs of groups: the greatest upper end of all bounds all gaps at once.
//!
//! O(n) to sort, O(d G) to merge d distinct scores of G groups, and O(G) for each time that a group's rate moves. Memory:
//! 2n `u64` ([`cells_need`]).

use super::auroc::PairTally;
use super::radix::{counts_len, sort_keys};
use super::rank::{Classes, Groups, check};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Which rate of the ROC curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Of the positives: true-positive rate, or recall.
    Tpr,
    /// Of the negatives: false-positive rate.
    Fpr,
}

/// How far two groups are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gap {
    /// The groups, ascending.
    pub groups: [u32; 2],
    /// Rows of each that have the label of the rate. Without any the gap is 0 and its noise infinite.
    pub rows: [u64; 2],
    /// The difference of their rates, in [0, 1].
    pub value: f64,
    /// What it would stay below in 95 of 100 samples if the groups did not differ.
    pub noise: f64,
    /// What it is at most, with 95 % confidence: 1 without rows.
    pub upper: f64,
    /// Where they are so far apart: scores from here up; +∞ without rows, or when no score is counted.
    pub threshold: f64,
}

/// The 95 % quantile of Kolmogorov's distribution.
const KOLMOGOROV: f64 = 1.36;
/// That of the standard normal one.
const ONE_SIDE: f64 = 1.645;
/// That of the absolute standard normal one.
pub(crate) const NORMAL: f64 = 1.96;

/// The upper end of the difference of two shares at one threshold.
fn upper_end([k, l]: [u64; 2], [m, n]: [u64; 2]) -> f64 {
    let share = |k: u64, n: u64| (k as f64 + 1.0) / (n as f64 + 2.0);
    let (p, q) = (share(k, m), share(l, n));
    let variance = p * (1.0 - p) / (m as f64 + 2.0) + q * (1.0 - q) / (n as f64 + 2.0);
    (p - q).abs() + ONE_SIDE * crate::Real::sqrt(variance)
}

impl Gap {
    /// The largest of some gaps, of equals the first; `None` unless one of them is between two groups that have rows.
    #[must_use]
    pub fn worst(gaps: &[Self]) -> Option<Self> {
        let there = gaps.iter().filter(|gap| !gap.rows.contains(&0));
        there.fold(None, |worst, gap| if worst.is_none_or(|w: Self| gap.value > w.value) { Some(*gap) } else { worst })
    }
}

/// Groups that [`Cells`] take.
pub const MAX_GROUPS: usize = 1000;

/// Pairs of so many groups.
#[must_use]
pub const fn pairs_of_groups(groups: usize) -> usize {
    groups * groups.saturating_sub(1) / 2
}

/// Scratch of [`Cells::new`] for `n` scores in `groups` groups; `usize::MAX` of everything for more than it takes.
#[must_use]
pub const fn cells_need(n: usize, groups: usize) -> Need {
    if !Need::takes(n) || groups > MAX_GROUPS {
        return Need::UNMET;
    }
    Need { real: 0, f64: 0, u32: counts_len(n) + 5 * groups + 1, u64: 2 * n }
}

/// The scores of every cell, label × group, in order.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{Cells, Gap, Rate, cells_need};
///
/// let scores = [0.9_f32, 0.8, 0.2, 0.1]; // four positives, two of each group
/// let (labels, groups) = ([1; 4], [0, 0, 1, 1]);
/// let need = cells_need(4, 2);
/// let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { u32: &mut u32s, u64: &mut u64s, ..Scratch::default() };
/// let mut cells = Cells::new(&scores, &labels, &groups, 2, scratch)?;
/// let mut gaps = [Gap::default()];
/// cells.gaps(Rate::Tpr, &mut gaps)?;
/// assert_eq!((gaps[0].groups, gaps[0].value), ([0, 1], 1.0)); // at 0.8 all of group 0 are found and none of group 1
/// assert!(gaps[0].noise >= 1.0); // which two rows each do not show
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Debug)]
pub struct Cells<'a, T> {
    /// Cell by cell, ascending within each: those of the negatives of every group, then of the positives.
    keys: &'a [u64],
    /// Where each cell begins, and where the last one ends.
    starts: &'a [u32],
    /// Keys of each cell that a walk has not passed yet.
    left: &'a mut [u32],
    /// The groups that the last step of a walk has moved.
    moved: &'a mut [u32],
    score: core::marker::PhantomData<T>,
}

impl<'a, T: Real> Cells<'a, T> {
    /// Sorts. `groups` holds a number below `count` for each score; `count` is from 1 to [`MAX_GROUPS`]. Cells may be empty,
    /// and one class alone is accepted. `scratch` as [`cells_need`] says; O(n).
    ///
    /// # Errors
    /// `Param` (count), `Empty`, `Length` (labels, groups, scratch), `NonFinite` (scores), `Label`, `Index` (groups),
    /// `Overflow` (more than 2³² − 1 scores).
    pub fn new(scores: &[T], labels: &[u8], groups: &[u32], count: usize, scratch: Scratch<'a, T>) -> Result<Self> {
        if !(1..=MAX_GROUPS).contains(&count) {
            return Err(Error::Param { what: "groups" });
        }
        match check(scores, labels) {
            Ok(_) | Err(Error::OneClass) => {}
            Err(error) => return Err(error),
        }
        check_groups(groups, scores.len(), count)?;
        scratch.check(cells_need(scores.len(), count))?;
        let n = scores.len();
        let (keys, spare) = scratch.u64.split_at_mut(n);
        let (counts, rest) = scratch.u32.split_at_mut(counts_len(n));
        let (starts, rest) = rest.split_at_mut(2 * count + 1);
        let (left, rest) = rest.split_at_mut(2 * count);
        let cell = |at: usize| usize::from(labels[at]) * count + groups[at] as usize;
        starts.fill(0);
        for at in 0..n {
            starts[cell(at) + 1] += 1;
        }
        for at in 0..2 * count {
            starts[at + 1] += starts[at];
        }
        left.copy_from_slice(&starts[..2 * count]);
        for (at, score) in scores.iter().enumerate() {
            let place = &mut left[cell(at)];
            keys[*place as usize] = score.key();
            *place += 1;
        }
        for bounds in starts.windows(2) {
            sort_keys(&mut keys[bounds[0] as usize..bounds[1] as usize], spare, counts);
        }
        Ok(Self { keys, starts, left, moved: &mut rest[..count], score: core::marker::PhantomData })
    }

    /// Number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.moved.len()
    }

    /// Rows of a group that have the label of a rate. `group` is below [`groups`](Self::groups).
    #[must_use]
    pub fn rows(&self, rate: Rate, group: usize) -> u64 {
        self.keys_of(self.cell(rate, group)).len() as u64
    }

    fn cell(&self, rate: Rate, group: usize) -> usize {
        (if rate == Rate::Tpr { self.groups() } else { 0 }) + group
    }

    fn keys_of(&self, cell: usize) -> &'a [u64] {
        &self.keys[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// Sets a walk over some cells to its start.
    fn rewind(&mut self, cells: core::ops::Range<usize>) {
        for cell in cells {
            self.left[cell] = self.starts[cell + 1] - self.starts[cell];
        }
    }

    /// The highest key that a walk over these cells has not passed.
    fn highest(&self, cells: core::ops::Range<usize>) -> Option<u64> {
        cells.filter_map(|cell| self.keys_of(cell)[..self.left[cell] as usize].last()).max().copied()
    }

    /// Passes the keys of a cell that are equal to `key`; how many there were.
    fn pass(&mut self, cell: usize, key: u64) -> u64 {
        let keys = &self.keys_of(cell)[..self.left[cell] as usize];
        let equal = keys.iter().rev().take_while(|&&other| other == key).count();
        self.left[cell] -= equal as u32;
        equal as u64
    }

    /// The gaps between all pairs of groups over all thresholds: (0, 1), (0, 2), …, (1, 2), …. `out` has room for
    /// [`pairs_of_groups`].
    ///
    /// # Errors
    /// `Length` for `out`.
    pub fn gaps(&mut self, rate: Rate, out: &mut [Gap]) -> Result<()> {
        let count = self.groups();
        self.start(rate, out)?;
        let first = self.cell(rate, 0);
        let cells = first..first + count;
        self.rewind(cells.clone());
        while let Some(key) = self.highest(cells.clone()) {
            let mut moved = 0;
            for group in 0..count {
                if self.pass(first + group, key) > 0 {
                    self.moved[moved] = group as u32;
                    moved += 1;
                }
            }
            for at in 0..moved {
                let group = self.moved[at] as usize;
                let passed = |group: usize| {
                    let all = self.rows(rate, group);
                    (all > 0).then(|| (all - u64::from(self.left[first + group]), all))
                };
                let Some((k, m)) = passed(group) else { continue };
                for other in (0..count).filter(|&other| other != group) {
                    let Some((l, n)) = passed(other) else { continue };
                    let gap = &mut out[pair(count, group.min(other), group.max(other))];
                    let value = (k as f64 / m as f64 - l as f64 / n as f64).abs();
                    if value > gap.value {
                        (gap.value, gap.threshold) = (value, T::of_key(key).f64());
                    }
                    gap.upper = gap.upper.or_larger(upper_end([k, l], [m, n]).or_smaller(1.0)).or_larger(gap.value);
                }
            }
        }
        Ok(())
    }

    /// The gaps between all pairs of groups, in the order of [`gaps`](Self::gaps), at the lowest threshold whose
    /// false-positive rate over all groups is at most `fpr`, in [0, 1]; where negatives tie, that rate may be well below.
    ///
    /// # Errors
    /// `Param` (fpr), `Length` for `out`, `Empty` without negatives.
    pub fn gaps_at(&mut self, rate: Rate, fpr: f64, out: &mut [Gap]) -> Result<()> {
        if !(0.0..=1.0).contains(&fpr) {
            return Err(Error::Param { what: "fpr" });
        }
        let count = self.groups();
        let negatives: u64 = (0..count).map(|group| self.rows(Rate::Fpr, group)).sum();
        if negatives == 0 {
            return Err(Error::Empty { what: "negatives" });
        }
        // The first negative score that is too low: all above it count.
        self.rewind(0..count);
        let (mut above, mut below) = (0, None);
        while let Some(key) = self.highest(0..count) {
            above += (0..count).map(|cell| self.pass(cell, key)).sum::<u64>();
            if above as f64 / negatives as f64 > fpr {
                below = Some(key);
                break;
            }
        }
        for cell in 0..2 * count {
            let keys = self.keys_of(cell);
            self.left[cell] = below.map_or(0, |below| keys.partition_point(|&key| key <= below)) as u32;
        }
        let lowest = (0..2 * count).filter_map(|cell| self.keys_of(cell).get(self.left[cell] as usize)).min();
        let threshold = lowest.map_or(f64::INFINITY, |&key| T::of_key(key).f64());
        self.start(rate, out)?;
        for gap in out[..pairs_of_groups(count)].iter_mut().filter(|gap| !gap.rows.contains(&0)) {
            let left = gap.groups.map(|group| u64::from(self.left[self.cell(rate, group as usize)]));
            let [n, m] = gap.rows.map(|rows| rows as f64);
            let [a, b] = [(gap.rows[0] - left[0]) as f64, (gap.rows[1] - left[1]) as f64];
            let both = (a + b + 2.0) / (n + m + 4.0);
            gap.value = (a / n - b / m).abs();
            gap.noise = NORMAL * crate::Real::sqrt(both * (1.0 - both) * (1.0 / n + 1.0 / m));
            gap.upper = upper_end([a as u64, b as u64], gap.rows).or_smaller(1.0).or_larger(gap.value);
            gap.threshold = threshold;
        }
        Ok(())
    }

    /// Writes groups, rows and Smirnov's noise of all pairs, without a gap so far.
    fn start(&self, rate: Rate, out: &mut [Gap]) -> Result<()> {
        let count = self.groups();
        let pairs = pairs_of_groups(count);
        if out.len() < pairs {
            return Err(Error::Length { what: "out", need: pairs, got: out.len() });
        }
        let all = (0..count as u32).flat_map(|first| (first + 1..count as u32).map(move |second| [first, second]));
        for (gap, groups) in out.iter_mut().zip(all) {
            let rows = groups.map(|group| self.rows(rate, group as usize));
            let noise = KOLMOGOROV * crate::Real::sqrt(1.0 / rows[0] as f64 + 1.0 / rows[1] as f64);
            let upper = if rows.contains(&0) { 1.0 } else { 0.0 };
            *gap = Gap { groups, rows, value: 0.0, noise, upper, threshold: f64::INFINITY };
        }
        Ok(())
    }

    /// AUROC of the rows of one group, below [`groups`](Self::groups), ties counting one half; `None` where it lacks a label.
    #[must_use]
    pub fn auroc(&self, group: usize) -> Option<f64> {
        let [positives, negatives] = [Rate::Tpr, Rate::Fpr].map(|rate| self.keys_of(self.cell(rate, group)));
        let mut tally = PairTally::default();
        Groups::<T>::of(positives, negatives).for_each(|group| tally.push(group.run));
        let classes = Classes { positives: positives.len() as u64, negatives: negatives.len() as u64 };
        (classes.positives > 0 && classes.negatives > 0).then(|| tally.finish(classes).auroc())
    }
}

/// The place of a pair of groups, ascending, among all pairs of `count`.
fn pair(count: usize, first: usize, second: usize) -> usize {
    first * (2 * count - first - 1) / 2 + (second - first - 1)
}

pub(crate) fn check_groups(groups: &[u32], rows: usize, count: usize) -> Result<()> {
    exact_len("groups", rows, groups.len())?;
    match groups.iter().position(|&group| group as usize >= count) {
        Some(at) => Err(Error::Index { what: "groups", at, len: count }),
        None => Ok(()),
    }
}
