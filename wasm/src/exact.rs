//! Metrics, and exact values and gradients of pairwise losses, over whole data: on the CPU in the module of objectives, through
//! WebGPU in the one with the kernels. Both answer in the same arrays, which `wasm/js/exact.js` reads.

use alloc::vec::Vec;
use undercurve::Error;
use undercurve::Real;
use undercurve::metric::PairCounts;
use undercurve::surrogate::{AnySurrogate, SURROGATES};

/// A loss by name, with its default parameter if none is given.
pub(crate) fn loss<T: Real>(name: &str, param: Option<f64>) -> Result<AnySurrogate<T>, Error> {
    let default = SURROGATES.iter().find(|one| one.0 == name).map_or(f64::NAN, |one| one.2);
    AnySurrogate::by_name(name, T::of(param.unwrap_or(default)))
}

/// Wins, ties, pairs, average precision; then of each point its threshold, false- and true-positive rate, and precision.
pub(crate) fn told(counts: PairCounts, ap: f64, points: impl Iterator<Item = [f64; 4]>) -> Vec<f64> {
    let mut out = Vec::from([counts.wins as f64, counts.ties as f64, counts.pairs as f64, ap]);
    out.extend(points.flatten());
    out
}

#[cfg(feature = "objective")]
pub use cpu::Exact;

#[cfg(feature = "objective")]
mod cpu {
    use super::{loss, told};
    use crate::failure::Failure;
    use crate::objective::Work;
    use alloc::vec;
    use alloc::vec::Vec;
    use undercurve::metric::{Metrics, PairCounts, Truth, rank};
    use undercurve::pairs::{self, Grade, Sum};
    use wasm_bindgen::prelude::wasm_bindgen;

    /// Points of the curves at even steps of either class, as the kernels choose them.
    const POINTS: u64 = 255;

    /// Labels, and the working memory of sums and metrics.
    #[wasm_bindgen]
    pub struct Exact {
        labels: Vec<u8>,
        metrics: Metrics<f64>,
        work: Work,
        /// The value of the last sum.
        #[wasm_bindgen(readonly)]
        pub value: f64,
    }

    #[wasm_bindgen]
    impl Exact {
        /// For rows with these labels, 0 or 1.
        #[wasm_bindgen(constructor)]
        pub fn new(labels: Vec<u8>) -> Self {
            Self { labels, metrics: Metrics::new(), work: Work::default(), value: 0.0 }
        }

        /// Wins, ties, pairs, average precision; then of each of up to 510 points of the curves, by descending threshold, that,
        /// the false- and the true-positive rate, and the precision.
        pub fn metrics(&mut self, scores: &[f64]) -> Result<Vec<f64>, Failure> {
            let ap = self.metrics.average_precision(scores, &self.labels[..])?;
            let scratch = self.work.lend(rank::need(scores.len()));
            let (classes, groups) = rank::groups(scores, &self.labels, scratch)?;
            let next = |done: u64, of: u64| (((done * POINTS / of) + 1) * of).div_ceil(POINTS);
            let (positives, negatives) = (classes.positives, classes.negatives);
            let mut counts = PairCounts { wins: 0, ties: 0, pairs: positives * negatives };
            let (mut found, mut wrong) = (0, 0);
            let mut at = [next(0, positives), next(0, negatives)];
            let mut points = Vec::new();
            for group in groups {
                let run = group.run;
                found += run.positives;
                wrong += run.negatives;
                counts.wins += run.positives * (negatives - wrong);
                counts.ties += run.positives * run.negatives;
                if found >= at[0] || wrong >= at[1] {
                    at = [next(found, positives), next(wrong, negatives)];
                    let (hits, all) = (found as f64, (found + wrong) as f64);
                    let (fpr, tpr) = (wrong as f64 / negatives as f64, hits / positives as f64);
                    points.push([group.score, fpr, tpr, hits / all]);
                }
            }
            Ok(told(counts, ap, points.into_iter()))
        }

        /// The derivative by each score of `sum`: auc, pauc (over false-positive rates from `low` to `high`) or ap. The sum
        /// itself is then `value`.
        pub fn sum(
            &mut self,
            sum: &str,
            name: &str,
            param: Option<f64>,
            low: f64,
            high: f64,
            scores: &[f64],
        ) -> Result<Vec<f64>, Failure> {
            let loss = loss(name, param)?;
            let mut grad = vec![0.0; scores.len()];
            let sum = match sum {
                "auc" => Sum::Auc,
                "pauc" => Sum::Pauc { fpr: (low, high), tpr: 0.0 },
                _ => Sum::Ap,
            };
            let scratch = self.work.lend(pairs::sum_need(scores.len()));
            let truth = Truth::from(&self.labels[..]);
            self.value = pairs::sum(sum, scores, truth, loss, Grade::Full, None, scratch, &mut grad)?;
            Ok(grad)
        }
    }
}
