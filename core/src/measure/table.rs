//! The one table of metrics: what the fronts, their help and their documents are made of. A metric more is an entry more, and nothing else.

use super::rows::{Detail, Found, Needs, Rows};
use super::{Arguments, Metric};
use crate::error::Result;
use crate::metric::group::{GroupSummary, cvar, cvar_need, largest, least};
use crate::metric::{
    Bounds, Confusion, Estimate, FprRange, Gap, Metrics, OfQuery, Rate, State, TieRule, Top, TopRows, brier,
    calibration_error, log_loss,
};
use crate::scratch::Scratch;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

type OfState = fn(&Metric, &State, FprRange) -> Result<Option<f64>>;
type OfBounds = fn(&Bounds) -> (f64, f64);

/// A metric.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What follows the name, between brackets where it may be left out: `[:LO:HI]`.
    pub form: &'static str,
    /// What the numbers have to be, after "with".
    pub limits: &'static str,
    /// Other names, as papers and other libraries have them.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub about: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// From where to where.
    pub range: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// Whether rows may have weights.
    pub weights: bool,
    /// How a report without a list of metrics asks for it, if it does.
    pub usual: Option<&'static str>,
    /// Whether the value is to be standardised after McClish by the range of false-positive rates.
    pub(super) standardised: bool,
    pub(super) fits: fn(&Arguments) -> bool,
    pub(super) value: fn(&Metric, &Rows<'_>, &mut Metrics<f64>) -> Result<Found>,
    /// What its interval is that of, with the usual range.
    pub(super) estimate: Option<fn(&Metric, FprRange) -> Result<Estimate>>,
    /// Of counted scores, likewise.
    pub(super) state: Option<OfState>,
    pub(super) bounds: Option<OfBounds>,
}

