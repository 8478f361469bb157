//! Finite sums of generalised linear models, and their oracles.
//!
//! P(w) = (1/n) Σ φ(y_i, x_iᵀw) + (λ/2)‖w‖². Examples with weights r_i, 1 in the mean, have the losses r_i·φ: minibatches stay
//! uniform, and unbiased for the weighted mean, and every bound of a curvature is of r_i·φ. Every oracle follows from the margins z_i = x_iᵀw and a_i = x_iᵀv:
//!
//! - gradient: (1/b) Σ φ'(z_i) x_i + λw;
//! - difference along a step: ∇f_S(w − αv) − ∇f_S(w) = (1/b) Σ (φ'(z_i − αa_i) − φ'(z_i)) x_i − λαv, without a new
//!   product with the data;
//! - derivatives along v: Hv = (1/b) Σ φ''(z_i) a_i x_i + λv, and vᵀ∇³f_S[v,v] = (1/b) Σ φ'''(z_i) a_i³.

use super::oracle::{Bend, Examples, Gradients, gradient};
use super::vectors::{dot, fits, gather, limit, norm_sq};
use crate::data::Rows;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::example_loss::{GlmLoss, Response};
use crate::real::Real;
use core::ops::Range;

/// One row of features, without the constant of the intercept.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a, T> {
    Dense(&'a [T]),
    Sparse(&'a [u32], &'a [T]),
}

/// A finite sum over borrowed rows; nothing is copied.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{Glm, GlmLoss, Response, gradient};
///
/// let x = [1.0, 2.0, -1.0]; // three rows of one column
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Labels(&[1, 0, 1]), GlmLoss::Logistic, 0.1, true)?;
/// let (w, step) = ([0.5f64, -0.2], 1e-6); // a weight and the intercept
/// let mut grad = [0.0; 2];
/// gradient(&sum, &w, &mut grad, &mut [])?;
/// let moved = sum.objective(&[w[0] + step, w[1]])?;
/// assert!(((moved - sum.objective(&w)?) / step - grad[0]).abs() < 1e-5);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Glm<'a, T> {
    rows: Rows<'a, T>,
    response: Response<'a, T>,
    loss: GlmLoss,
    lambda: f64,
    intercept: bool,
    max_row_norm: f64,
    /// 1 in the mean; empty without.
    weights: &'a [f64],
}

impl<'a, T: Real> Glm<'a, T> {
    /// A finite sum. With `intercept` a constant 1 stands behind every row, without being stored, and its weight is
    /// the last parameter, regularised like the rest. One pass over the stored values.
    ///
    /// # Errors
    /// `Empty` without rows, `Length`, `Label`, `NonFinite`, `Index` (rows out of order), `Param` for a negative or
    /// non-finite `lambda`, `Unsupported` for numbers with a loss of labels, `Overflow` when a row is too long
    /// to be squared in the number type or there are more than 2³² − 1 rows.
    pub fn new(
        rows: Rows<'a, T>,
        response: Response<'a, T>,
        loss: GlmLoss,
        lambda: f64,
        intercept: bool,
    ) -> Result<Self> {
        let rows = checked(rows, lambda)?;
        response.check(rows.len(), loss)?;
        let mut glm = Self { rows, response, loss, lambda, intercept, max_row_norm: 0.0, weights: &[] };
        let mut largest = 0.0f64;
        for i in 0..rows.len() {
            largest = largest.or_larger(glm.row_norm_sq(i));
        }
        if !fits(largest, limit::<T>()) {
            return Err(Error::Overflow { what: "rows" });
        }
        glm.max_row_norm = Real::sqrt(largest);
        Ok(glm)
    }

