//! Constraints: from the configuration's texts to what a method trains under, and back for a report.

use super::config::{Config, TrainerError, listed};
use super::{AnyRun, Trainer};
use crate::constraint::{Constraint, Constraints, Measure};
use crate::data::Dataset;
use crate::estimator::{AnyEstimator, Function};
use crate::expression::{Bound, Expression, Quantity};
use crate::judge::group_number;
use crate::real::Real;
use crate::registry::{self, Kind, Method};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a configuration asks of a method on these data; `None` where it asks for nothing.
pub(super) fn asked<T: Real>(
    config: &Config,
    method: &Method,
    train: &Dataset<T>,
) -> Result<Option<Constraints>, TrainerError> {
    if config.constraints.is_empty() {
        return Ok(None);
    }
    if method.kind != Kind::Cells {
        let names: Vec<&str> = registry::METHODS.iter().filter(|m| m.kind == Kind::Cells).map(|m| m.name).collect();
        let text = format!("method {} trains under no constraints; there are {}", method.name, listed(&names));
        return Err(TrainerError::Config(text));
    }
    let list = config.constraints.iter().map(|text| numbered(text, train)).collect::<Result<Vec<_>, _>>()?;
    Constraints::new(&list).map(Some).map_err(|_| {
        TrainerError::Config(format!(
            "{} constraints are more than there may be, {}",
            list.len(),
            crate::constraint::MOST
        ))
    })
}

/// With numbers for the groups.
fn numbered<T: Real>(text: &str, train: &Dataset<T>) -> Result<Constraint, TrainerError> {
    let refuse = |why: String| TrainerError::Config(format!("constraint \"{}\": {why}", text.escape_debug()));
    let read = Expression::parse(text).map_err(|error| refuse(format!("{error}")))?;
    let number = |name: &Option<String>| {
        let number = name.as_ref().map(|name| group_number(name, train.group_names())).transpose();
        number.map(|number| number.map(|group| group as u16)).map_err(|error| refuse(format!("{error}")))
    };
    let measure = match &read.quantity {
        Quantity::Gap { .. } if train.groups() < 2 => return Err(refuse(String::from("the rows have no groups"))),
        Quantity::Gap { rate, fpr } => Measure::Gap { rate: *rate, at: *fpr },
        Quantity::Rate { rate, group } => Measure::Rate { rate: *rate, group: number(group)? },
        Quantity::Precision { group } => Measure::Precision { group: number(group)? },
        Quantity::Loss { group } => Measure::Loss { group: number(group)? },
        Quantity::LossOn { .. } => return Err(refuse(String::from("training knows the rows of its own file alone"))),
    };
    let Bound::Value(bound) = read.bound else {
        return Err(refuse(String::from("training has no earlier model to compare with")));
    };
    let constraint = Constraint { measure, sense: read.sense, bound };
    constraint.check(train.groups() as u32).map_err(|error| refuse(format!("{error}")))?;
    Ok(constraint)
}

impl<T: Real> Trainer<T> {
    /// What the run trains under, in the order of [`Function::constraint`]: what was asked for, else what its method is for.
    #[must_use]
    pub fn constraints(&self) -> Vec<Expression> {
        match self.estimator() {
            Some(AnyEstimator::Constrained(of)) => {
                let list = of.constraints().as_slice().iter();
                list.map(|constraint| Expression::of(constraint, self.train_data().group_names())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The tracked values and the weights of what it trains under, now; empty before the method's own steps. O(functions).
    #[must_use]
    pub fn constraint_functions(&self) -> Vec<Function> {
        match &self.run {
            AnyRun::Batches(run) if self.steps_done() > self.pretraining_steps() => run.constraint_functions(),
            _ => Vec::new(),
        }
    }
}
