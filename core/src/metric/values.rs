//! How far scores are from the numbers that they were to be.

use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;

/// How far numbers are from those that they were to be.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueSummary {
    /// Root of the mean squared difference.
    pub rmse: f64,
    /// Mean absolute difference.
    pub mae: f64,
    /// 1 − squared differences / those from the mean: 1 is perfect, 0 what the mean does. NaN where all values are one.
    pub r2: f64,
}

/// All of them. O(n).
///
/// # Errors
/// `Length`, `Empty`; `NonFinite` when a score or a value is NaN or infinite.
///
/// ```
/// let summary = undercurve::metric::value_summary(&[1.0, 2.0, 6.0], &[1.0, 2.0, 3.0])?;
/// assert_eq!((summary.mae, summary.r2), (1.0, -3.5));
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn value_summary<T: Real>(scores: &[T], values: &[T]) -> Result<ValueSummary> {
    exact_len("values", scores.len(), values.len())?;
    if values.is_empty() {
        return Err(Error::Empty { what: "scores" });
    }
    all_finite("scores", scores)?;
    all_finite("values", values)?;
    let n = values.len() as f64;
    let mean = values.iter().map(|y| y.f64()).sum::<f64>() / n;
    let (mut square, mut absolute, mut spread) = (0.0, 0.0, 0.0);
    for (s, y) in scores.iter().zip(values) {
        let away = s.f64() - y.f64();
        square += away * away;
        absolute += away.abs();
        spread += (y.f64() - mean) * (y.f64() - mean);
    }
    let r2 = if spread > 0.0 { 1.0 - square / spread } else { f64::NAN };
    Ok(ValueSummary { rmse: libm::sqrt(square / n), mae: absolute / n, r2 })
}
