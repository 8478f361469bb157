//! The step rule `ppd-sg` on the device.

use super::Rule;

pub(super) const RULE: Rule =
    Rule { name: "ppd-sg", text: wgsl!("ppd-sg.wgsl"), points: 2, slots: 1, rising: false };
