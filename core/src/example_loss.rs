//! Losses of one example: a value and three derivatives by the score.

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
pub enum Response<'a, T> {
    /// Class labels: 1 is y = +1, 0 is y = −1.
    Labels(&'a [u8]),
    /// Any finite y (least squares).
    Values(&'a [T]),
}

impl<T: Real> Response<'_, T> {
    /// `Ok` when there is one for each of so many rows, and the loss takes them.
    pub(crate) fn check(self, rows: usize, loss: GlmLoss) -> Result<()> {
        match self {
            Response::Labels(labels) => {
                exact_len("labels", rows, labels.len())?;
                count_labels(labels).map(|_| ())
            }
            Response::Values(values) => {
                exact_len("response", rows, values.len())?;
                all_finite("response", values)?;
                if loss != GlmLoss::LeastSquares {
                    return Err(Error::Unsupported { what: "a loss of labels with real targets" });
                }
                Ok(())
            }
        }
    }

    /// y of one example, as the loss takes it.
    #[inline]
    pub(crate) fn of(&self, i: usize) -> T {
        match self {
            Response::Labels(labels) => {
                if labels[i] == 1 {
                    T::ONE
                } else {
                    -T::ONE
                }
            }
            Response::Values(values) => values[i],
        }
    }
}
