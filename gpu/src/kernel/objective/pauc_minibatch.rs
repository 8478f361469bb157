//! The objective `pauc-minibatch` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "pauc-minibatch",
    family: Family::Gates,
    shared: wgsl!("range.wgsl"),
    text: wgsl!("pauc-minibatch.wgsl"),
    surrogate: "hinge",
    aux: 0,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.gates(b.over_negatives(b.low()) + b.over_positives(b.low())),
};
