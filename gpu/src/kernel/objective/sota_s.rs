//! The objective `sota-s` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "sota-s",
    family: Family::Gates,
    shared: wgsl!("kl.wgsl"),
    text: wgsl!("sota-s.wgsl"),
    surrogate: "sigmoid",
    aux: 0,
    each: 1,
    beside: 1,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.gates(b.over_positives(2 * b.low()) + 3 * u64::from(b.positives)),
};
