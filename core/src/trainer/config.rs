//! The configuration of a run, and its errors.

use crate::batch::WEIGHTS;
use crate::checkpoint::{CheckpointError, Coded, Reader};
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::features::COMPACT;
use crate::model::{Activation, AnyModel, Linear, MAX_HIDDEN, Mlp};
use crate::real::Real;
use crate::registry::{Domain, Method, SettingError, Settings};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Which model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSpec {
    /// Linear.
    Linear,
    /// Multilayer perceptron with these hidden widths.
    Mlp {
        /// Widths of the hidden layers.
        hidden: Vec<usize>,
        /// tanh between the layers instead of max(·, 0).
        tanh: bool,
    },
}

impl ModelSpec {
    /// `linear`, or `mlp:64,64`, or `mlp-tanh:16`.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("model \"{text}\": expected linear, mlp:WIDTHS or mlp-tanh:WIDTHS, e.g. mlp:64,64");
        let (tanh, widths) = match text.split_once(':') {
            None if text == "linear" => return Ok(Self::Linear),
            Some(("mlp", widths)) => (false, widths),
            Some(("mlp-tanh", widths)) => (true, widths),
            _ => return Err(expected()),
        };
        let hidden: Vec<usize> = widths.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| expected())?;
        if hidden.len() > MAX_HIDDEN {
            return Err(format!(
                "model \"{text}\": {} hidden layers are more than there may be, {MAX_HIDDEN}",
                hidden.len()
            ));
        }
        match Mlp::new(1, &hidden, 1, Activation::Relu) {
            Ok(_) => Ok(Self::Mlp { hidden, tanh }),
            Err(_) => Err(expected()),
        }
    }

    /// The model for so many feature columns.
    ///
    /// # Errors
    /// `Param`, `Overflow`.
    pub fn build(&self, inputs: usize) -> Result<AnyModel> {
        self.build_with(inputs, 1)
    }

    /// The same with so many scores a row.
    ///
    /// # Errors
    /// `Param`, `Overflow`.
    pub fn build_with(&self, inputs: usize, heads: usize) -> Result<AnyModel> {
        Ok(match self {
            Self::Linear => AnyModel::Linear(Linear::new(inputs, heads)?),
            Self::Mlp { hidden, tanh } => {
                let activation = if *tanh { Activation::Tanh } else { Activation::Relu };
                AnyModel::Mlp(Mlp::new(inputs, hidden, heads, activation)?)
            }
        })
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Mlp { hidden, tanh } => {
                f.write_str(if *tanh { "mlp-tanh" } else { "mlp" })?;
                for (k, width) in hidden.iter().enumerate() {
                    write!(f, "{}{width}", if k == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

impl Coded for ModelSpec {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Linear => out.push(0),
            Self::Mlp { hidden, tanh } => {
                out.push(1);
                hidden.write(out);
                tanh.write(out);
            }
        }
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(Self::Linear),
            1 => Some(Self::Mlp { hidden: from.value()?, tanh: from.value()? }),
            _ => None,
        }
    }
}

/// Where a network begins. (Linear models begin at 0.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// What a trial on a share of the rows says is better, of two classes and one score ([`Trainer::new`](super::Trainer::new)
    /// makes it); else random.
    #[default]
    Auto,
    /// At a linear model of the rows, to which weight decay pulls back.
    Linear,
    /// At random start values; weight decay pulls to 0.
    Random,
}

impl Coded for Init {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        [Self::Auto, Self::Linear, Self::Random].get(usize::from(from.byte()?)).copied()
    }
}

/// How long to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// The method's `steps`.
    Method,
    /// So many steps.
    Steps(u64),
    /// So many passes over the data (rows drawn / rows there are).
    Passes(f64),
}

impl Coded for Length {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Method => out.push(0),
            Self::Steps(steps) => {
                out.push(1);
                steps.write(out);
            }
            Self::Passes(passes) => {
                out.push(2);
                passes.write(out);
            }
        }
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(Self::Method),
            1 => Some(Self::Steps(from.value()?)),
            2 => Some(Self::Passes(from.value()?)),
            _ => None,
        }
    }
}

