//! The step rule `momentum` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "momentum", text: wgsl!("momentum.wgsl"), points: 1, slots: 1, rising: false };
