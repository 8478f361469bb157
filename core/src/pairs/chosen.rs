//! Sums over checked rows, each by the method that suits its surrogate and size.

use super::panel::{self, Smooth, is_fast, is_windowed};
use super::tables::{self, BROAD_TERMS, FAST_TERMS, FULL_TERMS, Grade, Shape};
use super::way::{self, How, MOST_PANELS};
use super::weight::{Class, Range, Rows};
use super::weighted::{self, Form};
use super::{Sum, all_pairs, closed, ramp_sums, sorted, wide};
use crate::batch::PAIR_WEIGHTS;
use crate::error::{Error, Result};
use crate::features::{COMPACT, SORTS};
use crate::real::Real;
use crate::scratch::Scratch;
use crate::surrogate::{AnySurrogate, Family, Surrogate, kernel};
use ramp_sums::Window;

/// A sum over rows of weight 1.
#[inline(always)]
pub(super) fn sum<S: Real, Y: Class, G: Real>(
    sum: Sum,
    how: How<'_>,
    rows: Rows<'_, S, Y>,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    match sum {
        Sum::Auc => {
            let negatives = rows.len() - rows.positives;
            auc(how, rows, 1.0 / (rows.positives as f64 * negatives as f64), scratch, grad)
        }
        Sum::Ap => ap(how, rows, scratch, grad),
        Sum::Pauc { fpr, tpr } => pauc(how, rows, (fpr, tpr), scratch, grad),
    }
}

/// A sum over weighted rows, positives below 0.
pub(super) fn weighted_sum<S: Real, G: Real>(
    sum: Sum,
    how: How<'_>,
    rows: Rows<'_, S, f64>,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let how = How { weighted: true, ..how };
    let Rows { scores, labels, range, .. } = rows;
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
        Sum::Auc => auc(how, rows, 1.0 / (mass(true) * mass(false)), scratch, grad),
        Sum::Ap => ap(how, rows, scratch, grad),
        Sum::Pauc { fpr, tpr } => {
            if !how.loss.is_monotone() {
                return Err(Error::Unsupported { what: "partial AUC needs a monotone surrogate" });
            }
            check_rates(fpr, tpr)?;
            let (weights, rest) = scratch.f64.split_at_mut(rows.len());
            let (left, [inside, high]) = weighted::select(scores, labels, fpr, tpr, weights, scratch.u32, scratch.u64);
            scratch.f64 = rest;
            if left == 0 || inside <= 0.0 {
                return Err(Error::Param { what: "fpr" });
            }
            auc(how, Rows { scores, labels: weights, positives: left, range }, 1.0 / (inside * high), scratch, grad)
        }
    }
}

/// The mean of ℓ over pairs, of which each counts `mean` times the weight of its negative; for labels or weights.
pub(super) fn auc<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    rows: Rows<'_, S, Y>,
    mean: f64,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let Rows { scores, labels, positives, range } = rows;
    let loss = how.loss;
    let few = !how.way.sorts(rows.len(), positives);
    if let (Some(form), true) = (Form::of(loss), how.weighted && PAIR_WEIGHTS) {
        fits::<G>(range, form.margin())?;
        return Ok(weighted::auc(rows, form, mean, scratch, grad));
    }
    match loss.family() {
        Family::Square { margin } => {
            fits::<G>(range, margin.or_larger(1.0))?;
            closed::auc_square(scores, labels, margin, grad)
        }
        Family::Hinge { margin, square } if !few => {
            fits::<G>(range, margin)?;
            sorted::auc(rows, margin, square, mean, scratch, grad)
        }
        Family::Exponential { rate } => closed::auc_exponential(scores, labels, rate, mean, grad),
        Family::Hinge { .. }
        | Family::Window { .. }
        | Family::Sigmoid { .. }
        | Family::Softplus { .. }
        | Family::Pairs => {
            kernel!(loss, l => fits_slopes::<G, _>(range, l))?;
            if let Some(window) = window(how, rows) {
                if window.fits(range, positives) {
                    return ramp_sums::auc(rows, window, mean, scratch, grad);
                }
                if SORTS {
                    return Ok(weighted::auc(rows, Form::Window(window), mean, scratch, grad));
                }
            }
            if let Some(value) = by_panels::<S, Y, G, false>(how, rows, mean, &mut scratch, grad) {
                return Ok(value);
            }
            if how.weighted && PAIR_WEIGHTS {
                return Ok(kernel!(loss, l => weighted::auc_of_all_pairs(scores, labels, l, mean, scratch.f64, grad)));
            }
            kernel!(loss, l => all_pairs::auc(scores, labels, l, mean, scratch.f64, grad))
        }
    }
}

