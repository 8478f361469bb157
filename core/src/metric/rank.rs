//! The one ordering behind every binary metric: scores in descending order, in groups of equal scores.
//!
//! Two ways lead there. [`groups`] sorts the keys of both classes and merges them: every distinct score is a group.
//! Metrics that look at the ordering only where a positive stands need less: with `n₊ ≤ n/4` the positives alone are
//! sorted and each negative is counted into the gap between two of them, or onto one it ties with, found by a table
//! lookup in constant expected and logarithmic worst time. Negatives of one gap then form one run; nothing that
//! distinguishes them enters AUROC, average precision, partial AUC or a maximum over thresholds.

use super::radix::{counts_len, sort_keys};
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::features::COMPACT;
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Positives and negatives that stand together in the descending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run<A = u64> {
    /// Positives in it.
    pub positives: A,
    /// Negatives in it.
    pub negatives: A,
}

/// All examples of one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group<T, A = u64> {
    /// The score; +0 for both zeros.
    pub score: T,
    /// Its positives and negatives.
    pub run: Run<A>,
}

/// Sizes of the two classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes<A = u64> {
    /// Examples with label 1.
    pub positives: A,
    /// Examples with label 0.
    pub negatives: A,
}

/// At least this many examples, and at most this share of positives, for sorting the positives alone.
const LOOKUP_FROM: usize = 512;
const LOOKUP_SHARE: usize = 4;

/// Scratch for every binary metric of `n` scores, of either type: 2n `u64`, 1.5n `u32` and n/4 scores, about; `usize::MAX`
/// of everything for more scores than they take, 2³² − 1 (on targets of 32 bits 2²⁷).
#[must_use]
pub const fn need(n: usize) -> Need {
    if !Need::takes(n) {
        return Need::UNMET;
    }
    if n < LOOKUP_FROM {
        return Need { real: 0, f64: 0, u32: counts_len(n), u64: 2 * n };
    }
    let positives = n / LOOKUP_SHARE;
    let lookup = 2 * (positives + 1) + table_len(positives) + 1;
    Need { real: positives + 1, f64: 0, u32: counts_len(n) + lookup, u64: 2 * n }
}

const fn table_len(positives: usize) -> usize {
    if positives < 8 { 16 } else { (2 * positives).next_power_of_two() }
}

/// Checks scores and labels of a binary metric.
///
/// # Errors
/// `Empty`, `Length` (labels), `Overflow` (more than 2³² − 1 scores), `NonFinite` (scores), `Label`, `OneClass`.
pub fn check<T: Real>(scores: &[T], labels: &[u8]) -> Result<Classes> {
    if scores.is_empty() {
        return Err(Error::Empty { what: "scores" });
    }
    exact_len("labels", scores.len(), labels.len())?;
    if u32::try_from(scores.len()).is_err() {
        return Err(Error::Overflow { what: "scores" });
    }
    all_finite("scores", scores)?;
    let (positives, negatives) = count_labels(labels)?;
    if positives == 0 || negatives == 0 {
        return Err(Error::OneClass);
    }
    Ok(Classes { positives: positives as u64, negatives: negatives as u64 })
}

/// The groups of equal scores, descending, and the class sizes. `scratch` as [`need`] says; O(n) by radix sort.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::rank;
///
/// let (scores, labels) = ([0.5_f32, 0.1, 0.5, 0.8], [0, 0, 1, 1]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let (classes, groups) = rank::groups(&scores, &labels, scratch)?;
/// assert_eq!((classes.positives, classes.negatives), (2, 2));
/// let counts = groups.map(|group| (group.run.positives, group.run.negatives));
/// assert!(counts.eq([(1, 0), (1, 1), (0, 1)])); // at 0.8, 0.5 and 0.1
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`check`], and `Length` for scratch.
pub fn groups<'a, T: Real>(scores: &[T], labels: &[u8], scratch: Scratch<'a, T>) -> Result<(Classes, Groups<'a, T>)> {
    let classes = check(scores, labels)?;
    scratch.check(need(scores.len()))?;
    let groups = sorted(scores, |at| labels.get(at).map(|&label| label == 1), scratch);
    Ok((classes, groups))
}

