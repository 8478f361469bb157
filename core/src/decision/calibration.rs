//! Probabilities from scores, as a model file keeps them.

use super::beta::{Beta, fit_beta};
use super::isotonic::{Pool, pool_adjacent_violators, pooled_probability, value};
use super::platt::{Platt, fit_platt};
use crate::error::{Error, Result};
use crate::metric::{Truth, need};
use crate::real::Real;
use crate::rng::Rng;
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
    /// By [`fit_beta`]: four numbers, a slope towards each side.
    Beta,
    /// Which of these has the least log loss on rows that it was not fitted to, of five folds by class; the logistic curve unless another is
    /// better by more than a standard error, and with fewer than 25 rows of a class.
    Auto,
}

/// Folds of [`Calibrate::Auto`], and the fewest rows of a class.
const FOLDS: usize = 5;
const FEWEST: usize = 25;
/// The generator's purpose for the folds.
const PURPOSE: u64 = 0x6361_6c69;

impl FromStr for Calibrate {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "platt" => Ok(Self::Platt),
            "isotonic" => Ok(Self::Isotonic),
            "beta" => Ok(Self::Beta),
            "auto" => Ok(Self::Auto),
            _ => Err(Error::Param { what: "calibrate" }),
        }
    }
}

impl fmt::Display for Calibrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platt => "platt",
            Self::Isotonic => "isotonic",
            Self::Beta => "beta",
            Self::Auto => "auto",
        })
    }
}

/// What turns scores into probabilities.
///
/// ```
/// use undercurve::decision::{Calibrate, Calibration};
/// let (scores, labels) = ([0.1_f32, 0.2, 0.3, 0.4, 0.5, 0.6], &[0, 0, 1, 0, 1, 1][..]);
/// for how in [Calibrate::Platt, Calibrate::Isotonic, Calibrate::Beta, Calibrate::Auto] {
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
    /// A curve with two slopes.
    Beta(Beta),
}

impl Calibration {
    /// Fitted to labelled scores, of rows that the model was not trained on. O(n log n) at most.
    ///
    /// # Errors
    /// Those of [`fit_platt`], [`fit_beta`] and [`pool_adjacent_violators`].
    pub fn fit<T: Real>(how: Calibrate, scores: &[T], truth: Truth<'_>) -> Result<Self> {
        match how {
            Calibrate::Platt => fit_platt(scores, truth).map(Self::Platt),
            Calibrate::Beta => fit_beta(scores, truth).map(Self::Beta),
            Calibrate::Auto => Self::fit(chosen(scores, truth)?, scores, truth),
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
            Self::Beta(curve) => curve.probability(score.f64()),
        })
    }

    /// How it was made.
    #[must_use]
    pub fn how(&self) -> Calibrate {
        match self {
            Self::Platt(_) => Calibrate::Platt,
            Self::Isotonic(_) => Calibrate::Isotonic,
            Self::Beta(_) => Calibrate::Beta,
        }
    }
}

/// What [`Calibrate::Auto`] takes.
fn chosen<T: Real>(scores: &[T], truth: Truth<'_>) -> Result<Calibrate> {
    crate::metric::rank::check(scores, truth.labels())?;
    let mut fold = vec![0; scores.len()];
    for class in [0, 1] {
        let mut rows: Vec<usize> = (0..scores.len()).filter(|&row| truth.labels()[row] == class).collect();
        if rows.len() < FEWEST {
            return Ok(Calibrate::Platt);
        }
        Rng::keyed(1, PURPOSE, class.into()).shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = at % FOLDS);
    }
    // Of each row what each has over the first, by weight.
    let others = [Calibrate::Beta, Calibrate::Isotonic];
    let mut apart = [vec![0.0; scores.len()], vec![0.0; scores.len()]];
    for held in 0..FOLDS {
        let (rest, out): (Vec<usize>, Vec<usize>) = (0..scores.len()).partition(|&row| fold[row] != held);
        let part: Vec<T> = rest.iter().map(|&row| scores[row]).collect();
        let labels: Vec<u8> = rest.iter().map(|&row| truth.labels()[row]).collect();
        let weights: Vec<f64> = match truth.weights() {
            [] => Vec::new(),
            weights => rest.iter().map(|&row| weights[row]).collect(),
        };
        let truth_of = if weights.is_empty() { Truth::from(&labels[..]) } else { Truth::new(&labels, &weights)? };
        let loss = |fitted: &Calibration, row: usize| {
            let p = fitted.probability(scores[row].f64());
            -Real::ln(if truth.labels()[row] == 1 { p } else { 1.0 - p })
        };
        let plain = Calibration::fit(Calibrate::Platt, &part, truth_of)?;
        for (how, apart) in others.into_iter().zip(&mut apart) {
            let fitted = Calibration::fit(how, &part, truth_of)?;
            for &row in &out {
                apart[row] = truth.weight(row) * (loss(&fitted, row) - loss(&plain, row));
            }
        }
    }
    let n = scores.len() as f64;
    let mut best = (0.0, Calibrate::Platt);
    for (how, apart) in others.into_iter().zip(&apart) {
        let mean = apart.iter().sum::<f64>() / n;
        let square = apart.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        if mean < -crate::Real::sqrt(square / n) && mean < best.0 {
            best = (mean, how);
        }
    }
    Ok(best.1)
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
    let gains: Vec<f64> = (0..pools.len() - 1).map(gain).collect();
    let mut borders = vec![0; gains.len()];
    crate::sort::falling(&gains, &mut borders);
    borders.truncate(MOST_POOLS - 1);
    borders.sort_unstable();
    let (mut kept, mut start) = (Vec::with_capacity(MOST_POOLS), 0);
    for end in borders.into_iter().map(|border| border as usize + 1).chain([pools.len()]) {
        let mut all = pools[end - 1];
        pools[start..end - 1].iter().rev().for_each(|below| all.join(below));
        all.value = value(&all, positives, rows - positives);
        kept.push(all);
        start = end;
    }
    kept
}
