//! Sums over pairs (positive, other) that the objectives share.
//!
//! Small batches: [`brute`]. Whole data: [`auc`], [`ap`] and [`pauc`] take scores and labels as they come, in
//! any order, and return the value of the objective with its derivative by every score, in f64 inside; [`sum`] is whichever of
//! them, of rows that may have weights. They choose the
//! method by the surrogate and the size of the data:
//!
//! | surrogate | method | cost | error, relative to the absolute terms of an entry |
//! |---|---|---|---|
//! | hinge, squared hinge | sort the positives in streams, scan the gaps | O(n) to O(n log n₊) | rounding |
//! | sigmoid, logistic | panels, with tables that a [`Plan`] keeps; above 65,536 of them windows over sorted rows | O(n) to O(n log n) | [`Grade`]: 1e-6 or 1e-12 |
//! | square, exponential | closed form | O(n) | rounding |
//! | smoothed hinge, ramp | the same with two edges for each positive; scores over many magnitudes are sorted | O(n) to O(n log n) | rounding |
//! | any, with few positives | all pairs | O(n₊n) | rounding |
//!
//! Terms smaller than [`Real::FAINT`] of `f64`, 10⁻¹⁴⁶, count as 0, and so do derivatives below [`Real::TINY`] of their type.
//!
//! Conditions shared by the three:
//! - `scores` finite, `labels` 0 or 1, `grad` all of one length n < 2³²; at least one row of each label.
//! - scratch of [`need_for`] the loss, n and n₊, or of [`need`]`(n, n₊)`, which is enough for fewer positives, too.
//! - errors: `Length`, `Label`, `NonFinite`, `OneClass`, `Param`, `Overflow` (before anything but scratch is written).

mod all_pairs;
pub mod brute;
mod closed;
#[cfg(feature = "distributed")]
pub mod distributed;
pub(crate) mod keep_slopes;
mod lanes;
mod order;
#[cfg(feature = "alloc")]
mod owned;
mod panel;
mod plan;
mod ramp_sums;
mod sorted;
mod streams;
mod tables;
mod weight;
mod weighted;
mod wide;
mod windows;

// The inner loops: a copy for each loss, or with `compact` one for all.
#[cfg_attr(not(feature = "compact"), path = "blocked.rs")]
#[cfg_attr(feature = "compact", path = "tiled.rs")]
mod kernel;

#[cfg(feature = "alloc")]
pub use owned::Sums;
pub use plan::Plan;
pub use tables::Grade;

use crate::batch::WEIGHTS;
use crate::error::{Error, Result, count_labels, exact_len};
use crate::features::COMPACT;
use crate::metric::Truth;
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::kernel;
use crate::surrogate::{AnySurrogate, Surrogate};
use ramp_sums::Window;
use tables::{FAST_TERMS, FULL_TERMS, Shape};
use weight::{Class, finite_range};
use weighted::Form;

// Where all pairs are faster, as measured by `cargo experiment pairs --crossovers` on x86-64 with SSE2. Dealing costs
// about 150 ns and 7 ns a row, all pairs 5 ns a row and 0.55 ns a pair: n = 64 with 8 positives 8.9 ns a row by all pairs
// and 9.4 dealt, with 16 positives 12.7 and 10.2; n = 4096 with 4 positives 6.7 and 6.7.
/// With at most this many positives, or pairs, all pairs are faster than sorting the positives.
const FEW_SORTED: usize = 4;
const FEW_SORTED_PAIRS: usize = 512;
// Panels cost a row 4 to 10 ns, and some 0.4 µs each (AP 0.8), the more the wider the scores spread in units of 1/c; the
// tables that a call makes for itself take 3 (`Fast`) to 18 µs (`Full`, logistic). Pairs of the sigmoid take 1.5 ns, those
// of the logistic loss two to three times as much. AUC of the sigmoid, `Full`, by all pairs, panels, and panels with a plan,
// in ns a row, where normal scores of deviation 1 lie in 34 panels: n = 512 with 8 positives 20, 36 and 18, with 32 positives
// 50, 48 and 29; n = 1024 with 4 positives 16, 19 and 10. With deviation 4 and a plan: n = 500 with 52 positives 73 and 91.
/// So many pairs take as long as a panel, and as making the tables; a row counts as so many pairs.
const PANEL_IN_PAIRS: u64 = 384;
const TABLES_IN_PAIRS: u64 = 1 << 13;
const ROW_IN_PAIRS: u64 = 6;
/// The most panels that are counted: the scores tell how far they reach, but not how many panels they leave empty.
const MOST_PANELS: usize = 256;

/// Whether rows are sorted where their scores spread over many magnitudes. The smallest programs, which hold few, do without.
const SORTS: bool = !COMPACT && cfg!(feature = "alloc");

/// How to sum. The public functions choose by size; the others are there to measure where that should change.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// By the numbers of rows and positives.
    Chosen,
    /// All pairs.
    AllPairs,
    /// Streams or panels.
    NearLinear,
}

impl Way {
    /// Whether to deal the rows to streams, for the hinge family.
    const fn sorts(self, rows: usize, positives: usize) -> bool {
        match self {
            Self::Chosen => positives > FEW_SORTED && positives as u64 * rows as u64 > FEW_SORTED_PAIRS as u64,
            Self::AllPairs => false,
            Self::NearLinear => true,
        }
    }