/// Calls `visit` for them.
///
/// # Errors
/// As [`groups`].
pub(super) fn each_group<T: Real>(
    scores: &[T],
    labels: &[u8],
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(Classes, Group<T>),
) -> Result<Classes> {
    let (classes, groups) = groups(scores, labels, scratch)?;
    groups.for_each(|group| visit(classes, group));
    Ok(classes)
}

/// Splits the scores by `side` (none: left out), sorts both sides, and returns the merged groups.
/// Scratch must be as [`need`] says; the caller has checked it.
pub(crate) fn sorted<'a, T: Real>(
    scores: &[T],
    side: impl Fn(usize) -> Option<bool>,
    scratch: Scratch<'a, T>,
) -> Groups<'a, T> {
    let n = scores.len();
    let (keys, spare) = scratch.u64.split_at_mut_checked(n).unwrap_or_default();
    // Positives fill from the front, negatives from the back.
    let (mut front, mut back) = (0, n);
    for (at, score) in scores.iter().enumerate() {
        let place = match side(at) {
            Some(true) => {
                front += 1;
                front - 1
            }
            Some(false) => {
                back -= 1;
                back
            }
            None => continue,
        };
        // (There is room for every key: the caller looked.)
        if let Some(key) = keys.get_mut(place) {
            *key = score.key();
        }
    }
    let (positives, rest) = keys.split_at_mut_checked(front).unwrap_or_default();
    let negatives = rest.get_mut(back - front..).unwrap_or_default();
    sort_keys(positives, spare, scratch.u32);
    sort_keys(negatives, spare, scratch.u32);
    Groups::of(positives, negatives)
}

/// Iterator over the groups of equal scores, from the highest score down.
#[derive(Clone, Debug)]
pub struct Groups<'a, T> {
    positives: &'a [u64],
    negatives: &'a [u64],
    score: core::marker::PhantomData<T>,
}

impl<'a, T> Groups<'a, T> {
    /// Of the keys of both classes, ascending.
    pub(super) fn of(positives: &'a [u64], negatives: &'a [u64]) -> Self {
        Self { positives, negatives, score: core::marker::PhantomData }
    }
}

/// Takes the entries equal to `key` off the end; how many there were.
#[inline]
fn take_equal(keys: &mut &[u64], key: u64) -> u64 {
    let mut count = 0;
    while let [rest @ .., last] = *keys {
        if *last != key {
            break;
        }
        *keys = rest;
        count += 1;
    }
    count
}

impl<T: Real> Iterator for Groups<'_, T> {
    type Item = Group<T>;
    #[inline]
    fn next(&mut self) -> Option<Group<T>> {
        let key = match (self.positives.last(), self.negatives.last()) {
            (Some(&p), Some(&n)) => p.max(n),
            (Some(&p), None) => p,
            (None, Some(&n)) => n,
            (None, None) => return None,
        };
        let run =
            Run { positives: take_equal(&mut self.positives, key), negatives: take_equal(&mut self.negatives, key) };
        Some(Group { score: T::of_key(key), run })
    }
}

/// Calls `visit` for the runs of the descending order: every group that holds a positive alone, the negatives between
/// two such groups together (or apart, in descending order).
///
/// # Errors
/// As [`check`], and `Length` for scratch.
pub(crate) fn runs<T: Real>(
    scores: &[T],
    labels: &[u8],
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(Classes, Run),
) -> Result<Classes> {
    if COMPACT {
        // (One copy for all metrics.)
        let visit: &mut dyn FnMut(Classes, Run) = &mut visit;
        return each_run(scores, labels, scratch, visit);
    }
    each_run(scores, labels, scratch, visit)
}

fn each_run<T: Real>(
    scores: &[T],
    labels: &[u8],
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(Classes, Run),
) -> Result<Classes> {
    let classes = check(scores, labels)?;
    scratch.check(need(scores.len()))?;
    let few = scores.len() / LOOKUP_SHARE;
    if scores.len() >= LOOKUP_FROM && classes.positives as usize <= few {
        runs_by_lookup(scores, labels, classes, scratch, |run| visit(classes, run));
    } else {
        for group in sorted(scores, |at| labels.get(at).map(|&label| label == 1), scratch) {
            visit(classes, group.run);
        }
    }
    Ok(classes)
}

/// Sorted cut points with a table that finds the place of a value among them.
struct Cuts<'a, T> {
    /// Ascending, ended by +∞.
    values: &'a [T],
    /// Entry `b` is the number of values in buckets before `b`.
    starts: &'a [u32],
    scale: f64,
    shift: f64,
}

