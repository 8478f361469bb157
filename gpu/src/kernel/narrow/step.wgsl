// One workgroup is one run: 256 invocations make `job.steps` whole steps of it, with workgroup barriers only. mod.rs joins
// this text with constants of the shape, a model, an estimator, a surrogate and a rule; mirror.rs has the same order of
// summation. Every barrier is passed by all invocations: loops that hold one end at constants or at `job`.

struct Job {
    first: u32,    // of the steps that are loaded, the first to make
    steps: u32,    // how many
    stride: u32,   // steps that are loaded, of each list and each pace
    rows: u32,     // rows to score
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> rows: array<f32>;              // row-major
@group(0) @binding(2) var<storage, read> lists: array<u32>;             // [list][step][LIST]
@group(0) @binding(3) var<storage, read> table: array<u32>;             // the list of each run
@group(0) @binding(4) var<storage, read> numbers: array<vec4<f32>>;     // [run][6]
@group(0) @binding(5) var<storage, read> pace: array<vec2<f32>>;        // [run][step]
@group(0) @binding(6) var<storage, read_write> state: array<f32>;       // [run][STATE]
@group(0) @binding(7) var<storage, read_write> work: array<f32>;        // [run][WORK]
@group(0) @binding(8) var<storage, read_write> answer: array<f32>;      // [run], or [run][row] where rows are scored

const IDLE = 0xffffffffu;   // of the table: the run stays where it is
const STRIDE = 17u;         // of a slab's rows, which keeps them on different memory banks

// Two slabs of a product, or four numbers of each row.
var<workgroup> staged: array<vec4<f32>, STAGED>;
var<workgroup> picked: array<u32, ROWS>;    // row numbers of the batch
var<workgroup> h: array<f32, ROWS>;         // scores, then the link's
var<workgroup> c: array<f32, ROWS>;         // the gradient by h, then by score
var<workgroup> parts: array<f32, 256>;

var<private> scratch: u32;                  // of its activations

// The last layer: raw scores into h, four invocations a row.
fn score(t: u32) {
    for (var begin = 0u; begin < ROWS; begin += 64u) {
        let r = begin + (t >> 2u);
        var sum = 0.0;
        if r < ROWS {
            for (var k = t & 3u; k < LAST; k += 4u) {
                sum += input(r, k) * state[base + LAST_AT + k];
            }
        }
        parts[t] = sum;
        workgroupBarrier();
        if t < 64u && begin + t < ROWS {
            let q = 4u * t;
            h[begin + t] = state[base + LAST_AT + LAST] + ((parts[q] + parts[q + 1u]) + (parts[q + 2u] + parts[q + 3u]));
        }
        workgroupBarrier();
    }
}

// Moves parameters that belong to columns, whose gradients are sums over rows: four invocations a column.
fn columns(t: u32, source: u32, width: u32, to: u32) {
    for (var begin = 0u; begin < width; begin += 64u) {
        let k = begin + (t & 63u);
        var sum = 0.0;
        if k < width {
            for (var r = t >> 6u; r < ROWS; r += 4u) {
                sum += term(source, width, r, k);
            }
        }
        parts[t] = sum;
        workgroupBarrier();
        if t < 64u && k < width {
            move_along(to + k, (parts[t] + parts[t + 64u]) + (parts[t + 128u] + parts[t + 192u]));
        }
        workgroupBarrier();
    }
}

// The row's part of the gradient by weight k of the last layer; behind the weights comes its bias.
fn last_term(r: u32, k: u32) -> f32 {
    var x = 1.0;
    if k < LAST {
        x = input(r, k);
    }
    return c[r] * x;
}

// From activations to the gradient by score, and the last step's estimate.
fn objective_step(t: u32, run: u32, last: bool) {
    score(t);
    if SIGMOID {
        for (var r = t; r < ROWS; r += 256u) {
            h[r] = sigmoid(h[r]);
        }
        workgroupBarrier();
    }
    estimate(t, run, last);
    let least = FAINT / f32(ROWS);
    for (var r = t; r < ROWS; r += 256u) {
        var g = c[r];
        if SIGMOID {
            g = settled(g, least) * settled(h[r], FAINT) * (1.0 - h[r]);
        }
        c[r] = settled(g, least);
    }
    workgroupBarrier();
}

@compute @workgroup_size(256)
fn advance(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let run = group.x;
    if table[run] == IDLE {
        return;
    }
    base = run * STATE;
    scratch = run * WORK;
    let own = 6u * run;
    ruled = array(numbers[own], numbers[own + 1u]);
    objective = array(numbers[own + 2u], numbers[own + 3u], numbers[own + 4u]);
    tile.shape = numbers[own + 5u].xy;
    for (var step = 0u; step < job.steps; step++) {
        let at = job.first + step;
        list = (table[run] * job.stride + at) * LIST;
        negatives = lists[list];
        rates = pace[run * job.stride + at];
        for (var r = t; r < ROWS; r += 256u) {
            picked[r] = lists[list + 1u + r];
        }
        workgroupBarrier();
        whole_step(t, run, step + 1u == job.steps);
        storageBarrier();
    }
}

// Raw scores of rows `first` on, so many blocks of ROWS, of every run.
@compute @workgroup_size(256)
fn look(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let run = group.x;
    base = run * STATE;
    scratch = run * WORK;
    for (var block = 0u; block < job.steps; block++) {
        let begin = job.first + block * ROWS;
        for (var r = t; r < ROWS; r += 256u) {
            picked[r] = min(begin + r, job.rows - 1u);
        }
        workgroupBarrier();
        forward(t);
        score(t);
        for (var r = t; r < ROWS; r += 256u) {
            if begin + r < job.rows {
                answer[run * job.rows + begin + r] = h[r];
            }
        }
        storageBarrier();
        workgroupBarrier();
    }
}
