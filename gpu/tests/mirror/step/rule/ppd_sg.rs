//! Proximal primal-dual stochastic gradient.

use super::Entry;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, mean, first, descends, numbers: n, pace: [lr, other], state, .. } = of;
    let w = state[k];
    let extra = if descends { n[0] * w + n[1] * (w - state[first]) } else { 0.0 };
    state[k] = w - lr * (g + extra).settled();
    state[mean] += (state[k] - state[mean]) * other;
}
