//! Sigmoid and logistic losses over whole data by panels, in time linear in the number of rows and without sorting.
//!
//! Scores, in units of 1/c, fall into panels of half-width w. Inside a panel a score is its centre plus w·x, |x| ≤ 1, and
//! a panel keeps the moments Σ x^p, p < P, of each class. In units of the scores the width is a power of two and the
//! centres are multiples of it, so x and the distances are exact, wherever the scores lie. A loss at distance t from panel
//! to panel is a polynomial
//!
//! ```text
//! ℓ(2wD + w(x − y)) ≈ Σ_ab C_D[a][b] x^a y^b          (Chebyshev in both variables, |2wD| ≤ T)
//! ```
//!
//! with one small table per distance D ≥ 0. Swapping x with −y leaves x − y, so C_D[b][a] = (−1)^(a+b) C_D[a][b]; and as
//! ℓ(−t) is ℓ(t), 1 − ℓ(t) or ℓ(t) + t, the same table serves −D, and two panels as far on either side of a third go
//! through it together. Beyond T a short sum of exponentials factorises and is carried from panel to panel:
//!
//! ```text
//! σ(−t) = Σ_k (−1)^(k+1) e^(−kt),   ln(1 + e^(−t)) = Σ_k (−1)^(k+1) e^(−kt)/k          (t > T; mirrored for t < −T)
//! ```
//!
//! so the cost does not depend on how far the scores spread; panels without rows are skipped. Moments become local polynomials at the target panels, which
//! Horner's rule evaluates at each score. AP does this twice, the second time with the pair weights of
//! Qi et al. 2021 (SOAP) eq. (2)–(4) as described in the sorted sums. The method is a one-dimensional fast multipole
//! scheme; it is not from a paper on AUC.
//!
//! Cost: O(n·P + K·(T/w)·P²) for K panels. Where the scores spread over more panels than the scratch holds, the bulk of
//! them keeps consecutive panels and the others get the panels that they occupy, found by sorting theirs alone.
//!
//! The tables depend on the surrogate and P alone, since w is a power of two over c, or 7/8 of one. They take 3 to 18 µs, a third of a sum
//! of a thousand rows; a caller that sums again and again keeps them in a [`Plan`](super::Plan).

mod field;
mod grid;

pub(super) use field::{Kernel, fading_powers, horner, powers};
pub(super) use grid::{is_fast, is_windowed, panels, rounded};

use super::tables::{FAST_TERMS, FULL_TERMS, Shape, Tables, tables_len};
use super::weight::{Class, Rows};
use crate::parts::{PARTS, each, part_len, parts_of, parts_of_mut};
use crate::real::Real;
use crate::scratch::Scratch;
use crate::slices::Place as _;
use grid::{BLOCK, Grid, grid, limit};

/// Arrays of moments or local polynomials that a call keeps.
const ARRAYS: usize = 10;

/// `f64` and `u64` elements that [`auc`] borrows, or [`ap`], with at most so many panels of [`FULL_TERMS`].
pub(super) const fn need(rows: usize, most: usize, ap: bool) -> (usize, usize) {
    // (Parts of many rows have moments of their own.)
    let arrays = if ap || part_len(rows) < rows { ARRAYS } else { ARRAYS / 2 };
    (limit::<FAST_TERMS>(rows, most) + tables_len(FULL_TERMS) + most * arrays * FULL_TERMS, rows)
}
const _: () = assert!(2 * FAST_TERMS <= FULL_TERMS);

/// A sum of a smooth surrogate.
#[derive(Clone, Copy)]
pub(super) struct Smooth<'a> {
    pub shape: Shape,
    pub scale: f64,
    /// What a pair counts, or a positive of AP.
    pub unit: f64,
    /// The tables of the surrogate, if [`make`](super::tables::make) made them.
    pub made: Option<&'a [f64]>,
    /// Panels of [`FULL_TERMS`] at most.
    pub most: usize,
}

/// The panels that hold rows, ascending, in `keys`, which has room for one of each row: exponentials skip the others.
fn held<'k, const P: usize>(negatives: &[[f64; P]], positives: &[[f64; P]], keys: &'k mut [u64]) -> &'k [u64] {
    let mut count = 0;
    for (at, (n, p)) in (0..).zip(negatives.iter().zip(positives)) {
        if let Some(key) = keys.get_mut(count).filter(|_| n[0] != 0.0 || p[0] != 0.0) {
            *key = at;
            count += 1;
        }
    }
    keys.span(0..count)
}