/// Everything a run depends on but its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Name of the method in the [registry](crate::registry).
    pub method: String,
    /// `(name, value)` pairs that override the method's defaults.
    pub settings: Vec<(String, String)>,
    /// The model.
    pub model: ModelSpec,
    /// Where it begins, if it is a network. A [`Trainer`](super::Trainer) has what was chosen here.
    pub init: Init,
    /// Start values and batches follow from it.
    pub seed: u64,
    /// How long.
    pub length: Length,
    /// False-positive range of the partial AUC in reports (and in methods that train for one).
    pub fpr: (f64, f64),
    /// What must hold of the model, as [`Expression`](crate::expression::Expression) reads it, for methods that train under
    /// constraints; without any, what the method is for.
    pub constraints: Vec<String>,
    /// What a row of each class counts in what is minimised, times its own weight: of negatives and positives, or of several
    /// classes in their order; above 0, none at all for 1 each. Metrics do not look at them.
    pub class_weights: Vec<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            method: "ce".to_string(),
            settings: Vec::new(),
            model: ModelSpec::Linear,
            init: Init::Auto,
            seed: 1,
            length: Length::Method,
            fpr: (0.0, 0.05),
            constraints: Vec::new(),
            class_weights: Vec::new(),
        }
    }
}

impl Config {
    /// `Ok` when its settings and its length fit a method of two classes or of several: what can be told without the
    /// data.
    ///
    /// # Errors
    /// `Config`.
    pub fn check(&self, method: &'static Method) -> Result<(), TrainerError> {
        self.settings_of(method, &self.pairs()).map(|_| ())
    }

    /// The settings of a method, checked with the length, for this range and seed.
    pub(super) fn settings_of<'a>(
        &self,
        method: &'static Method,
        pairs: &'a [(&'a str, &'a str)],
    ) -> Result<Settings<'a>, TrainerError> {
        let settings =
            method.settings(pairs).map_err(|error| TrainerError::Config(setting_text(error, method, self)))?;
        match self.length {
            Length::Passes(passes) if !(passes > 0.0 && passes < 1e12) => {
                Err(TrainerError::Config("passes must be positive".to_string()))
            }
            Length::Method | Length::Steps(_) | Length::Passes(_) => {
                Ok(settings.with_fpr(self.fpr).with_seed(self.seed))
            }
        }
    }

    /// The settings as the registry takes them.
    pub(super) fn pairs(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

/// All but the constraints and the weights of classes, which have sections of their own, and where a network began, which stands
/// behind it in its section.
impl Coded for Config {
    fn write(&self, out: &mut Vec<u8>) {
        self.method.write(out);
        self.settings.write(out);
        self.model.write(out);
        self.seed.write(out);
        self.length.write(out);
        self.fpr.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            method: from.value()?,
            settings: from.value()?,
            model: from.value()?,
            init: Init::Auto,
            seed: from.value()?,
            length: from.value()?,
            fpr: from.value()?,
            constraints: Vec::new(),
            class_weights: Vec::new(),
        })
    }
}

/// Why a trainer cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrainerError {
    /// A wrong method, setting, model or length, as a sentence.
    Config(String),
    /// A method of the registry that this build does not have; the feature `every-method` brings all of them.
    NotBuilt {
        /// Its name.
        method: &'static str,
    },
    /// From the core.
    Core(Error),
    /// Saved bytes that cannot be used.
    Checkpoint(CheckpointError),
}

impl TrainerError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::Config(_) => 121,
            Self::NotBuilt { .. } => 122,
            Self::Core(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
        }
    }
}

