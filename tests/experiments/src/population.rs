//! Populations of scores whose metrics are known, and draws from them: for how often intervals hold, and tests mislead.
//!
//! Scores are noise, those of positives higher by d, which is such that AUROC is what is asked for. With S and S₊ the share of noise of negatives
//! and positives above a threshold t, π the share of positives, the truths are sums over a fine grid of t:
//!
//! ```text
//! TPR(t) = S₊(t − d)    FPR(t) = S(t)    P(t) = π TPR/(π TPR + (1 − π) FPR)    AP = ∫ P dTPR    pAUC = 1/(β − α) ∫_{α ≤ FPR ≤ β} TPR dFPR
//! ```

use undercurve::metric::Truth;
use undercurve::rng::Rng;

/// False-positive rates of the partial AUC.
pub const RANGE: (f64, f64) = (0.0, 0.1);
/// Of the rows in per cent, for precision and recall at the top.
pub const TOP: f64 = 5.0;

/// Of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    Normal,
    /// Normal, rounded to halves with the score.
    Ties,
    /// Student's, two degrees of freedom.
    Student,
    /// Normal; of positives with this deviation.
    Uneven(f64),
}

/// The share of standard normal noise above a threshold, from a table.
pub struct Normal(Vec<f64>);

impl Normal {
    const STEP: f64 = 1e-3;
    const END: f64 = 12.0;

    pub fn new() -> Self {
        let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
        // By Simpson's rule, from the highest down.
        let count = (2.0 * Self::END / Self::STEP) as usize;
        let at = |k: usize| Self::END - k as f64 * Self::STEP;
        let mut all = vec![0.0];
        for k in 0..count {
            let part = density(at(k)) + 4.0 * density(at(k) - 0.5 * Self::STEP) + density(at(k + 1));
            all.push(all[k] + part * Self::STEP / 6.0);
        }
        Self(all)
    }

    pub fn above(&self, t: f64) -> f64 {
        let place = ((Self::END - t) / Self::STEP).clamp(0.0, (self.0.len() - 1) as f64);
        let (at, part) = (place as usize, place.fract());
        let next = self.0.get(at + 1).copied().unwrap_or(self.0[at]);
        self.0[at] + part * (next - self.0[at])
    }

