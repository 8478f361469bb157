//! Thresholds with a confidence: a rate that holds on rows like those of the choice, not on them alone.
//!
//! On n rows drawn independently, with the confidence C = 1 − δ and B(n, p) a binomial number:
//!
//! | rule | thresholds that are promised |
//! |---|---|
//! | `fpr<=A@C%` | with at most m false positives, m the greatest with P(B(n₋, A) ≤ m) ≤ δ |
//! | `recall>=R@C%` | with at most m missed positives, m the greatest with P(B(n₊, 1 − R) ≤ m) ≤ δ |
//! | `precision>=P@C%` | by tests of k alerts, P(B(k, P) ≥ true positives) ≤ α_k, in the order below |
//!
//! These are the tails of Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the
//! Binomial". The first two rates never turn back along the thresholds, so that looking at many of them costs nothing: a threshold
//! that breaks the rule passes only if the last one that keeps it does. Of those that are promised the one with the best other rate is taken.
//!
//! Precision can turn back: at the very top it may be less than below. So its tests begin at up to eight numbers of alerts,
//!
//! ```text
//! s_j = .7 K/1.5^j,   K = n₊/P (more alerts never have that precision),   each at the level a = .6 δ/J,
//! ```
//!
//! J of them so that all right passes at the least one. What passes at s_j opens a sequence: the numbers of alerts above it, each 3 % more than
//! the one before, are tested until one fails, at the level a, and as soon as one has passed at δ/100, at δ less a for each start that has failed
//! or is still to come. Sizes and levels depend on no label but by n₊, so a sequence that begins where the rule holds promises one where it does
//! not with a probability of that level, whatever is beyond (fixed-sequence testing; Angelopoulos, Bates, Candès, Jordan and Lei 2021,
//! "Learn then Test"), and a start where it does not hold passes with a. Together at most δ, if the precision rises and then falls once along the
//! alerts. So at most δ of all draws of rows end with a threshold that breaks the rule, and where none keeps it, at most .6 δ end with one. Among
//! those given no bound can hold for every population; tests/results/decisions.md measures it, and how the numbers here were chosen. Rows in
//! clusters, and rows with weights: `clusters.rs`.

use super::cut::Cut;
use super::tails::normal_quantile;
use crate::metric::Interval;
use crate::real::Real;

/// The rate that a promise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// At most this false-positive rate.
    Fpr,
    /// At least this precision.
    Precision,
    /// At least this recall.
    Recall,
}

/// A rate that is to hold with a confidence on rows that nobody has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Which rate.
    pub kept: Kept,
    /// Its bound, above 0 and below 1.
    pub bound: f64,
    /// In how many of 100 choices it holds at least, from 50 to below 100.
    pub percent: f64,
}

/// The probabilities that a binomial number of n draws is below `at`, and that it is not. O(√n), by the ratios of neighbouring
/// probabilities outward from the greatest, which cannot overflow.
pub(crate) fn binomial(n: u64, p: f64, at: u64) -> (f64, f64) {
    let mode = (((n + 1) as f64 * p) as u64).min(n);
    let odds = p / (1.0 - p);
    let (mut below, mut from) = (0.0, 0.0);
    let mut add = |i: u64, term: f64| *(if i < at { &mut below } else { &mut from }) += term;
    add(mode, 1.0);
    let mut term = 1.0;
    for i in mode..n {
        term *= (n - i) as f64 / (i + 1) as f64 * odds;
        if term < 1e-300 {
            break;
        }
        add(i + 1, term);
    }
    term = 1.0;
    for i in (1..=mode).rev() {
        term *= i as f64 / (n - i + 1) as f64 / odds;
        if term < 1e-300 {
            break;
        }
        add(i - 1, term);
    }
    (below / (below + from), from / (below + from))
}

/// Where a rate of `hits` in `rows` independent rows lies with 95 % confidence, by Clopper and Pearson; all of [0, 1] without rows.
///
/// ```
/// let interval = undercurve::decision::rate_interval(9, 10);
/// assert!((interval.low - 0.5550).abs() < 1e-4 && (interval.high - 0.9975).abs() < 1e-4);
/// ```
#[must_use]
pub fn rate_interval(hits: u64, rows: u64) -> Interval {
    let hits = hits.min(rows);
    // The share where a tail, which rises or falls with it, is 2.5 %.
    let search = |too_low: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if too_low(middle) { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    };
    Interval {
        low: if hits == 0 { 0.0 } else { search(&|share| binomial(rows, share, hits).1 < 0.025) },
        high: if hits == rows { 1.0 } else { search(&|share| binomial(rows, share, hits + 1).0 > 0.025) },
    }
}

impl Promise {
    pub(super) fn is_sound(self) -> bool {
        self.bound > 0.0 && self.bound < 1.0 && (50.0..100.0).contains(&self.percent)
    }

    /// The chance that is left to break it.
    pub(super) fn risk(self) -> f64 {
        1.0 - self.percent / 100.0
    }

