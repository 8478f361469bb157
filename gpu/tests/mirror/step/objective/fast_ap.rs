//! FastAP.

use crate::mirror::{Estimated, Run, four};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let n = run.numbers();
    let (low, high) = h.split_at(run.negatives);
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