    /// The number with this share below.
    pub fn quantile(&self, share: f64) -> f64 {
        let (mut low, mut high) = (-Self::END, Self::END);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            *(if 1.0 - self.above(middle) < share { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    }
}

impl Noise {
    /// A score, of standard normal noise.
    fn score(self, normal: &Normal, noise: f64, apart: f64, positive: bool) -> f64 {
        let apart = if positive { apart } else { 0.0 };
        match self {
            Self::Normal => noise + apart,
            Self::Ties => ((noise + apart) * 2.0).round() / 2.0,
            Self::Uneven(deviation) => noise * (if positive { deviation } else { 1.0 }) + apart,
            Self::Student => {
                let u = normal.above(noise).clamp(1e-12, 1.0 - 1e-12);
                (1.0 - 2.0 * u) / (2.0 * u * (1.0 - u)).sqrt() + apart
            }
        }
    }

    /// False- and true-positive rates along descending thresholds, from (0, 0) to (1, 1).
    fn curve(self, normal: &Normal, apart: f64) -> Vec<(f64, f64)> {
        const STEPS: usize = 40_000;
        let deviation = if let Self::Uneven(deviation) = self { deviation } else { 1.0 };
        let mut at: Vec<f64> = match self {
            Self::Normal | Self::Uneven(_) => {
                let end = 9.0 * deviation.max(1.0);
                (0..=STEPS).map(|k| -end + (2.0 * end + apart) * k as f64 / STEPS as f64).collect()
            }
            // Between the halves.
            Self::Ties => (-40..=40 + (2.0 * apart) as i32).map(|k| (f64::from(k) - 0.5) / 2.0).collect(),
            Self::Student => {
                let quantile = |k: usize| {
                    let u = (k as f64 + 0.5) / STEPS as f64;
                    (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt()
                };
                (0..STEPS).flat_map(|k| [quantile(k), quantile(k) + apart]).collect()
            }
        };
        at.sort_by(|a, b| b.total_cmp(a));
        let above = |t: f64| match self {
            Self::Student => 0.5 - 0.5 * t / (2.0 + t * t).sqrt(),
            _ => normal.above(t),
        };
        let inner = at.into_iter().map(|t| (above(t), above((t - apart) / deviation)));
        std::iter::once((0.0, 0.0)).chain(inner).chain([(1.0, 1.0)]).collect()
    }
}

/// What scores are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    pub noise: Noise,
    /// How much higher positives are.
    apart: f64,
    /// Share of positives.
    pub share: f64,
}

impl Population {
    /// With this AUROC.
    pub fn new(normal: &Normal, noise: Noise, auroc: f64, share: f64) -> Self {
        let (mut low, mut high) = (0.0, 60.0);
        for _ in 0..45 {
            let apart = 0.5 * (low + high);
            let [here, ..] = Self { noise, apart, share: 0.5 }.truth(normal);
            *(if here < auroc { &mut low } else { &mut high }) = apart;
        }
        Self { noise, apart: 0.5 * (low + high), share }
    }

    /// AUROC, AP, partial AUC, and precision and recall of the highest scores, of all rows that there could be.
    pub fn truth(self, normal: &Normal) -> [f64; 5] {
        let (mut auroc, mut ap, mut pauc, mut top) = (0.0, 0.0, 0.0, None);
        let ((low, high), share) = (RANGE, self.share);
        let rows = |(x, y): (f64, f64)| share * y + (1.0 - share) * x;
        for pair in self.noise.curve(normal, self.apart).windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            auroc += 0.5 * (y0 + y1) * (x1 - x0);
            // What is tied has the precision of all of it.
            let at = if self.noise == Noise::Ties { (x1, y1) } else { (0.5 * (x0 + x1), 0.5 * (y0 + y1)) };
            ap += if y1 > y0 { share * at.1 / rows(at) * (y1 - y0) } else { 0.0 };
            let (from, to) = (x0.max(low), x1.min(high));
            if to > from {
                let on = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
                pauc += 0.5 * (on(from) + on(to)) * (to - from);
            }
            let (before, after) = (rows(pair[0]), rows(pair[1]));
            if top.is_none() && after >= TOP / 100.0 {
                let part = (TOP / 100.0 - before) / (after - before);
                let y = y0 + part * (y1 - y0);
                top = Some((share * y / (TOP / 100.0), y));
            }
        }
        let (precision, recall) = top.unwrap_or((share, 1.0));
        [auroc, ap, pauc / (high - low), precision, recall]
    }
}

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Four rows of each cluster, which share half of the variance of the noise; one cluster in ten has as many positives as negatives.
    pub clusters: bool,
    /// Weights of 1, 1, 2 and 5, whatever the row.
    pub weights: bool,
}

/// Designs with what they are called.
pub const DESIGNS: [(&str, Design); 4] = [
    ("rows", Design { clusters: false, weights: false }),
    ("weights", Design { clusters: false, weights: true }),
    ("clusters", Design { clusters: true, weights: false }),
    ("both", Design { clusters: true, weights: true }),
];

/// Rows, with one or more scores of each.
pub struct Drawn {
    pub labels: Vec<u8>,
    pub weights: Vec<f64>,
    pub clusters: Vec<u32>,
    pub scores: Vec<Vec<f64>>,
}

