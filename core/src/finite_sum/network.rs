//! Finite sums over the scores of a network, and their oracles.
//!
//! P(w) = (1/n) Σ φ(y_i, h(x_i; w)) + (λ/2)‖w‖², with h a perceptron of one score and w all its parameters: λ weighs
//! biases as it weighs weights, as it does the intercept of a linear model.
//!
//! - gradient: (1/b) Σ φ'(h_i) ∇h_i + λw, by a forward and a backward pass;
//! - derivatives along v: Hv, vᵀHv and vᵀ∇³f_S[v, v], exactly, as [`Mlp::along`] has them; λ adds λv, λ‖v‖² and nothing.
//!
//! Rows are walked in chunks, so that the working memory ([`Gradients::scratch_len`]) does not grow with their number.

use super::anchored::Anchored;
use super::glm::checked;
use super::heavy_ball::HeavyBall;
use super::oracle::{Bend, Examples, Gradients, check_scratch};
use super::recursive::Recursion;
use super::vectors::norm_sq;
use crate::data::{Rows, Selection};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::example_loss::{GlmLoss, Response};
use crate::model::{Mlp, Model, Path};
use crate::real::Real;

/// Rows that go through the network together: at most, and at least.
const MOST_ROWS: usize = 256;
const LEAST_ROWS: usize = 8;
/// Multiply-adds of a forward pass that a chunk is cut to, between those two.
const CHUNK: usize = 262_144;

/// A finite sum over borrowed rows; nothing is copied.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{GlmLoss, Gradients, NetworkSum, gradient};
/// use undercurve::model::{Activation, Mlp, Model};
/// use undercurve::rng::Rng;
///
/// let x = [1.0, 2.0, -1.0]; // three rows of one column
/// let model = Mlp::new(1, &[3], 1, Activation::Tanh)?;
/// let sum = NetworkSum::new(model, Rows::dense(&x, 1)?, &[1, 0, 1], GlmLoss::Logistic, 0.1)?;
/// let (mut w, mut grad) = (vec![0.0f64; sum.dim()], vec![0.0; sum.dim()]);
/// let mut scratch = vec![0.0; sum.scratch_len()];
/// model.init(&mut Rng::new(1), &mut w)?;
/// gradient(&sum, &w, &mut grad, &mut scratch)?;
/// let (before, step) = (sum.objective(&w, &mut scratch)?, 1e-6);
/// w[0] += step;
/// assert!(((sum.objective(&w, &mut scratch)? - before) / step - grad[0]).abs() < 1e-5);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NetworkSum<'a, T> {
    model: Mlp,
    rows: Rows<'a, T>,
    response: Response<'a, T>,
    loss: GlmLoss,
    lambda: f64,
}

/// The working memory by name: gathered rows, activations, scores and what the backward pass needs.
struct Work<'s, T> {
    gathered: &'s mut [T],
    cache: &'s mut [T],
    scores: &'s mut [T],
    back: &'s mut [T],
}

impl<'a, T: Real> NetworkSum<'a, T> {
    /// A finite sum. `labels` has one label per row, 1 for y = +1 and 0 for y = −1. One pass over the stored values.
    ///
    /// # Errors
    /// `Empty` without rows, `Length` (columns that are not the model's inputs, labels), `Label`, `NonFinite`, `Index`
    /// (rows out of order), `Param` for a negative or non-finite `lambda`, `Unsupported` for several heads, `Overflow` for
    /// more than 2³² − 1 rows.
    pub fn new(model: Mlp, rows: Rows<'a, T>, labels: &'a [u8], loss: GlmLoss, lambda: f64) -> Result<Self> {
        Self::of(model, rows, Response::Labels(labels), loss, lambda)
    }

    /// A finite sum of either kind of response.
    ///
    /// # Errors
    /// As [`new`](Self::new), and `Unsupported` for numbers with a loss of labels.
    pub fn of(model: Mlp, rows: Rows<'a, T>, response: Response<'a, T>, loss: GlmLoss, lambda: f64) -> Result<Self> {
        let rows = checked(rows, lambda)?;
        exact_len("columns", Model::<T>::inputs(&model), rows.cols())?;
        response.check(rows.len(), loss)?;
        if Model::<T>::heads(&model) != 1 {
            return Err(Error::Unsupported { what: "several heads" });
        }
        Ok(Self { model, rows, response, loss, lambda })
    }

    /// The same sum over rows and responses that were checked before. For owners that cannot keep a borrowed sum.
    pub(crate) fn again(model: Mlp, rows: Rows<'a, T>, response: Response<'a, T>, loss: GlmLoss, lambda: f64) -> Self {
        Self { model, rows, response, loss, lambda }
    }

    /// Rows of a chunk.
    fn chunk(&self) -> usize {
        (CHUNK / self.dim()).clamp(LEAST_ROWS, MOST_ROWS).min(self.len())
    }

