//! Thresholds with a confidence: a rate that holds on rows like those of the choice, not on them alone.
//!
//! On n rows drawn independently, with the confidence C = 1 − δ and B(n, p) a binomial number:
//!
//! | rule | threshold |
//! |---|---|
//! | `fpr<=A@C%` | the lowest with at most m false positives, m the greatest with P(B(n₋, A) ≤ m) ≤ δ |
//! | `recall>=R@C%` | the highest with at most m missed positives, m the greatest with P(B(n₊, 1 − R) ≤ m) ≤ δ |
//! | `precision>=P@C%` | tests of k alerts, from the fewest that can pass on, until one fails: P(B(k, P) ≥ true positives) ≤ δ |
//!
//! These are the tails of Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the
//! Binomial". The first two rates never turn back along the thresholds, so that looking at many of them costs nothing: a threshold
//! that breaks the rule passes only if the last one that keeps it does. Precision can turn back. Its numbers of alerts are tested in
//! an order that no label decides (each 12 % more than the one before), and the first failure ends the tests: fixed-sequence testing,
//! Angelopoulos, Bates, Candès, Jordan and Lei 2021, "Learn then Test". The bound on precision is exact where a higher score is never
//! less likely positive. Thresholds lie midway between neighbouring scores.

use super::cut::Cut;
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

    /// The fewest rows that can tell anything: without one error.
    fn fewest(self) -> f64 {
        let right = if self.kept == Kept::Fpr { 1.0 - self.bound } else { self.bound };
        libm::ceil(Real::ln(self.risk()) / Real::ln(right))
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

/// The number of alerts that is tested after this one.
pub(super) fn next_target(alerts: f64) -> f64 {
    (alerts + 1.0).max(libm::round(alerts * 1.12))
}

/// Alerts that say something about how many more would do.
const FEW: u64 = 5;

/// A threshold on its way down the scores, with true and false positives.
pub(super) struct Walk {
    promise: Promise,
    /// Positives and negatives.
    classes: (f64, f64),
    errors: Option<u64>,
    last: Option<Cut<[u64; 2]>>,
    /// Alerts of the next test.
    target: f64,
    over: bool,
    best: Option<Cut<[u64; 2]>>,
    /// The clearest number of alerts, of five or more: how far above the bound, in deviations.
    clearest: (f64, u64, u64),
}

impl Walk {
    pub(super) fn new(promise: Promise, positives: f64, negatives: f64) -> Self {
        let errors = match promise.kept {
            Kept::Fpr => promise.errors(negatives as u64),
            Kept::Recall => promise.errors(positives as u64),
            Kept::Precision => None,
        };
        let (last, best, clearest) = (None, None, (0.0, 0, 0));
        let target = promise.fewest();
        Self { promise, classes: (positives, negatives), errors, last, target, over: false, best, clearest }
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
            Kept::Precision => {
                self.test(tp + fp);
                let Promise { bound, .. } = self.promise;
                if let Some([right, wrong]) =
                    self.last.map(|last| last.above).filter(|above| above[0] + above[1] >= FEW)
                {
                    let alerts = right + wrong;
                    let far = (right as f64 - bound * alerts as f64) / crate::Real::sqrt(alerts as f64);
                    if far > self.clearest.0 {
                        self.clearest = (far, right, wrong);
                    }
                }
                while (tp + fp) as f64 > self.target {
                    self.target = next_target(self.target);
                }
            }
            Kept::Fpr | Kept::Recall => {}
        }
        self.last = Some(cut);
    }

    /// Tests the alerts above the last cut, where the next brings more than the next number to test.
    fn test(&mut self, alerts: u64) {
        let Some(cut) = self.last.filter(|_| alerts as f64 > self.target && !self.over) else { return };
        let [tp, fp] = cut.above;
        // (Of fewer than can pass nothing is learnt; that is known without a label.)
        if ((tp + fp) as f64) < self.promise.fewest() {
            return;
        }
        if binomial(tp + fp, self.promise.bound, tp).1 <= self.promise.risk() {
            self.best = Some(cut);
        } else {
            self.over = true;
        }
    }

    /// The cut, or how many more rows would tell, as far as can be said.
    pub(super) fn end(self) -> Result<Cut<[u64; 2]>, Option<u64>> {
        self.best.ok_or_else(|| self.more())
    }

    fn more(&self) -> Option<u64> {
        let (positives, negatives) = self.classes;
        let fewest = self.promise.fewest();
        match self.promise.kept {
            Kept::Fpr => Some((fewest - negatives).max(1.0) as u64),
            Kept::Recall => Some((fewest - positives).max(1.0) as u64),
            Kept::Precision => {
                if positives + negatives <= fewest {
                    return Some((fewest - positives).max(1.0) as u64);
                }
                let (_, tp, fp) = self.clearest;
                let passes = |times: f64| {
                    let (right, all) = ((tp as f64 * times) as u64, libm::ceil((tp + fp) as f64 * times) as u64);
                    binomial(all, self.promise.bound, right).1 <= self.promise.risk()
                };
                // Where no number of alerts is above the bound, or one passes that the order does not come to, more would hardly do.
                if tp == 0 || passes(1.0) {
                    return None;
                }
                let mut times = 1.0;
                while !passes(times) {
                    times *= 1.1;
                    if times > 1e4 {
                        return None;
                    }
                }
                Some(libm::ceil((times - 1.0) * positives).max(1.0) as u64)
            }
        }
    }
}
