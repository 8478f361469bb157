//! The step rule `ppd-adagrad` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "ppd-adagrad", text: wgsl!("ppd-adagrad.wgsl"), points: 2, slots: 3, rising: false };
