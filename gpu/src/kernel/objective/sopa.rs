//! The objective `sopa` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "sopa",
    family: Family::Gates,
    shared: "",
    text: wgsl!("sopa.wgsl"),
    surrogate: "hinge",
    aux: 0,
    each: 1,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.gates(b.over_negatives(b.low()) + b.over_positives(b.low())),
};
