// core/src/algorithm/dca.rs: decay, L; η/(1 + η(L + δ)), θ of the duals. Points: iterate, where the outer step began. Slots: the linear part.
fn rule(k: u32, g: f32) {
    let w = state[base + k];
    let away = ruled[0].y * (w - state[base + LENGTH + k]);
    state[base + k] = w - rates.x * settled(g - state[base + SLOTS + k] + away + ruled[0].x * w, FAINT);
}
