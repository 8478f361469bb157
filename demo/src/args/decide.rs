//! Options of `train` about decisions: what errors cost, rows to choose the model and its threshold on and how, which step is
//! kept.

use crate::args::data::LayoutArgs;
use crate::error::{CliError, Result};
use crate::input;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undercurve::Real;
use undercurve::data::{Dataset, Preparation, Split, Targets};
use undercurve::decision::{Calibrate, ThresholdRule};
use undercurve::metric::{Costs, Metrics};
use undercurve::trainer::{Best, Config, Length, Trainer};

/// `--valid`.
#[derive(Clone, Debug, PartialEq)]
pub enum Valid {
    /// A share of the training rows.
    Share(f64),
    /// A file of its own.
    File(PathBuf),
}

fn valid(text: &str) -> std::result::Result<Valid, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(Valid::Share(share)),
        Ok(_) => Err("expected a share above 0 and below 1, or a file".to_string()),
        Err(_) => Ok(Valid::File(text.into())),
    }
}

/// `--keep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// The model of the step that was best on the validation rows
    Best,
    /// That of the last step
    Last,
}

/// `--threshold`, for clap.
///
/// # Errors
/// What there is.
pub fn rule(text: &str) -> std::result::Result<ThresholdRule, String> {
    text.parse().map_err(|_| format!("expected {}", ThresholdRule::FORMS))
}

/// `--calibrate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CalibrateArg {
    /// Scores only rank, but for methods that fit probabilities themselves
    None,
    /// A logistic curve
    Platt,
    /// An increasing function, for a thousand rows of each class and more
    Isotonic,
}

impl CalibrateArg {
    /// In the core's words.
    pub fn calibrate(self) -> Option<Calibrate> {
        match self {
            Self::None => None,
            Self::Platt => Some(Calibrate::Platt),
            Self::Isotonic => Some(Calibrate::Isotonic),
        }
    }
}

/// The options.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Decisions")]
pub struct DecisionArgs {
    /// What a false positive costs, in any unit; with --cost-fn it stands for a range of false-positive rates (--fpr),
    /// which the first lines of the run name, and the threshold is the cheapest one
    #[arg(long, value_name = "COST", requires = "cost_fn", conflicts_with = "fpr", allow_negative_numbers = true)]
    cost_fp: Option<f64>,
    /// What a false negative costs
    #[arg(long, value_name = "COST", requires = "cost_fp", allow_negative_numbers = true)]
    cost_fn: Option<f64>,
    /// Share of positives where the model will be used [default: that of the training rows]
    #[arg(long, value_name = "SHARE", requires = "cost_fp", allow_negative_numbers = true)]
    prevalence: Option<f64>,
    /// How the threshold is chosen, on the validation rows or else on the training rows: fpr<=A, precision>=P, recall>=R, top:K
    /// or top:S% (at most so many of these rows reach it: a budget of alerts), costs:FP:FN[:SHARE], or a score
    /// [default: fpr<=HI, the upper end of --fpr; with --cost-fp the cheapest]
    #[arg(long, value_name = "RULE", value_parser = rule, conflicts_with = "cost_fp", allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// What turns scores into probabilities, fitted on the same rows: none, platt (a logistic curve) or isotonic (any increasing
    /// function, for a thousand rows of each class and more) [default: platt where there are validation rows and the method fits
    /// no probabilities itself]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    calibrate: Option<CalibrateArg>,
    /// Rows to choose the model's step and its threshold on: a share of the training rows, drawn by class, or a file
    #[arg(long, value_name = "SHARE|FILE", value_parser = valid, allow_negative_numbers = true)]
    valid: Option<Valid>,
    /// Which model of the run is kept: best, of some twenty looks at the validation rows (under constraints that which
    /// passes their bounds least on training and validation rows together, and of those that keep them the best), or last [default: best]
    #[arg(long, value_name = "WHICH", requires = "valid", hide_possible_values = true)]
    keep: Option<Keep>,
    /// What best means: auroc, ap or pauc (cvar where the worst groups' loss is minimised); of several classes hand-till, auroc, ap or accuracy; of numbers rmse, mae or r2
    /// [default: what the method trains for]
    #[arg(long, value_name = "NAME", requires = "valid")]
    metric: Option<String>,
    /// End the run after so many looks (after every twentieth of the method's own steps) without a better model
    #[arg(long, value_name = "LOOKS", requires = "valid")]
    patience: Option<u64>,
}

impl DecisionArgs {
    /// The share that is held out for validation.
    pub fn valid_share(&self) -> Option<f64> {
        match self.valid {
            Some(Valid::Share(share)) => Some(share),
            _ => None,
        }
    }

    /// Whether there are to be validation rows.
    pub fn has_validation(&self) -> bool {
        self.valid.is_some()
    }

    /// Whether errors cost something.
    pub fn has_costs(&self) -> bool {
        self.cost_fp.is_some()
    }

    /// The rule of the threshold, and how scores become probabilities, if they do: as said, else as in the run that is
    /// resumed, else as usual.
    pub fn decisions<T: Real>(
        &self,
        trainer: &Trainer<T>,
        valid: bool,
        costs: Option<Costs>,
        saved: Option<(Option<ThresholdRule>, Option<Calibrate>)>,
    ) -> (ThresholdRule, Option<Calibrate>) {
        let usual = || costs.map_or(ThresholdRule::Fpr(trainer.config().fpr.1), ThresholdRule::of_costs);
        let rule = self.threshold.or(saved.and_then(|saved| saved.0)).unwrap_or_else(usual);
        let two = matches!(trainer.train_data().targets(), Targets::Binary(_));
        let fitted = || (two && valid && !trainer.predictor().fits_probabilities()).then_some(Calibrate::Platt);
        let calibrate = match (self.calibrate, saved) {
            (Some(asked), _) => asked.calibrate(),
            (None, Some(saved)) => saved.1,
            (None, None) => fitted(),
        };
        (rule, calibrate)
    }

