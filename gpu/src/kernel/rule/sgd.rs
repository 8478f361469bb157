//! The step rule `sgd` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "sgd", text: wgsl!("sgd.wgsl"), points: 1, slots: 0, rising: false };
