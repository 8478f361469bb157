// What rank.wgsl, hinge.wgsl and smooth.wgsl read: the sorted rows, the negatives first, both classes by ascending score.

struct Job {
    negatives: u32,
    positives: u32,
    first: u32,         // the negatives that count, by place in the order, both ends included
    last: u32,
    ends: vec2<f32>,    // the weights of those two; of the others between them 1
    margin: f32,        // smooth.wgsl: the width of a panel
    scale: f32,         // of the gradient
    square: u32,        // 1: the squared hinge; smooth.wgsl: how many panels
    origin: i32,        // smooth.wgsl: the number of the lowest panel
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;             // row, and class << 31
@group(0) @binding(3) var<storage, read> sums: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> more_sums: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> grad: array<f32>;
@group(0) @binding(6) var<storage, read_write> parts: array<u32>;       // one entry or a few a workgroup
@group(0) @binding(7) var<storage, read_write> of_negatives: array<f32>;
@group(0) @binding(8) var<storage, read_write> of_positives: array<f32>;

const WIDTH = 256u;
const EACH = 4u;
const TILE = 1024u;

var<workgroup> values: array<f32, WIDTH>;

fn score(at: u32) -> f32 {
    let key = keys[at];
    return bitcast<f32>(select(~key, key ^ 0x80000000u, (key >> 31u) == 1u));
}

// The weight of a negative.
fn weight(at: u32) -> f32 {
    if at < job.first || at > job.last {
        return 0.0;
    }
    if at == job.first {
        return job.ends.x;
    }
    return select(1.0, job.ends.y, at == job.last);
}

// Adds the values of a workgroup.
fn fold(group: u32, local: u32, value: f32) {
    values[local] = value;
    workgroupBarrier();
    for (var step = WIDTH / 2u; step > 0u; step /= 2u) {
        if local < step {
            values[local] += values[local + step];
        }
        workgroupBarrier();
    }
    if local == 0u {
        parts[group] = bitcast<u32>(values[0]);
    }
}
