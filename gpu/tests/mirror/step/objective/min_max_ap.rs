//! MinMax AP.

use crate::mirror::{Estimated, Run, four};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, loss) = (run.numbers(), run.loss);
    let (low, high) = h.split_at(run.negatives);
    let (params, count) = (run.shape().params as usize, run.shape().ascent as usize);
    let [wl, wh] = match n[0] == 0.0 {
        true => [(n[1] + n[2]) / (h.len() as f32 * n[2]); 2],
        false => [n[1] / (low.len() as f32 * n[2]), 1.0 / high.len() as f32],
    };
    let over = n[3];
    let mut anchors = Vec::new();
    for k in 0..count {
        let (threshold, multiplier) = (run.state[params + k], run.state[params + count + k]);
        let of_low = |f: &dyn Fn(f32) -> f32| four(0, low.len(), |j| f(threshold - low[j]));
        let of_high = |f: &dyn Fn(f32) -> f32| four(0, high.len(), |i| f(high[i] - threshold));
        let (value, slope) = (|t| loss.value(t), |t| loss.slope(t));
        let odds = (n[2] * (count + 1) as f32 + n[1] * (k + 1) as f32) / (n[1] * (count - k) as f32);
        let (lambda, lost) = (multiplier.abs(), wh * of_high(&value));
        let constraint = odds * wl * of_low(&value) - (1.0 - lost);
        let below = (over * lambda * odds * wl).settled();
        let above = (over * (1.0 + lambda) * wh).settled();
        let rise = if multiplier < 0.0 { -constraint } else { constraint };
        let by = [below * of_low(&slope) - above * of_high(&slope), (-(over * rise)).settled()];
        anchors.push((threshold, [below, above], over * (lost + lambda * constraint), by));
    }
    let gradient = |(r, &h): (usize, &f32)| {
        let positive = r >= low.len();
        let of = |k: usize| {
            let (threshold, kappa, ..) = anchors[k];
            let far = h - threshold;
            kappa[usize::from(positive)] * loss.slope(if positive { far } else { -far })
        };
        let sum = four(0, count, of);
        if positive { sum } else { -sum }
    };
    let c = h.iter().enumerate().map(gradient).collect();
    for (k, (.., by)) in anchors.iter().enumerate() {
        run.move_along(params + k, by[0]);
        run.move_along(params + count + k, by[1]);
    }
    (c, anchors.iter().fold(0.0, |sum, anchor| sum + anchor.2))
}