impl Drawn {
    /// So many rows and scores of each, of which any two share six tenths of the variance of their noise; at least two rows (or clusters
    /// with rows) of either class.
    pub fn new(of: Population, design: Design, normal: &Normal, [rows, scores]: [usize; 2], random: &mut Rng) -> Self {
        let size = if design.clusters { 4 } else { 1 };
        let count = rows.div_ceil(size);
        let rows = count * size;
        let labels = loop {
            let mut labels = Vec::with_capacity(rows);
            for _ in 0..count {
                let share = match (design.clusters, random.uniform() < 0.1) {
                    (false, _) => of.share,
                    (true, true) => 0.5,
                    (true, false) => (of.share - 0.05) / 0.9,
                };
                labels.extend((0..size).map(|_| u8::from(random.uniform() < share)));
            }
            let with = |class: u8| labels.chunks(size).filter(|cluster| cluster.contains(&class)).count();
            if with(0).min(with(1)) >= 2 {
                break labels;
            }
        };
        let weight = |random: &mut Rng| [1.0, 1.0, 2.0, 5.0][random.below(4) as usize];
        let weights = (0..if design.weights { rows } else { 0 }).map(|_| weight(random)).collect();
        let mut noise = || -> Vec<f64> {
            if !design.clusters {
                return (0..rows).map(|_| random.normal()).collect();
            }
            let of_clusters: Vec<f64> = (0..count).map(|_| random.normal()).collect();
            (0..rows).map(|row| 0.5_f64.sqrt() * (of_clusters[row / size] + random.normal())).collect()
        };
        let shared = if scores > 1 { noise() } else { Vec::new() };
        let scores = (0..scores).map(|_| {
            let mut own = noise();
            own.iter_mut()
                .zip(&shared)
                .for_each(|(own, shared)| *own = 0.4_f64.sqrt() * *own + 0.6_f64.sqrt() * shared);
            own.iter().zip(&labels).map(|(&noise, &y)| of.noise.score(normal, noise, of.apart, y == 1)).collect()
        });
        let scores = scores.collect();
        let clusters = (0..if design.clusters { rows } else { 0 }).map(|row| (row / size) as u32).collect();
        Self { labels, weights, clusters, scores }
    }

    /// What is known of the rows.
    pub fn truth(&self) -> undercurve::Result<Truth<'_>> {
        Truth::new(&self.labels, &self.weights)?.clustered(&self.clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::{Noise, Normal, Population};

    #[test]
    fn truths_are_those_of_the_models() {
        let normal = Normal::new();
        // Φ(1/√2) and Φ(1.5/√2), by tables; at chance AP is the share, pAUC the middle of its range.
        for (apart, expected) in [(1.0, 0.760_250), (1.5, 0.855_578), (0.0, 0.5)] {
            let [auroc, ..] = Population { noise: Noise::Normal, apart, share: 0.3 }.truth(&normal);
            assert!((auroc - expected).abs() < 2e-6, "{auroc} {expected}");
        }
        for noise in [Noise::Normal, Noise::Student, Noise::Ties] {
            let [auroc, ap, pauc, precision, recall] = Population { noise, apart: 0.0, share: 0.3 }.truth(&normal);
            assert!((auroc - 0.5).abs() < 1e-6 && (ap - 0.3).abs() < 1e-6 && (pauc - 0.05).abs() < 1e-6);
            assert!((precision - 0.3).abs() < 1e-4 && (recall - 0.05).abs() < 1e-4, "{precision} {recall}");
        }
        for noise in [Noise::Normal, Noise::Student, Noise::Ties, Noise::Uneven(2.0)] {
            for auroc in [0.6, 0.9, 0.9999] {
                let found = Population::new(&normal, noise, auroc, 0.1).truth(&normal)[0];
                assert!((found - auroc).abs() < 1e-6, "{noise:?} {auroc} {found}");
            }
        }
        // Rounding loses little of the order.
        let apart = [Noise::Normal, Noise::Ties].map(|noise| Population::new(&normal, noise, 0.9, 0.1).apart);
        assert!(apart[0] < apart[1] && apart[1] < apart[0] + 0.05, "{apart:?}");
    }
}
