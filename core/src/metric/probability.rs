//! How good probabilities are: log loss, Brier score, and how often what they say comes true.
//!
//! ```text
//! log loss = −1/n Σ_i ln p_i(y_i)      Brier = 1/n Σ_i (p_i − y_i)²      ECE = Σ_b n_b/n |mean p of bin b − share of positives in b|
//! ```
//!
//! p_i(y) is p_i for a positive and 1 − p_i for a negative: a probability of 0 for what happened has an infinite log loss.
//! Brier 1950, "Verification of Forecasts Expressed in Terms of Probability". The expected calibration error (Naeini, Cooper and
//! Hauskrecht 2015, "Obtaining Well Calibrated Probabilities Using Bayesian Binning") is over the bins of [`reliability`]:
//! by quantiles, so that each holds as many rows; equal probabilities are never parted.

use super::cells::NORMAL;
use super::rank::{check, groups};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;

/// Rows of neighbouring probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The lowest probability.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The mean one.
    pub mean: f64,
    /// Rows.
    pub rows: u64,
    /// Positives among them.
    pub positives: u64,
}

impl Bin {
    /// Share of positives.
    #[must_use]
    pub fn share(self) -> f64 {
        self.positives as f64 / self.rows as f64
    }

    /// Where that share lies with 95 % confidence: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical
    /// Inference".
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        let (n, p) = (self.rows as f64, self.share());
        let square = NORMAL * NORMAL;
        let middle = (p + square / (2.0 * n)) / (1.0 + square / n);
        let half = NORMAL * libm::sqrt(p * (1.0 - p) / n + square / (4.0 * n * n)) / (1.0 + square / n);
        ((middle - half).or_larger(0.0), (middle + half).or_smaller(1.0))
    }
}

/// `Ok` when all are from 0 to 1, of labels of both classes.
fn check_probabilities<T: Real>(probabilities: &[T], labels: &[u8]) -> Result<()> {
    check(probabilities, labels)?;
    match probabilities.iter().any(|p| !(0.0..=1.0).contains(&p.f64())) {
        true => Err(Error::Param { what: "probabilities" }),
        false => Ok(()),
    }
}

/// Mean of −ln of the probability of what is; infinite where that was 0. O(n).
///
/// # Errors
/// `Param` for a probability outside [0, 1]; as [`auroc`](super::auroc).
///
/// ```
/// let loss = undercurve::metric::log_loss(&[0.5, 0.5, 1.0], &[1, 0, 1])?;
/// assert!((loss - 2.0 * 0.5_f64.ln().abs() / 3.0).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn log_loss<T: Real>(probabilities: &[T], labels: &[u8]) -> Result<f64> {
    check_probabilities(probabilities, labels)?;
    let each = probabilities.iter().zip(labels).map(|(p, &y)| {
        let p = p.f64();
        -if y == 1 { Real::ln(p) } else { Real::ln_1p(-p) }
    });
    Ok(each.sum::<f64>() / labels.len() as f64)
}

/// Mean squared difference of probability and label. O(n).
///
/// # Errors
/// As [`log_loss`].
pub fn brier<T: Real>(probabilities: &[T], labels: &[u8]) -> Result<f64> {
    check_probabilities(probabilities, labels)?;
    let each = probabilities.iter().zip(labels).map(|(p, &y)| (p.f64() - f64::from(y)) * (p.f64() - f64::from(y)));
    Ok(each.sum::<f64>() / labels.len() as f64)
}

/// Bins of about as many rows each, by ascending probability, to the front of `out`: at most as many as it has room for, at least
/// one, fewer where many rows share a probability. The number of bins. `scratch` as [`need`](super::need) says; O(n).
///
/// # Errors
/// As [`log_loss`]; `Empty` for `out`.
pub fn reliability<T: Real>(
    probabilities: &[T],
    labels: &[u8],
    scratch: Scratch<'_, T>,
    out: &mut [Bin],
) -> Result<usize> {
    check_probabilities(probabilities, labels)?;
    if out.is_empty() {
        return Err(Error::Empty { what: "out" });
    }
    let (_, groups) = groups(probabilities, labels, scratch)?;
    // From the highest down, a bin ends with the group that completes another share of all rows.
    let (n, bins) = (labels.len() as u64, out.len() as u64);
    let (mut len, mut seen, mut sum) = (0, 0, 0.0);
    let mut bin = Bin::default();
    for group in groups {
        let (p, rows) = (group.score.f64(), group.run.positives + group.run.negatives);
        if bin.rows == 0 {
            bin.high = p;
        }
        bin.low = p;
        bin.rows += rows;
        bin.positives += group.run.positives;
        sum += rows as f64 * p;
        seen += rows;
        if seen * bins / n > (seen - bin.rows) * bins / n {
            bin.mean = sum / bin.rows as f64;
            out[len] = bin;
            len += 1;
            (bin, sum) = (Bin::default(), 0.0);
        }
    }
    out[..len].reverse();
    Ok(len)
}

/// The expected calibration error over these bins.
#[must_use]
pub fn calibration_error(bins: &[Bin]) -> f64 {
    let rows = bins.iter().map(|bin| bin.rows).sum::<u64>() as f64;
    bins.iter().map(|bin| bin.rows as f64 / rows * (bin.mean - bin.share()).abs()).sum()
}
