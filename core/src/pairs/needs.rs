//! What sums over whole data borrow.

use super::panel::is_windowed;
use super::tables::Shape;
use super::way::{FEW_SORTED, FEW_SORTED_PAIRS, Smooth, Way};
use super::{Sum, all_pairs, panel, ramp_sums, sorted, wide};
use crate::features::{COMPACT, SORTS};
use crate::scratch::Need;
use crate::surrogate::{AnySurrogate, Family};

/// What [`auc`](super::auc), [`ap`](super::ap) and [`pauc`](super::pauc) borrow at most for so many rows, of which at most so many are positives, whatever the loss and
/// with a [`Plan`](super::Plan) too; `usize::MAX` of everything for more rows than they take, 2³² − 1 (on targets of 32 bits 2²⁷).
/// [`need_for`] says how little a call takes whose loss is known.
#[must_use]
pub const fn need(rows: usize, positives: usize) -> Need {
    need_by(Way::Chosen, rows, positives)
}

/// [`need`] of sums in a given way.
#[doc(hidden)]
#[must_use]
pub const fn need_by(way: Way, rows: usize, positives: usize) -> Need {
    if !Need::takes(rows) || !Need::takes(positives) {
        return Need::UNMET;
    }
    let brute = all_pairs_need(rows, positives, true);
    let mut need =
        brute.either(smooth_need(way, Smooth { shape: Shape::Logistic, planned: true }, rows, positives, true));
    if way.sorts(rows, positives) {
        need = need.either(sorted::ap_need(rows, positives)).either(windows_need(rows, positives));
    }
    pauc_need(need, rows)
}

/// What [`auc`](super::auc), [`ap`](super::ap) or [`pauc`](super::pauc) borrows for this loss and so many rows and positives: no call of it succeeds with less.
/// `usize::MAX` of everything for more than they take, and for more positives than rows.
///
/// | loss | memory |
/// |---|---|
/// | hinge, squared hinge | 17 to 25 bytes a row and 52 (AP 76) a positive; with few positives 16 a row |
/// | smoothed hinge, ramp | 36 bytes a row and 32 to 150 a positive |
/// | sigmoid, logistic | 16 bytes a row; with enough pairs for panels 35 KB of tables and 320 to 640 bytes a panel, which are at most as many as rows |
/// | square, exponential | none |
///
/// Partial AUC keeps 8 bytes more a row, and needs 12 a row beside to choose the negatives.
///
/// ```
/// use undercurve::pairs::{self, Sum};
/// use undercurve::surrogate::{AnySurrogate, SquaredHinge};
///
/// const NEED: undercurve::Need = pairs::need_for(Sum::Ap, AnySurrogate::SquaredHinge(SquaredHinge::UNIT), 500, 50);
/// assert!(8 * NEED.f64 + 4 * NEED.u32 + 8 * NEED.u64 < 16_000);
/// ```
#[must_use]
pub const fn need_for(sum: Sum, loss: AnySurrogate<f64>, rows: usize, positives: usize) -> Need {
    need_of(Way::Chosen, false, sum, loss, rows, positives)
}

/// The same of sums in a given way, with a plan or without.
pub(super) const fn need_of(
    way: Way,
    planned: bool,
    sum: Sum,
    loss: AnySurrogate<f64>,
    rows: usize,
    positives: usize,
) -> Need {
    if !Need::takes(rows) || positives > rows {
        return Need::UNMET;
    }
    let ap = matches!(sum, Sum::Ap);
    let brute = all_pairs_need(rows, positives, ap);
    let need = match loss.family() {
        Family::Square { .. } | Family::Exponential { .. } => Need::NONE,
        Family::Pairs => brute,
        Family::Hinge { .. } => {
            let sorted = if ap { sorted::ap_need(rows, positives) } else { sorted::auc_need(rows, positives) };
            match (way.sorts(rows, positives), sum) {
                (false, _) => brute,
                (true, Sum::Pauc { tpr, .. }) if tpr > 0.0 => {
                    // Fewer positives are left, which may be few.
                    let few = FEW_SORTED_PAIRS / rows;
                    let few = if few > FEW_SORTED { few } else { FEW_SORTED };
                    sorted.either(all_pairs_need(rows, few, ap))
                }
                (true, Sum::Auc | Sum::Ap | Sum::Pauc { .. }) => sorted,
            }
        }
        Family::Window { .. } => {
            if way.sorts(rows, positives) {
                brute.either(windows_need(rows, positives))
            } else {
                brute
            }
        }
        Family::Sigmoid { .. } => {
            brute.either(smooth_need(way, Smooth { shape: Shape::Sigmoid, planned }, rows, positives, ap))
        }
        Family::Softplus { .. } => {
            brute.either(smooth_need(way, Smooth { shape: Shape::Logistic, planned }, rows, positives, ap))
        }
    };
    match sum {
        Sum::Auc | Sum::Ap => need,
        Sum::Pauc { .. } => pauc_need(need, rows),
    }
}

const fn all_pairs_need(rows: usize, positives: usize, ap: bool) -> Need {
    Need { f64: all_pairs::need(rows, positives, ap), ..Need::NONE }
}

/// Of smoothed hinge and ramp: also to sort the rows of scores that spread too far for the streams.
const fn windows_need(rows: usize, positives: usize) -> Need {
    let sorted = Need { real: 0, f64: 3 * rows + 4 * positives, u32: rows, u64: rows };
    ramp_sums::need(rows, positives).either(if SORTS || cfg!(feature = "weights") { sorted } else { Need::NONE })
}

/// Of the panels alone.
const fn smooth_need(way: Way, of: Smooth, rows: usize, positives: usize, ap: bool) -> Need {
    match way.most_panels(of, rows, positives) {
        0 => Need::NONE,
        most => {
            let (f64, u64) = panel::need(rows, most, ap);
            let need = Need { real: 0, f64, u32: 0, u64 };
            if is_windowed(rows) { need.either(wide::need(rows, positives, ap, wide::OWN)) } else { need }
        }
    }
}

/// Partial AUC keeps a weight for every row beside its sum; row numbers and keys serve before it.
const fn pauc_need(need: Need, rows: usize) -> Need {
    Need { f64: need.f64 + rows, ..need.either(Need { real: 0, f64: 0, u32: rows, u64: rows }) }
}

/// What [`sum`](fn@super::sum) borrows for so many rows; `usize::MAX` of everything for more than it takes.
#[must_use]
pub const fn sum_need(rows: usize) -> Need {
    with_labels(need(rows, rows), rows)
}

/// What [`by_class`](super::by_class) borrows, with weights or without, and with a plan or without.
pub(crate) const fn by_class_need(sum: Sum, loss: AnySurrogate<f64>, rows: usize) -> Need {
    let ap = matches!(sum, Sum::Ap);
    let need = need_of(Way::Chosen, true, sum, loss, rows, rows).either(all_pairs_need(rows, rows, ap));
    // (What the weighted sums borrow is no more.)
    let need = need.either(Need { real: 0, f64: 0, u32: rows, u64: rows });
    with_labels(if matches!(sum, Sum::Pauc { .. }) { pauc_need(need, rows) } else { need }, rows)
}

/// The same with labels, or weights in their place.
const fn with_labels(need: Need, rows: usize) -> Need {
    if !Need::takes(rows) {
        return Need::UNMET;
    }
    if COMPACT {
        Need { f64: need.f64 + rows, ..need }
    } else {
        Need { f64: need.f64 + rows, u32: need.u32 + rows, ..need }
    }
}
