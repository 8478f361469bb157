//! AUC margin.

use crate::mirror::family::moments::{Moments, moments};
use crate::mirror::{Estimated, Run};

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    moments(run, h, |n, of| {
        let (n, &Moments { low, high, counts, alpha }) = (*n, of);
        let by_score = move |positive, d| match positive {
            false => 2.0 * n[1] * (1.0 / counts[0]) * (d + alpha),
            true => 2.0 * n[1] * (1.0 / counts[1]) * (d - alpha),
        };
        let (l, p) = (low.map(|x| x / counts[0]), high.map(|x| x / counts[1]));
        let gap = n[0] + l[0] - p[0];
        let value = p[2] + l[2] + 2.0 * alpha * gap - alpha * alpha;
        (by_score, [-2.0 * p[1], -2.0 * l[1], -2.0 * (gap - alpha), value].map(|x| n[1] * x))
    })
}
