// Pairs of a positive with the others of the batch, as in lane/estimate/pairs.wgsl: 16 positives a workgroup, 16 strands each,
// four pairs at a time; then 16 rows a workgroup.

@compute @workgroup_size(256)
fn estimate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let positives = ROWS - negatives;
    let i = 16u * group.x + (t >> 4u);
    let strand = 4u * (t & 15u);
    var low: PairSum;
    var high: PairSum;
    if i < positives {
        let own = h[negatives + i];
        low = pair_sum(own, 0u, negatives, strand, 64u);
        if OTHERS {
            high = pair_sum(own, negatives, positives, strand, 64u);
        }
    }
    slabs[t] = vec4<f32>(total(low.loss), total(high.loss), total(low.slope), total(high.slope));
    workgroupBarrier();
    if strand == 0u && i < positives {
        let sums = strands(t);
        staged[i] = weigh(i, f32(positives), sums.x, sums.y, sums.z, sums.w);
    }
}

@compute @workgroup_size(256)
fn slopes(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let j = 16u * group.x + (t >> 4u);
    let strand = 4u * (t & 15u);
    let positive = j >= negatives;
    var sum = vec4<f32>(0.0);
    if j < ROWS && (OTHERS || !positive) {
        sum = slope_sum(j, strand, 64u);
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
