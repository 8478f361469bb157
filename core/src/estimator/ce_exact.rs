//! Cross-entropy over all rows, for an algorithm that looks at all of them: 1/n Σ_i w_i ln(1 + e^(∓s_i)), weights 1 in the mean.
//!
//! Value and slopes are computed in f64 whatever the type of the scores, so that a line search near the minimum sees what falls. Only for
//! batches of everything ([`Drawn::All`]). Cost O(rows). Memory: rows values of scratch.

use super::{Estimator, Grad, commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::error::{Error, Result};
use crate::metric::check_weights;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{Auto, MEMORY, Param, auto_count, choice, count, number, ridge_decay, rule};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// The mean cross-entropy of all rows.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{CrossEntropyExact, Estimator, Grad};
///
/// let scores = [0.0; 4]; // three negatives, then a positive
/// let batch = Batch::new(&scores, 1, &[0, 3, 4], &[3, 1], Drawn::All)?;
/// let scratch = Scratch { real: &mut [0.0; 4], ..Scratch::default() };
/// let mut grad = [0.0f64; 4];
/// let value = CrossEntropyExact.gradient(&batch, &[], &[], scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// assert_eq!((value, grad), (2.0f64.ln(), [0.125, 0.125, 0.125, -0.125])); // (σ(0) − y)/4
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossEntropyExact;

impl CrossEntropyExact {
    /// Of settings: it has none.
    pub(crate) fn from_settings(_: &Settings<'_>) -> Result<Self> {
        Ok(Self)
    }

    /// Value, and slopes where there is room for them.
    fn evaluate<T: Real>(batch: &Batch<'_, T>, slopes: &mut [T]) -> Result<f64> {
        let (low, high) = batch.binary()?;
        if batch.drawn() != Drawn::All {
            return Err(Error::Unsupported { what: "exact objectives on a part of the data" });
        }
        let rows = low.len() + high.len();
        let (mut sum, weights) = (0.0, batch.weights());
        check_weights(weights)?;
        let mut rest = slopes;
        let mut from = 0;
        for (class, sign) in [(low, 1.0), (high, -1.0)] {
            for scores in class.chunks(BLOCK) {
                let weights = weights.get(from..from + scores.len());
                let (to, more) = core::mem::take(&mut rest).split_at_mut_checked(scores.len()).unwrap_or_default();
                sum += block(scores, sign, weights, rows as f64, to);
                (rest, from) = (more, from + scores.len());
            }
        }
        finite("cross-entropy", sum / rows as f64)
    }
}

/// Rows whose exponentials and logarithms are computed together.
const BLOCK: usize = 64;

/// The sum of the terms of at most [`BLOCK`] rows of one class, and their slopes over `rows` where there is room for them.
fn block<T: Real>(scores: &[T], sign: f64, weights: Option<&[f64]>, rows: f64, slopes: &mut [T]) -> f64 {
    let (mut above, mut part, mut logarithm) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    for ((above, part), &score) in above.iter_mut().zip(&mut part).zip(scores) {
        // ln(1 + e^z) and σ(z), of one exponential.
        let wrong = sign * score.f64();
        *above = wrong.or_larger(0.0);
        *part = (-wrong.abs()).or_larger(-f64::EXP_SPAN).exp_in_span();
    }
    for (logarithm, part) in logarithm.iter_mut().zip(&part) {
        *logarithm = part.ln_1p_in_span();
    }
    let weight = |row: usize| weights.and_then(|weights| weights.get(row)).copied().unwrap_or(1.0);
    for (row, ((slope, &above), &part)) in slopes.iter_mut().zip(&above).zip(&part).enumerate() {
        let share = if above > 0.0 { 1.0 } else { part };
        *slope = T::settled_of(sign * weight(row) * share / (1.0 + part) / rows);
    }
    let terms = above.iter().zip(&logarithm).take(scores.len());
    terms.enumerate().map(|(row, (above, logarithm))| weight(row) * (above + logarithm)).sum()
}

impl<T: Real> Estimator<T> for CrossEntropyExact {
    fn needs_all(&self) -> bool {
        true
    }
    fn takes_weights(&self) -> bool {
        true
    }
    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], _: Scratch<'_, T>) -> Result<f64> {
        Self::evaluate(batch, &mut [])
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        batch.binary()?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let slopes = &mut scratch.real[..batch.scores().len()];
        let value = Self::evaluate(batch, slopes)?;
        commit(slopes, grad.scores)?;
        Ok(value)
    }
}

/// Its parameters.
const PARAMS: &[Param] = &[
    auto_count("steps", 1, Auto::Model { linear: 1000.0, network: 200.0 }, "gradients over the whole data, at most"),
    rule("lbfgs", &["lbfgs"]),
    MEMORY,
    number(
        "tolerance",
        "1e-5",
        0.0,
        0.999_999,
        "ends when the gradient has fallen to this share of its first, or a step promises less than its square",
    ),
    ridge_decay(1.0, 3.0),
    count("folds", "5", 2, "folds of the rows that choose decay"),
    choice(
        "choose",
        "least",
        &["least", "one-se", "ap", "auroc", "pauc"],
        "decay of the least loss of held-out rows, or the largest within one standard error of it; or decay and class weight of the best metric",
    ),
    choice("bias", "free", &["free", "penalised"], "whether decay leaves the bias alone"),
];

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "ce-exact",
    title: "Exact cross-entropy (ridge)",
    about: "Minimises cross-entropy over the whole data by L-BFGS; cross-validation chooses the weight decay.",
    kind: Kind::Whole,
    metric: Metric::Auroc,
    params: PARAMS,
    paper: &[],
    source: Source {
        paper: "Le Cessie, Van Houwelingen 1992, Ridge Estimators in Logistic Regression",
        part: "the penalised likelihood, and its penalty by cross-validation",
    },
    files: &["core/src/estimator/ce_exact.rs", "core/src/trainer/ridge.rs", "core/src/algorithm/lbfgs.rs"],
};
