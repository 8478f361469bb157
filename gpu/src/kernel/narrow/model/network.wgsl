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

// Entries k of four rows of the left operand; 0 beyond its edges.
fn left(stage: Stage, first: u32, k: u32) -> vec4<f32> {
    if first >= stage.rows || k >= stage.depth {
        return vec4<f32>(0.0);
    }
    let row = min(first + FOUR, vec4<u32>(stage.rows - 1u));
    var x: vec4<f32>;
    if stage.left == DATA {
        var at = row;
        if stage.kind == WEIGHTS {
            at += picked[k] * INPUTS;
        } else {
            at = vec4<u32>(picked[row.x], picked[row.y], picked[row.z], picked[row.w]) * INPUTS + k;
        }
        x = vec4<f32>(rows[at.x], rows[at.y], rows[at.z], rows[at.w]);
    } else {
        let turned = stage.kind == WEIGHTS;
        let at = scratch + stage.left + select(row * stage.depth + k, row + k * stage.rows, turned);
        x = vec4<f32>(work[at.x], work[at.y], work[at.z], work[at.w]);
    }
    return select(vec4<f32>(0.0), x, first + FOUR < vec4<u32>(stage.rows));
}

// Entries k of four columns of the right operand; 0 beyond its edges.
fn right(stage: Stage, k: u32, first: u32) -> vec4<f32> {
    if first >= stage.columns || k >= stage.depth {
        return vec4<f32>(0.0);
    }
    let column = min(first + FOUR, vec4<u32>(stage.columns - 1u));
    let turned = stage.kind == BACK;
    let at = stage.right + select(column + k * stage.columns, column * stage.depth + k, turned);
    var y: vec4<f32>;
    if stage.kind == WEIGHTS {
        let value = scratch + at;
        y = vec4<f32>(work[value.x], work[value.y], work[value.z], work[value.w]);
    } else {
        let weight = base + at;
        y = vec4<f32>(state[weight.x], state[weight.y], state[weight.z], state[weight.w]);
    }
    return select(vec4<f32>(0.0), y, first + FOUR < vec4<u32>(stage.columns));
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
            // At the edges some have nothing of their own to sum.
            let busy = top + 4u * slow < stage.rows && side + 4u * fast < stage.columns;
            var a0 = vec4<f32>(0.0);
            var a1 = a0;
            var a2 = a0;
            var a3 = a0;
            for (var slab = 0u; slab < stage.depth; slab += 16u) {
                staged[left_k * STRIDE + left_at] = left(stage, top + 4u * left_at, slab + left_k);
                staged[272u + right_k * STRIDE + right_at] = right(stage, slab + right_k, side + 4u * right_at);
                workgroupBarrier();
                if busy {
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
