//! Constraints: from the texts of a configuration to the numbers of a method, and back for a report.

use super::best::Excess;
use super::config::{Config, TrainerError, listed};
use super::given::Beside;
use super::run::Run;
use super::{AnyRun, BatchRun, Predictor, Trainer};
use crate::constraint::{Constraint, Constraints, Measure};
use crate::data::Dataset;
use crate::decimal;
use crate::error::{Error, Escaped, Result};
use crate::estimator::{AnyEstimator, Function};
use crate::example_loss::GlmLoss;
use crate::expression::{Bound, Expression, Quantity};
use crate::judge::{JudgeError, Scored};
use crate::metric::Metrics;
use crate::metric::group::{cvar, cvar_need};
use crate::model::Model;
use crate::real::Real;
use crate::registry::{self, Kind, Method};
use crate::scratch::Scratch;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// What a configuration asks of a method on these data; `None` where it asks for nothing.
pub(super) fn asked<T: Real>(
    config: &Config,
    method: &Method,
    train: &Dataset<T>,
    beside: &Beside<T>,
) -> Result<Option<Constraints>, TrainerError> {
    let list = config.constraints.iter().map(|text| numbered(text, train, beside)).collect::<Result<Vec<_>, _>>()?;
    let named = |at: usize| {
        let group = (train.groups() + at) as u16;
        list.iter().any(|constraint| constraint.measure == Measure::Loss { group: Some(group) })
    };
    if let Some(at) = (0..beside.files().len()).find(|&at| !named(at)) {
        return Err(TrainerError::Config(format!("loss({}): no constraint names these rows", beside.files()[at].0)));
    }
    if list.is_empty() {
        return Ok(None);
    }
    if method.kind != Kind::Cells {
        let names: Vec<&str> = registry::METHODS.iter().filter(|m| m.kind == Kind::Cells).map(|m| m.name).collect();
        let text = format!("method {} trains under no constraints; there are {}", method.name, listed(&names));
        return Err(TrainerError::Config(text));
    }
    Constraints::new(&list).map(Some).map_err(|_| {
        TrainerError::Config(format!(
            "{} constraints are more than there may be, {}",
            list.len(),
            crate::constraint::MOST
        ))
    })
}

/// `Ok` unless constraints are asked for that the settings make meaningless.
pub(super) fn check_used<T: Real>(config: &Config, run: &AnyRun<T>) -> Result<(), TrainerError> {
    if !matches!(run.estimator(), Some(AnyEstimator::Gdro(_))) || config.constraints.is_empty() {
        return Ok(());
    }
    let text = "minimises the loss of the worst groups (cvar), and that under no constraints";
    Err(TrainerError::Config(format!("method {} {text}", config.method)))
}

/// `auc`, `ce`, or `cvar:SHARE`, the mean loss of the worst share of the groups, as settings of a method.
///
/// # Errors
/// `Config` for another text, and for methods that have an objective of their own.
pub fn objective(method: &Method, text: &str) -> Result<Vec<(String, String)>, TrainerError> {
    let refuse = |why: &str| Err(TrainerError::Config(format!("objective {text}: {why}")));
    let has = |name: &str| method.params.iter().any(|param| param.name == name);
    if !has("objective") && !has("share") {
        return refuse(&format!("method {} has its own", method.name));
    }
    let (what, share) = match text.split_once(':') {
        Some(("cvar", share)) if decimal::number(share).is_some_and(|share| share > 0.0 && share <= 1.0) => {
            ("cvar", Some(share))
        }
        None if text == "auc" || text == "ce" => (text, None),
        _ => return refuse("expected auc, ce or cvar:SHARE with 0 < SHARE <= 1"),
    };
    if !has("objective") && share.is_none() {
        return refuse(&format!("method {} minimises cvar:SHARE alone", method.name));
    }
    let pairs = [("objective", Some(what)), ("share", share)].into_iter().filter(|(name, _)| has(name));
    Ok(pairs.filter_map(|(name, value)| Some((name.to_string(), value?.to_string()))).collect())
}

impl Config {
    /// Whether what it asks for says nothing without groups: a method of groups, unless all its constraints are of all rows.
    #[must_use]
    pub fn needs_groups(&self) -> bool {
        let of_groups = |text: &String| match Expression::parse(text).map(|read| read.quantity) {
            Ok(Quantity::Rate { group, .. } | Quantity::Precision { group } | Quantity::Loss { group }) => {
                group.is_some()
            }
            Ok(Quantity::Gap { .. }) => true,
            // (What cannot be read is refused for that.)
            Ok(Quantity::LossOn { .. }) | Err(_) => false,
        };
        let worst = self.settings.iter().any(|(name, value)| name == "objective" && value == "cvar");
        let asked = !self.constraints.is_empty() && !self.constraints.iter().any(of_groups);
        registry::method(&self.method).is_some_and(|method| method.kind == Kind::Cells) && (worst || !asked)
    }
}

