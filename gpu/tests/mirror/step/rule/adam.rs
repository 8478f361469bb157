//! Adam.

use super::Entry;
use crate::mirror::TINY;
use undercurve::Real;

pub fn rule(of: Entry<'_>, g: f32) {
    moved(of, g, |new, _| new);
}

/// By the second moment that `second` makes of the new one and the old.
pub fn moved(of: Entry<'_>, g: f32, second: impl Fn(f32, f32) -> f32) {
    let Entry { k, first, length, numbers: n, pace: [lr, other], state, .. } = of;
    let w = state[k];
    let g = (g + n[0] * w).settled();
    let at = first + length;
    let m = (n[1] * state[first] + n[2] * g).settled_below(TINY);
    let v = (n[3] * state[at] + n[4] * g * g).settled_below(f32::MIN_POSITIVE);
    let v = second(v, state[at]);
    (state[first], state[at]) = (m, v);
    state[k] = w - lr * m / ((v + n[5]).sqrt() + other);
}
