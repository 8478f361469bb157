//! Moments of both classes, and three auxiliaries: centres a and b, and the dual α.

use crate::mirror::{Estimated, Run, TINY, strided};
use undercurve::Real;

/// Of a batch: Σ h, Σ (h − centre) and Σ (h − centre)² of a class, rows of both, and α.
pub struct Moments {
    pub low: [f32; 3],
    pub high: [f32; 3],
    pub counts: [f32; 2],
    pub alpha: f32,
}

/// What is made of them: by a, b and α, and the value.
type Saddle = [f32; 4];

/// `by_score` is the gradient at a positive (or not) that is so far from its centre.
pub fn moments<S: Fn(bool, f32) -> f32>(
    run: &mut Run<'_>,
    h: &[f32],
    saddle: impl FnOnce(&[f32; 12], &Moments) -> (S, Saddle),
) -> Estimated {
    let at = run.shape().params as usize;
    let [a, b, alpha] = [run.state[at], run.state[at + 1], run.state[at + 2]];
    let (split, ways) = (run.negatives, run.order.moments);
    let counts = [split as f32, (h.len() - split) as f32];
    let sums = |from, end, centre: f32| -> [f32; 3] {
        let d = |r: usize| h[r] - centre;
        [strided(ways, from, end, |r| h[r]), strided(ways, from, end, d), strided(ways, from, end, |r| d(r) * d(r))]
    };
    let (low, high) = (sums(0, split, b), sums(split, h.len(), a));
    let (by_score, by) = saddle(&run.numbers(), &Moments { low, high, counts, alpha });
    let c = (0..h.len()).map(|r| by_score(r >= split, h[r] - if r < split { b } else { a })).collect();
    for (k, by) in by.into_iter().take(3).enumerate() {
        run.move_along(at + k, by.settled_below(TINY));
    }
    (c, by[3])
}
