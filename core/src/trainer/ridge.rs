//! The weight decay of exact cross-entropy by cross-validation.
//!
//! A decay δ beside a mean over n rows is a prior of strength δn, whatever n: outside a fold, where rows are fewer, the decay is greater by as
//! much, as in scikit-learn's `LogisticRegressionCV` (C = 1/(δn)).
//!
//! The rows are cut into folds, by class, or by whole groups where a column says which rows belong together. For each decay of 10^k,
//! from a strong one on, a model is fitted to the rows outside each fold, from where the decay before it led and with what L-BFGS has
//! learned of the curvature ([`Lbfgs::with_decay`](crate::algorithm::Lbfgs)), and its mean cross-entropy on the fold's rows is taken. The path ends behind
//! the first decay whose mean loss is greater than the least so far. The strongest decay is the total curvature of the loss at constant
//! scores, p(1 − p) Σ_j (mean x_j²), with which weights are next to 0; the weakest is that a thousandth of a row's: there a path ends on
//! classes that can be separated. The fits outside folds end where they are as near to their minimum as a thirtieth of what one parameter
//! gains by chance.
//!
//! How the numbers were chosen, and the cost: tests/results/ridge.md. Memory: for each fold a run's, without the rows.

use super::config::{Config, TrainerError, pairs_without};
use super::run::Run;
use super::{BatchRun, Method};
use crate::algorithm::{AnyAlgorithm, COUNTERS, State};
use crate::batch::WEIGHTS;
use crate::data::{Dataset, Rows, group_folds};
use crate::decimal;
use crate::error::{Error, Result};
use crate::host::Passes;
use crate::model::AnyModel;
use crate::real::Real;
use crate::registry::{Auto, Settings};
use crate::rng::Rng;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The settings that say how a decay is chosen.
pub(super) const CHOOSING: [&str; 2] = ["folds", "choose"];

/// The generator's purpose.
const PURPOSE: u64 = 0x7269_6467;

/// What a fit outside a fold leaves to gain, over the number of rows; and the tolerances between which its root lies.
const CLOSE: f64 = 0.1;
const TOLERANCE: [f64; 2] = [1e-3, 1e-2];

/// The weakest decay, as a share of the total curvature over the rows.
const WEAKEST: f64 = 1e-3;

/// A decay on the path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// As the setting has it.
    pub decay: String,
    /// Mean cross-entropy of the rows of all folds, each by the model of the others.
    pub loss: f64,
    /// Its standard error, from the means of the folds; 0 for two folds of which one is empty.
    pub deviation: f64,
}

/// How a weight decay was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The decays that were tried, powers of ten, from the strongest on.
    pub points: Vec<PathPoint>,
    /// The position of the chosen one.
    pub chosen: usize,
    /// The fold of each row; of rows of weight 0 as many as there are folds.
    pub folds: Vec<u32>,
    /// What it cost, in gradients over all rows.
    pub passes: f64,
}

impl Path {
    /// The chosen decay, as the setting has it.
    #[must_use]
    pub fn decay(&self) -> &str {
        &self.points[self.chosen].decay
    }
}

/// What fits models outside folds.
struct Fits<'a, T: Real> {
    data: &'a Dataset<T>,
    weights: &'a [f64],
    folds: Vec<Fold<T>>,
    /// Steps of a fit at most.
    steps: u64,
}

/// A run outside a fold.
struct Fold<T: Real> {
    run: BatchRun<T>,
    rows: Vec<u32>,
    /// So many times the decay beside all rows.
    times: f64,
}

