//! Promises on rows in clusters, of which only whole clusters are independent: visits of a patient, pages of a site.
//!
//! Each cluster c gives what it is better than the bound by, summed over its rows, with right and wrong ones among them:
//!
//! ```text
//! precision ≥ P   X_c = right alerts − P · alerts            ≥ −P·M        M: rows of the largest cluster
//! recall ≥ R      X_c = positives found − R · positives      ≥ −R·M        M: most positives of one
//! fpr ≤ A         X_c = A · negatives − false positives      ≥ −(1 − A)·M  M: most negatives of one
//! ```
//!
//! Where the rate does not keep the bound X has a mean of at most 0, so that Π_c (1 + λX_c) has one of at most 1 for every λ from 0 to
//! one over that least value, and by Markov's inequality reaches 1/δ with probability δ at most. The product is averaged over four such
//! λ. That is exact for recall and false-positive rates whatever the dependence within clusters, if no cluster is larger than the largest
//! here, and for precision at thresholds that were fixed before; at thresholds that follow the alerts' scores it is measured alone: the
//! capital of Waudby-Smith and Ramdas 2024, "Estimating Means of Bounded Random Variables by Betting". Thresholds are gone through as in
//! [`Promise`].

use super::cut::{Cut, Cutter};
use super::promise::{Kept, Promise, next_target, rate_interval};
use super::recheck::Recheck;
use super::rule::Decision;
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::judge::Verdict;
use crate::metric::Interval;
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;

/// Shares of the greatest λ.
const BETS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// What one cluster has.
#[derive(Clone, Copy, Default)]
struct Cluster {
    positives: u32,
    negatives: u32,
    right: u32,
    wrong: u32,
}

/// Rows in descending order of scores, and their clusters.
struct Clustered<'a> {
    promise: Promise,
    labels: &'a [u8],
    of: &'a [u32],
    order: Vec<u32>,
    clusters: Vec<Cluster>,
    most: f64,
    /// What the logarithm of a threshold that passes comes to at least, and the greatest met.
    need: f64,
    clearest: f64,
}

impl Clustered<'_> {
    /// ln of the mean product where the first `alerts` rows are alerts.
    fn gain(&mut self, alerts: usize) -> f64 {
        self.clusters.iter_mut().for_each(|cluster| (cluster.right, cluster.wrong) = (0, 0));
        for &row in &self.order[..alerts] {
            let cluster = &mut self.clusters[self.of[row as usize] as usize];
            *(if self.labels[row as usize] == 1 { &mut cluster.right } else { &mut cluster.wrong }) += 1;
        }
        let (promise, most) = (self.promise, self.most);
        capital(self.clusters.iter().map(|cluster| {
            let (better, worst, _) = cluster.better(promise);
            better / (worst * most)
        }))
    }

    /// Whether the first `alerts` rows may be alerts.
    fn passes(&mut self, alerts: usize) -> bool {
        let gain = self.gain(alerts);
        self.clearest = self.clearest.max(gain);
        gain >= self.need
    }

    /// The most alerts of which a precision is promised, tested from few to many.
    fn most_precise(&mut self, ends: &[usize], positives: usize) -> Option<usize> {
        let each = Real::ln(1.0 + (1.0 - self.promise.bound) / (self.promise.bound * self.most));
        let fewest = libm::ceil((self.need + Real::ln(BETS.len() as f64)) / each);
        let (mut target, mut best) = (fewest, None);
        for pair in ends.windows(2) {
            if pair[1] as f64 <= target {
                continue;
            }
            if pair[0] as f64 >= fewest {
                if !self.passes(pair[0]) {
                    break;
                }
                best = Some(pair[0]);
            }
            while pair[1] as f64 > target {
                target = next_target(target);
            }
        }
        // Too few rows for a first test.
        if best.is_none() && self.clearest == f64::NEG_INFINITY {
            self.clearest = self.gain(positives);
        }
        best
    }
}

