//! 95 % intervals of AUROC, average precision and partial AUC, from the runs of one ordering.
//!
//! AUROC: the variance of DeLong, DeLong and Clarke-Pearson 1988, "Comparing the Areas under Two or More Correlated
//! Receiver Operating Characteristic Curves: A Nonparametric Approach": with c(a, b) = 1[a > b] + ½ 1[a = b],
//!
//! ```text
//! V10_i = 1/n₋ Σ_j c(s_i, s_j)      V01_j = 1/n₊ Σ_i c(s_i, s_j)      σ² = var(V10)/n₊ + var(V01)/n₋
//! ```
//!
//! Average precision and partial AUC: the bootstrap, with continuous weights instead of counts (Rubin 1981, "The Bayesian
//! Bootstrap"): in a replicate every row weighs an independent standard exponential, so the class sizes vary, too. k rows
//! that no metric tells apart weigh a gamma of shape k together (drawn after Marsaglia and Tsang 2000, "A Simple Method for
//! Generating Gamma Variables"), so that a replicate costs O(runs), of which there are at most two for each positive, and one
//! more. σ is the deviation of the replicates.
//!
//! All three on the scale of the log-odds, where the interval cannot leave [0, 1] (for AUROC: Qin and Hotilovac 2008,
//! "Comparison of Non-parametric Confidence Intervals for the Area under the ROC Curve of a Continuous-scale Diagnostic Test"):
//!
//! ```text
//! ln(A/(1 − A)) ± q σ/(A(1 − A))
//! ```
//!
//! Few rows seldom show the one that lies far out, and where none is seen the variance is far too small. So A and σ are those of the rows
//! and of half a row more of each class, half of that above all scores and half below (ours, after Agresti and Coull 1998, "Approximate Is
//! Better than "Exact" for Interval Estimation of Binomial Proportions", who add two of each to a share; the metric itself is that of the rows).
//!
//! q is a quantile of Student's distribution. For AUROC it has one degree of freedom less than there are rows of the smaller class; for AP and
//! partial AUC, where such intervals held too often, one less than twice as many (ours, by trial; with the normal one, that of Agresti
//! and Coull, they held too seldom with five or ten rows).
//! The rows are a sample of a population whose share of positives is not known. AP depends on it, so the interval counts it: of samples
//! with a fixed number of positives it holds more than 95 %. How often: tests/results/intervals.md.

use super::cells::NORMAL;
use super::partial_auc::FprRange;
use super::rank::Run;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rng::Rng;

/// Where a metric lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end, 0 or more.
    pub low: f64,
    /// Upper end, 1 or less.
    pub high: f64,
}

/// Replicates of [`bootstrap`] that a report draws.
pub const REPLICATES: usize = 400;

/// The generator's purpose; part of what a seed means.
const PURPOSE: u64 = 0x626f_6f74;

impl Interval {
    /// Around a value with this deviation, from so many rows of the smaller class (or queries), with Student's quantile; `None` where
    /// they tell no deviation.
    pub(crate) fn around(value: f64, deviation: f64, fewest: u64) -> Option<Self> {
        if fewest < 2 { None } else { Self::wide(value, deviation, student(fewest - 1)) }
    }

    /// With this quantile.
    fn wide(value: f64, deviation: f64, quantile: f64) -> Option<Self> {
        let wide = deviation / (value * (1.0 - value));
        if !(value > 0.0 && value < 1.0 && wide > 0.0 && wide.is_finite()) {
            return None;
        }
        let (at, half) = (Real::ln(value / (1.0 - value)), quantile * wide);
        Some(Self { low: Real::sigmoid(at - half), high: Real::sigmoid(at + half) })
    }

    /// With a value in it.
    fn with(self, value: f64) -> Self {
        Self { low: self.low.or_smaller(value), high: self.high.or_larger(value) }
    }
}

/// What each class has of a row above all scores, and as much below.
const END: f64 = 0.25;

