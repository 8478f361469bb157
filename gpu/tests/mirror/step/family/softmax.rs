//! Negatives that weigh by the exponential of their losses, with a running logarithm of its mean for each positive.

use super::gates::{Classes, total};
use crate::mirror::{Estimated, Run};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

/// u of each positive, moved.
pub fn moved(run: &mut Run<'_>, of: Classes<'_>) -> Vec<f32> {
    let (n, loss) = (run.numbers(), run.loss);
    let move_one = |(i, &own): (usize, &f32)| {
        let at = run.bank() + run.slots[i] as usize;
        let x = |j: usize| n[0] * loss.value(own - of.low[j]);
        let most = (0..of.low.len()).map(x).fold(f32::MIN, f32::max);
        let sum = of.over(|j| (x(j) - most).fading_exp());
        let u = blend(run.state[at], (most + Real::ln(sum / of.negatives())).settled(), n[1]);
        run.state[at] = u;
        u
    };
    of.high.iter().enumerate().map(move_one).collect()
}

/// Of exponents, by positive, that go to those of the losses, and shares of the value.
pub fn estimate(run: &Run<'_>, of: Classes<'_>, exponents: &[f32], shares: Vec<f32>) -> Estimated {
    let (n, loss) = (run.numbers(), run.loss);
    let unit = 1.0 / (of.positives() * of.negatives());
    let weight = |i: usize, _, margin| (n[0] * loss.value(margin) + exponents[i]).fading_exp();
    (of.slopes(run, unit, weight), total(shares) / of.positives())
}

/// ln((1 − γ)e^old + γe^new); `new` where there is no old one.
pub fn blend(old: f32, new: f32, gamma: f32) -> f32 {
    if old == 0.0 {
        return new;
    }
    let most = old.max(new);
    let sum = (1.0 - gamma) * (old - most).fading_exp() + gamma * (new - most).fading_exp();
    (most + Real::ln(sum)).settled()
}
