// core/src/estimator/pauc_dual.rs, of f^n. objective: β, β − α; rates: –, θ. State: for f^m, then f^n, λ of each positive, its mean
// so far and the steps that holds; then the steps of the inner problem of either.
const OWNERS = (STATE - BANK - 2u) / 6u;

fn prepare(t: u32) {}

fn begin(i: u32) -> vec4<f32> {
    let at = base + BANK + 3u * (OWNERS + lists[list + 1u + ROWS + i]);
    let own = vec4<f32>(h[negatives + i]);
    let share = objective[0].x;
    let every = share >= 1.0;
    let lambda = select(state[at], 0.0, every);
    let gate = select(lambda, -0x1p127f, every);
    var over = vec4<f32>(0.0);
    var above = vec4<f32>(0.0);
    for (var j = 0u; j < negatives; j += 4u) {
        let k = j + FOUR;
        let losses = loss(own - four_scores(0u, k, negatives));
        let counts = (losses > vec4<f32>(gate)) & (k < vec4<u32>(negatives));
        over += select(vec4<f32>(0.0), losses - lambda, counts);
        above += select(vec4<f32>(0.0), vec4<f32>(1.0), counts);
    }
    if !every {
        let done = state[base + STATE - 1u] + 1.0;
        let held = state[at + 2u];
        if done > held {
            state[at + 1u] = (state[at + 1u] * held + lambda * (done - held)) / done;
        }
        state[at] = lambda - rates.y * (share - total(above) / f32(negatives));
        state[at + 2u] = done;
    }
    return vec4<f32>(gate, 0.0, total(over) + share * f32(negatives) * lambda, 0.0);
}

fn between(t: u32) {
    if t == 0u && objective[0].x < 1.0 {
        state[base + STATE - 1u] += 1.0;
    }
}

fn weight(mine: vec4<f32>, losses: vec4<f32>, gate: vec4<f32>) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(1.0), losses > mine);
}

fn unit(count: f32) -> f32 {
    return 1.0 / (count * f32(negatives) * objective[0].y);
}

fn whole(sum: f32, count: f32) -> f32 {
    return sum * unit(count);
}
