// Min-max objectives of the classes' moments, as in lane/estimate/moments.wgsl, by one workgroup: 128 strands a class.

@compute @workgroup_size(256)
fn estimate(@builtin(local_invocation_index) t: u32) {
    prepare();
    let a = state[base + PARAMS];
    let b = state[base + PARAMS + 1u];
    let alpha = state[base + PARAMS + 2u];
    let high = t >= 128u;
    let begin = select(0u, negatives, high);
    let end = select(negatives, ROWS, high);
    var sum = vec4<f32>(0.0);
    for (var r = begin + (t & 127u); r < end; r += 128u) {
        let d = h[r] - select(b, a, high);
        sum += vec4<f32>(h[r], d, d * d, 0.0);
    }
    slabs[t] = sum;
    workgroupBarrier();
    if t < 16u {
        slabs[256u + t] = strands(16u * t);
    }
    for (var r = t; r < ROWS; r += 256u) {
        let positive = r >= negatives;
        c[r] = chained(r, by_score(positive, h[r] - select(b, a, positive), alpha));
    }
    storageBarrier();
    workgroupBarrier();
    if t == 0u {
        let by = saddle(four_strands(256u) + four_strands(260u), four_strands(264u) + four_strands(268u), alpha);
        staged[0] = by;
        move_along(PARAMS, settled(by.x, TINY));
        move_along(PARAMS + 1u, settled(by.y, TINY));
        move_along(PARAMS + 2u, settled(by.z, TINY));
    }
}

fn share(r: u32) -> f32 {
    return select(0.0, staged[0].w, r == 0u);
}

fn whole_of(sum: f32) -> f32 {
    return sum;
}
