//! Beta calibration: Platt's curve, with a slope of its own towards each side.
//!
//! ```text
//! z = a s + b (Platt's)      ln(p/(1 − p)) = low · ln σ(z) − high · ln(1 − σ(z)) + offset,   low, high ≥ 0
//! ```
//!
//! Kull, Silva Filho and Flach 2017, "Beta Calibration: a Well-founded and Easily Implemented Improvement on Logistic Calibration for
//! Binary Classifiers", of the probability by Platt's curve, so that low = high = 1 and offset = 0 is that curve itself. Fitted to Platt's
//! targets by Newton's method with a backtracking line search; where a slope would be below 0 it is 0, and the rest is fitted again.
//!
//! Deviation: the probability stays within the targets, as in [Platt's](super::fit_platt).

use super::backtrack::backtrack;
use super::platt::{Platt, fit_platt};
use crate::error::{Error, Result};
use crate::metric::Truth;
use crate::real::Real;

/// Iterations, at most.
const MOST: u32 = 100;
/// Added to the Hessian's diagonal, for each row.
const RIDGE: f64 = 1e-12;

/// A curve with two slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    /// Where it begins.
    pub curve: Platt,
    /// What ln σ(z) is multiplied by: the slope far below.
    pub low: f64,
    /// What −ln(1 − σ(z)) is multiplied by: the slope far above.
    pub high: f64,
    /// Added to that.
    pub offset: f64,
}

impl Beta {
    /// The probability of a score.
    #[must_use]
    pub fn probability(self, score: f64) -> f64 {
        let [below, above] = sides(self.curve, score);
        let odds = self.low * below + self.high * above + self.offset;
        Real::sigmoid(odds).or_larger(self.curve.least).or_smaller(self.curve.most)
    }
}

/// ln σ(z) and −ln(1 − σ(z)).
fn sides(curve: Platt, score: f64) -> [f64; 2] {
    let z = (curve.slope * score + curve.offset).or_larger(-700.0).or_smaller(700.0);
    [-Real::softplus(-z), Real::softplus(z)]
}

/// The solution of three equations, symmetric and positive definite but for rounding; `None` where they are not.
fn solved(mut h: [[f64; 3]; 3], mut g: [f64; 3]) -> Option<[f64; 3]> {
    for k in 0..3 {
        if h[k][k].is_nan() || h[k][k] <= 0.0 {
            return None;
        }
        for row in k + 1..3 {
            let share = h[row][k] / h[k][k];
            for column in k..3 {
                h[row][column] -= share * h[k][column];
            }
            g[row] -= share * g[k];
        }
    }
    for k in (0..3).rev() {
        for column in k + 1..3 {
            g[k] -= h[k][column] * g[column];
        }
        g[k] /= h[k][k];
    }
    Some(g)
}

/// Fits the curve to labelled scores. O(n) an iteration, of which there are some twenty; no scratch.
///
/// # Errors
/// As [`fit_platt`].
///
/// ```
/// let scores = [-2.0_f32, -1.0, -0.5, 0.5, 1.0, 2.0];
/// let curve = undercurve::decision::fit_beta(&scores, [0, 0, 1, 0, 1, 1][..].into())?;
/// assert!(curve.probability(2.0) > 0.5 && curve.probability(-2.0) < 0.5);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn fit_beta<T: Real>(scores: &[T], truth: Truth<'_>) -> Result<Beta> {
    let curve = fit_platt(scores, truth)?;
    let targets = [curve.least, curve.most];
    let rows = || {
        (0..scores.len()).map(|row| {
            let [below, above] = sides(curve, scores[row].f64());
            ([below, above, 1.0], targets[usize::from(truth.labels()[row])], truth.weight(row))
        })
    };
    let n: f64 = rows().map(|row| row.2).sum();
    let odds = |at: &[f64; 3], x: &[f64; 3]| at[0] * x[0] + at[1] * x[1] + at[2] * x[2];
    let loss = |at: &[f64; 3]| {
        rows()
            .map(|(x, t, w)| {
                let odds = odds(at, &x);
                w * (Real::softplus(odds) - t * odds)
            })
            .sum::<f64>()
    };
    let fit = |free: [bool; 3], mut at: [f64; 3]| {
        let mut value = loss(&at);
        for _ in 0..MOST {
            let (mut g, mut h) = ([0.0; 3], [[0.0; 3]; 3]);
            for (x, t, w) in rows() {
                let p = Real::sigmoid(odds(&at, &x));
                for i in 0..3 {
                    g[i] += w * (p - t) * x[i];
                    for j in 0..3 {
                        h[i][j] += w * p * (1.0 - p) * x[i] * x[j];
                    }
                }
            }
            for i in 0..3 {
                h[i][i] += RIDGE * n;
                if !free[i] {
                    g[i] = 0.0;
                    for j in 0..3 {
                        (h[i][j], h[j][i]) = (0.0, 0.0);
                    }
                    h[i][i] = 1.0;
                }
            }
            if g.iter().all(|slope| slope.abs() < 1e-9 * n) {
                break;
            }
            let Some(step) = solved(h, g) else { break };
            let falls = -(g[0] * step[0] + g[1] * step[1] + g[2] * step[2]);
            if !backtrack(&mut at, &mut value, step.map(|x| -x), falls, loss) {
                break;
            }
        }
        at
    };
    let mut at = fit([true; 3], [1.0, 1.0, 0.0]);
    if at[0] < 0.0 {
        at = fit([false, true, true], [0.0, 1.0, 0.0]);
    } else if at[1] < 0.0 {
        at = fit([true, false, true], [1.0, 0.0, 0.0]);
    }
    let [low, high, offset] = at;
    if !(low.is_finite() && high.is_finite() && offset.is_finite()) {
        return Err(Error::Overflow { what: "slope" });
    }
    Ok(Beta { curve, low: low.or_larger(0.0), high: high.or_larger(0.0), offset })
}
