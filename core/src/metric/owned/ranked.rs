//! Rows with weights or in clusters, and differences of two scores of the same rows.
//!
//! Two scores a and b of the same rows: with influences f of each, the difference of their metrics has the variance of the sums of f_a − f_b. For
//! AUROC that is the test of DeLong, DeLong and Clarke-Pearson 1988 for two correlated curves; with clusters that of Obuchowski 1997.
//! The p-value is of that difference as a multiple of its deviation: normal, as they have it; of rows with weights or in clusters
//! by Student's distribution of m − 1 degrees of freedom, m the size of the smaller class (as equal and independent ones). The interval
//! ends towards 0 as far from the difference as that test says, so that it leaves 0 out exactly where p < .05. Its other end, and both where the
//! difference is 0 or no deviation is seen, put together the intervals of both metrics (Zou 2007, "Toward Using Confidence Intervals to Compare
//! Correlations"), which have a width where both orders are perfect:
//!
//! ```text
//! d − √((A − l_A)² − 2ρ (A − l_A)(u_B − B) + (u_B − B)²)      d + √((u_A − A)² − 2ρ (u_A − A)(B − l_B) + (B − l_B)²)
//! ```
//!
//! with ρ the correlation of both, from the influences.

use crate::error::{Result, exact_len};
use crate::metric::influence::{Estimate, influence};
use crate::metric::interval::{Interval, Spread, Sums, inside};
use crate::metric::labels::{Labels as _, Truth};
use crate::metric::order;
use crate::metric::radix::counts_len;
use crate::metric::rank::{self, Run};
use crate::real::Real;
use crate::sort::ascending_by;
use alloc::vec;
use alloc::vec::Vec;

/// Rows of one score and one weight.
pub(in crate::metric) struct Alike {
    /// The run of their score.
    pub(in crate::metric) run: usize,
    pub(in crate::metric) weight: f64,
    pub(in crate::metric) positives: u64,
    pub(in crate::metric) negatives: u64,
}

/// Rows in descending order, by ascending weight where scores are equal.
#[derive(Default)]
pub(in crate::metric) struct Ranked {
    runs: Vec<Run<f64>>,
    alike: Vec<Alike>,
    /// The run of each row; empty where rows are only counted.
    of: Vec<u32>,
}

impl Ranked {
    /// # Errors
    /// As [`auroc`](crate::metric::auroc()).
    pub(in crate::metric) fn new<T: Real>(scores: &[T], truth: Truth<'_>) -> Result<Self> {
        rank::check(scores, truth.labels())?;
        let n = scores.len();
        let ones = if truth.are_weighed() { Vec::new() } else { vec![1.0; n] };
        let weights = if truth.are_weighed() { truth.weights() } else { &ones };
        let (mut order, mut spare, mut counts) = (vec![0; n], vec![0; n], vec![0; counts_len(n)]);
        let count = order::falling(scores, weights, &mut order, &mut spare, &mut counts);
        order.truncate(count);
        let (mut keys, weighed) = (order.clone(), &mut spare[..count]);
        order::fetch(scores, truth.labels(), weights, &mut keys, weighed);
        let (mut all, mut rows) = (Self { of: vec![0; n], ..Self::default() }, &order[..]);
        for (_, group) in order::groups(&keys, weighed) {
            all.begin();
            order::alike(group).for_each(|(weight, positives, negatives)| all.add(weight, positives, negatives));
            let (own, rest) = rows.split_at(group.len());
            own.iter().for_each(|&row| all.of[row as usize] = all.runs.len() as u32 - 1);
            rows = rest;
        }
        Ok(all)
    }

    /// Begins the rows of a lower score.
    pub(in crate::metric) fn begin(&mut self) {
        self.runs.push(Run::default());
    }

    /// Adds rows of that score with a greater weight.
    pub(in crate::metric) fn add(&mut self, weight: f64, positives: u64, negatives: u64) {
        if let Some(run) = self.runs.last_mut() {
            run.positives += positives as f64 * weight;
            run.negatives += negatives as f64 * weight;
            self.alike.push(Alike { run: self.runs.len() - 1, weight, positives, negatives });
        }
    }

    /// The interval of a metric; with clusters, if there are some, of rows that were ranked.
    pub(in crate::metric) fn interval(&self, of: Estimate, truth: Truth<'_>) -> Result<Option<Interval>> {
        if !truth.clusters().is_empty() {
            let (value, moved) = self.moved(of, truth)?;
            return Ok(of.interval(value, self.spread(&moved, truth)));
        }
        let mut each = vec![[0.0; 2]; self.runs.len()];
        let value = influence(of, &self.runs, &mut each)?;
        let mut classes = [Sums::default(); 2];
        for rows in &self.alike {
            let [up, down] = each[rows.run];
            classes[0].add(rows.positives as f64, rows.weight, rows.weight * up);
            classes[1].add(rows.negatives as f64, rows.weight, rows.weight * down);
        }
        Ok(of.interval(value, Spread::new(classes, 0.0)))
    }