    /// With a weight for each example, 0 or more and 1 in the mean, which its loss is multiplied by.
    ///
    /// # Errors
    /// `Length`, `Weight`.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Self> {
        exact_len("weights", self.len(), weights.len())?;
        match weights.iter().position(|&w| !(w >= 0.0 && w.is_finite())) {
            Some(at) => Err(Error::Weight { at }),
            None => Ok(Self { weights, ..self }),
        }
    }

    /// The same sum over the same rows, which were checked when `max_row_norm` was found. For owners that cannot keep a
    /// borrowed sum.
    pub(crate) fn again(
        rows: Rows<'a, T>,
        response: Response<'a, T>,
        loss: GlmLoss,
        lambda: f64,
        max_row_norm: f64,
        weights: &'a [f64],
    ) -> Self {
        Self { rows, response, loss, lambda, intercept: true, max_row_norm, weights }
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> Rows<'a, T> {
        self.rows
    }

    /// The loss.
    #[must_use]
    pub fn loss(&self) -> GlmLoss {
        self.loss
    }

    /// The largest ‖x_i‖, the constant of the intercept included.
    #[must_use]
    pub fn max_row_norm(&self) -> f64 {
        self.max_row_norm
    }

    /// y of one example, as the loss takes it.
    #[inline]
    pub(crate) fn target(&self, i: usize) -> T {
        self.response.of(i)
    }

    /// The weight of one example.
    #[inline]
    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// φ' of one example at a margin, times its weight.
    #[inline]
    pub(crate) fn slope(&self, i: usize, z: T) -> T {
        let slope = self.loss.slope(self.target(i), z);
        if self.weights.is_empty() { slope } else { T::of(self.weight(i)) * slope }
    }

    /// The first three derivatives of φ of one example at a margin, times its weight.
    #[inline]
    pub(crate) fn derivatives(&self, i: usize, z: T) -> (T, T, T) {
        let (first, second, third) = self.loss.derivatives(self.target(i), z);
        if self.weights.is_empty() {
            return (first, second, third);
        }
        let w = T::of(self.weight(i));
        (w * first, w * second, w * third)
    }

    /// The largest r_i‖x_i‖², the constant of the intercept included.
    #[must_use]
    pub fn max_weighted_norm_sq(&self) -> f64 {
        (0..self.rows.len()).fold(0.0, |most: f64, i| most.or_larger(self.weight(i) * self.row_norm_sq(i)))
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.rows, Rows::Csr { .. })
    }

    /// Position of the intercept among the parameters.
    #[inline]
    pub(crate) fn bias(&self) -> Option<usize> {
        if self.intercept { Some(self.rows.cols()) } else { None }
    }

    #[inline]
    pub(crate) fn row(&self, i: usize) -> Row<'a, T> {
        match self.rows {
            Rows::Dense { data, cols } => Row::Dense(&data[i * cols..(i + 1) * cols]),
            Rows::Csr { ptr, col, val, .. } => {
                let (col, val) = Rows::sparse_row(ptr, col, val, i);
                Row::Sparse(col, val)
            }
        }
    }

    /// Stored values of a row, the intercept counted.
    #[inline]
    pub(crate) fn row_len(&self, i: usize) -> usize {
        let stored = match self.row(i) {
            Row::Dense(x) | Row::Sparse(_, x) => x.len(),
        };
        stored + usize::from(self.intercept)
    }

    /// ‖x_i‖², in f64.
    pub(crate) fn row_norm_sq(&self, i: usize) -> f64 {
        let (Row::Dense(x) | Row::Sparse(_, x)) = self.row(i);
        let mut sum = if self.intercept { 1.0 } else { 0.0 };
        for &x in x {
            sum += x.f64() * x.f64();
        }
        sum
    }

    /// x_iᵀp for a plain vector.
    #[inline]
    pub(crate) fn margin(&self, i: usize, p: &[T]) -> T {
        let tail = self.bias().map_or(T::ZERO, |at| p[at]);
        tail + match self.row(i) {
            Row::Dense(x) => dot(x, p),
            Row::Sparse(col, x) => gather(col, x, p),
        }
    }

    /// out += k x_i.
    #[inline]
    pub(crate) fn add_row(&self, i: usize, k: T, out: &mut [T]) {
        if let Some(at) = self.bias() {
            out[at] += k;
        }
        match self.row(i) {
            Row::Dense(x) => {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out += k * x;
                }
            }
            Row::Sparse(col, x) => {
                for (&j, &x) in col.iter().zip(x) {
                    out[j as usize] += k * x;
                }
            }
        }
    }

    /// x_iᵀw of every example. `w` is `dim()` long, `out` `len()` long. O(stored values).
    ///
    /// # Errors
    /// `Length`, `NonFinite`.
    pub fn margins(&self, w: &[T], out: &mut [T]) -> Result<()> {
        exact_len("w", self.dim(), w.len())?;
        exact_len("out", self.len(), out.len())?;
        all_finite("w", w)?;
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.margin(i, w);
        }
        Ok(())
    }

    /// P(w). O(stored values).
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow`.
    pub fn objective(&self, w: &[T]) -> Result<f64> {
        exact_len("w", self.dim(), w.len())?;
        all_finite("w", w)?;
        let mut sum = 0.0;
        for i in 0..self.len() {
            sum += self.weight(i) * self.loss.value(self.target(i), self.margin(i, w)).f64();
        }
        let value = sum / self.len() as f64 + 0.5 * self.lambda * norm_sq(w);
        if value.is_finite() { Ok(value) } else { Err(Error::Overflow { what: "objective" }) }
    }

    /// ∇P(w) into `grad`, and ‖∇P(w)‖². Both vectors are `dim()` long. O(stored values + dim). After an error `grad`
    /// is unspecified.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow`.
    pub fn gradient(&self, w: &[T], grad: &mut [T]) -> Result<f64> {
        gradient(self, w, grad, &mut [])
    }

    /// Adds rows, times their slopes and `scale`, to `out`.
    pub(super) fn add_rows(&self, w: &[T], which: Examples<'_>, scale: T, out: &mut [T]) {
        which.each(|i| {
            let k = self.slope(i, self.margin(i, w)) * scale;
            self.add_row(i, k, out);
        });
    }

    /// L_i of one example of margin z that changes by a: the fixed point of
    /// L = s·max φ''(z − ηa; η in [0, 1/L]) + λ, s = r_i‖x_i‖².
    pub(super) fn smoothness_along(&self, i: usize, z: f64, a: f64) -> f64 {
        let y = self.target(i).f64();
        let s = self.weight(i) * self.row_norm_sq(i);
        let at = |l: f64| {
            let end = if l > 0.0 { z - a / l } else { z };
            s * self.loss.max_curvature(y, z, end) + self.lambda
        };
        // The right side is at most its value at the smallest L possible, and at least its value at η = 0.
        let mut low = s * self.loss.max_curvature(y, z, z) + self.lambda;
        let mut high = s * self.loss.curvature_bound() + self.lambda;
        if at(high) >= high {
            return high;
        }
        if low > 0.0 && at(low) <= low {
            return low;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if at(middle) > middle {
                low = middle;
            } else {
                high = middle;
            }
            if high - low <= 4.0 * f64::EPSILON * high {
                break;
            }
        }
        high
    }

    /// Share of examples, by weight, whose margin has the sign of the label (a margin of 0 counts as negative). O(stored values).
    ///
    /// # Errors
    /// `Length`, `NonFinite`.
    pub fn accuracy(&self, w: &[T]) -> Result<f64> {
        exact_len("w", self.dim(), w.len())?;
        all_finite("w", w)?;
        let mut right = 0.0;
        for i in 0..self.len() {
            if (self.margin(i, w) > T::ZERO) == (self.target(i) > T::ZERO) {
                right += self.weight(i);
            }
        }
        Ok(right / self.len() as f64)
    }
}

