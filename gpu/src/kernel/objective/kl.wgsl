// Means of e^(ℓ/λ) by their logarithms, of which each positive's is its state. objective: 1/λ, γ.

// ln((1 − γ)e^old + γe^other); the other one where there is no old one.
fn blend(old: f32, other: f32, gamma: f32) -> f32 {
    if old == 0.0 {
        return other;
    }
    let most = max(old, other);
    let sum = (1.0 - gamma) * fading_exp(old - most) + gamma * fading_exp(other - most);
    return settled(most + log(sum), FAINT);
}

fn four_exp(x: vec4<f32>) -> vec4<f32> {
    return select(exp(x), vec4<f32>(0.0), x < vec4<f32>(-FADED));
}

// What it is after the batch.
fn moved(i: u32) -> f32 {
    let at = base + BANK + lists[list + 1u + ROWS + i];
    let own = vec4<f32>(h[negatives + i]);
    var most = vec4<f32>(-0x1p127f);
    for (var j = 0u; j < negatives; j += 4u) {
        // (One that is there twice is no other maximum.)
        most = max(most, objective[0].x * loss(own - four_scores(0u, j + FOUR, negatives)));
    }
    let largest = max(max(most.x, most.y), max(most.z, most.w));
    var sum = vec4<f32>(0.0);
    for (var j = 0u; j < negatives; j += 4u) {
        let k = j + FOUR;
        let e = four_exp(objective[0].x * loss(own - four_scores(0u, k, negatives)) - largest);
        sum += select(vec4<f32>(0.0), e, k < vec4<u32>(negatives));
    }
    let u = blend(state[at], settled(largest + log(total(sum) / f32(negatives)), FAINT), objective[0].y);
    state[at] = u;
    return u;
}

fn weight(mine: vec4<f32>, losses: vec4<f32>, gate: vec4<f32>) -> vec4<f32> {
    return four_exp(objective[0].x * losses + mine);
}

fn unit(count: f32) -> f32 {
    return 1.0 / (count * f32(negatives));
}

