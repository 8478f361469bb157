//! The objective `focal` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "focal",
    family: Family::Points,
    shared: "",
    text: wgsl!("focal.wgsl"),
    surrogate: "",
    aux: 0,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |_| 8,
    rounds: |b| (b.over_rows(), b.rows),
};
