//! Isotonic regression of labels on scores: the increasing function of the score nearest to the labels, by pooling adjacent
//! violators.
//!
//! ```text
//! min Σ_i (y_i − f(s_i))²   over f that never falls
//! ```
//!
//! Ayer, Brunk, Ewing, Reid and Silverman 1955, "An Empirical Distribution Function for Sampling with Incomplete Information";
//! as calibration: Zadrozny and Elkan 2002, "Transforming Classifier Scores into Accurate Multiclass Probability Estimates".
//! Equal scores are one pool from the start, and shares are compared by products of counts, exact for up to 2²⁶ rows. Between two
//! pools the probability is a straight line, outside of all it is flat.
//!
//! Deviation: the value of a pool is kept within 1/(n₋ + 2) and (n₊ + 1)/(n₊ + 2), the targets of Platt's calibration: so few
//! rows cannot tell that something never happens, and a single surprise would have an infinite log loss.

use crate::error::{Error, Result};
use crate::metric::{Amount as _, Labels};
use crate::real::Real;
use crate::scratch::Scratch;

/// Scores of one probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pool {
    /// The lowest.
    pub low: f64,
    /// The highest score.
    pub high: f64,
    /// Rows in it; with weights what they weigh.
    pub rows: f64,
    /// Positives among them.
    pub positives: f64,
    /// The probability.
    pub value: f64,
}

impl Pool {
    /// Takes one in whose scores are lower.
    pub(super) fn join(&mut self, below: &Self) {
        self.low = below.low;
        self.rows += below.rows;
        self.positives += below.positives;
    }
}

/// Writes the pools by ascending scores to the front of `out`, which has room for as many as there are scores, and returns how
/// many there are. Values rise from one to the next. `scratch` as [`need`](crate::metric::need) says; O(n).
///
/// # Errors
/// As [`auroc`](crate::metric::auroc), and `Length` for `out`.
///
/// ```
/// use undercurve::{Scratch, decision::{Pool, pool_adjacent_violators}};
/// let (scores, labels) = ([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 1, 1]);
/// let (mut u32, mut u64, mut pools) = ([0; 2048], [0; 10], [Pool::default(); 5]);
/// let scratch = Scratch { u32: &mut u32, u64: &mut u64, ..Scratch::default() };
/// let count = pool_adjacent_violators(&scores, &labels, scratch, &mut pools)?;
/// // 0.2 and 0.3 are out of order: one pool of half positives.
/// assert_eq!((count, pools[1].low, pools[1].high, pools[1].value), (3, 0.2, 0.3, 0.5));
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn pool_adjacent_violators<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    out: &mut [Pool],
) -> Result<usize> {
    if out.len() < scores.len() {
        return Err(Error::Length { what: "out", need: scores.len(), got: out.len() });
    }
    let mut len = 0;
    let classes = labels.groups(scores, scratch, |_, group| {
        let (score, positives) = (group.score.f64(), group.run.positives.f64());
        let rows = positives + group.run.negatives.f64();
        let mut new = Pool { low: score, high: score, rows, positives, value: 0.0 };
        // Scores descend, so that shares have to; one that does not fall is joined with what is above it.
        while len > 0 && out[len - 1].positives * new.rows <= new.positives * out[len - 1].rows {
            let mut above = out[len - 1];
            above.join(&new);
            new = above;
            len -= 1;
        }
        out[len] = new;
        len += 1;
    })?;
    let pools = &mut out[..len];
    pools.reverse();
    for pool in pools {
        pool.value = value(pool, classes.positives.f64(), classes.negatives.f64());
    }
    Ok(len)
}

/// The value of a pool, of rows of both classes.
pub(super) fn value(pool: &Pool, positives: f64, negatives: f64) -> f64 {
    let share = pool.positives / pool.rows;
    share.or_larger(1.0 / (negatives + 2.0)).or_smaller((positives + 1.0) / (positives + 2.0))
}

/// The probability of a score, by pools in ascending order, at least one. Never falls where the score rises. O(log pools).
#[must_use]
pub fn pooled_probability(pools: &[Pool], score: f64) -> f64 {
    let at = pools.partition_point(|pool| pool.high < score);
    match (pools.get(at), at.checked_sub(1).and_then(|before| pools.get(before))) {
        (Some(pool), Some(before)) if score < pool.low => {
            let way = (score - before.high) / (pool.low - before.high);
            (before.value + way * (pool.value - before.value)).or_smaller(pool.value)
        }
        (Some(pool), _) => pool.value,
        (None, last) => last.map_or(0.5, |last| last.value),
    }
}
