// One pass of a stable radix sort, four bits at a time, least digit first: `count`, `offsets`, `scatter`. `make` turns
// scores into keys before the first pass, and a last pass parts the classes. sort.rs has the mirror.
//
// A workgroup takes a tile of 4096 rows in sixteen rounds of 256. It finds the place of a row among those of its digit by
// counting bits below its own, so the order of rows with one digit stays whatever the schedule; no workgroup waits for
// another within a dispatch. No invocation loops more than about 300 times.

struct Job {
    rows: u32,
    tiles: u32,     // ceil(rows / 4096), at most 4096
    shift: u32,     // of the digit in the key; 32: the class
    pad: u32,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> keys: array<u32>;              // `make`: the bits of the scores
@group(0) @binding(2) var<storage, read> marks: array<u32>;             // row, and class << 31; `make`: 32 labels a word
@group(0) @binding(3) var<storage, read_write> keys_to: array<u32>;
@group(0) @binding(4) var<storage, read_write> marks_to: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;      // by digit, then tile; then all of each digit

const ROUNDS = 16u;
const WIDTH = 256u;
const TILE = 4096u;
const DIGITS = 16u;
const WORDS = 8u;       // of the bits of one round

var<workgroup> tally: array<atomic<u32>, DIGITS>;
var<workgroup> bits: array<atomic<u32>, WIDTH>;
var<workgroup> begin: array<u32, DIGITS>;
var<workgroup> sums: array<u32, WIDTH>;

// Those of the last tile are as many as it has rows for.
fn rounds_of(tile: u32) -> u32 {
    return min(ROUNDS, (job.rows - tile * TILE + WIDTH - 1u) / WIDTH);
}

fn digit_of(at: u32) -> u32 {
    if job.shift == 32u {
        return marks[at] >> 31u;
    }
    return (keys[at] >> job.shift) & 15u;
}

// Keys in the order of the scores: −0 is +0, then the sign is turned, and all bits where it was set.
@compute @workgroup_size(256)
fn make(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var round = 0u; round < rounds_of(group.x); round++) {
        let at = group.x * TILE + round * WIDTH + local;
        if at < job.rows {
            let raw = select(keys[at], 0u, keys[at] == 0x80000000u);
            keys_to[at] = select(raw ^ 0x80000000u, ~raw, (raw >> 31u) == 1u);
            marks_to[at] = at | (((marks[at / 32u] >> (at % 32u)) & 1u) << 31u);
        }
    }
}

// How often each digit occurs in a tile.
@compute @workgroup_size(256)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if local < DIGITS {
        atomicStore(&tally[local], 0u);
    }
    workgroupBarrier();
    for (var round = 0u; round < rounds_of(group.x); round++) {
        let at = group.x * TILE + round * WIDTH + local;
        if at < job.rows {
            atomicAdd(&tally[digit_of(at)], 1u);
        }
    }
    workgroupBarrier();
    if local < DIGITS {
        counts[local * job.tiles + group.x] = atomicLoad(&tally[local]);
    }
}

// A workgroup a digit: how many rows of it stand in the tiles before, and in all of them.
@compute @workgroup_size(256)
fn offsets(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let each = (job.tiles + WIDTH - 1u) / WIDTH;
    let first = min(local * each, job.tiles);
    let last = min(first + each, job.tiles);
    let row = group.x * job.tiles;
    var sum = 0u;
    for (var tile = first; tile < last; tile++) {
        sum += counts[row + tile];
    }
    sums[local] = sum;
    workgroupBarrier();
    let used = (job.tiles + each - 1u) / each;
    for (var step = 1u; step < used; step += step) {
        var before = 0u;
        if local >= step {
            before = sums[local - step];
        }
        workgroupBarrier();
        sums[local] += before;
        workgroupBarrier();
    }
    var next = sums[local] - sum;
    for (var tile = first; tile < last; tile++) {
        let own = counts[row + tile];
        counts[row + tile] = next;
        next += own;
    }
    if local == used - 1u {
        counts[DIGITS * job.tiles + group.x] = sums[local];
    }
}

// Every row to its place.
@compute @workgroup_size(256)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if local < DIGITS {
        var sum = counts[local * job.tiles + group.x];
        for (var digit = 0u; digit < local; digit++) {
            sum += counts[DIGITS * job.tiles + digit];
        }
        begin[local] = sum;
    }
    // Two rounds take turns with the bits, so that one half is cleared while the other is read.
    atomicStore(&bits[local], 0u);
    workgroupBarrier();
    let word = local / 32u;
    let below = (1u << (local % 32u)) - 1u;
    let rounds = rounds_of(group.x);
    for (var round = 0u; round < rounds; round++) {
        let half = (round & 1u) * DIGITS * WORDS;
        let at = group.x * TILE + round * WIDTH + local;
        var digit = 0u;
        if at < job.rows {
            digit = digit_of(at);
            atomicOr(&bits[half + digit * WORDS + word], 1u << (local % 32u));
        }
        workgroupBarrier();
        if at < job.rows {
            let row = half + digit * WORDS;
            var place = begin[digit] + countOneBits(atomicLoad(&bits[row + word]) & below);
            for (var w = 0u; w < word; w++) {
                place += countOneBits(atomicLoad(&bits[row + w]));
            }
            keys_to[place] = keys[at];
            marks_to[place] = marks[at];
        }
        if local < DIGITS * WORDS {
            atomicStore(&bits[DIGITS * WORDS - half + local], 0u);
        }
        workgroupBarrier();
        if local < DIGITS {
            var sum = begin[local];
            for (var w = 0u; w < WORDS; w++) {
                sum += countOneBits(atomicLoad(&bits[half + local * WORDS + w]));
            }
            begin[local] = sum;
        }
    }
}