impl<T: Real> Fits<'_, T> {
    /// The mean loss at a decay, and its error.
    fn point(&mut self, exponent: i32) -> Result<PathPoint> {
        let (decay, value) = decay(exponent);
        let (mut sums, mut masses) = (Vec::new(), Vec::new());
        for fold in &mut self.folds {
            fold.run.go_on(fold.times * value, self.steps);
            while fold.run.step(self.data)?.is_some() {}
            let mut scores = vec![T::ZERO; fold.rows.len()];
            fold.run.score_some(self.data, &fold.rows, &mut scores)?;
            let (mut sum, mut mass) = (0.0, 0.0);
            for (&row, score) in fold.rows.iter().zip(&scores) {
                let (score, weight) = (score.f64(), weight(self.weights, row as usize));
                let wrong = if self.data.labels()[row as usize] == 1 { -score } else { score };
                sum += weight * wrong.softplus();
                mass += weight;
            }
            sums.push(sum);
            masses.push(mass);
        }
        let all: f64 = masses.iter().sum();
        let loss = sums.iter().sum::<f64>() / all;
        // Of a mean of means by their shares.
        let k = sums.len() as f64;
        let spread = |(sum, mass): (&f64, &f64)| {
            let apart = (sum - loss * mass) / all;
            apart * apart
        };
        let square: f64 = sums.iter().zip(&masses).map(spread).sum();
        Ok(PathPoint { decay, loss, deviation: crate::Real::sqrt(square * k / (k - 1.0)) })
    }
}

/// 10^k as the setting has it, and its value.
fn decay(exponent: i32) -> (String, f64) {
    let text = format!("1e{exponent}");
    let value = decimal::parse(&text).unwrap_or(0.0);
    (text, value)
}

fn weight(weights: &[f64], row: usize) -> f64 {
    weights.get(row).copied().unwrap_or(1.0)
}

/// The fold of each row with a weight, and how many there are; `None` where there are not two.
fn folds<T: Real>(data: &Dataset<T>, weights: &[f64], wanted: u64, seed: u64) -> Option<(Vec<u32>, usize)> {
    let labels = data.labels();
    let counts = |row: &usize| weights.get(*row).is_none_or(|&weight| weight > 0.0);
    let of = |class: u8| (0..labels.len()).filter(|&row| labels[row] == class).filter(counts).collect::<Vec<usize>>();
    let classes = [of(0), of(1)];
    let count = classes.iter().map(Vec::len).min()?.min(wanted as usize);
    if count < 2 {
        return None;
    }
    let mut fold = vec![count as u32; labels.len()];
    if !data.split_groups().is_empty() {
        let classes: Vec<u32> = labels.iter().map(|&label| label.into()).collect();
        if let Ok(by_group) = group_folds(&classes, data.split_groups(), count, seed) {
            let of = |row: usize| if counts(&row) { by_group[row] } else { count as u32 };
            fold = (0..labels.len()).map(of).collect();
            // (Rows outside a fold must be of both classes.)
            let both = |fold_of: u32| classes.iter().enumerate().any(|(row, &c)| c == 1 && fold[row] != fold_of);
            if (0..count as u32).all(both) {
                return Some((fold, count));
            }
            fold = vec![count as u32; labels.len()];
        }
    }
    let mut rng = Rng::keyed(seed, PURPOSE, 0);
    for mut rows in classes {
        rng.shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = (at % count) as u32);
    }
    Some((fold, count))
}

/// The total curvature of the mean loss at constant scores.
fn curvature<T: Real>(data: &Dataset<T>, weights: &[f64]) -> f64 {
    let square = |x: &T| x.f64() * x.f64();
    let (mut sum, mut all, mut positive) = (0.0, 0.0, 0.0);
    for (row, &label) in data.labels().iter().enumerate() {
        let weight = weight(weights, row);
        let squares: f64 = match data.rows() {
            Rows::Dense { data, cols } => data[row * cols..][..cols].iter().map(square).sum(),
            Rows::Csr { ptr, val, .. } => val[ptr[row]..ptr[row + 1]].iter().map(square).sum(),
        };
        sum += weight * squares;
        all += weight;
        positive += weight * f64::from(label);
    }
    let share = positive / all;
    share * (1.0 - share) * sum / all
}

/// How the decay of a run is chosen: `None` where it is set, or is none that cross-validation chooses, or no two folds can be made, or
/// scores leave the number type, and in builds without weights.
pub(super) fn path<T: Real>(
    method: &'static Method,
    settings: &Settings<'_>,
    config: &Config,
    model: &AnyModel,
    data: &Dataset<T>,
    weights: &[f64],
) -> Result<Option<Path>, TrainerError> {
    // (What is outside a fold is told by weights.)
    if !WEIGHTS {
        return Ok(None);
    }
    match chosen(method, settings, config, model, data, weights) {
        Err(TrainerError::Core(Error::Overflow { .. })) => Ok(None),
        path => path,
    }
}