/// With numbers for the groups, those of files behind those of the training rows, and for what is `old`.
fn numbered<T: Real>(text: &str, train: &Dataset<T>, beside: &Beside<T>) -> Result<Constraint, TrainerError> {
    let refuse = |why: String| TrainerError::Config(format!("constraint \"{}\": {why}", Escaped(text)));
    let read = Expression::parse(text).map_err(|error| refuse(format!("{error}")))?;
    let mut rows = train;
    let measure = match &read.quantity {
        Quantity::LossOn { file } => {
            let at = beside.files().iter().position(|(name, _)| name == file);
            let at = at.ok_or_else(|| refuse(String::from("the rows of this file are not given")))?;
            rows = &*beside.files()[at].1;
            Measure::Loss { group: Some((train.groups() + at) as u16) }
        }
        Quantity::Gap { .. } | Quantity::Rate { .. } | Quantity::Precision { .. } | Quantity::Loss { .. } => {
            read.measure(train.group_names()).map_err(|error| refuse(format!("{error}")))?
        }
    };
    let bound = match read.bound {
        Bound::Value(bound) => bound,
        Bound::Old(more) => {
            let start = beside
                .start()
                .ok_or_else(|| refuse(String::from("there is no model to start from, which old is of")))?;
            old_loss(&read, start, rows).map_err(|error| refuse(format!("{error}")))? + more
        }
    };
    let constraint = Constraint { measure, sense: read.sense, bound };
    constraint.check((train.groups() + beside.files().len()) as u32).map_err(|error| refuse(format!("{error}")))?;
    Ok(constraint)
}

/// The loss that a constraint is of, of the model before training.
fn old_loss<T: Real>(of: &Expression, start: &Predictor<T>, rows: &Dataset<T>) -> Result<f64, JudgeError> {
    let mut scores = vec![T::ZERO; rows.len()];
    start.clone().score(rows.rows(), &mut scores)?;
    let (labels, group_of, group_names) = (rows.labels(), rows.group_of(), rows.group_names());
    let scored = Scored { scores: &scores, labels, group_of, group_names, old: &[] };
    let plain = Expression { bound: Bound::Value(0.0), ..of.clone() };
    let judged = plain.judge(&scored, T::ZERO, &mut Metrics::new())?;
    judged.value.ok_or(JudgeError::Core(Error::Empty { what: "rows" }))
}

impl<T: Real, R: Run<T>> Trainer<T, R> {
    /// What the run trains under, in the order of [`Function::constraint`]: what was asked for, else what its method is for.
    #[must_use]
    pub fn constraints(&self) -> Vec<Expression> {
        let Some(AnyEstimator::Constrained(of)) = self.estimator() else { return Vec::new() };
        if self.config().constraints.is_empty() {
            let list = of.constraints().as_slice().iter();
            return list.map(|constraint| Expression::of(constraint, self.train_data().group_names())).collect();
        }
        // (They were read when the run was made.)
        self.config().constraints.iter().filter_map(|text| Expression::parse(text).ok()).collect()
    }

