//! What a report on several classes needs.

use super::multiclass::{self, Ties};
use super::{FprRange, Metrics, Truth};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::scratch::Scratch;
use alloc::vec;
use alloc::vec::Vec;

/// A class against all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneVsRest {
    /// Rows of the class.
    pub rows: u64,
    /// AUROC of its score.
    pub auroc: f64,
    /// Average precision of its score.
    pub ap: f64,
}

/// The metrics of one report on several classes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClassSummary {
    /// Hand and Till's mean over ordered pairs of classes; see [`multiclass`].
    pub hand_till: f64,
    /// Mean over classes of class against rest.
    pub auroc: f64,
    /// Mean over classes of the average precision of class against rest.
    pub ap: f64,
    /// Share of rows whose own class has the highest score (of equal ones the first counts).
    pub accuracy: f64,
    /// Each class.
    pub classes: Vec<OneVsRest>,
}

/// Hand–Till AUC, accuracy, and AUROC and average precision of each class against all others. `scores`: rows × `classes`,
/// row-major; `labels`: a class number below `classes` for each row; `weights`: what each row counts, or empty. O(c n log n).
///
/// ```
/// use undercurve::metric::class_summary;
///
/// let scores = [0.8_f32, 0.1, 0.1, 0.2, 0.7, 0.1, 0.5, 0.3, 0.2]; // a row of each of three classes
/// let summary = class_summary(&scores, 3, &[0, 1, 2], &[])?;
/// assert_eq!((summary.auroc, summary.ap), (1.0, 1.0)); // of each class's scores its own row has the highest
/// assert_eq!(summary.accuracy, 2.0 / 3.0); // though the last row's highest score is not its own class's
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`multiclass::auc`] and [`multiclass::weighted_auc`].
pub fn class_summary<T: Real>(scores: &[T], classes: usize, labels: &[u32], weights: &[f64]) -> Result<ClassSummary> {
    let need = multiclass::need(labels.len(), classes).either(multiclass::weighted_need(labels.len(), classes));
    let (mut sums, mut order, mut counts) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { real: &mut [], f64: &mut sums, u32: &mut order, u64: &mut counts };
    let both = match weights {
        [] => multiclass::auc(scores, classes, labels, Ties::Half, scratch),
        _ => multiclass::weighted_auc(scores, classes, labels, weights, Ties::Half, scratch),
    };
    let hand_till = both?.hand_till;
    let mut memory = Metrics::new();
    let range = FprRange::new(0.0, 1.0)?;
    let (mut of_class, mut own) = (vec![T::ZERO; labels.len()], vec![0u8; labels.len()]);
    let mut each = Vec::with_capacity(classes);
    for class in 0..classes {
        for (row, (score, own)) in of_class.iter_mut().zip(&mut own).enumerate() {
            *score = scores[row * classes + class];
            *own = u8::from(labels[row] as usize == class);
        }
        let summary = memory.summary(&of_class, &Truth::new(&own, weights)?, range)?;
        each.push(OneVsRest { rows: summary.positives, auroc: summary.auroc, ap: summary.ap });
    }
    let mut right = 0.0;
    for (at, (row, &label)) in scores.chunks_exact(classes).zip(labels).enumerate() {
        let mut best = 0;
        for class in 1..classes {
            if row[class] > row[best] {
                best = class;
            }
        }
        if best == label as usize {
            right += weights.get(at).copied().unwrap_or(1.0);
        }
    }
    let mean = |of: fn(&OneVsRest) -> f64| each.iter().map(of).sum::<f64>() / classes as f64;
    Ok(ClassSummary {
        hand_till,
        auroc: mean(|class| class.auroc),
        ap: mean(|class| class.ap),
        accuracy: right / if weights.is_empty() { labels.len() as f64 } else { weights.iter().sum() },
        classes: each,
    })
}

/// Turns raw scores of a softmax head, rows × `classes`, into the log-odds of each class against all others,
///
/// ```
/// use undercurve::metric::log_odds;
///
/// let mut scores = [0.6f64.ln(), 0.3f64.ln(), 0.1f64.ln()]; // shares of .6, .3 and .1
/// log_odds(&mut scores, 3)?;
/// assert!((scores[0] - (0.6f64 / 0.4).ln()).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// which order rows as h does, without the ties of an h that has reached 0 or 1. O(classes) a row.
///
/// # Errors
/// `Param` (fewer than two classes), `Length`, `NonFinite`, `Overflow` (a difference of scores; `scores` is then as
/// before).
pub fn log_odds<T: Real>(scores: &mut [T], classes: usize) -> Result<()> {
    if classes < 2 {
        return Err(Error::Param { what: "classes" });
    }
    exact_len("scores", scores.len() / classes * classes, scores.len())?;
    all_finite("scores", scores)?;
    for row in scores.chunks_exact(classes) {
        let (mut low, mut high) = (row[0], row[0]);
        for &s in row {
            low = if s < low { s } else { low };
            high = if s > high { s } else { high };
        }
        // Odds are at most this and ln of the number of classes.
        if !((high - low) + T::of(classes as f64)).is_finite() {
            return Err(Error::Overflow { what: "a difference of scores" });
        }
    }
    for row in scores.chunks_exact_mut(classes) {
        let mut top = 0;
        for class in 1..classes {
            if row[class] > row[top] {
                top = class;
            }
        }
        let highest = row[top].f64();
        let others = || row.iter().enumerate().filter(|&(class, _)| class != top).map(|(_, s)| s.f64());
        let second = others().fold(f64::NEG_INFINITY, |most, s| if s > most { s } else { most });
        // Relative to the largest of the others, so that the top's odds keep their digits when it is far ahead.
        let rest: f64 = others().map(|s| Real::exp(s - second)).sum();
        let ahead = highest - second;
        let share = Real::exp(-ahead);
        for (class, s) in row.iter_mut().enumerate() {
            let odds = if class == top {
                ahead - Real::ln(rest)
            } else {
                // 1 stands for the top, and the class itself leaves the others.
                let below = s.f64() - second;
                let left = share * (rest - Real::exp(below));
                (below - ahead) - Real::ln_1p(if left > 0.0 { left } else { 0.0 })
            };
            *s = T::of(odds);
        }
    }
    Ok(())
}
