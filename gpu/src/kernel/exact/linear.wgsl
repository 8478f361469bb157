// A linear model over all rows, which lie column by column: `forward` makes the scores and what the link makes of them, `backward`
// and `total` the gradient by weights and bias from that by the linked scores. linear.rs has the mirror.
//
// A workgroup takes a chunk of 1024 rows; of the gradient, eight columns of it. Sums over rows are four rows an invocation, a tree
// over the chunk, then one workgroup a column over the chunks. Rounds: as many as columns, and 16 more.

struct Job {
    rows: u32,
    cols: u32,
    chunks: u32,    // ceil(rows / 1024)
    first: u32,     // chunk of the dispatch
    sigmoid: u32,   // the link
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> params: array<f32>;            // weights, bias
@group(0) @binding(3) var<storage, read> by_linked: array<f32>;
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;
@group(0) @binding(5) var<storage, read_write> linked: array<f32>;
@group(0) @binding(6) var<storage, read_write> parts: array<u32>;       // least and greatest key by chunk; sums by column, then chunk
@group(0) @binding(7) var<storage, read_write> gradient: array<f32>;

const WIDTH = 256u;
const CHUNK = 1024u;
const COLUMNS = 8u;

var<workgroup> lows: array<u32, WIDTH>;
var<workgroup> highs: array<u32, WIDTH>;
var<workgroup> sums: array<array<vec4<f32>, WIDTH>, 2>;

// As that of sort.wgsl; all bits for what is not finite.
fn key(score: f32) -> u32 {
    let raw = select(bitcast<u32>(score), 0u, bitcast<u32>(score) == 0x80000000u);
    if (raw & 0x7f800000u) == 0x7f800000u {
        return 0xffffffffu;
    }
    return select(raw ^ 0x80000000u, ~raw, (raw >> 31u) == 1u);
}

// e^−|s|, 0 where it would not be a normal number.
fn tail(score: f32) -> f32 {
    return select(exp(-abs(score)), 0.0, abs(score) > 87.0);
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let chunk = job.first + group.x;
    var low = 0xffffffffu;
    var high = 0u;
    for (var each = 0u; each < CHUNK / WIDTH; each++) {
        let row = chunk * CHUNK + each * WIDTH + local;
        if row < job.rows {
            var sum = vec4<f32>(0.0);
            var column = 0u;
            for (; column + 3u < job.cols; column += 4u) {
                let at = column * job.rows + row;
                let four = vec4<f32>(x[at], x[at + job.rows], x[at + 2u * job.rows], x[at + 3u * job.rows]);
                sum += vec4<f32>(params[column], params[column + 1u], params[column + 2u], params[column + 3u]) * four;
            }
            for (; column < job.cols; column++) {
                sum.x += params[column] * x[column * job.rows + row];
            }
            let score = params[job.cols] + ((sum.x + sum.z) + (sum.y + sum.w));
            var h = score;
            if job.sigmoid == 1u {
                let rest = tail(score);
                h = select(1.0, rest, score < 0.0) / (1.0 + rest);
            }
            scores[row] = score;
            linked[row] = h;
            // (What is not finite has a link that may be.)
            let own = select(key(h), 0xffffffffu, key(score) == 0xffffffffu);
            low = min(low, own);
            high = max(high, own);
        }
    }
    lows[local] = low;
    highs[local] = high;
    workgroupBarrier();
    for (var step = WIDTH / 2u; step > 0u; step /= 2u) {
        if local < step {
            lows[local] = min(lows[local], lows[local + step]);
            highs[local] = max(highs[local], highs[local + step]);
        }
        workgroupBarrier();
    }
    if local == 0u {
        parts[2u * chunk] = lows[0];
        parts[2u * chunk + 1u] = highs[0];
    }
}

// The bias is a column of ones.
fn entry(column: u32, row: u32) -> f32 {
    if column >= job.cols {
        return select(0.0, 1.0, column == job.cols);
    }
    return x[column * job.rows + row];
}

fn four(column: u32, row: u32) -> vec4<f32> {
    return vec4<f32>(entry(column, row), entry(column + 1u, row), entry(column + 2u, row), entry(column + 3u, row));
}

@compute @workgroup_size(256)
fn backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let chunk = job.first + group.x;
    let column = COLUMNS * group.y;
    var left = vec4<f32>(0.0);
    var right = vec4<f32>(0.0);
    for (var each = 0u; each < CHUNK / WIDTH; each++) {
        let row = chunk * CHUNK + each * WIDTH + local;
        if row < job.rows {
            var slope = by_linked[row];
            if job.sigmoid == 1u {
                let rest = tail(scores[row]);
                slope *= (rest / (1.0 + rest)) / (1.0 + rest);
            }
            left += slope * four(column, row);
            right += slope * four(column + 4u, row);
        }
    }
    sums[0][local] = left;
    sums[1][local] = right;
    workgroupBarrier();
    for (var step = WIDTH / 2u; step > 0u; step /= 2u) {
        if local < step {
            sums[0][local] += sums[0][local + step];
            sums[1][local] += sums[1][local + step];
        }
        workgroupBarrier();
    }
    if local < COLUMNS && column + local <= job.cols {
        let sum = select(sums[0][0], sums[1][0], local >= 4u);
        parts[(column + local) * job.chunks + chunk] = bitcast<u32>(sum[local % 4u]);
    }
}

@compute @workgroup_size(256)
fn total(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var sum = 0.0;
    for (var chunk = local; chunk < job.chunks; chunk += WIDTH) {
        sum += bitcast<f32>(parts[group.x * job.chunks + chunk]);
    }
    sums[0][local].x = sum;
    workgroupBarrier();
    for (var step = WIDTH / 2u; step > 0u; step /= 2u) {
        if local < step {
            sums[0][local].x += sums[0][local + step].x;
        }
        workgroupBarrier();
    }
    if local == 0u {
        gradient[group.x] = sums[0][0].x;
    }
}