    /// How this metric varies, which rows move by so much.
    fn spread(&self, moved: &[f64], truth: Truth<'_>) -> Spread {
        let spread = spread(moved, truth);
        let sizes = if truth.clusters().is_empty() { spread.sizes } else { self.worth(truth, spread.units) };
        Spread { sizes, ..spread }
    }

    /// What the rows of each class are worth as independent ones, where they lie in clusters: of the mean of their ranks within the class the
    /// variance that independent rows would have, over that which clusters have. Two clusters (`units`) tell nothing, and are worth two.
    fn worth(&self, truth: Truth<'_>, units: [f64; 2]) -> [f64; 2] {
        let (of, count) = numbered(truth.clusters());
        core::array::from_fn(|class| {
            let weight = |run: &Run<f64>| if class == 0 { run.positives } else { run.negatives };
            let all = self.runs.iter().map(weight).sum::<f64>();
            // Ranks less their mean, ½.
            let mut below = 0.0;
            let rank = |run: &Run<f64>| {
                below += weight(run);
                (below - 0.5 * weight(run)) / all - 0.5
            };
            let ranks: Vec<f64> = self.runs.iter().map(rank).collect();
            let (mut square, mut weights, mut sums) = (0.0, 0.0, vec![0.0; count]);
            for (row, &run) in self.of.iter().enumerate() {
                if usize::from(truth.labels()[row] == 0) == class && truth.weight(row) > 0.0 {
                    let (weight, rank) = (truth.weight(row), ranks[run as usize]);
                    square += weight * rank * rank;
                    weights += weight * weight;
                    sums[of[row] as usize] += weight * rank;
                }
            }
            let (least, most) = (units[class], all * all / weights);
            let between = sums.iter().map(|sum| sum * sum).sum::<f64>() * (least / (least - 1.0).or_larger(0.5));
            let worth = if between > 0.0 { (square * all / between).or_larger(least).or_smaller(most) } else { most };
            let doubt = (2.0 / least).or_smaller(1.0);
            1.0 / ((1.0 - doubt) / worth + doubt / least)
        })
    }

    /// A metric, and by how much each row moves it: its influence times its weight.
    fn moved(&self, of: Estimate, truth: Truth<'_>) -> Result<(f64, Vec<f64>)> {
        let mut each = vec![[0.0; 2]; self.runs.len()];
        let value = influence(of, &self.runs, &mut each)?;
        let of = |(row, &run): (usize, &u32)| match truth.weight(row) {
            weight if weight > 0.0 => weight * each[run as usize][usize::from(truth.labels()[row] == 0)],
            _ => 0.0,
        };
        Ok((value, self.of.iter().enumerate().map(of).collect()))
    }
}

/// How a figure varies that rows move by so much.
fn spread(moved: &[f64], truth: Truth<'_>) -> Spread {
    let (labels, clusters) = (truth.labels(), truth.clusters());
    let mut classes = [Sums::default(); 2];
    // (Positives first.)
    let rows =
        || moved.iter().enumerate().map(|(row, moved)| (row, usize::from(labels[row] == 0), truth.weight(row), moved));
    if clusters.is_empty() {
        rows().for_each(|(_, class, weight, moved)| classes[class].add(1.0, weight, *moved));
        return Spread::new(classes, 0.0);
    }
    // Of each cluster and class what its rows weigh, and move together.
    let (of, count) = numbered(clusters);
    let mut each = vec![[[0.0; 2]; 2]; count];
    for (row, class, weight, moved) in rows() {
        let [weights, sum] = &mut each[of[row] as usize][class];
        (*weights, *sum) = (*weights + weight, *sum + moved);
    }
    let (mut together, mut there) = (0.0, 0.0);
    for [positives, negatives] in &each {
        classes[0].add(1.0, positives[0], positives[1]);
        classes[1].add(1.0, negatives[0], negatives[1]);
        together += positives[1] * negatives[1];
        there += if positives[0] + negatives[0] > 0.0 { 1.0 } else { 0.0 };
    }
    Spread::new(classes, 2.0 * together * (there / (there - 1.0)))
}

