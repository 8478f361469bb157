//! The objective `min-max-ap` on the device.

use super::{Family, Objective, quads};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "min-max-ap",
    family: Family::Own,
    shared: wgsl!("../pairs.wgsl"),
    text: wgsl!("min-max-ap.wgsl"),
    surrogate: "hinge",
    aux: 20,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |shape| shape.ascent,
    rounds: |b| (b.low() + b.high() + b.sweep(b.rows, quads(b.ascent)), b.ascent),
};