impl Cluster {
    /// What it is better than the bound by, and the least and the greatest that a row can add to that, as a positive number each.
    fn better(&self, promise: Promise) -> (f64, f64, f64) {
        let [positives, negatives, right, wrong] =
            [self.positives, self.negatives, self.right, self.wrong].map(f64::from);
        let bound = promise.bound;
        match promise.kept {
            Kept::Precision => (right - bound * (right + wrong), bound, 1.0 - bound),
            Kept::Recall => (right - bound * positives, bound, 1.0 - bound),
            Kept::Fpr => (bound * negatives - wrong, 1.0 - bound, bound),
        }
    }

    /// Hits, and the rows that a rate is about.
    fn rate(&self, kept: Kept) -> (u32, u32) {
        match kept {
            Kept::Precision => (self.right, self.right + self.wrong),
            Kept::Recall => (self.right, self.positives),
            Kept::Fpr => (self.wrong, self.negatives),
        }
    }

    /// Rows that a rate can be about.
    fn size(&self, kept: Kept) -> u32 {
        match kept {
            Kept::Precision => self.positives + self.negatives,
            Kept::Recall => self.positives,
            Kept::Fpr => self.negatives,
        }
    }
}

/// ln of the mean product over the bets, of what each cluster gives as a share of the most it could lose.
fn capital(shares: impl Iterator<Item = f64>) -> f64 {
    let mut sums = [0.0; BETS.len()];
    for share in shares.filter(|&share| share != 0.0) {
        sums.iter_mut().zip(BETS).for_each(|(sum, bet)| *sum += Real::ln((1.0 + bet * share).max(0.0)));
    }
    let top = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + Real::ln(sums.iter().map(|sum| libm::exp(sum - top)).sum::<f64>() / BETS.len() as f64)
}

/// The clusters of rows by numbers from 0 on, and how many there are.
fn numbered(clusters: &[u32]) -> (Vec<u32>, usize) {
    let mut names = clusters.to_vec();
    names.sort_unstable();
    names.dedup();
    (clusters.iter().map(|name| names.binary_search(name).map_or(0, |at| at as u32)).collect(), names.len())
}

/// What the clusters have at a threshold.
fn at_threshold<T: Real>(threshold: f64, scores: &[T], labels: &[u8], clusters: &[u32]) -> Result<Vec<Cluster>> {
    exact_len("labels", scores.len(), labels.len())?;
    exact_len("clusters", scores.len(), clusters.len())?;
    all_finite("scores", scores)?;
    count_labels(labels)?;
    if threshold.is_nan() {
        return Err(Error::Param { what: "threshold" });
    }
    let (of, count) = numbered(clusters);
    let mut each = vec![Cluster::default(); count];
    for ((&score, &label), &cluster) in scores.iter().zip(labels).zip(&of) {
        let cluster = &mut each[cluster as usize];
        let above = u32::from(score.f64() >= threshold);
        let positive = u32::from(label == 1);
        cluster.positives += positive;
        cluster.negatives += 1 - positive;
        cluster.right += above * positive;
        cluster.wrong += above * (1 - positive);
    }
    Ok(each)
}

/// Where false-positive rate, recall and precision at a threshold lie with 95 % confidence, of rows in clusters: the ratio of sums over
/// clusters, with the variance of its linear part, on the scale of the log-odds; where a rate is 0 or 1, as of so many rows as there are
/// clusters with some. O(n log n).
///
/// # Errors
/// `Length`, `NonFinite`, `Label`, `Param` for a NaN threshold.
pub fn rate_intervals_clustered<T: Real>(
    threshold: f64,
    scores: &[T],
    labels: &[u8],
    clusters: &[u32],
) -> Result<[Interval; 3]> {
    let each = at_threshold(threshold, scores, labels, clusters)?;
    Ok([Kept::Fpr, Kept::Recall, Kept::Precision].map(|kept| interval_of(&each, kept)))
}

