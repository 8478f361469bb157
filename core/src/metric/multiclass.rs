//! AUC for more than two classes.
//!
//! With h_i the score of class i, Hand and Till 2001, "A Simple Generalisation of the Area Under the ROC Curve for
//! Multiple Class Classification Problems" (equation (4) of Liu et al. 2020, "Stochastic AUC Maximization with Deep
//! Neural Networks"):
//!
//! ```text
//! 1/(c(c−1)) Σ_i Σ_{j≠i} P(h_i(x) > h_i(x') | y = i, y' = j) + ½ P(h_i(x) = h_i(x') | …)
//! ```
//!
//! The latter writes ≥, by which a constant classifier scores 1; that is [`Ties::Win`]. One-vs-rest is the mean over
//! classes of the AUROC of h_i with class i against all others.

use super::amount::Amount;
use super::labels::check_weights;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// What a tied pair counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// One half.
    #[default]
    Half,
    /// Nothing: as ranked wrongly.
    Lose,
    /// One: as ranked correctly.
    Win,
}

/// Both multi-class AUCs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MulticlassAuc {
    /// Mean over ordered pairs of classes, in [0, 1].
    pub hand_till: f64,
    /// Mean over classes of class against rest, in [0, 1].
    pub one_vs_rest: f64,
}

/// Scratch of [`auc`] for `rows` rows and `classes` classes.
#[must_use]
pub const fn need(rows: usize, classes: usize) -> Need {
    Need { real: 0, f64: 0, u32: rows, u64: classes.saturating_mul(4) }
}

/// Scratch of [`weighted_auc`], likewise.
#[must_use]
pub const fn weighted_need(rows: usize, classes: usize) -> Need {
    Need { real: 0, f64: classes.saturating_mul(4), u32: rows, u64: 0 }
}

/// Multi-class AUC of `scores`, rows × `classes`, row-major; `labels` holds a class number below `classes` for each
/// row, every class at least once. O(c (n log n + c n)) at most for c classes; `scratch` as [`need`] says.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::multiclass::{Ties, auc, need};
///
/// let scores = [0.8_f32, 0.1, 0.1, 0.2, 0.7, 0.1, 0.5, 0.3, 0.2]; // a row of each of three classes
/// let need = need(3, 3);
/// let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { u32: &mut u32s, u64: &mut u64s, ..Scratch::default() };
/// let both = auc(&scores, 3, &[0, 1, 2], Ties::Half, scratch)?;
/// assert_eq!(both.one_vs_rest, 1.0); // of each class's scores its own row has the highest
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Param` (fewer than two classes), `Empty`, `Length` (scores no whole number of rows, labels, scratch), `Overflow`
/// (over 2³² − 1 rows), `NonFinite` (scores), `Label`, `OneClass` (a class without a row).
pub fn auc<T: Real>(
    scores: &[T],
    classes: usize,
    labels: &[u32],
    ties: Ties,
    scratch: Scratch<'_, T>,
) -> Result<MulticlassAuc> {
    check(scores, classes, labels)?;
    scratch.check(need(labels.len(), classes))?;
    auc_of(scores, classes, labels, |_| 1u64, ties, scratch.u32, scratch.u64)
}

/// The same of rows that count `weights`, 0 or more each: a pair of rows counts the product of its two. `scratch` as
/// [`weighted_need`] says.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::multiclass::{Ties, weighted_auc, weighted_need};
///
/// let scores = [0.7_f32, 0.3, 0.2, 0.8, 0.9, 0.1]; // rows of classes 0, 1 and 1, the last of which looks like a 0
/// let need = weighted_need(3, 2);
/// let (mut f64s, mut u32s) = (vec![0.0; need.f64], vec![0; need.u32]);
/// for (weights, value) in [([1.0, 1.0, 1.0], 0.5), ([1.0, 3.0, 1.0], 0.75)] {
///     let scratch = Scratch { f64: &mut f64s, u32: &mut u32s, ..Scratch::default() };
///     assert_eq!(weighted_auc(&scores, 2, &[0, 1, 1], &weights, Ties::Half, scratch)?.hand_till, value);
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auc`], and `Weight`; `OneClass` for a class without a weight, too.
pub fn weighted_auc<T: Real>(
    scores: &[T],
    classes: usize,
    labels: &[u32],
    weights: &[f64],
    ties: Ties,
    scratch: Scratch<'_, T>,
) -> Result<MulticlassAuc> {
    check(scores, classes, labels)?;
    exact_len("weights", labels.len(), weights.len())?;
    check_weights(weights)?;
    scratch.check(weighted_need(labels.len(), classes))?;
    auc_of(scores, classes, labels, |row| weights[row as usize], ties, scratch.u32, scratch.f64)
}