/// Halvings of the interval in which L_i lies; its upper end is kept.
const HALVINGS: u32 = 60;

impl<T: Real> Gradients<T> for Glm<'_, T> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn dim(&self) -> usize {
        self.rows.cols() + usize::from(self.intercept)
    }

    fn add_slopes(&self, w: &[T], which: Examples<'_>, scale: f64, out: &mut [T], _: &mut [T]) -> Result<()> {
        self.add_rows(w, which, T::of(scale), out);
        Ok(())
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn scratch_len(&self) -> usize {
        0
    }

    /// About 65,536 stored values on.
    fn piece_end(&self, from: usize) -> usize {
        let n = self.rows.len();
        let end = match self.rows {
            Rows::Dense { cols, .. } => from.saturating_add(PIECE / cols),
            Rows::Csr { ptr, .. } => ptr.partition_point(|&at| at < ptr[from.min(n)].saturating_add(PIECE)),
        };
        // Rows without values count, too; and every piece gets on.
        end.min(from.saturating_add(PIECE)).max(from.saturating_add(1)).min(n)
    }

    fn along(&self, w: &[T], v: &[T], index: &[u32], out: [&mut [T]; 2], _: &mut [T]) -> Result<Bend> {
        let [grad, product] = out;
        let share = 1.0 / index.len() as f64;
        grad.fill(T::ZERO);
        product.fill(T::ZERO);
        let mut bend = Bend { second: 0.0, third: 0.0 };
        Examples::Picked(index).each(|i| {
            let a = self.margin(i, v);
            let (slope, second, third) = self.derivatives(i, self.margin(i, w));
            self.add_row(i, slope * T::of(share), grad);
            self.add_row(i, second * a * T::of(share), product);
            let a = a.f64();
            bend.second += share * second.f64() * a * a;
            bend.third += share * third.f64() * a * a * a;
        });
        Ok(bend)
    }

    fn smoothness(&self, w: &[T], v: &[T], which: Range<usize>, out: &mut [T]) -> Result<()> {
        for (i, out) in which.zip(out) {
            *out = T::of(self.smoothness_along(i, self.margin(i, w).f64(), self.margin(i, v).f64()));
        }
        Ok(())
    }

    fn hessian(&self, at: Option<&[T]>, q: &[T], out: &mut [T]) -> Result<()> {
        out.fill(T::ZERO);
        let share = T::of(1.0 / self.rows.len() as f64);
        let bound = T::of(self.loss.curvature_bound());
        for i in 0..self.rows.len() {
            let second = match at {
                Some(w) => self.derivatives(i, self.margin(i, w)).1,
                None if self.weights.is_empty() => bound,
                None => T::of(self.weight(i)) * bound,
            };
            self.add_row(i, second * self.margin(i, q) * share, out);
        }
        let lambda = T::of(self.lambda);
        for (out, &q) in out.iter_mut().zip(q) {
            *out += lambda * q;
        }
        Ok(())
    }

    fn objective(&self, w: &[T], _: &mut [T]) -> Result<f64> {
        Glm::objective(self, w)
    }
}

/// Stored values that one piece of a walk over all examples looks at: well under a millisecond of work.
const PIECE: usize = 65_536;

/// Rows and λ of a finite sum, checked.
pub(super) fn checked<T: Real>(rows: Rows<'_, T>, lambda: f64) -> Result<Rows<'_, T>> {
    // The variants of `Rows` are open: what was built by hand is checked here, once.
    let rows = match rows {
        Rows::Dense { data, cols } => Rows::dense(data, cols)?,
        Rows::Csr { ptr, col, val, cols } => Rows::csr(ptr, col, val, cols)?,
    };
    if rows.is_empty() {
        return Err(Error::Empty { what: "rows" });
    }
    if u32::try_from(rows.len()).is_err() {
        return Err(Error::Overflow { what: "rows" });
    }
    if !lambda.is_finite() || lambda < 0.0 {
        return Err(Error::Param { what: "lambda" });
    }
    Ok(rows)
}