/// Rows that share moments before these are added up. Parts cost [`PARTS`] times the moments, so few rows or many panels
/// make one part.
fn shared_len(rows: usize, count: usize) -> usize {
    if count <= rows / 256 && 2 * (PARTS + ARRAYS) * count <= ARRAYS * panels(rows) { part_len(rows) } else { rows }
}

/// Moments of every row: negatives with their weights first, then the positives. `spare` holds those of the parts.
fn gather<S: Real, Y: Class, const P: usize>(
    grid: &Grid<'_>,
    scores: &[S],
    labels: &[Y],
    moments: &mut [[f64; P]],
    spare: &mut [[f64; P]],
) {
    let len = shared_len(scores.len(), grid.numbers.len());
    if len >= scores.len() {
        gather_part(grid, scores, labels, moments);
        return;
    }
    let size = moments.len().max(1);
    let parts = parts_of(scores, len).zip(parts_of(labels, len));
    each(parts.zip(spare.chunks_exact_mut(size)), |((scores, labels), moments)| {
        gather_part(grid, scores, labels, moments);
    });
    total(moments, spare.chunks_exact(size).take(scores.len().div_ceil(len)));
}

/// Sums of the moments of parts, in order.
fn total<'a, const P: usize>(moments: &mut [[f64; P]], parts: impl Iterator<Item = &'a [[f64; P]]>) {
    moments.fill([0.0; P]);
    for part in parts {
        for (m, part) in moments.iter_mut().zip(part) {
            for q in 0..P {
                m[q] += part[q];
            }
        }
    }
}

fn gather_part<S: Real, Y: Class, const P: usize>(
    grid: &Grid<'_>,
    scores: &[S],
    labels: &[Y],
    moments: &mut [[f64; P]],
) {
    moments.fill([0.0; P]);
    let count = grid.numbers.len() as u32;
    let (mut panel, mut x) = ([0; BLOCK], [0.0; BLOCK]);
    for (scores, labels) in scores.chunks(BLOCK).zip(labels.chunks(BLOCK)) {
        grid.place::<S, P>(scores, &mut panel, &mut x);
        for (p, &y) in panel.iter_mut().zip(labels) {
            *p += if y.is_positive() { count } else { 0 };
        }
        for ((&p, &x), &y) in panel.iter().zip(&x).zip(labels) {
            let Some(m) = moments.get_mut(p as usize) else { break };
            let mut powers = powers::<P>(x);
            if Y::WEIGHTED {
                let weight = y.mass();
                powers = powers.map(|p| weight * p);
            }
            for q in 0..P {
                m[q] += powers[q];
            }
        }
    }
}

/// Writes the local polynomial of each row's panel and class at its score; negatives times their weights. `finish` then
/// gets the labels of each block, their panels (of positives plus the number of panels), places and gradients.
#[inline(always)]
fn spread<S: Real, Y: Class, G: Real, const P: usize>(
    grid: &Grid<'_>,
    scores: &[S],
    labels: &[Y],
    local: &[[f64; P]],
    grad: &mut [G],
    finish: impl Fn(&[Y], &[u32; BLOCK], &[f64; BLOCK], &mut [G]) + Sync,
) {
    let len = part_len(scores.len());
    let parts = parts_of(scores, len).zip(parts_of(labels, len)).zip(parts_of_mut(grad, len));
    each(parts, |((scores, labels), grad)| spread_part(grid, scores, labels, local, grad, &finish));
}

#[inline(always)]
fn spread_part<S: Real, Y: Class, G: Real, const P: usize>(
    grid: &Grid<'_>,
    scores: &[S],
    labels: &[Y],
    local: &[[f64; P]],
    grad: &mut [G],
    finish: impl Fn(&[Y], &[u32; BLOCK], &[f64; BLOCK], &mut [G]),
) {
    let count = grid.numbers.len() as u32;
    let (mut panel, mut x) = ([0; BLOCK], [0.0; BLOCK]);
    let blocks = scores.chunks(BLOCK).zip(labels.chunks(BLOCK)).zip(grad.chunks_mut(BLOCK));
    for ((scores, labels), grad) in blocks {
        grid.place::<S, P>(scores, &mut panel, &mut x);
        for (p, &y) in panel.iter_mut().zip(labels) {
            *p += if y.is_positive() { count } else { 0 };
        }
        for (((&p, &x), &y), g) in panel.iter().zip(&x).zip(labels).zip(&mut *grad) {
            let Some(local) = local.get(p as usize) else { break };
            let c = horner(local, x);
            *g = G::settled_of(if Y::WEIGHTED { y.mass() * c } else { c });
        }
        finish(labels, &panel, &x, grad);
    }
}