    /// The fewest rows that can pass at a level: without one error.
    pub(super) fn fewest(self, level: f64) -> f64 {
        let right = if self.kept == Kept::Fpr { 1.0 - self.bound } else { self.bound };
        libm::ceil(Real::ln(level) / Real::ln(right))
    }

    /// The most errors among so many rows of the class that the rate is about.
    fn errors(self, rows: u64) -> Option<u64> {
        let share = if self.kept == Kept::Fpr { self.bound } else { 1.0 - self.bound };
        let keeps = |errors: u64| binomial(rows, share, errors + 1).0 <= self.risk();
        if rows == 0 || !keeps(0) {
            return None;
        }
        // All errors at once never keep it.
        let (mut low, mut high) = (0, rows);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *(if keeps(middle) { &mut low } else { &mut high }) = middle;
        }
        Some(low)
    }
}

/// Starts at most, the largest as a share of K, each a multiple of the next, their share of the risk, the numbers of alerts in between, each a
/// multiple of the one before, and the share of the risk at which a sequence is clear.
const STARTS: usize = 8;
const LARGEST: f64 = 0.7;
const APART: f64 = 1.5;
const SPENT: f64 = 0.6;
const STEP: f64 = 1.03;
const CLEAR: f64 = 0.01;

/// Numbers of alerts below the least start that only tell how many more rows would do, and the fewest that tell something.
const BELOW: usize = 6;
const FEW: f64 = 5.0;
/// Deviations that noise may take from a size that is above the bound, and that a size below may come to by noise: one of ten is lower.
const NEAR: f64 = 0.5;
const NONE: f64 = -1.28;

/// The numbers of alerts whose precision is tested, and how.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    promise: Promise,
    /// The starts, from the least, with some sizes below them; how many there are, how many are no starts, and how many are behind.
    sizes: [f64; BELOW + STARTS],
    count: usize,
    below: usize,
    behind: usize,
    /// The next number of alerts, and the last.
    next: f64,
    last: f64,
    open: bool,
    clear: bool,
    /// Starts at which no sequence opened.
    failed: usize,
}

impl Sequence {
    /// On so many rows with such a share of positives.
    pub(super) fn new(promise: Promise, rows: f64, share: f64) -> Self {
        let last = rows.or_smaller(share * rows / promise.bound);
        let size = |at: usize| (0..at).fold(LARGEST * last, |size, _| size / APART);
        let fits =
            |starts: usize| libm::round(size(starts - 1)) >= promise.fewest(SPENT * promise.risk() / starts as f64);
        let starts = (1..=STARTS).rfind(|&starts| fits(starts)).unwrap_or(0);
        let below = (0..BELOW).filter(|&at| size(starts + at) >= FEW).count();
        let mut sizes = [f64::INFINITY; BELOW + STARTS];
        let count = starts + below;
        (0..count).for_each(|at| sizes[at] = libm::round(size(count - 1 - at)));
        Self { promise, sizes, count, below, behind: 0, next: sizes[0], last, open: false, clear: false, failed: 0 }
    }

    /// The level of a start.
    pub(super) fn level(&self) -> f64 {
        SPENT * self.promise.risk() / (self.count - self.below).max(1) as f64
    }

    /// Whether there is a number of alerts to test before so many: the last threshold above them is, then.
    pub(super) fn is_due(&self, before: f64) -> bool {
        self.next < before && self.next <= self.last
    }

    /// Tests it, where one is due. `passes`: whether its alerts pass a level. Gives whether it is promised, and whether it is a start, or one of the
    /// sizes below.
    pub(super) fn test(&mut self, before: f64, passes: impl Fn(f64) -> bool) -> (bool, bool) {
        let (mut sized, mut starts) = (false, 0);
        while self.is_due(before) {
            if self.behind < self.count && self.sizes[self.behind] <= self.next {
                (sized, starts) = (true, starts + usize::from(self.behind >= self.below));
                self.behind += 1;
            }
            let following = if self.behind < self.count { self.sizes[self.behind] } else { f64::INFINITY };
            let further = (self.next + 1.0).or_larger(libm::round(self.next * STEP));
            self.next = if self.behind > self.below { further.or_smaller(following) } else { following };
        }
        let (level, risk) = (self.level(), self.promise.risk());
        let spent = level * (self.failed + self.count - self.behind) as f64;
        self.open = self.open && passes(if self.clear { risk - spent } else { level });
        self.clear &= self.open;
        self.open = self.open || starts > 0 && passes(level);
        self.failed += if self.open { 0 } else { starts };
        self.clear = self.clear || self.open && passes(CLEAR * risk);
        (self.open, sized)
    }

