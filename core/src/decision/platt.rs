//! Platt's calibration: a logistic curve of the score.
//!
//! ```text
//! p(s) = 1/(1 + e^(−(a s + b)))      min Σ_i w_i (ln(1 + e^(x_i)) − t_i x_i),  x_i = a s_i + b,
//! t_i = (n₊ + 1)/(n₊ + 2) of a positive, 1/(n₋ + 2) of a negative, w_i = 1 or the row's weight, n₊ and n₋ their sums
//! ```
//!
//! Platt 1999, "Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized Likelihood Methods"; by Newton's
//! method with a backtracking line search, Algorithm 1 of Lin, Lin and Weng 2007, "A Note on Platt's Probabilistic Outputs for
//! Support Vector Machines" (their A and B are −a and −b).
//!
//! Deviations: the probability stays within the targets, as that of [isotonic](super::pool_adjacent_violators) regression: a score far
//! outside of those that the curve was fitted to would be said to be certain, and a single surprise there would have an infinite
//! log loss. Scores are shifted and divided to mean 0 and deviation 1 before (the fit is the same, and the ridge of 1e-12 on
//! the Hessian means the same for scores of any size), and the run ends when both sums of gradients are below 1e-10 n, or where
//! no step lowers the loss.

use super::backtrack::backtrack;
use crate::error::{Error, Result};
use crate::metric::Truth;
use crate::metric::rank::check;
use crate::real::Real;

/// Iterations, at most.
const MOST: u32 = 100;
/// Added to the Hessian's diagonal.
const RIDGE: f64 = 1e-12;

/// A logistic curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platt {
    /// a: what one more of the score adds to the log-odds. Below 0 where the scores rank the wrong way round.
    pub slope: f64,
    /// b: the log-odds of score 0.
    pub offset: f64,
    /// The least probability, 1/(n₋ + 2).
    pub least: f64,
    /// The greatest, (n₊ + 1)/(n₊ + 2).
    pub most: f64,
}

impl Platt {
    /// The probability of a score.
    #[must_use]
    pub fn probability(self, score: f64) -> f64 {
        Real::sigmoid(self.slope * score + self.offset).or_larger(self.least).or_smaller(self.most)
    }
}

/// Fits the curve to labelled scores. O(n) an iteration, of which there are some ten; no scratch.
///
/// # Errors
/// As [`auroc`](crate::metric::auroc); `Overflow` where squares of the scores do not fit a number.
///
/// ```
/// let scores = [-2.0_f32, -1.0, -0.5, 0.5, 1.0, 2.0];
/// let curve = undercurve::decision::fit_platt(&scores, [0, 0, 1, 0, 1, 1][..].into())?;
/// // As many positives as negatives, and the same to both sides: half at 0.
/// assert!((curve.probability(0.0) - 0.5).abs() < 1e-9 && curve.probability(2.0) > 0.7);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn fit_platt<T: Real>(scores: &[T], truth: Truth<'_>) -> Result<Platt> {
    check(scores, truth.labels())?;
    // Score, label and weight of each row.
    let each = || (0..scores.len()).map(|row| (scores[row].f64(), truth.labels()[row], truth.weight(row)));
    let of = |class: u8| each().filter(|row| row.1 == class).map(|row| row.2).sum::<f64>();
    let (positives, negatives) = (of(1), of(0));
    if positives == 0.0 || negatives == 0.0 {
        return Err(Error::OneClass);
    }
    let n = positives + negatives;
    let mean = each().map(|(s, _, w)| w * s).sum::<f64>() / n;
    let square = each().map(|(s, _, w)| w * (s - mean) * (s - mean)).sum::<f64>() / n;
    if !square.is_finite() {
        return Err(Error::Overflow { what: "squares of scores" });
    }
    // (Of scores that are all the same only the offset is left.)
    let deviation = if square > 0.0 { crate::Real::sqrt(square) } else { 1.0 };
    let targets = [1.0 / (negatives + 2.0), (positives + 1.0) / (positives + 2.0)];
    let rows = || each().map(|(s, y, w)| ((s - mean) / deviation, targets[usize::from(y)], w));
    let loss = |&[a, b]: &[f64; 2]| {
        let losses = rows().map(|(z, t, w)| {
            let x = a * z + b;
            w * (Real::softplus(x) - t * x)
        });
        losses.sum::<f64>()
    };
    let mut at = [0.0, Real::ln((positives + 1.0) / (negatives + 1.0))];
    let mut value = loss(&at);
    for _ in 0..MOST {
        // The gradient, and the Hessian: aa, ab, bb.
        let (mut g, mut h) = ([0.0; 2], [RIDGE, 0.0, RIDGE]);
        for (z, t, w) in rows() {
            let p = Real::sigmoid(at[0] * z + at[1]);
            let (apart, weight) = (w * (p - t), w * p * (1.0 - p));
            g[0] += apart * z;
            g[1] += apart;
            h[0] += weight * z * z;
            h[1] += weight * z;
            h[2] += weight;
        }
        if g[0].abs() < 1e-10 * n && g[1].abs() < 1e-10 * n {
            break;
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let along = [-(h[2] * g[0] - h[1] * g[1]) / determinant, -(h[0] * g[1] - h[1] * g[0]) / determinant];
        let falls = g[0] * along[0] + g[1] * along[1];
        if !backtrack(&mut at, &mut value, along, falls, loss) {
            break;
        }
    }
    let [a, b] = at;
    let slope = a / deviation;
    let curve = Platt { slope, offset: b - slope * mean, least: targets[0], most: targets[1] };
    if !(curve.slope.is_finite() && curve.offset.is_finite()) {
        return Err(Error::Overflow { what: "slope" });
    }
    Ok(curve)
}