/// AUC or `AP` by panels of `P` terms; see [`auc`].
pub(super) fn sum<S: Real, Y: Class, G: Real, const AP: bool, const P: usize>(
    rows: Rows<'_, S, Y>,
    of: Smooth<'_>,
    scratch: &mut Scratch<'_, f64>,
    grad: &mut [G],
) -> Option<f64> {
    let (memory, keys) = (&mut *scratch.f64, &mut *scratch.u64);
    match AP {
        true => ap::<S, Y, G, P>(rows, of, memory, keys, grad),
        false => auc::<S, Y, G, P>(rows, of, memory, keys, grad),
    }
}

/// Mean of ℓ over positives × weighted negatives, and its derivative by every score. `None` (and nothing written) when the
/// scores occupy more panels than the scratch holds or the sum leaves the range. The caller has checked the data.
fn auc<S: Real, Y: Class, G: Real, const P: usize>(
    rows: Rows<'_, S, Y>,
    of: Smooth<'_>,
    memory: &mut [f64],
    keys: &mut [u64],
    grad: &mut [G],
) -> Option<f64> {
    let Rows { scores, labels, range, .. } = rows;
    let (grid, memory) = grid::<S, P>(scores, range, of.scale, of.most, memory, keys)?;
    let (own, arrays) = memory.split_at_mut_checked(tables_len(P))?;
    let tables = Tables::<P>::given_or_made(of.made, of.shape, grid.half, own)?;
    let [of_value, of_slope, back] = of.shape.kernels();
    let count = grid.numbers.len();
    let arrays = arrays.as_chunks_mut::<P>().0;
    let (moments, arrays) = arrays.split_at_mut_checked(2 * count)?;
    let (local, arrays) = arrays.split_at_mut_checked(2 * count)?;
    let (values, spare) = arrays.split_at_mut_checked(count)?;
    gather(&grid, scores, labels, moments, spare);
    let (negatives, positives) = moments.split_at_checked(count)?;
    let held = held(negatives, positives, keys);
    tables.sum(of_value, grid.numbers, held, negatives, positives, values);
    let mut value = 0.0;
    for (local, m) in values.iter().zip(positives) {
        for q in 0..P {
            value += local[q] * m[q];
        }
    }
    if !value.is_finite() {
        return None;
    }
    let (at_negatives, at_positives) = local.split_at_mut_checked(count)?;
    tables.sum(of_slope, grid.numbers, held, negatives, positives, at_positives);
    tables.sum(back, grid.numbers, held, positives, negatives, at_negatives);
    let unit = of.scale * of.unit;
    for c in at_negatives.iter_mut() {
        *c = c.map(|c| c * unit);
    }
    for c in at_positives.iter_mut() {
        *c = c.map(|c| -(c * unit));
    }
    spread(&grid, scores, labels, local, grad, |_, _, _, _| {});
    Some(value * of.unit)
}

