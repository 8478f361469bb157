//! The parameter that chooses a step rule: above the rules, whose settings are parameters themselves.

use super::params::{Param, choice};
use crate::algorithm::OPTIMIZER_NAMES;

pub(crate) const fn optimizer(default: &'static str) -> Param {
    choice("optimizer", default, OPTIMIZER_NAMES, "step rule; adam-plain and amsgrad are SOAP's own forms")
}