    /// Whether to take panels, of which there are at most so many that hold rows: they pay from a number of pairs on.
    const fn has_panels(self, of: Smooth, rows: usize, positives: usize, panels: usize) -> bool {
        match self {
            Self::Chosen => {
                (positives as u64 + ROW_IN_PAIRS).saturating_mul(rows as u64) > of.worth(panels) / of.speed()
            }
            Self::AllPairs => false,
            Self::NearLinear => true,
        }
    }

    /// The most panels of [`FULL_TERMS`] that a sum takes; 0 where it takes none.
    const fn most_panels(self, of: Smooth, rows: usize, positives: usize) -> usize {
        let all = panel::panels(rows);
        match self {
            Self::AllPairs => 0,
            Self::NearLinear => all,
            Self::Chosen if !self.has_panels(of, rows, positives, 1) => 0,
            Self::Chosen => {
                // Scores that reach over more than pay are summed by all pairs, but not all panels are counted.
                let pairs = (positives as u64 + ROW_IN_PAIRS).saturating_mul(rows as u64);
                let pay = pairs.saturating_mul(of.speed()).saturating_sub(of.worth(0)) / PANEL_IN_PAIRS + 1;
                let counted = pay <= (rows / 4) as u64 && pay <= MOST_PANELS as u64;
                // (The ends are rounded to whole panels.)
                if counted && (pay as usize) + 3 < all { pay as usize + 3 } else { all }
            }
        }
    }
}

/// A smooth surrogate, and whether there is a plan for it.
#[derive(Clone, Copy)]
struct Smooth {
    shape: Shape,
    planned: bool,
}

impl Smooth {
    /// So many pairs of the sigmoid take as long as a number of panels, with the tables.
    const fn worth(self, panels: usize) -> u64 {
        PANEL_IN_PAIRS * panels as u64 + if self.planned { 0 } else { TABLES_IN_PAIRS }
    }

    /// How many of those pairs take as long as one.
    const fn speed(self) -> u64 {
        match self.shape {
            Shape::Sigmoid => 1,
            Shape::Logistic => 2,
        }
    }
}

/// What to sum, and how.
#[derive(Clone, Copy, Debug)]
struct How<'a> {
    way: Way,
    loss: AnySurrogate<f64>,
    grade: Grade,
    /// The tables of a [`Plan`] for this loss and grade.
    tables: Option<&'a [f64]>,
    /// Whether positives have weights, too.
    weighted: bool,
}

impl<'a> How<'a> {
    /// With a plan, if there is one, of this surrogate and grade.
    fn of(loss: AnySurrogate<f64>, grade: Grade, plan: Option<Plan<'a>>) -> Result<Self> {
        let how = match plan {
            None => Self { way: Way::Chosen, loss, grade, tables: None, weighted: false },
            Some(plan) => plan.how(Way::Chosen),
        };
        match (how.loss, how.grade) == (loss, grade) {
            true => Ok(how),
            false => Err(Error::Unsupported { what: plan::OTHER }),
        }
    }
}

/// What [`auc`], [`ap`] and [`pauc`] borrow at most for so many rows, of which at most so many are positives, whatever the loss and
/// with a [`Plan`] too; `usize::MAX` of everything for more rows than they take, 2³² − 1 (on targets of 32 bits 2²⁷).
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

