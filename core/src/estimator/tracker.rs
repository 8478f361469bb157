//! Running values of inner functions from batches: the estimator of MSVR.
//!
//! Source: Jiang, Li, Wang, Zhang and Yang 2022, "Multi-block-Single-probe Variance Reduced Estimator for Coupled Compositional
//! Optimization"; step 7 of SONEX and the u form of step 8 of ALEXR2 in the paper of `outer`.
//!
//! ```text
//! u ← (1 − γ)u + γ g(w_t; B) + γ'(g(w_t; B) − g(w_{t−1}; B))
//! ```
//!
//! With γ' = 0, or where the scores at w_{t−1} are not asked for, it is a moving average; the first visit takes g(w_t; B).
//! In ALEXR2 γ = γ̂ and γ' = γ̂θ.

use crate::error::{Error, Result};

/// The weights of a running value.
///
/// ```
/// use undercurve::estimator::Tracker;
///
/// let tracker = Tracker::new(0.5, 0.5)?;
/// assert_eq!(tracker.next(None, 4.0, None), 4.0); // the first visit
/// assert_eq!(tracker.next(Some(4.0), 2.0, None), 3.0);
/// // Where the same rows had 3 at the point before, the function has moved by −1 there, whatever the rows.
/// assert_eq!(tracker.next(Some(4.0), 2.0, Some(3.0)), 2.5);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracker {
    gamma: f64,
    correction: f64,
}

impl Tracker {
    /// γ = .8 and γ' = .1.
    pub const USUAL: Self = Self { gamma: 0.8, correction: 0.1 };

    /// - `gamma` in (0, 1]: γ, the weight of the new estimate.
    /// - `correction` in [0, 10]: γ'.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(gamma: f64, correction: f64) -> Result<Self> {
        if !(gamma > 0.0 && gamma <= 1.0) {
            return Err(Error::Param { what: "gamma" });
        }
        if !(0.0..=10.0).contains(&correction) {
            return Err(Error::Param { what: "correction" });
        }
        Ok(Self { gamma, correction })
    }

    /// At another γ, where one is given.
    ///
    /// # Errors
    /// `Param`.
    pub fn at_rate(self, gamma: Option<f64>) -> Result<Self> {
        match gamma {
            None => Ok(self),
            Some(gamma) if gamma > 0.0 && gamma <= 1.0 => Ok(Self { gamma, ..self }),
            Some(_) => Err(Error::Param { what: "rate" }),
        }
    }

    /// The new u: of the old one, if there is one, the estimate g(w_t; B), and g(w_{t−1}; B) if it is known.
    #[must_use]
    pub fn next(self, old: Option<f64>, new: f64, before: Option<f64>) -> f64 {
        let Some(old) = old else { return new };
        let moved = before.map_or(0.0, |before| self.correction * (new - before));
        (1.0 - self.gamma) * old + self.gamma * new + moved
    }
}
