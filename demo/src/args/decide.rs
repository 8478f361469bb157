//! Options of `train` about decisions: what errors cost, rows to choose the model and its threshold on and how, which step is
//! kept.

use crate::args::{Word, words};
use crate::error::{CliError, Result};
use std::path::PathBuf;
use undercurve::Real;
use undercurve::decision::{Calibrate, ThresholdRule};
use undercurve::metric::Costs;
use undercurve::trainer::Best;

/// `--valid`.
#[derive(Clone, Debug, PartialEq)]
pub enum Valid {
    /// A share of the training rows.
    Share(f64),
    /// A file of its own.
    File(PathBuf),
}

impl Valid {
    fn share(&self) -> Option<f64> {
        match self {
            Self::Share(share) => Some(*share),
            Self::File(_) => None,
        }
    }
}

fn valid(text: &str) -> std::result::Result<Valid, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(Valid::Share(share)),
        Ok(_) => Err("expected a share above 0 and below 1, or a file".to_string()),
        Err(_) => Ok(Valid::File(text.into())),
    }
}

/// `--keep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Best,
    Last,
}

/// Its words.
const KEEP: &[Word<Keep>] = &[
    ("best", "The model of the step that was best on the validation rows", Keep::Best),
    ("last", "That of the last step", Keep::Last),
];

/// `--threshold`, for clap.
pub fn rule(text: &str) -> std::result::Result<ThresholdRule, String> {
    text.parse().map_err(|_| format!("expected {}", ThresholdRule::FORMS))
}

/// `--calibrate`; `None` where scores only rank.
pub type How = Option<Calibrate>;
/// Its words.
pub const CALIBRATE: &[Word<How>] = &[
    ("none", "Scores only rank, but for methods that fit probabilities themselves", None),
    ("platt", "A logistic curve", Some(Calibrate::Platt)),
    ("isotonic", "An increasing function, for a thousand rows of each class and more", Some(Calibrate::Isotonic)),
    ("beta", "A curve with a slope towards each side", Some(Calibrate::Beta)),
    ("auto", "Which of these has the least log loss on rows that it was not fitted to", Some(Calibrate::Auto)),
];

/// The options.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct DecisionArgs {
    /// Cost of a false positive, in any unit. With --cost-fn it sets the range of false-positive rates (--fpr), which the first
    /// lines of the run print, and the threshold of least cost is chosen
    #[arg(long, value_name = "COST", requires = "cost_fn", conflicts_with = "fpr", allow_negative_numbers = true)]
    cost_fp: Option<f64>,
    /// Cost of a false negative
    #[arg(long, value_name = "COST", requires = "cost_fp", allow_negative_numbers = true)]
    cost_fn: Option<f64>,
    /// Share of positives where the model will be used [default: that of the training rows]
    #[arg(long, value_name = "SHARE", requires = "cost_fp", allow_negative_numbers = true)]
    prevalence: Option<f64>,
    /// How the threshold is chosen, on the validation rows or else on the training rows: fpr<=A, precision>=P, recall>=R, alerts<=K
    /// or alerts<=S% (of these rows), youden, f1, mcc, costs:FP:FN[:SHARE], or a score [default: none; with --cost-fp the cheapest]
    #[arg(long, value_name = "RULE", value_parser = rule, conflicts_with = "cost_fp", allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// Calibration of scores to probabilities, fitted on the same rows: none, platt (a logistic curve), isotonic (any increasing
    /// function, for a thousand rows of each class and more), beta (a curve with two slopes) or auto (the best of these on rows held out) [default: platt where there are validation rows and the method fits
    /// no probabilities itself]
    #[arg(long, value_name = "HOW", hide_possible_values = true, value_parser = words(CALIBRATE))]
    calibrate: Option<How>,
    /// Rows to choose the model's step and its threshold on: a share of the training rows, drawn by class, or a file
    #[arg(long, value_name = "SHARE|FILE", value_parser = valid, allow_negative_numbers = true)]
    valid: Option<Valid>,
    /// Which model of the run is kept: best, of about twenty measured on the validation rows (under constraints, the one that
    /// exceeds its bounds least on training and validation rows together; of those within them, the best), or last [default: best; last
    /// where --threshold promises]
    #[arg(long, value_name = "WHICH", requires = "valid", hide_possible_values = true, value_parser = words(KEEP))]
    keep: Option<Keep>,
    /// What best means: auroc, ap or pauc (cvar where the worst groups' loss is minimised); of several classes hand-till, auroc, ap or accuracy; of numbers rmse, mae or r2
    /// [default: what the method trains for]
    #[arg(long, value_name = "NAME", requires = "valid")]
    metric: Option<String>,
    /// End the run after this many measurements (one every twentieth of the method's own steps) without a better model
    #[arg(long, value_name = "N", requires = "valid")]
    patience: Option<u64>,
}

