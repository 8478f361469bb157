//! The step rule `pesg` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "pesg", text: wgsl!("pesg.wgsl"), points: 2, slots: 1, rising: false };
