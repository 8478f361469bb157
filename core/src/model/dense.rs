//! The three matrix products of a dense layer, blocked for registers.
//!
//! Weights lie input-major: `w[i·out + o]` takes input i to output o. So the forward product and the weight gradient run
//! along contiguous outputs, and a sparse input row touches whole contiguous rows of `w`. Every output is summed over
//! the inputs in ascending order, whatever the blocking, so the bits do not depend on the batch size.

use crate::features::SMALL;
use crate::real::Real;
use crate::simd::{Kernel, vectorised};

/// Fixed number of partial sums of a dot product.
pub(crate) const LANES: usize = 8;
/// Outputs kept in registers at a time.
const OUT: usize = 8;
/// Rows kept in registers at a time.
const ROWS: usize = 4;

/// Rows of which a few inputs are put side by side at a time.
const PACKED: usize = 64;

/// Adds eight lanes in a fixed tree.
#[inline(always)]
pub(crate) fn tree<T: Real>(s: [T; LANES]) -> T {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Dot product in [`LANES`] partial sums.
#[cfg_attr(not(feature = "compact"), inline(always))]
#[cfg_attr(feature = "compact", inline)]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    if SMALL {
        for (k, (&x, &y)) in a.iter().zip(b).enumerate() {
            lanes[k % LANES] += x * y;
        }
        return tree(lanes);
    }
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
#[cfg_attr(not(feature = "compact"), inline(always))]
#[cfg_attr(feature = "compact", inline)]
pub(crate) fn axpy<T: Real>(factor: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// Rows of one length: those of a matrix in order, or some by number.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a, T> {
    data: &'a [T],
    cols: usize,
    index: Option<&'a [u32]>,
}

impl<'a, T> Inputs<'a, T> {
    /// All rows of a matrix.
    pub(crate) fn all(data: &'a [T], cols: usize) -> Self {
        Self { data, cols, index: None }
    }
    /// The rows of these numbers.
    pub(crate) fn of(data: &'a [T], cols: usize, index: Option<&'a [u32]>) -> Self {
        Self { data, cols, index }
    }
    #[inline(always)]
    fn row(&self, k: usize) -> &'a [T] {
        // (There always is one. Said so that a program without panics can be made of it.)
        let row = match self.index {
            None => Some(k),
            Some(index) => index.get(k).map(|&row| row as usize),
        };
        let rest = row.and_then(|row| self.data.get(row * self.cols..));
        rest.and_then(|rest| rest.get(..self.cols)).unwrap_or_default()
    }
}

/// Rows × out: `y = x·w + bias`.
pub(crate) fn forward<T: Real>(x: Inputs<'_, T>, w: &[T], bias: &[T], y: &mut [T]) {
    vectorised(Forward { x, w, bias, y });
}

/// [`forward`].
struct Forward<'a, T> {
    x: Inputs<'a, T>,
    w: &'a [T],
    bias: &'a [T],
    y: &'a mut [T],
}

impl<T: Real> Kernel for Forward<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, wide: bool) {
        let Self { x, w, bias, y } = self;
        if let &[bias] = bias {
            for (k, y) in y.iter_mut().enumerate() {
                *y = bias + dot(x.row(k), w);
            }
        } else {
            product(x, w, bias.len(), Some(bias), y, wide);
        }
    }
}

/// Whether blocks of so many values, four times, fill no more than the registers do.
#[inline(always)]
fn has_room<T: Real>(wide: bool) -> bool {
    wide && T::BYTES == 4
}

