//! Linear model h(x) = w·x + b, one such function per head.
//!
//! Parameters: weights input-major (`inputs × heads`), then the biases (`heads`). Starts at zero, where every ranking
//! loss has a gradient. Cost O(nnz·heads) a pass over the rows.

use super::dense::Inputs;
use super::{Model, axpy, dense};
use crate::data::{Rows, Selection};
use crate::error::{Error, Result, exact_len};
use crate::features::SMALL;
use crate::real::Real;
use crate::rng::Rng;
use crate::slices::Part;
use core::ops::Range;

/// Linear model.
///
/// ```
/// use undercurve::data::{Rows, Selection};
/// use undercurve::model::{Linear, Model};
///
/// let x = [1.0, 2.0, 3.0, 4.0]; // two rows of two columns
/// let rows = Selection::all(Rows::dense(&x, 2)?);
/// let (model, params) = (Linear::new(2, 1)?, [10.0, 1.0, 0.5]); // weights, then the bias
/// let mut scores = [0.0; 2];
/// model.forward(&params, rows, &mut [], &mut scores)?;
/// assert_eq!(scores, [12.5, 34.5]);
/// let mut grad = [0.0; 3];
/// model.backward(&params, rows, &[], &[1.0, -1.0], &mut [], &mut grad)?; // of the first score less the second
/// assert_eq!(grad, [-2.0, -2.0, 0.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    inputs: usize,
    heads: usize,
}

impl Linear {
    /// `inputs` feature columns to `heads` scores, both at least 1.
    ///
    /// # Errors
    /// `Param`, `Overflow`.
    pub fn new(inputs: usize, heads: usize) -> Result<Self> {
        match (inputs, heads) {
            (0, _) => Err(Error::Param { what: "inputs" }),
            (_, 0) => Err(Error::Param { what: "heads" }),
            _ => match inputs.checked_add(1).and_then(|rows| rows.checked_mul(heads)) {
                Some(_) => Ok(Self { inputs, heads }),
                None => Err(Error::Overflow { what: "params" }),
            },
        }
    }

    fn check<T: Real>(&self, params: usize, x: &Selection<'_, T>, scores: usize) -> Result<()> {
        exact_len("params", (self.inputs + 1) * self.heads, params)?;
        exact_len("columns", self.inputs, x.rows().cols())?;
        exact_len("scores", x.len() * self.heads, scores)
    }
}

impl<T: Real> Model<T> for Linear {
    fn param_len(&self) -> usize {
        (self.inputs + 1) * self.heads
    }
    fn inputs(&self) -> usize {
        self.inputs
    }
    fn heads(&self) -> usize {
        self.heads
    }
    fn part(&self, name: &str) -> Option<Range<usize>> {
        let end = (self.inputs + 1) * self.heads;
        match name {
            "bias" => Some(self.inputs * self.heads..end),
            "last" => Some(0..end),
            _ => None,
        }
    }
    fn init(&self, _: &mut Rng, params: &mut [T]) -> Result<()> {
        exact_len("params", Model::<T>::param_len(self), params.len())?;
        params.fill(T::ZERO);
        Ok(())
    }
    fn cache_len(&self, _: usize) -> usize {
        0
    }
    fn scratch_len(&self, _: usize) -> usize {
        0
    }

    fn forward(&self, params: &[T], x: Selection<'_, T>, _: &mut [T], scores: &mut [T]) -> Result<()> {
        self.check(params.len(), &x, scores.len())?;
        let (weights, bias) = params.halves(self.inputs * self.heads)?;
        layer_forward(x, weights, bias, scores);
        Ok(())
    }

    fn backward(
        &self,
        params: &[T],
        x: Selection<'_, T>,
        _: &[T],
        score_grad: &[T],
        _: &mut [T],
        grad: &mut [T],
    ) -> Result<()> {
        self.check(params.len(), &x, score_grad.len())?;
        exact_len("grad", params.len(), grad.len())?;
        let (weights, bias) = grad.halves_mut(self.inputs * self.heads)?;
        layer_backward(x, score_grad, weights, bias);
        Ok(())
    }
}

/// First-layer product on any kind of rows: `y = x·w + bias`. Lengths are the caller's care.
pub(super) fn layer_forward<T: Real>(x: Selection<'_, T>, w: &[T], bias: &[T], y: &mut [T]) {
    let out = bias.len();
    match x.rows() {
        Rows::Dense { data, cols } => dense::forward(Inputs::of(data, cols, x.index()), w, bias, y),
        Rows::Csr { ptr, col, val, .. } => {
            for (k, y) in y.chunks_exact_mut(out.max(1)).enumerate() {
                let (col, val) = Rows::sparse_row(ptr, col, val, x.row(k));
                if let ([y], &[bias]) = (&mut *y, bias) {
                    *y = bias + sparse_dot(col, val, w);
                } else {
                    y.copy(bias);
                    for (&c, &v) in col.iter().zip(val) {
                        axpy(v, weights_of(w, c, out), y);
                    }
                }
            }
        }
    }
}

/// The weight of a column. (There always is one: rows and parameters were checked. Said so that a program without panics can be
/// made of it, here and below.)
#[inline(always)]
fn weight<T: Real>(w: &[T], col: u32) -> T {
    w.get(col as usize).copied().unwrap_or(T::ZERO)
}

/// The weights of a column to each output.
#[inline(always)]
fn weights_of<T>(w: &[T], col: u32, out: usize) -> &[T] {
    let from = col as usize * out;
    w.get(from..from + out).unwrap_or_default()
}

/// Dot product of a sparse row with a whole vector, in four partial sums that do not wait for each other.
fn sparse_dot<T: Real>(col: &[u32], val: &[T], w: &[T]) -> T {
    let mut sums = [T::ZERO; 4];
    if SMALL {
        for (k, (&c, &v)) in col.iter().zip(val).enumerate() {
            sums[k % 4] += v * weight(w, c);
        }
        return (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }
    let (col, val) = (col.as_chunks::<4>(), val.as_chunks::<4>());
    for (col, val) in col.0.iter().zip(val.0) {
        for l in 0..4 {
            sums[l] += val[l] * weight(w, col[l]);
        }
    }
    for ((sum, &c), &v) in sums.iter_mut().zip(col.1).zip(val.1) {
        *sum += v * weight(w, c);
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// First-layer gradient on any kind of rows: adds `xᵀ·dy` and the column sums of `dy`.
pub(super) fn layer_backward<T: Real>(x: Selection<'_, T>, dy: &[T], dw: &mut [T], dbias: &mut [T]) {
    let out = dbias.len();
    match x.rows() {
        Rows::Dense { data, cols } => dense::backward_weights(Inputs::of(data, cols, x.index()), dy, dw, dbias),
        Rows::Csr { ptr, col, val, .. } => {
            for (k, dy) in dy.chunks_exact(out.max(1)).enumerate() {
                let (col, val) = Rows::sparse_row(ptr, col, val, x.row(k));
                for (&c, &v) in col.iter().zip(val) {
                    let from = c as usize * out;
                    axpy(v, dy, dw.get_mut(from..from + out).unwrap_or_default());
                }
                axpy(T::ONE, dy, dbias);
            }
        }
    }
}
