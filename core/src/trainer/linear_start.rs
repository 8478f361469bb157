//! Where a network begins: at random weights, or at a linear model of its rows.
//!
//! A network that begins at random weights, with weight decay toward 0, can overfit few rows, and with correlated columns decay keeps it
//! from what a linear model finds. So a network of ReLUs can begin at a linear model that cross-entropy fits to the same rows
//! ([`Mlp::start_linear`]), with weight decay toward that start (√p/n for p parameters and n rows, instead of 3/n). It then stays
//! near the linear model unless the rows support more. A trial decides which is better ([`Init::Auto`]): both are trained by
//! cross-entropy on three quarters of the rows, and the mean loss on the others decides, with the loss of a row capped at 5
//! so that outliers do not. How the numbers were chosen, and the gain, is in tests/results/networks.md.
//!
//! Cost, when the run is made: as many steps of the linear model as the run has, at most 6,000, and of the network twice as many, at
//! most 3,000, on at most 20,000 rows, which are copied. They do not count as steps. A saved run stores the choice.

use super::config::{Config, Init, Length, ModelSpec, TrainerError};
use super::given::Beside;
use super::{Begin, Trainer};
use crate::data::{Dataset, Split, Targets};
use crate::features::COMPACT;
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::{Kind, Method};
use crate::rng::Rng;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Steps of the linear model: it is fitted by then, whatever the rows.
const LINEAR_STEPS: u64 = 6000;

/// Steps of the trial, the most rows of it, and the share that it trains on.
const STEPS: u64 = 3000;
const ROWS: usize = 20_000;
const SHARE: f64 = 0.75;

/// The most that one row's loss counts.
const MOST: f64 = 5.0;

/// Whether a run may begin at a linear model: of a network that holds one, by a method of mini-batches or of all rows, unless another
/// start is given.
fn may<T: Real>(method: &Method, model: &AnyModel, train: &Dataset<T>, beside: &Beside<T>) -> bool {
    let two = matches!(train.targets(), Targets::Binary(_));
    let holds = matches!(model, AnyModel::Mlp(network) if network.holds_linear());
    two && holds && method.kind != Kind::FiniteSum && beside.start().is_none()
}

/// As many steps as the run has, at most so many.
fn steps(config: &Config, most: u64) -> u64 {
    if let Length::Steps(steps) = config.length { steps.min(most) } else { most }
}

/// Where this run begins.
pub(super) fn init<T: Real>(
    config: &Config,
    method: &Method,
    model: &AnyModel,
    train: &Arc<Dataset<T>>,
    beside: &Beside<T>,
) -> Result<Init, TrainerError> {
    if !may(method, model, train, beside) {
        return match config.init {
            Init::Linear if config.model != ModelSpec::Linear => Err(TrainerError::Config(
                "init linear: is for networks mlp:WIDTHS of two units and more a layer, of two classes, that no other start is given"
                    .to_string(),
            )),
            init @ (Init::Auto | Init::Linear | Init::Random) => Ok(init),
        };
    }
    if config.init != Init::Auto {
        return Ok(config.init);
    }
    let rows = |share: f64, of: &Dataset<T>| -> Option<[Dataset<T>; 2]> {
        let split = Split::new(share, !config.seed);
        // (Arrays know of no column that splits go by, and small builds of nothing else.)
        if !COMPACT {
            return of.split(split, "").ok();
        }
        let parts = split.parts(of.labels()).ok()?;
        Some([of.select(&parts.train).ok()?, of.select(&parts.test).ok()?])
    };
    let drawn = match train.len() > ROWS {
        true => rows(ROWS as f64 / train.len() as f64, train).map(|[some, _]| Arc::new(some)),
        false => Some(Arc::clone(train)),
    };
    // Rows that cannot be split say nothing: the network stays near the linear model.
    let Some([part, judge]) = drawn.and_then(|drawn| rows(SHARE, &drawn)) else { return Ok(Init::Linear) };
    let part = Arc::new(part);
    let [linear, random] = [Init::Linear, Init::Random].map(|init| {
        let trial = Config { model: config.model.clone(), init, ..plain(config, STEPS) };
        loss(&trial, &part, &judge).unwrap_or(f64::INFINITY)
    });
    Ok(if random < linear { Init::Random } else { Init::Linear })
}

/// Cross-entropy of a linear model, with the seed and the weights of a run, for as many steps, at most so many.
fn plain(config: &Config, most: u64) -> Config {
    let (seed, class_weights, length) = (config.seed, config.class_weights.clone(), Length::Steps(steps(config, most)));
    Config { method: "ce".to_string(), seed, class_weights, length, ..Config::default() }
}

/// The loss of a model on rows that it is not trained on, in sum.
fn loss<T: Real>(config: &Config, part: &Arc<Dataset<T>>, judge: &Dataset<T>) -> Result<f64, TrainerError> {
    let mut trainer = Trainer::made(config, Arc::clone(part), None, Beside::NONE, Begin::Fresh)?;
    while trainer.step()?.is_some() {}
    let mut scores = vec![T::ZERO; judge.len()];
    trainer.score(judge.rows(), &mut scores)?;
    let weights = super::config::importance(config, judge)?;
    let mut sum = 0.0;
    for (row, (&score, &label)) in scores.iter().zip(judge.labels()).enumerate() {
        let score = score.f64();
        let loss = if label == 1 { (-score).softplus() } else { score.softplus() };
        sum += weights.get(row).unwrap_or(&1.0) * if loss < MOST { loss } else { MOST };
    }
    Ok(sum)
}

/// The parameters of the network that computes the score of a linear model of these rows.
pub(super) fn params<T: Real>(
    config: &Config,
    model: &AnyModel,
    train: &Arc<Dataset<T>>,
) -> Result<Vec<T>, TrainerError> {
    let mut linear = Trainer::made(&plain(config, LINEAR_STEPS), Arc::clone(train), None, Beside::NONE, Begin::Fresh)?;
    while linear.step()?.is_some() {}
    let mut params = vec![T::ZERO; Model::<T>::param_len(model)];
    // (Those of `Host::start`.)
    model.init(&mut Rng::keyed(config.seed, 0x1217, 0), &mut params)?;
    if let AnyModel::Mlp(network) = model {
        network.start_linear(linear.params(), &mut params)?;
    }
    Ok(params)
}
