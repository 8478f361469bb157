//! LDAM.

use crate::mirror::{Estimated, Run};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, at) = (run.numbers(), run.bank());
    let [multiple, rest] = [run.state[at], run.state[at + 1]];
    let late = multiple > n[4] || multiple == n[4] && rest >= n[5];
    let weights = if late { [n[8], n[9]] } else { [n[0], n[1]] };
    let mut sum = 0.0;
    let gradient = |(r, &h): (usize, &f32)| {
        let positive = r >= run.negatives;
        let x = n[6] * if positive { n[3] - h } else { n[2] + h };
        let (weight, slope) = (weights[usize::from(positive)], -(n[6] * x.sigmoid().settled()));
        sum += weight * x.softplus();
        if positive { weight * slope } else { -(weight * slope) }
    };
    let c = h.iter().enumerate().map(gradient).collect();
    let full = rest + 1.0 == 1048576.0;
    (run.state[at], run.state[at + 1]) = if full { (multiple + 1.0, 0.0) } else { (multiple, rest + 1.0) };
    (c, sum)
}
