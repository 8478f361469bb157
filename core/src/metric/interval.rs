//! 95 % intervals of AUROC, average precision and partial AUC.
//!
//! All three by one form, a score interval with the variance of Newcombe 2006, "Confidence Intervals for an Effect Size Measure Based on
//! the Mann-Whitney Statistic. Part 2", method 5: the θ for which the area A that was found is as far off as it may be,
//!
//! ```text
//! (A − θ)² = q² φ V(θ)      V(θ) = θ (1 − θ)/(m n) · (1 + (N − 1)((1 − θ)/(2 − θ) + θ/(1 + θ)))      N = (m + n)/2
//! ```
//!
//! m positives and n negatives; of a partial AUC over [α, β] n are the (β − α) n₋ that it looks at, of AP as many as there are
//! positives (both ours: the hardest negatives alone move them). At a perfect order φ is 1 and q normal, so AUROC has Newcombe's
//! interval, and the others the same of fewer rows. Elsewhere (ours) φ tells how the rows at hand vary,
//!
//! ```text
//! φ = 1 + λ (S²/V(A) − 1)      λ = w/(w + 8)      w = 2 min(A, 1 − A) A(1 − A)/V(A), this V of all m and n
//! ```
//!
//! with S² the sum of squared influences of rows ([`influence`](super::influence())), by class times m/(m − 1): of AUROC
//! the variance of DeLong, DeLong and Clarke-Pearson 1988. λ says how much S² is to be trusted: near 1 hardly a row tells of it. (8 is about
//! the least with which no pair that gets in order lowers the lower end.) q is Student's quantile of 1.2 s √(A (1 − A))/λ² degrees
//! of freedom, at most 4 s, with s the smaller of m and n (by trial).
//!
//! Rows with weights: m = (Σ w)²/Σ w² (Kish 1965, "Survey Sampling"). A row is one observation, whatever it weighs. Clusters of which only
//! whole ones are independent: influences are added within each before they are squared (Obuchowski 1997, "Nonparametric
//! Analysis of Clustered ROC Curve Data"). m is what the rows of a class are worth as independent ones, by how much the mean of their ranks
//! within the class varies from cluster to cluster (ours); s is of the weights of clusters.
//!
//! The rows are a sample of a population whose share of positives is not known. AP depends on it, so the interval counts it: of samples
//! with a fixed number of positives it holds more than 95 %. How often each holds: tests/results/intervals.md.

use super::cells::NORMAL;
use super::influence::{Estimate, influence};
use super::rank::Run;
use crate::error::Result;
use crate::real::Real;

/// Where a metric, or a difference of two, lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Around a value with this deviation, from so many rows of the smaller class (or queries), on the scale of the log-odds with Student's
    /// quantile; `None` where they tell no deviation.
    pub(crate) fn around(value: f64, deviation: f64, fewest: u64) -> Option<Self> {
        let wide = deviation / (value * (1.0 - value));
        if !(fewest > 1 && value > 0.0 && value < 1.0 && wide > 0.0 && wide.is_finite()) {
            return None;
        }
        let (at, half) = (Real::ln(value / (1.0 - value)), student(fewest - 1) * wide);
        Some(Self { low: Real::sigmoid(at - half), high: Real::sigmoid(at + half) })
    }
}

/// Sums over the rows (or clusters) of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    weight: f64,
    weights: f64,
    moved: f64,
}

impl Sums {
    /// So many that weigh this much each, and move the metric by so much each.
    pub(super) fn add(&mut self, times: f64, weight: f64, moved: f64) {
        self.weight += times * weight;
        self.weights += times * (weight * weight);
        self.moved += times * (moved * moved);
    }

    /// As many as equal ones would be.
    fn size(self) -> f64 {
        self.weight * self.weight / self.weights
    }

    /// Fewer than two of them tell nothing; of little more, as of one and a half.
    fn variance(self) -> f64 {
        let size = self.size().or_larger(1.5);
        self.moved * (size / (size - 1.0))
    }
}

/// How a metric varies from one sample to the next, and what it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) variance: f64,
    /// Of each class, as of rows that are alike and independent.
    pub(super) sizes: [f64; 2],
    /// Rows or clusters with positives, and with negatives, as of equal ones.
    pub(super) units: [f64; 2],
    /// What all rows weigh.
    pub(super) weight: f64,
}

impl Spread {
    /// Of both classes, and what they move together.
    pub(super) fn new([positives, negatives]: [Sums; 2], together: f64) -> Self {
        let variance = positives.variance() + negatives.variance() + together;
        let sizes = [positives.size(), negatives.size()];
        let weight = positives.weight + negatives.weight;
        Self { variance: variance.or_larger(0.0), sizes, units: sizes, weight }
    }

    /// Of rows that weigh 1 each, by the influence of those of each run.
    pub(super) fn of_runs(runs: &[Run], moved: &[[f64; 2]]) -> Self {
        let mut classes = [Sums::default(); 2];
        for (run, moved) in runs.iter().zip(moved) {
            classes[0].add(run.positives as f64, 1.0, moved[0]);
            classes[1].add(run.negatives as f64, 1.0, moved[1]);
        }
        Self::new(classes, 0.0)
    }
}

/// How much of the variance is believed to be V's: so many rows on the wrong side.
const PRIOR: f64 = 8.0;

/// The square of 1.8 by the normal quantile: what is left of a quantile where no sample is too far off to the other side.
const ONE_SIDED: f64 = (1.8 / NORMAL) * (1.8 / NORMAL);

