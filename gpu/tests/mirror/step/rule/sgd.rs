//! Gradient descent.

use super::Entry;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, numbers: n, pace: [lr, _], state, .. } = of;
    let w = state[k];
    state[k] = w - lr * (g + n[0] * w).settled();
}
