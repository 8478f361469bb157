//! Smooth-AP.

use crate::mirror::family::pairs::{Sums, Weighed, pairs};
use crate::mirror::{Estimated, Run};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (c, sum) = pairs(run, h, true, weigh);
    (c, 1.0 - sum / (h.len() - run.negatives) as f32)
}

fn weigh(run: &mut Run<'_>, sums: &Sums) -> Weighed {
    let (n, own, count, [low, high]) = (run.numbers(), run.loss.value(0.0), sums.count, sums.losses);
    let (mut wl, mut wh) = (1.0, 1.0);
    if n[0] != 0.0 {
        wl = n[1] / run.negatives as f32;
        wh = if count > 1.0 { (n[2] - 1.0) / (count - 1.0) } else { n[2] };
    }
    let own = 1.0 + wh * (high - own).settled();
    let all = own + wl * low.settled();
    let (ratio, over) = (own / all, (1.0 / count) / all);
    Weighed { kappa: [(wl * over * ratio).settled(), (wh * over * (ratio - 1.0)).settled()], share: ratio }
}
