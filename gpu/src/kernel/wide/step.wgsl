// One step of one run over many workgroups: a chain of dispatches, each an entry point here. mod.rs joins this text with
// constants of the shape, a family, an estimator, a surrogate and a rule; what a step is comes as a uniform, so that one set
// of bindings serves all steps. mirror.rs has the same order of summation.

struct Job {
    list: u32,                              // where its list begins
    base: u32,                              // where the state of its run begins
    run: u32,
    pad: u32,
    rates: vec4<f32>,
    numbers: array<vec4<f32>, 6>,
}

// out[row][column] = Σ_k left(row, k) · right(k, column)
struct Stage {
    rows: u32,
    columns: u32,
    depth: u32,
    chunk: u32,     // of the depth, what a workgroup sums; where that is not all, `partials` takes the sums
    left: u32,      // where they begin, in the state or the activations; DATA: the rows of the batch
    right: u32,
    to: u32,
    value: u32,     // back: the activations whose derivative comes in
    partials: u32,
    count: u32,     // of partial sums of a chunk
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<uniform> stage: Stage;
@group(0) @binding(2) var<storage, read> rows: array<f32>;              // row-major
@group(0) @binding(3) var<storage, read> lists: array<u32>;
@group(0) @binding(4) var<storage, read_write> state: array<f32>;       // [run][STATE]
@group(0) @binding(5) var<storage, read_write> work: array<f32>;        // activations, gradients by them, partial sums
@group(0) @binding(6) var<storage, read_write> h: array<f32>;           // scores, through the link
@group(0) @binding(7) var<storage, read_write> c: array<f32>;           // the gradient by score
@group(0) @binding(8) var<storage, read_write> staged: array<vec4<f32>>;  // four numbers of each row, or positive
@group(0) @binding(9) var<storage, read_write> answer: array<f32>;      // [run]

const DATA = 0xffffffffu;
const STRIDE = 17u;         // of a slab's rows, which keeps them on different memory banks

// Two slabs of a product, or sums of strands.
var<workgroup> slabs: array<vec4<f32>, 544>;

fn prepare() {
    base = job.base;
    list = job.list;
    negatives = lists[list];
    rates = job.rates.xy;
    ruled = array(job.numbers[0], job.numbers[1]);
    objective = array(job.numbers[2], job.numbers[3], job.numbers[4]);
    tile.shape = job.numbers[5].xy;
}

fn input(r: u32, k: u32) -> f32 {
    if HIDDEN == 0u {
        return rows[lists[list + 1u + r] * INPUTS + k];
    }
    return work[LAST_INPUT + r * LAST + k];
}

// Sums of 16 strands, which a workgroup has 16 times: neighbours first.
fn four_strands(at: u32) -> vec4<f32> {
    return (slabs[at] + slabs[at + 1u]) + (slabs[at + 2u] + slabs[at + 3u]);
}
fn strands(at: u32) -> vec4<f32> {
    return (four_strands(at) + four_strands(at + 4u)) + (four_strands(at + 8u) + four_strands(at + 12u));
}

// The gradient by score, of that by h.
fn chained(r: u32, by: f32) -> f32 {
    let least = FAINT / f32(ROWS);
    var g = by;
    if SIGMOID {
        g = settled(g, least) * settled(h[r], FAINT) * (1.0 - h[r]);
    }
    return settled(g, least);
}

// The last layer: 16 rows a workgroup, 16 strands each.
@compute @workgroup_size(256)
fn score(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let r = 16u * group.x + (t >> 4u);
    var sum = 0.0;
    if r < ROWS {
        for (var k = t & 15u; k < LAST; k += 16u) {
            sum += input(r, k) * state[base + LAST_AT + k];
        }
    }
    slabs[t] = vec4<f32>(sum);
    workgroupBarrier();
    if (t & 15u) == 0u && r < ROWS {
        let z = state[base + LAST_AT + LAST] + strands(t).x;
        if SIGMOID {
            h[r] = sigmoid(z);
        } else {
            h[r] = z;
        }
    }
}

// Back through the last layer: the gradient by its inputs, and that by its weights, behind which comes its bias. 16 columns a
// workgroup, 16 strands of rows each.
@compute @workgroup_size(256)
fn turn(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let k = 16u * group.x + (t & 15u);
    let strand = t >> 4u;
    let begin = group.z * stage.chunk;
    let end = min(begin + stage.chunk, ROWS);
    var sum = 0.0;
    if k < LAST {
        let weight = state[base + LAST_AT + k];
        for (var r = begin + strand; r < end; r += 16u) {
            let x = input(r, k);
            sum += c[r] * x;
            if HIDDEN > 0u {
                work[LAST_DELTA + r * LAST + k] = through(c[r] * weight, x);
            }
        }
    } else if k == LAST {
        for (var r = begin + strand; r < end; r += 16u) {
            sum += c[r];
        }
    }
    slabs[16u * (t & 15u) + strand] = vec4<f32>(sum);
    storageBarrier();
    workgroupBarrier();
    if strand == 0u && k <= LAST {
        moved(group.z, k, strands(16u * t).x);
    }
}

// A gradient that is whole moves its weight; a part of one waits for the others.
fn moved(split: u32, at: u32, sum: f32) {
    if stage.chunk < stage.depth {
        work[stage.partials + split * stage.count + at] = sum;
    } else {
        move_along(stage.to + at, sum);
    }
}

// Adds the parts of gradients, in four strands.
@compute @workgroup_size(256)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    prepare();
    let at = 256u * group.x + t;
    if at >= stage.count {
        return;
    }
    let splits = (stage.depth + stage.chunk - 1u) / stage.chunk;
    var sum = vec4<f32>(0.0);
    for (var split = 0u; split < splits; split += 4u) {
        for (var q = 0u; q < 4u; q++) {
            if split + q < splits {
                sum[q] += work[stage.partials + (split + q) * stage.count + at];
            }
        }
    }
    move_along(stage.to + at, total(sum));
}

// What a whole step leaves in `staged`, added in 256 strands.
@compute @workgroup_size(256)
fn value(@builtin(local_invocation_index) t: u32) {
    prepare();
    var sum = 0.0;
    for (var r = t; r < ROWS; r += 256u) {
        sum += share(r);
    }
    slabs[t] = vec4<f32>(sum);
    workgroupBarrier();
    if t < 16u {
        slabs[256u + t] = strands(16u * t);
    }
    workgroupBarrier();
    if t == 0u {
        answer[job.run] = whole_of(strands(256u).x);
    }
}