    /// How many times as many rows would tell: be promised a threshold in about four of five draws, by how far above the bound the clearest
    /// size is, in deviations (−∞ where there are too few rows for any), and so that there is a start. `None` where all sizes are below it,
    /// beyond noise.
    pub(super) fn times(&self, far: f64, positives: f64) -> Option<f64> {
        let fewest = libm::ceil(self.promise.fewest(SPENT * self.promise.risk()) * self.promise.bound / LARGEST);
        let wanted = normal_quantile(self.level()) + normal_quantile(0.2);
        let near = far.or_larger(NEAR);
        let times = (wanted / near) * (wanted / near);
        (far > NONE || far == f64::NEG_INFINITY && self.promise.bound < 1.0)
            .then(|| times.or_larger(fewest / positives).or_larger(1.1))
    }
}

/// A threshold on its way down the scores, with true and false positives.
pub(super) struct Walk {
    promise: Promise,
    /// Positives and negatives.
    classes: (f64, f64),
    errors: Option<u64>,
    sequence: Sequence,
    last: Option<Cut<[u64; 2]>>,
    best: Option<Cut<[u64; 2]>>,
    /// How far above the bound the clearest size is, in deviations.
    far: f64,
}

impl Walk {
    pub(super) fn new(promise: Promise, positives: f64, negatives: f64) -> Self {
        let errors = match promise.kept {
            Kept::Fpr => promise.errors(negatives as u64),
            Kept::Recall => promise.errors(positives as u64),
            Kept::Precision => None,
        };
        let rows = positives + negatives;
        let sequence = Sequence::new(promise, rows, positives / rows);
        let (last, best, far) = (None, None, f64::NEG_INFINITY);
        Self { promise, classes: (positives, negatives), errors, sequence, last, best, far }
    }

    /// The next cut.
    pub(super) fn add(&mut self, cut: Cut<[u64; 2]>) {
        let [tp, fp] = cut.above;
        let within = |errors: u64| self.errors.is_some_and(|most| errors <= most);
        let before = self.best.map(|best| best.above);
        match self.promise.kept {
            Kept::Fpr if within(fp) && before.is_none_or(|[right, _]| tp > right) => self.best = Some(cut),
            Kept::Recall
                if within((self.classes.0 as u64).saturating_sub(tp))
                    && before.is_none_or(|[_, wrong]| fp == wrong) =>
            {
                self.best = Some(cut);
            }
            Kept::Precision => self.test((tp + fp) as f64),
            Kept::Fpr | Kept::Recall => {}
        }
        self.last = Some(cut);
    }

    /// Tests the last cut, where there is a number of alerts to test before the next.
    fn test(&mut self, before: f64) {
        let Some(cut @ Cut { above: [tp, fp], .. }) = self.last else { return };
        let (alerts, bound) = (tp + fp, self.promise.bound);
        if !self.sequence.is_due(before) {
            return;
        }
        let tail = binomial(alerts, bound, tp).1;
        let (promised, sized) = self.sequence.test(before, |level| tail <= level);
        if promised && self.best.is_none_or(|best| tp > best.above[0]) {
            self.best = Some(cut);
        }
        if sized && alerts > 0 {
            let alerts = alerts as f64;
            self.far =
                self.far.or_larger((tp as f64 - bound * alerts) / crate::Real::sqrt(alerts * bound * (1.0 - bound)));
        }
    }

    /// The cut, or how many more rows would tell; none where no number would do.
    pub(super) fn end(mut self) -> Result<Cut<[u64; 2]>, Option<u64>> {
        if self.promise.kept == Kept::Precision {
            self.test(f64::INFINITY);
        }
        let (positives, negatives) = self.classes;
        let more = match self.promise.kept {
            Kept::Fpr => Some(self.promise.fewest(self.promise.risk()) - negatives),
            Kept::Recall => Some(self.promise.fewest(self.promise.risk()) - positives),
            Kept::Precision => (self.sequence.times(self.far, positives)).map(|times| (times - 1.0) * positives),
        };
        self.best.ok_or_else(|| more.map(|more| libm::ceil(more).or_larger(1.0) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Promise, Sequence};
    use core::cell::Cell;

    /// After starts that failed, no test has more of the risk than these and those to come have left.
    #[test]
    fn a_sequence_spends_its_risk_once() {
        let promise = Promise { kept: Kept::Precision, bound: 0.8, percent: 90.0 };
        for fail in 0..8 {
            let mut sequence = Sequence::new(promise, 4000.0, 0.5);
            let (mut failed, mut most) = (0, 0.0_f64);
            while sequence.is_due(f64::INFINITY) {
                let (asked, passes, behind) = (Cell::new(0.0_f64), failed >= fail, sequence.behind.max(sequence.below));
                let one = sequence.next + 0.5;
                sequence.test(one, |level| {
                    asked.set(asked.get().max(level));
                    passes
                });
                let starts = sequence.behind.max(sequence.below) - behind;
                failed += if passes { 0 } else { starts };
                let spent = sequence.level() * (fail + sequence.count - sequence.behind) as f64;
                assert!(!passes || asked.get() <= (promise.risk() - spent).max(sequence.level()) + 1e-15);
                most = most.max(asked.get());
            }
            assert!((most - (promise.risk() - sequence.level() * fail as f64)).abs() < 1e-15, "{fail}: {most}");
        }
    }
}