/// Rows of each class.
fn sizes(runs: &[Run]) -> Result<(u64, u64)> {
    let sum = |of: fn(&Run) -> u64| runs.iter().map(of).sum::<u64>();
    match (sum(|run| run.positives), sum(|run| run.negatives)) {
        (0, _) | (_, 0) => Err(Error::OneClass),
        sizes => Ok(sizes),
    }
}

/// The interval of AUROC, of runs in descending order; `None` where a class has one row. O(runs), two passes.
///
/// # Errors
/// `OneClass`.
///
/// ```
/// use undercurve::metric::{delong, rank::Run};
/// // Scores of the classes + + − + − −, descending.
/// let run = |positives, negatives| Run { positives, negatives };
/// let interval = delong(&[run(2, 0), run(0, 1), run(1, 0), run(0, 2)])?.unwrap();
/// assert!(interval.low < 8.0 / 9.0 && 8.0 / 9.0 < interval.high);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn delong(runs: &[Run]) -> Result<Option<Interval>> {
    let (positives, negatives) = sizes(runs)?;
    let (p, n) = (positives as f64, negatives as f64);
    // V10 and V01 of every run, with its positives and negatives.
    let each = || {
        let (mut above, mut below) = (0.0, n);
        runs.iter().map(move |run| {
            let (own, others) = (run.positives as f64, run.negatives as f64);
            below -= others;
            let values = ((below + 0.5 * others) / n, (above + 0.5 * own) / p);
            above += own;
            (own, others, values)
        })
    };
    let auroc = each().map(|(own, _, (v10, _))| own * v10).sum::<f64>() / p;
    // The mean of a class's values with those of its ends, 0 and 1.
    let mean = |rows: f64| (rows * auroc + END) / (rows + 2.0 * END);
    let (m10, m01) = (mean(p), mean(n));
    let ends = |mean: f64| END * (mean * mean + (1.0 - mean) * (1.0 - mean));
    let (mut s10, mut s01) = (ends(m10), ends(m01));
    for (own, others, (v10, v01)) in each() {
        s10 += own * (v10 - m10) * (v10 - m10);
        s01 += others * (v01 - m01) * (v01 - m01);
    }
    let (p, n) = (p + 2.0 * END, n + 2.0 * END);
    let variance = s10 / ((p - 1.0) * p) + s01 / ((n - 1.0) * n);
    // (What the ends add is half of their pairs.)
    let (a, b) = (positives as f64, negatives as f64);
    let value = (a * b * auroc + 0.5 * (p * n - a * b)) / (p * n);
    Ok(Interval::around(value, crate::Real::sqrt(variance), positives.min(negatives)).map(|ends| ends.with(auroc)))
}

/// The intervals of average precision and of the partial AUC over `range` (trapezoid rule), of runs in descending order, from
/// `replicates` replicates; `None` as for [`delong`]. `weights`: two for each run. O(runs) a
/// replicate; one seed gives the same bits everywhere.
///
/// ```
/// use undercurve::metric::{FprRange, bootstrap, rank::Run};
///
/// // Scores of the classes + + − + − −, descending: an AP of (1 + 1 + ¾)/3.
/// let run = |positives, negatives| Run { positives, negatives };
/// let runs = [run(2, 0), run(0, 1), run(1, 0), run(0, 2)];
/// let [ap, _pauc] = bootstrap(&runs, FprRange::FULL, 400, 1, &mut [0.0; 8])?;
/// assert!(ap.is_some_and(|interval| interval.low < 11.0 / 12.0 && 11.0 / 12.0 < interval.high));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `OneClass`; `Length` (weights); `Param` (fewer than two replicates).
pub fn bootstrap(
    runs: &[Run],
    range: FprRange,
    replicates: usize,
    seed: u64,
    weights: &mut [f64],
) -> Result<[Option<Interval>; 2]> {
    replicated(runs, END, replicates, seed, weights, |weights, ends| weighed(weights, ends, range))
}