/// What [`auc`], [`ap`] or [`pauc`] borrows for this loss and so many rows and positives: no call of it succeeds with less.
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
const fn need_of(way: Way, planned: bool, sum: Sum, loss: AnySurrogate<f64>, rows: usize, positives: usize) -> Need {
    if !Need::takes(rows) || positives > rows {
        return Need::UNMET;
    }
    let ap = matches!(sum, Sum::Ap);
    let brute = all_pairs_need(rows, positives, ap);
    let need = match loss {
        AnySurrogate::Square(_) | AnySurrogate::Exponential(_) => Need::NONE,
        AnySurrogate::SquaredHinge(_) | AnySurrogate::Hinge(_) => {
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
        AnySurrogate::SmoothedHinge(_) | AnySurrogate::Ramp(_) => {
            if way.sorts(rows, positives) {
                brute.either(windows_need(rows, positives))
            } else {
                brute
            }
        }
        AnySurrogate::Sigmoid(_) => {
            brute.either(smooth_need(way, Smooth { shape: Shape::Sigmoid, planned }, rows, positives, ap))
        }
        AnySurrogate::Logistic(_) => {
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

/// Whether there may be more panels than are kept, which are then taken window by window.
const fn is_windowed(rows: usize) -> bool {
    SORTS && panel::panels(rows) < rows
}

/// Partial AUC keeps a weight for every row beside its sum; row numbers and keys serve before it.
const fn pauc_need(need: Need, rows: usize) -> Need {
    Need { f64: need.f64 + rows, ..need.either(Need { real: 0, f64: 0, u32: rows, u64: rows }) }
}

/// Smallest and largest score.
type Range = (f64, f64);

/// The shared checks; returns the number of positives and the range of the scores.
fn checked<S: Real, G: Real>(
    how: &How<'_>,
    sum: Sum,
    scores: &[S],
    labels: &[u8],
    scratch: &Scratch<'_, f64>,
    grad: &[G],
) -> Result<(usize, Range)> {
    exact_len("labels", scores.len(), labels.len())?;
    exact_len("grad", scores.len(), grad.len())?;
    if scores.len() > u32::MAX as usize {
        return Err(Error::Unsupported { what: "more than 2^32 rows" });
    }
    let (positives, negatives) = count_labels(labels)?;
    let range = finite_range(scores)?;
    if positives == 0 || negatives == 0 {
        return Err(Error::OneClass);
    }
    scratch.check(need_of(how.way, how.tables.is_some(), sum, how.loss, scores.len(), positives))?;
    Ok((positives, range))
}

/// `Ok` when sums over rows of powers of margins stay in range, and gradients in the range of `G`.
fn fits<G: Real>((low, high): Range, margin: f64) -> Result<()> {
    let widest = (high - low) + margin;
    // Squares of sums of squares, and their inverses, occur.
    if !(widest < 1e66 && 2.0 * widest < G::MAX.f64()) {
        return Err(Error::Overflow { what: "margin" });
    }
    if margin < 1e-60 {
        return Err(Error::Param { what: "margin" });
    }
    Ok(())
}

/// Pairwise AUC loss over whole data: the mean of ℓ(s₊ − s₋) over all pairs.
///
/// Returns the value and writes ∂/∂s of every row to `grad`. `grade` is the accuracy of sigmoid and logistic sums.
/// Conditions, errors and cost: see the [module](self).
///
/// ```
/// use undercurve::pairs::{self, Grade};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels) = ([0.3f32, 1.2, -0.4], [1, 0, 0]);
/// let need = pairs::need(3, 1);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 3];
/// let loss = AnySurrogate::by_name("hinge", 1.0)?;
/// let value = pairs::auc(&scores, &labels, loss, Grade::Full, scratch, &mut grad)?;
/// assert!((value - 1.1).abs() < 1e-6); // mean of 1.9 and 0.3
/// assert_eq!(grad, [-1.0, 0.5, 0.5]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// See the [module](self).
pub fn auc<S: Real, G: Real>(
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    auc_by(Way::Chosen, scores, labels, loss, grade, scratch, grad)
}

/// [`auc`] in a given way.
#[doc(hidden)]
pub fn auc_by<S: Real, G: Real>(
    way: Way,
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    auc_as(How { way, loss, grade, tables: None, weighted: false }, scores, labels, scratch, grad)
}

fn auc_as<S: Real, G: Real>(
    how: How<'_>,
    scores: &[S],
    labels: &[u8],
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let (positives, range) = checked(&how, Sum::Auc, scores, labels, &scratch, grad)?;
    let mean = 1.0 / (positives as f64 * (scores.len() - positives) as f64);
    weighted_auc(how, scores, labels, positives, range, mean, scratch, grad)
}

/// [`auc`] after the checks, for labels or weights.
fn weighted_auc<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    scores: &[S],
    labels: &[Y],
    positives: usize,
    range: Range,
    mean: f64,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let How { way, loss, grade, tables, weighted } = how;
    let few = !way.sorts(scores.len(), positives);
    if let (Some(form), true) = (Form::of(loss), weighted && WEIGHTS) {
        fits::<G>(range, form.margin())?;
        return Ok(weighted::auc(scores, labels, positives, form, mean, scratch, grad));
    }
    match loss {
        AnySurrogate::Square(l) => {
            fits::<G>(range, l.margin().or_larger(1.0))?;
            closed::auc_square(scores, labels, l.margin(), grad)
        }
        AnySurrogate::SquaredHinge(l) if !few => {
            fits::<G>(range, l.margin())?;
            sorted::auc(scores, labels, positives, l.margin(), true, mean, scratch, grad)
        }
        AnySurrogate::Hinge(l) if !few => {
            fits::<G>(range, l.margin())?;
            sorted::auc(scores, labels, positives, l.margin(), false, mean, scratch, grad)
        }
        AnySurrogate::Exponential(l) => closed::auc_exponential(scores, labels, l.scale(), mean, grad),
        AnySurrogate::SquaredHinge(_)
        | AnySurrogate::Hinge(_)
        | AnySurrogate::Logistic(_)
        | AnySurrogate::Sigmoid(_)
        | AnySurrogate::SmoothedHinge(_)
        | AnySurrogate::Ramp(_) => {
            kernel!(loss, l => fits_slopes::<G, _>(range, l))?;
            if let Some(window) = window(way, loss, range, scores.len(), positives) {
                if window.fits(range, positives) {
                    return ramp_sums::auc(scores, labels, positives, window, mean, scratch, grad);
                }
                if SORTS {
                    let form = Form::Window(window);
                    return Ok(weighted::auc(scores, labels, positives, form, mean, scratch, grad));
                }
            }
            if let Some((shape, scale, most)) = smooth(how, range, scores.len(), positives) {
                let smooth = wide::Smooth { shape, scale, made: tables, fast: true, is_ap: false };
                if is_fast(grade, range, scale, scores.len()) {
                    let (f64, u64) = (&mut *scratch.f64, &mut *scratch.u64);
                    let value = panel::auc::<S, Y, G, FAST_TERMS>(
                        scores, labels, range, shape, scale, mean, tables, most, f64, u64, grad,
                    );
                    let value = value.or_else(|| {
                        let (rows, scratch) = (is_windowed(scores.len()).then_some(positives)?, scratch.reborrow());
                        wide::sum(scores, labels, rows, range, smooth, mean, wide::OWN, scratch, grad)
                    });
                    if let Some(value) = value {
                        return Ok(value);
                    }
                }
                let (f64, u64, tables) =
                    (&mut *scratch.f64, &mut *scratch.u64, tables.filter(|_| COMPACT || grade == Grade::Full));
                let value = panel::auc::<S, Y, G, FULL_TERMS>(
                    scores, labels, range, shape, scale, mean, tables, most, f64, u64, grad,
                );
                let smooth = wide::Smooth { made: tables, fast: false, ..smooth };
                let value = value.or_else(|| {
                    let (rows, scratch) = (is_windowed(scores.len()).then_some(positives)?, scratch.reborrow());
                    wide::sum(scores, labels, rows, range, smooth, mean, wide::OWN, scratch, grad)
                });
                if let Some(value) = value {
                    return Ok(value);
                }
            }
            if weighted && WEIGHTS {
                return Ok(kernel!(loss, l => weighted::auc_of_all_pairs(scores, labels, l, mean, scratch.f64, grad)));
            }
            kernel!(loss, l => all_pairs::auc(scores, labels, l, mean, scratch.f64, grad))
        }
    }
}

/// The AP objective over whole data: P = −1/n₊ Σ_{i∈+} g1_i/g2_i with g1_i = Σ_{j∈+} ℓ(s_i − s_j) and g2_i the same sum
/// over all rows, j = i included (Qi et al. 2021, eq. (2)–(4)).
///
/// Returns P and writes ∂P/∂s of every row to `grad`. `grade` is the accuracy of sigmoid and logistic sums.
/// Conditions, errors and cost: see the [module](self).
///
/// ```
/// use undercurve::pairs::{self, Grade};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels) = ([5.0f32, 0.0, -5.0, -9.0], [1, 0, 1, 0]);
/// let need = pairs::need(4, 2);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 4];
/// let loss = AnySurrogate::by_name("sigmoid", 20.0)?;
/// let value = pairs::ap(&scores, &labels, loss, Grade::Full, scratch, &mut grad)?;
/// // A steep sigmoid counts who is above, and itself half: (½/½ + (1 + ½)/(2 + ½))/2.
/// assert!((value + (1.0 + 1.5 / 2.5) / 2.0).abs() < 1e-9);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// See the [module](self).
pub fn ap<S: Real, G: Real>(
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    ap_by(Way::Chosen, scores, labels, loss, grade, scratch, grad)
}

/// [`ap`] in a given way.
#[doc(hidden)]
pub fn ap_by<S: Real, G: Real>(
    way: Way,
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    ap_as(How { way, loss, grade, tables: None, weighted: false }, scores, labels, scratch, grad)
}

fn ap_as<S: Real, G: Real>(
    how: How<'_>,
    scores: &[S],
    labels: &[u8],
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let (positives, range) = checked(&how, Sum::Ap, scores, labels, &scratch, grad)?;
    checked_ap(how, scores, labels, positives, range, scratch, grad)
}

/// [`ap`] after the checks.
fn checked_ap<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    scores: &[S],
    labels: &[Y],
    positives: usize,
    range: Range,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let How { way, loss, grade, tables, weighted } = how;
    let few = !way.sorts(scores.len(), positives);
    let share = match weighted && WEIGHTS {
        true => 1.0 / labels.iter().filter(|y| y.is_positive()).map(|y| y.mass()).sum::<f64>(),
        false => 1.0 / positives as f64,
    };
    if let (Some(form), true) = (Form::of(loss), weighted && WEIGHTS) {
        fits::<G>(range, form.margin())?;
        fits_ratios::<G>(2.0 / form.margin(), scores.len())?;
        return Ok(weighted::ap(scores, labels, positives, form, share, scratch, grad));
    }
    match loss {
        AnySurrogate::Square(l) => {
            fits::<G>(range, l.margin().or_larger(1.0))?;
            if l.margin() < 1e-60 {
                return Err(Error::Param { what: "margin" }); // g2 may be 0
            }
            fits_ratios::<G>(2.0 / l.margin(), scores.len())?;
            closed::ap_square(scores, labels, l.margin(), grad)
        }
        AnySurrogate::SquaredHinge(l) if !few => {
            fits::<G>(range, l.margin())?;
            fits_ratios::<G>(2.0 / l.margin(), scores.len())?;
            sorted::ap(scores, labels, positives, l.margin(), true, scratch, grad)
        }
        AnySurrogate::Hinge(l) if !few => {
            fits::<G>(range, l.margin())?;
            fits_ratios::<G>(2.0 / l.margin(), scores.len())?;
            sorted::ap(scores, labels, positives, l.margin(), false, scratch, grad)
        }
        AnySurrogate::Exponential(l) => {
            fits_ratios::<G>(l.scale(), 1)?;
            Ok(closed::ap_exponential(scores, labels, l.scale(), grad))
        }
        AnySurrogate::SquaredHinge(_)
        | AnySurrogate::Hinge(_)
        | AnySurrogate::Logistic(_)
        | AnySurrogate::Sigmoid(_)
        | AnySurrogate::SmoothedHinge(_)
        | AnySurrogate::Ramp(_) => {
            // The pair (i, i) keeps g2 from 0, and 1/g2² has to fit.
            let own = loss.value(0.0);
            if own < 1e-120 {
                return Err(Error::Param { what: "margin" });
            }
            let steepest = kernel!(loss, l => fits_slopes::<G, _>(range, l))?;
            let largest = match loss {
                AnySurrogate::SquaredHinge(l) => 2.0 / l.margin(),
                AnySurrogate::Square(_)
                | AnySurrogate::Hinge(_)
                | AnySurrogate::Logistic(_)
                | AnySurrogate::Sigmoid(_)
                | AnySurrogate::Exponential(_)
                | AnySurrogate::SmoothedHinge(_)
                | AnySurrogate::Ramp(_) => steepest / own,
            };
            fits_ratios::<G>(largest, scores.len())?;
            if let Some(window) = window(way, loss, range, scores.len(), positives) {
                if window.fits(range, positives) {
                    return ramp_sums::ap(scores, labels, positives, window, scratch, grad);
                }
                if SORTS {
                    let form = Form::Window(window);
                    return Ok(weighted::ap(scores, labels, positives, form, share, scratch, grad));
                }
            }
            if let Some((shape, scale, most)) = smooth(how, range, scores.len(), positives) {
                let smooth = wide::Smooth { shape, scale, made: tables, fast: true, is_ap: true };
                if is_fast(grade, range, scale, scores.len()) {
                    let (f64, u64) = (&mut *scratch.f64, &mut *scratch.u64);
                    let value = panel::ap::<S, Y, G, FAST_TERMS>(
                        scores, labels, range, shape, scale, share, tables, most, f64, u64, grad,
                    );
                    let value = value.or_else(|| {
                        let (rows, scratch) = (is_windowed(scores.len()).then_some(positives)?, scratch.reborrow());
                        wide::sum(scores, labels, rows, range, smooth, share, wide::OWN, scratch, grad)
                    });
                    if let Some(value) = value {
                        return Ok(value);
                    }
                }
                let (f64, u64, tables) =
                    (&mut *scratch.f64, &mut *scratch.u64, tables.filter(|_| COMPACT || grade == Grade::Full));
                let value = panel::ap::<S, Y, G, FULL_TERMS>(
                    scores, labels, range, shape, scale, share, tables, most, f64, u64, grad,
                );
                let smooth = wide::Smooth { made: tables, fast: false, ..smooth };
                let value = value.or_else(|| {
                    let (rows, scratch) = (is_windowed(scores.len()).then_some(positives)?, scratch.reborrow());
                    wide::sum(scores, labels, rows, range, smooth, share, wide::OWN, scratch, grad)
                });
                if let Some(value) = value {
                    return Ok(value);
                }
            }
            if weighted && WEIGHTS {
                return Ok(kernel!(loss, l => weighted::ap_of_all_pairs(scores, labels, l, share, scratch.f64, grad)));
            }
            kernel!(loss, l => all_pairs::ap(scores, labels, l, positives, scratch.f64, grad))
        }
    }
}

/// Partial AUC loss over whole data: the mean of ℓ(s₊ − s₋) over all positives and the negatives of the false-positive
/// range `fpr` = (α, β), 0 ≤ α < β ≤ 1: those ranked αn₋ to βn₋ by descending score. Negatives on a fractional boundary
/// count by the part of them inside, so the value is continuous in α and β (Yao et al. 2022, "Large-scale Optimization
/// of Partial AUC in a Range of False Positive Rates", eq. (2); the fractions are ours).
///
/// Returns the value and writes its derivative (a subgradient where tied scores lie on a boundary) to `grad`.
/// Conditions, errors and cost: see the [module](self); the negatives are selected in expected linear time.
///
/// ```
/// use undercurve::pairs::{self, Grade};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels) = ([0.5f32, 1.0, 0.0], [1, 0, 0]);
/// let need = pairs::need(3, 1);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 3];
/// let loss = AnySurrogate::by_name("hinge", 1.0)?;
/// let value = pairs::pauc(&scores, &labels, loss, (0.0, 0.5), Grade::Full, scratch, &mut grad)?;
/// assert_eq!(value, 1.5); // 1 − (½ − 1), of the higher half of the negatives
/// assert_eq!(grad, [-1.0, 1.0, 0.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// See the [module](self); `Unsupported` for a surrogate that is not monotone, whose largest terms are not those of the
/// highest negatives.
pub fn pauc<S: Real, G: Real>(
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    fpr: (f64, f64),
    grade: Grade,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    pauc_as(How { way: Way::Chosen, loss, grade, tables: None, weighted: false }, scores, labels, fpr, scratch, grad)
}

fn pauc_as<S: Real, G: Real>(
    how: How<'_>,
    scores: &[S],
    labels: &[u8],
    fpr: (f64, f64),
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let (positives, range) = checked(&how, Sum::Pauc { fpr, tpr: 0.0 }, scores, labels, &scratch, grad)?;
    checked_pauc(how, scores, labels, positives, range, (fpr, 0.0), scratch, grad)
}

/// `Ok` when a partial AUC can be over these rates.
fn check_rates((low, high): (f64, f64), tpr: f64) -> Result<()> {
    if !(0.0 <= low && low < high && high <= 1.0) {
        return Err(Error::Param { what: "fpr" });
    }
    if (0.0..1.0).contains(&tpr) { Ok(()) } else { Err(Error::Param { what: "tpr" }) }
}

/// [`pauc`] after the checks; over the lowest positives from a true-positive rate on, the first of them by its part.
fn checked_pauc<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    scores: &[S],
    labels: &[Y],
    positives: usize,
    range: Range,
    (fpr, tpr): ((f64, f64), f64),
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    if !how.loss.is_monotone() {
        return Err(Error::Unsupported { what: "partial AUC needs a monotone surrogate" });
    }
    check_rates(fpr, tpr)?;
    let (alpha, beta) = fpr;
    let negatives = (scores.len() - positives) as f64;
    let (from, to) = (alpha * negatives, beta * negatives);
    if to <= from {
        return Err(Error::Param { what: "fpr" });
    }
    let (weights, rest) = scratch.f64.split_at_mut(scores.len());
    select(scores, labels, from, to, weights, scratch.u32, scratch.u64);
    scratch.f64 = rest;
    if tpr == 0.0 {
        let mean = 1.0 / (positives as f64 * (to - from));
        return weighted_auc(how, scores, weights, positives, range, mean, scratch, grad);
    }
    // (The part of a positive is added when the others' slopes are written, so what may not fit is asked before.)
    kernel!(how.loss, loss => {
        fits_slopes::<G, _>(range, loss)?;
        if !(4.0 * loss.value(range.0 - range.1)).is_finite() {
            return Err(Error::Overflow { what: "margin" });
        }
    });
    // Positives above the range count as negatives without weight.
    let count = (1.0 - tpr) * positives as f64;
    let mean = 1.0 / (count * (to - from));
    let (whole, part) = (count as usize, count - libm::floor(count));
    let places = &mut scratch.u32[..positives];
    let of_class = (0u32..).zip(labels).filter(|(_, y)| y.is_positive()).map(|(at, _)| at);
    places.iter_mut().zip(of_class).for_each(|(place, at)| *place = at);
    // Where it is no integer, the first of the range is cut.
    let first = positives - libm::ceil(count) as usize;
    let keys = &mut scratch.u64[..scores.len()];
    keys.iter_mut().zip(scores).for_each(|(key, s)| *key = s.key());
    crate::sort::select_descending_by(places, first, positives - 1, |at| keys[at as usize]);
    for &at in &places[..positives - whole] {
        weights[at as usize] = 0.0;
    }
    let cut = (part > 0.0).then(|| places[first] as usize);
    let mut value = 0.0;
    match whole {
        0 => grad.fill(G::ZERO),
        _ => {
            let left = Scratch {
                real: &mut *scratch.real,
                f64: &mut *scratch.f64,
                u32: &mut *scratch.u32,
                u64: &mut *scratch.u64,
            };
            value = weighted_auc(how, scores, weights, whole, range, mean, left, grad)?;
        }
    }
    let Some(cut) = cut else { return Ok(value) };
    let (own, mut slopes) = (scores[cut].f64(), 0.0);
    kernel!(how.loss, loss => {
        for (at, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let (margin, kappa) = (own - scores[at].f64(), part * mean * weight);
            value += kappa * loss.value(margin);
            let slope = kappa * loss.slope(margin);
            slopes += slope;
            grad[at] = G::settled_of(grad[at].f64() - slope);
        }
    });
    grad[cut] = G::settled_of(slopes);
    Ok(value)
}

/// Which of the sums over whole data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// [`auc`]'s.
    Auc,
    /// [`ap`]'s.
    Ap,
    /// [`pauc`]'s.
    Pauc {
        /// The range of false-positive rates.
        fpr: (f64, f64),
        /// The least true-positive rate; 0 for all positives.
        tpr: f64,
    },
}