impl Entry {
    /// Whether it has a 95 % interval.
    #[must_use]
    pub fn has_interval(&self) -> bool {
        self.estimate.is_some() || self.needs == Needs::Queries
    }
    /// Whether differences of two scores are tested.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.estimate.is_some()
    }
    /// Whether it is told of counted scores that merge ([`State`]).
    #[must_use]
    pub fn is_of_states(&self) -> bool {
        self.state.is_some()
    }
    /// Whether it has bounds where not all scores can be kept ([`Bounded`](crate::metric::Bounded)).
    #[must_use]
    pub fn has_bounds(&self) -> bool {
        self.bounds.is_some()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Left out of downloads, which list no more than names.
const fn words(text: &'static str) -> &'static str {
    if cfg!(feature = "compact") { "" } else { text }
}

/// Left out of downloads, which have no counted scores.
const fn counted_scores(of: OfState) -> Option<OfState> {
    if cfg!(feature = "compact") { None } else { Some(of) }
}

fn number(value: f64) -> Result<Found> {
    Ok(Found { value: Some(value), interval: None, detail: Detail::Rows })
}

/// A share of all, where a number behind the name says which.
fn unit(a: &Arguments) -> bool {
    matches!(a.numbers(), Some(&[x]) if (0.0..=1.0).contains(&x))
}

fn is_range(low: f64, high: f64) -> bool {
    FprRange::new(low, high).is_ok()
}

const PLAIN: Entry = Entry {
    name: "",
    form: "",
    limits: "",
    aliases: &[],
    about: "",
    formula: "",
    range: "0 to 1",
    needs: Needs::Nothing,
    weights: true,
    usual: None,
    standardised: false,
    fits: |a| a.numbers() == Some(&[]),
    value: |_, _, _| Ok(Found { value: None, interval: None, detail: Detail::Rows }),
    estimate: None,
    state: None,
    bounds: None,
};

const AREA: Entry = Entry {
    limits: "0 <= LO < HI <= 1",
    value: |metric, rows, memory| {
        number(memory.partial_auc(rows.scores, &rows.truth, metric.range(rows.fpr)?, TieRule::Trapezoid)?)
    },
    estimate: Some(|metric, usual| Ok(Estimate::Roc(metric.range(usual)?))),
    state: counted_scores(|metric, state, usual| {
        Ok(Some(state.partial_auc(metric.range(usual)?, TieRule::Trapezoid)?))
    }),
    bounds: Some(|bounds| bounds.pauc),
    ..PLAIN
};

const AT: Entry = Entry {
    form: "[:THRESHOLD]",
    limits: "a finite threshold",
    needs: Needs::Threshold,
    fits: |a| matches!(a.numbers(), Some([] | [_])),
    ..PLAIN
};

fn counts(metric: &Metric, rows: &Rows<'_>) -> Result<Confusion<f64>> {
    let at = metric.numbers().first().copied().or(rows.threshold).unwrap_or(f64::INFINITY);
    Confusion::at(rows.scores, &rows.truth, rows.at(at))
}

fn counted(metric: &Metric, state: &State) -> Result<Confusion<f64>> {
    state.confusion(metric.numbers().first().copied().unwrap_or(f64::INFINITY))
}

/// An entry of a figure of counts.
macro_rules! at {
    ($figure:ident) => {
        Entry {
            value: |metric, rows, _| {
                Ok(Found { value: counts(metric, rows)?.$figure(), interval: None, detail: Detail::Rows })
            },
            state: counted_scores(|metric, state, _| Ok(counted(metric, state)?.$figure())),
            ..AT
        }
    };
}

const TOP: Entry =
    Entry { form: ":K", limits: "a number of rows, or K% with a share of them", fits: |a| a.top.is_some(), ..PLAIN };

fn top(metric: &Metric) -> Top {
    metric.arguments.top.unwrap_or(Top::Rows(1))
}

fn first(metric: &Metric, rows: &Rows<'_>, memory: &mut Metrics<f64>) -> Result<TopRows> {
    memory.top(rows.scores, &rows.truth, top(metric))
}

const SURE: Entry = Entry { needs: Needs::Probabilities, ..PLAIN };

/// Groups of about as many rows each, by which the calibration error is taken.
const BINS: usize = 10;

const QUERY: Entry = Entry { needs: Needs::Queries, weights: false, ..PLAIN };

fn mean(rows: &Rows<'_>, of: OfQuery) -> Result<Found> {
    let found = rows.of_queries(of)?;
    Ok(Found {
        value: found.map(|found| found.value),
        interval: found.and_then(|found| found.interval),
        detail: Detail::Rows,
    })
}

const GROUP: Entry = Entry { needs: Needs::Groups, weights: false, ..PLAIN };
const GAP: Entry = Entry {
    limits: "0 < A < 1",
    fits: |a| a.numbers() == Some(&[]) || matches!(a.numbers(), Some(&[x]) if 0.0 < x && x < 1.0),
    ..GROUP
};

fn gap(metric: &Metric, rows: &Rows<'_>, memory: &mut Metrics<f64>, rate: Rate) -> Result<Found> {
    let Some(groups) = rows.groups else { return (PLAIN.value)(metric, rows, memory) };
    let fpr = metric.numbers().first().copied();
    let worst = Gap::worst(&memory.gaps(rows.scores, rows.truth.labels(), groups.of, groups.count, rate, fpr)?);
    Ok(Found { value: worst.map(|gap| gap.value), interval: None, detail: worst.map_or(Detail::Rows, Detail::Gap) })
}

fn groups(rows: &Rows<'_>, memory: &mut Metrics<f64>, threshold: f64) -> Result<Vec<GroupSummary>> {
    let Some(groups) = rows.groups else { return Ok(Vec::new()) };
    memory.groups(rows.scores, rows.truth.labels(), groups.of, groups.count, rows.at(threshold))
}

fn group(worst: Option<(usize, f64)>) -> Result<Found> {
    let detail = worst.map_or(Detail::Rows, |(group, _)| Detail::Group(group));
    Ok(Found { value: worst.map(|(_, value)| value), interval: None, detail })
}

/// All metrics.
pub static TABLE: &[Entry] = &[
    Entry {
        name: "auroc",
        aliases: &["auc", "roc-auc", "roc-auc-score"],
        about: words("area under the ROC curve"),
        formula: words("P(s₊ > s₋) + ½ P(s₊ = s₋)"),
        usual: Some("auroc"),
        value: |_, rows, memory| number(memory.auroc(rows.scores, &rows.truth)?),
        estimate: Some(|_, _| Ok(Estimate::AUROC)),
        state: counted_scores(|_, state, usual| Ok(Some(state.summary(usual)?.auroc))),
        bounds: Some(|bounds| bounds.auroc),
        ..PLAIN
    },
    Entry {
        name: "ap",
        aliases: &["average-precision", "average-precision-score", "auprc", "aucpr", "pr-auc", "prauc"],
        about: words("average precision"),
        formula: words("Σ_k (R_k − R_{k−1}) P_k, over different scores"),
        usual: Some("ap"),
        value: |_, rows, memory| number(memory.average_precision(rows.scores, &rows.truth)?),
        estimate: Some(|_, _| Ok(Estimate::Ap)),
        state: counted_scores(|_, state, usual| Ok(Some(state.summary(usual)?.ap))),
        bounds: Some(|bounds| bounds.ap),
        ..PLAIN
    },
    Entry {
        name: "pauc",
        form: "[:LO:HI]",
        aliases: &["partial-auc"],
        about: words("partial AUC over a false-positive range, divided by its width"),
        formula: words("1/(β − α) ∫_α^β TPR dFPR, a straight line where scores tie"),
        usual: Some("pauc"),
        fits: |a| match a.numbers() {
            Some(&[low, high]) => is_range(low, high),
            numbers => numbers == Some(&[]),
        },
        ..AREA
    },
    Entry {
        name: "mcclish",
        form: "[:LO]:HI",
        about: words("partial AUC over 0:HI or LO:HI, standardised after McClish (chance 1/2, perfection 1)"),
        formula: words("½ (1 + (pauc − c)/(1 − c)), c = (α + β)/2"),
        range: "below 0 to 1",
        standardised: true,
        fits: |a| match a.numbers() {
            Some(&[high]) => is_range(0.0, high),
            Some(&[low, high]) => is_range(low, high),
            _ => false,
        },
        ..AREA
    },
    Entry {
        name: "pauc2",
        form: ":TPR[:LO]:HI",
        limits: "0 <= TPR < 1 and 0 <= LO < HI <= 1",
        about: words("two-way partial AUC: true-positive rates from TPR up, false-positive rates 0:HI or LO:HI"),
        formula: words("area above TPR in the range, as a share of that rectangle"),
        fits: |a| {
            let floor = |tpr: f64| (0.0..1.0).contains(&tpr);
            match a.numbers() {
                Some(&[tpr, high]) => floor(tpr) && is_range(0.0, high),
                Some(&[tpr, low, high]) => floor(tpr) && is_range(low, high),
                _ => false,
            }
        },
        value: |metric, rows, memory| {
            let (tpr, low, high) = match *metric.numbers() {
                [tpr, low, high] => (tpr, low, high),
                [tpr, high] => (tpr, 0.0, high),
                _ => (0.0, 0.0, 1.0),
            };
            let range = FprRange::new(low, high)?;
            number(memory.partial_auc_two_way(rows.scores, &rows.truth, tpr, range, TieRule::Trapezoid)?)
        },
        ..PLAIN
    },
    Entry {
        name: "accuracy",
        aliases: &["acc"],
        about: words("share of right predictions, where scores from THRESHOLD up predict the positive class"),
        formula: words("(TP + TN)/n"),
        usual: Some("accuracy"),
        ..at!(accuracy)
    },
    Entry {
        name: "fpr",
        about: words("false-positive rate, likewise"),
        formula: words("FP/(FP + TN)"),
        usual: Some("fpr"),
        ..at!(fpr)
    },
    Entry {
        name: "tpr",
        aliases: &["recall", "sensitivity"],
        about: words("true-positive rate (recall), likewise"),
        formula: words("TP/(TP + FN)"),
        usual: Some("tpr"),
        ..at!(tpr)
    },
    Entry {
        name: "precision",
        about: words("share of positives among what is predicted positive, likewise"),
        formula: words("TP/(TP + FP)"),
        usual: Some("precision"),
        ..at!(precision)
    },
    Entry {
        name: "f1",
        about: words("harmonic mean of precision and recall, likewise"),
        formula: words("2 TP/(2 TP + FP + FN)"),
        ..at!(f1)
    },
    Entry {
        name: "mcc",
        about: words("correlation of prediction and label, likewise"),
        formula: words("(TP TN − FP FN)/√((TP + FP)(TP + FN)(TN + FP)(TN + FN))"),
        range: "−1 to 1",
        ..at!(mcc)
    },
    Entry {
        name: "precision-at-recall",
        form: ":R",
        limits: "0 <= R <= 1",
        about: words("highest precision at a recall of at least R"),
        formula: words("max P_k, R_k ≥ R"),
        fits: unit,
        value: |metric, rows, memory| number(memory.precision_at_recall(rows.scores, &rows.truth, metric.number())?),
        state: counted_scores(|metric, state, _| Ok(Some(state.precision_at_recall(metric.number())?))),
        ..PLAIN
    },
    Entry {
        name: "recall-at-precision",
        form: ":P",
        limits: "0 <= P <= 1",
        about: words("highest recall at a precision of at least P"),
        formula: words("max R_k, P_k ≥ P"),
        fits: unit,
        value: |metric, rows, memory| number(memory.recall_at_precision(rows.scores, &rows.truth, metric.number())?),
        state: counted_scores(|metric, state, _| Ok(Some(state.recall_at_precision(metric.number())?))),
        ..PLAIN
    },
    Entry {
        name: "precision-at",
        about: words(
            "share of positives among the K highest scores, or the share K% of all; of scores tied at the end the mean over their orders",
        ),
        formula: words("T_K/K"),
        value: |metric, rows, memory| number(first(metric, rows, memory)?.precision()),
        estimate: Some(|metric, _| Ok(Estimate::PrecisionAt(top(metric)))),
        ..TOP
    },
    Entry {
        name: "recall-at",
        about: words("share of all positives among them"),
        formula: words("T_K/n₊"),
        value: |metric, rows, memory| number(first(metric, rows, memory)?.recall()),
        estimate: Some(|metric, _| Ok(Estimate::RecallAt(top(metric)))),
        ..TOP
    },
    Entry {
        name: "lift-at",
        about: words("precision among them as a multiple of the share of positives"),
        formula: words("(T_K/K)/(n₊/n)"),
        range: "0 and more",
        value: |metric, rows, memory| number(first(metric, rows, memory)?.lift()),
        ..TOP
    },
    Entry {
        name: "log-loss",
        aliases: &["logloss"],
        about: words("mean of −ln of the probability of what is"),
        formula: words("−1/n Σ ln p_i(y_i)"),
        range: "0 and more",
        usual: Some("log-loss"),
        value: |_, rows, _| number(log_loss(rows.probabilities.unwrap_or_default(), rows.truth)?),
        ..SURE
    },
    Entry {
        name: "brier",
        aliases: &["brier-score"],
        about: words("mean squared difference of probability and label"),
        formula: words("1/n Σ (p_i − y_i)²"),
        usual: Some("brier"),
        value: |_, rows, _| number(brier(rows.probabilities.unwrap_or_default(), rows.truth)?),
        ..SURE
    },
    Entry {
        name: "ece",
        about: words("how far ten groups of equal size are from what they say, in the mean"),
        formula: words("Σ_b n_b/n |mean p of b − share of positives in b|"),
        usual: Some("ece"),
        value: |_, rows, memory| {
            let bins = memory.reliability(rows.probabilities.unwrap_or_default(), &rows.truth, BINS)?;
            number(calibration_error(&bins))
        },
        ..SURE
    },
    Entry {
        name: "map",
        about: words("average precision"),
        formula: words("mean of ap"),
        usual: Some("map"),
        value: |_, rows, _| mean(rows, OfQuery::AveragePrecision),
        ..QUERY
    },
    Entry {
        name: "ndcg",
        form: "[:K]",
        limits: "a whole number of rows",
        about: words(
            "normalised discounted cumulative gain of the first K rows, with gains 2^label − 1 where labels are more than two numbers from 0 to \
                100, else 1 and 0",
        ),
        formula: words("DCG/max DCG, DCG = Σ_{rank ≤ K} gain/log₂(1 + rank)"),
        usual: Some("ndcg:10"),
        fits: |a| match a.numbers() {
            Some(&[rows]) => rows >= 1.0 && libm::trunc(rows) == rows,
            numbers => numbers == Some(&[]),
        },
        value: |metric, rows, _| mean(rows, OfQuery::Ndcg(metric.numbers().first().map(|&rows| rows as u64))),
        ..QUERY
    },
    Entry {
        name: "mrr",
        about: words("1 over the rank of the first positive"),
        formula: words("mean of 1/rank"),
        usual: Some("mrr"),
        value: |_, rows, _| mean(rows, OfQuery::ReciprocalRank),
        ..QUERY
    },
    Entry {
        name: "gap(fpr)",
        form: " or gap(fpr@A)",
        about: words(
            "largest difference of the false-positive rate between two groups over all thresholds, ± what 95 of 100 samples of groups that do not \
                differ stay below; with A at the lowest threshold with a false-positive rate of at most A over all groups",
        ),
        formula: words("max_{a,b} sup_τ |FPR_a(τ) − FPR_b(τ)|"),
        usual: Some("gap(fpr)"),
        value: |metric, rows, memory| gap(metric, rows, memory, Rate::Fpr),
        ..GAP
    },
    Entry {
        name: "gap(tpr)",
        form: " or gap(tpr@A)",
        about: words("the same of the true-positive rate"),
        formula: words("max_{a,b} sup_τ |TPR_a(τ) − TPR_b(τ)|"),
        usual: Some("gap(tpr)"),
        value: |metric, rows, memory| gap(metric, rows, memory, Rate::Tpr),
        ..GAP
    },
    Entry {
        name: "worst-auroc",
        about: words("least AUROC within a group"),
        formula: words("min_g AUROC of g"),
        value: |_, rows, memory| group(least(groups(rows, memory, 0.0)?.iter().map(|group| group.auroc))),
        ..GROUP
    },
    Entry {
        name: "worst-accuracy",
        form: "[:T]",
        limits: "a threshold, which is 0 without",
        about: words("least accuracy of a group"),
        formula: words("min_g accuracy of g"),
        fits: |a| matches!(a.numbers(), Some([] | [_])),
        value: |metric, rows, memory| {
            let at = metric.numbers().first().copied().unwrap_or(0.0);
            group(least(groups(rows, memory, at)?.iter().map(|group| group.counts.accuracy())))
        },
        ..GROUP
    },
    Entry {
        name: "worst-loss",
        about: words("largest mean logistic loss of a group"),
        formula: words("max_g mean ln(1 + e^(∓s)) of g"),
        range: "0 and more",
        value: |_, rows, memory| group(largest(groups(rows, memory, 0.0)?.iter().map(|group| group.loss))),
        ..GROUP
    },
    Entry {
        name: "cvar",
        form: ":SHARE",
        limits: "0 < SHARE <= 1",
        about: words("mean of that loss over the worst share of the groups"),
        formula: words("mean of the largest losses of groups"),
        range: "0 and more",
        fits: |a| unit(a) && a.numbers() != Some(&[0.0]),
        value: |metric, rows, memory| {
            let losses: Vec<f64> = groups(rows, memory, 0.0)?.iter().filter_map(|group| group.loss).collect();
            let mut room = vec![0.0; cvar_need(losses.len()).f64];
            let scratch = Scratch::<f64> { f64: &mut room, ..Scratch::default() };
            number(cvar(&losses, metric.number(), scratch)?)
        },
        ..GROUP
    },
];
