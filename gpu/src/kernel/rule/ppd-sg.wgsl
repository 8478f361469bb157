// core/src/algorithm/ppd_sg.rs: decay, 1/prox; lr, the share of the new iterate in the mean. Points: iterate, mean. Slots:
// the anchor.
fn rule(k: u32, g: f32) {
    let u = state[base + k];
    let mean = base + LENGTH + k;
    var extra = 0.0;
    if k < LENGTH - ASCENT {
        extra = ruled[0].x * u + ruled[0].y * (u - state[base + SLOTS + k]);
    }
    let moved = u - rates.x * settled(g + extra, FAINT);
    state[base + k] = moved;
    state[mean] += (moved - state[mean]) * rates.y;
}