/// What [`sum`] borrows for so many rows; `usize::MAX` of everything for more than it takes.
#[must_use]
pub const fn sum_need(rows: usize) -> Need {
    with_labels(need(rows, rows), rows)
}

/// A [`Sum`] over rows in any order, which may have weights: the pair (i, j) then counts w_i·w_j, a row of weight 2 is two
/// rows, and one of weight 0 none (its derivative is 0).
///
/// Returns the value and writes its derivative by every score to `grad`. Without weights it is [`auc`], [`ap`] or [`pauc`],
/// to the bit; with a `plan` for the same surrogate and grade it is the [`Plan`]'s. Scratch of [`sum_need`]`(n)`.
///
/// ```
/// use undercurve::metric::Truth;
/// use undercurve::pairs::{self, Grade, Sum};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let (scores, labels, weights) = ([0.3f32, 1.2, -0.4], [1, 0, 0], [1.0, 3.0, 1.0]);
/// let need = pairs::sum_need(3);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
/// let mut grad = [0.0f64; 3];
/// let loss = AnySurrogate::by_name("hinge", 1.0)?;
/// let truth = Truth::new(&labels, &weights)?;
/// let value = pairs::sum(Sum::Auc, &scores, truth, loss, Grade::Full, None, scratch, &mut grad)?;
/// assert!((value - 1.5).abs() < 1e-6); // (3 · 1.9 + 0.3) / 4
/// assert_eq!(grad, [-1.0, 0.75, 0.25]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`auc`] and [`pauc`]; `OneClass` where a class has no weight; `Overflow` for weights, and beside them margins, that are
/// neither 0 nor from 10⁻⁶⁰ to 10⁶⁰, and scores further apart; `Unsupported` for a plan of another surrogate or
/// grade. (Builds with `compact` take no weights without the feature `weights`: [`Truth`] has none there.)
pub fn sum<S: Real, G: Real>(
    sum: Sum,
    scores: &[S],
    truth: Truth<'_>,
    loss: AnySurrogate<f64>,
    grade: Grade,
    plan: Option<Plan<'_>>,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let how = How::of(loss, grade, plan)?;
    let (labels, weights) = (truth.labels(), truth.weights());
    if weights.is_empty() {
        let (positives, range) = checked(&how, sum, scores, labels, &scratch, grad)?;
        // With `compact` weights, so that there is one copy of each sum.
        if COMPACT {
            scratch.check(sum_need(scores.len()))?;
            let (signed, rest) = scratch.f64.split_at_mut(scores.len());
            scratch.f64 = rest;
            signed.iter_mut().zip(labels).for_each(|(signed, &y)| *signed = 1.0 - 2.0 * f64::from(y));
            return sum_of(sum, how, scores, signed, positives, range, scratch, grad);
        }
        return sum_of(sum, how, scores, labels, positives, range, scratch, grad);
    }
    exact_len("labels", scores.len(), labels.len())?;
    exact_len("grad", scores.len(), grad.len())?;
    count_labels(labels)?;
    let range = finite_range(scores)?;
    scratch.check(sum_need(scores.len()))?;
    let (signed, rest) = scratch.f64.split_at_mut(scores.len());
    scratch.f64 = rest;
    let mut rows = [0; 2];
    for (signed, (&label, &weight)) in signed.iter_mut().zip(labels.iter().zip(weights)) {
        rows[usize::from(label)] += usize::from(weight > 0.0);
        *signed = if label == 1 && weight > 0.0 { -weight } else { (1.0 - f64::from(label)) * weight };
    }
    if rows.contains(&0) {
        return Err(Error::OneClass);
    }
    weighted_sum(sum, How { weighted: true, ..how }, scores, signed, rows[1], range, scratch, grad)
}

