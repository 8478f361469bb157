//! The step rule `adam` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "adam", text: wgsl!("adam.wgsl"), points: 1, slots: 2, rising: false };
