//! Whether what a threshold was chosen for still holds, on labelled rows that it was not chosen on.
//!
//! Of n rows that the rate is about, h were hits; with the confidence C = 1 − δ of the rule (95 % of rules without one):
//!
//! | bound | met | broken |
//! |---|---|---|
//! | at least p | P(B(n, p) ≥ h) ≤ δ | P(B(n, p) ≤ h) ≤ δ |
//! | at most p | P(B(n, p) ≤ h) ≤ δ | P(B(n, p) ≥ h) ≤ δ |
//!
//! Both are exact tests of one side, for independent rows. Otherwise the rows cannot tell.

use super::promise::{Kept, Promise, binomial, rate_interval};
use super::rule::ThresholdRule;
use crate::expression::Sense;
use crate::judge::Verdict;
use crate::metric::{Confusion, Interval, Top};

/// What rows say of a bound that a threshold was to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recheck {
    /// At least, or at most.
    pub sense: Sense,
    /// The bound.
    pub bound: f64,
    /// The confidence of each side, in per cent.
    pub percent: f64,
    /// The rate, by weight; `None` without rows.
    pub value: Option<f64>,
    /// Rows that count.
    pub hits: u64,
    /// Of so many that the rate is about: alerts (precision), positives (recall), negatives (fpr), all rows (top).
    pub rows: u64,
    /// Where the rate lies with 95 % confidence.
    pub interval: Interval,
    /// Whether the bound holds.
    pub verdict: Verdict,
    /// Where the rows cannot tell: about how many more of them would, if the rate stayed what it is; `None` where no number would.
    pub more: Option<u64>,
}

/// The confidence of rules that name none, in per cent.
pub(super) const USUAL: f64 = 95.0;

impl Recheck {
    /// Of independent rows.
    pub(super) fn new(sense: Sense, bound: f64, percent: f64, hits: u64, rows: u64) -> Self {
        let verdict = tested(sense, bound, percent, hits, rows);
        let mut more = None;
        if verdict == Verdict::CannotTell && rows > 0 {
            let (mut times, share) = (1.0, hits as f64 / rows as f64);
            while more.is_none() && times < 1e4 {
                times *= 1.1;
                let all = libm::ceil(rows as f64 * times);
                if tested(sense, bound, percent, libm::round(share * all) as u64, all as u64) != Verdict::CannotTell {
                    more = Some(all as u64 - rows);
                }
            }
        }
        let value = (rows > 0).then(|| hits as f64 / rows as f64);
        Self { sense, bound, percent, value, hits, rows, interval: rate_interval(hits, rows), verdict, more }
    }
}

fn tested(sense: Sense, bound: f64, percent: f64, hits: u64, rows: u64) -> Verdict {
    let risk = 1.0 - percent / 100.0;
    // (A bound of 0 or 1 is broken by one row, and never shown to hold.)
    let (above, below) = if bound <= 0.0 {
        (if hits > 0 { 0.0 } else { 1.0 }, 1.0)
    } else if bound >= 1.0 {
        (1.0, if hits < rows { 0.0 } else { 1.0 })
    } else {
        (binomial(rows, bound, hits).1, binomial(rows, bound, hits + 1).0)
    };
    let (met, broken) = if sense == Sense::AtLeast { (above, below) } else { (below, above) };
    if rows > 0 && broken <= risk {
        Verdict::NotMet
    } else if rows > 0 && met <= risk {
        Verdict::Met
    } else {
        Verdict::CannotTell
    }
}

impl Promise {
    /// Which side of its bound the rate is to be on.
    #[must_use]
    pub fn sense(self) -> Sense {
        if self.kept == Kept::Fpr { Sense::AtMost } else { Sense::AtLeast }
    }

    /// Hits, and the rows that its rate is about.
    #[must_use]
    pub fn rate(self, counts: &Confusion) -> (u64, u64) {
        let (tp, fp) = (counts.true_positives, counts.false_positives);
        match self.kept {
            Kept::Precision => (tp, tp + fp),
            Kept::Recall => (tp, counts.positives()),
            Kept::Fpr => (fp, counts.negatives()),
        }
    }
}

impl ThresholdRule {
    /// The promise that it is, or would be with a confidence of 95 %; `None` of rules that keep no rate above 0 and below 1.
    #[must_use]
    pub fn promise(self) -> Option<Promise> {
        let plain = |kept, bound| Promise { kept, bound, percent: USUAL };
        let promise = match self {
            Self::Promised(promise) => promise,
            Self::Fpr(bound) => plain(Kept::Fpr, bound),
            Self::Precision(bound) => plain(Kept::Precision, bound),
            Self::Recall(bound) => plain(Kept::Recall, bound),
            _ => return None,
        };
        promise.is_sound().then_some(promise)
    }

    /// Whether it still holds on rows that the threshold was not chosen on: by the counts there, and by how many rows it was
    /// chosen on (for a number of rows, which stands for that share). `None` of a score and of costs, which bound nothing.
    ///
    /// ```
    /// use undercurve::{decision::ThresholdRule, judge::Verdict, metric::Confusion};
    /// let rule: ThresholdRule = "precision>=0.9@95%".parse()?;
    /// let of = |right, wrong| Confusion { true_positives: right, false_positives: wrong, ..Confusion::default() };
    /// let verdict = |right, wrong| rule.recheck(&of(right, wrong), 1000).map(|check| check.verdict);
    /// assert_eq!(verdict(195, 5), Some(Verdict::Met));
    /// assert_eq!(verdict(160, 40), Some(Verdict::NotMet));
    /// assert_eq!(verdict(19, 1), Some(Verdict::CannotTell));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    #[must_use]
    pub fn recheck(self, counts: &Confusion, chosen_on: u64) -> Option<Recheck> {
        let of = |sense, bound, (hits, rows)| Some(Recheck::new(sense, bound, USUAL, hits, rows));
        let alerts = (counts.true_positives + counts.false_positives, counts.total());
        match self {
            Self::Promised(promise) => {
                let (hits, rows) = promise.rate(counts);
                Some(Recheck::new(promise.sense(), promise.bound, promise.percent, hits, rows))
            }
            Self::Fpr(bound) => of(Sense::AtMost, bound, (counts.false_positives, counts.negatives())),
            Self::Precision(bound) => of(Sense::AtLeast, bound, (counts.true_positives, alerts.0)),
            Self::Recall(bound) => of(Sense::AtLeast, bound, (counts.true_positives, counts.positives())),
            Self::Alerts(Top::Percent(share)) => of(Sense::AtMost, share / 100.0, alerts),
            Self::Alerts(Top::Rows(rows)) => of(Sense::AtMost, (rows as f64 / chosen_on as f64).min(1.0), alerts),
            _ => None,
        }
    }
}
