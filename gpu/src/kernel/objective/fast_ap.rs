//! The objective `fast-ap` on the device.

use super::{BINS, Family, Objective};

pub(super) const OBJECTIVE: Objective = Objective {
    name: "fast-ap",
    family: Family::Own,
    shared: "",
    text: wgsl!("fast-ap.wgsl"),
    surrogate: "",
    aux: 0,
    each: 0,
    beside: 0,
    sections: 1,
    staged: |_| BINS,
    rounds: |b| (b.low() + b.high() + u64::from(BINS) + b.over_rows(), BINS),
};
