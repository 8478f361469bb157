//! Rules that find a threshold on labelled rows.
//!
//! | rule | thresholds that keep it | of these |
//! |---|---|---|
//! | `fpr<=A` | false-positive rate at most A | greatest recall, then fewest alerts |
//! | `precision>=P` | precision at least P | greatest recall, then fewest alerts |
//! | `recall>=R` | recall at least R | least false-positive rate, then greatest recall |
//! | `alerts<=K`, `alerts<=S%` | at most K alerts, or S % of the rows | greatest recall, then fewest alerts |
//! | `youden` | all | greatest recall − false-positive rate (Youden 1950), then fewest alerts |
//! | `f1`, `mcc` | all | greatest F1, or greatest correlation of decision and label, then fewest alerts |
//! | `costs:FP:FN[:SHARE]` | all | least cost of a row ([`Costs`]), then fewest alerts |
//! | a number | that score | |
//! | `fpr<=A@C%`, `precision>=P@C%`, `recall>=R@C%` | those that keep it on rows that nobody has seen, with the confidence C % | see [`Promise`] |
//!
//! So no alert can be dropped without loss of recall. A threshold lies midway between two neighbouring scores, and never so near to one that the
//! last bits of another processor move a row across it (`cut.rs`); +∞ decides no row positive, −∞ every row. Without a confidence the bound
//! holds on the rows that the threshold is found on. On other rows the rate differs by chance, and a number of alerts becomes the share that it was.

use super::cut::{Cut, cuts};
use super::promise::{Kept, Promise, Walk};
use crate::decimal::number;
use crate::error::{Error, Result};
use crate::metric::{Amount, Confusion, Costs, Labels, Top};
use crate::real::Real;
use crate::scratch::Scratch;
use core::fmt;
use core::str::FromStr;

/// What a threshold has to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThresholdRule {
    /// A score, as it is.
    Score(f64),
    /// At most this false-positive rate.
    Fpr(f64),
    /// At least this precision.
    Precision(f64),
    /// At least this recall.
    Recall(f64),
    /// At most so many alerts.
    Alerts(Top),
    /// The greatest recall − false-positive rate.
    Youden,
    /// The greatest F1.
    F1,
    /// The greatest correlation of decision and label, by Matthews.
    Mcc,
    /// The least cost.
    Costs {
        /// What a false positive costs.
        false_positive: f64,
        /// What a false negative costs.
        false_negative: f64,
        /// The share of positives where decisions are made; `None`: that of the rows.
        prevalence: Option<f64>,
    },
    /// A rate that is to hold on other rows, with a confidence.
    Promised(Promise),
}

/// A threshold, and what it comes to on the rows that it was found on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision<A = u64> {
    /// Scores from here up predict the positive class; +∞ predicts none, −∞ all.
    pub threshold: f64,
    /// The nearest scores: the lowest from the threshold up, or +∞, and the highest below it, or −∞.
    pub nearest: [f64; 2],
    /// Right and wrong predictions; of rows with weights what they weigh.
    pub counts: Confusion<A>,
}

impl<A: Amount> Decision<A> {
    /// By a cut, with true and false positives above it, and the sums of the classes, positives first.
    pub(super) fn at<T: Real>(cut: Cut<[A; 2]>, classes: [A; 2]) -> Self {
        Self { threshold: cut.threshold::<T>(), nearest: cut.nearest, counts: counts(cut.above, classes) }
    }
}

/// By true and false positives, and the sums of the classes.
fn counts<A: Amount>([tp, fp]: [A; 2], [positives, negatives]: [A; 2]) -> Confusion<A> {
    Confusion {
        true_positives: tp,
        false_positives: fp,
        true_negatives: negatives - fp,
        false_negatives: positives - tp,
    }
}

impl ThresholdRule {
    /// What [`FromStr`] reads, in words.
    pub const FORMS: &str = "fpr<=A, precision>=P or recall>=R (from 0 to 1; with @90% behind it to hold on other rows with that confidence), alerts<=K, alerts<=S%, youden, f1, mcc, costs:FP:FN, costs:FP:FN:SHARE or a score";

    /// That of costs.
    #[must_use]
    pub fn of_costs(costs: Costs) -> Self {
        let (false_positive, false_negative) = (costs.false_positive(), costs.false_negative());
        Self::Costs { false_positive, false_negative, prevalence: Some(costs.prevalence()) }
    }

