//! Metrics, and exact values and gradients of pairwise losses, over whole data: on the CPU in the modules of exact sums, through
//! WebGPU in the one with the kernels. Both answer in the same arrays, which `wasm/js/exact.js` reads.

#[cfg(feature = "webgpu")]
use alloc::vec::Vec;
use undercurve::Error;
use undercurve::Real;
use undercurve::surrogate::{AnySurrogate, SURROGATES};

/// A loss by name, with its default parameter if none is given.
pub(crate) fn loss<T: Real>(name: &str, param: Option<f64>) -> Result<AnySurrogate<T>, Error> {
    let default = SURROGATES.iter().find(|one| one.0 == name).map_or(f64::NAN, |one| one.2);
    AnySurrogate::by_name(name, T::of(param.unwrap_or(default)))
}

#[cfg(feature = "webgpu")]
/// Wins, ties, pairs, average precision; then of each point its threshold, false- and true-positive rate, and precision.
pub(crate) fn told([wins, ties, pairs]: [f64; 3], ap: f64, points: impl Iterator<Item = [f64; 4]>) -> Vec<f64> {
    let mut out = Vec::from([wins, ties, pairs, ap]);
    out.extend(points.flatten());
    out
}

#[cfg(feature = "pairs")]
pub use cpu::Exact;

#[cfg(feature = "pairs")]
mod cpu {
    use super::loss;
    use crate::failure::Failure;
    use crate::work::Work;
    use alloc::vec;
    use alloc::vec::Vec;
    use undercurve::metric::{ApTally, Labels, Truth, need};
    use undercurve::pairs::{self, Grade, Sum};
    use wasm_bindgen::prelude::wasm_bindgen;

    /// Points of the curves at even steps of either class, as the kernels choose them.
    const POINTS: f64 = 255.0;

    /// Labels, weights if rows have some, and the working memory of sums and metrics.
    #[wasm_bindgen]
    pub struct Exact {
        labels: Vec<u8>,
        weights: Vec<f64>,
        work: Work,
        /// The value of the last sum.
        #[wasm_bindgen(readonly)]
        pub value: f64,
    }

    #[wasm_bindgen]
    impl Exact {
        /// For rows with these labels, 0 or 1, and weights, 0 or more, or none of these.
        #[wasm_bindgen(constructor)]
        pub fn new(labels: Vec<u8>, weights: Vec<f64>) -> Result<Self, Failure> {
            Truth::new(&labels, &weights)?;
            Ok(Self { labels, weights, work: Work::default(), value: 0.0 })
        }

        /// Wins, ties, pairs, average precision; then of each of up to 510 points of the curves, by descending threshold, that,
        /// the false- and the true-positive rate, and the precision.
        pub fn metrics(&mut self, scores: &[f64]) -> Result<Vec<f64>, Failure> {
            let truth = Truth::new(&self.labels, &self.weights)?;
            let mut ap = ApTally::default();
            // (Counts as numbers are as exact, of as many rows as there may be.)
            let next = |done: f64, of: f64| libm::ceil((libm::floor(done * POINTS / of) + 1.0) * of / POINTS);
            let (mut found, mut wrong, mut wins, mut ties) = (0.0, 0.0, 0.0, 0.0);
            let mut at = None;
            let mut out = vec![0.0; 4];
            let classes = truth.groups(scores, self.work.lend(need(scores.len())), |classes, group| {
                let (positives, negatives, run) = (classes.positives, classes.negatives, group.run);
                let [of_found, of_wrong] = *at.get_or_insert([next(0.0, positives), next(0.0, negatives)]);
                ap.push(run);
                found += run.positives;
                wrong += run.negatives;
                wins += run.positives * (negatives - wrong);
                ties += run.positives * run.negatives;
                if found >= of_found || wrong >= of_wrong {
                    at = Some([next(found, positives), next(wrong, negatives)]);
                    out.extend_from_slice(&[
                        group.score,
                        wrong / negatives,
                        found / positives,
                        found / (found + wrong),
                    ]);
                }
            })?;
            out[..4].copy_from_slice(&[wins, ties, classes.positives * classes.negatives, ap.finish(classes)]);
            Ok(out)
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
            let truth = Truth::new(&self.labels, &self.weights)?;
            self.value = pairs::sum(sum, scores, truth, loss, Grade::Full, scratch, &mut grad)?;
            Ok(grad)
        }
    }
}
