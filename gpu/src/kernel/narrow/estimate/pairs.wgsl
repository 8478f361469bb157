// Pairs of a positive with the others of the batch. `weigh` takes the sums of the loss and of its slope over the negatives
// and over the positives (itself among them) and gives κ for its pairs with negatives, with positives, its share of the
// value and its own gradient. OTHERS: whether pairs of positives count.

fn estimate(t: u32, run: u32, last: bool) {
    let positives = ROWS - negatives;
    for (var i = t; i < positives; i += 256u) {
        let own = h[negatives + i];
        let low = pair_sum(own, 0u, negatives, 0u, 4u);
        var high: PairSum;
        if OTHERS {
            high = pair_sum(own, negatives, positives, 0u, 4u);
        }
        staged[i] = weigh(i, f32(positives), total(low.loss), total(high.loss), total(low.slope), total(high.slope));
    }
    workgroupBarrier();
    for (var j = t; j < ROWS; j += 256u) {
        let positive = j >= negatives;
        var own = 0.0;
        if positive {
            own = staged[j - negatives].w;
        }
        var sum = vec4<f32>(0.0);
        if OTHERS || !positive {
            sum = slope_sum(j, 0u, 4u);
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
