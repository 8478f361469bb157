// Sums over pairs of one block of `own` scores with one block of `stream` scores. A snippet with `loss` and `slope` of a
// margin is appended; pair.rs has the mirror of the same order of summation.
//
// A workgroup takes 512 own scores, eight an invocation, and one chunk of 2048 stream scores, staged 256 at a time. Sums
// run along the stage, then over the stages of the chunk; `fold_*` then adds the chunks in order. No atomics: the order
// depends on the lengths only. No invocation loops more than about 2100 times here.

struct Tile {
    own: u32,       // own scores of this block
    stream: u32,    // stream scores of this block
    chunks: u32,    // ceil(stream / 2048)
    has_self: u32,  // 1: both blocks are of the positives, and pairs of an example with itself are left out
    self_at: u32,   // own score l is stream score l + self_at (wrapping)
    pad: u32,
    shape: vec2<f32>,
}

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> own: array<f32>;
@group(0) @binding(2) var<storage, read> stream: array<f32>;
@group(0) @binding(3) var<storage, read> weight: array<f32>;          // by stream score, `columns` only
@group(0) @binding(4) var<storage, read_write> partial_sums: array<f32>;
@group(0) @binding(5) var<storage, read_write> total: array<f32>;

const STAGE = 256u;
const CHUNK = 2048u;

var<workgroup> staged: array<vec2<f32>, STAGE>;

// The first four own scores of an invocation, or the last.
fn lanes(group: u32, local: u32, half: u32) -> vec4<u32> {
    return vec4<u32>(group * 512u + half * 256u + local) + vec4<u32>(0u, 64u, 128u, 192u);
}

fn load(lane: vec4<u32>) -> vec4<f32> {
    let at = min(lane, vec4<u32>(tile.own - 1u));
    return vec4<f32>(own[at.x], own[at.y], own[at.z], own[at.w]);
}

fn store(plane: u32, lane: vec4<u32>, sum: vec4<f32>) {
    for (var r = 0u; r < 4u; r++) {
        if lane[r] < tile.own {
            partial_sums[plane * tile.own + lane[r]] = sum[r];
        }
    }
}

// Own scores are positives: sums of the loss and of the slope of (own − stream).
@compute @workgroup_size(64)
fn rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let lane = lanes(group.x, local, 0u);
    let other = lanes(group.x, local, 1u);
    let x = load(lane);
    let y = load(other);
    let begin = group.y * CHUNK;
    let end = min(begin + CHUNK, tile.stream);
    let none = vec4<f32>(0.0);
    var value = array(none, none);
    var slopes = array(none, none);
    for (var base = begin; base < end; base += STAGE) {
        for (var k = local; k < STAGE; k += 64u) {
            staged[k] = vec2<f32>(stream[min(base + k, tile.stream - 1u)], 0.0);
        }
        workgroupBarrier();
        let count = min(STAGE, end - base);
        var vx = none;
        var vy = none;
        var sx = none;
        var sy = none;
        if tile.has_self == 0u {
            for (var k = 0u; k < count; k++) {
                let tx = x - staged[k].x;
                let ty = y - staged[k].x;
                vx += loss(tx);
                vy += loss(ty);
                sx += slope(tx);
                sy += slope(ty);
            }
        } else {
            for (var k = 0u; k < count; k++) {
                let tx = x - staged[k].x;
                let ty = y - staged[k].x;
                let at = vec4<u32>(base + k - tile.self_at);
                vx += select(loss(tx), none, lane == at);
                vy += select(loss(ty), none, other == at);
                sx += select(slope(tx), none, lane == at);
                sy += select(slope(ty), none, other == at);
            }
        }
        value[0] += vx;
        value[1] += vy;
        slopes[0] += sx;
        slopes[1] += sy;
        workgroupBarrier();
    }
    store(group.y, lane, value[0]);
    store(group.y, other, value[1]);
    store(tile.chunks + group.y, lane, slopes[0]);
    store(tile.chunks + group.y, other, slopes[1]);
}

// Stream scores are positives: weighted sums of the slope of (stream − own).
@compute @workgroup_size(64)
fn columns(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let lane = lanes(group.x, local, 0u);
    let other = lanes(group.x, local, 1u);
    let x = load(lane);
    let y = load(other);
    let begin = group.y * CHUNK;
    let end = min(begin + CHUNK, tile.stream);
    let none = vec4<f32>(0.0);
    var sum = array(none, none);
    for (var base = begin; base < end; base += STAGE) {
        for (var k = local; k < STAGE; k += 64u) {
            let at = min(base + k, tile.stream - 1u);
            staged[k] = vec2<f32>(stream[at], weight[at]);
        }
        workgroupBarrier();
        let count = min(STAGE, end - base);
        var sx = none;
        var sy = none;
        if tile.has_self == 0u {
            for (var k = 0u; k < count; k++) {
                sx += staged[k].y * slope(staged[k].x - x);
                sy += staged[k].y * slope(staged[k].x - y);
            }
        } else {
            for (var k = 0u; k < count; k++) {
                let at = vec4<u32>(base + k - tile.self_at);
                sx += select(staged[k].y * slope(staged[k].x - x), none, lane == at);
                sy += select(staged[k].y * slope(staged[k].x - y), none, other == at);
            }
        }
        sum[0] += sx;
        sum[1] += sy;
        workgroupBarrier();
    }
    store(group.y, lane, sum[0]);
    store(group.y, other, sum[1]);
}

// Adds the chunks to the running totals: (loss, slope) of each own score.
@compute @workgroup_size(64)
fn fold_rows(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile.own {
        return;
    }
    var sum = vec2<f32>(total[2u * id.x], total[2u * id.x + 1u]);
    for (var c = 0u; c < tile.chunks; c++) {
        sum += vec2<f32>(partial_sums[c * tile.own + id.x], partial_sums[(tile.chunks + c) * tile.own + id.x]);
    }
    total[2u * id.x] = sum.x;
    total[2u * id.x + 1u] = sum.y;
}

// Adds the chunks to the running total of each own score.
@compute @workgroup_size(64)
fn fold_columns(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile.own {
        return;
    }
    var sum = total[id.x];
    for (var c = 0u; c < tile.chunks; c++) {
        sum += partial_sums[c * tile.own + id.x];
    }
    total[id.x] = sum;
}
