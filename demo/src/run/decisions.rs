//! Decisions of a run: what errors cost, the rows to choose on, the model that is kept, the threshold and the probabilities.

use crate::args::decide::{DecisionPlan, Keep, Valid, costs_at};
use crate::args::layout::Layout;
use crate::error::Result;
use crate::input;
use std::path::Path;
use std::sync::Arc;
use undercurve::Real;
use undercurve::data::{Dataset, Preparation, Split, Targets};
use undercurve::decision::{Calibrate, ThresholdRule};
use undercurve::metric::{Costs, Metrics};
use undercurve::trainer::{Best, Config, Length, Trainer};

/// How the threshold is chosen, where one was asked for, and what turns scores into probabilities.
pub type Rule = (Option<ThresholdRule>, Option<Calibrate>);

/// What errors cost on these rows.
pub fn costs<T: Real>(plan: &DecisionPlan, train: &Dataset<T>) -> Result<Option<Costs>> {
    let Some(costs) = plan.costs else { return Ok(None) };
    let sums = train.class_weight_sums();
    let share = plan.prevalence.unwrap_or_else(|| sums.get(1).map_or(0.0, |sum| sum / (sums[0] + sum)));
    costs_at(costs, share).map(Some)
}

/// The rule of the threshold, and how scores become probabilities: as said, else as in the run that is resumed, else by costs, where these
/// were said, and as usual.
pub fn rule<T: Real>(
    plan: &DecisionPlan,
    trainer: &Trainer<T>,
    valid: bool,
    costs: Option<Costs>,
    saved: Option<(Option<ThresholdRule>, Option<Calibrate>)>,
) -> Rule {
    let rule = plan.threshold.or(saved.and_then(|saved| saved.0)).or(costs.map(ThresholdRule::of_costs));
    let two = matches!(trainer.train_data().targets(), Targets::Binary(_));
    let fitted = || (two && valid && !trainer.predictor().fits_probabilities()).then_some(Calibrate::Platt);
    (rule, plan.calibrate.or(saved.map(|saved| saved.1)).unwrap_or_else(fitted))
}

/// What keeps the best model of a run.
pub fn best<T: Real>(plan: &DecisionPlan, trainer: &Trainer<T>, valid: Arc<Dataset<T>>) -> Result<Best<T>> {
    let metric = plan.metric.as_deref().unwrap_or(trainer.own_metric());
    let best = Best::new(trainer, valid, metric, plan.patience)?;
    Ok(if plan.keep == Some(Keep::Last) { best.keeping_the_last() } else { best })
}

/// The validation rows: a share of `train`, which loses them, or those of a file.
pub fn validation<T: Real>(
    valid: Option<&Valid>,
    data: &Path,
    layout: Layout,
    seed: u64,
    preparation: &Preparation,
    train: &mut Dataset<T>,
) -> Result<Option<Dataset<T>>> {
    let (rows, name) = match valid {
        None => return Ok(None),
        Some(Valid::Share(share)) => {
            let [rest, rows] = held_out(train, *share, seed, &data.display().to_string())?;
            *train = rest;
            (rows, format!("{} (validation rows)", data.display()))
        }
        Some(Valid::File(path)) => {
            let table = input::table_again(path, layout, preparation)?;
            (preparation.apply::<T>(table)?, path.display().to_string())
        }
    };
    rows.require_every_class(&name)?;
    Ok(Some(rows))
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
