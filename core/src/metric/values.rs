//! How far scores are from the numbers that they were to be.

use super::labels::check_weights;
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

/// All of them; with a weight for each row, 0 or more, the weighted means, and without where `weights` is empty. O(n).
///
/// # Errors
/// `Length`, `Empty` (also when no row has a weight), `Weight`; `NonFinite` when a score or a value is NaN or infinite.
///
/// ```
/// let summary = undercurve::metric::value_summary(&[1.0, 2.0, 6.0], &[1.0, 2.0, 3.0], &[])?;
/// assert_eq!((summary.mae, summary.r2), (1.0, -3.5));
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn value_summary<T: Real>(scores: &[T], values: &[T], weights: &[f64]) -> Result<ValueSummary> {
    exact_len("values", scores.len(), values.len())?;
    if values.is_empty() {
        return Err(Error::Empty { what: "scores" });
    }
    all_finite("scores", scores)?;
    all_finite("values", values)?;
    if !weights.is_empty() {
        exact_len("weights", values.len(), weights.len())?;
        check_weights(weights)?;
    }
    let weight = |row: usize| weights.get(row).copied().unwrap_or(1.0);
    let n = if weights.is_empty() { values.len() as f64 } else { weights.iter().sum() };
    if n == 0.0 {
        return Err(Error::Empty { what: "weights" });
    }
    let mean = values.iter().enumerate().map(|(row, y)| weight(row) * y.f64()).sum::<f64>() / n;
    let (mut square, mut absolute, mut spread) = (0.0, 0.0, 0.0);
    for (row, (s, y)) in scores.iter().zip(values).enumerate() {
        let (away, apart, w) = (s.f64() - y.f64(), y.f64() - mean, weight(row));
        square += w * (away * away);
        absolute += w * away.abs();
        spread += w * (apart * apart);
    }
    let r2 = if spread > 0.0 { 1.0 - square / spread } else { f64::NAN };
    Ok(ValueSummary { rmse: crate::Real::sqrt(square / n), mae: absolute / n, r2 })
}
