//! The weight decay of exact cross-entropy by cross-validation.
//!
//! A decay δ beside a mean over n rows is a prior of strength δn, whatever n: outside a fold, where rows are fewer, the decay is greater by as
//! much, as in scikit-learn's `LogisticRegressionCV` (C = 1/(δn)).
//!
//! The rows are cut into folds, by class, or by whole groups where a column says which rows belong together. For each decay of 10^k,
//! from a strong one on, a model is fitted to the rows outside each fold, from where the decay before it led and with what L-BFGS has
//! learned of the curvature ([`Lbfgs::with_decay`](crate::algorithm::Lbfgs)) beside what is known of it (¼ Σ w x xᵀ, up to 128 columns), and its mean cross-entropy on the fold's rows is taken. The path ends behind
//! the first decay whose mean loss is greater than the least so far. The strongest decay is the total curvature of the loss at constant
//! scores, p(1 − p) Σ_j (mean x_j²), with which weights are next to 0; the weakest is that a thousandth of a row's: there a path ends on
//! classes that can be separated. The fits outside folds end where they are as near to their minimum as a thirtieth of what one parameter
//! gains by chance.
//!
//! `choose=ap` (`auroc`, `pauc`) takes the metric of held-out rows, the mean over the folds, in place of the loss, and lets the path go on for
//! three decays without a gain, to a thousandth of the weakest. Below 400 positives a metric of a fold is in great part chance: rows are then
//! cut into folds anew, up to four times, and all of them count. It also looks for what a positive counts, from 1/30 to 30 in steps of about
//! √10, up or down from 1 for as long as the metric rises, and then for the decay beside the best again. The point of the least loss, at weight
//! 1, is left only for a gain of more than half its standard error over the folds.
//!
//! How the numbers were chosen, and the cost: tests/results/ridge.md. Memory: for each fold a run's, without the rows.

mod top;

pub use top::{TOP_METHODS, TopPoint, top};

use super::config::{Config, TrainerError, pairs_without};
use super::passes::Work;
use super::run::Run;
use super::{BatchRun, Method};
use crate::algorithm::{AnyAlgorithm, COUNTERS, State};
use crate::batch::{PAIR_WEIGHTS, WEIGHTS};
use crate::data::{Dataset, Rows, group_folds};
use crate::decimal;
use crate::error::{Error, Result};
use crate::host::Passes;
use crate::metric::{self, FprRange, Labels, TieRule, Truth};
use crate::model::AnyModel;
use crate::real::Real;
use crate::registry::{Auto, Settings};
use crate::rng::Rng;
use crate::scratch::Scratch;
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

/// The same where a metric chooses, which a few far rows leave to rise beyond.
const WEAKEST_OF_METRIC: f64 = 1e-6;

/// Positives below which rows are cut into folds more than once where a metric chooses, and how often at most.
const ENOUGH: usize = 400;
const REPEATS: usize = 4;

/// A decay on the path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// As the setting has it.
    pub decay: String,
    /// Mean cross-entropy of the rows of all folds, each by the model of the others.
    pub loss: f64,
    /// Its standard error, from the means of the folds; 0 for two folds of which one is empty.
    pub deviation: f64,
    /// What a positive counts, a negative counting 1, beside weights of the rows.
    pub positive: f64,
    /// The metric that chooses, on the rows of each fold; none where the loss does.
    pub metric: Vec<f64>,
}

impl PathPoint {
    /// How far the metric is ahead of another point's in the mean, and the standard error of that.
    fn ahead(&self, other: &Self) -> (f64, f64) {
        let k = self.metric.len() as f64;
        let apart = || self.metric.iter().zip(&other.metric).map(|(ours, theirs)| ours - theirs);
        let mean = apart().sum::<f64>() / k;
        let square: f64 = apart().map(|gain| (gain - mean) * (gain - mean)).sum();
        (mean, crate::Real::sqrt(square / (k * (k - 1.0))))
    }
}

