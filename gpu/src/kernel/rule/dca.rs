//! The step rule `dca` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "dca", text: wgsl!("dca.wgsl"), points: 2, slots: 1, rising: false };
