// core/src/estimator/auc_min_max.rs with a known prior. objective: p, p(1 − p), whether weights are unbiased, negatives;
// positives of the data.
fn weights() -> vec2<f32> {
    let low = f32(negatives);
    let high = f32(ROWS - negatives);
    if objective[0].z == 0.0 {
        return vec2<f32>(1.0 / f32(ROWS));
    }
    let all = objective[0].w + objective[1].x;
    return select(vec2<f32>(objective[0].w, objective[1].x) / (all * max(vec2<f32>(low, high), vec2<f32>(1.0))),
        vec2<f32>(0.0), vec2<f32>(low, high) == vec2<f32>(0.0));
}

fn by_score(positive: bool, d: f32, alpha: f32) -> f32 {
    let w = weights();
    let p = objective[0].x;
    return select(w.x * 2.0 * p * (d + 1.0 + alpha), w.y * 2.0 * (1.0 - p) * (d - 1.0 - alpha), positive);
}

fn saddle(low: vec4<f32>, high: vec4<f32>, alpha: f32) -> vec4<f32> {
    let p = objective[0].x;
    let w = weights();
    let l = p * w.x * low;
    let q = (1.0 - p) * w.y * high;
    let cross = l.x - q.x;
    let variance = objective[0].y;
    let value = q.z + l.z + 2.0 * (1.0 + alpha) * cross - variance * alpha * alpha;
    return vec4<f32>(-2.0 * q.y, -2.0 * l.y, -(2.0 * cross - 2.0 * variance * alpha), value);
}
