// Hidden layers. Every product is one of three kinds, made by the same text in tiles of 64 × 64, four by four an invocation,
// along slabs of 16; each entry is one sum in ascending order.

// out[row][column] = Σ_k left(row, k) · right(k, column)
struct Stage {
    kind: u32,
    rows: u32,
    columns: u32,
    depth: u32,
    left: u32,      // where they begin, in the state or the activations; DATA: the rows of the batch
    right: u32,
    to: u32,
    value: u32,     // BACK: the activations whose derivative comes in
}

const FORWARD = 0u;     // activations × weights → activations
const BACK = 1u;        // gradient by output × weights, turned → gradient by input
const WEIGHTS = 2u;     // activations, turned × gradient by output → the rule
const DATA = 0xffffffffu;
const LAST_LAYER = 0xffffffffu;

fn input(r: u32, k: u32) -> f32 {
    return work[scratch + LAST_INPUT + r * LAST + k];
}

fn term(source: u32, width: u32, r: u32, k: u32) -> f32 {
    if source == LAST_LAYER {
        return last_term(r, k);
    }
    return work[scratch + source + r * width + k];
}

// The function between layers, and its derivative from its value.
fn activate(z: f32) -> f32 {
    if TANH {
        // (Some drivers' tanh overflows.)
        return tanh(clamp(z, -10.0, 10.0));
    }
    return max(z, 0.0);
}
fn through(dz: f32, value: f32) -> f32 {
    if TANH {
        return settled(dz, FAINT) * (1.0 - value * value);
    }
    return select(0.0, settled(dz, FAINT), value > 0.0);
}

fn left(stage: Stage, row: u32, k: u32) -> f32 {
    if row >= stage.rows || k >= stage.depth {
        return 0.0;
    }
    let along = stage.kind == WEIGHTS;
    let r = select(row, k, along);
    let x = select(k, row, along);
    if stage.left == DATA {
        return rows[picked[r] * INPUTS + x];
    }
    return work[scratch + stage.left + r * select(stage.depth, stage.rows, along) + x];
}

fn right(stage: Stage, k: u32, column: u32) -> f32 {
    if column >= stage.columns || k >= stage.depth {
        return 0.0;
    }
    if stage.kind == BACK {
        return state[base + stage.right + column * stage.depth + k];
    }
    let at = stage.right + k * stage.columns + column;
    if stage.kind == FORWARD {
        return state[base + at];
    }
    return work[scratch + at];
}

fn put(stage: Stage, row: u32, column: u32, sum: f32) {
    if row >= stage.rows || column >= stage.columns {
        return;
    }
    let at = row * stage.columns + column;
    if stage.kind == WEIGHTS {
        move_along(stage.to + at, sum);
    } else if stage.kind == FORWARD {
        let bias = state[base + stage.right + stage.depth * stage.columns + column];
        work[scratch + stage.to + at] = activate(sum + bias);
    } else {
        work[scratch + stage.to + at] = through(sum, work[scratch + stage.value + at]);
    }
}

fn product(t: u32, stage: Stage) {
    let fast = t & 15u;
    let slow = t >> 4u;
    // Neighbours read neighbours: of turned operands along k, of the others across it.
    let left_k = select(fast, slow, stage.kind == WEIGHTS);
    let left_at = select(slow, fast, stage.kind == WEIGHTS);
    let right_k = select(slow, fast, stage.kind == BACK);
    let right_at = select(fast, slow, stage.kind == BACK);
    for (var top = 0u; top < stage.rows; top += 64u) {
        for (var side = 0u; side < stage.columns; side += 64u) {
            var a0 = vec4<f32>(0.0);
            var a1 = a0;
            var a2 = a0;
            var a3 = a0;
            for (var slab = 0u; slab < stage.depth; slab += 16u) {
                let row = top + 4u * left_at;
                let column = side + 4u * right_at;
                let lk = slab + left_k;
                let rk = slab + right_k;
                staged[left_k * STRIDE + left_at] = vec4<f32>(left(stage, row, lk), left(stage, row + 1u, lk),
                    left(stage, row + 2u, lk), left(stage, row + 3u, lk));
                staged[272u + right_k * STRIDE + right_at] = vec4<f32>(right(stage, rk, column), right(stage, rk, column + 1u),
                    right(stage, rk, column + 2u), right(stage, rk, column + 3u));
                workgroupBarrier();
                for (var k = 0u; k < 16u; k += 4u) {
                    let p = k * STRIDE + slow;
                    let q = 272u + k * STRIDE + fast;
                    var x = staged[p];
                    var y = staged[q];
                    a0 += x.x * y;
                    a1 += x.y * y;
                    a2 += x.z * y;
                    a3 += x.w * y;
                    x = staged[p + STRIDE];
                    y = staged[q + STRIDE];
                    a0 += x.x * y;
                    a1 += x.y * y;
                    a2 += x.z * y;
                    a3 += x.w * y;
                    x = staged[p + 2u * STRIDE];
                    y = staged[q + 2u * STRIDE];
                    a0 += x.x * y;
                    a1 += x.y * y;
                    a2 += x.z * y;
                    a3 += x.w * y;
                    x = staged[p + 3u * STRIDE];
                    y = staged[q + 3u * STRIDE];
                    a0 += x.x * y;
                    a1 += x.y * y;
                    a2 += x.z * y;
                    a3 += x.w * y;
                }
                workgroupBarrier();
            }
            for (var q = 0u; q < 4u; q++) {
                let sums = select(select(a3, a2, q == 2u), select(a1, a0, q == 0u), q < 2u);
                let row = top + 4u * slow + q;
                let column = side + 4u * fast;
                put(stage, row, column, sums.x);
                put(stage, row, column + 1u, sums.y);
                put(stage, row, column + 2u, sums.z);
                put(stage, row, column + 3u, sums.w);
            }
        }
    }
}

fn forward(t: u32) {
    for (var at = 0u; at < HIDDEN; at++) {
        product(t, stage_of(at));
        storageBarrier();
    }
}

// The last layer and what lies between its directions.
fn turn(t: u32, run: u32, last: bool) {
    objective_step(t, run, last);
    for (var i = t; i < ROWS * LAST; i += 256u) {
        let by_input = c[i / LAST] * state[base + LAST_AT + i % LAST];
        work[scratch + LAST_DELTA + i] = through(by_input, work[scratch + LAST_INPUT + i]);
    }
    storageBarrier();
    workgroupBarrier();
    columns(t, LAST_LAYER, LAST + 1u, LAST_AT);
}

fn whole_step(t: u32, run: u32, last: bool) {
    for (var at = 0u; at < STAGES; at++) {
        if at == HIDDEN {
            turn(t, run, last);
        }
        let stage = stage_of(at);
        product(t, stage);
        storageBarrier();
        if stage.kind == WEIGHTS {
            columns(t, stage.right, stage.columns, stage.to + stage.rows * stage.columns);
        }
    }
}
