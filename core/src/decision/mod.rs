//! From scores to decisions: thresholds by rules, and probabilities by calibration.
//!
//! A [`ThresholdRule`] names what a threshold has to satisfy (a false-positive rate, a precision, a recall, a number of alerts) or to be
//! the best in (Youden's index, F1, Matthews' correlation, cost), and finds it on labelled rows. [`fit_platt`], [`fit_beta`] and [`pool_adjacent_violators`] turn scores into
//! probabilities. Fit them on rows that the model was not trained on.

mod backtrack;
mod beta;
#[cfg(feature = "alloc")]
mod calibration;
#[cfg(feature = "alloc")]
mod clusters;
mod cut;
mod isotonic;
mod platt;
mod promise;
#[cfg(feature = "alloc")]
mod recheck;
mod rule;
mod tails;

pub use beta::{Beta, fit_beta};
pub use isotonic::{Pool, pool_adjacent_violators, pooled_probability};
pub use platt::{Platt, fit_platt};
pub use promise::{Kept, Promise, rate_interval};
pub use rule::{Decision, ThresholdRule};
#[cfg(feature = "alloc")]
pub use {
    calibration::{Calibrate, Calibration, MOST_POOLS},
    clusters::rate_intervals_in,
    recheck::Recheck,
};
