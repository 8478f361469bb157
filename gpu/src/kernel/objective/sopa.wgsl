// core/src/estimator/pauc_dro.rs, SOPA. objective: the rank of the negative whose loss is the first threshold, 1/β, 1/(βb₋), η.
// State: a threshold for each positive.
fn prepare(t: u32) {
    for (var j = t; j < negatives; j += 256u) {
        if ahead(j) + 1.0 == objective[0].x {
            parts[0] = h[j];
        }
    }
    workgroupBarrier();
}

fn begin(i: u32) -> vec4<f32> {
    let at = base + BANK + lists[list + 1u + ROWS + i];
    let own = vec4<f32>(h[negatives + i]);
    var s = state[at];
    if s == 0.0 {
        s = loss(own - parts[0]).x;
    }
    var over = vec4<f32>(0.0);
    var above = vec4<f32>(0.0);
    for (var j = 0u; j < negatives; j += 4u) {
        let k = j + FOUR;
        let excess = loss(own - four_scores(0u, k, negatives)) - s;
        let counts = (excess > vec4<f32>(0.0)) & (k < vec4<u32>(negatives));
        over += select(vec4<f32>(0.0), excess, counts);
        above += select(vec4<f32>(0.0), vec4<f32>(1.0), counts);
    }
    state[at] = settled(s - objective[0].w * (1.0 - objective[0].z * total(above)), FAINT);
    return vec4<f32>(s, 0.0, s + objective[0].z * total(over), 0.0);
}

fn between(t: u32) {}

fn weight(mine: vec4<f32>, losses: vec4<f32>, gate: vec4<f32>) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(objective[0].y), losses - mine > vec4<f32>(0.0));
}

fn unit(count: f32) -> f32 {
    return 1.0 / (count * f32(negatives));
}

fn whole(sum: f32, count: f32) -> f32 {
    return sum / count;
}
