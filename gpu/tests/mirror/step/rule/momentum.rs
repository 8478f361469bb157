//! Momentum.

use super::Entry;
use crate::mirror::TINY;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, first, numbers: n, pace: [lr, _], state, .. } = of;
    let w = state[k];
    state[first] = (n[1] * state[first] + n[2] * (g + n[0] * w).settled()).settled_below(TINY);
    state[k] = w - lr * state[first];
}