/// The AP objective. (Inlined, so that programs whose surrogate is known link no other.)
#[inline(always)]
fn ap<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    rows: Rows<'_, S, Y>,
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let Rows { scores, labels, positives, range } = rows;
    let few = !how.way.sorts(rows.len(), positives);
    let weighs = how.weighted && PAIR_WEIGHTS;
    let mass = || labels.iter().filter(|y| y.is_positive()).map(|y| y.mass()).sum();
    let share = 1.0 / if weighs { mass() } else { positives as f64 };
    if let (Some(form), true) = (Form::of(how.loss), weighs) {
        fits_sorted_ap::<G, _, _>(rows, form.margin())?;
        return Ok(weighted::ap(rows, form, share, scratch, grad));
    }
    match how.loss.family() {
        Family::Square { margin } => {
            fits::<G>(range, margin.or_larger(1.0))?;
            if margin < 1e-60 {
                return Err(Error::Param { what: "margin" }); // g2 may be 0
            }
            fits_ratios::<G>(2.0 / margin, rows.len())?;
            closed::ap_square(scores, labels, margin, grad)
        }
        Family::Hinge { margin, square } if !few => {
            fits_sorted_ap::<G, _, _>(rows, margin)?;
            sorted::ap(rows, margin, square, scratch, grad)
        }
        Family::Exponential { rate } => {
            fits_ratios::<G>(rate, 1)?;
            Ok(closed::ap_exponential(scores, labels, rate, grad))
        }
        Family::Hinge { .. }
        | Family::Window { .. }
        | Family::Sigmoid { .. }
        | Family::Softplus { .. }
        | Family::Pairs => {
            fits_ap::<G>(how.loss, range, rows.len())?;
            if let Some(window) = window(how, rows) {
                if window.fits(range, positives) {
                    return ramp_sums::ap(rows, window, scratch, grad);
                }
                if SORTS {
                    return Ok(weighted::ap(rows, Form::Window(window), share, scratch, grad));
                }
            }
            if let Some(value) = by_panels::<S, Y, G, true>(how, rows, share, &mut scratch, grad) {
                return Ok(value);
            }
            if weighs {
                return Ok(
                    kernel!(how.loss, l => weighted::ap_of_all_pairs(scores, labels, l, share, scratch.f64, grad)),
                );
            }
            kernel!(how.loss, l => all_pairs::ap(scores, labels, l, positives, scratch.f64, grad))
        }
    }
}

/// `Ok` when a partial AUC can be over these rates.
fn check_rates((low, high): (f64, f64), tpr: f64) -> Result<()> {
    if !(0.0 <= low && low < high && high <= 1.0) {
        return Err(Error::Param { what: "fpr" });
    }
    if (0.0..1.0).contains(&tpr) { Ok(()) } else { Err(Error::Param { what: "tpr" }) }
}

/// Partial AUC; over the lowest positives from a true-positive rate on, the first of them by its part.
fn pauc<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    rows: Rows<'_, S, Y>,
    (fpr, tpr): ((f64, f64), f64),
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    if !how.loss.is_monotone() {
        return Err(Error::Unsupported { what: "partial AUC needs a monotone surrogate" });
    }
    check_rates(fpr, tpr)?;
    let Rows { scores, labels, positives, range } = rows;
    let negatives = (rows.len() - positives) as f64;
    let (from, to) = (fpr.0 * negatives, fpr.1 * negatives);
    if to <= from {
        return Err(Error::Param { what: "fpr" });
    }
    let (weights, rest) = scratch.f64.split_at_mut(rows.len());
    select(scores, labels, from, to, weights, scratch.u32, scratch.u64);
    scratch.f64 = rest;
    if tpr == 0.0 {
        let mean = 1.0 / (positives as f64 * (to - from));
        return auc(how, Rows { scores, labels: weights, positives, range }, mean, scratch, grad);
    }
    // (The part of a positive is added when the others' slopes are written, so what may not fit is asked before.)
    kernel!(how.loss, loss => {
        fits_slopes::<G, _>(range, loss)?;
        if !(4.0 * loss.value(range.0 - range.1)).is_finite() {
            return Err(Error::Overflow { what: "margin" });
        }
    });
    let count = (1.0 - tpr) * positives as f64;
    of_lowest(how, rows, weights, (count, 1.0 / (count * (to - from))), scratch, grad)
}

