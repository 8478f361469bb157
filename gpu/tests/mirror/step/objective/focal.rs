//! Focal loss.

use crate::mirror::family::points::points;
use crate::mirror::{Estimated, Run};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let focus = run.numbers()[3];
    points(run, h, |z| {
        let loss = (-z).softplus().settled();
        let modulation = (-(focus * z.softplus())).fading_exp().settled();
        (modulation * loss, -(modulation * (focus * z.sigmoid() * loss + (-z).sigmoid()).settled()))
    })
}