/// What is to be decided.
#[derive(Clone, Debug, Default)]
pub struct DecisionPlan {
    /// What a false positive and a false negative cost.
    pub costs: Option<[f64; 2]>,
    pub prevalence: Option<f64>,
    pub threshold: Option<ThresholdRule>,
    pub calibrate: Option<How>,
    pub valid: Option<Valid>,
    pub keep: Option<Keep>,
    pub metric: Option<String>,
    pub patience: Option<u64>,
}

impl DecisionArgs {
    /// The share that is held out for validation.
    pub fn valid_share(&self) -> Option<f64> {
        self.valid.as_ref().and_then(Valid::share)
    }

    pub fn check(self) -> Result<DecisionPlan> {
        let Self { prevalence, threshold, calibrate, valid, keep, metric, patience, .. } = self;
        let costs = self.cost_fp.zip(self.cost_fn).map(|(positive, negative)| [positive, negative]);
        if let Some(costs) = costs {
            costs_at(costs, prevalence.unwrap_or(0.5))?;
        }
        let mut keep = keep;
        if let Some(rule @ ThresholdRule::Promised(_)) = threshold {
            // What the rows have chosen before, they cannot promise.
            if valid.is_none() || keep == Some(Keep::Best) || patience.is_some() {
                return Err(CliError::input(format!(
                    "--threshold {rule}: a promise needs rows that chose nothing else: --valid without --keep best and --patience, or `undercurve decide` on other rows"
                )));
            }
            keep = Some(Keep::Last);
        }
        Ok(DecisionPlan { costs, prevalence, threshold, calibrate, valid, keep, metric, patience })
    }
}

/// What errors cost where this share of rows is positive.
pub fn costs_at([positive, negative]: [f64; 2], share: f64) -> Result<Costs> {
    Costs::new(positive, negative, share).map_err(|_| {
        CliError::input("--cost-fp, --cost-fn: expected more than 0; --prevalence: a share above 0 and below 1")
    })
}

impl DecisionPlan {
    /// The share that is held out for validation.
    pub fn valid_share(&self) -> Option<f64> {
        self.valid.as_ref().and_then(Valid::share)
    }

    /// An option that is given, of those that are for two classes.
    pub fn of_two_classes(&self) -> Option<&'static str> {
        let calibrate = self.calibrate.is_some_and(|how| how.is_some());
        self.threshold.map(|_| "--threshold").or(calibrate.then_some("--calibrate"))
    }

    /// What is said otherwise of a saved run with this share of validation rows and these costs.
    pub fn differs(&self, share: Option<f64>, costs: Option<Costs>) -> Option<&'static str> {
        let other = self.valid_share().is_some() && self.valid_share() != share;
        if other || share.is_some() && matches!(self.valid, Some(Valid::File(_))) {
            return Some("share of validation rows (--valid)");
        }
        let given = self.costs.is_some_and(|[positive, negative]| {
            costs.is_none_or(|costs| (costs.false_positive(), costs.false_negative()) != (positive, negative))
        });
        let prevalence = self.prevalence.is_some() && self.prevalence != costs.map(Costs::prevalence);
        (given || prevalence).then_some("costs of errors (--cost-fp, --cost-fn, --prevalence)")
    }

    /// What is said otherwise of what a saved run keeps.
    pub fn differs_of<T: Real>(&self, best: &Best<T>) -> Option<&'static str> {
        if self.metric.as_ref().is_some_and(|metric| metric != best.metric()) {
            return Some("metric to keep a model by (--metric)");
        }
        if self.patience.is_some_and(|patience| Some(patience) != best.patience()) {
            return Some("patience");
        }
        let keep = self.keep.is_some_and(|keep| (keep == Keep::Best) != best.keeps_the_best());
        keep.then_some("choice of what is kept (--keep)")
    }
}
