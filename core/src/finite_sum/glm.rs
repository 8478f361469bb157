//! Finite sums of generalised linear models, and their oracles.
//!
//! P(w) = (1/n) Σ φ(y_i, x_iᵀw) + (λ/2)‖w‖². Every oracle follows from the margins z_i = x_iᵀw and a_i = x_iᵀv:
//!
//! - gradient: (1/b) Σ φ'(z_i) x_i + λw;
//! - difference along a step: ∇f_S(w − αv) − ∇f_S(w) = (1/b) Σ (φ'(z_i − αa_i) − φ'(z_i)) x_i − λαv, without a new
//!   product with the data;
//! - derivatives along v: Hv = (1/b) Σ φ''(z_i) a_i x_i + λv, and vᵀ∇³f_S[v,v] = (1/b) Σ φ'''(z_i) a_i³.

use crate::data::Rows;
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::real::Real;

/// The loss φ(y, z) of one example at margin z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlmLoss {
    /// ln(1 + e^(−yz)), y = ±1.
    Logistic,
    /// ½(z − y)², any y.
    LeastSquares,
    /// max(1 − yz, 0)², y = ±1.
    SquaredHinge,
}

/// Names of the losses, as the registry spells them.
pub const GLM_LOSSES: &[(&str, GlmLoss)] = &[
    ("logistic", GlmLoss::Logistic),
    ("least-squares", GlmLoss::LeastSquares),
    ("squared-hinge", GlmLoss::SquaredHinge),
];

impl GlmLoss {
    /// φ(y, z).
    #[inline]
    pub fn value<T: Real>(self, y: T, z: T) -> T {
        match self {
            Self::Logistic => (-(y * z)).softplus(),
            Self::LeastSquares => T::of(0.5) * (z - y) * (z - y),
            Self::SquaredHinge => {
                let gap = T::ONE - y * z;
                if gap > T::ZERO { gap * gap } else { T::ZERO }
            }
        }
    }

    /// φ'(y, z).
    #[inline]
    pub fn slope<T: Real>(self, y: T, z: T) -> T {
        match self {
            Self::Logistic => -(y * (-(y * z)).sigmoid()),
            Self::LeastSquares => z - y,
            Self::SquaredHinge => {
                let gap = T::ONE - y * z;
                if gap > T::ZERO { T::of(-2.0) * y * gap } else { T::ZERO }
            }
        }
    }

    /// (φ', φ'', φ''') at (y, z), with one exponential. At the kink of the squared hinge φ'' is 0.
    #[inline]
    pub fn derivatives<T: Real>(self, y: T, z: T) -> (T, T, T) {
        match self {
            Self::Logistic => {
                let e = (-z.abs()).exp();
                let q = T::ONE / (T::ONE + e); // σ(|z|)
                let r = e * q; // σ(−|z|)
                let slope = if y * z >= T::ZERO { -(y * r) } else { -(y * q) };
                let second = q * r;
                let skew = (T::ONE - e) * q; // tanh(|z|/2)
                (slope, second, if z > T::ZERO { -(second * skew) } else { second * skew })
            }
            Self::LeastSquares => (z - y, T::ONE, T::ZERO),
            Self::SquaredHinge => {
                let gap = T::ONE - y * z;
                if gap > T::ZERO { (T::of(-2.0) * y * gap, T::of(2.0), T::ZERO) } else { (T::ZERO, T::ZERO, T::ZERO) }
            }
        }
    }

    /// The largest φ'' between the margins `from` and `to` (supremum at kinks).
    #[inline]
    pub fn max_curvature(self, y: f64, from: f64, to: f64) -> f64 {
        match self {
            Self::Logistic => {
                let nearest = if (from > 0.0) != (to > 0.0) { 0.0 } else { f64::abs(from).or_smaller(f64::abs(to)) };
                self.derivatives(1.0, nearest).1
            }
            Self::LeastSquares => 1.0,
            Self::SquaredHinge => {
                if y * from < 1.0 || y * to < 1.0 {
                    2.0
                } else {
                    0.0
                }
            }
        }
    }

    /// sup φ''.
    #[must_use]
    pub fn curvature_bound(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::LeastSquares => 1.0,
            Self::SquaredHinge => 2.0,
        }
    }
}

/// What the rows are to be fitted to.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a, T> {
    /// Class labels: 1 is y = +1, 0 is y = −1.
    Labels(&'a [u8]),
    /// Any finite y (least squares).
    Values(&'a [T]),
}

/// One row of features, without the constant of the intercept.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a, T> {
    Dense(&'a [T]),
    Sparse(&'a [u32], &'a [T]),
}

/// A finite sum over borrowed rows; nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Glm<'a, T> {
    rows: Rows<'a, T>,
    targets: Targets<'a, T>,
    loss: GlmLoss,
    lambda: f64,
    intercept: bool,
    max_row_norm: f64,
}

