//! Metrics by name, as `--metric` takes them.

use crate::args::method;
use crate::tell::by_group::OfGroups;
use crate::tell::text::likely;
use undercurve::expression::Quantity;
use undercurve::metric::{Confusion, OfQuery, Top};

/// What `--metric` understands, for help texts.
pub const HELP: &str = "\
Metrics:
  auroc                   area under the ROC curve
  ap                      average precision
  pauc[:LO:HI]            partial AUC over a false-positive range, divided by its width
  mcclish[:LO]:HI         partial AUC over 0:HI or LO:HI, standardised after McClish (chance 1/2, perfection 1)
  pauc2:TPR[:LO]:HI       two-way partial AUC: true-positive rates from TPR up, false-positive rates 0:HI or LO:HI
  fpr[:THRESHOLD]         false-positive rate where scores from THRESHOLD up predict the positive class; without a number from
                          the model's threshold, or that of --threshold
  tpr, precision, accuracy, f1, mcc[:THRESHOLD]  true-positive rate (recall), share of positives among what is predicted
                          positive, share of right predictions, harmonic mean of precision and recall, correlation of
                          prediction and label; likewise
  precision-at-recall:R   highest precision at a recall of at least R
  recall-at-precision:P   highest recall at a precision of at least P
  precision-at:K          share of positives among the K highest scores, or the share K% of all; of scores tied at the end the
                          mean over their orders
  recall-at:K, lift-at:K  share of all positives among them; the precision as a multiple of the share of positives
  log-loss, brier, ece    how good probabilities are: mean -ln of that of what is, mean squared difference, and how far ten
                          groups of equal size are from what they say. Of a model's probabilities, or of scores from 0 to 1
auroc, ap, pauc, mcclish, precision-at and recall-at come with 95 % intervals, also of rows with weights (--weight) or in clusters
(--cluster).
Metrics of queries (--query), each by itself, and the mean over those with something to find:
  map                     average precision
  ndcg[:K]                normalised discounted cumulative gain of the first K rows, with gains 2^label - 1 where labels are more
                          than two numbers from 0 to 100, else 1 and 0
  mrr                     1 over the rank of the first positive
Metrics of groups (--group), the worst pair or group:
  gap(tpr), gap(fpr)      largest difference of a rate between two groups over all thresholds, ± what 95 of 100 samples of
                          groups that do not differ stay below
  gap(tpr@A), gap(fpr@A)  the same at the lowest threshold with a false-positive rate of at most A over all groups
  worst-auroc             least AUROC within a group
  worst-accuracy[:T]      least accuracy of a group
  worst-loss              largest mean logistic loss of a group
  cvar:SHARE              mean of that loss over the worst share of the groups";

/// One metric with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// As written.
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Auroc,
    Ap,
    Pauc(Option<(f64, f64)>),
    McClish((f64, f64)),
    TwoWay(f64, (f64, f64)),
    /// At a threshold, or that of the model.
    At(Rate, Option<f64>),
    Top(OfTop, Top),
    Probable(OfProbabilities),
    Query(OfQuery),
    PrecisionAtRecall(f64),
    RecallAtPrecision(f64),
    OfGroups(OfGroups),
}

/// What a threshold comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    Fpr,
    Tpr,
    Precision,
    Accuracy,
    F1,
    Mcc,
}

impl Rate {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "fpr" => Self::Fpr,
            "tpr" => Self::Tpr,
            "precision" => Self::Precision,
            "accuracy" => Self::Accuracy,
            "f1" => Self::F1,
            "mcc" => Self::Mcc,
            _ => return None,
        })
    }

    /// None where there are no rows to tell it from.
    pub fn of(self, counts: Confusion<f64>) -> Option<f64> {
        match self {
            Self::Fpr => counts.fpr(),
            Self::Tpr => counts.tpr(),
            Self::Precision => counts.precision(),
            Self::Accuracy => counts.accuracy(),
            Self::F1 => counts.f1(),
            Self::Mcc => counts.mcc(),
        }
    }
}

/// What is told of the highest scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfTop {
    Precision,
    Recall,
    Lift,
}

/// What is told of probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfProbabilities {
    LogLoss,
    Brier,
    Error,
}

