//! Numbers as targets of a run by batches: steps see them less their median, in units of their spread, so that step sizes and the duals
//! fit them whatever they count; models are told, and begun at, in the numbers' own units.

use super::config::{Config, ModelSpec, TrainerError};
use crate::data::Rows;
use crate::real::Real;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The first step of a linear model, as a share of the largest that least squares bears in the mean.
const STEP: f64 = 0.2;
/// What a median absolute deviation is multiplied by to be a standard deviation of normal numbers.
const NORMAL: f64 = 1.4826;

/// The targets as steps see them, by row, and how they were made.
#[derive(Clone, Debug)]
pub(super) struct Numbers<T> {
    pub targets: Vec<T>,
    centre: f64,
    unit: f64,
}

/// Refuses what numbers do not have.
///
/// # Errors
/// `Config`.
pub(super) fn check(config: &Config) -> Result<(), TrainerError> {
    let set = |name: &str, value: &str| config.settings.iter().any(|pair| pair.0 == name && pair.1 == value);
    let text = if config.model != ModelSpec::Linear {
        "numbers are fitted by linear models; --encode splines:6 bends them"
    } else if set("sampling", "stratified") {
        "sampling=stratified: numbers have no classes to draw by"
    } else if set("loss", "logistic") {
        "loss=logistic is of classes; of numbers are absolute and least-squares"
    } else {
        return Ok(());
    };
    Err(TrainerError::Config(text.to_string()))
}

/// The defaults that differ where targets are numbers, of what is not set: no cross-entropy comes before, the worst 5 % are left out,
/// and a step that fits the rows.
pub(super) fn usual<'a>(config: &Config, rate: &'a str) -> Vec<(&'static str, &'a str)> {
    let set = |name: &str| config.settings.iter().any(|pair| pair.0 == name);
    let ranks = [("from", "0.05"), ("to", "1")].into_iter().filter(|_| !set("units"));
    [("loss", "least-squares"), ("pretrain", "0"), ("lr", rate)]
        .into_iter()
        .chain(ranks)
        .filter(|pair| !set(pair.0))
        .collect()
}

/// The learning rate of a linear model: [`STEP`] over the mean squared norm of a row with its 1 for the bias, which bounds the curvature
/// of least squares.
pub(super) fn rate<T: Real>(rows: Rows<'_, T>) -> String {
    let (Rows::Dense { data: values, .. } | Rows::Csr { val: values, .. }) = rows;
    let square: f64 = values.iter().map(|x| x.f64() * x.f64()).sum();
    (STEP / (1.0 + square / rows.len().max(1) as f64)).to_string()
}

/// The middle of numbers; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl<T: Real> Numbers<T> {
    pub fn of(values: &[T]) -> Self {
        let centre = median(values.iter().map(|y| y.f64()).collect());
        let apart = || values.iter().map(|y| (y.f64() - centre).abs());
        // (Where more than half are the same, by the mean.)
        let spread = match NORMAL * median(apart().collect()) {
            0.0 => apart().sum::<f64>() / values.len().max(1) as f64,
            spread => spread,
        };
        let unit = if spread > 0.0 { spread } else { 1.0 };
        let targets = values.iter().map(|y| T::of((y.f64() - centre) / unit)).collect();
        Self { targets, centre, unit }
    }

    /// Parameters of a linear model, whose last is the bias, from the units of the steps to those of the numbers.
    pub fn told(&self, params: &mut [T]) {
        params.iter_mut().for_each(|w| *w = T::of(w.f64() * self.unit));
        if let Some(bias) = params.last_mut() {
            *bias = T::of(bias.f64() + self.centre);
        }
    }

    /// And back.
    pub fn seen(&self, params: &mut [T]) {
        if let Some(bias) = params.last_mut() {
            *bias = T::of(bias.f64() - self.centre);
        }
        params.iter_mut().for_each(|w| *w = T::of(w.f64() / self.unit));
    }
}
