//! The objective `smooth-ap` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "smooth-ap",
    family: Family::Pairs,
    shared: wgsl!("../pairs.wgsl"),
    text: wgsl!("smooth-ap.wgsl"),
    surrogate: "sigmoid",
    aux: 0,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.pairs(b.low() + b.high()),
};
