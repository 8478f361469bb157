//! The WGSL snippet of each surrogate. The mirror uses the core's own `value` and `slope`.

use undercurve::surrogate::{AnySurrogate, Surrogate};

/// Shader text with `loss` and `slope` of four margins, and the parameters it reads from `tile.shape`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snippet {
    /// WGSL.
    pub source: &'static str,
    /// Margin or scale, then the smoothing where there is one.
    pub shape: [f32; 2],
}

/// Names and texts of those that have one.
static TEXTS: [(&str, &str); 8] = [
    ("square", wgsl!("surrogate/square.wgsl")),
    ("squared-hinge", wgsl!("surrogate/squared-hinge.wgsl")),
    ("hinge", wgsl!("surrogate/hinge.wgsl")),
    ("smoothed-hinge", wgsl!("surrogate/smoothed-hinge.wgsl")),
    ("ramp", wgsl!("surrogate/ramp.wgsl")),
    ("logistic", wgsl!("surrogate/logistic.wgsl")),
    ("sigmoid", wgsl!("surrogate/sigmoid.wgsl")),
    ("exponential", wgsl!("surrogate/exponential.wgsl")),
];

/// The text of a surrogate of the core's [`SURROGATES`](undercurve::surrogate::SURROGATES).
pub(crate) fn source(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|of| of.0 == name).map(|of| of.1)
}

/// The snippet of a surrogate.
#[must_use]
pub fn snippet(loss: AnySurrogate<f32>) -> Snippet {
    Snippet { source: source(loss.name()).unwrap_or_default(), shape: loss.numbers() }
}

/// Largest |ℓ| and |ℓ'| over the margins between `low` and `high`: both are convex or monotone in |t| outside the
/// bounded losses, so the ends decide; bounded losses are at most 1 and their slopes at most their value at 0.
pub(crate) fn largest(loss: AnySurrogate<f32>, low: f32, high: f32) -> f64 {
    let mut largest = 1.0f64;
    for t in [low, 0.0, high] {
        for x in [loss.value(t), loss.slope(t)] {
            largest = largest.max(f64::from(x).abs());
        }
    }
    largest
}
