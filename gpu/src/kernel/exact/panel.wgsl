// Sums of a smooth loss over the rows of one class, as series about the middles of panels: `bounds` finds the rows of each
// panel, `moments` sums the powers of their distances from its middle, `spread` makes of the moments of the panels around,
// by a table of derivatives, one series for the sums at any score of a panel. panel.rs has the mirror.
//
//     Σ w ℓ(d + y_t − y_s) = Σ_p y_t^p/p! · Σ_q Σ_m ℓ^(p+m)(d_q) M_m(q),   M_m = Σ w (−y_s)^m/m!
//
// in units of a panel's width, with p + m < 8. No invocation loops more than about 33,000 times.

struct Job {
    first: u32,         // the rows that count, by place in the order, both included
    last: u32,
    start: u32,         // of the class, and the place after its end
    end: u32,
    ends: vec2<f32>,    // the weights of the first and the last, where they do not come from `weights`
    panels: u32,
    origin: i32,        // number of the lowest panel: panel k is from (origin + k) · width on
    width: f32,         // a power of two
    unit: f32,          // the width times the loss's scale
    band: u32,          // panels farther apart are far
    flags: u32,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> sums: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> derivatives: array<vec4<f32>>;  // of −band … band, eight each
@group(0) @binding(5) var<storage, read_write> starts: array<u32>;
@group(0) @binding(6) var<storage, read_write> moment: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> series: array<vec4<f32>>;

const WIDTH = 256u;
const STRETCH = 64u;    // rows in one sum, by twos
const DOWN = 1u;        // the rows are positives i, and the sums at others: of ℓ(s_i − s), rather than ℓ(s − s_j)
const WEIGHTED = 2u;    // by `weights`
const LINEAR = 4u;      // far away the loss is −t, rather than 1

var<workgroup> range: vec2<u32>;
var<workgroup> low: array<vec4<f32>, WIDTH>;
var<workgroup> high: array<vec4<f32>, WIDTH>;

fn score(at: u32) -> f32 {
    let key = keys[at];
    return bitcast<f32>(select(~key, key ^ 0x80000000u, (key >> 31u) == 1u));
}

fn middle(panel: u32) -> f32 {
    return (f32(job.origin + i32(panel)) + 0.5) * job.width;
}

@compute @workgroup_size(64)
fn bounds(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x > job.panels {
        return;
    }
    let edge = f32(job.origin + i32(id.x)) * job.width;
    var from_row = job.start;
    var to_row = job.end;
    while from_row < to_row {
        let half = (from_row + to_row) / 2u;
        if score(half) < edge {
            from_row = half + 1u;
        } else {
            to_row = half;
        }
    }
    // The highest score may stand on the last edge.
    starts[id.x] = select(from_row, job.end, id.x == job.panels);
}

fn weight(at: u32) -> f32 {
    if (job.flags & WEIGHTED) != 0u {
        return weights[at];
    }
    if at == job.first {
        return job.ends.x;
    }
    return select(1.0, job.ends.y, at == job.last);
}

// −y and the weight of a row; no weight from the end on.
fn entry(at: u32, to_row: u32, centre: f32) -> vec2<f32> {
    if at >= to_row {
        return vec2<f32>(0.0);
    }
    return vec2<f32>((centre - score(at)) / job.width, weight(at));
}

fn cubic(y: f32) -> vec4<f32> {
    return vec4<f32>(1.0, y, (y * y) / 2.0, (y * (y * y)) / 6.0);
}

// A workgroup a panel.
@compute @workgroup_size(256)
fn moments(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if local == 0u {
        range = vec2<u32>(max(starts[group.x], job.first), min(starts[group.x + 1u], job.last + 1u));
    }
    let rows = workgroupUniformLoad(&range);
    if rows.x >= rows.y {
        return; // nobody reads them
    }
    let to_row = rows.y;
    let centre = middle(group.x);
    var at = rows.x + local;
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    while at < to_row {
        var c = vec4<f32>(0.0);
        var d = vec4<f32>(0.0);
        // (Two a round: loops are counted.)
        for (var k = 0u; k < STRETCH; k += 2u) {
            let near = entry(at, to_row, centre);
            let next = entry(at + WIDTH, to_row, centre);
            let powers = near.y * cubic(near.x);
            let more = next.y * cubic(next.x);
            c += powers;
            c += more;
            d += ((near.x * near.x) * (near.x * near.x)) * powers;
            d += ((next.x * next.x) * (next.x * next.x)) * more;
            at += 2u * WIDTH;
        }
        a += c;
        b += d;
    }
    low[local] = a;
    high[local] = b;
    workgroupBarrier();
    for (var step = WIDTH / 2u; step > 0u; step /= 2u) {
        // (Of few rows the upper half has none.)
        if step >= rows.y - rows.x {
            continue;
        }
        if local < step {
            low[local] += low[local + step];
            high[local] += high[local + step];
        }
        workgroupBarrier();
    }
    if local == 0u {
        moment[2u * group.x] = low[0];
        // 4!/0!, 5!/1!, 6!/2!, 7!/3!
        moment[2u * group.x + 1u] = high[0] / vec4<f32>(24.0, 120.0, 360.0, 840.0);
    }
}

@compute @workgroup_size(64)
fn spread(@builtin(global_invocation_id) id: vec3<u32>) {
    let panel = id.x;
    if panel >= job.panels {
        return;
    }
    let down = (job.flags & DOWN) != 0u;
    // Odd derivatives by the score that is subtracted change their sign.
    let odd = select(1.0, -1.0, down);
    let sign = vec4<f32>(1.0, odd, 1.0, odd);
    let from_panel = select(0u, panel - job.band, panel > job.band);
    let to_panel = min(job.panels, panel + job.band + 1u);
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var q = from_panel;
    while q < to_panel {
        let next = max(starts[q], job.first);
        if next > job.last {
            break;
        }
        // The next panel with rows.
        q = max(q, u32(i32(floor(score(next) / job.width)) - job.origin));
        if q >= to_panel {
            break;
        }
        let m = moment[2u * q];
        let n = moment[2u * q + 1u];
        let at = 2u * select(job.band + panel - q, job.band + q - panel, down);
        let d = derivatives[at] * sign;
        let e = derivatives[at + 1u] * sign;
        a += vec4<f32>(
            dot(d, m) + dot(e, n),
            dot(vec4<f32>(d.yzw, e.x), m) + dot(e.yzw, n.xyz),
            dot(vec4<f32>(d.zw, e.xy), m) + dot(e.zw, n.xy),
            dot(vec4<f32>(d.w, e.xyz), m) + e.w * n.x,
        );
        b += vec4<f32>(dot(e, m), dot(e.yzw, m.xyz), dot(e.zw, m.xy), e.w * m.x);
        q++;
    }
    if down {
        // Positives far below: −t has the slope 1 by the score. (A constant has none; nobody reads the value.)
        if (job.flags & LINEAR) != 0u && from_panel > 0u {
            let at = starts[from_panel];
            if at > job.start {
                a.y += job.unit * sums[at - 1u].x;
            }
        }
    } else if to_panel < job.panels {
        let at = max(starts[to_panel], job.first);
        if at <= job.last {
            var mass = f32(job.last - at) + job.ends.y;
            if at == job.first {
                mass = select(job.ends.x, f32(job.last - at - 1u) + (job.ends.x + job.ends.y), job.last > at);
            }
            if (job.flags & LINEAR) != 0u {
                a.x += (sums[at].x + mass * (score(at) - middle(panel))) * (job.unit / job.width);
                a.y -= job.unit * mass;
            } else {
                a.x += mass;
            }
        }
    }
    series[2u * panel] = a;
    series[2u * panel + 1u] = b;
}
