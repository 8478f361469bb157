// core/src/algorithm/momentum.rs: decay, β, 1 − β; lr.
fn rule(k: u32, g: f32) {
    let w = state[base + k];
    let at = base + SLOTS + k;
    let v = settled(ruled[0].y * state[at] + ruled[0].z * settled(g + ruled[0].x * w, FAINT), TINY);
    state[at] = v;
    state[base + k] = w - rates.x * v;
}
