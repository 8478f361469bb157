// core/src/estimator/pauc_minibatch.rs. objective: the ends of the range among the negatives of a batch. A negative counts by
// its part of the range.
fn prepare(t: u32) {
    for (var j = t; j < negatives; j += 256u) {
        let rank = ahead(j);
        let inside = min(rank + 1.0, objective[0].y) - max(rank, objective[0].x);
        staged[ROWS - negatives + j] = vec4<f32>(max(inside, 0.0));
    }
    workgroupBarrier();
}

