//! The objective `sopa-s` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "sopa-s",
    family: Family::Gates,
    shared: wgsl!("kl.wgsl"),
    text: wgsl!("sopa-s.wgsl"),
    surrogate: "sigmoid",
    aux: 0,
    each: 1,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| b.gates(b.over_positives(2 * b.low())),
};
