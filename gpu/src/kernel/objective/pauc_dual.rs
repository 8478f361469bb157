//! The objective `pauc-dual` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "pauc-dual",
    family: Family::Gates,
    shared: "",
    text: wgsl!("pauc-dual.wgsl"),
    surrogate: "hinge",
    aux: 0,
    each: 6,
    beside: 2,
    sections: 2,
    staged: |_| 8,
    rounds: |b| b.gates(b.over_positives(b.low())),
};