impl fmt::Display for TrainerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(text) => f.write_str(text),
            Self::NotBuilt { method } => write!(f, "{method} is not in this build (feature every-method)"),
            Self::Core(error) => error.fmt(f),
            Self::Checkpoint(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TrainerError {}

impl From<Error> for TrainerError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<CheckpointError> for TrainerError {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

/// The most rows that one stands for in the mean.
const MOST_ROWS: f64 = 100.0;

/// Weights without a scale, so that w, w/mean and 1000 w are the same. Whole multiples of the least of them, of at most [`MOST_ROWS`] in the mean, are
/// numbers of rows: a row of twice the least weight is two rows. Others are parts of their mean. Rows of weight 0 are not there.
pub(super) fn as_rows(mut weights: Vec<f64>) -> Vec<f64> {
    if !WEIGHTS {
        return weights;
    }
    let (mut low, mut sum, mut rows) = (f64::INFINITY, 0.0, 0.0);
    for &w in weights.iter().filter(|&&w| w > 0.0) {
        low = if w < low { w } else { low };
        sum += w;
        rows += 1.0;
    }
    let whole = |w: f64| (w / low - libm::rint(w / low)).abs() <= 1e-6 * (w / low);
    if weights.iter().all(|&w| whole(w)) && sum <= MOST_ROWS * low * rows {
        weights.iter_mut().for_each(|w| *w = libm::rint(*w / low));
        return weights;
    }
    let mean = sum / rows;
    weights.iter_mut().filter(|w| **w > 0.0).for_each(|w| *w /= mean);
    weights
}

/// How many rows such weights come to; so many without.
pub(super) fn counted(weights: &[f64], rows: usize) -> usize {
    if !WEIGHTS || weights.is_empty() { rows } else { libm::rint(weights.iter().sum()) as usize }
}

/// What each row counts in what is minimised, as a [number of rows](as_rows); empty where all count alike.
pub(super) fn importance<T: Real>(config: &Config, train: &Dataset<T>) -> Result<Vec<f64>, TrainerError> {
    let of_classes = &config.class_weights;
    if of_classes.is_empty() {
        return Ok(as_rows(train.weights().to_vec()));
    }
    if !WEIGHTS {
        return Err(Error::Unsupported { what: "weights in this build" }.into());
    }
    let classes: Vec<usize> = match train.targets() {
        Targets::Binary(labels) => labels.iter().map(|&y| y.into()).collect(),
        Targets::Classes { labels, .. } => labels.iter().map(|&y| y as usize).collect(),
        Targets::Values(_) | Targets::None => Vec::new(),
    };
    if train.class_sizes().len() != of_classes.len() || classes.is_empty() {
        return Err(TrainerError::Config("class_weights: expected one for each class".to_string()));
    }
    if let Some(at) = of_classes.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
        return Err(TrainerError::Config(format!("class_weights: that of class {at} (from 0) is no number above 0")));
    }
    // (They make rows heavier, and no more of them.)
    let own = as_rows(train.weights().to_vec());
    let own = |row: usize| own.get(row).copied().unwrap_or(1.0);
    let mut all: Vec<f64> = classes.iter().enumerate().map(|(row, &class)| own(row) * of_classes[class]).collect();
    let (rows, sum) = ((0..all.len()).map(own).sum::<f64>(), all.iter().sum::<f64>());
    all.iter_mut().for_each(|w| *w *= rows / sum);
    Ok(all)
}

/// Positives below which an exact objective learns a linear model of splines by heart.
const FEW_ON_SPLINES: usize = 200;

/// `Ok` unless a linear model of columns that are `encoded` would be trained by an exact objective of pairs on few positives: on 37 of them exact AP came to .06 on other
/// rows, where the ridge had .32.
///
/// # Errors
/// `Config`.
pub fn check_splines(config: &Config, encoded: bool, positives: usize) -> Result<(), TrainerError> {
    let exact = ["ap-exact", "auc-exact", "pauc-exact"].contains(&config.method.as_str());
    if exact && encoded && config.model == ModelSpec::Linear && positives < FEW_ON_SPLINES {
        return Err(TrainerError::Config(format!(
            "method {} on splines learns {positives} positives by heart, fewer than {FEW_ON_SPLINES}; ce-exact does not, nor does it without encode",
            config.method
        )));
    }
    Ok(())
}

/// That a method takes no weights.
pub(super) fn no_weights(method: &Method) -> TrainerError {
    TrainerError::Config(format!("method {} takes no weights of rows or classes", method.name))
}

/// How many steps a run has, with so many rows in all, counted by their weights, and in a batch: those before the method's own, and all together. The
/// settings are then those of a run with so many steps of its own.
pub(super) fn steps_of(settings: &mut Settings<'_>, length: Length, rows: usize, batch: usize) -> Result<(u64, u64)> {
    let (before, total) = match length {
        Length::Method => {
            let steps = settings.count("steps")?;
            settings.set_steps(steps);
            let before = settings.pretrain_steps();
            (before, steps.saturating_add(before))
        }
        Length::Steps(steps) => (settings.pretrain_steps_of(steps), steps),
        Length::Passes(passes) => {
            let steps = libm::ceil(passes * rows as f64 / batch as f64) as u64;
            (settings.pretrain_steps_of(steps), steps)
        }
    };
    settings.set_steps(total.saturating_sub(before));
    Ok((before, total))
}

/// `Ok` when the system gives memory for so many numbers: past that the program would die in the middle of it.
pub(super) fn room<T>(model: &ModelSpec, numbers: usize) -> Result<(), TrainerError> {
    let mut probe = Vec::<T>::new();
    probe.try_reserve_exact(numbers).map_err(|_| TrainerError::Config(format!("model {model}: too large for memory")))
}

/// The settings of a run but these.
pub(super) fn pairs_without<'a>(config: &'a Config, without: &[&str]) -> Vec<(&'a str, &'a str)> {
    let mut pairs = config.pairs();
    pairs.retain(|pair| !without.contains(&pair.0));
    pairs
}