/// Rows × out: `y = x·w`, from the bias or from 0.
#[cfg_attr(not(feature = "compact"), inline(always))]
#[cfg_attr(feature = "compact", inline(never))]
fn product<T: Real>(x: Inputs<'_, T>, w: &[T], out: usize, bias: Option<&[T]>, y: &mut [T], wide: bool) {
    if SMALL {
        for (k, y) in y.chunks_exact_mut(out.max(1)).enumerate() {
            begin(bias, 0, y);
            for (w, &a) in w.chunks_exact(out.max(1)).zip(x.row(k)) {
                axpy(a, w, y);
            }
        }
        return;
    }
    let whole = out - out % OUT;
    let out = out.max(1);
    let rows = y.len() / out;
    let blocked = rows - rows % ROWS;
    let Some((first, last)) = y.split_at_mut_checked(blocked * out) else { return };
    for (k, y) in first.chunks_exact_mut(ROWS * out).enumerate() {
        let at = ROWS * k;
        let x = [x.row(at), x.row(at + 1), x.row(at + 2), x.row(at + 3)];
        let mut o = 0;
        while has_room::<T>(wide) && o + 2 * OUT <= whole {
            product_of::<T, { 2 * OUT }>(x, w, out, bias, y, o);
            o += 2 * OUT;
        }
        while o < whole {
            product_of::<T, OUT>(x, w, out, bias, y, o);
            o += OUT;
        }
    }
    for (k, y) in last.chunks_exact_mut(out).enumerate() {
        let y = y.get_mut(..whole).unwrap_or_default();
        begin(bias, 0, y);
        for (w, &a) in w.chunks_exact(out).zip(x.row(blocked + k)) {
            axpy(a, w, y);
        }
    }
    if whole < out {
        for (k, y) in y.chunks_exact_mut(out).enumerate() {
            let x = x.row(k);
            for (o, y) in y.iter_mut().enumerate().skip(whole) {
                let mut sum = bias.and_then(|bias| bias.get(o)).copied().unwrap_or(T::ZERO);
                for (w, &a) in w.chunks_exact(out).zip(x) {
                    sum += a * w.get(o).copied().unwrap_or(T::ZERO);
                }
                *y = sum;
            }
        }
    }
}

/// What a sum starts from.
#[inline(always)]
fn begin<T: Real>(bias: Option<&[T]>, o: usize, y: &mut [T]) {
    match bias {
        Some(bias) => y.iter_mut().zip(bias.iter().skip(o)).for_each(|(y, &bias)| *y = bias),
        None => y.fill(T::ZERO),
    }
}

/// `W` outputs from the one numbered `o`, for [`ROWS`] rows.
#[inline(always)]
fn product_of<T: Real, const W: usize>(
    x: [&[T]; ROWS],
    w: &[T],
    out: usize,
    bias: Option<&[T]>,
    y: &mut [T],
    o: usize,
) {
    let mut acc = [[T::ZERO; W]; ROWS];
    for row in &mut acc {
        begin(bias, o, row);
    }
    for ((((w, &a), &b), &c), &d) in w.chunks_exact(out).zip(x[0]).zip(x[1]).zip(x[2]).zip(x[3]) {
        let Some(w) = chunk_at::<T, W>(w, o) else { return };
        for l in 0..W {
            acc[0][l] += a * w[l];
            acc[1][l] += b * w[l];
            acc[2][l] += c * w[l];
            acc[3][l] += d * w[l];
        }
    }
    for (row, acc) in y.chunks_exact_mut(out).zip(&acc) {
        if let Some(row) = row.get_mut(o..).and_then(<[T]>::first_chunk_mut) {
            *row = *acc;
        }
    }
}

/// `W` elements from the one numbered `o`.
#[inline(always)]
fn chunk_at<T, const W: usize>(row: &[T], o: usize) -> Option<&[T; W]> {
    row.get(o..)?.first_chunk()
}

/// Adds `xᵀ·dy` to the weight gradient and the column sums of `dy` to the bias gradient.
pub(crate) fn backward_weights<T: Real>(x: Inputs<'_, T>, dy: &[T], dw: &mut [T], dbias: &mut [T]) {
    vectorised(BackwardWeights { x, dy, dw, dbias });
}

