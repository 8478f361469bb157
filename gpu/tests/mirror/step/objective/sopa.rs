//! SOPA.

use crate::mirror::family::gates::{Classes, total};
use crate::mirror::{Estimated, Run};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, loss, of) = (run.numbers(), run.loss, Classes::of(run, h));
    let first = (0..of.low.len()).find(|&j| of.ahead(j) as f32 + 1.0 == n[0]);
    let (mut thresholds, mut shares) = (Vec::new(), Vec::new());
    for (i, &own) in of.high.iter().enumerate() {
        let at = run.bank() + run.slots[i] as usize;
        let old = run.state[at];
        let s = if old == 0.0 { loss.value(own - first.map_or(0.0, |j| of.low[j])) } else { old };
        let excess = |j: usize| loss.value(own - of.low[j]) - s;
        let above = of.over(|j| f32::from(u8::from(excess(j) > 0.0)));
        run.state[at] = (s - n[3] * (1.0 - n[2] * above)).settled();
        thresholds.push(s);
        shares.push(s + n[2] * of.over(|j| excess(j).max(0.0)));
    }
    let unit = 1.0 / (of.positives() * of.negatives());
    let weight = |i: usize, _, margin| if loss.value(margin) - thresholds[i] > 0.0 { n[1] } else { 0.0 };
    (of.slopes(run, unit, weight), total(shares) / of.positives())
}
