// What a step consists of, wherever it is made: the numbers of a run and the functions that objectives, surrogates and rules
// call. Those who join this text (lane, wide) declare `state`, `lists`, the scores `h` and the constants of the shape.

const FAINT = 0x1p-52f;     // Real::FAINT
const TINY = 0x1p-103f;     // Real::TINY
const FADED = 64.0;         // Real::FADED
const FOUR = vec4<u32>(0u, 1u, 2u, 3u);

// What the text of a surrogate reads.
struct Tile { shape: vec2<f32> }
var<private> tile: Tile;
var<private> base: u32;                     // of the run's state
var<private> list: u32;                     // of its batch
var<private> negatives: u32;
var<private> rates: vec2<f32>;
var<private> ruled: array<vec4<f32>, 2>;
var<private> objective: array<vec4<f32>, 3>;

fn settled(x: f32, least: f32) -> f32 {
    return select(x, 0.0, abs(x) < least);
}

fn fading_exp(x: f32) -> f32 {
    return select(exp(x), 0.0, x < -FADED);
}

fn sigmoid(x: f32) -> f32 {
    let e = fading_exp(-abs(x));
    return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

// Adds the four lanes of a sum.
fn total(x: vec4<f32>) -> f32 {
    return (x.x + x.y) + (x.z + x.w);
}

// Four of so many scores from `begin` on; those past them are the last one again.
fn four_scores(begin: u32, at: vec4<u32>, count: u32) -> vec4<f32> {
    let k = vec4<u32>(begin) + min(at, vec4<u32>(count - 1u));
    return vec4<f32>(h[k.x], h[k.y], h[k.z], h[k.w]);
}

// ln(1 + e^x); ln(1 + e) for e in [0, 1] is 2 atanh(e/(2 + e)), by its series: WGSL has no log1p.
fn softplus(x: f32) -> f32 {
    let e = fading_exp(-abs(x));
    let z = e / (2.0 + e);
    let q = z * z;
    var s = 0.07692308;
    s = s * q + 0.09090909;
    s = s * q + 0.11111111;
    s = s * q + 0.14285715;
    s = s * q + 0.2;
    s = s * q + 0.33333334;
    s = s * q + 1.0;
    return max(x, 0.0) + (z + z) * s;
}

// The function between layers, and its derivative from its value.
fn activate(z: f32) -> f32 {
    if TANH {
        // (Some drivers' tanh overflows.)
        return tanh(clamp(z, -10.0, 10.0));
    }
    return max(z, 0.0);
}
fn through(dz: f32, value: f32) -> f32 {
    if TANH {
        return settled(dz, FAINT) * (1.0 - value * value);
    }
    return select(0.0, settled(dz, FAINT), value > 0.0);
}

// The gradient by an entry of the iterate moves it.
fn move_along(k: u32, g: f32) {
    if PULL && k < PARAMS {
        let gone = state[base + k] - state[base + START + k];
        rule(k, settled(g + ruled[1].w * gone, FAINT));
    } else {
        rule(k, g);
    }
}
