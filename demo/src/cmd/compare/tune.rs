//! The small search of `--tune`: learning rate and weight decay, the same for every method.

use crate::error::Result;
use std::sync::Arc;
use undercurve::data::{Dataset, Split};
use undercurve::model::{AnyModel, Model};
use undercurve::registry::{self, Scope};
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};

/// Of the method's default each.
const FACTORS: [f64; 3] = [1.0, 1.0 / 3.0, 3.0];
/// In place of them where the default is 0.
const FROM_ZERO: [f64; 3] = [0.0, 1e-4, 1e-2];
/// Share of the rows to train on; the others decide.
const SHARE: f64 = 0.75;

/// The best point of a grid.
pub struct Choice {
    pub config: Config,
    /// Whether it lies at an end of the grid on either axis.
    pub edge: bool,
}

/// The values of a parameter to try, its default first; nothing where the method has none of this name.
fn axis(config: &Config, name: &'static str, scope: Scope) -> Vec<f64> {
    let pairs: Vec<(&str, &str)> = config.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let method = registry::method(&config.method).filter(|m| m.params.iter().any(|param| param.name == name));
    let default = method
        .and_then(|method| method.settings(&pairs).ok())
        .and_then(|settings| settings.with_fpr(config.fpr).with_scope(scope).number(name).ok());
    match default {
        None => Vec::new(),
        Some(0.0) => FROM_ZERO.to_vec(),
        Some(default) => FACTORS.iter().map(|factor| factor * default).collect(),
    }
}

/// Trains on three quarters of the rows, drawn by class or of whole groups, with every point of the grid, and takes the one with the best metric on
/// the others; of equal ones the first, which is the default.
pub fn choose(config: &Config, data: &Arc<Dataset<f32>>, metric: &str, seed: u64) -> Result<Choice> {
    let [train, valid] = data.split(Split::new(SHARE, !seed), "--tune")?;
    let train = Arc::new(train);
    // (Where a network begins is tried once.)
    let init = Trainer::new(config, train.clone(), None)?.config().init;
    let config = &Config { init, ..config.clone() };
    let model: AnyModel = config.model.build_with(train.cols(), 1)?;
    let positives = train.positives() as u32;
    let scope = Scope {
        population: [train.len() as u32 - positives, positives],
        network: config.model != ModelSpec::Linear,
        params: Model::<f32>::param_len(&model),
        from_linear: config.init == Init::Linear && config.model != ModelSpec::Linear,
        // (Rates are those of the usual length unless another is set.)
        steps: if let Length::Steps(steps) = config.length { steps } else { u64::MAX },
        ..Scope::default()
    };
    // (A parameter may have no effect with the method's optimiser: then it is refused.)
    let [rates, decays] = ["lr", "decay"].map(|name| {
        let values = axis(config, name, scope);
        let taken = values.first().is_some_and(|value| {
            let mut with = config.clone();
            with.settings.push((name.to_string(), value.to_string()));
            Trainer::new(&with, train.clone(), None).is_ok()
        });
        if taken { values } else { Vec::new() }
    });
    let or_none =
        |values: &[f64]| if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() };
    let mut best: Option<(f64, Choice)> = None;
    for rate in or_none(&rates) {
        for decay in or_none(&decays) {
            let mut point = config.clone();
            for (name, value) in [("lr", rate), ("decay", decay)] {
                point.settings.extend(value.map(|value| (name.to_string(), value.to_string())));
            }
            let mut trainer = Trainer::new(&point, train.clone(), None)?;
            // (A rate at which training breaks down is none to choose.)
            let mut sound = true;
            while sound && !trainer.is_done() {
                sound = matches!(trainer.step(), Ok(Some(_)));
            }
            let value = trainer.evaluate(&valid).ok().and_then(|figures| figures.get(metric));
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let at_end = |value: Option<f64>, values: &[f64]| {
                let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
                value.is_some_and(|value| (value == low && low > 0.0) || value == high)
            };
            if best.as_ref().is_none_or(|(most, _)| value > *most) {
                let edge = at_end(rate, &rates) || at_end(decay, &decays);
                best = Some((value, Choice { config: point, edge }));
            }
        }
    }
    Ok(best.map_or_else(|| Choice { config: config.clone(), edge: false }, |(_, choice)| choice))
}
