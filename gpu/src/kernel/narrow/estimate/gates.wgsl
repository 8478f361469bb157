// Pairs of a positive with the negatives, each with a weight of its own. `prepare` makes what of a negative the weights need,
// `begin` moves a positive's state and makes what of it they need, and its share of the value in z; `between` does what takes
// all positives. `weight` is that of four pairs, `unit` what all are in units of.

// What four negatives have.
fn four_gates(at: vec4<u32>) -> vec4<f32> {
    let k = vec4<u32>(ROWS - negatives) + min(at, vec4<u32>(negatives - 1u));
    return vec4<f32>(staged[k.x].x, staged[k.y].x, staged[k.z].x, staged[k.w].x);
}

// How many negatives are ahead of one, the earlier one of equal scores.
fn ahead(j: u32) -> f32 {
    var count = vec4<f32>(0.0);
    for (var k = 0u; k < negatives; k += 4u) {
        let at = k + FOUR;
        let other = four_scores(0u, at, negatives);
        let before = (other > vec4<f32>(h[j])) | ((other == vec4<f32>(h[j])) & (at < vec4<u32>(j)));
        count += select(vec4<f32>(0.0), vec4<f32>(1.0), before & (at < vec4<u32>(negatives)));
    }
    return total(count);
}

fn estimate(t: u32, run: u32, last: bool) {
    let positives = ROWS - negatives;
    let none = vec4<f32>(0.0);
    prepare(t);
    for (var i = t; i < positives; i += 256u) {
        staged[i] = begin(i);
    }
    storageBarrier();
    workgroupBarrier();
    between(t);
    let share = unit(f32(positives));
    for (var i = t; i < positives; i += 256u) {
        let own = vec4<f32>(h[negatives + i]);
        let mine = staged[i];
        var sum = none;
        for (var j = 0u; j < negatives; j += 4u) {
            let at = j + FOUR;
            let margin = own - four_scores(0u, at, negatives);
            let w = weight(vec4<f32>(mine.x), loss(margin), four_gates(at));
            sum += select(none, w * slope(margin), at < vec4<u32>(negatives));
        }
        c[negatives + i] = share * total(sum);
    }
    for (var j = t; j < negatives; j += 256u) {
        let gate = vec4<f32>(staged[positives + j].x);
        var sum = none;
        for (var i = 0u; i < positives; i += 4u) {
            let at = i + FOUR;
            let k = min(at, vec4<u32>(positives - 1u));
            let mine = vec4<f32>(staged[k.x].x, staged[k.y].x, staged[k.z].x, staged[k.w].x);
            let margin = four_scores(negatives, at, positives) - h[j];
            sum += select(none, weight(mine, loss(margin), gate) * slope(margin), at < vec4<u32>(positives));
        }
        c[j] = -(share * total(sum));
    }
    // (Those of c were made by positive and by negative; they are read by row.)
    workgroupBarrier();
    if last && t == 0u {
        var sum = 0.0;
        for (var i = 0u; i < positives; i++) {
            sum += staged[i].z;
        }
        answer[run] = whole(sum, f32(positives));
    }
}