    /// Warnings about the settings before the run: penalties without effect, since a constraint cannot come as far past
    /// its bound as it would have to. A sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(AnyEstimator::Constrained(of)) = self.estimator() {
            let constraints = self.constraints();
            let rows = self.beside.rows(&self.train);
            let mut population = vec![0; 2 * rows.groups()];
            rows.cells().iter().for_each(|&cell| population[cell as usize] += 1);
            of.out_of_reach(&population, |at, full, reach| {
                notes.push(format!(
                    "the penalty changes nothing for {}: it has its full weight from {full:.3} past the bound (smoothing times \
                     penalty{}), and at most {reach:.3} can be; a smaller smoothing helps",
                    constraints[at],
                    if matches!(constraints[at].quantity, Quantity::Gap { .. }) { ", twice" } else { "" }
                ));
            });
        }
        notes
    }

    /// By how much the model passes its bounds on these rows alone, with their scores, and those of files on their rows; nothing
    /// where they hold, or are none that such rows can be judged by.
    pub(super) fn excess(&mut self, scores: &[T], data: &Dataset<T>) -> Result<Excess> {
        let (constraints, mut excess) = (self.constraints(), Excess::default());
        let mut start = self.beside.start().cloned();
        let mut before = |rows: &Dataset<T>| -> Result<Vec<T>> {
            let Some(start) = &mut start else { return Ok(Vec::new()) };
            let mut scores = vec![T::ZERO; rows.len()];
            start.score(rows.rows(), &mut scores)?;
            Ok(scores)
        };
        let asks_old = |of: &Expression| matches!((&of.quantity, of.bound), (Quantity::Loss { .. }, Bound::Old(_)));
        let old = if constraints.iter().any(asks_old) { before(data)? } else { Vec::new() };
        let (labels, group_of, group_names) = (data.labels(), data.group_of(), data.group_names());
        let on = Scored { scores, labels, group_of, group_names, old: &old };
        let mut memory = Metrics::new();
        for constraint in &constraints {
            let judged = match &constraint.quantity {
                Quantity::LossOn { file } => {
                    let named = self.beside.files().iter().find(|(name, _)| name == file);
                    let Some(rows) = named.map(|(_, rows)| rows.clone()) else { continue };
                    let (mut scores, old) = (vec![T::ZERO; rows.len()], before(&rows)?);
                    self.score(rows.rows(), &mut scores)?;
                    let (labels, group_of, group_names) = (rows.labels(), &[], &[]);
                    let on = Scored { scores: &scores, labels, group_of, group_names, old: &old };
                    constraint.judge(&on, T::ZERO, &mut memory)
                }
                Quantity::Gap { .. } | Quantity::Rate { .. } | Quantity::Precision { .. } | Quantity::Loss { .. } => {
                    constraint.judge(&on, T::ZERO, &mut memory)
                }
            };
            match judged {
                Ok(judged) => {
                    let over = constraint.excess(&judged).or_larger(0.0);
                    excess.sum += over;
                    excess.noises += over / judged.noise.or_larger(f64::MIN_POSITIVE);
                }
                Err(JudgeError::Core(error)) => return Err(error),
                Err(_) => {}
            }
        }
        excess.noises = excess.noises.or_smaller(f64::MAX);
        Ok(excess)
    }

    /// Whether the method is one of the worst groups.
    pub(super) fn minimises_risk(&self) -> bool {
        matches!(self.estimator(), Some(AnyEstimator::Gdro(_)))
    }

    /// Of a method of the worst groups, the mean loss of their share of the groups (or cells) that have rows here and in
    /// training; `None` of others.
    pub(super) fn risk(&self, scores: &[T], data: &Dataset<T>) -> Result<Option<f64>> {
        Ok(self.risks(scores, data)?.map(|risks| risks.cvar))
    }

    /// Of a method of the worst groups, what it minimises on rows with these scores; `None` of others, and where no block has
    /// rows. O(n).
    ///
    /// # Errors
    /// `Overflow` when a loss does not fit.
    pub fn risks(&self, scores: &[T], data: &Dataset<T>) -> Result<Option<Risks>> {
        let Some(AnyEstimator::Gdro(of)) = self.estimator() else { return Ok(None) };
        let groups = self.train_data().groups().max(1);
        let cells = of.blocks() > groups;
        let block = |at: usize| BlockLoss {
            group: (at % groups) as u32,
            label: cells.then(|| u8::from(at >= groups)),
            rows: 0,
            loss: 0.0,
        };
        let mut blocks: Vec<BlockLoss> = (0..of.blocks()).map(block).collect();
        for ((&score, &label), &group) in scores.iter().zip(data.labels()).zip(data.group_of()) {
            let Some(block) = of.block_of(label, group).and_then(|at| blocks.get_mut(at)) else { continue };
            let sign = if label == 1 { 1.0 } else { -1.0 };
            block.loss += GlmLoss::Logistic.value(sign, score.f64());
            block.rows += 1;
        }
        blocks.retain(|block| block.rows > 0);
        if blocks.is_empty() {
            return Ok(None);
        }
        blocks.iter_mut().for_each(|block| block.loss /= block.rows as f64);
        let losses: Vec<f64> = blocks.iter().map(|block| block.loss).collect();
        let share = of.share_of_blocks();
        let mut room = vec![0.0; cvar_need(losses.len()).f64];
        let cvar = cvar(&losses, share, Scratch::<T> { f64: &mut room, ..Scratch::default() })?;
        Ok(Some(Risks { share, cvar, blocks }))
    }
}

/// What a method of the worst groups minimises, and of what.
#[derive(Clone, Debug, PartialEq)]
pub struct Risks {
    /// The share of the blocks that are the worst.
    pub share: f64,
    /// Their mean loss.
    pub cvar: f64,
    /// The blocks that have rows.
    pub blocks: Vec<BlockLoss>,
}

/// The mean logistic loss of a group, or of its rows of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLoss {
    /// The group.
    pub group: u32,
    /// The label; `None` where blocks are groups.
    pub label: Option<u8>,
    /// Number of rows.
    pub rows: u64,
    /// Their mean loss.
    pub loss: f64,
}

impl<T: Real> BatchRun<T> {
    /// The functions of the constraints that it trains under, now.
    pub(super) fn constraint_functions(&self) -> Vec<crate::estimator::Function> {
        let mut functions = Vec::new();
        if let AnyEstimator::Constrained(of) = &self.host.estimator {
            let aux = self.iterate().get(Model::<T>::param_len(&self.host.model)..).unwrap_or(&[]);
            // (A run's own memory fits.)
            let _ = of.report(aux, self.estimator_state(), &self.population, |function| functions.push(function));
        }
        functions
    }
}

impl<T: Real> Trainer<T> {
    /// The tracked values and the weights of what it trains under, now; empty before the method's own steps. O(functions).
    #[must_use]
    pub fn constraint_functions(&self) -> Vec<Function> {
        let run = self.run.batches().filter(|_| self.steps_done() > self.pretraining_steps());
        run.map(BatchRun::constraint_functions).unwrap_or_default()
    }
}