/// What AP weighs its positives by.
struct Weigher<'a, const P: usize> {
    /// Local polynomials of Σ ℓ over negatives and over positives, and of Σ ℓ'.
    values: [&'a [[f64; P]]; 2],
    slopes: [&'a [[f64; P]]; 2],
    scale: f64,
    share: f64,
}

impl<const P: usize> Weigher<'_, P> {
    /// Of one positive: its ratio, its weights for negatives and for positives, and its own derivative.
    #[inline(always)]
    fn weigh(&self, k: usize, x: f64, mass: f64) -> [f64; 4] {
        let share = self.share * mass;
        let ([value_n, value_p], [slope_n, slope_p]) = (self.values, self.slopes);
        let (Some(value_n), Some(value_p), Some(slope_n), Some(slope_p)) =
            (value_n.get(k), value_p.get(k), slope_n.get(k), slope_p.get(k))
        else {
            return [0.0; 4];
        };
        let (g_n, g_p) = (horner(value_n, x), horner(value_p, x));
        let inverse = 1.0 / (g_n + g_p);
        let (beta, both) = (share * g_p * inverse * inverse, -(share * g_n * inverse * inverse));
        let own = -self.scale * (both * horner(slope_p, x) + beta * horner(slope_n, x));
        [g_p * inverse, beta, both, own]
    }

    /// The moments of some rows' positives by their weights, first those for negatives. Returns the rows' part of the value.
    fn gather<S: Real, Y: Class>(&self, grid: &Grid<'_>, scores: &[S], labels: &[Y], weighted: &mut [[f64; P]]) -> f64 {
        weighted.fill([0.0; P]);
        let mut value = 0.0;
        let (mut panel, mut x) = ([0; BLOCK], [0.0; BLOCK]);
        for (scores, labels) in scores.chunks(BLOCK).zip(labels.chunks(BLOCK)) {
            // The positives alone, moved together without a branch.
            let (mut held, mut masses) = ([S::ZERO; BLOCK], [1.0; BLOCK]);
            let mut found = 0;
            for (&s, &y) in scores.iter().zip(labels) {
                held[found % BLOCK] = s;
                if Y::WEIGHTED {
                    masses[found % BLOCK] = y.mass();
                }
                found += usize::from(y.is_positive());
            }
            let held = held.span(0..found);
            grid.place::<S, P>(held, &mut panel, &mut x);
            for ((&k, &x), &mass) in panel.iter().zip(&x).zip(&masses).take(found) {
                let [ratio, beta, both, _] = self.weigh(k as usize, x, mass);
                value -= self.share * mass * ratio;
                let powers = powers::<P>(x);
                let Some((of_negatives, of_positives)) = weighted.split_at_mut_checked(grid.numbers.len()) else {
                    break;
                };
                let (Some(n), Some(p)) = (of_negatives.get_mut(k as usize), of_positives.get_mut(k as usize)) else {
                    break;
                };
                for q in 0..P {
                    n[q] += beta * powers[q];
                    p[q] += both * powers[q];
                }
            }
        }
        value
    }

    /// The same of all rows; `spare` holds the moments of the parts.
    fn gather_all<S: Real, Y: Class>(
        &self,
        grid: &Grid<'_>,
        scores: &[S],
        labels: &[Y],
        weighted: &mut [[f64; P]],
        spare: &mut [[f64; P]],
    ) -> f64 {
        let len = shared_len(scores.len(), grid.numbers.len());
        if len >= scores.len() {
            return self.gather(grid, scores, labels, weighted);
        }
        let mut values = [0.0; PARTS];
        let parts = parts_of(scores, len).zip(parts_of(labels, len));
        let size = weighted.len().max(1);
        each(parts.zip(spare.chunks_exact_mut(size)).zip(&mut values), |(((scores, labels), weighted), value)| {
            *value = self.gather(grid, scores, labels, weighted);
        });
        total(weighted, spare.chunks_exact(size).take(scores.len().div_ceil(len)));
        values.iter().sum()
    }
}

/// The AP objective −1/n₊ Σ g1/g2 and its derivative by every score; see [`auc`], also for `None`.
fn ap<S: Real, Y: Class, G: Real, const P: usize>(
    rows: Rows<'_, S, Y>,
    of: Smooth<'_>,
    memory: &mut [f64],
    keys: &mut [u64],
    grad: &mut [G],
) -> Option<f64> {
    let Rows { scores, labels, range, .. } = rows;
    let (grid, memory) = grid::<S, P>(scores, range, of.scale, of.most, memory, keys)?;
    let (own, arrays) = memory.split_at_mut_checked(tables_len(P))?;
    let tables = Tables::<P>::given_or_made(of.made, of.shape, grid.half, own)?;
    let [of_value, of_slope, back] = of.shape.kernels();
    let count = grid.numbers.len();
    let arrays = arrays.as_chunks_mut::<P>().0;
    let (moments, arrays) = arrays.split_at_mut_checked(2 * count)?;
    let (weighted, arrays) = arrays.split_at_mut_checked(2 * count)?;
    let (local, arrays) = arrays.split_at_mut_checked(2 * count)?;
    let (value_n, arrays) = arrays.split_at_mut_checked(count)?;
    let (value_p, arrays) = arrays.split_at_mut_checked(count)?;
    let (slope_n, arrays) = arrays.split_at_mut_checked(count)?;
    let (slope_p, spare) = arrays.split_at_mut_checked(count)?;
    gather(&grid, scores, labels, moments, spare);
    let (negatives, positives) = moments.split_at_checked(count)?;
    let held = held(negatives, positives, keys);
    tables.sum(of_value, grid.numbers, held, negatives, positives, value_n);
    tables.sum(of_value, grid.numbers, held, positives, positives, value_p);
    tables.sum(of_slope, grid.numbers, held, negatives, positives, slope_n);
    tables.sum(of_slope, grid.numbers, held, positives, positives, slope_p);
    let (values, slopes) = ([&*value_n, value_p], [&*slope_n, slope_p]);
    let weigher = Weigher { values, slopes, scale: of.scale, share: of.unit };
    let value = weigher.gather_all(&grid, scores, labels, weighted, spare);
    // Sums of very distant rows may not fit.
    if !(value.is_finite() && weighted.iter().flatten().all(|m| m.is_finite())) {
        return None;
    }
    let (beta, both) = weighted.split_at_checked(count)?;
    let (at_negatives, at_positives) = local.split_at_mut_checked(count)?;
    tables.sum(back, grid.numbers, held, beta, negatives, at_negatives);
    tables.sum(back, grid.numbers, held, both, positives, at_positives);
    for c in local.iter_mut() {
        *c = c.map(|c| c * of.scale);
    }
    spread(&grid, scores, labels, local, grad, |labels, panel, x, grad| {
        for (((&y, &p), &x), g) in labels.iter().zip(panel).zip(x).zip(grad) {
            if y.is_positive() {
                let k = p as usize - count;
                let Some(local) = local.get(p as usize) else { break };
                *g = G::settled_of(y.mass() * horner(local, x) + weigher.weigh(k, x, y.mass())[3]);
            }
        }
    });
    Some(value)
}

