//! Losses of single rows.

use crate::mirror::{Estimated, Run, strided};

/// Of loss and slope at a score toward the row's own class.
pub fn points(run: &Run<'_>, h: &[f32], loss: impl Fn(f32) -> (f32, f32)) -> Estimated {
    let n = run.numbers();
    let point = |r: usize| {
        let positive = r >= run.negatives;
        let (loss, slope) = loss(if positive { h[r] } else { -h[r] });
        let weight = n[usize::from(positive)];
        (if positive { weight * slope } else { -(weight * slope) }, weight * loss)
    };
    let c = (0..h.len()).map(|r| point(r).0).collect();
    (c, strided(run.order.values, 0, h.len(), |r| point(r).1))
}
