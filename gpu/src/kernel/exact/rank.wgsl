// Counts of pairs, average precision and points of the curves, from the order. rank.rs has the mirror. No invocation
// loops more than about 250 times.

var<workgroup> wins: array<vec2<u32>, WIDTH>;
var<workgroup> ties: array<vec2<u32>, WIDTH>;
var<workgroup> shares: array<f32, WIDTH>;

// The first place from `start` on, before `end`, whose key is not below.
fn lower(start: u32, end: u32, key: u32) -> u32 {
    var low = start;
    var high = end;
    while low < high {
        let middle = (low + high) / 2u;
        if keys[middle] < key {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// 64 bits in two words, the low one first.
fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Of 1024 positives: pairs won and tied, and the sum of the precisions at them.
@compute @workgroup_size(256)
fn tally(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let rows = job.negatives + job.positives;
    var won = 0u;
    var tied = 0u;
    var sum = 0.0;
    for (var k = 0u; k < EACH; k++) {
        let at = job.negatives + group.x * TILE + k * WIDTH + local;
        if at < rows {
            let key = keys[at];
            let under = lower(0u, job.negatives, key);
            won += under;
            // (The highest key of a finite score is far below the highest word.)
            tied += lower(under, job.negatives, key + 1u) - under;
            let found = rows - lower(job.negatives, rows, key);
            sum += f32(found) / f32(found + (job.negatives - under));
        }
    }
    wins[local] = vec2<u32>(won, 0u);
    ties[local] = vec2<u32>(tied, 0u);
    shares[local] = sum;
    workgroupBarrier();
    for (var step = WIDTH / 2u; step > 0u; step /= 2u) {
        if local < step {
            wins[local] = add(wins[local], wins[local + step]);
            ties[local] = add(ties[local], ties[local + step]);
            shares[local] += shares[local + step];
        }
        workgroupBarrier();
    }
    if local == 0u {
        let to = 5u * group.x;
        parts[to] = wins[0].x;
        parts[to + 1u] = wins[0].y;
        parts[to + 2u] = ties[0].x;
        parts[to + 3u] = ties[0].y;
        parts[to + 4u] = bitcast<u32>(shares[0]);
    }
}

// Points of the curves at even steps of either class: the key of a row, and how many of each class score as much or more.
@compute @workgroup_size(256)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if local >= 255u {
        return;
    }
    let rows = job.negatives + job.positives;
    let count = select(job.negatives, job.positives, group.x == 1u);
    let start = select(0u, job.negatives, group.x == 1u);
    // The last of them is the lowest row of the class.
    let rank = ((local + 1u) * count + 254u) / 255u;
    let key = keys[start + count - rank];
    let to = 5u * ((job.positives + TILE - 1u) / TILE) + 3u * (group.x * 255u + local);
    parts[to] = key;
    parts[to + 1u] = rows - lower(job.negatives, rows, key);
    parts[to + 2u] = job.negatives - lower(0u, job.negatives, key);
}
