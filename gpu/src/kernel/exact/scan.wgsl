// Running sums along one class of the order: of the weights of the rows so far, of the weighted distances to them, and of
// their squares, all from the row itself: `reduce` sums tiles, `spine` goes from tile to tile, `apply` through each (alone
// where there is one).
//
//     N₂ ← N₂ + δ(2 N₁ + δ N₀),   N₁ ← N₁ + δ N₀
//
// moves sums to the next row, a gap δ away. Joining two stretches is the same, which is associative, and every term is
// ≥ 0, so trees lose nothing. scan.rs has the mirror. No invocation loops more than about 100 times.

struct Job {
    first: u32,         // of the rows, in the order
    rows: u32,
    tiles: u32,         // ceil(rows / 2048), at most 8192
    flags: u32,
    ends: vec2<f32>,    // the weights of the lowest row and the highest, where they do not come from `weights`
    pad: vec2<f32>,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> totals: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec2<f32>>;

const WIDTH = 256u;
const EACH = 8u;
const TILE = 2048u;
const DOWN = 1u;        // from the highest row
const WEIGHTED = 2u;    // by `weights`
const SQUARES = 4u;     // keep N₁ and N₂ rather than N₀ and N₁

// Score, N₀, N₁, N₂.
var<workgroup> runs: array<vec4<f32>, WIDTH>;

fn place(k: u32) -> u32 {
    return job.first + select(k, job.rows - 1u - k, (job.flags & DOWN) != 0u);
}

fn item(k: u32) -> vec4<f32> {
    let at = place(min(k, job.rows - 1u));
    let key = keys[at];
    let score = bitcast<f32>(select(~key, key ^ 0x80000000u, (key >> 31u) == 1u));
    var weight = 1.0;
    if (job.flags & WEIGHTED) != 0u {
        weight = weights[at];
    } else if at == job.first {
        weight = job.ends.x;
    } else if at == job.first + job.rows - 1u {
        weight = job.ends.y;
    }
    return vec4<f32>(score, select(0.0, weight, k < job.rows), 0.0, 0.0);
}

fn join(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let gap = abs(b.x - a.x);
    return vec4<f32>(b.x, a.y + b.y, (a.z + gap * a.y) + b.z, (a.w + gap * (2.0 * a.z + gap * a.y)) + b.w);
}

// Inclusive sums of the first so many, in doubling steps.
fn run_up(local: u32, used: u32) {
    workgroupBarrier();
    for (var step = 1u; step < used; step += step) {
        var run = runs[local];
        if local >= step {
            run = join(runs[local - step], run);
        }
        workgroupBarrier();
        runs[local] = run;
        workgroupBarrier();
    }
}

// Invocations that have rows of a tile.
fn used_of(group: u32) -> u32 {
    return min(WIDTH, (job.rows - group * TILE + EACH - 1u) / EACH);
}

fn own(group: u32, local: u32) {
    let k = group * TILE + local * EACH;
    var run = item(k);
    for (var e = 1u; e < EACH; e++) {
        run = join(run, item(k + e));
    }
    runs[local] = run;
    run_up(local, used_of(group));
}

@compute @workgroup_size(256)
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own(group.x, local);
    if local == used_of(group.x) - 1u {
        totals[group.x] = runs[local];
    }
}

// One workgroup: what stands before each tile.
@compute @workgroup_size(256)
fn spine(@builtin(local_invocation_index) local: u32) {
    let each = (job.tiles + WIDTH - 1u) / WIDTH;
    let start = min(local * each, job.tiles);
    let end = min(start + each, job.tiles);
    // (Nothing is before the first; its score does not matter.)
    var run = vec4<f32>(item(min(start * TILE, job.rows)).x, 0.0, 0.0, 0.0);
    for (var tile = start; tile < end; tile++) {
        run = join(run, totals[tile]);
    }
    runs[local] = run;
    run_up(local, (job.tiles + each - 1u) / each);
    run = vec4<f32>(item(0u).x, 0.0, 0.0, 0.0);
    if local > 0u {
        run = runs[local - 1u];
    }
    for (var tile = start; tile < end; tile++) {
        let total = totals[tile];
        totals[tile] = run;
        run = join(run, total);
    }
}

@compute @workgroup_size(256)
fn apply(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own(group.x, local);
    var run = vec4<f32>(item(0u).x, 0.0, 0.0, 0.0);
    if job.tiles > 1u {
        run = totals[group.x];
    }
    if local > 0u {
        run = join(run, runs[local - 1u]);
    }
    let k = group.x * TILE + local * EACH;
    for (var e = 0u; e < EACH; e++) {
        run = join(run, item(k + e));
        if k + e < job.rows {
            sums[place(k + e)] = select(run.yz, run.zw, (job.flags & SQUARES) != 0u);
        }
    }
}
