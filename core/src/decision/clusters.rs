//! Rates of rows that are no independent draws of equal weight: rows in clusters, of which only whole ones are independent (visits of a patient,
//! pages of a site), and rows with weights, each of which is one draw that stands for so many.
//!
//! A rate is a ratio of sums over the clusters c (without clusters each row is its own), hits h_c of rows n_c, by weight:
//!
//! ```text
//! p = Σ h_c/Σ n_c      v = C/(C − 1) Σ (h_c − p n_c)²/(Σ n_c)²      e = p (1 − p)/v      e′ = e (z/t)²
//! ```
//!
//! e is the number of independent rows that tell as much, at most the rows that there are; where p is 0 or 1, and v so tells nothing, it is
//! (Σ n_c)²/Σ n_c², as if the rows of a cluster were one. z and t are the quantiles of the normal distribution and of Student's with
//! (Σ n_c²)²/Σ n_c⁴ − 1 degrees of freedom, which few or uneven clusters have (Satterthwaite's, of clusters that are one row each). The tests and
//! intervals of independent rows are then made of e′ rows with p e′ hits: Korn and Graubard 1998, "Confidence Intervals for Proportions with
//! Small Expected Number of Positive Counts Estimated from Survey Data". Student's test of the sums themselves rejects up to three times as
//! often as it says where a rate is near 1 (tests/results/decisions.md). Thresholds are gone through as in [`Promise`].

use super::cut::{Cut, Cutter};
use super::promise::{Kept, Promise, Sequence};
use super::recheck::Recheck;
use super::rule::Decision;
use super::tails::{binomial_from, worth};
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::expression::Sense;
use crate::judge::Verdict;
use crate::metric::{Interval, Truth};
use crate::real::Real;
use crate::sort::ascending_by;
use alloc::vec;
use alloc::vec::Vec;

/// What one cluster has, by weight.
#[derive(Clone, Copy, Default)]
struct Cluster {
    positives: f64,
    negatives: f64,
    right: f64,
    wrong: f64,
}

impl Cluster {
    /// Hits, and the rows that a rate is about; of the false-positive rate the right ones are hits.
    fn rate(&self, kept: Kept) -> (f64, f64) {
        match kept {
            Kept::Precision => (self.right, self.right + self.wrong),
            Kept::Recall => (self.right, self.positives),
            Kept::Fpr => (self.negatives - self.wrong, self.negatives),
        }
    }
}

/// What rows tell of a rate.
#[derive(Clone, Copy)]
struct Evidence {
    rate: f64,
    /// Independent rows that tell as much, the degrees of freedom of that, and the rows that there are.
    effective: f64,
    freedom: f64,
    rows: f64,
}

impl Evidence {
    /// Of the hits and rows of each cluster; `rows`: the rows, by their number. `None` with fewer than two clusters.
    fn of(each: impl Iterator<Item = (f64, f64)> + Clone, rows: f64) -> Option<Self> {
        let (mut hits, mut all, mut squares, mut fourths, mut count) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (h, n) in each.clone().filter(|(_, n)| *n > 0.0) {
            (hits, all, squares, fourths, count) =
                (hits + h, all + n, squares + n * n, fourths + n * n * (n * n), count + 1.0);
        }
        if count < 2.0 {
            return None;
        }
        let rate = (hits / all).or_larger(0.0).or_smaller(1.0);
        let variance: f64 = each.map(|(h, n)| (h - rate * n) * (h - rate * n)).sum::<f64>() * count / (count - 1.0);
        // (Sums of weights that are all hits are that but for rounding.)
        let certain = rate * (1.0 - rate) < 1e-12;
        let effective = if certain { all * all / squares } else { rate * (1.0 - rate) * all * all / variance };
        let rate = if certain { libm::round(rate) } else { rate };
        let freedom = (squares * squares / fourths - 1.0).or_larger(1.0);
        Some(Self { rate, effective: effective.or_smaller(rows), freedom, rows })
    }

