// core/src/algorithm/adam.rs: decay, β₁, 1 − β₁, β₂; 1 − β₂, what is added inside the root; factor, what is added outside.
// RISING: AMSGrad's second moment, which never falls.
fn rule(k: u32, by: f32) {
    let w = state[base + k];
    let first = base + SLOTS + k;
    let second = first + LENGTH;
    let g = settled(by + ruled[0].x * w, FAINT);
    let m = settled(ruled[0].y * state[first] + ruled[0].z * g, TINY);
    let old = state[second];
    var v = settled(ruled[0].w * old + ruled[1].x * g * g, 0x1p-126f);
    if RISING {
        v = max(v, old);
    }
    state[first] = m;
    state[second] = v;
    state[base + k] = w - rates.x * m / (sqrt(v + ruled[1].y) + rates.y);
}
