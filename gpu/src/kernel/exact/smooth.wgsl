// Sigmoid and logistic loss over all pairs: the value and the gradient by the scores, from the series of panel.wgsl, of
// which `sums` and `more_sums` have eight terms a panel. panel.rs has the mirror. No invocation loops more than about 20
// times.

// Σ ℓ and its derivative by the score.
fn ends_of(a: vec4<f32>, b: vec4<f32>, y: f32) -> vec2<f32> {
    let value = a.x + y * (a.y + y / 2.0 * (a.z + y / 3.0 * (a.w + y / 4.0 * (b.x + y / 5.0 * (b.y + y / 6.0 * (b.z + y / 7.0 * b.w))))));
    let slope = a.y + y * (a.z + y / 2.0 * (a.w + y / 3.0 * (b.x + y / 4.0 * (b.y + y / 5.0 * (b.z + y / 6.0 * b.w)))));
    return vec2<f32>(value, slope / job.margin);
}

fn panel_of(own: f32) -> u32 {
    let panel = i32(floor(own / job.margin)) - job.origin;
    return u32(clamp(panel, 0, i32(job.square) - 1));
}

// From the middle of its panel, in widths.
fn offset(own: f32, panel: u32) -> f32 {
    return (own - (f32(job.origin + i32(panel)) + 0.5) * job.margin) / job.margin;
}

fn at_first(own: f32) -> vec2<f32> {
    let panel = panel_of(own);
    let k = 4u * panel;
    return ends_of(vec4<f32>(sums[k], sums[k + 1u]), vec4<f32>(sums[k + 2u], sums[k + 3u]), offset(own, panel));
}

fn at_second(own: f32) -> vec2<f32> {
    let panel = panel_of(own);
    let k = 4u * panel;
    let a = vec4<f32>(more_sums[k], more_sums[k + 1u]);
    return ends_of(a, vec4<f32>(more_sums[k + 2u], more_sums[k + 3u]), offset(own, panel));
}

// The mean over pairs: Σ ℓ of 1024 rows, and the gradient. The first series are of negatives, the second of positives.
@compute @workgroup_size(256)
fn auc(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var value = 0.0;
    for (var k = 0u; k < EACH; k++) {
        let at = group.x * TILE + k * WIDTH + local;
        if at < job.negatives {
            grad[marks[at]] = job.scale * (weight(at) * at_second(score(at)).y);
        } else if at < job.negatives + job.positives {
            let n = at_first(score(at));
            value += n.x;
            grad[marks[at] & 0x7fffffffu] = job.scale * n.y;
        }
    }
    fold(group.x, local, value);
}

// As of hinge.wgsl. The first series are of negatives, the second of positives.
@compute @workgroup_size(256)
fn ap_weights(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var value = 0.0;
    for (var k = 0u; k < EACH; k++) {
        let at = job.negatives + group.x * TILE + k * WIDTH + local;
        if at < job.negatives + job.positives {
            let n = at_first(score(at));
            let p = at_second(score(at));
            let both = n.x + p.x;
            let of_negative = p.x / both / both;
            let of_positive = n.x / both / both;
            value += p.x / both;
            of_negatives[at] = of_negative;
            of_positives[at] = of_positive;
            grad[marks[at] & 0x7fffffffu] = of_negative * n.y - of_positive * p.y;
        }
    }
    fold(group.x, local, value);
}

// The gradient of every row as the other of the pairs: the series are of positives, by either weight.
@compute @workgroup_size(256)
fn ap_gradient(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var k = 0u; k < EACH; k++) {
        let at = group.x * TILE + k * WIDTH + local;
        let row = marks[min(at, job.negatives + job.positives - 1u)] & 0x7fffffffu;
        if at < job.negatives {
            grad[row] = job.scale * at_first(score(at)).y;
        } else if at < job.negatives + job.positives {
            grad[row] = job.scale * (grad[row] - at_second(score(at)).y);
        }
    }
}
