// core/src/estimator/ldam.rs. objective: weights and margins of negatives and of positives; the update from which classes are
// weighted, as in the state; the scale; the weights from then on. State: the number of updates, a multiple of 2²⁰ and a rest.
fn estimate(t: u32, run: u32, last: bool) {
    let at = base + BANK;
    let multiple = state[at];
    let rest = state[at + 1u];
    let late = multiple > objective[1].x || (multiple == objective[1].x && rest >= objective[1].y);
    let weights = select(objective[0].xy, objective[2].xy, late);
    let scale = objective[1].z;
    for (var r = t; r < ROWS; r += 256u) {
        let positive = r >= negatives;
        let x = scale * select(objective[0].z + h[r], objective[0].w - h[r], positive);
        let weight = select(weights.x, weights.y, positive);
        let slope = -(scale * settled(sigmoid(x), FAINT));
        c[r] = select(-(weight * slope), weight * slope, positive);
        staged[r] = vec4<f32>(weight * softplus(x));
    }
    storageBarrier();
    workgroupBarrier();
    if t == 0u {
        let full = rest + 1.0 == 0x1p20f;
        state[at] = select(multiple, multiple + 1.0, full);
        state[at + 1u] = select(rest + 1.0, 0.0, full);
        if last {
            var sum = 0.0;
            for (var r = 0u; r < ROWS; r++) {
                sum += staged[r].x;
            }
            answer[run] = sum;
        }
    }
}