#[cfg(all(test, feature = "alloc", not(feature = "compact")))]
mod tests {
    use super::*;
    use crate::pairs::tables::TERMS;
    use crate::rng::Rng;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Multiplications of one sum over these scores, and whether a grid was found without sorting; `None` where windows take
    /// the sum.
    fn work<const P: usize>(scores: &[f64]) -> Option<(usize, bool)> {
        let low = scores.iter().fold(f64::INFINITY, |low, &s| low.or_smaller(s));
        let high = scores.iter().fold(f64::NEG_INFINITY, |high, &s| high.or_larger(s));
        let most = panels(scores.len());
        let (memory, rows) = need(scores.len(), most, true);
        let (mut memory, mut keys) = (vec![0.0; memory], vec![0; rows]);
        let (grid, _) = grid::<f64, P>(scores, (low, high), 1.0, most, &mut memory, &mut keys)?;
        let reach = (4.0 / (2.0 * grid.half)) as usize as f64;
        let mut moments = vec![[0.0; P]; 2 * grid.numbers.len()];
        gather_part(&grid, scores, &vec![0u8; scores.len()], &mut moments);
        let (negatives, positives) = moments.split_at(grid.numbers.len());
        let mut room = vec![0; scores.len()];
        let held = held(negatives, positives, &mut room);
        assert!(held.iter().all(|&k| negatives[k as usize][0] > 0.0) && !held.is_empty());
        let at: Vec<f64> = held.iter().map(|&k| grid.numbers[k as usize]).collect();
        let near: usize =
            at.iter().map(|x| at.partition_point(|y| *y <= x + reach) - at.partition_point(|y| *y < x - reach)).sum();
        Some((2 * P * scores.len() + P * P * near + 4 * TERMS * P * held.len(), grid.dense))
    }

    #[test]
    fn the_lower_grade_never_multiplies_more_than_the_higher() {
        let mut rng = Rng::new(1);
        for rows in [1_000, 4_000, 10_000, 100_000] {
            for kind in ["normal", "wide", "outlier", "clusters", "distant clusters", "powers"] {
                let mut scores: Vec<f64> = (0..rows)
                    .map(|k| {
                        let (score, side) = (rng.normal(), if k % 2 == 0 { 1.0 } else { -1.0 });
                        match kind {
                            "wide" => 100.0 * score,
                            "clusters" => score + 1000.0 * side,
                            "distant clusters" => score + 1e7 * side,
                            "powers" => Real::exp(10.0 * score),
                            _ => score,
                        }
                    })
                    .collect();
                if kind == "outlier" {
                    scores[rows / 2] = 1e6;
                }
                let range = scores.iter().fold((0.0f64, 0.0f64), |(a, b), &s| (a.or_smaller(s), b.or_larger(s)));
                let Some((full, full_is_dense)) = work::<FULL_TERMS>(&scores) else {
                    assert!(rows > panels(rows) && kind == "powers" && work::<FAST_TERMS>(&scores).is_none());
                    continue;
                };
                if is_fast(crate::pairs::Grade::Fast, range, 1.0, rows) {
                    let (fast, fast_is_dense) = work::<FAST_TERMS>(&scores).unwrap();
                    assert!(fast <= full, "{rows} rows, {kind}: {fast} and {full} multiplications");
                    assert!(fast_is_dense || !full_is_dense, "{rows} rows, {kind}: one sorts alone");
                } else {
                    assert!(full_is_dense && kind != "normal", "{rows} rows, {kind}");
                }
            }
        }
    }
}