/// What [`by_class`] borrows, with weights or without, and with a plan or without.
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

/// A sum over whole data whose rows lie in class order, the negatives first, with a weight above 0 for each or none at all; with a
/// plan for the same surrogate and grade, if there is one.
pub(crate) fn by_class<S: Real, G: Real>(
    sum: Sum,
    scores: &[S],
    negatives: usize,
    weights: &[f64],
    loss: AnySurrogate<f64>,
    grade: Grade,
    plan: Option<Plan<'_>>,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    exact_len("grad", scores.len(), grad.len())?;
    let how = How::of(loss, grade, plan)?;
    let range = finite_range(scores)?;
    let positives = scores.len() - negatives;
    if positives == 0 || negatives == 0 {
        return Err(Error::OneClass);
    }
    scratch.check(by_class_need(sum, loss, scores.len()))?;
    if WEIGHTS && !weights.is_empty() {
        exact_len("weights", scores.len(), weights.len())?;
        if let Some(at) = weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
            return Err(Error::Weight { at });
        }
        let (labels, rest) = scratch.f64.split_at_mut(scores.len());
        scratch.f64 = rest;
        labels.copy_from_slice(weights);
        labels[negatives..].iter_mut().for_each(|w| *w = -*w);
        return weighted_sum(sum, How { weighted: true, ..how }, scores, labels, positives, range, scratch, grad);
    }
    // With `compact` weights, as partial AUC has them, so that there is one copy of each sum.
    if COMPACT {
        let (labels, rest) = scratch.f64.split_at_mut(scores.len());
        scratch.f64 = rest;
        labels[..negatives].fill(1.0);
        labels[negatives..].fill(-1.0);
        return sum_of(sum, how, scores, labels, positives, range, scratch, grad);
    }
    let (labels, rest) = scratch.u32.split_at_mut(scores.len());
    scratch.u32 = rest;
    labels[..negatives].fill(0);
    labels[negatives..].fill(1);
    sum_of(sum, how, scores, labels, positives, range, scratch, grad)
}

