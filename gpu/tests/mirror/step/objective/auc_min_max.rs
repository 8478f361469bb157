//! AUC min-max.

use crate::mirror::family::moments::{Moments, moments};
use crate::mirror::{Estimated, Run};

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let rows = h.len() as f32;
    moments(run, h, |n, of| {
        let (n, &Moments { low, high, counts, alpha }) = (*n, of);
        let share = |of: f32, count: f32| if count == 0.0 { 0.0 } else { of / ((n[3] + n[4]) * count) };
        let [wl, wh] = match n[2] == 0.0 {
            true => [1.0 / rows; 2],
            false => [share(n[3], counts[0]), share(n[4], counts[1])],
        };
        let (p, variance) = (n[0], n[1]);
        let by_score = move |positive, d| match positive {
            false => wl * 2.0 * p * (d + 1.0 + alpha),
            true => wh * 2.0 * (1.0 - p) * (d - 1.0 - alpha),
        };
        let (l, q) = (low.map(|x| p * wl * x), high.map(|x| (1.0 - p) * wh * x));
        let cross = l[0] - q[0];
        let value = q[2] + l[2] + 2.0 * (1.0 + alpha) * cross - variance * alpha * alpha;
        (by_score, [-2.0 * q[1], -2.0 * l[1], -(2.0 * cross - 2.0 * variance * alpha), value])
    })
}
