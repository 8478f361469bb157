// Losses of single rows: `point` gives the gradient by score and the weighted loss.

// ln(1 + e^x); ln(1 + e) for e in [0, 1] is 2 atanh(e/(2 + e)), by its series: WGSL has no log1p.
fn softplus(x: f32) -> f32 {
    let e = fading_exp(-abs(x));
    let z = e / (2.0 + e);
    let q = z * z;
    var s = 0.07692308;
    s = s * q + 0.09090909;
    s = s * q + 0.11111111;
    s = s * q + 0.14285715;
    s = s * q + 0.2;
    s = s * q + 0.33333334;
    s = s * q + 1.0;
    return max(x, 0.0) + (z + z) * s;
}

fn estimate(t: u32, run: u32, last: bool) {
    let w = objective[0].xy;
    for (var r = t; r < ROWS; r += 256u) {
        let positive = r >= negatives;
        let both = point(select(-h[r], h[r], positive));
        let weight = select(w.x, w.y, positive);
        c[r] = select(-(weight * both.y), weight * both.y, positive);
        staged[r] = vec4<f32>(weight * both.x);
    }
    workgroupBarrier();
    if last && t == 0u {
        var sum = 0.0;
        for (var r = 0u; r < ROWS; r++) {
            sum += staged[r].x;
        }
        answer[run] = sum;
    }
}
