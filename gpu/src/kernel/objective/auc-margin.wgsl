// core/src/estimator/auc_margin.rs. objective: margin, scale.
fn by_score(positive: bool, d: f32, alpha: f32) -> f32 {
    let count = select(negatives, ROWS - negatives, positive);
    return 2.0 * objective[0].y * (1.0 / f32(count)) * select(d + alpha, d - alpha, positive);
}

fn saddle(low: vec4<f32>, high: vec4<f32>, alpha: f32) -> vec4<f32> {
    let scale = objective[0].y;
    let l = low / f32(negatives);
    let p = high / f32(ROWS - negatives);
    let gap = objective[0].x + l.x - p.x;
    let value = p.z + l.z + 2.0 * alpha * gap - alpha * alpha;
    return scale * vec4<f32>(-2.0 * p.y, -2.0 * l.y, -2.0 * (gap - alpha), value);
}
