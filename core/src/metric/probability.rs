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

use super::amount::Amount as _;
use super::interval::wilson;
use super::labels::{Labels, Truth};
use super::rank::check;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;

/// Rows of neighbouring probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The lowest probability.
    pub low: f64,
    /// The highest score.
    pub high: f64,
    /// The mean one.
    pub mean: f64,
    /// Rows; with weights what they weigh.
    pub rows: f64,
    /// Positives among them.
    pub positives: f64,
}

impl Bin {
    /// Share of positives.
    #[must_use]
    pub fn share(self) -> f64 {
        self.positives / self.rows
    }

    /// Where that share lies with 95 % confidence, by Wilson's interval.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        let ends = wilson(self.share(), self.rows);
        (ends.low, ends.high)
    }
}

/// `Ok` when all are from 0 to 1.
fn check_probabilities<T: Real>(probabilities: &[T]) -> Result<()> {
    match probabilities.iter().all(|p| (0.0..=1.0).contains(&p.f64())) {
        true => Ok(()),
        false => Err(Error::Param { what: "probabilities" }),
    }
}

/// The mean of a loss of probability and label over rows, by their weights.
fn mean<T: Real>(probabilities: &[T], truth: Truth<'_>, loss: impl Fn(f64, u8) -> f64) -> Result<f64> {
    check(probabilities, truth.labels())?;
    check_probabilities(probabilities)?;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (row, (p, &y)) in probabilities.iter().zip(truth.labels()).enumerate() {
        let weight = truth.weight(row);
        // (Also where the loss is infinite, a row of weight 0 is none.)
        if weight > 0.0 {
            sum += weight * loss(p.f64(), y);
            weights += weight;
        }
    }
    if weights > 0.0 { Ok(sum / weights) } else { Err(Error::Empty { what: "scores" }) }
}

/// Mean of −ln of the probability of what is; infinite where that was 0. O(n).
///
/// # Errors
/// `Param` for a probability outside [0, 1]; as [`auroc`](super::auroc).
///
/// ```
/// let loss = undercurve::metric::log_loss(&[0.5, 0.5, 1.0], [1, 0, 1][..].into())?;
/// assert!((loss - 2.0 * 0.5_f64.ln().abs() / 3.0).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn log_loss<T: Real>(probabilities: &[T], truth: Truth<'_>) -> Result<f64> {
    mean(probabilities, truth, |p, y| -if y == 1 { Real::ln(p) } else { Real::ln_1p(-p) })
}

/// Mean squared difference of probability and label. O(n).
///
/// ```
/// let score = undercurve::metric::brier(&[0.5, 0.5, 1.0], [1, 0, 1][..].into())?;
/// assert!((score - (0.25 + 0.25 + 0.0) / 3.0).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`log_loss`].
pub fn brier<T: Real>(probabilities: &[T], truth: Truth<'_>) -> Result<f64> {
    mean(probabilities, truth, |p, y| (p - f64::from(y)) * (p - f64::from(y)))
}

/// Bins of about as many rows each, by ascending probability, to the front of `out`: at most as many as it has room for, at least
/// one, fewer where many rows share a probability. The number of bins. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{Bin, calibration_error, reliability};
///
/// let (probabilities, labels) = ([0.1_f32, 0.2, 0.6, 0.7], [0, 1, 1, 0]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let mut bins = [Bin::default(); 2];
/// assert_eq!(reliability(&probabilities, &labels, scratch, &mut bins)?, 2);
/// assert!((bins[0].mean - 0.15).abs() < 1e-6 && bins[0].share() == 0.5); // half of what was to come true with .15 did
/// assert!((calibration_error(&bins) - (0.5 * 0.35 + 0.5 * 0.15)).abs() < 1e-6);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`log_loss`]; `Empty` for `out`.
pub fn reliability<T: Real, Y: Labels + ?Sized>(
    probabilities: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    out: &mut [Bin],
) -> Result<usize> {
    check_probabilities(probabilities)?;
    if out.is_empty() {
        return Err(Error::Empty { what: "out" });
    }
    // From the highest down, a bin ends with the group that completes another share of all rows.
    let bins = out.len() as f64;
    let (mut len, mut seen, mut begun, mut sum, mut bin) = (0, 0.0, 0.0, 0.0, Bin::default());
    labels.groups(probabilities, scratch, |classes, group| {
        let (p, positives) = (group.score.f64(), group.run.positives.f64());
        let (rows, all) = (positives + group.run.negatives.f64(), (classes.positives + classes.negatives).f64());
        if bin.rows == 0.0 {
            bin.high = p;
        }
        bin.low = p;
        bin.rows += rows;
        bin.positives += positives;
        sum += rows * p;
        seen += rows;
        let share = |rows: f64| libm::floor(rows * bins / all + 1e-9);
        if share(seen) > share(begun) && len < out.len() {
            bin.mean = sum / bin.rows;
            out[len] = bin;
            len += 1;
            (bin, sum, begun) = (Bin::default(), 0.0, seen);
        }
    })?;
    out[..len].reverse();
    Ok(len)
}

/// The expected calibration error over these bins.
#[must_use]
pub fn calibration_error(bins: &[Bin]) -> f64 {
    let rows = bins.iter().map(|bin| bin.rows).sum::<f64>();
    bins.iter().map(|bin| bin.rows / rows * (bin.mean - bin.share()).abs()).sum()
}