fn interval_of(each: &[Cluster], kept: Kept) -> Interval {
    let rates = || each.iter().map(|cluster| cluster.rate(kept)).filter(|(_, rows)| *rows > 0);
    let (hits, rows) = rates().fold((0, 0), |(hits, rows), (h, n)| (hits + u64::from(h), rows + u64::from(n)));
    let count = rates().count() as u64;
    let share = hits as f64 / rows as f64;
    let squares: f64 = rates()
        .map(|(h, n)| {
            let apart = f64::from(h) - share * f64::from(n);
            apart * apart
        })
        .sum();
    let deviation = crate::Real::sqrt(squares * count as f64 / (count as f64 - 1.0)) / rows as f64;
    let usual = || rate_interval(if hits == 0 { 0 } else { count }, count);
    Interval::around(share, deviation, count).unwrap_or_else(|| match hits {
        _ if hits == 0 || hits == rows => usual(),
        _ => Interval { low: 0.0, high: 1.0 },
    })
}

impl Promise {
    /// The threshold on rows in clusters: `clusters` has a number for each row, equal ones for rows of one cluster.
    /// O(n log n).
    ///
    /// # Errors
    /// `Unpromised` where no threshold can be promised; `Param` for a promise outside its range; `Length`, `NonFinite`, `Label`,
    /// `OneClass`; `Overflow` for more rows than 2³² − 1.
    ///
    /// ```
    /// use undercurve::{Error, decision::{Kept, Promise}};
    /// let promise = Promise { kept: Kept::Precision, bound: 0.8, percent: 90.0 };
    /// let few = promise.decide_clustered(&[0.9, 0.8, 0.1, 0.2], &[1, 1, 0, 0], &[0, 0, 1, 1]);
    /// assert!(matches!(few, Err(Error::Unpromised { more: Some(_), .. })));
    /// ```
    pub fn decide_clustered<T: Real>(self, scores: &[T], labels: &[u8], clusters: &[u32]) -> Result<Decision> {
        if !self.is_sound() {
            return Err(Error::Param { what: "threshold rule" });
        }
        exact_len("labels", scores.len(), labels.len())?;
        exact_len("clusters", scores.len(), clusters.len())?;
        all_finite("scores", scores)?;
        let (positives, negatives) = count_labels(labels)?;
        if positives == 0 || negatives == 0 {
            return Err(Error::OneClass);
        }
        let rows = u32::try_from(scores.len()).map_err(|_| Error::Overflow { what: "the number of rows" })?;
        let (of, count) = numbered(clusters);
        let mut order = vec![0; rows as usize];
        crate::sort::falling(scores, &mut order);
        let mut each = vec![Cluster::default(); count];
        for (&cluster, &label) in of.iter().zip(labels) {
            let cluster = &mut each[cluster as usize];
            *(if label == 1 { &mut cluster.positives } else { &mut cluster.negatives }) += 1;
        }
        let most = f64::from(each.iter().map(|cluster| cluster.size(self.kept)).max().unwrap_or(1));
        // Alerts of every threshold, and the cut there.
        let score = |at: usize| scores[order[at] as usize].f64();
        let mut cutter = Cutter::of(scores);
        let inside = (1..order.len()).filter(|&at| score(at) < score(at - 1));
        let inside = inside.filter_map(|at| cutter.gap([score(at - 1), score(at)], at));
        let last = Cut { nearest: [score(order.len() - 1), f64::NEG_INFINITY], above: order.len() };
        let cuts: Vec<Cut<usize>> = inside.chain([last]).collect();
        let ends: Vec<usize> = cuts.iter().map(|cut| cut.above).collect();
        let need = -Real::ln(self.risk());
        let (order_of, clearest) = (order.clone(), f64::NEG_INFINITY);
        let mut rows =
            Clustered { promise: self, labels, of: &of, order: order_of, clusters: each, most, need, clearest };
        let best = match self.kept {
            // Passed by the first ends, or by the last ones.
            Kept::Fpr if rows.passes(0) => {
                let passed = ends.partition_point(|&alerts| rows.passes(alerts));
                Some(passed.checked_sub(1).map_or(0, |at| ends[at]))
            }
            Kept::Recall => ends.get(ends.partition_point(|&alerts| !rows.passes(alerts))).copied(),
            Kept::Fpr => None,
            Kept::Precision => rows.most_precise(&ends, positives),
        };
        let of_class = if self.kept == Kept::Fpr { (negatives, "negatives") } else { (positives, "positives") };
        let Some(alerts) = best else {
            // The logarithm grows with the number of clusters.
            let times = need / rows.clearest;
            let tells = rows.clearest > 0.0 && times > 1.0 && times < 1e4;
            let more = tells.then(|| libm::ceil((times - 1.0) * of_class.0 as f64) as u64);
            return Err(Error::Unpromised { more, what: of_class.1 });
        };
        let right = order[..alerts].iter().filter(|&&row| labels[row as usize] == 1).count();
        let none = Cut { nearest: [f64::INFINITY, score(0)], above: 0 };
        let cut = cuts.into_iter().find(|cut| cut.above == alerts).unwrap_or(none);
        let cut = Cut { nearest: cut.nearest, above: [right as u64, (alerts - right) as u64] };
        Ok(Decision::at::<T>(cut, [positives as u64, negatives as u64]))
    }

