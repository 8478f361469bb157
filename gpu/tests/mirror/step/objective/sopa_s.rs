//! SOPA-s.

use crate::mirror::family::gates::Classes;
use crate::mirror::family::softmax;
use crate::mirror::{Estimated, Run};

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (lambda, of) = (run.numbers()[2], Classes::of(run, h));
    let u = softmax::moved(run, of);
    let exponents: Vec<f32> = u.iter().map(|u| -u).collect();
    softmax::estimate(run, of, &exponents, u.iter().map(|u| lambda * u).collect())
}