/// The same over the `count` lowest positives, of pairs that count `mean` times the weights of their negatives.
fn of_lowest<S: Real, Y: Class, G: Real>(
    how: How<'_>,
    rows: Rows<'_, S, Y>,
    weights: &mut [f64],
    (count, mean): (f64, f64),
    mut scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    // Positives above the range count as negatives without weight.
    let Rows { scores, labels, positives, range } = rows;
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
            let left = Rows { scores, labels: &*weights, positives: whole, range };
            value = auc(how, left, mean, scratch.reborrow(), grad)?;
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

/// AUC or `AP` of a smooth surrogate by panels, `unit` of a pair or a positive; `None` where all pairs are to be taken.
fn by_panels<S: Real, Y: Class, G: Real, const AP: bool>(
    how: How<'_>,
    rows: Rows<'_, S, Y>,
    unit: f64,
    scratch: &mut Scratch<'_, f64>,
    grad: &mut [G],
) -> Option<f64> {
    let (shape, scale) = Shape::of(how.loss)?;
    let (_, inverse) = tables::width::<FULL_TERMS>(scale)?;
    let (low, high) = rows.range;
    let panels = (((high - low) * inverse) as usize).min(rows.len() / 4).min(MOST_PANELS) + 1;
    let cost = way::Smooth { shape, planned: how.tables.is_some() };
    if !how.way.has_panels(cost, rows.len(), rows.positives, panels) {
        return None;
    }
    let most = how.way.most_panels(cost, rows.len(), rows.positives);
    let (of_broad, made) = how.tables.and_then(tables::parts).unzip();
    let of = Smooth { shape, scale, unit, made, most };
    if way::is_broad(rows.len(), panels, low.abs().or_larger(high.abs()) * inverse) {
        let of = Smooth { made: of_broad, ..of };
        let value = panel::sum::<S, Y, G, AP, BROAD_TERMS>(rows, of, scratch, grad);
        if value.is_some() {
            return value;
        }
    }
    if is_fast(how.grade, rows.range, scale, rows.len()) {
        let value = in_panels::<S, Y, G, AP, FAST_TERMS>(rows, of, scratch, grad);
        if value.is_some() {
            return value;
        }
    }
    let made = made.filter(|_| COMPACT || how.grade == Grade::Full);
    in_panels::<S, Y, G, AP, FULL_TERMS>(rows, Smooth { made, ..of }, scratch, grad)
}

/// The same by panels of so many terms, window by window where they are more than are kept.
fn in_panels<S: Real, Y: Class, G: Real, const AP: bool, const P: usize>(
    rows: Rows<'_, S, Y>,
    of: Smooth<'_>,
    scratch: &mut Scratch<'_, f64>,
    grad: &mut [G],
) -> Option<f64> {
    let value = panel::sum::<S, Y, G, AP, P>(rows, of, scratch, grad);
    if value.is_some() || !is_windowed(rows.len()) {
        return value;
    }
    wide::sum::<S, Y, G, AP, P>(rows, of, wide::OWN, scratch.reborrow(), grad)
}

/// The numbers of a smoothed hinge or ramp when sorting the positives pays. (Inlined, so that programs whose surrogate is known
/// do without.)
#[inline(always)]
fn window<S: Real, Y: Class>(how: How<'_>, rows: Rows<'_, S, Y>) -> Option<Window> {
    // Slopes do not grow with the scores, so whether they fit the gradients is asked elsewhere.
    let Family::Window { margin, width, round } = how.loss.family() else { return None };
    let sorts = how.way.sorts(rows.len(), rows.positives) && fits::<f64>(rows.range, margin).is_ok();
    sorts.then_some(Window { margin, width, round })
}

/// `Ok` when sums over rows of powers of margins stay in range, and gradients in the range of `G`.
pub(super) fn fits<G: Real>((low, high): Range, margin: f64) -> Result<()> {
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

/// The largest |ℓ'| of a pair; `Ok` when it does not leave the range of `G`.
fn fits_slopes<G: Real, L: Surrogate<f64>>((low, high): Range, loss: L) -> Result<f64> {
    let steepest = loss.slope(low - high).abs().or_larger(loss.slope(0.0).abs()).or_larger(loss.slope_unit().abs());
    // The smooth losses are steepest between.
    if steepest * 4.0 < G::MAX.f64() { Ok(steepest) } else { Err(Error::Overflow { what: "margin" }) }
}

/// `Ok` when no derivative of the AP objective leaves the range of `G`: a positive's own is at most twice the sum of
/// |ℓ'|/g2 over the rows, and `largest` bounds one of them (2/m for the hinge family: ℓ ≤ g2 and m ≤ √g2).
pub(super) fn fits_ratios<G: Real>(largest: f64, rows: usize) -> Result<()> {
    if 4.0 * largest * (rows as f64) < G::MAX.f64() { Ok(()) } else { Err(Error::Overflow { what: "margin" }) }
}

/// Both for AP of the hinge family over sorted rows.
fn fits_sorted_ap<G: Real, S: Real, Y: Class>(rows: Rows<'_, S, Y>, margin: f64) -> Result<()> {
    fits::<G>(rows.range, margin)?;
    fits_ratios::<G>(2.0 / margin, rows.len())
}

/// The same for AP by windows, panels and all pairs.
fn fits_ap<G: Real>(loss: AnySurrogate<f64>, range: Range, rows: usize) -> Result<()> {
    // The pair (i, i) keeps g2 from 0, and 1/g2² has to fit.
    let own = loss.value(0.0);
    if own < 1e-120 {
        return Err(Error::Param { what: "margin" });
    }
    let steepest = kernel!(loss, l => fits_slopes::<G, _>(range, l))?;
    let largest = match loss.family() {
        Family::Hinge { margin, square: true } => 2.0 / margin,
        Family::Hinge { .. }
        | Family::Pairs
        | Family::Square { .. }
        | Family::Exponential { .. }
        | Family::Window { .. }
        | Family::Sigmoid { .. }
        | Family::Softplus { .. } => steepest / own,
    };
    fits_ratios::<G>(largest, rows)
}
