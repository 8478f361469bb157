// core/src/estimator/sorr.rs, f^n of the logistic loss. objective: weights of negatives and of positives, 1/(β − α), β; rates: –, θ.
// State: for f^m, then f^n, λ, its mean so far and the steps that holds; then the steps of the inner problem of either.
fn estimate(t: u32, run: u32, last: bool) {
    let at = base + BANK + 3u;
    let clock = at + 4u;
    let share = objective[0].w;
    let every = share >= 1.0;
    let lambda = select(state[at], 0.0, every);
    let gate = select(lambda, -0x1p127f, every);
    for (var r = t; r < ROWS; r += 256u) {
        let positive = r >= negatives;
        let z = select(-h[r], h[r], positive);
        let value = softplus(-z);
        let weight = select(objective[0].x, objective[0].y, positive);
        let slope = -(weight * objective[0].z) * sigmoid(-z);
        let counts = value > gate;
        c[r] = select(0.0, select(-slope, slope, positive), counts);
        staged[r] = select(vec4<f32>(0.0), vec4<f32>(weight * (value - lambda), weight, 0.0, 0.0), counts);
    }
    storageBarrier();
    workgroupBarrier();
    // Four invocations.
    if t < 4u {
        var sum = vec2<f32>(0.0);
        for (var r = t; r < ROWS; r += 4u) {
            sum += staged[r].xy;
        }
        parts[t] = sum.x;
        parts[4u + t] = sum.y;
    }
    workgroupBarrier();
    if t == 0u {
        let sum = total(vec4<f32>(parts[0], parts[1], parts[2], parts[3]));
        let above = total(vec4<f32>(parts[4], parts[5], parts[6], parts[7]));
        if !every {
            let done = state[clock] + 1.0;
            let held = state[at + 2u];
            if done > held {
                state[at + 1u] = (state[at + 1u] * held + lambda * (done - held)) / done;
            }
            state[at] = lambda - rates.y * (share - above);
            state[at + 2u] = done;
            state[clock] = done;
        }
        if last {
            answer[run] = (share * lambda + sum) * objective[0].z;
        }
    }
}