/// Names that numbers may follow, and what those have to be.
const LIMITS: &[(&str, &str)] = &[
    ("auroc", ""),
    ("ap", ""),
    ("pauc", " with 0 <= LO < HI <= 1"),
    ("mcclish", " with 0 <= LO < HI <= 1"),
    ("pauc2", " with 0 <= TPR < 1 and 0 <= LO < HI <= 1"),
    ("map", ""),
    ("mrr", ""),
    ("ndcg", " with a whole number of rows"),
    ("log-loss", ""),
    ("brier", ""),
    ("ece", ""),
    ("precision-at-recall", " with values from 0 to 1"),
    ("recall-at-precision", " with values from 0 to 1"),
    ("worst-loss", ""),
    ("worst-auroc", ""),
    ("worst-accuracy", ""),
    ("cvar", " with 0 < SHARE <= 1"),
];

/// A metric from its name, for clap.
pub fn parse(text: &str) -> Result<Metric, String> {
    let text = text.trim();
    if text.contains('(') {
        return gap(text).map(|(name, kind)| Metric { name, kind });
    }
    let (name, numbers) = text.find(':').map_or((text, ""), |at| text.split_at(at));
    let plain = method::plain(name);
    let known = ALIASES.iter().find(|(alias, _)| *alias == plain).map_or(&*plain, |(_, known)| known);
    let name = format!("{known}{numbers}");
    let kind = kind(&name)?;
    Ok(Metric { name, kind })
}

/// Other names of metrics, as papers and other libraries have them.
const ALIASES: &[(&str, &str)] = &[
    ("auc", "auroc"),
    ("roc-auc", "auroc"),
    ("roc-auc-score", "auroc"),
    ("average-precision", "ap"),
    ("average-precision-score", "ap"),
    ("auprc", "ap"),
    ("aucpr", "ap"),
    ("pr-auc", "ap"),
    ("prauc", "ap"),
    ("partial-auc", "pauc"),
    ("recall", "tpr"),
    ("sensitivity", "tpr"),
    ("acc", "accuracy"),
    ("logloss", "log-loss"),
    ("brier-score", "brier"),
];

const NAMES: &[&str] = &[
    "auroc",
    "ap",
    "pauc",
    "mcclish",
    "pauc2",
    "fpr",
    "tpr",
    "precision",
    "accuracy",
    "f1",
    "mcc",
    "precision-at-recall",
    "recall-at-precision",
    "precision-at",
    "recall-at",
    "lift-at",
    "log-loss",
    "brier",
    "ece",
    "map",
    "ndcg",
    "mrr",
    "gap(tpr)",
    "gap(fpr)",
    "worst-auroc",
    "worst-accuracy",
    "worst-loss",
    "cvar",
];

