//! Proximal primal-dual AdaGrad.

use super::Entry;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, mean, first, length, descends, numbers: n, pace: [lr, other], state } = of;
    let w = state[k];
    let g = if descends { g + n[1] * (w - state[first]) } else { g }.settled();
    let (sums, squares) = (first + length, first + 2 * length);
    state[sums] += g;
    state[squares] += g * g;
    state[k] = state[first] - lr * state[sums] / (n[2] + state[squares].sqrt());
    state[mean] += (state[k] - state[mean]) * other;
}
