// core/src/algorithm/pesg.rs: decay, pull toward the reference; lr, the share of the new iterate in the mean (1: it is the
// mean). Points: iterate, mean. Slots: the reference.
fn rule(k: u32, g: f32) {
    let u = state[base + k];
    let mean = base + LENGTH + k;
    var moved = 0.0;
    if k < LENGTH - ASCENT {
        moved = u - rates.x * settled(g + ruled[0].y * (u - state[base + SLOTS + k]) + ruled[0].x * u, FAINT);
    } else {
        moved = max(u - rates.x * settled(g, FAINT), 0.0);
    }
    state[base + k] = moved;
    state[mean] = select(state[mean] + (moved - state[mean]) * rates.y, moved, rates.y == 1.0);
}
