//! Thresholds by rules, of scores from elsewhere, and what labels of two words say. The answer is an array, which `wasm/js/judge.js` reads.

use undercurve::data::first_is_positive;
use undercurve::metric::Interval;
use wasm_bindgen::prelude::wasm_bindgen;

/// Both ends; NaN where there are none.
pub fn ends(interval: Option<Interval>) -> [f64; 2] {
    interval.map_or([f64::NAN; 2], |ends| [ends.low, ends.high])
}

/// Whether of two words the first is the positive label, of so many rows each.
#[wasm_bindgen(js_name = firstIsPositive)]
pub fn first_positive(first: &str, second: &str, rows: f64, others: f64) -> bool {
    first_is_positive([first, second], [rows, others])
}

#[cfg(feature = "decide")]
mod rule {
    use super::ends;
    use crate::failure::Failure;
    use alloc::string::ToString as _;
    use alloc::vec::Vec;
    use undercurve::Error;
    use undercurve::decision::{ThresholdRule, rate_intervals_in};
    use undercurve::metric::{Metrics, Truth};
    use wasm_bindgen::prelude::wasm_bindgen;

    fn refused(error: Error) -> Failure {
        match error {
            Error::Unpromised { .. } | Error::Unreachable { .. } => {
                Failure::new(error.code(), "rule", &["rule: ", &error.to_string()].concat())
            }
            error => error.into(),
        }
    }

    /// A threshold by a rule, of scores with labels, 0 or 1, weights and clusters, or none of these; true and false positives, true and false
    /// negatives; the intervals of false-positive rate, recall and precision.
    #[wasm_bindgen]
    pub fn decide(
        labels: &[u8],
        weights: &[f64],
        clusters: &[u32],
        scores: &[f64],
        rule: &str,
    ) -> Result<Vec<f64>, Failure> {
        let known = rule.parse::<ThresholdRule>();
        let known =
            known.map_err(|_| Failure::new(201, "rule", &["rule: expected ", ThresholdRule::FORMS].concat()))?;
        let (truth, of) =
            (Truth::new(labels, weights)?.clustered(clusters)?, Some(clusters).filter(|of| !of.is_empty()));
        let found = Metrics::new().decide_in(scores, truth, of, known).map_err(refused)?;
        let c = found.counts;
        let mut out =
            Vec::from([found.threshold, c.true_positives, c.false_positives, c.true_negatives, c.false_negatives]);
        out.extend(rate_intervals_in(found.threshold, scores, truth, of)?.into_iter().flat_map(|it| ends(Some(it))));
        Ok(out)
    }
}
#[cfg(feature = "decide")]
pub use rule::decide;
