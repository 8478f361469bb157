//! Probabilities from scores, as a model file keeps them.

use super::isotonic::{Pool, pool_adjacent_violators, pooled_probability, value};
use super::platt::{Platt, fit_platt};
use crate::error::{Error, Result};
use crate::metric::{Truth, need};
use crate::real::Real;
use crate::scratch::Scratch;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Pools that are kept at most, 24 bytes each in a file. Labels seldom make more than a few hundred, of any number of rows.
pub const MOST_POOLS: usize = 1000;

/// How scores are to become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibrate {
    /// By [`fit_platt`]: two numbers and what bounds the probability, for few rows.
    Platt,
    /// By [`pool_adjacent_violators`]: any increasing function, for a thousand rows of each class and more.
    Isotonic,
}

impl FromStr for Calibrate {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "platt" => Ok(Self::Platt),
            "isotonic" => Ok(Self::Isotonic),
            _ => Err(Error::Param { what: "calibrate" }),
        }
    }
}

impl fmt::Display for Calibrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platt => "platt",
            Self::Isotonic => "isotonic",
        })
    }
}

/// What turns scores into probabilities.
///
/// ```
/// use undercurve::decision::{Calibrate, Calibration};
/// let (scores, labels) = ([0.1_f32, 0.2, 0.3, 0.4, 0.5, 0.6], &[0, 0, 1, 0, 1, 1][..]);
/// for how in [Calibrate::Platt, Calibrate::Isotonic] {
///     let fitted = Calibration::fit(how, &scores, labels.into())?;
///     assert!(fitted.probability(0.6) > fitted.probability(0.1));
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Calibration {
    /// A logistic curve.
    Platt(Platt),
    /// Pools by ascending scores: at least one, at most [`MOST_POOLS`].
    Isotonic(Vec<Pool>),
}

impl Calibration {
    /// Fitted to labelled scores, of rows that the model was not trained on. O(n log n) at most.
    ///
    /// # Errors
    /// Those of [`fit_platt`] and [`pool_adjacent_violators`].
    pub fn fit<T: Real>(how: Calibrate, scores: &[T], truth: Truth<'_>) -> Result<Self> {
        match how {
            Calibrate::Platt => fit_platt(scores, truth).map(Self::Platt),
            Calibrate::Isotonic => {
                let need = need(scores.len());
                if need.u64 == usize::MAX {
                    return Err(Error::Overflow { what: "scores" });
                }
                let mut pools = vec![Pool::default(); scores.len()];
                let (mut real, mut u32, mut u64) = (vec![T::ZERO; need.real], vec![0; need.u32], vec![0; need.u64]);
                let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut u32, u64: &mut u64 };
                let count = pool_adjacent_violators(scores, &truth, scratch, &mut pools)?;
                pools.truncate(count);
                pools.shrink_to_fit();
                Ok(Self::Isotonic(bounded(pools)))
            }
        }
    }

    /// The probability of a score. Of a number of 32 bits it is rounded to one.
    #[must_use]
    pub fn probability<T: Real>(&self, score: T) -> T {
        T::of(match self {
            Self::Platt(curve) => curve.probability(score.f64()),
            Self::Isotonic(pools) => pooled_probability(pools, score.f64()),
        })
    }

    /// How it was made.
    #[must_use]
    pub fn how(&self) -> Calibrate {
        match self {
            Self::Platt(_) => Calibrate::Platt,
            Self::Isotonic(_) => Calibrate::Isotonic,
        }
    }
}

/// At most [`MOST_POOLS`] of them: the borders stay where joining the neighbours would add most to the squared error,
/// n₁ n₂/(n₁ + n₂) (v₁ − v₂)².
fn bounded(pools: Vec<Pool>) -> Vec<Pool> {
    if pools.len() <= MOST_POOLS {
        return pools;
    }
    let sum = |of: fn(&Pool) -> f64| pools.iter().map(of).sum::<f64>();
    let (rows, positives) = (sum(|pool| pool.rows), sum(|pool| pool.positives));
    let gain = |at: usize| {
        let (a, b) = (&pools[at], &pools[at + 1]);
        let (n, m, apart) = (a.rows, b.rows, a.value - b.value);
        n * m / (n + m) * apart * apart
    };
    let mut borders: Vec<usize> = (0..pools.len() - 1).collect();
    borders.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
    borders.truncate(MOST_POOLS - 1);
    borders.sort_unstable();
    let (mut kept, mut start) = (Vec::with_capacity(MOST_POOLS), 0);
    for end in borders.into_iter().map(|border| border + 1).chain([pools.len()]) {
        let mut all = pools[end - 1];
        pools[start..end - 1].iter().rev().for_each(|below| all.join(below));
        all.value = value(&all, positives, rows - positives);
        kept.push(all);
        start = end;
    }
    kept
}
