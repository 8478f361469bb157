//! Cross-entropy.

use crate::mirror::family::points::points;
use crate::mirror::{Estimated, Run};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    points(run, h, |z| ((-z).softplus(), -(-z).sigmoid().settled()))
}
