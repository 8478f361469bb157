//! The mean loss over pairs.

use crate::mirror::family::pairs::{Weighed, pairs};
use crate::mirror::{Estimated, Run};

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let mean = 1.0 / ((h.len() - run.negatives) as f32 * run.negatives as f32);
    let (c, sum) = pairs(run, h, false, |_, sums| Weighed { kappa: [mean, 0.0], share: sums.losses[0] });
    (c, sum * mean)
}
