// core/src/estimator/pauc_threshold.rs. objective: the ends of the range among the negatives of a batch, γ; and of either
// threshold, β's and α's, its share of the negatives, 0 where there is none, how many are above the left neighbour of its
// quantile, and the part of the way to the right one. State: threshold and width of either.

// In `parts`: neighbours of the quantiles; threshold, width, tie of either from 8 and 12 on; sums from 16 on, and largest from 64.
fn fresh(which: u32) -> bool {
    return objective[1u + which].x != 0.0 && state[base + BANK + 2u * which + 1u] == 0.0;
}

// What a negative counts beside a threshold.
fn gate_of(score: f32, which: u32, absent: f32) -> f32 {
    let at = 8u + 4u * which;
    if objective[1u + which].x == 0.0 {
        return absent;
    }
    return select(select(0.0, parts[at + 2u], score == parts[at]), 1.0, score > parts[at]);
}

fn deviation() -> f32 {
    var sum = vec4<f32>(0.0);
    for (var j = 0u; j < negatives; j += 4u) {
        let at = j + FOUR;
        sum += select(vec4<f32>(0.0), four_scores(0u, at, negatives), at < vec4<u32>(negatives));
    }
    let mean = vec4<f32>(total(sum) / f32(negatives));
    sum = vec4<f32>(0.0);
    for (var j = 0u; j < negatives; j += 4u) {
        let at = j + FOUR;
        sum += select(vec4<f32>(0.0), abs(four_scores(0u, at, negatives) - mean), at < vec4<u32>(negatives));
    }
    return total(sum) / f32(negatives);
}

fn prepare(t: u32) {
    let count = f32(negatives);
    let starts = fresh(0u) || fresh(1u);
    if starts {
        for (var j = t; j < negatives; j += 256u) {
            let rank = ahead(j);
            for (var which = 0u; which < 2u; which++) {
                let above = objective[1u + which].y;
                if rank == above {
                    parts[2u * which] = h[j];
                }
                if rank == min(above + 1.0, count - 1.0) {
                    parts[2u * which + 1u] = h[j];
                }
            }
        }
    }
    workgroupBarrier();
    if t == 0u {
        var width = 0.0;
        if starts {
            width = deviation();
        }
        for (var which = 0u; which < 2u; which++) {
            let at = 8u + 4u * which;
            if fresh(which) {
                let left = parts[2u * which];
                parts[at] = left + objective[1u + which].z * (parts[2u * which + 1u] - left);
                parts[at + 1u] = width;
            } else {
                parts[at] = state[base + BANK + 2u * which];
                parts[at + 1u] = state[base + BANK + 2u * which + 1u];
            }
        }
    }
    workgroupBarrier();
    // Threshold by t's last bit, four invocations each.
    let which = t & 1u;
    let level = objective[1u + which].x;
    let threshold = parts[8u + 4u * which];
    let side = select(1.0, -1.0, level > 0.5);
    if t < 8u {
        // Above, on it, beyond, how far.
        var sum = vec4<f32>(0.0);
        var nearest = -0x1p127f;
        for (var j = t >> 1u; j < negatives; j += 4u) {
            let over = side * (h[j] - threshold);
            nearest = max(nearest, over);
            sum += select(vec4<f32>(0.0), vec4<f32>(1.0, 1.0, 1.0, over),
                vec4<bool>(h[j] > threshold, h[j] == threshold, over > 0.0, over > 0.0));
        }
        staged[t] = sum;
        parts[64u + t] = nearest;
    }
    workgroupBarrier();
    if t < 2u && level != 0.0 {
        let sum = (staged[t] + staged[t + 2u]) + (staged[t + 4u] + staged[t + 6u]);
        let nearest = max(max(parts[64u + t], parts[66u + t]), max(parts[68u + t], parts[70u + t]));
        let width = parts[9u + 4u * t];
        let wanted = level * count;
        let reached = min(max(wanted, sum.x), sum.x + sum.y);
        parts[10u + 4u * t] = select(0.0, (reached - sum.x) / sum.y, sum.y > 0.0);
        let tail = select(level, 1.0 - level, level > 0.5);
        let far = width * max(12.0 / (tail * count), 1.0);
        let at = base + BANK + 2u * t;
        if -nearest > far {
            state[at] = threshold + side * nearest;
            state[at + 1u] = width;
        } else {
            let gamma = objective[0].z;
            let seen = select(-nearest, sum.w / sum.z, sum.z > 0.0);
            state[at] = threshold + settled(gamma * width * ((reached - wanted) / count), FAINT) / tail;
            state[at + 1u] = settled((1.0 - gamma) * width + gamma * seen, FAINT);
        }
    }
    workgroupBarrier();
    for (var j = t; j < negatives; j += 256u) {
        let gate = gate_of(h[j], 0u, 1.0) - gate_of(h[j], 1u, 0.0);
        staged[ROWS - negatives + j] = vec4<f32>(max(gate, 0.0));
    }
    workgroupBarrier();
}

