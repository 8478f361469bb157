// core/src/estimator/pauc_dro.rs, SOTA-s. objective: 1/λ, γ, λ; λ/τ, γ', τ. State: behind the positives', the logarithm of the
// mean of theirs.
fn prepare(t: u32) {}

fn begin(i: u32) -> vec4<f32> {
    return vec4<f32>(moved(i), 0.0, 0.0, 0.0);
}

fn between(t: u32) {
    let positives = ROWS - negatives;
    let power = objective[0].w;
    if t == 0u {
        var most = -0x1p127f;
        for (var i = 0u; i < positives; i++) {
            most = max(most, power * staged[i].x);
        }
        var sum = 0.0;
        for (var i = 0u; i < positives; i++) {
            sum += fading_exp(power * staged[i].x - most);
        }
        let at = base + STATE - 1u;
        let v = blend(state[at], settled(most + log(sum / f32(positives)), FAINT), objective[1].x);
        state[at] = v;
        for (var i = 0u; i < positives; i++) {
            staged[i] = vec4<f32>((power - 1.0) * staged[i].x - v, 0.0, objective[1].y * v, 0.0);
        }
    }
    workgroupBarrier();
}

fn whole(sum: f32, count: f32) -> f32 {
    return sum / count;
}
