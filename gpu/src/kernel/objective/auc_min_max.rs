//! The objective `auc-min-max` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "auc-min-max",
    family: Family::Moments,
    shared: "",
    text: wgsl!("auc-min-max.wgsl"),
    surrogate: "",
    aux: 3,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| (b.over_rows() + b.low().max(b.high()), 0),
};