/// A sum over rows of weight 1.
fn sum_of<S: Real, Y: Class, G: Real>(
    sum: Sum,
    how: How<'_>,
    scores: &[S],
    labels: &[Y],
    positives: usize,
    range: Range,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let negatives = scores.len() - positives;
    match sum {
        Sum::Auc => {
            let mean = 1.0 / (positives as f64 * negatives as f64);
            weighted_auc(how, scores, labels, positives, range, mean, scratch, grad)
        }
        Sum::Ap => checked_ap(how, scores, labels, positives, range, scratch, grad),
        Sum::Pauc { fpr, tpr } => checked_pauc(how, scores, labels, positives, range, (fpr, tpr), scratch, grad),
    }
}

/// A sum over weighted rows, positives below 0.
fn weighted_sum<S: Real, G: Real>(
    sum: Sum,
    how: How<'_>,
    scores: &[S],
    labels: &[f64],
    positives: usize,
    range: Range,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let mass = |positive: bool| -> f64 { labels.iter().filter(|&&y| (y < 0.0) == positive).map(|y| y.mass()).sum() };
    // (Products of weights, losses and numbers of rows are to stay numbers.)
    let fits = |x: f64| x == 0.0 || (1e-60..=1e60).contains(&x);
    if !labels.iter().all(|y| fits(y.mass())) {
        return Err(Error::Overflow { what: "a weight" });
    }
    if !how.loss.numbers().into_iter().all(fits) || range.1 - range.0 > 1e60 {
        return Err(Error::Overflow { what: "margin" });
    }
    match sum {
        Sum::Auc => {
            let mean = 1.0 / (mass(true) * mass(false));
            weighted_auc(how, scores, labels, positives, range, mean, scratch, grad)
        }
        Sum::Ap => checked_ap(how, scores, labels, positives, range, scratch, grad),
        Sum::Pauc { fpr, tpr } => {
            if !how.loss.is_monotone() {
                return Err(Error::Unsupported { what: "partial AUC needs a monotone surrogate" });
            }
            check_rates(fpr, tpr)?;
            let (weights, rest) = scratch.f64.split_at_mut(scores.len());
            let (left, [inside, high]) = weighted::select(scores, labels, fpr, tpr, weights, scratch.u32, scratch.u64);
            scratch.f64 = rest;
            if left == 0 || inside <= 0.0 {
                return Err(Error::Param { what: "fpr" });
            }
            weighted_auc(how, scores, weights, left, range, 1.0 / (inside * high), scratch, grad)
        }
    }
}