    /// An option about decisions that is given, of those that are for two classes.
    pub fn of_two_classes(&self) -> Option<&'static str> {
        let calibrate = self.calibrate.is_some_and(|how| how != CalibrateArg::None);
        self.threshold.map(|_| "--threshold").or(calibrate.then_some("--calibrate"))
    }

    /// What errors cost.
    pub fn costs<T: Real>(&self, train: &Dataset<T>) -> Result<Option<Costs>> {
        let (Some(positive), Some(negative)) = (self.cost_fp, self.cost_fn) else { return Ok(None) };
        let sums = train.class_weight_sums();
        let share = self.prevalence.unwrap_or_else(|| sums.get(1).map_or(0.0, |sum| sum / (sums[0] + sum)));
        match Costs::new(positive, negative, share) {
            Ok(costs) => Ok(Some(costs)),
            Err(_) => Err(CliError::input(
                "--cost-fp, --cost-fn: expected more than 0; --prevalence: a share above 0 and below 1",
            )),
        }
    }

    /// What keeps the best model of a run.
    pub fn best<T: Real>(&self, trainer: &Trainer<T>, valid: Arc<Dataset<T>>) -> Result<Best<T>> {
        let metric = self.metric.as_deref().unwrap_or(trainer.own_metric());
        let best = Best::new(trainer, valid, metric, self.patience)?;
        Ok(if self.keep == Some(Keep::Last) { best.keeping_the_last() } else { best })
    }

    /// What is said otherwise of a saved run with this share of validation rows and these costs.
    pub fn differs(&self, share: Option<f64>, costs: Option<Costs>) -> Option<&'static str> {
        let is = |given: Option<f64>, saved: Option<f64>| given.is_none() || given == saved;
        if self.valid_share().is_some() && self.valid_share() != share {
            return Some("share of validation rows (--valid)");
        }
        if share.is_some() && matches!(self.valid, Some(Valid::File(_))) {
            return Some("share of validation rows (--valid)");
        }
        let same = is(self.cost_fp, costs.map(Costs::false_positive))
            && is(self.cost_fn, costs.map(Costs::false_negative))
            && is(self.prevalence, costs.map(Costs::prevalence));
        (!same).then_some("costs of errors (--cost-fp, --cost-fn, --prevalence)")
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

impl DecisionArgs {
    /// The validation rows: a part of `train`, which loses them, or those of a file.
    pub fn validation<T: Real>(
        &self,
        data: &Path,
        layout: LayoutArgs,
        share: Option<f64>,
        seed: u64,
        preparation: &Preparation,
        train: &mut Dataset<T>,
    ) -> Result<Option<Dataset<T>>> {
        let (valid, path) = match (share, &self.valid) {
            (Some(share), _) => {
                let [rest, valid] = held_out(train, share, seed, &data.display().to_string())?;
                *train = rest;
                (valid, data)
            }
            (None, Some(Valid::File(path))) => {
                let table = input::table_again(path, layout, preparation)?;
                (preparation.apply::<T>(table)?, &**path)
            }
            _ => return Ok(None),
        };
        let of = if share.is_some() { " (validation rows)" } else { "" };
        valid.require_every_class(&format!("{}{of}", path.display()))?;
        Ok(Some(valid))
    }
}

/// The training rows without the share held out for validation, and that share: another draw than that of the test rows.
pub fn held_out<T: Real>(train: &Dataset<T>, share: f64, seed: u64, file: &str) -> Result<[Dataset<T>; 2]> {
    Ok(train.split(Split::new(1.0 - share, !seed), file)?)
}

/// The range of false-positive rates that costs stand for: on the ROC curve of cross-entropy with its defaults, of the
/// validation rows or else of the training rows.
pub fn range_of<T: Real>(
    costs: Costs,
    config: &Config,
    train: &Arc<Dataset<T>>,
    valid: Option<&Arc<Dataset<T>>>,
) -> Result<(f64, f64)> {
    let plain = Config { method: "ce".into(), settings: Vec::new(), length: Length::Method, ..config.clone() };
    let mut trainer = Trainer::new(&plain, train.clone(), None)?;
    while trainer.step()?.is_some() {}
    let on = valid.unwrap_or(train);
    let mut scores = vec![T::ZERO; on.len()];
    trainer.score(on.rows(), &mut scores)?;
    let range = Metrics::new().range_of_costs(&scores, &on.truth(), costs)?;
    Ok((range.low(), range.high()))
}

/// What the first lines of a run say of its costs.
pub fn sentence(costs: Costs, (low, high): (f64, f64)) -> String {
    format!(
        "A false positive costs {}, a false negative {}, a share of {:.4} is positive: lines of equal cost have slope {:.4}. \
         Cross-entropy decides cheapest at false-positive rates of {low} to {high} where costs are known to a factor of two: \
         --fpr {low}:{high}",
        costs.false_positive(),
        costs.false_negative(),
        costs.prevalence(),
        costs.slope()
    )
}