/// Words with commas between them. (As `join`, in a fifth of its room.)
#[inline(never)]
pub(super) fn listed(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(word);
    }
    text
}

/// A sentence about a setting that does not fit.
fn setting_text(error: SettingError, method: &Method, config: &Config) -> String {
    match error {
        SettingError::Unknown { at } => {
            let known: Vec<&str> = method.params.iter().map(|p| p.name).collect();
            format!(
                "method {} has no parameter \"{}\"; it has {}",
                config.method,
                config.settings[at].0,
                listed(&known)
            )
        }
        SettingError::Value { at, param } => {
            let domain = match param.domain {
                // Printing numbers with a fraction takes a sixth of a small module.
                Domain::Number { .. } | Domain::NumberOr { .. } if COMPACT => "a number in its range".to_string(),
                Domain::Number { low, high } => format!("a number from {} to {}", Short(low), Short(high)),
                Domain::Count { low, high } => format!("a whole number from {low} to {high}"),
                Domain::CountOr { word, low, high } => format!("{word} or a whole number from {low} to {high}"),
                Domain::Choice(words) => format!("one of {}", listed(words)),
                Domain::NumberOr { word, low, high } => {
                    format!("{word} or a number from {} to {}", Short(low), Short(high))
                }
            };
            format!("{} = \"{}\": expected {domain}", param.name, config.settings[at].1)
        }
    }
}

/// `Ok` when everything that was set has been looked at, now that a run is made of it: what another choice makes
/// meaningless is refused. (The rest of a paper's settings is not, where some of them were overridden, nor is the method's
/// length where the run has its own. Builds with `compact` refuse nothing: a page leaves in place what was set before.)
pub(super) fn refuse_unread(settings: &Settings<'_>, method: &Method, config: &Config) -> Result<(), TrainerError> {
    if COMPACT {
        return Ok(());
    }
    let Some(at) = settings.unread(method.paper) else { return Ok(()) };
    let choices = method.params.iter().filter(|param| matches!(param.domain, Domain::Choice(_)));
    let choices: Vec<String> =
        choices.filter_map(|param| Some(format!("{}={}", param.name, settings.text(param.name)?))).collect();
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    let name = &config.settings[at].0;
    Err(TrainerError::Config(format!("{name} has no effect with {}", listed(&choices))))
}

/// A number without a row of zeros.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-3..1e6).contains(&size) { self.0.fmt(f) } else { fmt::LowerExp::fmt(&self.0, f) }
    }
}