/// Writes −1 for a positive, and for a negative how much of its place (rank r covers r to r + 1) lies in `from..to`.
fn select<S: Real, Y: Class>(
    scores: &[S],
    labels: &[Y],
    from: f64,
    to: f64,
    weights: &mut [f64],
    places: &mut [u32],
    keys: &mut [u64],
) {
    for (w, &y) in weights.iter_mut().zip(labels) {
        *w = if y.is_positive() { -1.0 } else { 0.0 };
    }
    let negatives = (0u32..).zip(labels).filter(|&(_, y)| !y.is_positive()).map(|(at, _)| at);
    let mut count = 0;
    for (slot, at) in places.iter_mut().zip(negatives) {
        *slot = at;
        count += 1;
    }
    let places = &mut places[..count];
    let first = (from as usize).min(count - 1);
    let last = (libm::ceil(to) as usize).clamp(first + 1, count) - 1;
    let part = |rank: usize| (to.or_smaller((rank + 1) as f64) - from.or_larger(rank as f64)).or_larger(0.0);
    let place = |key: u64, at: u32| if S::BYTES == 4 { key << 32 | u64::from(at) } else { key };
    let keys = &mut keys[..scores.len()];
    for (key, (s, at)) in keys.iter_mut().zip(scores.iter().zip(0u32..)) {
        *key = place(s.key(), at);
    }
    crate::sort::select_descending_by(places, first, last, |at| keys[at as usize]);
    for rank in first..=last {
        weights[places[rank] as usize] = if rank == first || rank == last { part(rank) } else { 1.0 };
    }
}

