// Losses of single rows: `point` gives the gradient by score and the weighted loss.

@compute @workgroup_size(256)
fn estimate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let r = 256u * group.x + t;
    if r >= ROWS {
        return;
    }
    let positive = r >= negatives;
    let both = point(select(-h[r], h[r], positive));
    let weight = select(objective[0].x, objective[0].y, positive);
    c[r] = chained(r, select(-(weight * both.y), weight * both.y, positive));
    staged[r] = vec4<f32>(weight * both.x);
}

fn share(r: u32) -> f32 {
    return staged[r].x;
}

fn whole_of(sum: f32) -> f32 {
    return sum;
}