/// How a weight decay was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The decays that were tried, powers of ten, from the strongest on; then other weights of positives.
    pub points: Vec<PathPoint>,
    /// The position of the chosen one.
    pub chosen: usize,
    /// The fold of each row, the first time that they are cut; of rows of weight 0 as many as there are folds.
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

    /// What a positive counts at the chosen point.
    #[must_use]
    pub fn positive(&self) -> f64 {
        self.points[self.chosen].positive
    }
}

/// What a positive counts: these, and one over them.
const POSITIVE: [f64; 3] = [3.0, 10.0, 30.0];

/// What fits models outside folds.
struct Fits<'a, T: Real, M> {
    data: &'a Dataset<T>,
    weights: &'a [f64],
    /// The fold of each row, in every repeat, and how many there are.
    fold_of: &'a [Vec<u32>],
    count: usize,
    /// A run on rows of these weights.
    make: M,
    folds: Vec<Fold<T>>,
    /// What a positive counts in these.
    positive: f64,
    metric: Option<(&'a str, FprRange)>,
    work: Work<T>,
    /// Rows drawn by runs that are over.
    drawn: u64,
}

/// A run outside a fold.
struct Fold<T: Real> {
    run: BatchRun<T>,
    rows: Vec<u32>,
    /// So many times the decay beside all rows.
    times: f64,
    /// Steps of a fit at most.
    steps: u64,
}

impl<T: Real, M: Fn(&[f64]) -> Result<BatchRun<T>, TrainerError>> Fits<'_, T, M> {
    /// Begins anew, where a positive counts so much.
    fn begin(&mut self, positive: f64) -> Result<(), TrainerError> {
        self.drawn += self.folds.iter().map(|fold| fold.run.drawn()).sum::<u64>();
        self.folds.clear();
        self.positive = positive;
        let labels = self.data.labels();
        let counts = |row: usize| weight(self.weights, row) * if labels[row] == 1 { positive } else { 1.0 };
        let all: f64 = (0..labels.len()).map(counts).sum();
        let fold_of = self.fold_of;
        for (of, fold) in fold_of.iter().flat_map(|of| (0..self.count as u32).map(move |fold| (of, fold))) {
            let outside: Vec<f64> =
                (0..labels.len()).map(|row| if of[row] == fold { 0.0 } else { counts(row) }).collect();
            let run = (self.make)(&outside)?;
            let rows = (0..labels.len() as u32).filter(|&row| of[row as usize] == fold).collect();
            let steps = run.total_steps();
            self.folds.push(Fold { run, rows, times: all / outside.iter().sum::<f64>(), steps });
        }
        Ok(())
    }

    /// The mean loss at a decay, and its error.
    fn point(&mut self, exponent: i32) -> Result<PathPoint> {
        let (decay, value) = decay(exponent);
        let (mut sums, mut masses, mut metric) = (Vec::new(), Vec::new(), Vec::new());
        for fold in &mut self.folds {
            fold.run.go_on(fold.times * value, fold.steps);
            while fold.run.step(self.data)?.is_some() {}
            let mut scores = vec![T::ZERO; fold.rows.len()];
            fold.run.score_some(self.data, &fold.rows, &mut scores)?;
            if let Some((name, range)) = self.metric {
                let labels: Vec<u8> = fold.rows.iter().map(|&row| self.data.labels()[row as usize]).collect();
                let scratch = self.work.lend(metric::need(scores.len()));
                metric.push(match self.data.weights() {
                    [_, ..] if PAIR_WEIGHTS => {
                        let weights: Vec<f64> =
                            fold.rows.iter().map(|&row| self.data.weights()[row as usize]).collect();
                        measured(name, range, &scores, &Truth::new(&labels, &weights)?, scratch)?
                    }
                    _ => measured(name, range, &scores, &labels[..], scratch)?,
                });
            }
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
        let deviation = crate::Real::sqrt(square * k / (k - 1.0));
        Ok(PathPoint { decay, loss, deviation, positive: self.positive, metric })
    }
}

