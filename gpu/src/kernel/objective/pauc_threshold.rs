//! The objective `pauc-threshold` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "pauc-threshold",
    family: Family::Gates,
    shared: wgsl!("range.wgsl"),
    text: wgsl!("pauc-threshold.wgsl"),
    surrogate: "hinge",
    aux: 0,
    each: 0,
    beside: 4,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.gates(b.over_negatives(b.low() + 2) + 3 * b.low() + 2 + b.over_negatives(0) + b.over_positives(b.low())),
};
