//! Rules that find a threshold on labelled rows: the best of those that satisfy a bound.
//!
//! | rule | bound | of those that satisfy it |
//! |---|---|---|
//! | `fpr<=A` | false-positive rate at most A | the lowest: the greatest recall |
//! | `precision>=P` | precision at least P | the one of the greatest recall, the highest of equal ones |
//! | `recall>=R` | recall at least R | the highest: the least false-positive rate |
//! | `top:K`, `top:S%` | at most K rows, or S % of them, reach it | the lowest |
//! | `costs:FP:FN[:SHARE]` | – | the one where a row costs least ([`Costs`]), the highest of equal ones |
//! | a number | – | that score |
//! | `fpr<=A@C%`, `precision>=P@C%`, `recall>=R@C%` | the same on rows that nobody has seen, with the confidence C % | see [`Promise`] |
//!
//! Without a confidence the bound holds on the rows that the threshold is found on. The threshold is a score, so on other rows the rate differs by chance,
//! and a number of rows becomes the share that it was.

use super::promise::{Kept, Promise, Walk};
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
    /// At most so many rows: a budget of alerts.
    Top(Top),
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
    /// Scores from here up predict the positive class; +∞ predicts none.
    pub threshold: f64,
    /// Right and wrong predictions; of rows with weights what they weigh.
    pub counts: Confusion<A>,
}

impl<A: Amount> Decision<A> {
    /// By the true and false positives, and the sums of the classes, positives first.
    pub(super) fn of(threshold: f64, [tp, fp]: [A; 2], [positives, negatives]: [A; 2]) -> Self {
        let counts = Confusion {
            true_positives: tp,
            false_positives: fp,
            true_negatives: negatives - fp,
            false_negatives: positives - tp,
        };
        Self { threshold, counts }
    }
}

