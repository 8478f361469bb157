// core/src/estimator/soap.rs. objective: ω of the pair (i, i), of positives, of negatives, γ; u0, whether the first visit
// takes the estimate.
const OTHERS = true;

fn weigh(i: u32, count: f32, low: f32, high: f32, low_slope: f32, high_slope: f32) -> vec4<f32> {
    let own = loss(vec4<f32>(0.0)).x;
    let g1 = objective[0].x * own + objective[0].y * settled(high - own, FAINT);
    let g2 = g1 + objective[0].z * settled(low, FAINT);
    let at = base + BANK + 2u * lists[list + 1u + ROWS + i];
    let o1 = state[at];
    let o2 = state[at + 1u];
    let gamma = select(objective[0].w, 1.0, o2 == 0.0 && objective[1].y != 0.0);
    let u1 = (1.0 - gamma) * o1 + gamma * g1;
    let u2 = max((1.0 - gamma) * o2 + gamma * g2, objective[1].x);
    state[at] = u1;
    state[at + 1u] = u2;
    let ratio = settled(u1 / u2, FAINT);
    let over = (1.0 / count) / u2;
    let kappa = vec2<f32>(objective[0].z * over * ratio, objective[0].y * over * (ratio - 1.0));
    // What κ would add to a gradient is less than FAINT where it is 0.
    let faint = abs(kappa) * (vec2<f32>(1.0) + vec2<f32>(low, high)) < vec2<f32>(FAINT);
    let k = select(kappa, vec2<f32>(0.0), faint);
    return vec4<f32>(k, ratio, k.x * low_slope + k.y * high_slope);
}

fn whole(sum: f32, count: f32) -> f32 {
    return -(sum / count);
}
