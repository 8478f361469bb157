// What rank.wgsl and hinge.wgsl read: the sorted rows, the negatives first, both classes by ascending score.

struct Job {
    negatives: u32,
    positives: u32,
    first: u32,         // the negatives that count, by place in the order, both ends included
    last: u32,
    ends: vec2<f32>,    // the weights of those two; of the others between them 1
    margin: f32,
    scale: f32,         // of the gradient
    square: u32,        // 1: the squared hinge
    pad: u32,
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
