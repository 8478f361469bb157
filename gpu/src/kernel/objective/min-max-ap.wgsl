// core/src/estimator/min_max_ap.rs. objective: whether weights are unbiased, masses of negatives and of positives, 1/K.
// K = ASCENT anchors, an invocation each; thresholds, then multipliers behind the parameters.
fn estimate(t: u32, run: u32, last: bool) {
    let none = vec4<f32>(0.0);
    let positives = ROWS - negatives;
    let all = objective[0].y + objective[0].z;
    var w = vec2<f32>(all / (f32(ROWS) * objective[0].z));
    if objective[0].x != 0.0 {
        w = vec2<f32>(objective[0].y / (f32(negatives) * objective[0].z), 1.0 / f32(positives));
    }
    let over = objective[0].w;
    var by = vec2<f32>(0.0);
    if t < ASCENT {
        let threshold = state[base + PARAMS + t];
        let multiplier = state[base + PARAMS + ASCENT + t];
        let alarms = pair_sum(threshold, 0u, negatives, 0u, 4u);
        var missed = none;
        var missed_slope = none;
        for (var i = 0u; i < positives; i += 4u) {
            let at = i + FOUR;
            let margin = four_scores(negatives, at, positives) - threshold;
            missed += select(none, loss(margin), at < vec4<u32>(positives));
            missed_slope += select(none, slope(margin), at < vec4<u32>(positives));
        }
        // π/(1 − π), π from the share of positives on.
        let odds = (objective[0].z * f32(ASCENT + 1u) + objective[0].y * f32(t + 1u)) / (objective[0].y * f32(ASCENT - t));
        let lambda = abs(multiplier);
        let lost = w.y * total(missed);
        let constraint = odds * w.x * total(alarms.loss) - (1.0 - lost);
        let low = settled(over * lambda * odds * w.x, FAINT);
        let high = settled(over * (1.0 + lambda) * w.y, FAINT);
        by.x = low * total(alarms.slope) - high * total(missed_slope);
        by.y = settled(-(over * select(constraint, -constraint, multiplier < 0.0)), FAINT);
        staged[t] = vec4<f32>(threshold, low, high, over * (lost + lambda * constraint));
    }
    workgroupBarrier();
    for (var r = t; r < ROWS; r += 256u) {
        let positive = r >= negatives;
        var sum = none;
        for (var k = 0u; k < ASCENT; k += 4u) {
            let at = k + FOUR;
            let anchor = min(at, vec4<u32>(ASCENT - 1u));
            let p = staged[anchor.x];
            let q = staged[anchor.y];
            let u = staged[anchor.z];
            let v = staged[anchor.w];
            let far = vec4<f32>(h[r]) - vec4<f32>(p.x, q.x, u.x, v.x);
            let kappa = select(vec4<f32>(p.y, q.y, u.y, v.y), vec4<f32>(p.z, q.z, u.z, v.z), positive);
            sum += select(none, kappa * slope(select(-far, far, positive)), at < vec4<u32>(ASCENT));
        }
        c[r] = select(-total(sum), total(sum), positive);
    }
    if t < ASCENT {
        move_along(PARAMS + t, by.x);
        move_along(PARAMS + ASCENT + t, by.y);
    }
    if last && t == 0u {
        var sum = 0.0;
        for (var k = 0u; k < ASCENT; k++) {
            sum += staged[k].w;
        }
        answer[run] = sum;
    }
}