impl<'a, T: Real> Glm<'a, T> {
    /// A finite sum. With `intercept` a constant 1 stands behind every row, without being stored, and its weight is
    /// the last parameter, regularised like the rest. One pass over the stored values.
    ///
    /// # Errors
    /// `Empty` without rows, `Length`, `Label`, `NonFinite`, `Index` (rows out of order), `Param` for a negative or
    /// non-finite `lambda`, `Unsupported` for real targets with a loss of labels, `Overflow` when a row is too long
    /// to be squared in the number type or there are more than 2³² − 1 rows.
    pub fn new(
        rows: Rows<'a, T>,
        targets: Targets<'a, T>,
        loss: GlmLoss,
        lambda: f64,
        intercept: bool,
    ) -> Result<Self> {
        let rows = checked(rows, lambda)?;
        match targets {
            Targets::Labels(labels) => {
                exact_len("labels", rows.len(), labels.len())?;
                count_labels(labels)?;
            }
            Targets::Values(values) => {
                exact_len("targets", rows.len(), values.len())?;
                all_finite("targets", values)?;
                if loss != GlmLoss::LeastSquares {
                    return Err(Error::Unsupported { what: "a loss of labels with real targets" });
                }
            }
        }
        let mut glm = Self { rows, targets, loss, lambda, intercept, max_row_norm: 0.0 };
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

    /// The same sum over the same rows, which were checked when `max_row_norm` was found. For owners that cannot keep a
    /// borrowed sum.
    #[cfg(all(feature = "alloc", feature = "every-method"))]
    pub(crate) fn again(
        rows: Rows<'a, T>,
        targets: Targets<'a, T>,
        loss: GlmLoss,
        lambda: f64,
        max_row_norm: f64,
    ) -> Self {
        Self { rows, targets, loss, lambda, intercept: true, max_row_norm }
    }

    /// Number of examples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No examples; never true of a constructed sum.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of parameters: the columns, and one more with an intercept.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.rows.cols() + usize::from(self.intercept)
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

    /// λ of (λ/2)‖w‖².
    #[must_use]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The largest ‖x_i‖, the constant of the intercept included.
    #[must_use]
    pub fn max_row_norm(&self) -> f64 {
        self.max_row_norm
    }

    /// y of one example, as the loss takes it.
    #[inline]
    pub(crate) fn target(&self, i: usize) -> T {
        match self.targets {
            Targets::Labels(labels) => {
                if labels[i] == 1 {
                    T::ONE
                } else {
                    -T::ONE
                }
            }
            Targets::Values(values) => values[i],
        }
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
            sum += self.loss.value(self.target(i), self.margin(i, w)).f64();
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
        exact_len("w", self.dim(), w.len())?;
        exact_len("grad", self.dim(), grad.len())?;
        all_finite("w", w)?;
        self.gradient_unchecked(w, grad)
    }

    pub(crate) fn gradient_unchecked(&self, w: &[T], grad: &mut [T]) -> Result<f64> {
        grad.fill(T::ZERO);
        self.add_slopes(w, 0, self.len(), grad);
        self.finish_gradient(w, grad)
    }

    /// Adds the rows `from..to`, times their slopes and 1/n, to `grad`.
    pub(crate) fn add_slopes(&self, w: &[T], from: usize, to: usize, grad: &mut [T]) {
        let scale = T::of(1.0 / self.len() as f64);
        for i in from..to {
            let k = self.loss.slope(self.target(i), self.margin(i, w)) * scale;
            self.add_row(i, k, grad);
        }
    }

    /// The row at which a walk that stands at `from` rests: about [`PIECE`] stored values on.
    pub(crate) fn piece_end(&self, from: usize) -> usize {
        let n = self.len();
        let end = match self.rows {
            Rows::Dense { cols, .. } => from.saturating_add(PIECE / cols),
            Rows::Csr { ptr, .. } => ptr.partition_point(|&at| at < ptr[from.min(n)].saturating_add(PIECE)),
        };
        // Rows without values count, too; and every piece gets on.
        end.min(from.saturating_add(PIECE)).max(from.saturating_add(1)).min(n)
    }

    /// Adds λw to the sum of all slopes; ‖∇P(w)‖².
    pub(crate) fn finish_gradient(&self, w: &[T], grad: &mut [T]) -> Result<f64> {
        finish_gradient(self.lambda, w, grad)
    }

    /// Share of examples whose margin has the sign of the label (a margin of 0 counts as negative). O(stored values).
    ///
    /// # Errors
    /// `Length`, `NonFinite`.
    pub fn accuracy(&self, w: &[T]) -> Result<f64> {
        exact_len("w", self.dim(), w.len())?;
        all_finite("w", w)?;
        let mut right = 0usize;
        for i in 0..self.len() {
            right += usize::from((self.margin(i, w) > T::ZERO) == (self.target(i) > T::ZERO));
        }
        Ok(right as f64 / self.len() as f64)
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
pub(crate) fn fits(value: f64, bound: f64) -> bool {
    value < bound
}

/// Squares above this are refused: sums of a few of them must still fit.
pub(crate) fn limit<T: Real>() -> f64 {
    T::MAX.f64() / 1_048_576.0
}

/// xᵀp over the shorter length, in eight lanes.
#[inline]
pub(crate) fn dot<T: Real>(x: &[T], p: &[T]) -> T {
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
pub(crate) fn gather<T: Real>(col: &[u32], x: &[T], p: &[T]) -> T {
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
pub(crate) fn norm_sq<T: Real>(p: &[T]) -> f64 {
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