/// The interval of the recall of the highest scores, this share of the weight of all, likewise.
///
/// ```
/// use undercurve::metric::{bootstrap_top, rank::Run};
///
/// // Scores of the classes + + − + − −, descending: of the first three rows two are positives, of three.
/// let run = |positives, negatives| Run { positives, negatives };
/// let runs = [run(2, 0), run(0, 1), run(1, 0), run(0, 2)];
/// let recall = bootstrap_top(&runs, 0.5, 400, 1, &mut [0.0; 8])?;
/// assert!(recall.is_some_and(|interval| interval.low < 2.0 / 3.0 && 2.0 / 3.0 < interval.high));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`bootstrap`]; `Param` for a share outside (0, 1].
pub fn bootstrap_top(
    runs: &[Run],
    share: f64,
    replicates: usize,
    seed: u64,
    weights: &mut [f64],
) -> Result<Option<Interval>> {
    if !(share > 0.0 && share <= 1.0) {
        return Err(Error::Param { what: "rows at the top" });
    }
    let [recall] = replicated(runs, 0.0, replicates, seed, weights, |weights, _| {
        let sum = |at: usize| weights.iter().skip(at).step_by(2).sum::<f64>();
        let (positives, negatives) = (sum(0), sum(1));
        let (most, mut seen, mut found) = (share * (positives + negatives), 0.0, 0.0);
        for run in weights.chunks_exact(2) {
            let all = run[0] + run[1];
            let taken = all.or_smaller(most - seen);
            if taken <= 0.0 {
                break;
            }
            // Of what is tied at the end a share.
            found += taken * (run[0] / all);
            seen += taken;
        }
        [found / positives]
    })?;
    Ok(recall)
}

/// Where a share of so many rows lies with 95 % confidence: Wilson 1927, "Probable Inference, the Law of Succession, and
/// Statistical Inference".
pub(super) fn wilson(share: f64, rows: f64) -> Interval {
    let square = NORMAL * NORMAL;
    let middle = (share + square / (2.0 * rows)) / (1.0 + square / rows);
    let half =
        NORMAL * crate::Real::sqrt(share * (1.0 - share) / rows + square / (4.0 * rows * rows)) / (1.0 + square / rows);
    Interval { low: (middle - half).or_larger(0.0), high: (middle + half).or_smaller(1.0) }
}

/// What the ends weigh: positives and negatives above all runs, and below.
type Ends = [f64; 4];

/// The intervals of figures of weighted runs, from replicates, where each end has so much of a row of each class.
fn replicated<const N: usize>(
    runs: &[Run],
    end: f64,
    replicates: usize,
    seed: u64,
    weights: &mut [f64],
    of: impl Fn(&[f64], &Ends) -> [f64; N],
) -> Result<[Option<Interval>; N]> {
    let (positives, negatives) = sizes(runs)?;
    crate::error::exact_len("weights", 2 * runs.len(), weights.len())?;
    if replicates < 2 {
        return Err(Error::Param { what: "replicates" });
    }
    let fewest = positives.min(negatives);
    if fewest < 2 {
        return Ok([None; N]);
    }
    for (weights, run) in weights.chunks_exact_mut(2).zip(runs) {
        (weights[0], weights[1]) = (run.positives as f64, run.negatives as f64);
    }
    let (values, middles) = (of(weights, &[0.0; 4]), of(weights, &[end; 4]));
    let (mut mean, mut square) = ([0.0; N], [0.0; N]);
    for replicate in 0..replicates {
        let mut rng = Rng::keyed(seed, PURPOSE, replicate as u64);
        for (weights, run) in weights.chunks_exact_mut(2).zip(runs) {
            (weights[0], weights[1]) = (gamma(&mut rng, run.positives), gamma(&mut rng, run.negatives));
        }
        let ends = core::array::from_fn(|_| if end > 0.0 { fraction(&mut rng, end) } else { 0.0 });
        // Welford's recursion.
        for (k, value) in of(weights, &ends).into_iter().enumerate() {
            let apart = value - mean[k];
            mean[k] += apart / (replicate + 1) as f64;
            square[k] += apart * (value - mean[k]);
        }
    }
    let quantile = student(if end > 0.0 { 2 * fewest - 1 } else { fewest - 1 });
    Ok(core::array::from_fn(|k| {
        let deviation = crate::Real::sqrt(square[k] / (replicates - 1) as f64);
        Interval::wide(middles[k], deviation, quantile).map(|ends| ends.with(values[k]))
    }))
}

