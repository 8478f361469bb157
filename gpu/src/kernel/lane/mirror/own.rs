//! Objectives that are no family's.

use super::{Run, four};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

impl Run<'_> {
    fn numbers(&self) -> [f32; 12] {
        std::array::from_fn(|k| self.lane.numbers[8 + k])
    }

    /// LDAM.
    pub(super) fn margins(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let (n, at) = (self.numbers(), self.shape().bank as usize);
        let [multiple, rest] = [self.state[at], self.state[at + 1]];
        let late = multiple > n[4] || multiple == n[4] && rest >= n[5];
        let weights = if late { [n[8], n[9]] } else { [n[0], n[1]] };
        let mut sum = 0.0;
        let gradient = |(r, &h): (usize, &f32)| {
            let positive = r >= self.negatives;
            let x = n[6] * if positive { n[3] - h } else { n[2] + h };
            let (weight, slope) = (weights[usize::from(positive)], -(n[6] * x.sigmoid().settled()));
            sum += weight * x.softplus();
            if positive { weight * slope } else { -(weight * slope) }
        };
        let c = h.iter().enumerate().map(gradient).collect();
        let full = rest + 1.0 == 1048576.0;
        (self.state[at], self.state[at + 1]) = if full { (multiple + 1.0, 0.0) } else { (multiple, rest + 1.0) };
        (c, sum)
    }

    /// A sum of ranked range.
    pub(super) fn ranked(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let (n, at) = (self.numbers(), self.shape().bank as usize + 3);
        let every = n[3] >= 1.0;
        let lambda = if every { 0.0 } else { self.state[at] };
        let gate = if every { f32::MIN } else { lambda };
        let of = |r: usize| {
            let positive = r >= self.negatives;
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
            self.dual(at, clock, lambda - self.pace[1] * (n[3] - above));
            self.state[clock] += 1.0;
        }
        (c, (n[3] * lambda + total) * n[2])
    }

    /// FastAP.
    pub(super) fn histogram(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let n = self.numbers();
        let (low, high) = h.split_at(self.negatives);
        let (bins, count) = (n[3], high.len() as f32);
        let w = match n[0] == 0.0 {
            true => [1.0; 2],
            false => [n[1] / low.len() as f32, if count > 1.0 { (n[2] - 1.0) / (count - 1.0) } else { n[2] }],
        };
        let share = |h: f32, edge: f32| {
            let x = h * bins;
            let lower = x.floor().min(bins - 1.0);
            if lower == edge {
                1.0 - (x - lower)
            } else if lower + 1.0 == edge {
                x - lower
            } else {
                0.0
            }
        };
        let fill = |scores: &[f32], z: usize| four(0, scores.len(), |k| share(scores[k], z as f32));
        let fills: Vec<[f32; 2]> = (0..=bins as usize).map(|z| [w[0] * fill(low, z), w[1] * fill(high, z)]).collect();
        let (mut edges, mut above) = (vec![[0.0; 4]; fills.len()], [0.0; 2]);
        for (edge, fill) in edges.iter_mut().zip(&fills).rev() {
            above = [above[0] + fill[0], above[1] + fill[1]];
            let all = above[0] + above[1];
            if all > 0.0 {
                let by = (fill[1] / all) / all;
                *edge = [-(by * above[1]), by * above[0], above[1] / all, fill[1] * above[1] / all];
            }
        }
        let scale = bins / (w[1] * count);
        let gradient = |(r, h): (usize, &f32)| {
            let bin = (h * bins).min(bins - 1.0) as usize;
            let [below, upper] = [edges[bin], edges[bin + 1]];
            let positive = r >= low.len();
            let by = if positive { upper[1] + (upper[2] - below[2]) } else { upper[0] };
            (-(scale * w[usize::from(positive)] * by)).settled()
        };
        let c = h.iter().enumerate().map(gradient).collect();
        (c, 1.0 - edges.iter().fold(0.0, |sum, edge| sum + edge[3]) / (w[1] * count))
    }

    /// MinMax AP.
    pub(super) fn anchors(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let (n, loss) = (self.numbers(), self.loss);
        let (low, high) = h.split_at(self.negatives);
        let (params, count) = (self.shape().params as usize, self.shape().ascent as usize);
        let [wl, wh] = match n[0] == 0.0 {
            true => [(n[1] + n[2]) / (h.len() as f32 * n[2]); 2],
            false => [n[1] / (low.len() as f32 * n[2]), 1.0 / high.len() as f32],
        };
        let over = n[3];
        let mut anchors = Vec::new();
        for k in 0..count {
            let (threshold, multiplier) = (self.state[params + k], self.state[params + count + k]);
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
            self.move_along(params + k, by[0]);
            self.move_along(params + count + k, by[1]);
        }
        (c, anchors.iter().fold(0.0, |sum, anchor| sum + anchor.2))
    }
}
