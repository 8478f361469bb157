//! AMSGrad: Adam with a second moment that never falls.

use super::{Entry, adam};

pub fn rule(of: Entry<'_>, g: f32) {
    adam::moved(of, g, f32::max);
}