fn check<T: Real>(scores: &[T], classes: usize, labels: &[u32]) -> Result<()> {
    if classes < 2 {
        return Err(Error::Param { what: "classes" });
    }
    if scores.is_empty() {
        return Err(Error::Empty { what: "scores" });
    }
    exact_len("scores", labels.len().saturating_mul(classes), scores.len())?;
    if u32::try_from(labels.len()).is_err() {
        return Err(Error::Overflow { what: "scores" });
    }
    all_finite("scores", scores)?;
    match labels.iter().position(|&label| label as usize >= classes) {
        Some(at) => Err(Error::Label { at }),
        None => Ok(()),
    }
}

/// Twice what the pairs of a class and each other have earned, in the last of the three by class; rows ascend by the class's
/// score.
fn earned<T: Real, A: Amount>(
    order: &[u32],
    (class, score): (usize, impl Fn(u32) -> T),
    labels: &[u32],
    weight: &impl Fn(u32) -> A,
    ties: Ties,
    [below, here, points]: [&mut [A]; 3],
) {
    let none = A::default();
    below.fill(none);
    here.fill(none);
    points.fill(none);
    for group in order.chunk_by(|&a, &b| score(a) == score(b)) {
        for &row in group {
            here[labels[row as usize] as usize] += weight(row);
        }
        let own = here[class];
        if own > none {
            for other in 0..points.len() {
                let tied = match ties {
                    Ties::Half => here[other],
                    Ties::Lose => none,
                    Ties::Win => here[other] + here[other],
                };
                points[other] += own * (below[other] + below[other] + tied);
            }
        }
        for &row in group {
            let label = labels[row as usize] as usize;
            below[label] += here[label];
            here[label] = none;
        }
    }
}

/// Of rows that count `weight`.
fn auc_of<T: Real, A: Amount>(
    scores: &[T],
    classes: usize,
    labels: &[u32],
    weight: impl Fn(u32) -> A,
    ties: Ties,
    order: &mut [u32],
    memory: &mut [A],
) -> Result<MulticlassAuc> {
    let (none, rows) = (A::default(), labels.len());
    let (sizes, rest) = memory[..4 * classes].split_at_mut(classes);
    let (below, rest) = rest.split_at_mut(classes);
    let (here, points) = rest.split_at_mut(classes);
    sizes.fill(none);
    let mut total = none;
    for (row, &label) in (0..).zip(labels) {
        sizes[label as usize] += weight(row);
        total += weight(row);
    }
    if sizes.contains(&none) {
        return Err(Error::OneClass);
    }

    let order = &mut order[..rows];
    let (mut pairwise, mut against_rest) = (0.0, 0.0);
    for class in 0..classes {
        let score = |row: u32| scores[row as usize * classes + class];
        for (row, slot) in order.iter_mut().enumerate() {
            *slot = row as u32;
        }
        // (Tied rows in their own order: sums of weights depend on it.)
        crate::sort::rows_by(order, &|a, b| score(a).key().cmp(&score(b).key()).then(a.cmp(&b)));
        earned(order, (class, score), labels, &weight, ties, [&mut *below, &mut *here, &mut *points]);
        let own = sizes[class].f64();
        let mut all = none;
        for other in (0..classes).filter(|&other| other != class) {
            all += points[other];
            pairwise += 0.5 * points[other].f64() / (own * sizes[other].f64());
        }
        against_rest += 0.5 * all.f64() / (own * (total - sizes[class]).f64());
    }
    let count = classes as f64;
    Ok(MulticlassAuc { hand_till: pairwise / (count * (count - 1.0)), one_vs_rest: against_rest / count })
}
