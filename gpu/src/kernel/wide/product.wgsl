// Hidden layers. Every product is made in tiles of 64 × 64, four by four an invocation, along slabs of 16; each entry is one
// sum in ascending order. An invocation has every sixteenth row and column of its tile, so that neighbours read and write
// neighbours; the next slab is read while this one is multiplied.

const FORWARD = 0u;     // activations × weights → activations
const BACK = 1u;        // gradient by output × weights, turned → gradient by input
const WEIGHTS = 2u;     // activations, turned × gradient by output → the rule

const SPREAD = vec4<u32>(0u, 16u, 32u, 48u);

// Entries k of four rows of the left operand; 0 beyond its edges.
fn left(kind: u32, row: vec4<u32>, k: u32, end: u32) -> vec4<f32> {
    if row.x >= stage.rows || k >= end {
        return vec4<f32>(0.0);
    }
    let inside = min(row, vec4<u32>(stage.rows - 1u));
    var x: vec4<f32>;
    if stage.left == DATA {
        var at = inside;
        let first = list + 1u;
        if kind == WEIGHTS {
            at += lists[first + k] * INPUTS;
        } else {
            at = vec4<u32>(lists[first + at.x], lists[first + at.y], lists[first + at.z], lists[first + at.w]) * INPUTS + k;
        }
        x = vec4<f32>(rows[at.x], rows[at.y], rows[at.z], rows[at.w]);
    } else {
        let at = stage.left + select(inside * stage.depth + k, inside + k * stage.rows, kind == WEIGHTS);
        x = vec4<f32>(work[at.x], work[at.y], work[at.z], work[at.w]);
    }
    return select(vec4<f32>(0.0), x, row < vec4<u32>(stage.rows));
}

// Entries k of four columns of the right operand; 0 beyond its edges.
fn right(kind: u32, k: u32, column: vec4<u32>, end: u32) -> vec4<f32> {
    if column.x >= stage.columns || k >= end {
        return vec4<f32>(0.0);
    }
    let inside = min(column, vec4<u32>(stage.columns - 1u));
    let at = stage.right + select(inside + k * stage.columns, inside * stage.depth + k, kind == BACK);
    var y: vec4<f32>;
    if kind == WEIGHTS {
        y = vec4<f32>(work[at.x], work[at.y], work[at.z], work[at.w]);
    } else {
        let weight = base + at;
        y = vec4<f32>(state[weight.x], state[weight.y], state[weight.z], state[weight.w]);
    }
    return select(vec4<f32>(0.0), y, column < vec4<u32>(stage.columns));
}

fn put(kind: u32, split: u32, row: u32, column: u32, sum: f32) {
    if row >= stage.rows || column >= stage.columns {
        return;
    }
    let at = row * stage.columns + column;
    if kind == WEIGHTS {
        moved(split, at, sum);
    } else if kind == FORWARD {
        let bias = state[base + stage.right + stage.depth * stage.columns + column];
        work[stage.to + at] = activate(sum + bias);
    } else {
        work[stage.to + at] = through(sum, work[stage.value + at]);
    }
}

fn put_four(kind: u32, split: u32, row: u32, column: vec4<u32>, sums: vec4<f32>) {
    put(kind, split, row, column.x, sums.x);
    put(kind, split, row, column.y, sums.y);
    put(kind, split, row, column.z, sums.z);
    put(kind, split, row, column.w, sums.w);
}

fn product(kind: u32, group: vec3<u32>, t: u32) {
    let fast = t & 15u;
    let slow = t >> 4u;
    // Neighbours read neighbours: of turned operands along k, of the others across it.
    let left_k = select(fast, slow, kind == WEIGHTS);
    let left_at = select(slow, fast, kind == WEIGHTS);
    let right_k = select(slow, fast, kind == BACK);
    let right_at = select(fast, slow, kind == BACK);
    let top = 64u * group.x;
    let side = 64u * group.y;
    let begin = group.z * stage.chunk;
    let end = min(begin + stage.chunk, stage.depth);
    let reads = top + left_at + SPREAD;
    let crosses = side + right_at + SPREAD;
    // The biases of its columns come along with the first weights.
    let biases = kind == WEIGHTS && group.x == 0u;
    let none = vec4<f32>(0.0);
    var a0 = none;
    var a1 = none;
    var a2 = none;
    var a3 = none;
    var bias = none;
    var next_left = left(kind, reads, begin + left_k, end);
    var next_right = right(kind, begin + right_k, crosses, end);
    for (var slab = begin; slab < end; slab += 16u) {
        slabs[left_k * STRIDE + left_at] = next_left;
        slabs[272u + right_k * STRIDE + right_at] = next_right;
        workgroupBarrier();
        next_left = left(kind, reads, slab + 16u + left_k, end);
        next_right = right(kind, slab + 16u + right_k, crosses, end);
        for (var k = 0u; k < 16u; k += 4u) {
            let p = k * STRIDE + slow;
            let q = 272u + k * STRIDE + fast;
            let x0 = slabs[p];
            let x1 = slabs[p + STRIDE];
            let x2 = slabs[p + 2u * STRIDE];
            let x3 = slabs[p + 3u * STRIDE];
            let y0 = slabs[q];
            let y1 = slabs[q + STRIDE];
            let y2 = slabs[q + 2u * STRIDE];
            let y3 = slabs[q + 3u * STRIDE];
            a0 += x0.x * y0;
            a1 += x0.y * y0;
            a2 += x0.z * y0;
            a3 += x0.w * y0;
            a0 += x1.x * y1;
            a1 += x1.y * y1;
            a2 += x1.z * y1;
            a3 += x1.w * y1;
            a0 += x2.x * y2;
            a1 += x2.y * y2;
            a2 += x2.z * y2;
            a3 += x2.w * y2;
            a0 += x3.x * y3;
            a1 += x3.y * y3;
            a2 += x3.z * y3;
            a3 += x3.w * y3;
            if biases {
                bias += y0;
                bias += y1;
                bias += y2;
                bias += y3;
            }
        }
        workgroupBarrier();
    }
    let row = top + slow;
    let column = side + fast + SPREAD;
    put_four(kind, group.z, row, column, a0);
    put_four(kind, group.z, row + 16u, column, a1);
    put_four(kind, group.z, row + 32u, column, a2);
    put_four(kind, group.z, row + 48u, column, a3);
    if biases && slow == 0u {
        let at = stage.rows * stage.columns;
        for (var q = 0u; q < 4u; q++) {
            if column[q] < stage.columns {
                moved(group.z, at + column[q], bias[q]);
            }
        }
    }
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    product(FORWARD, group, t);
}

@compute @workgroup_size(256)
fn back(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    product(BACK, group, t);
}

@compute @workgroup_size(256)
fn gradient(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    product(WEIGHTS, group, t);
}
