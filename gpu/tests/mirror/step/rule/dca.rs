//! Descent on a difference of convex functions.

use super::Entry;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, mean, first, numbers: n, pace: [lr, _], state, .. } = of;
    let w = state[k];
    let away = n[1] * (w - state[mean]);
    state[k] = w - lr * (g - state[first] + away + n[0] * w).settled();
}
