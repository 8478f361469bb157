// Hinge and squared hinge over all pairs of a positive i and another row j, d = (s_j − s_i) + m where that is above 0: the
// value and the gradient by the scores, from the running sums of scan.wgsl. A row finds the last one of the other class
// with a d above 0 by halving; its sums are then moved by that d. hinge.rs has the mirror. No invocation loops more
// than about 250 times.

// As sums of d, of d and of d², over what is weighed by N₀: N₁ and N₂ moved by d.
fn moved(n: vec3<f32>, d: f32) -> vec3<f32> {
    return vec3<f32>(n.x, n.y + d * n.x, n.z + d * (2.0 * n.y + d * n.x));
}

// The first row j from `start` on, before `end`, with d > 0 beside a positive's score.
fn first_above(start: u32, end: u32, own: f32) -> u32 {
    var low = start;
    var high = end;
    while low < high {
        let middle = (low + high) / 2u;
        if (score(middle) - own) + job.margin > 0.0 {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

// The first positive without d > 0 beside the score of another.
fn first_beyond(own: f32) -> u32 {
    var low = job.negatives;
    var high = job.negatives + job.positives;
    while low < high {
        let middle = (low + high) / 2u;
        if (own - score(middle)) + job.margin > 0.0 {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// Σ 1, Σ d, Σ d² over the negatives that count.
fn over_negatives(own: f32) -> vec3<f32> {
    let at = first_above(job.first, job.last + 1u, own);
    if at > job.last {
        return vec3<f32>(0.0);
    }
    var mass = f32(job.last - at) + job.ends.y;
    if at == job.first {
        // (The only one where there is one.)
        mass = select(job.ends.x, f32(job.last - at - 1u) + (job.ends.x + job.ends.y), job.last > at);
    }
    return moved(vec3<f32>(mass, sums[at]), (score(at) - own) + job.margin);
}

// The same over the positives, itself included.
fn over_positives(own: f32) -> vec3<f32> {
    let rows = job.negatives + job.positives;
    let at = first_above(job.negatives, rows, own);
    return moved(vec3<f32>(f32(rows - at), sums[at]), (score(at) - own) + job.margin);
}

// The mean over pairs: Σ ℓ of 1024 rows, and the gradient. `sums` are N₁ and N₂ over the negatives from the highest
// down, N₀ and N₁ over the positives from the lowest up.
@compute @workgroup_size(256)
fn auc(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var value = 0.0;
    for (var k = 0u; k < EACH; k++) {
        let at = group.x * TILE + k * WIDTH + local;
        if at < job.negatives {
            let own = score(at);
            var slope = 0.0;
            let beyond = first_beyond(own);
            if beyond > job.negatives {
                let near = sums[beyond - 1u];
                slope = near.x;
                if job.square == 1u {
                    slope = near.y + ((own - score(beyond - 1u)) + job.margin) * near.x;
                }
            }
            grad[marks[at]] = job.scale * (weight(at) * slope);
        } else if at < job.negatives + job.positives {
            let n = over_negatives(score(at));
            value += select(n.y, n.z, job.square == 1u);
            grad[marks[at] & 0x7fffffffu] = -(job.scale * select(n.x, n.y, job.square == 1u));
        }
    }
    fold(group.x, local, value);
}

// −g₁/g₂ of 1024 positives, with g₁ = Σ ℓ over positives and g₂ over all: the weights g₁/g₂² of their pairs with negatives
// and (g₂ − g₁)/g₂² of those with positives, and what the gradient of the positive's own score gets of them. `sums` are
// N₁ and N₂ of each class from the highest down.
@compute @workgroup_size(256)
fn ap_weights(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var value = 0.0;
    for (var k = 0u; k < EACH; k++) {
        let at = job.negatives + group.x * TILE + k * WIDTH + local;
        if at < job.negatives + job.positives {
            let own = score(at);
            let n = over_negatives(own);
            let p = over_positives(own);
            let loss = select(vec2<f32>(n.y, p.y), vec2<f32>(n.z, p.z), job.square == 1u);
            let slope = select(vec2<f32>(n.x, p.x), vec2<f32>(n.y, p.y), job.square == 1u);
            let both = loss.x + loss.y;
            let share = loss / both;
            let of_negative = share.y / both;
            let of_positive = share.x / both;
            value += share.y;
            of_negatives[at] = of_negative;
            of_positives[at] = of_positive;
            grad[marks[at] & 0x7fffffffu] = of_positive * slope.y - of_negative * slope.x;
        }
    }
    fold(group.x, local, value);
}

// The gradient of every row as the other of the pairs. `sums` and `more_sums` are N₀ and N₁ over the positives from the
// lowest up, by either weight.
@compute @workgroup_size(256)
fn ap_gradient(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var k = 0u; k < EACH; k++) {
        let at = group.x * TILE + k * WIDTH + local;
        if at < job.negatives + job.positives {
            let own = score(at);
            let beyond = first_beyond(own);
            let row = marks[at] & 0x7fffffffu;
            var sum = 0.0;
            if beyond > job.negatives {
                let is_positive = at >= job.negatives;
                var near = sums[beyond - 1u];
                if is_positive {
                    near = more_sums[beyond - 1u];
                }
                sum = near.x;
                if job.square == 1u {
                    sum = near.y + ((own - score(beyond - 1u)) + job.margin) * near.x;
                }
                if is_positive {
                    sum = grad[row] - sum;
                }
            }
            grad[row] = job.scale * sum;
        }
    }
}