    /// Whether it still holds at a threshold that was not chosen on these rows, which lie in clusters: as
    /// [`ThresholdRule::recheck`](super::ThresholdRule::recheck), by the same products, once for and once against the bound. O(n log n).
    ///
    /// # Errors
    /// As [`rate_intervals_clustered`]; `Param` for a promise outside its range.
    ///
    /// ```
    /// use undercurve::{decision::{Kept, Promise}, judge::Verdict};
    /// let promise = Promise { kept: Kept::Precision, bound: 0.8, percent: 90.0 };
    /// let scores = vec![1.0_f64; 200];
    /// let pairs: Vec<u32> = (0..200).map(|row| row / 2).collect();
    /// let check = promise.recheck_clustered(0.5, &scores, &[1; 200], &pairs)?;
    /// assert_eq!((check.verdict, check.value()), (Verdict::Met, Some(1.0)));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn recheck_clustered<T: Real>(
        self,
        threshold: f64,
        scores: &[T],
        labels: &[u8],
        clusters: &[u32],
    ) -> Result<Recheck> {
        if !self.is_sound() {
            return Err(Error::Param { what: "threshold rule" });
        }
        let each = at_threshold(threshold, scores, labels, clusters)?;
        let most = f64::from(each.iter().map(|cluster| cluster.size(self.kept)).max().unwrap_or(1).max(1));
        let gain = |sign: f64| {
            capital(each.iter().map(|cluster| {
                let (better, least, greatest) = cluster.better(self);
                sign * better / (if sign > 0.0 { least } else { greatest } * most)
            }))
        };
        let need = -Real::ln(self.risk());
        let (met, broken) = (gain(1.0), gain(-1.0));
        let rates = each.iter().map(|cluster| cluster.rate(self.kept));
        let (hits, rows) = rates.fold((0, 0), |(hits, rows), (h, n)| (hits + u64::from(h), rows + u64::from(n)));
        let (verdict, most) = if broken >= need {
            (Verdict::NotMet, broken)
        } else if met >= need {
            (Verdict::Met, met)
        } else {
            (Verdict::CannotTell, met.max(broken))
        };
        // The logarithm grows with the number of clusters.
        let times = need / most;
        let tells = verdict == Verdict::CannotTell && most > 0.0 && times < 1e4;
        let more = tells.then(|| libm::ceil((times - 1.0) * rows as f64) as u64);
        let (sense, bound, percent) = (self.sense(), self.bound, self.percent);
        Ok(Recheck { sense, bound, percent, hits, rows, interval: interval_of(&each, self.kept), verdict, more })
    }
}
