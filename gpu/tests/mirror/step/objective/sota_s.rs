//! SOTA-s.

use crate::mirror::family::gates::Classes;
use crate::mirror::family::softmax::{self, blend};
use crate::mirror::{Estimated, Run};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, of) = (run.numbers(), Classes::of(run, h));
    let u = softmax::moved(run, of);
    let power = n[3];
    let most = u.iter().fold(f32::MIN, |most, u| most.max(power * u));
    let sum: f32 = u.iter().map(|u| (power * u - most).fading_exp()).sum();
    let at = run.state.len() - 1;
    let v = blend(run.state[at], (most + Real::ln(sum / of.positives())).settled(), n[4]);
    run.state[at] = v;
    let exponents: Vec<f32> = u.iter().map(|u| (power - 1.0) * u - v).collect();
    softmax::estimate(run, of, &exponents, vec![n[5] * v; of.high.len()])
}
