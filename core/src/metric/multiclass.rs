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

use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// What a tied pair counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// One half.
    #[default]
    Half,
    /// Nothing.
    Lose,
    /// One.
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

/// Multi-class AUC of `scores`, rows × `classes`, row-major; `labels` holds a class number below `classes` for each
/// row, every class at least once. O(c (n log n + c n)) at most for c classes; `scratch` as [`need`] says.
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
    if classes < 2 {
        return Err(Error::Param { what: "classes" });
    }
    if scores.is_empty() {
        return Err(Error::Empty { what: "scores" });
    }
    exact_len("scores", labels.len().saturating_mul(classes), scores.len())?;
    let rows = labels.len();
    if u32::try_from(rows).is_err() {
        return Err(Error::Overflow { what: "scores" });
    }
    all_finite("scores", scores)?;
    if let Some(at) = labels.iter().position(|&label| label as usize >= classes) {
        return Err(Error::Label { at });
    }
    scratch.check(need(rows, classes))?;
    let (sizes, rest) = scratch.u64[..4 * classes].split_at_mut(classes);
    let (below, rest) = rest.split_at_mut(classes);
    let (here, points) = rest.split_at_mut(classes);
    sizes.fill(0);
    for &label in labels {
        sizes[label as usize] += 1;
    }
    if sizes.contains(&0) {
        return Err(Error::OneClass);
    }

    let order = &mut scratch.u32[..rows];
    let (mut pairwise, mut against_rest) = (0.0, 0.0);
    for class in 0..classes {
        let score = |row: u32| scores[row as usize * classes + class];
        for (row, slot) in order.iter_mut().enumerate() {
            *slot = row as u32;
        }
        order.sort_unstable_by_key(|&row| score(row).key());
        // points[j]: twice what the pairs (this class, j) have earned.
        below.fill(0);
        here.fill(0);
        points.fill(0);
        for group in order.chunk_by(|&a, &b| score(a) == score(b)) {
            for &row in group {
                here[labels[row as usize] as usize] += 1;
            }
            let own = here[class];
            if own > 0 {
                for other in 0..classes {
                    let tied = match ties {
                        Ties::Half => here[other],
                        Ties::Lose => 0,
                        Ties::Win => 2 * here[other],
                    };
                    points[other] += own * (2 * below[other] + tied);
                }
            }
            for &row in group {
                let label = labels[row as usize] as usize;
                below[label] += here[label];
                here[label] = 0;
            }
        }
        let own = sizes[class] as f64;
        let mut all = 0u64;
        for other in (0..classes).filter(|&other| other != class) {
            all += points[other];
            pairwise += 0.5 * points[other] as f64 / (own * sizes[other] as f64);
        }
        against_rest += 0.5 * all as f64 / (own * (rows as u64 - sizes[class]) as f64);
    }
    let count = classes as f64;
    Ok(MulticlassAuc { hand_till: pairwise / (count * (count - 1.0)), one_vs_rest: against_rest / count })
}
