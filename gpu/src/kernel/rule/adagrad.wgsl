// core/src/algorithm/adagrad.rs: decay, ε; lr.
fn rule(k: u32, by: f32) {
    let w = state[base + k];
    let at = base + SLOTS + k;
    let g = settled(by + ruled[0].x * w, FAINT);
    let v = state[at] + g * g;
    state[at] = v;
    state[base + k] = w - rates.x * g / (sqrt(v) + ruled[0].y);
}
