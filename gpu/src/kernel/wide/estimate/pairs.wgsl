// Pairs of a positive with the others of the batch, as in lane/estimate/pairs.wgsl: 16 positives a workgroup, 16 strands each,
// four pairs at a time; then 16 rows a workgroup.

fn four_scores(begin: u32, at: vec4<u32>, count: u32) -> vec4<f32> {
    let k = vec4<u32>(begin) + min(at, vec4<u32>(count - 1u));
    return vec4<f32>(h[k.x], h[k.y], h[k.z], h[k.w]);
}

@compute @workgroup_size(256)
fn estimate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let positives = ROWS - negatives;
    let none = vec4<f32>(0.0);
    let lanes = vec4<u32>(0u, 1u, 2u, 3u);
    let i = 16u * group.x + (t >> 4u);
    let strand = 4u * (t & 15u);
    var low = none;
    var high = none;
    var low_slope = none;
    var high_slope = none;
    if i < positives {
        let own = vec4<f32>(h[negatives + i]);
        for (var j = strand; j < negatives; j += 64u) {
            let at = j + lanes;
            let margin = own - four_scores(0u, at, negatives);
            low += select(none, loss(margin), at < vec4<u32>(negatives));
            low_slope += select(none, slope(margin), at < vec4<u32>(negatives));
        }
        if OTHERS {
            for (var j = strand; j < positives; j += 64u) {
                let at = j + lanes;
                let margin = own - four_scores(negatives, at, positives);
                high += select(none, loss(margin), at < vec4<u32>(positives));
                high_slope += select(none, slope(margin), at < vec4<u32>(positives));
            }
        }
    }
    slabs[t] = vec4<f32>(total(low), total(high), total(low_slope), total(high_slope));
    workgroupBarrier();
    if strand == 0u && i < positives {
        let sums = strands(t);
        staged[i] = weigh(i, f32(positives), sums.x, sums.y, sums.z, sums.w);
    }
}

@compute @workgroup_size(256)
fn slopes(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let positives = ROWS - negatives;
    let none = vec4<f32>(0.0);
    let lanes = vec4<u32>(0u, 1u, 2u, 3u);
    let j = 16u * group.x + (t >> 4u);
    let strand = 4u * (t & 15u);
    let positive = j >= negatives;
    var sum = none;
    if j < ROWS && (OTHERS || !positive) {
        for (var i = strand; i < positives; i += 64u) {
            let at = i + lanes;
            let k = min(at, vec4<u32>(positives - 1u));
            let p = staged[k.x];
            let q = staged[k.y];
            let r = staged[k.z];
            let s = staged[k.w];
            let kappa = select(vec4<f32>(p.x, q.x, r.x, s.x), vec4<f32>(p.y, q.y, r.y, s.y), positive);
            sum += select(none, kappa * slope(four_scores(negatives, at, positives) - h[j]), at < vec4<u32>(positives));
        }
    }
    slabs[t] = vec4<f32>(total(sum));
    workgroupBarrier();
    if strand == 0u && j < ROWS {
        var own = 0.0;
        if positive {
            own = staged[j - negatives].w;
        }
        c[j] = chained(j, own - strands(t).x);
    }
}

fn share(i: u32) -> f32 {
    if i < ROWS - negatives {
        return staged[i].z;
    }
    return 0.0;
}

fn whole_of(sum: f32) -> f32 {
    return whole(sum, f32(ROWS - negatives));
}
