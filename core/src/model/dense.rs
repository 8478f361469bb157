//! The three matrix products of a dense layer, blocked for registers.
//!
//! Weights lie input-major: `w[i·out + o]` takes input i to output o. So the forward product and the weight gradient run
//! along contiguous outputs, and a sparse input row touches whole contiguous rows of `w`. Every output is summed over
//! the inputs in ascending order, whatever the blocking, so the bits do not depend on the batch size.

use crate::real::Real;

/// Fixed number of partial sums of a dot product.
pub(crate) const LANES: usize = 8;
/// Outputs kept in registers at a time.
const OUT: usize = 8;
/// Rows kept in registers at a time.
const ROWS: usize = 4;

/// Adds eight lanes in a fixed tree.
#[inline(always)]
pub(crate) fn tree<T: Real>(s: [T; LANES]) -> T {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Dot product in [`LANES`] partial sums.
#[inline]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (ca, cb) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (ra, rb) = (ca.remainder(), cb.remainder());
    for (x, y) in ca.zip(cb) {
        for l in 0..LANES {
            lanes[l] += x[l] * y[l];
        }
    }
    for (l, (&x, &y)) in ra.iter().zip(rb).enumerate() {
        lanes[l] += x * y;
    }
    tree(lanes)
}

/// `y += factor · x`.
#[inline]
pub(crate) fn axpy<T: Real>(factor: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// Rows × out: `y = x·w + bias`.
pub(crate) fn forward<T: Real>(x: &[T], inputs: usize, w: &[T], bias: &[T], y: &mut [T]) {
    let out = bias.len();
    if out == 1 {
        for (row, y) in x.chunks_exact(inputs).zip(y) {
            *y = bias[0] + dot(row, w);
        }
        return;
    }
    let whole = out - out % OUT;
    for (x, y) in x.chunks(ROWS * inputs).zip(y.chunks_mut(ROWS * out)) {
        if x.len() == ROWS * inputs {
            let (x0, rest) = x.split_at(inputs);
            let (x1, rest) = rest.split_at(inputs);
            let (x2, x3) = rest.split_at(inputs);
            for o in (0..whole).step_by(OUT) {
                let mut acc = [[T::ZERO; OUT]; ROWS];
                for row in &mut acc {
                    row.copy_from_slice(&bias[o..o + OUT]);
                }
                for ((((w, &a), &b), &c), &d) in w.chunks_exact(out).zip(x0).zip(x1).zip(x2).zip(x3) {
                    let w = &w[o..o + OUT];
                    for l in 0..OUT {
                        acc[0][l] += a * w[l];
                        acc[1][l] += b * w[l];
                        acc[2][l] += c * w[l];
                        acc[3][l] += d * w[l];
                    }
                }
                for (row, acc) in y.chunks_exact_mut(out).zip(&acc) {
                    row[o..o + OUT].copy_from_slice(acc);
                }
            }
        } else {
            for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(out)) {
                let y = &mut y[..whole];
                y.copy_from_slice(&bias[..whole]);
                for (w, &a) in w.chunks_exact(out).zip(x) {
                    axpy(a, &w[..whole], y);
                }
            }
        }
        for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(out)) {
            for o in whole..out {
                let mut sum = bias[o];
                for (w, &a) in w.chunks_exact(out).zip(x) {
                    sum += a * w[o];
                }
                y[o] = sum;
            }
        }
    }
}

/// Adds `xᵀ·dy` to the weight gradient and the column sums of `dy` to the bias gradient.
pub(crate) fn backward_weights<T: Real>(x: &[T], inputs: usize, dy: &[T], dw: &mut [T], dbias: &mut [T]) {
    let out = dbias.len();
    for (x, dy) in x.chunks(ROWS * inputs).zip(dy.chunks(ROWS * out)) {
        if x.len() == ROWS * inputs {
            let [x0, x1, x2, x3] = rows(x, inputs);
            let [d0, d1, d2, d3] = rows(dy, out);
            for ((((dw, &a), &b), &c), &d) in dw.chunks_exact_mut(out).zip(x0).zip(x1).zip(x2).zip(x3) {
                for ((((dw, &e), &f), &g), &h) in dw.iter_mut().zip(d0).zip(d1).zip(d2).zip(d3) {
                    *dw = *dw + a * e + b * f + c * g + d * h;
                }
            }
        } else {
            for (x, dy) in x.chunks_exact(inputs).zip(dy.chunks_exact(out)) {
                for (dw, &a) in dw.chunks_exact_mut(out).zip(x) {
                    axpy(a, dy, dw);
                }
            }
        }
    }
    for dy in dy.chunks_exact(out) {
        axpy(T::ONE, dy, dbias);
    }
}

/// The first [`ROWS`] rows of a matrix.
#[inline(always)]
fn rows<T>(x: &[T], cols: usize) -> [&[T]; ROWS] {
    core::array::from_fn(|row| &x[row * cols..][..cols])
}

/// `dx = dy·wᵀ`.
pub(crate) fn backward_inputs<T: Real>(dy: &[T], w: &[T], out: usize, inputs: usize, dx: &mut [T]) {
    if out == 1 {
        for (&dy, dx) in dy.iter().zip(dx.chunks_exact_mut(inputs)) {
            for (dx, &w) in dx.iter_mut().zip(w) {
                *dx = dy * w;
            }
        }
        return;
    }
    for (dy, dx) in dy.chunks(ROWS * out).zip(dx.chunks_mut(ROWS * inputs)) {
        if dy.len() == ROWS * out {
            let dy: [&[T]; ROWS] = rows(dy, out);
            for (i, w) in w.chunks_exact(out).enumerate() {
                let sums = dot_rows(dy, w);
                for (row, sum) in sums.into_iter().enumerate() {
                    dx[row * inputs + i] = sum;
                }
            }
        } else {
            for (dy, dx) in dy.chunks_exact(out).zip(dx.chunks_exact_mut(inputs)) {
                for (dx, w) in dx.iter_mut().zip(w.chunks_exact(out)) {
                    *dx = dot(dy, w);
                }
            }
        }
    }
}

/// [`dot`] of four rows with one vector: the same sums in the same order, the vector read once.
#[inline(always)]
fn dot_rows<T: Real>(a: [&[T]; ROWS], b: &[T]) -> [T; ROWS] {
    let (mut s0, mut s1, mut s2, mut s3) = ([T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES]);
    let [a0, a1, a2, a3] = a.map(|a| a.chunks_exact(LANES));
    let b = b.chunks_exact(LANES);
    let rest = b.remainder();
    let rests = [a0.remainder(), a1.remainder(), a2.remainder(), a3.remainder()];
    for ((((b, a0), a1), a2), a3) in b.zip(a0).zip(a1).zip(a2).zip(a3) {
        for l in 0..LANES {
            s0[l] += a0[l] * b[l];
            s1[l] += a1[l] * b[l];
            s2[l] += a2[l] * b[l];
            s3[l] += a3[l] * b[l];
        }
    }
    let mut lanes = [s0, s1, s2, s3];
    for (lanes, a) in lanes.iter_mut().zip(rests) {
        for ((lane, &x), &y) in lanes.iter_mut().zip(a).zip(rest) {
            *lane += x * y;
        }
    }
    lanes.map(tree)
}
