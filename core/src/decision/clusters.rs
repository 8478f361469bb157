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

use super::promise::{Kept, Promise, midway, next_target};
use super::rule::Decision;
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
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
}

impl Clustered<'_> {
    /// ln of the mean product where the first `alerts` rows are alerts.
    fn gain(&mut self, alerts: usize) -> f64 {
        self.clusters.iter_mut().for_each(|cluster| (cluster.right, cluster.wrong) = (0, 0));
        for &row in &self.order[..alerts] {
            let cluster = &mut self.clusters[self.of[row as usize] as usize];
            *(if self.labels[row as usize] == 1 { &mut cluster.right } else { &mut cluster.wrong }) += 1;
        }
        let Promise { kept, bound, .. } = self.promise;
        let mut sums = [0.0; BETS.len()];
        for cluster in &self.clusters {
            let [positives, negatives, right, wrong] =
                [cluster.positives, cluster.negatives, cluster.right, cluster.wrong].map(f64::from);
            let (better, worst) = match kept {
                Kept::Precision => (right - bound * (right + wrong), bound),
                Kept::Recall => (right - bound * positives, bound),
                Kept::Fpr => (bound * negatives - wrong, 1.0 - bound),
            };
            if better != 0.0 {
                let share = better / (worst * self.most);
                sums.iter_mut().zip(BETS).for_each(|(sum, bet)| *sum += Real::ln((1.0 + bet * share).max(0.0)));
            }
        }
        let top = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return top;
        }
        top + Real::ln(sums.iter().map(|sum| libm::exp(sum - top)).sum::<f64>() / BETS.len() as f64)
    }
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
        // Numbers from 0 on.
        let mut names = clusters.to_vec();
        names.sort_unstable();
        names.dedup();
        let of: Vec<u32> = clusters.iter().map(|name| names.binary_search(name).map_or(0, |at| at as u32)).collect();
        let mut order: Vec<u32> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| (core::cmp::Reverse(scores[row as usize].key()), row));
        let mut each = vec![Cluster::default(); names.len()];
        for (&cluster, &label) in of.iter().zip(labels) {
            let cluster = &mut each[cluster as usize];
            *(if label == 1 { &mut cluster.positives } else { &mut cluster.negatives }) += 1;
        }
        let size = |cluster: &Cluster| match self.kept {
            Kept::Precision => cluster.positives + cluster.negatives,
            Kept::Recall => cluster.positives,
            Kept::Fpr => cluster.negatives,
        };
        let most = f64::from(each.iter().map(size).max().unwrap_or(1));
        // Alerts of every threshold: ends of groups of equal scores.
        let key = |at: usize| scores[order[at] as usize].key();
        let ends: Vec<usize> = (1..=order.len()).filter(|&at| at == order.len() || key(at) != key(at - 1)).collect();
        let at = |alerts: usize| {
            let score = |at: usize| scores[order[at] as usize].f64();
            if alerts == 0 {
                return f64::INFINITY;
            }
            let above = score(alerts - 1);
            if alerts < order.len() { midway(above, score(alerts)) } else { above }
        };
        let need = -Real::ln(self.risk());
        let mut rows = Clustered { promise: self, labels, of: &of, order: order.clone(), clusters: each, most };
        let mut clearest = f64::NEG_INFINITY;
        let mut passes = |rows: &mut Clustered<'_>, alerts: usize| {
            let gain = rows.gain(alerts);
            clearest = clearest.max(gain);
            gain >= need
        };
        let mut best = None;
        match self.kept {
            // Passed by the first ends, or by the last ones.
            Kept::Fpr if passes(&mut rows, 0) => {
                let passed = ends.partition_point(|&alerts| passes(&mut rows, alerts));
                best = Some(passed.checked_sub(1).map_or(0, |at| ends[at]));
            }
            Kept::Recall => {
                let failed = ends.partition_point(|&alerts| !passes(&mut rows, alerts));
                best = ends.get(failed).copied();
            }
            Kept::Fpr => {}
            Kept::Precision => {
                let each = Real::ln(1.0 + (1.0 - self.bound) / (self.bound * most));
                let fewest = libm::ceil((need + Real::ln(BETS.len() as f64)) / each);
                let mut target = fewest;
                for pair in ends.windows(2) {
                    if pair[1] as f64 <= target {
                        continue;
                    }
                    if pair[0] as f64 >= fewest {
                        if !passes(&mut rows, pair[0]) {
                            break;
                        }
                        best = Some(pair[0]);
                    }
                    while pair[1] as f64 > target {
                        target = next_target(target);
                    }
                }
                // Too few rows for a first test.
                if best.is_none() && clearest == f64::NEG_INFINITY {
                    clearest = rows.gain(positives);
                }
            }
        }
        let of_class = if self.kept == Kept::Fpr { (negatives, "negatives") } else { (positives, "positives") };
        let Some(alerts) = best else {
            // The logarithm grows with the number of clusters.
            let times = need / clearest;
            let tells = clearest > 0.0 && times > 1.0 && times < 1e4;
            let more = tells.then(|| libm::ceil((times - 1.0) * of_class.0 as f64) as u64);
            return Err(Error::Unpromised { more, what: of_class.1 });
        };
        let right = order[..alerts].iter().filter(|&&row| labels[row as usize] == 1).count();
        let [tp, fp, positives, negatives] = [right, alerts - right, positives, negatives].map(|count| count as u64);
        Ok(Decision::of(at(alerts), [tp, fp], [positives, negatives]))
    }
}