    fn gathered_len(&self) -> usize {
        match self.rows {
            Rows::Dense { cols, .. } => self.chunk() * cols,
            Rows::Csr { .. } => 0,
        }
    }

    fn split<'s>(&self, scratch: &'s mut [T]) -> Work<'s, T> {
        let chunk = self.chunk();
        let (gathered, rest) = scratch.split_at_mut(self.gathered_len());
        let (cache, rest) = rest.split_at_mut(Model::<T>::cache_len(&self.model, chunk));
        let (scores, back) = rest.split_at_mut(chunk);
        Work { gathered, cache, scores, back }
    }

    /// y of one example.
    fn target(&self, i: usize) -> T {
        self.response.of(i)
    }

    /// Calls `visit` chunk by chunk: its rows, their scores, and the rows, the activations and the memory for the way back.
    fn walk(
        &self,
        w: &[T],
        which: Examples<'_>,
        scratch: &mut [T],
        mut visit: impl FnMut(Examples<'_>, &mut [T], Selection<'_, T>, &[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let work = self.split(scratch);
        for part in which.parts(self.chunk()) {
            let x = match (self.rows, part) {
                (Rows::Dense { data, cols }, Examples::Span(from, to)) => {
                    Selection::all(Rows::Dense { data: &data[from * cols..to * cols], cols })
                }
                // The model is faster on rows that follow one another.
                (Rows::Dense { data, cols }, Examples::Picked(index)) => {
                    let gathered = &mut work.gathered[..index.len() * cols];
                    for (row, &i) in gathered.chunks_exact_mut(cols).zip(index) {
                        row.copy_from_slice(&data[i as usize * cols..][..cols]);
                    }
                    Selection::all(Rows::Dense { data: gathered, cols })
                }
                (Rows::Csr { ptr, col, val, cols }, Examples::Span(from, to)) => {
                    Selection::all(Rows::Csr { ptr: &ptr[from..=to], col, val, cols })
                }
                (Rows::Csr { .. }, Examples::Picked(index)) => Selection::of(self.rows, index)?,
            };
            let scores = &mut work.scores[..part.len()];
            self.model.forward(w, x, work.cache, scores)?;
            visit(part, scores, x, work.cache, work.back)?;
        }
        Ok(())
    }
}

impl<T: Real> Gradients<T> for NetworkSum<'_, T> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn dim(&self) -> usize {
        Model::<T>::param_len(&self.model)
    }

    fn add_slopes(&self, w: &[T], which: Examples<'_>, scale: f64, out: &mut [T], scratch: &mut [T]) -> Result<()> {
        let scale = T::of(scale);
        self.walk(w, which, scratch, |part, scores, x, cache, back| {
            let mut left = scores.iter_mut();
            part.each(|i| {
                if let Some(s) = left.next() {
                    *s = self.loss.slope(self.target(i), *s) * scale;
                }
            });
            self.model.backward(w, x, cache, scores, back, out)
        })
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Those of a chunk of at most 256 rows, whatever their number.
    fn scratch_len(&self) -> usize {
        let chunk = self.chunk();
        let passes = self.gathered_len()
            + Model::<T>::cache_len(&self.model, chunk)
            + chunk
            + Model::<T>::scratch_len(&self.model, chunk);
        passes.max(self.model.along_len())
    }

    fn piece_end(&self, from: usize) -> usize {
        from.saturating_add(self.chunk()).min(self.rows.len())
    }

    fn along(&self, w: &[T], v: &[T], index: &[u32], out: [&mut [T]; 2], scratch: &mut [T]) -> Result<Bend> {
        let x = Selection::of(self.rows, index)?;
        let y = |k: usize| self.response.of(index[k] as usize);
        let along = self.model.along_rows(Path { params: w, direction: v }, x, y, self.loss, scratch, out)?;
        Ok(Bend { second: along.second, third: along.third })
    }

    fn objective(&self, w: &[T], scratch: &mut [T]) -> Result<f64> {
        exact_len("w", self.dim(), w.len())?;
        all_finite("w", w)?;
        check_scratch(self, scratch)?;
        let mut sum = 0.0;
        self.walk(w, Examples::Span(0, self.len()), scratch, |part, scores, _, _, _| {
            let mut left = scores.iter();
            part.each(|i| {
                if let Some(&s) = left.next() {
                    sum += self.loss.value(self.target(i), s).f64();
                }
            });
            Ok(())
        })?;
        let value = sum / self.len() as f64 + 0.5 * self.lambda * norm_sq(w);
        if value.is_finite() { Ok(value) } else { Err(Error::Overflow { what: "objective" }) }
    }
}

// A gradient of a network moves every parameter: plain vectors.
impl<T: Real> Recursion<T> for NetworkSum<'_, T> {}
impl<T: Real> Anchored<T> for NetworkSum<'_, T> {}
impl<T: Real> HeavyBall<T> for NetworkSum<'_, T> {}