    /// The costs on rows with such a share of positives, of the rule of costs.
    ///
    /// # Errors
    /// `Param`.
    pub fn costs(self, share: f64) -> Result<Option<Costs>> {
        match self {
            Self::Costs { false_positive, false_negative, prevalence } => {
                Costs::new(false_positive, false_negative, prevalence.unwrap_or(share)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The threshold on these rows. `scratch` as [`need`](crate::metric::need) says; O(n).
    ///
    /// # Errors
    /// `Unreachable` where no threshold has that precision, or where more rows than the budget tie for the highest score;
    /// `Unpromised` where no threshold can be promised; `Unsupported` for a promise on rows with weights, which
    /// [`Promise::decide_in`] makes;
    /// `Param` for a bound outside its range; as [`auroc`](crate::metric::auroc).
    ///
    /// ```
    /// use undercurve::{Scratch, decision::ThresholdRule};
    /// let (scores, labels) = ([0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 1, 0]);
    /// let (mut u32, mut u64) = ([0; 2048], [0; 10]);
    /// let scratch = Scratch { u32: &mut u32, u64: &mut u64, ..Scratch::default() };
    /// let found = "precision>=0.75".parse::<ThresholdRule>()?.decide(&scores, &labels, scratch)?;
    /// assert_eq!((found.threshold, found.nearest, found.counts.tpr()), (0.55, [0.6, 0.5], Some(1.0)));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn decide<T: Real, Y: Labels + ?Sized>(
        self,
        scores: &[T],
        labels: &Y,
        scratch: Scratch<'_, T>,
    ) -> Result<Decision<Y::Amount>> {
        if !self.is_sound() {
            return Err(Error::Param { what: "threshold rule" });
        }
        match self {
            Self::Score(at) => return at_score(at, scores, labels, scratch),
            Self::Promised(promise) => return promised(promise, scores, labels, scratch),
            _ => {}
        }
        let (mut best, mut most) = (None, f64::NEG_INFINITY);
        let (mut fits, mut wrong) = (!matches!(self, Self::Alerts(_)), Ok(()));
        let classes = cuts(scores, labels, scratch, |classes, cut| {
            let ([tp, fp], [positives, negatives]) = (cut.above, [classes.positives, classes.negatives]);
            let (alerts, all) = ((tp + fp).f64(), (positives + negatives).f64());
            // The budget, or the slope of costs.
            let number = match self {
                Self::Alerts(top) => top.of(all),
                _ => self.costs(positives.f64() / all).map(|costs| costs.map_or(0.0, Costs::slope)),
            };
            let number = number.unwrap_or_else(|error| {
                wrong = Err(error);
                f64::NAN
            });
            fits |= alerts > 0.0 && alerts <= number;
            let [tpr, fpr] = [tp.f64() / positives.f64(), fp.f64() / negatives.f64()];
            let counts = counts(cut.above, [positives, negatives]);
            // (False-positive rate 0 costs nothing, also where the slope is infinite.)
            let loss = if fpr > 0.0 { number * fpr } else { 0.0 };
            let worth = match self {
                Self::Fpr(bound) => (fpr <= bound).then_some(tpr),
                Self::Precision(bound) => (tpr > 0.0 && tp.f64() / alerts >= bound).then_some(tpr),
                Self::Recall(bound) => (tpr >= bound).then_some(-fpr),
                Self::Alerts(_) => (alerts <= number).then_some(tpr),
                Self::Youden => Some(tpr - fpr),
                Self::F1 => counts.f1(),
                Self::Mcc => counts.mcc(),
                Self::Costs { .. } => Some(tpr - loss),
                Self::Score(_) | Self::Promised(_) => None,
            };
            // Alerts only grow from cut to cut: of equal ones the first has the fewest, and the last the greatest recall. (Differences
            // are equal but for rounding.)
            let (last, rounding) = match self {
                Self::Recall(_) => (true, 0.0),
                Self::Youden | Self::Mcc => (false, 1e-13),
                Self::Costs { .. } => (false, 1e-13 * (1.0 + loss)),
                _ => (false, 0.0),
            };
            if worth.is_some_and(|worth| worth > most + rounding || last && worth == most) {
                (best, most) = (Some(cut), worth.unwrap_or(most));
            }
        })?;
        wrong?;
        let what = if fits { "precision" } else { "rows at the top" };
        let best = best.filter(|_| fits).ok_or(Error::Unreachable { what })?;
        Ok(Decision::at::<T>(best, [classes.positives, classes.negatives]))
    }

    fn is_sound(self) -> bool {
        match self {
            Self::Score(at) => at.is_finite(),
            Self::Fpr(bound) | Self::Precision(bound) | Self::Recall(bound) => (0.0..=1.0).contains(&bound),
            Self::Alerts(top) => top.is_sound(),
            Self::Youden | Self::F1 | Self::Mcc => true,
            Self::Costs { .. } => self.costs(0.5).is_ok(),
            Self::Promised(promise) => promise.is_sound(),
        }
    }
}

/// A threshold that is a score.
fn at_score<T: Real, Y: Labels + ?Sized>(
    at: f64,
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
) -> Result<Decision<Y::Amount>> {
    let (mut nearest, mut above) = ([f64::INFINITY, f64::NEG_INFINITY], [Y::Amount::default(); 2]);
    let classes = labels.groups(scores, scratch, |_, group| {
        let score = group.score.f64();
        if score >= at {
            nearest[0] = score;
            above[0] += group.run.positives;
            above[1] += group.run.negatives;
        } else {
            nearest[1] = nearest[1].or_larger(score);
        }
    })?;
    Ok(Decision { threshold: at, nearest, counts: counts(above, [classes.positives, classes.negatives]) })
}

/// The threshold of a promise.
fn promised<T: Real, Y: Labels + ?Sized>(
    promise: Promise,
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
) -> Result<Decision<Y::Amount>> {
    if labels.are_weighed() {
        return Err(Error::Unsupported { what: "a promise on rows with weights" });
    }
    let mut walk = None;
    let classes = cuts(scores, labels, scratch, |classes, Cut { nearest, above }| {
        let walk = walk.get_or_insert_with(|| Walk::new(promise, classes.positives.f64(), classes.negatives.f64()));
        walk.add(Cut { nearest, above: above.map(|rows| rows.f64() as u64) });
    })?;
    let what = if promise.kept == Kept::Fpr { "negatives" } else { "positives" };
    let found = walk.map_or(Err(None), |walk| walk.end());
    let Cut { nearest, above } = found.map_err(|more| Error::Unpromised { more, what })?;
    Ok(Decision::at::<T>(Cut { nearest, above: above.map(Y::Amount::of) }, [classes.positives, classes.negatives]))
}

impl FromStr for ThresholdRule {
    type Err = Error;

    /// As the table above has them; spaces around `<=` and `>=` may be there.
    ///
    /// # Errors
    /// `Param`.
    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((text, percent)) = text.split_once('@') {
            let percent = percent.trim().strip_suffix('%').and_then(|percent| number(percent.trim_end()));
            let rate = match text.parse::<Self>()? {
                Self::Fpr(bound) => Some((Kept::Fpr, bound)),
                Self::Precision(bound) => Some((Kept::Precision, bound)),
                Self::Recall(bound) => Some((Kept::Recall, bound)),
                _ => None,
            };
            let rule = rate.zip(percent).map(|((kept, bound), percent)| Promise { kept, bound, percent });
            return (rule.filter(|promise| promise.is_sound()).map(Self::Promised))
                .ok_or(Error::Param { what: "threshold rule" });
        }
        let after = |name: &str, sign: &str| Some(text.strip_prefix(name)?.trim_start().strip_prefix(sign)?.trim());
        let costs = |text: &str| {
            let mut parts = text.split(':').map(|part| number(part.trim()));
            let (false_positive, false_negative) = (parts.next()??, parts.next()??);
            let prevalence = match parts.next() {
                None => None,
                Some(share) => Some(share?),
            };
            parts.next().is_none().then_some(Self::Costs { false_positive, false_negative, prevalence })
        };
        let rule = match text {
            "youden" => Some(Self::Youden),
            "f1" => Some(Self::F1),
            "mcc" => Some(Self::Mcc),
            _ => (after("costs", ":").and_then(costs))
                .or_else(|| number(after("fpr", "<=")?).map(Self::Fpr))
                .or_else(|| number(after("precision", ">=")?).map(Self::Precision))
                .or_else(|| number(after("recall", ">=")?).map(Self::Recall))
                // (Files have `top:` of before.)
                .or_else(|| after("alerts", "<=").or(after("top", ":"))?.parse().ok().map(Self::Alerts))
                .or_else(|| number(text).map(Self::Score)),
        };
        rule.filter(|rule| rule.is_sound()).ok_or(Error::Param { what: "threshold rule" })
    }
}

/// As it is read.
impl fmt::Display for ThresholdRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Score(at) => write!(f, "{at}"),
            Self::Fpr(most) => write!(f, "fpr<={most}"),
            Self::Precision(least) => write!(f, "precision>={least}"),
            Self::Recall(least) => write!(f, "recall>={least}"),
            Self::Alerts(top) => write!(f, "alerts<={top}"),
            Self::Youden => f.write_str("youden"),
            Self::F1 => f.write_str("f1"),
            Self::Mcc => f.write_str("mcc"),
            Self::Promised(Promise { kept, bound, percent }) => {
                let rule = match kept {
                    Kept::Fpr => Self::Fpr(bound),
                    Kept::Precision => Self::Precision(bound),
                    Kept::Recall => Self::Recall(bound),
                };
                write!(f, "{rule}@{percent}%")
            }
            Self::Costs { false_positive, false_negative, prevalence } => {
                write!(f, "costs:{false_positive}:{false_negative}")?;
                prevalence.map_or(Ok(()), |share| write!(f, ":{share}"))
            }
        }
    }
}