fn chosen<T: Real>(
    method: &'static Method,
    settings: &Settings<'_>,
    config: &Config,
    model: &AnyModel,
    data: &Dataset<T>,
    weights: &[f64],
) -> Result<Option<Path>, TrainerError> {
    let validated = |name: &str| {
        let param = method.params.iter().find(|param| param.name == name);
        param.is_some_and(|param| matches!(param.auto, Some(Auto::Validated { .. })))
    };
    if !validated("decay") || settings.text("decay") != Some("auto") || settings.scope().network {
        return Ok(None);
    }
    let Some((folds, count)) = folds(data, weights, settings.count("folds")?, config.seed) else { return Ok(None) };
    let total = curvature(data, weights);
    if !(total > 0.0 && total.is_finite()) {
        return Ok(None);
    }
    let rows: f64 = settings.scope().population.into_iter().map(f64::from).sum();
    let exponent = |x: f64| libm::ceil(libm::log10(x)) as i32;
    let (strongest, weakest) = (exponent(total), exponent(WEAKEST * total / rows));

    let (first, _) = decay(strongest);
    let close = crate::Real::sqrt(CLOSE / rows).clamp(TOLERANCE[0], TOLERANCE[1]);
    // (Without the code that prints fractions.)
    let tolerance = format!("{}e-6", libm::rint(1e6 * close));
    let mut pairs = pairs_without(config, &CHOOSING);
    pairs.push(("decay", &first));
    if settings.value("tolerance") < close {
        pairs.push(("tolerance", &tolerance));
    }
    let all: f64 = (0..data.len()).map(|row| weight(weights, row)).sum();
    let mut fits = Fits { data, weights, folds: Vec::new(), steps: 0 };
    for fold in 0..count as u32 {
        let outside: Vec<f64> =
            (0..data.len()).map(|row| if folds[row] == fold { 0.0 } else { weight(weights, row) }).collect();
        let settings = config.settings_of(method, &pairs)?.with_scope(settings.scope());
        let run = BatchRun::of_method(method, settings, config, *model, data, None, &outside)?;
        fits.steps = run.total_steps();
        let rows = (0..data.len() as u32).filter(|&row| folds[row as usize] == fold).collect();
        fits.folds.push(Fold { run, rows, times: all / outside.iter().sum::<f64>() });
    }
    let (mut points, mut best): (Vec<PathPoint>, usize) = (Vec::new(), 0);
    for exponent in (weakest..=strongest).rev() {
        let point = fits.point(exponent)?;
        let worse = points.get(best).is_some_and(|before| point.loss >= before.loss);
        points.push(point);
        if worse {
            break;
        }
        best = points.len() - 1;
    }
    let bound = match settings.text("choose") {
        Some("one-se") => points[best].loss + points[best].deviation,
        _ => points[best].loss,
    };
    let chosen = points.iter().position(|point| point.loss <= bound).unwrap_or(best);
    let drawn: u64 = fits.folds.iter().map(|fold| fold.run.drawn()).sum();
    Ok(Some(Path { points, chosen, folds, passes: drawn as f64 / rows }))
}

impl<T: Real> BatchRun<T> {
    /// Raw scores of some rows.
    fn score_some(&mut self, data: &Dataset<T>, index: &[u32], scores: &mut [T]) -> Result<()> {
        let at = self.host.iterate_at::<T>(&self.sizes, self.steps_done());
        self.passes.forward(&self.host.model, &self.real[at..at + self.sizes.params], data.rows(), index, scores)
    }

    /// A run by L-BFGS that has ended goes on with another decay, for so many steps at most; others stay as they are.
    fn go_on(&mut self, decay: f64, steps: u64) {
        let AnyAlgorithm::Lbfgs(rule) = self.host.algorithm else { return };
        let (points, rest) = self.real.split_at_mut(self.sizes.points);
        let slots = &mut rest[..self.sizes.slots];
        let counters = &mut self.u64[self.sizes.counters_at()..][..COUNTERS];
        self.host.algorithm = AnyAlgorithm::Lbfgs(rule.with_decay(decay, &mut State { points, slots, counters }));
        self.host.steps = self.u64[0].saturating_add(steps);
        self.decay = decay;
    }
}
