//! Soft indicators of scores above thresholds, and thresholds at given shares of weighted scores.
//!
//! ```text
//! σ((s − τ_k)/h) for all k with one exponential of s:  1/(1 + e^(−(s − z)/h) e^((τ_k − z)/h)),  z among the τ
//! ```
//!
//! Cost O(1) a score and threshold. What lies farther than 300 widths from z counts as 300.

use crate::real::Real;

/// Thresholds of one estimator at most.
pub(super) const MOST: usize = 24;
/// A threshold's exponent at most; two together are within the range of the exponential.
const FAR: f64 = 300.0;
/// Share of the interquartile range of scores that the width is.
const WIDTH: f64 = 0.15;
const LANES: usize = 4;

fn far(x: f64) -> f64 {
    x.or_larger(-FAR).or_smaller(FAR).exp_in_span()
}

/// Thresholds with their common width.
#[derive(Clone, Copy)]
pub(super) struct Soft {
    count: usize,
    taus: [f64; MOST],
    /// e^((τ − z)/h), where one exponential a score will do.
    factors: Option<[f64; MOST]>,
    centre: f64,
    width: f64,
}

impl Soft {
    pub fn new(taus: &[f64], width: f64) -> Self {
        let mut own = [0.0; MOST];
        own[..taus.len()].copy_from_slice(taus);
        let centre = taus.get(taus.len() / 2).copied().unwrap_or(0.0);
        let near = |tau: &f64| (tau - centre).abs() < 0.5 * FAR * width;
        let factors = taus.iter().all(near).then(|| {
            let mut factors = [0.0; MOST];
            factors.iter_mut().zip(taus).for_each(|(factor, tau)| *factor = far((tau - centre) / width));
            factors
        });
        Self { count: taus.len(), taus: own, factors, centre, width }
    }

    /// The thresholds.
    pub fn taus(&self) -> &[f64] {
        &self.taus[..self.count]
    }

    /// Calls `each` with the number of every threshold, σ and its derivative by the score.
    #[inline(always)]
    pub fn of(&self, score: f64, mut each: impl FnMut(usize, f64, f64)) {
        let steep = 1.0 / self.width;
        let mut one = |k: usize, x: f64| {
            let r = 1.0 / (1.0 + x);
            each(k, r, steep * (x * r * r).settled());
        };
        match &self.factors {
            Some(factors) => {
                let own = far((self.centre - score) * steep);
                factors[..self.count].iter().enumerate().for_each(|(k, factor)| one(k, own * factor));
            }
            None => {
                self.taus[..self.count].iter().enumerate().for_each(|(k, tau)| one(k, far((tau - score) * steep)));
            }
        }
    }
}

/// Weighted scores, whose weights sum to 1.
pub(super) struct Weighted<'a> {
    pub scores: &'a [f64],
    pub weights: &'a [f64],
}

impl Weighted<'_> {
    /// Least and greatest score.
    fn range(&self) -> (f64, f64) {
        let first = self.scores.first().copied().unwrap_or(0.0);
        self.scores.iter().fold((first, first), |(low, high), &s| (low.or_smaller(s), high.or_larger(s)))
    }

    /// The least score with a share `p` of the weight at or below it; of scores closer than a millionth of the range to that
    /// one of them.
    fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = self.range();
        let below = |at: f64| -> f64 {
            self.scores.iter().zip(self.weights).map(|(s, w)| if *s <= at { *w } else { 0.0 }).sum()
        };
        // (Sums of weights are rounded.)
        let enough = |at: f64| below(at) >= p - 1e-12;
        if enough(low) {
            return low;
        }
        for _ in 0..20 {
            let middle = 0.5 * low + 0.5 * high;
            if enough(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.scores.iter().filter(|s| **s > low).fold(self.range().1, |least, &s| least.or_smaller(s))
    }

    /// The width h: .15 times the interquartile range; where that is 0 of the mean deviation, where all scores tie 1.
    pub fn width(&self) -> f64 {
        let range = self.quantile(0.75) - self.quantile(0.25);
        let (low, high) = self.range();
        if range > 1e-5 * (high - low) {
            return WIDTH * range;
        }
        let all = || self.scores.iter().zip(self.weights);
        let mean: f64 = all().map(|(s, w)| s * w).sum();
        let deviation: f64 = all().map(|(s, w)| (s - mean).abs() * w).sum();
        if deviation > 0.0 { WIDTH * deviation } else { 1.0 }
    }

    /// The threshold with Σ w σ((s − τ)/h) = α, by Newton's method from `start` inside a bracket; `work` is as long as the
    /// scores.
    pub fn thresholds(&self, levels: &[f64], width: f64, taus: &mut [f64], work: &mut [f64]) {
        let (least, greatest) = self.range();
        let centre = 0.5 * least + 0.5 * greatest;
        let steep = 1.0 / width;
        let near = greatest - least < FAR * width;
        if near {
            work.iter_mut().zip(self.scores).for_each(|(x, s)| *x = far((centre - s) * steep));
        }
        for (tau, &level) in taus.iter_mut().zip(levels) {
            let (mut low, mut high) = (least + width * Real::ln(1.0 - level), greatest - width * Real::ln(level));
            let mut at = if *tau > low && *tau < high { *tau } else { self.quantile(1.0 - level) };
            for _ in 0..60 {
                let (share, slope) = if near && (at - centre).abs() < FAR * width {
                    self.share(far((at - centre) * steep), work)
                } else {
                    let soft = Soft::new(&[at], width);
                    let (mut share, mut slope) = (0.0, 0.0);
                    for (&s, w) in self.scores.iter().zip(self.weights) {
                        soft.of(s, |_, value, by| {
                            share += w * value;
                            slope += w * by * width;
                        });
                    }
                    (share, slope)
                };
                let excess = share - level;
                if excess > 0.0 {
                    low = at;
                } else {
                    high = at;
                }
                let newton = at + width * excess / slope;
                let next = if newton > low && newton < high { newton } else { 0.5 * low + 0.5 * high };
                let moved = (next - at).abs();
                at = next;
                if moved <= 1e-13 * (at.abs() + width) {
                    break;
                }
            }
            *tau = at;
        }
    }

    /// Σ w σ and Σ w σ' (by the threshold's exponent) from e^((z − s)/h) of every score and e^((τ − z)/h).
    fn share(&self, factor: f64, own: &[f64]) -> (f64, f64) {
        let (mut shares, mut slopes) = ([0.0; LANES], [0.0; LANES]);
        let mut add = |l: usize, own: f64, w: f64| {
            let x = own * factor;
            let r = 1.0 / (1.0 + x);
            shares[l] += w * r;
            slopes[l] += w * (x * r * r);
        };
        let (own, rest) = own[..self.scores.len()].as_chunks::<LANES>();
        let (weights, weights_rest) = self.weights.as_chunks::<LANES>();
        for (own, weights) in own.iter().zip(weights) {
            for l in 0..LANES {
                add(l, own[l], weights[l]);
            }
        }
        rest.iter().zip(weights_rest).for_each(|(&own, &w)| add(0, own, w));
        let sum = |x: [f64; LANES]| (x[0] + x[1]) + (x[2] + x[3]);
        (sum(shares), sum(slopes))
    }
}
