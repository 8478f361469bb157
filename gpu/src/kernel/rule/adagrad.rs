//! The step rule `adagrad` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "adagrad", text: wgsl!("adagrad.wgsl"), points: 1, slots: 1, rising: false };