/// Shape, scale and the most panels when the surrogate is smooth and there are enough pairs for panels to pay.
fn smooth(how: How<'_>, (low, high): Range, rows: usize, positives: usize) -> Option<(Shape, f64, usize)> {
    let (shape, scale) = Shape::of(how.loss)?;
    let (_, inverse) = tables::width::<FULL_TERMS>(scale)?;
    let panels = (((high - low) * inverse) as usize).min(rows / 4).min(MOST_PANELS) + 1;
    let of = Smooth { shape, planned: how.tables.is_some() };
    let most = how.way.most_panels(of, rows, positives);
    how.way.has_panels(of, rows, positives, panels).then_some((shape, scale, most))
}

/// Whether the lower grade is taken where it is asked for. Its panels are half as wide: where they are too many to be found
/// without sorting, and the others are not, they cost more. (`compact` has the higher grade alone.)
fn is_fast(grade: Grade, range: Range, scale: f64, rows: usize) -> bool {
    !COMPACT
        && grade == Grade::Fast
        && (panel::is_dense::<FAST_TERMS>(rows, range, scale) || !panel::is_dense::<FULL_TERMS>(rows, range, scale))
}

/// The numbers of a smoothed hinge or ramp when sorting the positives pays.
fn window(way: Way, loss: AnySurrogate<f64>, range: Range, rows: usize, positives: usize) -> Option<Window> {
    // Slopes do not grow with the scores, so whether they fit the gradients is asked elsewhere.
    Window::of(loss).filter(|of| way.sorts(rows, positives) && fits::<f64>(range, of.margin).is_ok())
}

/// The largest |ℓ'| of a pair; `Ok` when it does not leave the range of `G`.
fn fits_slopes<G: Real, L: Surrogate<f64>>((low, high): Range, loss: L) -> Result<f64> {
    let steepest = loss.slope(low - high).abs().or_larger(loss.slope(0.0).abs()).or_larger(loss.slope_unit().abs());
    // The smooth losses are steepest between.
    if steepest * 4.0 < G::MAX.f64() { Ok(steepest) } else { Err(Error::Overflow { what: "margin" }) }
}

/// `Ok` when no derivative of the AP objective leaves the range of `G`: a positive's own is at most twice the sum of
/// |ℓ'|/g2 over the rows, and `largest` bounds one of them (2/m for the hinge family: ℓ ≤ g2 and m ≤ √g2).
fn fits_ratios<G: Real>(largest: f64, rows: usize) -> Result<()> {
    if 4.0 * largest * (rows as f64) < G::MAX.f64() { Ok(()) } else { Err(Error::Overflow { what: "margin" }) }
}
