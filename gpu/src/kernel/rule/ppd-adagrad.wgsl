// core/src/algorithm/ppd_adagrad.rs: –, 1/prox, δ; lr, the share of the new iterate in the mean. Points: iterate, mean.
// Slots: the anchor, Σ ĝ, Σ ĝ².
fn rule(k: u32, by: f32) {
    let u = state[base + k];
    let mean = base + LENGTH + k;
    let anchor = state[base + SLOTS + k];
    let sums = base + SLOTS + LENGTH + k;
    let squares = sums + LENGTH;
    var g = by;
    if k < LENGTH - ASCENT {
        g += ruled[0].y * (u - anchor);
    }
    g = settled(g, FAINT);
    let sum = state[sums] + g;
    let square = state[squares] + g * g;
    let moved = anchor - rates.x * sum / (ruled[0].z + sqrt(square));
    state[sums] = sum;
    state[squares] = square;
    state[base + k] = moved;
    state[mean] += (moved - state[mean]) * rates.y;
}
