//! Constraints on a model: bounds on rates, precision and losses of groups, and on the gaps between groups.
//!
//! A constraint is one or more functions g ≤ 0 of the means of cells. A cell is the rows of one label in one group.

use crate::error::{Error, Result};
use crate::metric::Rate;

/// The label whose rows a rate is a share of.
pub(crate) fn label(rate: Rate) -> usize {
    match rate {
        Rate::Fpr => 0,
        Rate::Tpr => 1,
    }
}

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// The difference of a rate between any two groups.
    Gap {
        /// Which rate.
        rate: Rate,
        /// At the threshold of this pooled false-positive rate, in (0, 1); `None` at all of [`LEVELS`].
        at: Option<f64>,
    },
    /// A rate of a group, or of everybody, at the score 0.
    Rate {
        /// Which rate.
        rate: Rate,
        /// Number of the group.
        group: Option<u16>,
    },
    /// The precision of a group, or of everybody, at the score 0. As precision is a quotient, P ≤ TP/(TP + FP) is taken as
    /// P·FP − (1 − P)·TP ≤ 0, with both per row of the group.
    Precision {
        /// Number of the group.
        group: Option<u16>,
    },
    /// The mean cross-entropy of a group, or of everybody.
    Loss {
        /// Number of the group.
        group: Option<u16>,
    },
}

/// Which side of the bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// measure ≤ bound.
    AtMost,
    /// measure ≥ bound.
    AtLeast,
}

/// One constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// The quantity that is bounded.
    pub measure: Measure,
    /// The side of the bound.
    pub sense: Sense,
    /// The bound.
    pub bound: f64,
}

/// Pooled false-positive rates at whose thresholds gaps are bounded.
pub const LEVELS: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75];

/// Constraints there may be.
pub const MOST: usize = 16;

impl Constraint {
    /// measure ≤ bound.
    #[must_use]
    pub const fn at_most(measure: Measure, bound: f64) -> Self {
        Self { measure, sense: Sense::AtMost, bound }
    }
    /// measure ≥ bound.
    #[must_use]
    pub const fn at_least(measure: Measure, bound: f64) -> Self {
        Self { measure, sense: Sense::AtLeast, bound }
    }

    /// `Ok` when it can be asked of data with so many groups.
    ///
    /// # Errors
    /// `Param`: a bound that no measure has (rates, precision and gaps lie in [0, 1], losses from 0 on), a level outside
    /// (0, 1), a group there is not, a gap or a loss that is to be large.
    pub fn check(&self, groups: u32) -> Result<()> {
        let top = if matches!(self.measure, Measure::Loss { .. }) { f64::MAX } else { 1.0 };
        if !(self.bound >= 0.0 && self.bound <= top) {
            return Err(Error::Param { what: "bound" });
        }
        let group = match self.measure {
            Measure::Gap { at, .. } => {
                if at.is_some_and(|level| !(level > 0.0 && level < 1.0)) {
                    return Err(Error::Param { what: "level" });
                }
                None
            }
            Measure::Rate { group, .. } | Measure::Precision { group } | Measure::Loss { group } => group,
        };
        if group.is_some_and(|group| u32::from(group) >= groups) {
            return Err(Error::Param { what: "group" });
        }
        let low_only = matches!(self.measure, Measure::Gap { .. } | Measure::Loss { .. });
        if low_only && self.sense == Sense::AtLeast {
            return Err(Error::Param { what: "sense" });
        }
        Ok(())
    }
}

/// A few constraints, by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraints {
    list: [Constraint; MOST],
    len: usize,
}

impl Constraints {
    /// No constraints.
    pub const NONE: Self =
        Self { list: [Constraint::at_most(Measure::Gap { rate: Rate::Fpr, at: None }, 0.0); MOST], len: 0 };

    /// Both gaps between the groups' ROC curves at most so large.
    #[must_use]
    pub const fn roc(bound: f64) -> Self {
        let mut list = Self::NONE.list;
        list[0] = Constraint::at_most(Measure::Gap { rate: Rate::Fpr, at: None }, bound);
        list[1] = Constraint::at_most(Measure::Gap { rate: Rate::Tpr, at: None }, bound);
        Self { list, len: 2 }
    }

    /// These constraints.
    ///
    /// # Errors
    /// `Param` (more than [`MOST`]).
    pub fn new(of: &[Constraint]) -> Result<Self> {
        let mut list = Self::NONE.list;
        list.get_mut(..of.len()).ok_or(Error::Param { what: "constraints" })?.copy_from_slice(of);
        Ok(Self { list, len: of.len() })
    }

    /// As a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[Constraint] {
        &self.list[..self.len]
    }
}
