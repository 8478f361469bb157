//! SOAP.

use crate::mirror::family::pairs::{Sums, Weighed, pairs};
use crate::mirror::{Estimated, FAINT, Run};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (c, sum) = pairs(run, h, true, weigh);
    (c, -(sum / (h.len() - run.negatives) as f32))
}

fn weigh(run: &mut Run<'_>, sums: &Sums) -> Weighed {
    let (n, own, [low, high]) = (run.numbers(), run.loss.value(0.0), sums.losses);
    let g1 = n[0] * own + n[1] * (high - own).settled();
    let g2 = g1 + n[2] * low.settled();
    let at = run.bank() + 2 * run.slots[sums.i] as usize;
    let (o1, o2) = (run.state[at], run.state[at + 1]);
    let gamma = if o2 == 0.0 && n[5] != 0.0 { 1.0 } else { n[3] };
    let u1 = (1.0 - gamma) * o1 + gamma * g1;
    let u2 = ((1.0 - gamma) * o2 + gamma * g2).max(n[4]);
    (run.state[at], run.state[at + 1]) = (u1, u2);
    let ratio = (u1 / u2).settled();
    let over = (1.0 / sums.count) / u2;
    let kappa = |kappa: f32, sum: f32| if kappa.abs() * (1.0 + sum) < FAINT { 0.0 } else { kappa };
    let kappa = [kappa(n[2] * over * ratio, low), kappa(n[1] * over * (ratio - 1.0), high)];
    Weighed { kappa, share: ratio }
}