    /// Rows as of a test at a level, `times` as many as there are.
    fn at(&self, level: f64, times: f64) -> f64 {
        (times * self.effective * worth(level, times * self.freedom)).or_smaller(times * self.rows)
    }

    /// Whether a rate of at most the bound would rarely show so many hits.
    fn is_above(&self, bound: f64, level: f64, times: f64) -> bool {
        let rows = self.at(level, times);
        binomial_from(rows, bound, self.rate * rows) <= level
    }

    /// Whether a rate of at least the bound would rarely show so few.
    fn is_below(&self, bound: f64, level: f64, times: f64) -> bool {
        let rows = self.at(level, times);
        binomial_from(rows, 1.0 - bound, (1.0 - self.rate) * rows) <= level
    }

    /// How far above the bound it is, in deviations, as of a test at a level.
    fn far(&self, bound: f64, level: f64) -> f64 {
        (self.rate - bound) * crate::Real::sqrt(self.at(level, 1.0) / (bound * (1.0 - bound)))
    }

    /// Where the rate lies with 95 % confidence.
    fn interval(&self) -> Interval {
        let search = |too_low: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                *(if too_low(middle) { &mut low } else { &mut high }) = middle;
            }
            0.5 * (low + high)
        };
        let rows = self.at(0.025, 1.0);
        Interval {
            low: search(&|share| binomial_from(rows, share, self.rate * rows) < 0.025).or_smaller(self.rate),
            high: search(&|share| binomial_from(rows, 1.0 - share, (1.0 - self.rate) * rows) > 0.025)
                .or_larger(self.rate),
        }
    }
}

/// Rows with their clusters.
struct Rows<'a> {
    truth: Truth<'a>,
    /// The number of each row's cluster, and how many clusters there are.
    of: Vec<u32>,
    count: usize,
}

impl<'a> Rows<'a> {
    fn new<T: Real>(scores: &[T], truth: Truth<'a>, clusters: Option<&[u32]>) -> Result<Self> {
        exact_len("labels", scores.len(), truth.labels().len())?;
        all_finite("scores", scores)?;
        count_labels(truth.labels())?;
        let rows = u32::try_from(scores.len()).map_err(|_| Error::Overflow { what: "the number of rows" })?;
        let Some(clusters) = clusters else { return Ok(Self { truth, of: (0..rows).collect(), count: scores.len() }) };
        exact_len("clusters", scores.len(), clusters.len())?;
        let mut names = clusters.to_vec();
        ascending_by(&mut names, |a, b| a.cmp(&b));
        names.dedup();
        let of = clusters.iter().map(|name| names.binary_search(name).map_or(0, |at| at as u32)).collect();
        Ok(Self { truth, of, count: names.len() })
    }

    /// All clusters without an alert.
    fn empty(&self) -> Vec<Cluster> {
        let mut each = vec![Cluster::default(); self.count];
        for (row, (&cluster, &label)) in self.of.iter().zip(self.truth.labels()).enumerate() {
            let cluster = &mut each[cluster as usize];
            *(if label == 1 { &mut cluster.positives } else { &mut cluster.negatives }) += self.truth.weight(row);
        }
        each
    }

    /// Makes a row an alert.
    fn alert(&self, each: &mut [Cluster], row: usize) {
        let cluster = &mut each[self.of[row] as usize];
        let counts = if self.truth.labels()[row] == 1 { &mut cluster.right } else { &mut cluster.wrong };
        *counts += self.truth.weight(row);
    }

    /// What the clusters tell of a rate, with so many alerts.
    fn evidence(&self, each: &[Cluster], kept: Kept, alerts: usize) -> Option<Evidence> {
        let [positives, negatives] = crate::metric::Labels::rows(&self.truth);
        let rows = match kept {
            Kept::Precision => alerts as f64,
            Kept::Recall => positives as f64,
            Kept::Fpr => negatives as f64,
        };
        Evidence::of(each.iter().map(|cluster| cluster.rate(kept)), rows)
    }

