// Pairs of a positive with the others of the batch. `weigh` takes the sums of the loss and of its slope over the negatives
// and over the positives (itself among them) and gives κ for its pairs with negatives, with positives, its share of the
// value and its own gradient. OTHERS: whether pairs of positives count.

fn estimate(t: u32, run: u32, last: bool) {
    let positives = ROWS - negatives;
    let none = vec4<f32>(0.0);
    for (var i = t; i < positives; i += 256u) {
        let own = vec4<f32>(h[negatives + i]);
        var low = none;
        var high = none;
        var low_slope = none;
        var high_slope = none;
        for (var j = 0u; j < negatives; j += 4u) {
            let at = j + FOUR;
            let margin = own - four_scores(0u, at, negatives);
            low += select(none, loss(margin), at < vec4<u32>(negatives));
            low_slope += select(none, slope(margin), at < vec4<u32>(negatives));
        }
        if OTHERS {
            for (var j = 0u; j < positives; j += 4u) {
                let at = j + FOUR;
                let margin = own - four_scores(negatives, at, positives);
                high += select(none, loss(margin), at < vec4<u32>(positives));
                high_slope += select(none, slope(margin), at < vec4<u32>(positives));
            }
        }
        staged[i] = weigh(i, f32(positives), total(low), total(high), total(low_slope), total(high_slope));
    }
    workgroupBarrier();
    for (var j = t; j < ROWS; j += 256u) {
        let positive = j >= negatives;
        var own = 0.0;
        if positive {
            own = staged[j - negatives].w;
        }
        var sum = none;
        if OTHERS || !positive {
            for (var i = 0u; i < positives; i += 4u) {
                let at = i + FOUR;
                let k = min(at, vec4<u32>(positives - 1u));
                let p = staged[k.x];
                let q = staged[k.y];
                let r = staged[k.z];
                let s = staged[k.w];
                let kappa = select(vec4<f32>(p.x, q.x, r.x, s.x), vec4<f32>(p.y, q.y, r.y, s.y), positive);
                sum += select(none, kappa * slope(four_scores(negatives, at, positives) - h[j]), at < vec4<u32>(positives));
            }
        }
        c[j] = own - total(sum);
    }
    if last && t == 0u {
        var sum = 0.0;
        for (var i = 0u; i < positives; i++) {
            sum += staged[i].z;
        }
        answer[run] = whole(sum, f32(positives));
    }
}
