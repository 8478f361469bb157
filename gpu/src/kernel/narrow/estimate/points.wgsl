// Losses of single rows: `point` gives the gradient by score and the weighted loss.

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
