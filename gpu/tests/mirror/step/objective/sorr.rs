//! A sum of ranked range.

use crate::mirror::{Estimated, Run, four};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, at) = (run.numbers(), run.bank() + 3);
    let every = n[3] >= 1.0;
    let lambda = if every { 0.0 } else { run.state[at] };
    let gate = if every { f32::MIN } else { lambda };
    let of = |r: usize| {
        let positive = r >= run.negatives;
        let z = if positive { h[r] } else { -h[r] };
        let (loss, weight) = ((-z).softplus(), n[usize::from(positive)]);
        let slope = -(weight * n[2]) * (-z).sigmoid();
        match loss > gate {
            true => [if positive { slope } else { -slope }, weight * (loss - lambda), weight],
            false => [0.0; 3],
        }
    };
    let c = (0..h.len()).map(|r| of(r)[0]).collect();
    let [total, above] = [1, 2].map(|k| four(0, h.len(), |r| of(r)[k]));
    if !every {
        let clock = at + 4;
        run.dual(at, clock, lambda - run.pace[1] * (n[3] - above));
        run.state[clock] += 1.0;
    }
    (c, (n[3] * lambda + total) * n[2])
}
