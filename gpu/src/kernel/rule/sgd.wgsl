// core/src/algorithm/sgd.rs: decay; lr.
fn rule(k: u32, g: f32) {
    let w = state[base + k];
    state[base + k] = w - rates.x * settled(g + ruled[0].x * w, FAINT);
}