/// Bucket of a value: monotone in it whatever the rounding, because products and sums round monotonically.
#[inline(always)]
fn bucket<T: Real>(x: T, scale: f64, shift: f64, last: u32) -> usize {
    // A cast saturates: below the first bucket means 0.
    ((x.f64() * scale + shift) as u32).min(last) as usize
}

impl<'a, T: Real> Cuts<'a, T> {
    /// `values` as in the struct, with at least one value before the +∞; `starts` one longer than the buckets.
    fn new(values: &'a [T], starts: &'a mut [u32]) -> Self {
        let count = values.len() - 1;
        let buckets = starts.len() - 1;
        let at = |quarter: usize| values[quarter * (count - 1) / 4].f64();
        // The buckets span the middle half and three times its width on either side, so that a far outlier does not
        // push everything else into one bucket.
        let reach = 3.0 * (at(3) - at(1));
        let (mut low, mut high) = (at(0), at(4));
        if reach > 0.0 {
            low = low.or_larger(at(1) - reach);
            high = high.or_smaller(at(3) + reach);
        }
        let mut scale = buckets as f64 / (high - low);
        let mut shift = -low * scale;
        if !(scale.is_finite() && shift.is_finite()) {
            (scale, shift) = (0.0, 0.0);
        }
        let last = buckets as u32 - 1;
        starts.fill(0);
        for &value in &values[..count] {
            starts[bucket(value, scale, shift, last) + 1] += 1;
        }
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += *start;
            *start = sum;
        }
        Self { values, starts, scale, shift }
    }

    /// Number of cuts below `x`.
    #[inline(always)]
    fn below(&self, x: T) -> usize {
        let last = self.starts.len() as u32 - 2;
        let b = bucket(x, self.scale, self.shift, last);
        let mut k = self.starts[b] as usize;
        // Two steps without a branch reach the place nearly always. The +∞ at the end stops them.
        k += usize::from(self.values[k] < x);
        k += usize::from(self.values[k] < x);
        if self.values[k] < x {
            let end = self.starts[b + 1] as usize;
            k += self.values[k..end].partition_point(|value| *value < x);
        }
        k
    }
}

/// Scores looked up together, so that their memory accesses overlap.
const BLOCK: usize = 64;

fn runs_by_lookup<T: Real>(
    scores: &[T],
    labels: &[u8],
    classes: Classes,
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(Run),
) {
    let count = classes.positives as usize;
    let (keys, spare) = scratch.u64.split_at_mut(scores.len());
    let mut len = 0;
    for (score, &label) in scores.iter().zip(labels) {
        // Every key is written; only that of a positive is kept.
        keys[len] = score.key();
        len += usize::from(label);
    }
    sort_keys(&mut keys[..count], spare, scratch.u32);
    let values = &mut scratch.real[..=count];
    for (value, &key) in values.iter_mut().zip(&keys[..count]) {
        *value = T::of_key(key);
    }
    values[count] = T::of(f64::INFINITY);

    let (hist, rest) = scratch.u32.split_at_mut(2 * (count + 1));
    let cuts = Cuts::new(values, &mut rest[..=table_len(count)]);
    // hist[2k]: negatives between cut k − 1 and cut k; hist[2k + 1]: negatives equal to cut k.
    hist.fill(0);
    let mut place = [0u32; BLOCK];
    for (scores, labels) in scores.chunks(BLOCK).zip(labels.chunks(BLOCK)) {
        for (place, &x) in place.iter_mut().zip(scores) {
            let k = cuts.below(x);
            *place = 2 * k as u32 + u32::from(cuts.values[k] == x);
        }
        for (&place, &label) in place.iter().zip(labels) {
            hist[place as usize] += u32::from(label ^ 1);
        }
    }

    let mut above = count;
    visit(Run { positives: 0, negatives: u64::from(hist[2 * count]) });
    while above > 0 {
        let value = cuts.values[above - 1];
        let mut first = above - 1;
        while first > 0 && cuts.values[first - 1] == value {
            first -= 1;
        }
        visit(Run { positives: (above - first) as u64, negatives: u64::from(hist[2 * first + 1]) });
        visit(Run { positives: 0, negatives: u64::from(hist[2 * first]) });
        above = first;
    }
}
