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
    if bias.len() == 1 {
        for (row, y) in x.chunks_exact(inputs).zip(y) {
            *y = bias[0] + dot(row, w);
        }
        return;
    }
    product(x, inputs, w, bias.len(), Some(bias), y);
}

/// Rows × out: `y = x·w`, from the bias or from 0.
fn product<T: Real>(x: &[T], inputs: usize, w: &[T], out: usize, bias: Option<&[T]>, y: &mut [T]) {
    let begin = |y: &mut [T], o: usize| match bias {
        Some(bias) => y.copy_from_slice(&bias[o..o + y.len()]),
        None => y.fill(T::ZERO),
    };
    let whole = out - out % OUT;
    for (x, y) in x.chunks(ROWS * inputs).zip(y.chunks_mut(ROWS * out)) {
        if x.len() == ROWS * inputs {
            let (x0, rest) = x.split_at(inputs);
            let (x1, rest) = rest.split_at(inputs);
            let (x2, x3) = rest.split_at(inputs);
            for o in (0..whole).step_by(OUT) {
                let mut acc = [[T::ZERO; OUT]; ROWS];
                for row in &mut acc {
                    begin(row, o);
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
                begin(y, 0);
                for (w, &a) in w.chunks_exact(out).zip(x) {
                    axpy(a, &w[..whole], y);
                }
            }
        }
        for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(out)) {
            for o in whole..out {
                let mut sum = bias.map_or(T::ZERO, |bias| bias[o]);
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

/// `dx = dy·wᵀ`, with `turned` (inputs × out values) for wᵀ. One pass turns w, and the product then runs along contiguous
/// memory like the forward one; every input is summed over the outputs in ascending order.
pub(crate) fn backward_inputs<T: Real>(dy: &[T], w: &[T], out: usize, inputs: usize, turned: &mut [T], dx: &mut [T]) {
    if out == 1 {
        for (&dy, dx) in dy.iter().zip(dx.chunks_exact_mut(inputs)) {
            for (dx, &w) in dx.iter_mut().zip(w) {
                *dx = dy * w;
            }
        }
        return;
    }
    for (o, turned) in turned.chunks_exact_mut(inputs).enumerate() {
        for (turned, w) in turned.iter_mut().zip(w.chunks_exact(out)) {
            *turned = w[o];
        }
    }
    product(dy, out, turned, inputs, None, dx);
}
