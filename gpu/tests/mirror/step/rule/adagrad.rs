//! AdaGrad.

use super::Entry;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, first, numbers: n, pace: [lr, _], state, .. } = of;
    let w = state[k];
    let g = (g + n[0] * w).settled();
    state[first] += g * g;
    state[k] = w - lr * g / (state[first].sqrt() + n[1]);
}
