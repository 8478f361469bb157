//! The text of each surrogate: `loss` and `slope` of four margins, by the numbers of a run.

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
