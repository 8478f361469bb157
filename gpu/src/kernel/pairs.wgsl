// Sums over pairs of a score with others, four at a time: every so-manieth four of them, from a first one on.

// Of the loss and of its slope, of `own` less each of `count` scores.
struct PairSum { loss: vec4<f32>, slope: vec4<f32> }

fn pair_sum(own: f32, begin: u32, count: u32, first: u32, stride: u32) -> PairSum {
    let none = vec4<f32>(0.0);
    var sum = PairSum(none, none);
    for (var j = first; j < count; j += stride) {
        let at = j + FOUR;
        let margin = vec4<f32>(own) - four_scores(begin, at, count);
        sum.loss += select(none, loss(margin), at < vec4<u32>(count));
        sum.slope += select(none, slope(margin), at < vec4<u32>(count));
    }
    return sum;
}

// Of the slope of each positive less row j, by the positive's κ for rows of that class.
fn slope_sum(j: u32, first: u32, stride: u32) -> vec4<f32> {
    let positives = ROWS - negatives;
    let none = vec4<f32>(0.0);
    var sum = none;
    for (var i = first; i < positives; i += stride) {
        let at = i + FOUR;
        let k = min(at, vec4<u32>(positives - 1u));
        let p = staged[k.x];
        let q = staged[k.y];
        let r = staged[k.z];
        let s = staged[k.w];
        let kappa = select(vec4<f32>(p.x, q.x, r.x, s.x), vec4<f32>(p.y, q.y, r.y, s.y), j >= negatives);
        sum += select(none, kappa * slope(four_scores(negatives, at, positives) - h[j]), at < vec4<u32>(positives));
    }
    return sum;
}