/// Average precision and partial AUC of runs that weigh this much: positives and negatives of each.
fn weighed(weights: &[f64], ends: &Ends, range: FprRange) -> [f64; 2] {
    let all = || ends[..2].chunks_exact(2).chain(weights.chunks_exact(2)).chain(ends[2..].chunks_exact(2));
    let (mut positives, mut negatives) = (0.0, 0.0);
    for run in all() {
        positives += run[0];
        negatives += run[1];
    }
    let (low, high) = (range.low() * negatives, range.high() * negatives);
    let (mut tp, mut fp, mut ap, mut area) = (0.0, 0.0, 0.0, 0.0);
    for run in all() {
        let (start, end) = (fp.or_larger(low), (fp + run[1]).or_smaller(high));
        if end > start {
            // The curve is a straight line through the run.
            let share = (0.5 * (start + end) - fp) / run[1];
            area += (end - start) * (tp + share * run[0]);
        }
        tp += run[0];
        fp += run[1];
        if run[0] > 0.0 {
            ap += run[0] * (tp / (tp + fp));
        }
    }
    [ap / positives, area / (positives * (high - low))]
}

/// A gamma variable of a shape below 1: one of a shape 1 higher times a power of a uniform one.
fn fraction(rng: &mut Rng, shape: f64) -> f64 {
    let power = libm::exp(Real::ln(1.0 - rng.uniform()) / shape);
    power * gamma_of(rng, shape + 1.0)
}

/// A gamma variable of this shape and scale 1; 0 for shape 0.
fn gamma(rng: &mut Rng, shape: u64) -> f64 {
    if shape < 2 {
        return if shape == 0 { 0.0 } else { -Real::ln(1.0 - rng.uniform()) };
    }
    gamma_of(rng, shape as f64)
}

/// Of any shape from 1 on.
fn gamma_of(rng: &mut Rng, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / crate::Real::sqrt(9.0 * d);
    loop {
        let x = rng.normal();
        let root = 1.0 + c * x;
        let v = root * root * root;
        let u = 1.0 - rng.uniform();
        if v > 0.0 && Real::ln(u) < 0.5 * x * x + d * (1.0 - v + Real::ln(v)) {
            return d * v;
        }
    }
}

/// The 97.5 % quantile of Student's t with so many degrees of freedom, at least one (above 1,000 as 1,000: 1.9623).
///
/// ```
/// use undercurve::metric::student;
///
/// assert!((student(1) - 12.706).abs() < 1e-3 && (student(1000) - 1.962).abs() < 1e-3);
/// ```
#[must_use]
pub fn student(freedom: u64) -> f64 {
    let freedom = freedom.clamp(1, 1000);
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if inside(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// P(|t| ≤ x): Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
fn inside(x: f64, freedom: u64) -> f64 {
    let angle = libm::atan(x / crate::Real::sqrt(freedom as f64));
    let (sin, cos) = libm::sincos(angle);
    let odd = freedom % 2 == 1;
    // Powers of the cosine with the products of odd over even numbers, or of even over odd ones.
    let (mut term, mut sum) = (if odd { cos } else { 1.0 }, 0.0);
    let mut power = u64::from(odd);
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cos * cos * (power - 1) as f64 / power as f64;
    }
    if odd { core::f64::consts::FRAC_2_PI * (angle + sin * sum) } else { sin * sum }
}