/// Clusters by numbers from 0 in the order of their first rows, so that what they are called enters no sum, and how many there are.
pub(crate) fn numbered(clusters: &[u32]) -> (Vec<u32>, usize) {
    let mut names = clusters.to_vec();
    ascending_by(&mut names, |a, b| a.cmp(&b));
    names.dedup();
    let (mut numbers, mut next) = (vec![u32::MAX; names.len()], 0);
    let of = clusters.iter().map(|name| {
        let number = &mut numbers[names.binary_search(name).unwrap_or(0)];
        if *number == u32::MAX {
            (*number, next) = (next, next + 1);
        }
        *number
    });
    (of.collect(), names.len())
}

/// A metric of two scores of the same rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The metric of each.
    pub values: [f64; 2],
    /// The 95 % interval of each; `None` where a class has one row, or one cluster.
    pub intervals: [Option<Interval>; 2],
    /// The first less the second.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The difference over its deviation; `None` where the rows tell no deviation of a difference that there is.
    pub z: Option<f64>,
    /// How often scores that are equally good differ by so much or more, likewise.
    pub p: Option<f64>,
}

/// Two scores of the same rows, sorted once for any number of metrics.
pub struct Pair<'a> {
    ranked: [Ranked; 2],
    truth: Truth<'a>,
}

impl<'a> Pair<'a> {
    /// O(n log n).
    ///
    /// # Errors
    /// As [`auroc`](crate::metric::auroc()); `Length` for the second scores.
    pub fn new<T: Real>(scores: [&[T]; 2], truth: Truth<'a>) -> Result<Self> {
        exact_len("scores of the second", scores[0].len(), scores[1].len())?;
        Ok(Self { ranked: [Ranked::new(scores[0], truth)?, Ranked::new(scores[1], truth)?], truth })
    }

    /// A metric of both, with the interval of its difference and a p-value. O(n).
    ///
    /// # Errors
    /// Of ranges and sizes that the rows do not have, as the metric itself.
    pub fn compare(&self, of: Estimate) -> Result<Comparison> {
        let [(a, mut moved), (b, other)] =
            [self.ranked[0].moved(of, self.truth)?, self.ranked[1].moved(of, self.truth)?];
        let each = [self.ranked[0].spread(&moved, self.truth), self.ranked[1].spread(&other, self.truth)];
        moved.iter_mut().zip(&other).for_each(|(moved, other)| *moved -= other);
        let apart = spread(&moved, self.truth);
        let intervals = [of.interval(a, each[0]), of.interval(b, each[1])];
        let difference = a - b;
        let [first, second] = each.map(|spread| spread.variance);
        let correlation = (first + second - apart.variance) / (2.0 * Real::sqrt(first) * Real::sqrt(second));
        let correlation = if correlation.is_finite() { correlation.or_larger(-1.0).or_smaller(1.0) } else { 0.0 };
        let alike = self.truth.weights().is_empty() && self.truth.clusters().is_empty();
        let freedom = if alike { f64::INFINITY } else { apart.units[0].or_smaller(apart.units[1]) - 1.0 };
        let deviation = Real::sqrt(apart.variance);
        let mut interval = intervals[0].zip(intervals[1]).map(|(first, second)| {
            let reach = |x: f64, y: f64| Real::sqrt((x * x - 2.0 * correlation * x * y + y * y).or_larger(0.0));
            Interval {
                low: difference - reach(a - first.low, second.high - b),
                high: difference + reach(first.high - a, b - second.low),
            }
        });
        let known = interval.is_some() && (deviation > 0.0 || difference == 0.0);
        let z = known.then(|| if difference == 0.0 { 0.0 } else { difference / deviation });
        if let Some(ends) = interval.as_mut().filter(|_| deviation > 0.0 && difference != 0.0) {
            let reach = quantile(freedom) * deviation;
            let Interval { low, high } = ends;
            (*low, *high) = if difference > 0.0 { (difference - reach, *high) } else { (*low, difference + reach) };
        }
        Ok(Comparison { values: [a, b], intervals, difference, interval, z, p: z.map(|z| beyond(z.abs(), freedom)) })
    }
}

/// Where [`beyond`] is .05.
fn quantile(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if beyond(middle, freedom) < 0.05 { &mut high } else { &mut low }) = middle;
    }
    high
}

/// P(|t| ≥ x) of Student's distribution, between whole degrees of freedom by a line in 1/freedom; of infinitely many degrees of freedom that of the normal distribution.
fn beyond(x: f64, freedom: f64) -> f64 {
    let normal = libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2);
    if freedom >= 1000.0 {
        return normal;
    }
    let freedom = freedom.or_larger(1.0);
    let low = libm::floor(freedom);
    let (near, far) = (1.0 - inside(x, low as u64), 1.0 - inside(x, low as u64 + 1));
    // (Which has the lighter tail: of small ones the subtraction leaves nothing.)
    (near + (far - near) * ((freedom - low) * (low + 1.0) / freedom)).or_larger(normal)
}