/// [`backward_weights`].
struct BackwardWeights<'a, T> {
    x: Inputs<'a, T>,
    dy: &'a [T],
    dw: &'a mut [T],
    dbias: &'a mut [T],
}

impl<T: Real> Kernel for BackwardWeights<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, wide: bool) {
        let Self { x, dy, dw, dbias } = self;
        if SMALL {
            let out = dbias.len().max(1);
            for (k, dy) in dy.chunks_exact(out).enumerate() {
                for (dw, &a) in dw.chunks_exact_mut(out).zip(x.row(k)) {
                    axpy(a, dy, dw);
                }
                axpy(T::ONE, dy, dbias);
            }
            return;
        }
        if let [dbias] = dbias {
            for (k, &dy) in dy.iter().enumerate() {
                axpy(dy, x.row(k), dw);
                *dbias += dy;
            }
            return;
        }
        let out = dbias.len();
        let whole = out - out % OUT;
        let out = out.max(1);
        let blocked = x.cols - x.cols % ROWS;
        let Some((first, last)) = dw.split_at_mut_checked(blocked * out) else { return };
        let mut packed = [[T::ZERO; ROWS]; PACKED];
        for (from, dy) in (0..).step_by(PACKED).zip(dy.chunks((PACKED * out).max(1))) {
            let Some(packed) = packed.get_mut(..dy.len() / out) else { return };
            for (i, dw) in (0..).step_by(ROWS).zip(first.chunks_exact_mut(ROWS * out)) {
                for (k, packed) in packed.iter_mut().enumerate() {
                    *packed = chunk_at(x.row(from + k), i).copied().unwrap_or([T::ZERO; ROWS]);
                }
                let mut o = 0;
                while has_room::<T>(wide) && o + 2 * OUT <= whole {
                    weights_of::<T, { 2 * OUT }>(packed, dy, out, dw, o);
                    o += 2 * OUT;
                }
                while o < whole {
                    weights_of::<T, OUT>(packed, dy, out, dw, o);
                    o += OUT;
                }
                for o in whole..out {
                    column_of(packed, dy, out, dw, o);
                }
            }
        }
        for (k, dy) in dy.chunks_exact(out).enumerate() {
            let x = x.row(k);
            for (dw, &a) in last.chunks_exact_mut(out).zip(x.iter().skip(blocked)) {
                axpy(a, dy, dw);
            }
            axpy(T::ONE, dy, dbias);
        }
    }
}

/// `W` weights from the one numbered `o`, of [`ROWS`] inputs.
#[inline(always)]
fn weights_of<T: Real, const W: usize>(x: &[[T; ROWS]], dy: &[T], out: usize, dw: &mut [T], o: usize) {
    let mut acc = [[T::ZERO; W]; ROWS];
    for (acc, dw) in acc.iter_mut().zip(dw.chunks_exact(out)) {
        *acc = chunk_at(dw, o).copied().unwrap_or([T::ZERO; W]);
    }
    for (x, dy) in x.iter().zip(dy.chunks_exact(out)) {
        let Some(dy) = chunk_at::<T, W>(dy, o) else { return };
        for l in 0..W {
            acc[0][l] += x[0] * dy[l];
            acc[1][l] += x[1] * dy[l];
            acc[2][l] += x[2] * dy[l];
            acc[3][l] += x[3] * dy[l];
        }
    }
    for (acc, dw) in acc.iter().zip(dw.chunks_exact_mut(out)) {
        if let Some(dw) = dw.get_mut(o..).and_then(<[T]>::first_chunk_mut) {
            *dw = *acc;
        }
    }
}

