// core/src/estimator/fast_ap.rs. objective: whether weights are unbiased, negatives and positives of the data, L. An
// invocation an edge of the histogram.

// What four scores add at an edge.
fn shares(score: vec4<f32>, edge: f32, bins: f32) -> vec4<f32> {
    let x = score * bins;
    let lower = min(floor(x), vec4<f32>(bins - 1.0));
    let share = x - lower;
    return select(select(vec4<f32>(0.0), share, lower + 1.0 == vec4<f32>(edge)), 1.0 - share, lower == vec4<f32>(edge));
}

fn estimate(t: u32, run: u32, last: bool) {
    let none = vec4<f32>(0.0);
    let bins = objective[0].w;
    let edges = min(u32(bins) + 1u, STAGED);
    let positives = ROWS - negatives;
    var w = vec2<f32>(1.0);
    if objective[0].x != 0.0 {
        w.x = objective[0].y / f32(negatives);
        w.y = objective[0].z;
        if positives > 1u {
            w.y = (objective[0].z - 1.0) / (f32(positives) - 1.0);
        }
    }
    if t < edges {
        var low = none;
        var high = none;
        for (var j = 0u; j < negatives; j += 4u) {
            let at = j + FOUR;
            low += select(none, shares(four_scores(0u, at, negatives), f32(t), bins), at < vec4<u32>(negatives));
        }
        for (var i = 0u; i < positives; i += 4u) {
            let at = i + FOUR;
            high += select(none, shares(four_scores(negatives, at, positives), f32(t), bins), at < vec4<u32>(positives));
        }
        staged[t] = vec4<f32>(w.x * total(low), w.y * total(high), 0.0, 0.0);
    }
    workgroupBarrier();
    // By one score below and above the edge, of negatives and of positives; the precision there; the share of the value.
    var edge = none;
    if t < edges {
        var above = vec2<f32>(0.0);
        for (var z = edges; z > t; z--) {
            above += staged[z - 1u].xy;
        }
        let all = above.x + above.y;
        if all > 0.0 {
            let fill = staged[t].y;
            let by = (fill / all) / all;
            edge = vec4<f32>(-(by * above.y), by * above.x, above.y / all, fill * above.y / all);
        }
    }
    workgroupBarrier();
    if t < edges {
        staged[t] = edge;
    }
    workgroupBarrier();
    let scale = bins / (w.y * f32(positives));
    for (var r = t; r < ROWS; r += 256u) {
        let bin = u32(min(h[r] * bins, bins - 1.0));
        let upper = staged[bin + 1u];
        let positive = r >= negatives;
        let by = select(upper.x, upper.y + (upper.z - staged[bin].z), positive);
        c[r] = settled(-(scale * select(w.x, w.y, positive) * by), FAINT);
    }
    if last && t == 0u {
        var sum = 0.0;
        for (var z = 0u; z < edges; z++) {
            sum += staged[z].w;
        }
        answer[run] = 1.0 - sum / (w.y * f32(positives));
    }
}