    /// What they tell at a threshold.
    fn at<T: Real>(&self, threshold: f64, scores: &[T], kept: Kept) -> Option<Evidence> {
        let (mut each, mut alerts) = (self.empty(), 0);
        for row in (0..scores.len()).filter(|&row| scores[row].f64() >= threshold && self.truth.weight(row) > 0.0) {
            self.alert(&mut each, row);
            alerts += 1;
        }
        self.evidence(&each, kept, alerts)
    }
}

/// Where false-positive rate, recall and precision at a threshold lie with 95 % confidence, of rows that may have weights and may lie in
/// clusters; all of [0, 1] where that cannot be told. O(n log n).
///
/// # Errors
/// `Length`, `NonFinite`, `Label`, `Param` for a NaN threshold.
pub fn rate_intervals_in<T: Real>(
    threshold: f64,
    scores: &[T],
    truth: Truth<'_>,
    clusters: Option<&[u32]>,
) -> Result<[Interval; 3]> {
    if threshold.is_nan() {
        return Err(Error::Param { what: "threshold" });
    }
    let rows = Rows::new(scores, truth, clusters)?;
    let of = |kept| rows.at(threshold, scores, kept).map_or(Interval { low: 0.0, high: 1.0 }, |found| found.interval());
    let right = of(Kept::Fpr);
    Ok([Interval { low: 1.0 - right.high, high: 1.0 - right.low }, of(Kept::Recall), of(Kept::Precision)])
}

impl Promise {
    /// The bound of the rate whose hits are right decisions.
    fn least(self) -> f64 {
        if self.kept == Kept::Fpr { 1.0 - self.bound } else { self.bound }
    }

    /// The threshold on rows that may have weights, and may lie in clusters: a number for each row, equal ones for rows of one
    /// cluster. O(n log n).
    ///
    /// # Errors
    /// `Unpromised` where no threshold can be promised; `Param` for a promise outside its range; `Length`, `NonFinite`, `Label`,
    /// `OneClass`; `Overflow` for more rows than 2³² − 1.
    ///
    /// ```
    /// use undercurve::{Error, decision::{Kept, Promise}};
    /// let promise = Promise { kept: Kept::Precision, bound: 0.8, percent: 90.0 };
    /// let few = promise.decide_in(&[0.9, 0.8, 0.1, 0.2], [1, 1, 0, 0][..].into(), Some(&[0, 0, 1, 1]));
    /// assert!(matches!(few, Err(Error::Unpromised { more: Some(_), .. })), "{few:?}");
    /// ```
    pub fn decide_in<T: Real>(self, scores: &[T], truth: Truth<'_>, clusters: Option<&[u32]>) -> Result<Decision<f64>> {
        if !self.is_sound() {
            return Err(Error::Param { what: "threshold rule" });
        }
        let rows = Rows::new(scores, truth, clusters)?;
        let mut order = vec![0; scores.len()];
        crate::sort::falling(scores, &mut order);
        // (A row without weight is not there.)
        order.retain(|&row| truth.weight(row as usize) > 0.0);
        let sum = |of: fn(&Cluster) -> f64| rows.empty().iter().map(of).sum::<f64>();
        let classes = [sum(|cluster| cluster.positives), sum(|cluster| cluster.negatives)];
        if classes.contains(&0.0) {
            return Err(Error::OneClass);
        }
        let score = |at: usize| scores[order[at] as usize].f64();
        let mut cutter = Cutter::of(scores);
        let first = Cut { nearest: [f64::INFINITY, score(0)], above: 0 };
        let inside = (1..order.len()).filter(|&at| score(at) < score(at - 1));
        let inside = inside.filter_map(|at| cutter.gap([score(at - 1), score(at)], at));
        let last = Cut { nearest: [score(order.len() - 1), f64::NEG_INFINITY], above: order.len() };
        let cuts: Vec<Cut<usize>> = [first].into_iter().chain(inside).chain([last]).collect();
        let search = Search { promise: self, rows: &rows, order: &order, cuts: &cuts };
        let found = match self.kept {
            Kept::Precision => search.most_precise(classes[0] / (classes[0] + classes[1])),
            Kept::Recall | Kept::Fpr => search.one_way(),
        };
        let at = found.map_err(|times| {
            let of_class = usize::from(self.kept == Kept::Fpr);
            let count = crate::metric::Labels::rows(&truth)[of_class] as f64;
            let more = times.map(|times| libm::ceil((times - 1.0) * count).or_larger(1.0) as u64);
            Error::Unpromised { more, what: ["positives", "negatives"][of_class] }
        })?;
        let of = |label: u8| {
            let alerts = order[..cuts[at].above].iter().map(|&row| row as usize);
            alerts.filter(|&row| truth.labels()[row] == label).map(|row| truth.weight(row)).sum::<f64>()
        };
        Ok(Decision::at::<T>(Cut { nearest: cuts[at].nearest, above: [of(1), of(0)] }, classes))
    }