/// The weights numbered `o`, of [`ROWS`] inputs.
#[inline(always)]
fn column_of<T: Real>(x: &[[T; ROWS]], dy: &[T], out: usize, dw: &mut [T], o: usize) {
    let mut acc = [T::ZERO; ROWS];
    for (acc, dw) in acc.iter_mut().zip(dw.chunks_exact(out)) {
        *acc = dw.get(o).copied().unwrap_or(T::ZERO);
    }
    for (x, dy) in x.iter().zip(dy.chunks_exact(out)) {
        let dy = dy.get(o).copied().unwrap_or(T::ZERO);
        for r in 0..ROWS {
            acc[r] += x[r] * dy;
        }
    }
    for (acc, dw) in acc.iter().zip(dw.chunks_exact_mut(out)) {
        if let Some(dw) = dw.get_mut(o) {
            *dw = *acc;
        }
    }
}

/// `dx = dy·wᵀ`, with `turned` (inputs × out values) for wᵀ. One pass turns w, and the product then runs along contiguous
/// memory like the forward one; every input is summed over the outputs in ascending order.
pub(crate) fn backward_inputs<T: Real>(dy: &[T], w: &[T], out: usize, inputs: usize, turned: &mut [T], dx: &mut [T]) {
    vectorised(BackwardInputs { dy, w, out, inputs, turned, dx });
}

/// [`backward_inputs`].
struct BackwardInputs<'a, T> {
    dy: &'a [T],
    w: &'a [T],
    out: usize,
    inputs: usize,
    turned: &'a mut [T],
    dx: &'a mut [T],
}

impl<T: Real> Kernel for BackwardInputs<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, wide: bool) {
        let Self { dy, w, out, inputs, turned, dx } = self;
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
        product(Inputs::all(dy, out), turned, inputs, None, dx, wide);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const ROWS_OF: usize = 70;
    const COLS: usize = 7;
    const MOST: usize = 19;

    /// Blocked or not, with the feature `compact` and without an allocator too: the bits of the plain loops.
    #[test]
    fn layers_have_the_bits_of_plain_loops() {
        let mut rng = Rng::new(5);
        let mut normal = || rng.normal() as f32;
        let (x, w): ([f32; ROWS_OF * COLS], [f32; COLS * MOST]) =
            (core::array::from_fn(|_| normal()), core::array::from_fn(|_| normal()));
        let (bias, dy): ([f32; MOST], [f32; ROWS_OF * MOST]) =
            (core::array::from_fn(|_| normal()), core::array::from_fn(|_| normal()));
        for out in 2..=MOST {
            let (w, bias, dy) = (&w[..COLS * out], &bias[..out], &dy[..ROWS_OF * out]);
            let (mut y, mut dw, mut dbias) = ([0.0f32; ROWS_OF * MOST], [0.5f32; COLS * MOST], [0.25f32; MOST]);
            let (mut dw_want, mut dbias_want) = (dw, dbias);
            forward(Inputs::all(&x, COLS), w, bias, &mut y[..ROWS_OF * out]);
            backward_weights(Inputs::all(&x, COLS), dy, &mut dw[..COLS * out], &mut dbias[..out]);
            for k in 0..ROWS_OF {
                for o in 0..out {
                    let want = (0..COLS).fold(bias[o], |sum, i| sum + x[k * COLS + i] * w[i * out + o]);
                    assert_eq!(y[k * out + o].to_bits(), want.to_bits(), "output {o} of {out}, row {k}");
                    for i in 0..COLS {
                        dw_want[i * out + o] += x[k * COLS + i] * dy[k * out + o];
                    }
                    dbias_want[o] += dy[k * out + o];
                }
            }
            assert_eq!(dw.map(f32::to_bits), dw_want.map(f32::to_bits), "{out} outputs");
            assert_eq!(dbias.map(f32::to_bits), dbias_want.map(f32::to_bits), "{out} outputs");
        }
        for len in 0..COLS * MOST {
            let (a, b) = (&x[..len], &w[..len]);
            let mut lanes = [0.0; LANES];
            (0..len).for_each(|k| lanes[k % LANES] += a[k] * b[k]);
            assert_eq!(dot(a, b).to_bits(), tree(lanes).to_bits(), "{len} products");
        }
    }
}
