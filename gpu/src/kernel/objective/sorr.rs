//! The objective `sorr` on the device.

use super::{Family, Objective, quads};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "sorr",
    family: Family::Own,
    shared: "",
    text: wgsl!("sorr.wgsl"),
    surrogate: "",
    aux: 0,
    each: 0,
    beside: 8,
    sections: 1,
    staged: |_| 8,
    rounds: |b| (b.over_rows() + quads(b.rows), 0),
};
