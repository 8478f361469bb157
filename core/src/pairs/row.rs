//! One positive against many others: the inner loops of every minibatch estimator.
//!
//! Sums run in eight lanes and a fixed tree, so the bits do not depend on how the compiler vectorises.

use crate::real::Real;
use crate::surrogate::Surrogate;

const LANES: usize = 8;

#[inline(always)]
fn tree<T: Real>(s: [T; LANES]) -> T {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Σ_j ℓ(anchor − s_j).
#[inline]
pub fn sum<T: Real>(loss: impl Surrogate<T>, anchor: T, others: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let chunks = others.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for l in 0..LANES {
            lanes[l] += loss.value(anchor - chunk[l]);
        }
    }
    for (lane, &s) in lanes.iter_mut().zip(rest) {
        *lane += loss.value(anchor - s);
    }
    tree(lanes)
}

/// Adds −κℓ'(anchor − s_j) to each `grad[j]` and returns Σ_j κℓ'(anchor − s_j), the anchor's own part.
/// `grad` is as long as `others`.
#[inline]
pub fn grad<T: Real>(loss: impl Surrogate<T>, anchor: T, others: &[T], kappa: T, grad: &mut [T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let chunks = others.chunks_exact(LANES);
    let rest = chunks.remainder();
    let mut outs = grad.chunks_exact_mut(LANES);
    for (chunk, out) in chunks.zip(&mut outs) {
        for l in 0..LANES {
            let c = kappa * loss.slope(anchor - chunk[l]);
            lanes[l] += c;
            out[l] -= c;
        }
    }
    for ((lane, &s), out) in lanes.iter_mut().zip(rest).zip(outs.into_remainder()) {
        let c = kappa * loss.slope(anchor - s);
        *lane += c;
        *out -= c;
    }
    tree(lanes)
}
