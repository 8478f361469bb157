//! The objective `soap` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "soap",
    family: Family::Pairs,
    shared: wgsl!("../pairs.wgsl"),
    text: wgsl!("soap.wgsl"),
    surrogate: "squared-hinge",
    aux: 0,
    each: 2,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.pairs(b.low() + b.high()),
};
