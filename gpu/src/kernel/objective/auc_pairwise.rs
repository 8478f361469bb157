//! The objective `auc-pairwise` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "auc-pairwise",
    family: Family::Pairs,
    shared: wgsl!("../pairs.wgsl"),
    text: wgsl!("auc-pairwise.wgsl"),
    surrogate: "squared-hinge",
    aux: 0,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.pairs(b.low()),
};
