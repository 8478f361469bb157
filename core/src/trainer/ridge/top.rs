//! The top of the list: cross-entropy, or one of two methods of the partial AUC, whichever is best on held-out rows.
//!
//! A partial AUC over [0, k] with a small k is what "the first hundred alerts" ask for. `pauc-threshold` and `pauc-exact`, both from cross-entropy, gain much
//! of it where a line cannot separate the classes, and lose as much where positives are few: their objective then falls on the training rows alone. So
//! [`top`] trains all three outside each of five folds (three from 20,000 rows on), by class or by whole groups, and takes the best mean partial
//! AUC of the rows held out, but cross-entropy unless the gain is more than its standard error over the folds. Polishing the result of
//! `pauc-threshold` by `pauc-exact` changed nothing beyond noise, and is left out. Cost: as many runs of each as there are folds. A network
//! is trained by cross-entropy: over 20 tables the choice lost it .002, .055 on one (tests/results/front.md).

use super::super::Trainer;
use super::super::config::{Config, ModelSpec, TrainerError};
use super::folds;
use crate::data::Dataset;
use crate::real::Real;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The methods of the partial AUC that are tried beside cross-entropy.
pub const TOP_METHODS: [&str; 2] = ["pauc-threshold", "pauc-exact"];

/// Rows from which on there are three folds.
const FEWER: usize = 20_000;

/// A method, and its partial AUC on the rows of each fold.
#[derive(Clone, Debug, PartialEq)]
pub struct TopPoint {
    /// Its name.
    pub method: &'static str,
    /// By fold.
    pub pauc: Vec<f64>,
}

impl TopPoint {
    /// How far it is ahead in the mean, and the standard error of that.
    #[must_use]
    pub fn ahead(&self, other: &Self) -> (f64, f64) {
        let k = self.pauc.len() as f64;
        let apart = || self.pauc.iter().zip(&other.pauc).map(|(ours, theirs)| ours - theirs);
        let mean = apart().sum::<f64>() / k;
        let square: f64 = apart().map(|gain| (gain - mean) * (gain - mean)).sum();
        (mean, crate::Real::sqrt(square / (k * (k - 1.0))))
    }
}

/// This configuration with the method that is best over its range of false-positive rates, and what each came to, cross-entropy first;
/// nothing where there are no folds: of networks, and of fewer rows of a class than these.
///
/// ```
/// use std::sync::Arc;
/// use undercurve::data::Dataset;
/// use undercurve::trainer::{Config, top};
///
/// let x = (0..400).map(|k| ((k * k) as f32).sin() + if k % 20 == 0 { 1.5 } else { 0.0 }).collect();
/// let y = (0..200).map(|row| u8::from(row % 10 == 0)).collect();
/// let data = Arc::new(Dataset::dense(x, y, 2)?);
/// let (config, tried) = top(&Config { fpr: (0.0, 0.1), ..Config::default() }, &data)?;
/// assert_eq!(tried[0].method, "ce-exact");
/// assert!(tried.iter().any(|point| point.method == config.method));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As trainings by cross-entropy; the other methods are left out where they cannot be trained.
pub fn top<T: Real>(config: &Config, train: &Arc<Dataset<T>>) -> Result<(Config, Vec<TopPoint>), TrainerError> {
    let linear = config.model == ModelSpec::Linear;
    let base = if linear { "ce-exact" } else { "ce" };
    let of = |method: &str| Config { method: method.to_string(), ..config.clone() };
    let count = if train.len() < FEWER { 5 } else { 3 };
    let mut points = Vec::from([TopPoint { method: base, pauc: Vec::new() }]);
    points.extend(TOP_METHODS.map(|method| TopPoint { method, pauc: Vec::new() }));
    let split = if linear { folds(train, train.weights(), count, config.seed, 0) } else { None };
    let Some((fold_of, count)) = split else {
        points.truncate(1);
        return Ok((of(base), points));
    };
    for fold in 0..count as u32 {
        let rows = |held: bool| -> Vec<u32> {
            (0..train.len() as u32).filter(|&row| (fold_of[row as usize] == fold) == held).collect()
        };
        let (outside, held) = (Arc::new(train.select(&rows(false))?), train.select(&rows(true))?);
        for point in &mut points {
            let pauc = pauc(&of(point.method), &outside, &held);
            match pauc {
                Ok(value) => point.pauc.push(value),
                Err(error) if point.method == base => return Err(error),
                Err(_) => {}
            }
        }
    }
    points.retain(|point| point.pauc.len() == count);
    let mut best = 0;
    for at in 1..points.len() {
        let (gain, error) = points[at].ahead(&points[0]);
        if gain > error && points[at].ahead(&points[best]).0 > 0.0 {
            best = at;
        }
    }
    Ok((of(points[best].method), points))
}

fn pauc<T: Real>(config: &Config, train: &Arc<Dataset<T>>, held: &Dataset<T>) -> Result<f64, TrainerError> {
    let mut trainer = Trainer::new(config, train.clone(), None)?;
    while trainer.step()?.is_some() {}
    Ok(trainer.evaluate(held)?.get("pauc").unwrap_or(0.0))
}
