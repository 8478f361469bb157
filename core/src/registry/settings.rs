//! A method's settings: the given values, checked against its parameters, and the values of its defaults.

use super::params::{AUTO, Auto, CLASS_DECAY, DECAY, Domain, Param};
use crate::constraint::Constraints;
use crate::decimal;
use crate::error::{Error, Result};
use core::cell::Cell;
use core::fmt;

/// Negatives of a false-positive range that a batch holds in the mean, at least.
const IN_RANGE: f64 = 5.0;
/// The largest batch for that, in 8 positives and 56 negatives: 72 and 504.
const MOST_UNITS: f64 = 9.0;

/// What a default that is not one number depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scope {
    /// Negatives and positives of the training rows, or all rows and 0 where there are several classes; a row of weight 2 is two.
    pub population: [u32; 2],
    /// Whether a network is trained.
    pub network: bool,
    /// Parameters of the model.
    pub params: usize,
    /// Classes.
    pub classes: u32,
    /// Rows of a batch.
    pub batch: u32,
    /// Steps of the run; the method's own where it has some before.
    pub steps: u64,
    /// Groups of the rows, 1 without any, and how many of them, the last ones, are looked at by constraints alone that name
    /// them.
    pub groups: u32,
    /// See there.
    pub protected: u32,
    /// Whether it is a network that begins at a linear model: its weight decay then pulls to where the steps start, in every
    /// method.
    pub from_linear: bool,
}

impl Default for Scope {
    /// A linear model with 10 parameters on 900 negatives and 100 positives.
    fn default() -> Self {
        Self {
            population: [900, 100],
            network: false,
            params: 10,
            classes: 2,
            batch: 64,
            steps: 6000,
            groups: 1,
            protected: 0,
            from_linear: false,
        }
    }
}

impl Scope {
    fn rows(&self) -> f64 {
        f64::from(self.population[0]) + f64::from(self.population[1])
    }
}

/// A setting that a method does not take, or not this value of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingError {
    /// The method has no parameter of this name.
    Unknown {
        /// Position among the settings.
        at: usize,
    },
    /// The value is outside the parameter's domain.
    Value {
        /// Position among the settings.
        at: usize,
        /// The parameter.
        param: &'static Param,
    },
}

impl SettingError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::Unknown { .. } => 101,
            Self::Value { .. } => 102,
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { at } => write!(f, "setting {at} (from 0): the method has no parameter of this name"),
            Self::Value { at, param } => {
                write!(f, "setting {at} (from 0): the value is outside the domain of {}", param.name)
            }
        }
    }
}

impl core::error::Error for SettingError {}

/// The parameters of a method and `(name, value)` pairs that override their defaults, a later one an earlier one.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    params: &'static [Param],
    pairs: &'a [(&'a str, &'a str)],
    fpr: (f64, f64),
    seed: u64,
    scope: Scope,
    constraints: Option<&'a Constraints>,
    /// A bit for each parameter that was looked at.
    read: Cell<u64>,
}

impl<'a> Settings<'a> {
    /// Checks every pair against a table of parameters.
    ///
    /// # Errors
    /// [`SettingError`], for the first pair that does not fit.
    pub fn of(params: &'static [Param], pairs: &'a [(&'a str, &'a str)]) -> Result<Self, SettingError> {
        for (at, (name, value)) in pairs.iter().enumerate() {
            let param = params.iter().find(|p| p.name == *name).ok_or(SettingError::Unknown { at })?;
            let fits = match param.domain {
                Domain::Number { low, high } => decimal::parse(value).is_some_and(|x| x >= low && x <= high),
                Domain::Count { low, high } => value.parse().is_ok_and(|x: u64| x >= low && x <= high),
                Domain::Choice(words) => words.contains(value),
                Domain::CountOr { word, low, high } => {
                    *value == word || value.parse().is_ok_and(|x: u64| x >= low && x <= high)
                }
                Domain::NumberOr { word, low, high } => {
                    *value == word || decimal::parse(value).is_some_and(|x| x >= low && x <= high)
                }
            };
            if !fits {
                return Err(SettingError::Value { at, param });
            }
        }
        Ok(Self {
            params,
            pairs,
            fpr: (0.0, 0.05),
            seed: 1,
            scope: Scope::default(),
            constraints: None,
            read: Cell::new(0),
        })
    }

