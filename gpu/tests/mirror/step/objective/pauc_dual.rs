//! Partial AUC by its dual.

use crate::mirror::family::gates::{Classes, total};
use crate::mirror::{Estimated, Run};
use undercurve::surrogate::Surrogate;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, loss, of) = (run.numbers(), run.loss, Classes::of(run, h));
    let clock = run.state.len() - 1;
    let owners = (run.state.len() - run.bank() - 2) / 6;
    let every = n[0] >= 1.0;
    let (mut gates, mut shares) = (Vec::new(), Vec::new());
    for (i, &own) in of.high.iter().enumerate() {
        let at = run.bank() + 3 * (owners + run.slots[i] as usize);
        let lambda = if every { 0.0 } else { run.state[at] };
        let gate = if every { f32::MIN } else { lambda };
        let counts = |j: usize| loss.value(own - of.low[j]) > gate;
        let above = of.over(|j| f32::from(u8::from(counts(j))));
        if !every {
            run.dual(at, clock, lambda - run.pace[1] * (n[0] - above / of.negatives()));
        }
        let beyond = of.over(|j| if counts(j) { loss.value(own - of.low[j]) - lambda } else { 0.0 });
        gates.push(gate);
        shares.push(beyond + n[0] * of.negatives() * lambda);
    }
    if !every {
        run.state[clock] += 1.0;
    }
    let unit = 1.0 / (of.positives() * of.negatives() * n[1]);
    let weight = |i: usize, _, margin| if loss.value(margin) > gates[i] { 1.0 } else { 0.0 };
    (of.slopes(run, unit, weight), total(shares) * unit)
}