fn gap(text: &str) -> Result<(String, Kind), String> {
    match Quantity::parse(text) {
        Ok(quantity @ Quantity::Gap { rate, fpr }) => {
            Ok((quantity.to_string(), Kind::OfGroups(OfGroups::Gap(rate, fpr))))
        }
        Ok(_) => Err("expected gap(tpr), gap(fpr), gap(tpr@A) or gap(fpr@A)".to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let top = [("precision-at", OfTop::Precision), ("recall-at", OfTop::Recall), ("lift-at", OfTop::Lift)];
    if let Some((name, of)) = top.into_iter().find(|(other, _)| *other == name) {
        let rows = text[name.len()..].strip_prefix(':').and_then(|rows| rows.parse().ok());
        let rows = rows.ok_or_else(|| format!("expected {name}:K, or {name}:K% with a share of the rows"))?;
        return Ok(Kind::Top(of, rows));
    }
    let numbers: Vec<f64> = parts
        .map(|part| part.parse().ok().filter(|x: &f64| x.is_finite()))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{text}: expected numbers after {name}"))?;
    if let Some(rate) = Rate::named(name) {
        return match numbers.as_slice() {
            [] => Ok(Kind::At(rate, None)),
            &[threshold] => Ok(Kind::At(rate, Some(threshold))),
            _ => Err(format!("expected {name} or {name}:THRESHOLD")),
        };
    }
    of_numbers(name, &numbers).ok_or_else(|| match LIMITS.iter().find(|(known, _)| *known == name) {
        Some((_, limits)) => {
            let mut forms = HELP.lines().filter_map(|line| line.split_whitespace().next());
            let form = forms.find(|form| form.split([':', '[']).next() == Some(name)).unwrap_or(name);
            format!("expected {form}{limits}")
        }
        None => match likely(name, NAMES) {
            Some(known) => format!("no metric \"{name}\"; did you mean {known}? There are {}", NAMES.join(", ")),
            None => format!("no metric \"{name}\"; there are {}", NAMES.join(", ")),
        },
    })
}

/// A metric of a name and numbers that fit it.
fn of_numbers(name: &str, numbers: &[f64]) -> Option<Kind> {
    let unit = |x: f64| (0.0..=1.0).contains(&x);
    let range = |low: f64, high: f64| 0.0 <= low && low < high && high <= 1.0;
    let floor = |tpr: f64| (0.0..1.0).contains(&tpr);
    Some(match (name, numbers) {
        ("auroc", []) => Kind::Auroc,
        ("ap", []) => Kind::Ap,
        ("pauc", []) => Kind::Pauc(None),
        ("pauc", &[low, high]) if range(low, high) => Kind::Pauc(Some((low, high))),
        ("mcclish", &[high]) if range(0.0, high) => Kind::McClish((0.0, high)),
        ("mcclish", &[low, high]) if range(low, high) => Kind::McClish((low, high)),
        ("pauc2", &[tpr, high]) if floor(tpr) && range(0.0, high) => Kind::TwoWay(tpr, (0.0, high)),
        ("pauc2", &[tpr, low, high]) if floor(tpr) && range(low, high) => Kind::TwoWay(tpr, (low, high)),
        ("map", []) => Kind::Query(OfQuery::AveragePrecision),
        ("mrr", []) => Kind::Query(OfQuery::ReciprocalRank),
        ("ndcg", []) => Kind::Query(OfQuery::Ndcg(None)),
        ("ndcg", &[rows]) if rows >= 1.0 && rows.fract() == 0.0 => Kind::Query(OfQuery::Ndcg(Some(rows as u64))),
        ("log-loss", []) => Kind::Probable(OfProbabilities::LogLoss),
        ("brier", []) => Kind::Probable(OfProbabilities::Brier),
        ("ece", []) => Kind::Probable(OfProbabilities::Error),
        ("precision-at-recall", &[recall]) if unit(recall) => Kind::PrecisionAtRecall(recall),
        ("recall-at-precision", &[precision]) if unit(precision) => Kind::RecallAtPrecision(precision),
        ("worst-loss", []) => Kind::OfGroups(OfGroups::WorstLoss),
        ("worst-auroc", []) => Kind::OfGroups(OfGroups::WorstAuroc),
        ("worst-accuracy", []) => Kind::OfGroups(OfGroups::WorstAccuracy(0.0)),
        ("worst-accuracy", &[threshold]) => Kind::OfGroups(OfGroups::WorstAccuracy(threshold)),
        ("cvar", &[share]) if share > 0.0 && share <= 1.0 => Kind::OfGroups(OfGroups::Cvar(share)),
        _ => return None,
    })
}

/// The metrics of a report: of a model that has a threshold its rates, too, of one that has probabilities how good they are, and
/// of queries their means, of groups their gaps.
pub fn usual(threshold: bool, probabilities: bool, queries: bool, groups: bool) -> Vec<Metric> {
    let rates: &[&str] = if threshold { &["accuracy", "fpr", "tpr", "precision"] } else { &[] };
    let sure: &[&str] = if probabilities { &["log-loss", "brier", "ece"] } else { &[] };
    let asked: &[&str] = if queries { &["map", "ndcg:10", "mrr"] } else { &[] };
    let gaps: &[&str] = if groups { &["gap(fpr)", "gap(tpr)"] } else { &[] };
    let names = ["auroc", "ap", "pauc"];
    names.iter().chain(rates).chain(sure).chain(asked).chain(gaps).filter_map(|name| parse(name).ok()).collect()
}