    /// Whether it still holds at a threshold that was not chosen on these rows, which may have weights and may lie in clusters: as
    /// [`ThresholdRule::recheck`](super::ThresholdRule::recheck). O(n log n).
    ///
    /// # Errors
    /// As [`rate_intervals_in`]; `Param` for a promise outside its range.
    ///
    /// ```
    /// use undercurve::{decision::{Kept, Promise}, judge::Verdict};
    /// let promise = Promise { kept: Kept::Precision, bound: 0.8, percent: 90.0 };
    /// let scores = vec![1.0_f64; 200];
    /// let pairs: Vec<u32> = (0..200).map(|row| row / 2).collect();
    /// let check = promise.recheck_in(0.5, &scores, [1; 200][..].into(), Some(&pairs))?;
    /// assert_eq!((check.verdict, check.value), (Verdict::Met, Some(1.0)));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn recheck_in<T: Real>(
        self,
        threshold: f64,
        scores: &[T],
        truth: Truth<'_>,
        clusters: Option<&[u32]>,
    ) -> Result<Recheck> {
        if !self.is_sound() || threshold.is_nan() {
            return Err(Error::Param { what: "threshold rule" });
        }
        let rows = Rows::new(scores, truth, clusters)?;
        let (bound, risk) = (self.least(), self.risk());
        let counts = crate::metric::Confusion::at(scores, truth.labels(), T::of(threshold))?;
        let (hits, all) = self.rate(&counts);
        let told = |found: &Evidence, times: f64| match () {
            () if found.is_below(bound, risk, times) => Verdict::NotMet,
            () if found.is_above(bound, risk, times) => Verdict::Met,
            () => Verdict::CannotTell,
        };
        let found = rows.at(threshold, scores, self.kept);
        let verdict = found.as_ref().map_or(Verdict::CannotTell, |found| told(found, 1.0));
        let interval = found.as_ref().map_or(Interval { low: 0.0, high: 1.0 }, Evidence::interval);
        let interval = match self.sense() {
            Sense::AtLeast => interval,
            Sense::AtMost => Interval { low: 1.0 - interval.high, high: 1.0 - interval.low },
        };
        let mut times = 1.0;
        let more = found.as_ref().filter(|_| verdict == Verdict::CannotTell).and_then(|found| {
            while times < 1e4 && told(found, times) == Verdict::CannotTell {
                times *= 1.1;
            }
            (times < 1e4).then(|| libm::ceil((times - 1.0) * all as f64) as u64)
        });
        let right = found.as_ref().map(|found| found.rate);
        let value = if self.kept == Kept::Fpr { right.map(|right| 1.0 - right) } else { right };
        let (sense, bound, percent) = (self.sense(), self.bound, self.percent);
        Ok(Recheck { sense, bound, percent, value, hits, rows: all, interval, verdict, more })
    }
}

