//! The step rule `amsgrad` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "amsgrad", text: wgsl!("adam.wgsl"), points: 1, slots: 2, rising: true };