    /// The parameter of a name, which counts as read.
    fn param(&self, name: &str) -> Option<&'static Param> {
        let at = self.params.iter().position(|param| param.name == name)?;
        self.read.set(self.read.get() | 1 << at);
        Some(&self.params[at])
    }

    /// What was looked at in a copy counts as read.
    pub(crate) fn also_read(&self, copy: &Self) {
        self.read.set(self.read.get() | copy.read.get());
    }

    /// Position of the first pair whose parameter nothing has looked at, because another setting makes it mean nothing;
    /// a length, and pairs that are among `but`, do not count.
    #[must_use]
    pub fn unread(&self, but: &[(&str, &str)]) -> Option<usize> {
        self.pairs.iter().position(|pair| {
            let at = self.params.iter().position(|param| param.name == pair.0);
            let length = matches!(pair.0, "steps" | "passes");
            at.is_some_and(|at| self.read.get() >> at & 1 == 0) && !length && !but.contains(pair)
        })
    }

    /// The false-positive range to train for.
    #[must_use]
    pub fn fpr(&self) -> (f64, f64) {
        self.fpr
    }

    /// What must hold of the model, in methods with constraints.
    #[must_use]
    pub fn constraints(&self) -> Constraints {
        self.constraints.copied().unwrap_or(Constraints::roc(0.05))
    }

    /// With what must hold of the model; without, both gaps between the ROC curves of groups are to be at most 0.05.
    #[must_use]
    pub fn with_constraints(self, constraints: &'a Constraints) -> Self {
        Self { constraints: Some(constraints), ..self }
    }

    /// The range of ranks that an objective of ranked losses sums, as shares: `from` to `to`, or where a method has none of
    /// these the false-positive range.
    #[must_use]
    pub fn ranks(&self) -> (f64, f64) {
        if self.text("from").is_none() {
            return self.fpr;
        }
        let all = if self.text("units") == Some("ranks") { self.scope.rows() } else { 1.0 };
        (self.value("from") / all, self.value("to") / all)
    }

    /// The seed of what an algorithm or estimator draws by itself.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What defaults that are not one number depend on.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// With the false-positive range to train for, in methods that have one; [0, 0.05] without.
    #[must_use]
    pub fn with_fpr(self, fpr: (f64, f64)) -> Self {
        Self { fpr, ..self }
    }

    /// With the seed of what an algorithm draws by itself, PGA's random stage; 1 without.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// With what defaults that are not one number depend on; without, [`Scope::default`].
    #[must_use]
    pub fn with_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// With batches of so many rows.
    #[must_use]
    pub fn with_batch(self, batch: usize) -> Self {
        let batch = u32::try_from(batch).unwrap_or(u32::MAX).max(1);
        Self { scope: Scope { batch, ..self.scope }, ..self }
    }

    /// In a run with so many steps of the method's own.
    #[must_use]
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.set_steps(steps);
        self
    }

    /// [`with_steps`](Self::with_steps), in place.
    pub(crate) fn set_steps(&mut self, steps: u64) {
        self.scope.steps = steps;
    }

    /// What a default that is not one number comes to here; `None` where a parameter has no such default.
    #[must_use]
    pub fn auto(&self, param: &Param) -> Option<f64> {
        let of = |linear: f64, network: f64| if self.scope.network { network } else { linear };
        let per_row = |linear: f64, network: f64, from_linear: f64| {
            let rooted = from_linear * crate::Real::sqrt(self.scope.params as f64);
            (if self.scope.from_linear { rooted } else { of(linear, network) }) / self.scope.rows()
        };
        Some(match param.auto? {
            Auto::Model { linear, network } => of(linear, network),
            Auto::Rate { linear, network, steps } => {
                let shorter = crate::Real::sqrt(steps as f64 / self.scope.steps.max(1) as f64);
                of(linear, network * shorter.clamp(1.0, 10.0))
            }
            Auto::Penalised { linear, network, penalty } => {
                let times = self.value("penalty") / penalty;
                of(linear, network) / if times > 1.0 { times } else { 1.0 }
            }
            Auto::PerRow { linear, network, from_linear } => per_row(linear, network, from_linear),
            Auto::Validated { linear, network } => per_row(linear, network, 1.0),
            Auto::PerPositive { linear, network } => {
                let [rows, positives] = self.scope.population;
                let positives = f64::from(if positives == 0 { rows } else { positives }.max(1));
                of(linear, network) * self.scope.params as f64 / positives
            }
            Auto::Positives(times) => times * f64::from(self.scope.population[1].max(1)),
            Auto::InRange { unit, least } => {
                // (A range is never empty; of one that is, the most.)
                let wanted = libm::ceil(IN_RANGE / (56.0 * (self.fpr.1 - self.fpr.0)));
                f64::from(unit) * f64::from((wanted.clamp(0.0, MOST_UNITS) as u32).max(least))
            }
            Auto::Passes { passes, linear, network } => {
                let (steps, least) = (
                    libm::ceil(passes * self.scope.rows() / f64::from(self.scope.batch)),
                    of(linear as f64, network as f64),
                );
                if steps > least { steps } else { least }
            }
            Auto::Share { linear, network } => {
                let (steps, least) = (libm::ceil(of(linear, network) * self.scope.steps as f64), param.least());
                if steps > least { steps } else { least }
            }
        })
    }

    /// The value of a parameter as text; `None` when the method has no such parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let param = self.param(name)?;
        let set = self.pairs.iter().rev().find(|pair| pair.0 == name).map(|pair| pair.1);
        Some(set.unwrap_or(param.default))
    }

    /// The value of a parameter as text.
    ///
    /// # Errors
    /// `Param` when the method has none of this name.
    pub fn word(&self, name: &'static str) -> Result<&'a str> {
        self.text(name).ok_or(Error::Param { what: name })
    }

    /// The value of a numeric parameter.
    ///
    /// # Errors
    /// `Param` when the method has no numeric parameter of this name.
    pub fn number(&self, name: &'static str) -> Result<f64> {
        let word = self.word(name)?;
        let auto = || self.param(name).and_then(|param| self.auto(param));
        let value = if word == AUTO { auto() } else { decimal::parse(word) };
        value.ok_or(Error::Param { what: name })
    }

    /// The value of a numeric parameter, NaN where there is none of this name: no constructor takes that.
    #[inline(never)]
    pub(crate) fn value(&self, name: &'static str) -> f64 {
        self.number(name).unwrap_or(f64::NAN)
    }

    /// The value of a whole-number parameter.
    ///
    /// # Errors
    /// `Param` when the method has none of this name.
    pub fn count(&self, name: &'static str) -> Result<u64> {
        let word = self.word(name)?;
        if word == AUTO {
            return Ok(self.number(name)? as u64);
        }
        word.parse().map_err(|_| Error::Param { what: name })
    }

    /// Whether weight decay pulls toward the start of the method's own steps instead of 0.
    fn pulls(&self) -> bool {
        self.text("decay-to").map_or(self.scope.from_linear, |to| to == "start")
    }

    /// Weight of half the squared distance to the start of the method's own steps in what is minimised.
    #[must_use]
    pub fn pull(&self) -> f64 {
        if self.pulls() { self.number("decay").unwrap_or(0.0) } else { 0.0 }
    }

    /// Weight of half the squared norm of the parameters in what is minimised.
    #[must_use]
    pub fn decay(&self) -> f64 {
        if self.pulls() { 0.0 } else { self.number("decay").unwrap_or(0.0) }
    }

    /// Weight decay of the steps before the method's own: that of cross-entropy by itself.
    #[must_use]
    pub fn pretraining_decay(&self) -> f64 {
        self.auto(if self.scope.classes > 2 { &CLASS_DECAY } else { &DECAY }).unwrap_or(0.0)
    }

    /// Steps of cross-entropy before the method's own.
    #[must_use]
    pub fn pretrain_steps(&self) -> u64 {
        self.count("pretrain").unwrap_or(0)
    }

    /// Steps of cross-entropy before the method's own, in a run of so many steps in all: what is set, or the default, which
    /// leaves at least half of a run that is shorter than usual to the method.
    #[must_use]
    pub fn pretrain_steps_of(&self, total: u64) -> u64 {
        if self.text("pretrain") != Some(AUTO) {
            return self.pretrain_steps();
        }
        match self.param("pretrain").and_then(|param| param.auto) {
            Some(Auto::Share { linear, network }) => {
                let share = if self.scope.network { network } else { linear };
                libm::ceil(total as f64 * share / (1.0 + share)) as u64
            }
            Some(
                Auto::Model { .. }
                | Auto::Rate { .. }
                | Auto::Penalised { .. }
                | Auto::PerRow { .. }
                | Auto::Validated { .. }
                | Auto::PerPositive { .. }
                | Auto::Passes { .. }
                | Auto::Positives(_)
                | Auto::InRange { .. },
            )
            | None => self.pretrain_steps().min(total / 2),
        }
    }

    /// Whether the last layer starts again after them, where it is the whole model or not.
    #[must_use]
    pub fn restarts(&self, last_is_all: bool) -> bool {
        match self.text("restart") {
            Some("last") => true,
            Some("auto") => !last_is_all,
            _ => false,
        }
    }

    /// A numeric parameter, or what its word stands for.
    pub(crate) fn number_or(&self, name: &'static str, meaning: f64) -> Result<f64> {
        let param = self.param(name).ok_or(Error::Param { what: name })?;
        match param.domain {
            Domain::NumberOr { word, .. } if self.word(name)? == word => Ok(meaning),
            Domain::Number { .. }
            | Domain::Count { .. }
            | Domain::Choice(_)
            | Domain::CountOr { .. }
            | Domain::NumberOr { .. } => self.number(name),
        }
    }

    /// What rates and proximal radii of the min-max methods are multiplied by.
    pub(crate) fn unit(&self) -> f64 {
        let [negatives, positives] = self.scope.population.map(f64::from);
        let p = positives / (positives + negatives);
        match self.text("units") {
            Some("balanced") if p > 0.0 && p < 1.0 => 1.0 / (p * (1.0 - p)),
            _ => 1.0,
        }
    }
}