/// The metric that chooses.
fn measured<T: Real, Y: Labels + ?Sized>(
    name: &str,
    range: FprRange,
    scores: &[T],
    of: &Y,
    scratch: Scratch<'_, T>,
) -> Result<f64> {
    match name {
        "ap" => metric::average_precision(scores, of, scratch),
        "pauc" => metric::partial_auc(scores, of, range, TieRule::Trapezoid, scratch),
        _ => metric::auroc(scores, of, scratch),
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
fn folds<T: Real>(
    data: &Dataset<T>,
    weights: &[f64],
    wanted: u64,
    seed: u64,
    repeat: u64,
) -> Option<(Vec<u32>, usize)> {
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
        if let Ok(by_group) = group_folds(&classes, data.split_groups(), count, seed.wrapping_add(repeat)) {
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
    let mut rng = Rng::keyed(seed, PURPOSE, repeat);
    for mut rows in classes {
        rng.shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = (at % count) as u32);
    }
    Some((fold, count))
}

/// How often rows are cut into folds: the fewer positives, the more a metric of a fold is chance.
fn repeats<T: Real>(data: &Dataset<T>) -> u64 {
    ENOUGH.div_ceil(data.positives().max(1)).min(REPEATS) as u64
}

/// The fold of each row, so many times, and how many there are.
fn repeated<T: Real>(
    data: &Dataset<T>,
    weights: &[f64],
    wanted: u64,
    seed: u64,
    repeats: u64,
) -> Option<(Vec<Vec<u32>>, usize)> {
    let (first, count) = folds(data, weights, wanted, seed, 0)?;
    let mut all = vec![first];
    for repeat in 1..repeats {
        all.extend(folds(data, weights, wanted, seed, repeat).filter(|of| of.1 == count).map(|of| of.0));
    }
    Some((all, count))
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
    let choose = settings.text("choose").unwrap_or_default();
    let metric = match choose {
        "ap" | "auroc" | "pauc" => Some((choose, FprRange::new(config.fpr.0, config.fpr.1)?)),
        _ => None,
    };
    let (wanted, repeats) = (settings.count("folds")?, if metric.is_some() { repeats(data) } else { 1 });
    let Some((mut fold_of, count)) = repeated(data, weights, wanted, config.seed, repeats) else { return Ok(None) };
    let total = curvature(data, weights);
    if !(total > 0.0 && total.is_finite()) {
        return Ok(None);
    }
    let rows: f64 = settings.scope().population.into_iter().map(f64::from).sum();
    let exponent = |x: f64| libm::ceil(libm::log10(x)) as i32;
    let (strongest, weakest) =
        (exponent(total), exponent(if metric.is_some() { WEAKEST_OF_METRIC } else { WEAKEST } * total / rows));

    let (first, _) = decay(strongest);
    let close = crate::Real::sqrt(CLOSE / rows).clamp(TOLERANCE[0], TOLERANCE[1]);
    // (Without the code that prints fractions.)
    let tolerance = format!("{}e-6", libm::rint(1e6 * close) as u64);
    let mut pairs = pairs_without(config, &CHOOSING);
    pairs.push(("decay", &first));
    if settings.value("tolerance") < close {
        pairs.push(("tolerance", &tolerance));
    }
    let make = |outside: &[f64]| -> Result<BatchRun<T>, TrainerError> {
        let settings = config.settings_of(method, &pairs)?.with_scope(settings.scope());
        BatchRun::of_method(method, settings, config, *model, data, None, outside)
    };
    let (folds, work) = (Vec::new(), Work::default());
    let mut fits = Fits { data, weights, fold_of: &fold_of, count, make, folds, positive: 1.0, metric, work, drawn: 0 };
    fits.begin(1.0)?;
    let (mut points, mut best, mut top): (Vec<PathPoint>, usize, usize) = (Vec::new(), 0, 0);
    let mut exponents = Vec::new();
    for exponent in (weakest..=strongest).rev() {
        let point = fits.point(exponent)?;
        let worse = points.get(best).is_some_and(|before| point.loss >= before.loss);
        let at = points.len();
        points.push(point);
        exponents.push(exponent);
        top = better(&points, top, at);
        if worse && (metric.is_none() || at >= top + 3) {
            break;
        }
        best = if worse { best } else { at };
    }
    if metric.is_some() && config.class_weights.is_empty() {
        let exponent = exponents[top];
        for up in [true, false] {
            for times in POSITIVE {
                fits.begin(if up { times } else { 1.0 / times })?;
                points.push(fits.point(exponent)?);
                let before = top;
                top = better(&points, top, points.len() - 1);
                if top == before {
                    break;
                }
            }
            if points[top].positive != 1.0 {
                break;
            }
        }
        if points[top].positive != 1.0 {
            fits.begin(points[top].positive)?;
            for beside in [exponent + 1, exponent - 1] {
                points.push(fits.point(beside)?);
                top = better(&points, top, points.len() - 1);
            }
        }
    }
    let chosen = if metric.is_some() {
        let (gain, error) = points[top].ahead(&points[best]);
        if gain > 0.5 * error { top } else { best }
    } else {
        let bound = match choose {
            "one-se" => points[best].loss + points[best].deviation,
            _ => points[best].loss,
        };
        points.iter().position(|point| point.loss <= bound).unwrap_or(best)
    };
    let drawn = fits.drawn + fits.folds.iter().map(|fold| fold.run.drawn()).sum::<u64>();
    drop(fits);
    Ok(Some(Path { points, chosen, folds: fold_of.swap_remove(0), passes: drawn as f64 / rows }))
}

/// Which of two points has the greater metric; the first of equal ones.
fn better(points: &[PathPoint], one: usize, other: usize) -> usize {
    if points[other].ahead(&points[one]).0 > 0.0 { other } else { one }
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

    /// L-BFGS of a linear model with what is known of the curvature.
    pub(super) fn with_curvature(mut self, train: &Dataset<T>, weights: &[f64]) -> Self {
        if let AnyAlgorithm::Lbfgs(rule) = self.host.algorithm {
            let slots = &mut self.real[self.sizes.points..][..self.sizes.slots];
            rule.take_curvature(slots, self.sizes.params, |to| bound(train, weights, to));
        }
        self
    }
}

/// The greatest curvature that the cross-entropy of a linear model has, ¼ Σ w_i x_i x_iᵀ/Σ w_i with 1 behind each x (Böhning and Lindsay 1988,
/// Monotonicity of Quadratic-Approximation Algorithms), row by row up to the diagonal.
fn bound<T: Real>(data: &Dataset<T>, weights: &[f64], to: &mut [T]) {
    let cols = data.cols();
    let (mut sums, mut row, mut all) = (vec![0.0; to.len()], vec![0.0; cols + 1], 0.0);
    row[cols] = 1.0;
    for at in 0..data.len() {
        let weight = weights.get(at).copied().unwrap_or(1.0);
        if weight == 0.0 {
            continue;
        }
        all += weight;
        match data.rows() {
            Rows::Dense { data, cols } => {
                row.iter_mut().zip(&data[at * cols..][..cols]).for_each(|(to, x)| *to = x.f64());
            }
            Rows::Csr { ptr, col, val, .. } => {
                row[..cols].fill(0.0);
                let span = ptr[at]..ptr[at + 1];
                col[span.clone()].iter().zip(&val[span]).for_each(|(&col, x)| row[col as usize] = x.f64());
            }
        }
        let mut rest = &mut sums[..];
        for (k, &x) in row.iter().enumerate() {
            let (own, more) = rest.split_at_mut(k + 1);
            let x = weight * x;
            own.iter_mut().zip(&row).for_each(|(sum, other)| *sum += x * other);
            rest = more;
        }
    }
    to.iter_mut().zip(&sums).for_each(|(to, sum)| *to = T::of(0.25 * sum / all));
}