impl ThresholdRule {
    /// What [`FromStr`] reads, in words.
    pub const FORMS: &str = "fpr<=A, precision>=P or recall>=R (from 0 to 1; with @90% behind it to hold on other rows with that confidence), top:K, top:S%, costs:FP:FN, costs:FP:FN:SHARE or a score";

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
            Self::Score(_) | Self::Fpr(_) | Self::Precision(_) | Self::Recall(_) | Self::Top(_) | Self::Promised(_) => {
                Ok(None)
            }
        }
    }

    /// What it is called where no threshold keeps it.
    fn name(self) -> &'static str {
        match self {
            Self::Precision(_) => "precision",
            Self::Score(_) | Self::Fpr(_) | Self::Recall(_) | Self::Top(_) | Self::Costs { .. } | Self::Promised(_) => {
                "rows at the top"
            }
        }
    }

    /// The threshold on these rows. `scratch` as [`need`](crate::metric::need) says; O(n).
    ///
    /// # Errors
    /// `Unreachable` where no threshold has that precision, or where more rows than the budget tie for the highest score;
    /// `Unpromised` where no threshold can be promised; `Unsupported` for a promise on rows with weights, which are not so many draws;
    /// `Param` for a bound outside its range; as [`auroc`](crate::metric::auroc).
    ///
    /// ```
    /// use undercurve::{Scratch, decision::ThresholdRule};
    /// let (scores, labels) = ([0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 1, 0]);
    /// let (mut u32, mut u64) = ([0; 2048], [0; 10]);
    /// let scratch = Scratch { u32: &mut u32, u64: &mut u64, ..Scratch::default() };
    /// let found = "precision>=0.75".parse::<ThresholdRule>()?.decide(&scores, &labels, scratch)?;
    /// assert_eq!((found.threshold, found.counts.tpr()), (0.6, Some(1.0)));
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
        if let Self::Promised(promise) = self {
            return promised(promise, scores, labels, scratch);
        }
        // No alarm at all keeps any false-positive rate, costs what it costs, and is what a score above all others says.
        let none = (f64::INFINITY, Y::Amount::default(), Y::Amount::default());
        let mut best = matches!(self, Self::Fpr(_) | Self::Costs { .. } | Self::Score(_)).then_some(none);
        // Of the budget, or the slope of costs; made with the first group, when the sums of the classes are known.
        let mut begun = None;
        let (mut tp, mut fp, mut gain) = (Y::Amount::default(), Y::Amount::default(), 0.0);
        let classes = labels.groups(scores, scratch, |classes, group| {
            let (positives, negatives) = (classes.positives.f64(), classes.negatives.f64());
            let (most, slope) = *begun.get_or_insert_with(|| {
                let all = positives + negatives;
                let most = if let Self::Top(top) = self { top.of(all) } else { Ok(all) };
                (most, self.costs(positives / all).ok().flatten().map_or(0.0, Costs::slope))
            });
            tp += group.run.positives;
            fp += group.run.negatives;
            let (tpr, fpr) = (tp.f64() / positives, fp.f64() / negatives);
            let takes = match self {
                Self::Score(at) => group.score.f64() >= at,
                Self::Fpr(most) => fpr <= most,
                Self::Precision(least) => group.run.positives.f64() > 0.0 && tp.f64() / (tp + fp).f64() >= least,
                Self::Recall(least) => tpr >= least && best.is_none(),
                Self::Top(_) => most.is_ok_and(|most| (tp + fp).f64() <= most),
                Self::Promised(_) => false,
                Self::Costs { .. } => {
                    // (False-positive rate 0 costs nothing, also where the slope is infinite.)
                    let here = if fpr > 0.0 { tpr - slope * fpr } else { tpr };
                    let better = here > gain;
                    gain = here.or_larger(gain);
                    better
                }
            };
            if takes {
                best = Some((group.score.f64(), tp, fp));
            }
        })?;
        begun.map_or(Ok(0.0), |(most, _)| most)?;
        let (threshold, tp, fp) = best.ok_or(Error::Unreachable { what: self.name() })?;
        let threshold = if let Self::Score(at) = self { at } else { threshold };
        Ok(Decision::of(threshold, [tp, fp], [classes.positives, classes.negatives]))
    }

    fn is_sound(self) -> bool {
        match self {
            Self::Score(at) => at.is_finite(),
            Self::Fpr(bound) | Self::Precision(bound) | Self::Recall(bound) => (0.0..=1.0).contains(&bound),
            Self::Top(top) => top.is_sound(),
            Self::Costs { .. } => self.costs(0.5).is_ok(),
            Self::Promised(promise) => promise.is_sound(),
        }
    }
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
    let (mut tp, mut fp) = (0_u64, 0_u64);
    let classes = labels.groups(scores, scratch, |classes, group| {
        let walk = walk.get_or_insert_with(|| Walk::new(promise, classes.positives.f64(), classes.negatives.f64()));
        tp += group.run.positives.f64() as u64;
        fp += group.run.negatives.f64() as u64;
        walk.test(group.score.f64(), tp + fp);
        walk.add(group.score.f64(), tp, fp);
    })?;
    let what = if promise.kept == Kept::Fpr { "negatives" } else { "positives" };
    let found = walk.map_or(Err(None), Walk::end);
    let (threshold, tp, fp) = found.map_err(|more| Error::Unpromised { more, what })?;
    let alerts = [tp, fp].map(Y::Amount::of);
    Ok(Decision::of(threshold, alerts, [classes.positives, classes.negatives]))
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
            let percent = percent.trim().strip_suffix('%').and_then(|percent| percent.trim_end().parse().ok());
            let rate = match text.parse::<Self>()? {
                Self::Fpr(bound) => Some((Kept::Fpr, bound)),
                Self::Precision(bound) => Some((Kept::Precision, bound)),
                Self::Recall(bound) => Some((Kept::Recall, bound)),
                Self::Score(_) | Self::Top(_) | Self::Costs { .. } | Self::Promised(_) => None,
            };
            let rule = rate.zip(percent).map(|((kept, bound), percent)| Promise { kept, bound, percent });
            return (rule.filter(|promise| promise.is_sound()).map(Self::Promised))
                .ok_or(Error::Param { what: "threshold rule" });
        }
        let bound = |name: &str, sign: &str| -> Option<f64> {
            text.strip_prefix(name)?.trim_start().strip_prefix(sign)?.trim().parse().ok()
        };
        let costs = |text: &str| {
            let mut parts = text.split(':').map(|part| part.trim().parse::<f64>().ok());
            let (false_positive, false_negative) = (parts.next()??, parts.next()??);
            let prevalence = match parts.next() {
                None => None,
                Some(share) => Some(share?),
            };
            parts.next().is_none().then_some(Self::Costs { false_positive, false_negative, prevalence })
        };
        let rule = if let Some(rows) = text.strip_prefix("top:") {
            rows.trim().parse().ok().map(Self::Top)
        } else if let Some(text) = text.strip_prefix("costs:") {
            costs(text)
        } else {
            (bound("fpr", "<=").map(Self::Fpr))
                .or_else(|| bound("precision", ">=").map(Self::Precision))
                .or_else(|| bound("recall", ">=").map(Self::Recall))
                .or_else(|| text.parse().ok().map(Self::Score))
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
            Self::Top(top) => write!(f, "top:{top}"),
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