/// Cuts of rows in descending order of scores; `above`: the rows above each.
struct Search<'a> {
    promise: Promise,
    rows: &'a Rows<'a>,
    order: &'a [u32],
    cuts: &'a [Cut<usize>],
}

impl Search<'_> {
    /// What the rows above a cut have of a class.
    fn of_class(&self, cut: usize, label: u8) -> usize {
        let alerts = self.order[..self.cuts[cut].above].iter();
        alerts.filter(|&&row| self.rows.truth.labels()[row as usize] == label).count()
    }

    fn evidence(&self, cut: usize) -> Option<Evidence> {
        let (mut each, alerts) = (self.rows.empty(), self.cuts[cut].above);
        self.order[..alerts].iter().for_each(|&row| self.rows.alert(&mut each, row as usize));
        self.rows.evidence(&each, self.promise.kept, alerts)
    }

    /// The cut of a rate that never turns back, or how many times as many rows would do.
    fn one_way(&self) -> core::result::Result<usize, Option<f64>> {
        let (bound, risk) = (self.promise.least(), self.promise.risk());
        let passes = |cut: usize| self.evidence(cut).is_some_and(|found| found.is_above(bound, risk, 1.0));
        let falls = self.promise.kept == Kept::Fpr;
        let (mut low, mut high) = (0, self.cuts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if passes(middle) == falls { low = middle + 1 } else { high = middle }
        }
        let edge = if falls { low.checked_sub(1) } else { Some(low).filter(|&cut| cut < self.cuts.len()) };
        let Some(edge) = edge else {
            // Where no decision is wrong, and that is not enough.
            let surest = self.evidence(if falls { 0 } else { self.cuts.len() - 1 });
            return Err(surest.map(|found| self.promise.fewest(risk) / found.at(risk, 1.0)).or(Some(2.0)));
        };
        // No alert that finds nothing, and none that is missed for nothing.
        let (label, same) = if falls { (1, 0) } else { (0, self.cuts.len() - 1) };
        let count = self.of_class(edge, label);
        let alike = |cut: &usize| self.of_class(*cut, label) == count;
        let (from, to) = (edge.min(same), edge.max(same));
        let part = |want: bool| {
            let (mut low, mut high) = (from, to + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if alike(&middle) == want { high = middle } else { low = middle + 1 }
            }
            low
        };
        Ok(if falls { part(true) } else { part(false) - 1 })
    }

    /// The most alerts of which a precision is promised, and of equal recall the fewest; or how many times as many rows would do.
    fn most_precise(&self, share: f64) -> core::result::Result<usize, Option<f64>> {
        let (promise, rows) = (self.promise, self.order.len() as f64);
        let mut sequence = Sequence::new(promise, rows, share);
        let (mut each, mut taken, mut right) = (self.rows.empty(), 0, 0);
        let (mut best, mut far) = (None::<(usize, usize)>, f64::NEG_INFINITY);
        for (cut, next) in (0..self.cuts.len()).map(|cut| (cut, self.cuts.get(cut + 1))) {
            for &row in &self.order[taken..self.cuts[cut].above] {
                self.rows.alert(&mut each, row as usize);
                right += usize::from(self.rows.truth.labels()[row as usize] == 1);
            }
            taken = self.cuts[cut].above;
            let before = next.map_or(f64::INFINITY, |next| next.above as f64);
            if !sequence.is_due(before) {
                continue;
            }
            let found = self.rows.evidence(&each, Kept::Precision, taken);
            let passes = |level: f64| found.as_ref().is_some_and(|found| found.is_above(promise.bound, level, 1.0));
            let (promised, sized) = sequence.test(before, passes);
            if promised && best.is_none_or(|(_, before)| right > before) {
                best = Some((cut, right));
            }
            if sized && let Some(found) = found {
                far = far.or_larger(found.far(promise.bound, sequence.level()));
            }
        }
        best.map(|best| best.0).ok_or_else(|| sequence.times(far, share * rows))
    }
}
