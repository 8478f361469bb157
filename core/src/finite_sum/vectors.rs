//! Sums over vectors, in lanes, and the bounds that keep them in the number type.

use crate::Real;
use crate::error::{Error, Result};

/// Adds λw to the sum of all slopes; ‖∇P(w)‖².
pub(super) fn finish_gradient<T: Real>(lambda: f64, w: &[T], grad: &mut [T]) -> Result<f64> {
    if lambda > 0.0 {
        let lambda = T::of(lambda);
        for (g, &w) in grad.iter_mut().zip(w) {
            *g += lambda * w;
        }
    }
    let total = norm_sq(grad);
    if fits(total, limit::<T>()) { Ok(total) } else { Err(Error::Overflow { what: "gradient" }) }
}

/// Whether a value, which may be NaN, is below the bound.
#[inline]
pub(super) fn fits(value: f64, bound: f64) -> bool {
    value < bound
}

/// Squares above this are refused: sums of a few of them must still fit.
pub(super) fn limit<T: Real>() -> f64 {
    T::MAX.f64() / 1_048_576.0
}

/// xᵀp over the shorter length, in eight lanes.
#[inline]
pub(super) fn dot<T: Real>(x: &[T], p: &[T]) -> T {
    let p = &p[..x.len()];
    let mut lane = [T::ZERO; 8];
    let (blocks, rest) = x.as_chunks::<8>();
    let (others, tail) = p.as_chunks::<8>();
    for (x, p) in blocks.iter().zip(others) {
        for k in 0..8 {
            lane[k] += x[k] * p[k];
        }
    }
    let mut last = T::ZERO;
    for (&x, &p) in rest.iter().zip(tail) {
        last += x * p;
    }
    tree(lane) + last
}

/// xᵀp of a sparse row, in four lanes.
#[inline]
pub(super) fn gather<T: Real>(col: &[u32], x: &[T], p: &[T]) -> T {
    let mut lane = [T::ZERO; 4];
    let (cols, col_rest) = col.as_chunks::<4>();
    let (xs, x_rest) = x.as_chunks::<4>();
    for (col, x) in cols.iter().zip(xs) {
        for k in 0..4 {
            lane[k] += x[k] * p[col[k] as usize];
        }
    }
    let mut last = T::ZERO;
    for (&j, &x) in col_rest.iter().zip(x_rest) {
        last += x * p[j as usize];
    }
    ((lane[0] + lane[1]) + (lane[2] + lane[3])) + last
}

#[inline]
fn tree<T: Real>(lane: [T; 8]) -> T {
    ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}

/// ‖p‖² in f64, in eight lanes.
pub(super) fn norm_sq<T: Real>(p: &[T]) -> f64 {
    let mut lane = [0.0f64; 8];
    let (blocks, rest) = p.as_chunks::<8>();
    for p in blocks {
        for k in 0..8 {
            lane[k] += p[k].f64() * p[k].f64();
        }
    }
    let mut last = 0.0;
    for &p in rest {
        last += p.f64() * p.f64();
    }
    tree(lane) + last
}
