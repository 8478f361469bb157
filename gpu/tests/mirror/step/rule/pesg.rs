//! Proximal epoch stochastic gradient.

use super::Entry;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    let Entry { k, mean, first, descends, numbers: n, pace: [lr, other], state, .. } = of;
    let w = state[k];
    state[k] = match descends {
        true => w - lr * (g + n[1] * (w - state[first]) + n[0] * w).settled(),
        false => (w - lr * g.settled()).max(0.0),
    };
    state[mean] = if other == 1.0 { state[k] } else { state[mean] + (state[k] - state[mean]) * other };
}