/// What V(θ) is of.
#[derive(Clone, Copy)]
enum Of {
    /// The pairs of so many positives and negatives.
    Pairs([f64; 2]),
    /// So many rows, each of which counts or does not.
    Rows(f64),
}

impl Of {
    /// V(θ).
    fn variance(self, theta: f64) -> f64 {
        let one = theta * (1.0 - theta);
        match self {
            Self::Rows(rows) => one / rows,
            Self::Pairs([m, n]) => {
                let pairs = (1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta);
                one / (m * n) * (1.0 + (0.5 * (m + n) - 1.0) * pairs)
            }
        }
    }

    fn fewest(self) -> f64 {
        match self {
            Self::Rows(rows) => rows,
            Self::Pairs([m, n]) => m.or_smaller(n),
        }
    }
}

impl Estimate {
    /// The interval of a value from 0 to 1; `None` where a class has one row, or one cluster.
    pub(super) fn interval(self, value: f64, spread: Spread) -> Option<Interval> {
        let ([positives, negatives], [units, others]) = (spread.sizes, spread.units);
        let least = positives.or_smaller(negatives);
        // (Also where a sum did not fit.)
        if !(units.or_smaller(others) > 1.0 + 1e-9 && spread.variance.is_finite()) {
            return None;
        }
        // Whose variance it is, and that tells how many rows are on the wrong side.
        let pairs = Of::Pairs(spread.sizes);
        let (of, all) = match self {
            Self::Ap => (Of::Pairs([positives, least]), pairs),
            Self::Roc(range) => (Of::Pairs([positives, negatives * (range.high() - range.low())]), pairs),
            Self::PrecisionAt(top) => {
                let rows = Of::Rows((positives + negatives) * (top.of(spread.weight).ok()? / spread.weight));
                (rows, rows)
            }
            Self::RecallAt(_) => (Of::Rows(positives), Of::Rows(positives)),
        };
        let (mut wide, v) = (NORMAL * NORMAL, of.variance(value));
        let mut narrow = wide;
        if v > 0.0 {
            let wrong = 2.0 * value.or_smaller(1.0 - value) * (value * (1.0 - value) / all.variance(value));
            let trust = wrong / (wrong + PRIOR);
            let fewest = of.fewest().or_smaller(units);
            let freedom = 1.2 * fewest * Real::sqrt(value * (1.0 - value)) / (trust * trust);
            let quantile = student_between(freedom.or_smaller(4.0 * fewest));
            wide = quantile * quantile * (1.0 + trust * (spread.variance / v - 1.0));
            // (Where all scores tie, no row tells a deviation.)
            let quantile = student_between(4.0 * fewest);
            let alone = ONE_SIDED * quantile * quantile * (spread.variance / v);
            narrow = if alone > 0.0 { alone.or_smaller(wide) } else { wide };
        }
        // From an end of [0, 1] to what is not too far off: what is, and what is not.
        let search = |value: f64, end: f64, mut near: f64, wide: f64| {
            let mut far = end;
            for _ in 0..60 {
                let middle = 0.5 * (far + near);
                let apart = value - middle;
                *(if apart * apart > wide * of.variance(middle) { &mut far } else { &mut near }) = middle;
            }
            near
        };
        let best = search(1.0, 0.0, 1.0, NORMAL * NORMAL).or_larger(0.5);
        let (low, high) = (search(value, 0.0, value, wide), search(value, 1.0, value, wide));
        let high = if high > best { search(value, 1.0, value.or_larger(best), narrow) } else { high };
        Some(Interval { low, high })
    }
}

/// The interval of an area, of runs in descending order whose rows are independent and weigh 1 each; `None` where a class has one row. `moved`:
/// memory, one for each run. O(runs).
///
/// ```
/// use undercurve::metric::{Estimate, interval, rank::Run};
/// // Scores of the classes + + − + − −, descending; and of a perfect order of 20 and 200 rows.
/// let run = |positives, negatives| Run { positives, negatives };
/// let found = interval(Estimate::AUROC, &[run(2, 0), run(0, 1), run(1, 0), run(0, 2)], &mut [[0.0; 2]; 4])?.unwrap();
/// assert!(found.low < 8.0 / 9.0 && 8.0 / 9.0 < found.high);
/// let perfect = interval(Estimate::AUROC, &[run(20, 0), run(0, 200)], &mut [[0.0; 2]; 2])?.unwrap();
/// assert!((perfect.low - 0.946).abs() < 5e-4 && perfect.high == 1.0);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `OneClass`; `Length` (moved).
pub fn interval(of: Estimate, runs: &[Run], moved: &mut [[f64; 2]]) -> Result<Option<Interval>> {
    let value = influence(of, runs, moved)?;
    Ok(of.interval(value, Spread::of_runs(runs, moved)))
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

/// The same between whole numbers, by a line in 1/freedom.
fn student_between(freedom: f64) -> f64 {
    let freedom = freedom.or_larger(1.0).or_smaller(1000.0);
    let low = libm::floor(freedom);
    let (near, far) = (student(low as u64), student(low as u64 + 1));
    near + (far - near) * ((freedom - low) * (low + 1.0) / freedom)
}

/// P(|t| ≤ x): Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
pub(super) fn inside(x: f64, freedom: u64) -> f64 {
    let (root, radius) = (crate::Real::sqrt(freedom as f64), crate::Real::sqrt(freedom as f64 + x * x));
    let (angle, sin, cos) = (libm::atan(x / root), x / radius, root / radius);
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
