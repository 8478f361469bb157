//! Metrics, and exact values and gradients of pairwise losses, over whole data: on the CPU in the full module, through WebGPU in
//! the one with the kernels. Both answer in the same arrays, which `wasm/js/exact.js` reads.

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

#[cfg(feature = "full")]
pub use cpu::Exact;

#[cfg(feature = "full")]
mod cpu {
    use super::{loss, told};
    use alloc::vec;
    use alloc::vec::Vec;
    use undercurve::metric::{Metrics, PairCounts, rank};
    use undercurve::pairs::{self, Grade};
    use undercurve::{Error, Scratch};
    use wasm_bindgen::prelude::{JsError, wasm_bindgen};

    /// Points of the curves at even steps of either class, as the kernels choose them.
    const POINTS: u64 = 255;

    fn grow<T: Clone + Default>(memory: &mut Vec<T>, need: usize) {
        if memory.len() < need {
            memory.resize(need, T::default());
        }
    }

    /// Labels, and the working memory of sums and metrics.
    #[wasm_bindgen]
    pub struct Exact {
        labels: Vec<u8>,
        metrics: Metrics<f32>,
        f32: Vec<f32>,
        f64: Vec<f64>,
        u32: Vec<u32>,
        u64: Vec<u64>,
        /// The value of the last sum.
        #[wasm_bindgen(readonly)]
        pub value: f64,
    }

    #[wasm_bindgen]
    impl Exact {
        /// For rows with these labels, 0 or 1.
        #[wasm_bindgen(constructor)]
        pub fn new(labels: Vec<u8>) -> Self {
            let (f32, f64, u32, u64) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            Self { labels, metrics: Metrics::new(), f32, f64, u32, u64, value: 0.0 }
        }

        /// Wins, ties, pairs, average precision; then of each of up to 510 points of the curves, by descending threshold, that,
        /// the false- and the true-positive rate, and the precision.
        pub fn metrics(&mut self, scores: &[f32]) -> Result<Vec<f64>, JsError> {
            let ap = self.metrics.average_precision(scores, &self.labels[..])?;
            let need = rank::need(scores.len());
            grow(&mut self.f32, need.real);
            grow(&mut self.u32, need.u32);
            grow(&mut self.u64, need.u64);
            let scratch = Scratch { real: &mut self.f32, f64: &mut [], u32: &mut self.u32, u64: &mut self.u64 };
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
                    points.push([f64::from(group.score), fpr, tpr, hits / all]);
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
            scores: &[f32],
        ) -> Result<Vec<f32>, JsError> {
            let loss = loss(name, param)?;
            let mut grad = vec![0.0f64; scores.len()];
            // (In f64 the sums are those that training has already.)
            let scores: Vec<f64> = scores.iter().map(|&s| f64::from(s)).collect();
            let scores = &scores[..];
            let positives = self.labels.iter().filter(|&&y| y == 1).count();
            let need = pairs::need(scores.len(), positives);
            grow(&mut self.f64, need.f64);
            grow(&mut self.u32, need.u32);
            grow(&mut self.u64, need.u64);
            let scratch = Scratch { real: &mut [], f64: &mut self.f64, u32: &mut self.u32, u64: &mut self.u64 };
            let labels = &self.labels[..];
            let value = match sum {
                "auc" => pairs::auc(scores, labels, loss, Grade::Full, scratch, &mut grad)?,
                "pauc" => pairs::pauc(scores, labels, loss, (low, high), Grade::Full, scratch, &mut grad)?,
                "ap" => pairs::ap(scores, labels, loss, Grade::Full, scratch, &mut grad)?,
                _ => return Err(Error::Param { what: "sum" }.into()),
            };
            self.value = value;
            Ok(grad.into_iter().map(|g| g as f32).collect())
        }
    }
}
