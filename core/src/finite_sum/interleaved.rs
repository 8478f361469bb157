//! Loops over two vectors whose numbers alternate.

use crate::Real;

/// (xᵀw, xᵀv) over the shorter length, in four lanes each.
#[inline]
pub(super) fn dot_pairs<T: Real>(x: &[T], pairs: &[[T; 2]]) -> [T; 2] {
    let pairs = &pairs[..x.len()];
    let mut lane = [[T::ZERO; 2]; 4];
    let (blocks, rest) = x.as_chunks::<4>();
    let (others, tail) = pairs.as_chunks::<4>();
    for (x, pairs) in blocks.iter().zip(others) {
        for k in 0..4 {
            lane[k][0] += x[k] * pairs[k][0];
            lane[k][1] += x[k] * pairs[k][1];
        }
    }
    let mut last = [T::ZERO; 2];
    for (&x, pair) in rest.iter().zip(tail) {
        last[0] += x * pair[0];
        last[1] += x * pair[1];
    }
    joined(lane, last)
}

/// (xᵀw, xᵀv) of a sparse row, in four lanes each.
#[inline]
pub(super) fn gather_pairs<T: Real>(col: &[u32], x: &[T], pairs: &[[T; 2]]) -> [T; 2] {
    let mut lane = [[T::ZERO; 2]; 4];
    let (cols, col_rest) = col.as_chunks::<4>();
    let (xs, x_rest) = x.as_chunks::<4>();
    for (col, x) in cols.iter().zip(xs) {
        for k in 0..4 {
            let pair = pairs[col[k] as usize];
            lane[k][0] += x[k] * pair[0];
            lane[k][1] += x[k] * pair[1];
        }
    }
    let mut last = [T::ZERO; 2];
    for (&j, &x) in col_rest.iter().zip(x_rest) {
        let pair = pairs[j as usize];
        last[0] += x * pair[0];
        last[1] += x * pair[1];
    }
    joined(lane, last)
}

/// xᵀw of a sparse row, in four lanes.
#[inline]
pub(super) fn gather_first<T: Real>(col: &[u32], x: &[T], pairs: &[[T; 2]]) -> T {
    let mut lane = [T::ZERO; 4];
    let (cols, col_rest) = col.as_chunks::<4>();
    let (xs, x_rest) = x.as_chunks::<4>();
    for (col, x) in cols.iter().zip(xs) {
        for k in 0..4 {
            lane[k] += x[k] * pairs[col[k] as usize][0];
        }
    }
    let mut last = T::ZERO;
    for (&j, &x) in col_rest.iter().zip(x_rest) {
        last += x * pairs[j as usize][0];
    }
    ((lane[0] + lane[1]) + (lane[2] + lane[3])) + last
}

#[inline]
pub(super) fn joined<T: Real>(lane: [[T; 2]; 4], last: [T; 2]) -> [T; 2] {
    [0, 1].map(|k| ((lane[0][k] + lane[1][k]) + (lane[2][k] + lane[3][k])) + last[k])
}

/// Changes every pair; returns the squared norms of the first entries and of the second.
pub(super) fn rewritten<T: Real>(pairs: &mut [[T; 2]], change: impl Fn([T; 2]) -> [T; 2]) -> [f64; 2] {
    let mut lane = [[0.0f64; 2]; 4];
    let (blocks, rest) = pairs.as_chunks_mut::<4>();
    let visit = |pair: &mut [T; 2], lane: &mut [f64; 2]| {
        *pair = change(*pair);
        lane[0] += pair[0].f64() * pair[0].f64();
        lane[1] += pair[1].f64() * pair[1].f64();
    };
    for block in blocks {
        for k in 0..4 {
            visit(&mut block[k], &mut lane[k]);
        }
    }
    let mut last = [0.0; 2];
    for pair in rest {
        visit(pair, &mut last);
    }
    joined(lane, last)
}

/// ‖g‖², leaving zeros, in one pass.
pub(super) fn drained<T: Real>(g: &mut [T]) -> f64 {
    let mut lane = [0.0f64; 4];
    let (blocks, rest) = g.as_chunks_mut::<4>();
    for block in blocks {
        for k in 0..4 {
            let x = core::mem::take(&mut block[k]).f64();
            lane[k] += x * x;
        }
    }
    let mut last = 0.0;
    for x in rest {
        let x = core::mem::take(x).f64();
        last += x * x;
    }
    ((lane[0] + lane[1]) + (lane[2] + lane[3])) + last
}

/// w ← w − αv, v ← shrink·v + g, g ← 0 in one pass; returns ‖v‖².
pub(super) fn fused<T: Real>(pairs: &mut [[T; 2]], g: &mut [T], alpha: T, shrink: T) -> f64 {
    let mut lane = [0.0f64; 4];
    let (blocks, rest) = pairs.as_chunks_mut::<4>();
    let (gs, g_rest) = g.as_chunks_mut::<4>();
    let visit = |pair: &mut [T; 2], g: &mut T, lane: &mut f64| {
        let [w, v] = *pair;
        let next = shrink * v + *g;
        *pair = [w - alpha * v, next];
        *g = T::ZERO;
        *lane += next.f64() * next.f64();
    };
    for (block, g) in blocks.iter_mut().zip(gs) {
        for k in 0..4 {
            visit(&mut block[k], &mut g[k], &mut lane[k]);
        }
    }
    let mut last = 0.0;
    for (pair, g) in rest.iter_mut().zip(g_rest) {
        visit(pair, g, &mut last);
    }
    ((lane[0] + lane[1]) + (lane[2] + lane[3])) + last
}
