//! The objective `ldam` on the device.

use super::{Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "ldam",
    family: Family::Own,
    shared: "",
    text: wgsl!("ldam.wgsl"),
    surrogate: "",
    aux: 0,
    each: 0,
    beside: 2,
    sections: 1,
    staged: |_| 8,
    rounds: |b| (b.over_rows(), b.rows),
};
