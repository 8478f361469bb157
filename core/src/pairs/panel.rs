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
//! The tables depend on the surrogate and P alone, since w is a power of two over c. They take 3 to 18 µs, a third of a sum
//! of a thousand rows; a caller that sums again and again keeps them in a [`Plan`](super::Plan).

use super::tables::{FAST_TERMS, FULL_TERMS, Shape, TERMS, Tables, tables_len, width};
use super::weight::Class;
use crate::parts::{PARTS, each, part_len, parts_of, parts_of_mut};
use crate::real::Real;
use crate::slices::Place as _;

/// Rows taken at a time.
const BLOCK: usize = 64;
/// Panels whose tables are worth sharing between threads.
const MANY: usize = 1024;
/// Arrays of moments or local polynomials that a call keeps.
const ARRAYS: usize = 10;

/// Panels that so many rows can fill, at most.
pub(super) const fn panels(rows: usize) -> usize {
    if rows > 1 << 16 { 1 << 16 } else { rows }
}

/// Consecutive panels up to which no row is sorted.
const fn dense_panels(rows: usize) -> usize {
    if rows < 512 { 512 } else { panels(rows) }
}

/// The same limit for panels of `P` terms: those of the lower grade are half as wide, and hold half as much.
const fn limit<const P: usize>(rows: usize, most: usize) -> usize {
    if P == FULL_TERMS {
        most
    } else if 2 * most < panels(rows) {
        2 * most
    } else {
        panels(rows)
    }
}

/// `f64` and `u64` elements that [`auc`] borrows, or [`ap`], with at most so many panels of [`FULL_TERMS`].
pub(super) const fn need(rows: usize, most: usize, ap: bool) -> (usize, usize) {
    // (Parts of many rows have moments of their own.)
    let arrays = if ap || part_len(rows) < rows { ARRAYS } else { ARRAYS / 2 };
    (limit::<FAST_TERMS>(rows, most) + tables_len(FULL_TERMS) + most * arrays * FULL_TERMS, rows)
}
const _: () = assert!(2 * FAST_TERMS <= FULL_TERMS);

impl Shape {
    /// The kernels of the value, of the slope in units of −c, and of the slope from the other side.
    pub(super) fn kernels(self) -> [Kernel; 3] {
        match self {
            Self::Sigmoid => [Kernel::Step, Kernel::Bump, Kernel::Bump],
            Self::Logistic => [Kernel::Softplus, Kernel::Step, Kernel::Reverse],
        }
    }
}

/// A function of u = (target − source) that is summed over panels. For u < 0 it follows from u > 0: σ(u) = 1 − σ(−u), and
/// ln(1 + e^u) = ln(1 + e^(−u)) + u.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kernel {
    /// ln(1 + e^(−u))
    Softplus,
    /// σ(−u)
    Step,
    /// σ(u)
    Reverse,
    /// σ(u)σ(−u)
    Bump,
}

impl Kernel {
    /// Coefficient of e^(−k|u|), by side (0: u > 0, 1: u < 0), the constant, and the factor of |u|.
    pub(super) fn far(self, side: usize, k: usize) -> f64 {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        match self {
            Self::Softplus => sign / k as f64,
            Self::Step | Self::Reverse => sign * self.sign(side),
            Self::Bump => sign * k as f64,
        }
    }
    pub(super) fn constant(self, side: usize) -> f64 {
        if matches!((self, side), (Self::Step, 1) | (Self::Reverse, 0)) { 1.0 } else { 0.0 }
    }
    pub(super) fn linear(self, side: usize) -> f64 {
        if matches!((self, side), (Self::Softplus, 1)) { 1.0 } else { 0.0 }
    }
    /// Factor of what the table holds, to which the constant and |u| are added.
    fn sign(self, side: usize) -> f64 {
        1.0 - 2.0 * self.constant(side)
    }
}

/// Where a score lies.
#[derive(Clone, Copy)]
struct Grid<'a> {
    /// 1 / the width of a panel, a power of two.
    inverse: f64,
    /// Half the width of a panel in units of 1/c.
    half: f64,
    /// Panel numbers (score / width, rounded) in ascending order.
    numbers: &'a [f64],
    /// Which of them are consecutive.
    bulk: (usize, usize),
    /// Whether all scores lie in those.
    dense: bool,
}

/// 1.5·2^52: adding it rounds to an integer, which the low bits then count.
const ONES: f64 = 6_755_399_441_055_744.0;
/// Panel numbers below this may be found so.
const LARGEST: f64 = 1e15;

/// The panel that a score, in widths of panels, lies in.
#[inline(always)]
pub(super) fn rounded(u: f64) -> f64 {
    if u.abs() < LARGEST { (u + ONES) - ONES } else { libm::rint(u) }
}

impl Grid<'_> {
    /// Panel and place in it (|x| ≤ 1) of up to [`BLOCK`] scores.
    #[inline(always)]
    fn place<S: Real>(&self, scores: &[S], panel: &mut [u32; BLOCK], x: &mut [f64; BLOCK]) {
        let (start, end) = self.bulk;
        let first = (self.numbers.get(start).unwrap_or(&0.0) + ONES).to_bits();
        if self.dense {
            for ((s, p), x) in scores.iter().zip(panel).zip(x) {
                let u = s.f64() * self.inverse;
                let shifted = u + ONES;
                *p = shifted.to_bits().wrapping_sub(first) as u32;
                *x = 2.0 * (u - (shifted - ONES));
            }
            return;
        }
        for ((s, p), x) in scores.iter().zip(panel).zip(x) {
            let u = s.f64() * self.inverse;
            let shifted = u + ONES;
            let at = shifted.to_bits().wrapping_sub(first);
            if at < (end - start) as u64 {
                *p = start as u32 + at as u32;
                *x = 2.0 * (u - (shifted - ONES));
            } else {
                let number = libm::rint(u);
                *p = self.numbers.partition_point(|&k| k < number) as u32;
                *x = 2.0 * (u - number);
            }
        }
    }
}

/// 1, x, x², …
#[inline(always)]
pub(super) fn powers<const P: usize>(x: f64) -> [f64; P] {
    let mut p = [1.0; P];
    for k in 1..P {
        p[k] = if k % 2 == 0 { p[k / 2] * p[k / 2] } else { p[k - 1] * x };
    }
    p
}

#[inline(always)]
pub(super) fn horner<const P: usize>(c: &[f64; P], x: f64) -> f64 {
    let mut sum = c[P - 1];
    for k in (0..P - 1).rev() {
        sum = sum * x + c[k];
    }
    sum
}

impl<const P: usize> Tables<'_, P> {
    /// Local polynomials of Σ_sources kernel(target − source) at the panels where rows are `wanted`: those whose moments
    /// there are not 0. The others get anything. `held` are the panels that hold rows.
    fn sum(
        &self,
        kernel: Kernel,
        numbers: &[f64],
        held: &[u64],
        moments: &[[f64; P]],
        wanted: &[[f64; P]],
        local: &mut [[f64; P]],
    ) {
        let len = if local.len() < MANY { local.len().max(1) } else { local.len().div_ceil(PARTS) };
        let parts = parts_of_mut(local, len).enumerate();
        each(parts, |(part, local)| self.near(kernel, numbers, moments, wanted, part * len, local));
        self.far(kernel, numbers, held, moments, wanted, local);
    }

    /// Writes what comes from the panels that the tables reach to those from `first` on.
    pub(super) fn near(
        &self,
        kernel: Kernel,
        numbers: &[f64],
        moments: &[[f64; P]],
        wanted: &[[f64; P]],
        first: usize,
        local: &mut [[f64; P]],
    ) {
        const NOTHING: f64 = f64::INFINITY;
        let of_value = self.shape.kernels()[0] == kernel;
        let table = if of_value { self.value } else { self.slope };
        let reach = (table.len() - 1) as f64;
        let width = 2.0 * self.half;
        for (target, out) in (first..).zip(local) {
            *out = [0.0; P];
            let (Some(wanted), Some(&here)) = (wanted.get(target), numbers.get(target)) else { continue };
            if wanted[0] == 0.0 {
                continue;
            }
            let (mut below, mut above) = (target + 1, target + 1);
            // Σ of the sources and, above, of their distances.
            let (mut masses, mut length) = ([0.0; 2], 0.0);
            loop {
                // The panels next in distance, one on either side where both are as far.
                let left = numbers.get(below.wrapping_sub(1)).map_or(NOTHING, |there| here - there);
                let right = numbers.get(above).map_or(NOTHING, |there| there - here);
                let distance = left.or_smaller(right);
                if distance > reach {
                    break;
                }
                let mut sources = [&[0.0; P]; 2];
                if left == distance {
                    below -= 1;
                    sources[0] = moments.get(below).unwrap_or(sources[0]);
                }
                if right == distance {
                    sources[1] = moments.get(above).unwrap_or(sources[1]);
                    above += 1;
                }
                let [left, right] = sources;
                if left[0] == 0.0 && right[0] == 0.0 {
                    continue; // weights of one sign: empty panels
                }
                for side in 0..2 {
                    masses[side] += sources[side][0];
                }
                length += width * distance * right[0] + self.half * right[1];
                // C[a][b] = (−1)^(a+b) C[b][a], and so it is for −D: even and odd coefficients take sums and differences.
                let Some(c) = table.get(distance as usize) else { break };
                let (of_left, of_right) = (kernel.sign(0), kernel.sign(1));
                for (b, row) in c.iter().enumerate() {
                    let (left, right) = (of_left * left[b], of_right * right[b]);
                    let (sum, difference) = (right + left, right - left);
                    let by = if b % 2 == 0 { [sum, difference] } else { [difference, sum] };
                    for a in 0..P {
                        out[a] += by[a % 2] * row[a];
                    }
                }
            }
            out[0] += kernel.constant(0) * masses[0] + kernel.constant(1) * masses[1];
            out[0] += kernel.linear(1) * length;
            out[1] -= kernel.linear(1) * self.half * masses[1];
        }
    }

    /// Adds the panels more than `near` away: from the left (side 0) and from the right (side 1).
    fn far(
        &self,
        kernel: Kernel,
        numbers: &[f64],
        held: &[u64],
        moments: &[[f64; P]],
        wanted: &[[f64; P]],
        local: &mut [[f64; P]],
    ) {
        let (count, width, reach) = (held.len(), 2.0 * self.half, (self.value.len() - 1) as f64);
        let decay = |distance: f64| fading_powers(width * distance, REACH);
        let (one, entry) = (decay(1.0), decay(reach + 1.0));
        for side in 0..2 {
            let mirror = if side == 0 { 1.0 } else { -1.0 };
            let at = |k: usize| held.at(if side == 0 { k } else { count - 1 - k }) as usize;
            // Σ e^(−k·distance), the number of sources, and Σ of their distances.
            let (mut sums, mut mass, mut length) = ([0.0; TERMS], 0.0, 0.0);
            let mut next = 0;
            for k in 0..count {
                let target = at(k);
                if k > 0 {
                    let step = (numbers.at(target) - numbers.at(at(k - 1))) * mirror;
                    let factor = if step == 1.0 { one } else { decay(step) };
                    for q in 0..TERMS {
                        sums[q] = (sums[q] * factor[q]).settled();
                    }
                    length += mass * (width * step);
                }
                while next < k {
                    let source = at(next);
                    let distance = (numbers.at(target) - numbers.at(source)) * mirror;
                    if distance <= reach {
                        break;
                    }
                    next += 1;
                    let Some(m) = moments.get(source).filter(|m| m[0] != 0.0) else { continue };
                    let factor = if distance == reach + 1.0 { entry } else { decay(distance) };
                    for ((total, factor), growth) in sums.iter_mut().zip(&factor).zip(self.growth) {
                        let mut sum = 0.0;
                        let mut sign = 1.0;
                        for p in 0..P {
                            sum += sign * growth[p] * m[p];
                            sign *= mirror;
                        }
                        *total += (factor * sum).settled();
                    }
                    mass += m[0];
                    length += width * distance * m[0] - mirror * self.half * m[1];
                }
                if next == 0 || wanted.get(target).is_none_or(|wanted| wanted[0] == 0.0) {
                    continue;
                }
                let Some(out) = local.get_mut(target) else { break };
                for ((term, sum), growth) in (1..).zip(&sums).zip(self.growth) {
                    let scaled = kernel.far(side, term) * sum;
                    let mut sign = 1.0;
                    for p in 0..P {
                        out[p] += scaled * sign * growth[p];
                        sign *= -mirror;
                    }
                }
                out[0] += kernel.constant(side) * mass;
                // Distances may not fit where only the softplus asks for them.
                if kernel.linear(side) != 0.0 {
                    out[0] += kernel.linear(side) * length;
                    out[1] += kernel.linear(side) * mirror * self.half * mass;
                }
            }
        }
    }
}

/// −ln of `FAINT`.
const REACH: f64 = 485.0 * core::f64::consts::LN_2;

/// e^(−d), e^(−2d), … for d > 0, and 0 for those beyond e^(−`reach`).
pub(super) fn fading_powers(d: f64, reach: f64) -> [f64; TERMS] {
    let mut out = [0.0; TERMS];
    let once = if d < reach { Real::exp(-d) } else { 0.0 };
    let mut power = once;
    for out in out.iter_mut().take((reach / d) as usize) {
        *out = power;
        power *= once;
    }
    out
}

/// The grid for these scores and the arrays of its panels, or `None` when the scratch holds too few panels.
fn grid<'a, S: Real, const P: usize>(
    scores: &[S],
    range: (f64, f64),
    scale: f64,
    most: usize,
    memory: &'a mut [f64],
    keys: &mut [u64],
) -> Option<(Grid<'a>, &'a mut [f64])> {
    let (half, inverse) = width::<P>(scale)?;
    let (low, high) = range;
    let (first, last) = (libm::rint(low * inverse), libm::rint(high * inverse));
    if !(last - first).is_finite() {
        return None;
    }
    let limit = limit::<P>(scores.len(), most);
    let (numbers, arrays) = memory.split_at_mut_checked(limit)?;
    let dense = fits(first, last, limit);
    let (low, high) = if dense {
        (first, last)
    } else {
        let (low, high, distinct) = bulk(scores, inverse, keys, |a, b| fits(a, b, limit / 2));
        // Rows that need sorting, in so many panels, are for `wide.rs`.
        if super::is_windowed(scores.len()) && low > high && 4 * distinct > SAMPLE {
            return None;
        }
        (low, high)
    };
    // The panels of the rows outside the bulk, ascending.
    let mut outside = 0;
    if !dense {
        for s in scores {
            let number = libm::rint(s.f64() * inverse);
            if !(number >= low && number <= high) {
                *keys.get_mut(outside)? = number.key();
                outside += 1;
            }
        }
    }
    let keys = keys.span_mut(0..outside);
    crate::sort::ascending(keys);
    let mut count = 0;
    let below = keys.partition_point(|&k| k < low.key());
    let distinct = |keys: &[u64], numbers: &mut [f64], count: &mut usize| -> Option<()> {
        let mut last = None;
        for &key in keys {
            if last != Some(key) {
                *numbers.get_mut(*count)? = f64::of_key(key);
                *count += 1;
            }
            last = Some(key);
        }
        Some(())
    };
    distinct(keys.span(0..below), numbers, &mut count)?;
    let start = count;
    let mut number = low;
    while number <= high {
        *numbers.get_mut(count)? = number;
        count += 1;
        number += 1.0;
    }
    let bulk = (start, count);
    distinct(keys.span(below..outside), numbers, &mut count)?;
    Some((Grid { inverse, half, numbers: numbers.get(..count)?, bulk, dense }, arrays))
}

/// Rows that a sample has at most.
const SAMPLE: usize = 1024;

/// Panel numbers that most scores lie between, judged from a sample; an empty range (low > high) when they are too far
/// apart by `fits`; and how many panels the sample has.
fn bulk<S: Real>(scores: &[S], inverse: f64, keys: &mut [u64], fits: impl Fn(f64, f64) -> bool) -> (f64, f64, usize) {
    let count = scores.len().min(SAMPLE);
    let keys = keys.span_mut(0..count);
    for (at, key) in keys.iter_mut().enumerate() {
        // Spread over the rows, with both ends, in integers.
        let row = (at as u64 * (scores.len() as u64 - 1) / (count as u64 - 1).max(1)) as usize;
        if let Some(score) = scores.get(row) {
            *key = libm::rint(score.f64() * inverse).key();
        }
    }
    crate::sort::ascending(keys);
    // Without the outermost 1/32 on either side, but with room for rows the sample missed.
    let clip = count / 32;
    let (low, high) = (f64::of_key(keys.at(clip)), f64::of_key(keys.at(count - 1 - clip)));
    let room = libm::rint(high - low) + 1.0;
    let distinct = 1 + keys.iter().zip(keys.iter().skip(1)).filter(|(a, b)| a != b).count();
    if fits(low - room, high + room) {
        (low - room, high + room, distinct)
    } else {
        (f64::INFINITY, f64::NEG_INFINITY, distinct)
    }
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

/// Whether all scores lie in consecutive panels of so many terms, which are then found without sorting.
pub(super) fn is_dense<const P: usize>(rows: usize, (low, high): (f64, f64), scale: f64) -> bool {
    width::<P>(scale)
        .is_some_and(|(_, inverse)| fits(libm::rint(low * inverse), libm::rint(high * inverse), dense_panels(rows)))
}

/// Whether the panels from `first` to `last` are at most `limit` and may be found by adding [`ONES`].
fn fits(first: f64, last: f64, limit: usize) -> bool {
    last - first < limit as f64 && first.abs().or_larger(last.abs()) < LARGEST
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
        grid.place(scores, &mut panel, &mut x);
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
        grid.place(scores, &mut panel, &mut x);
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

/// Mean of ℓ over positives × weighted negatives, and its derivative by every score, with the tables that [`make`] `made` of
/// the surrogate, if any. `None` (and nothing written) when the scores occupy more panels than the scratch holds or the sum
/// leaves the range. The caller has checked the data.
pub(super) fn auc<S: Real, Y: Class, G: Real, const P: usize>(
    scores: &[S],
    labels: &[Y],
    range: (f64, f64),
    shape: Shape,
    scale: f64,
    mean: f64,
    made: Option<&[f64]>,
    most: usize,
    memory: &mut [f64],
    keys: &mut [u64],
    grad: &mut [G],
) -> Option<f64> {
    let (grid, memory) = grid::<S, P>(scores, range, scale, most, memory, keys)?;
    let (own, arrays) = memory.split_at_mut_checked(tables_len(P))?;
    let tables = Tables::<P>::given_or_made(made, shape, grid.half, own)?;
    let [of_value, of_slope, back] = shape.kernels();
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
    let unit = scale * mean;
    for c in at_negatives.iter_mut() {
        *c = c.map(|c| c * unit);
    }
    for c in at_positives.iter_mut() {
        *c = c.map(|c| -(c * unit));
    }
    spread(&grid, scores, labels, local, grad, |_, _, _, _| {});
    Some(value * mean)
}

/// The AP objective −1/n₊ Σ g1/g2 and its derivative by every score; see [`auc`], also for `None`.
pub(super) fn ap<S: Real, Y: Class, G: Real, const P: usize>(
    scores: &[S],
    labels: &[Y],
    range: (f64, f64),
    shape: Shape,
    scale: f64,
    share: f64,
    made: Option<&[f64]>,
    most: usize,
    memory: &mut [f64],
    keys: &mut [u64],
    grad: &mut [G],
) -> Option<f64> {
    let (grid, memory) = grid::<S, P>(scores, range, scale, most, memory, keys)?;
    let (own, arrays) = memory.split_at_mut_checked(tables_len(P))?;
    let tables = Tables::<P>::given_or_made(made, shape, grid.half, own)?;
    let [of_value, of_slope, back] = shape.kernels();
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
    let held = {
        let (negatives, positives) = moments.split_at_checked(count)?;
        held(negatives, positives, keys)
    };
    {
        let (negatives, positives) = moments.split_at_checked(count)?;
        tables.sum(of_value, grid.numbers, held, negatives, positives, value_n);
        tables.sum(of_value, grid.numbers, held, positives, positives, value_p);
        tables.sum(of_slope, grid.numbers, held, negatives, positives, slope_n);
        tables.sum(of_slope, grid.numbers, held, positives, positives, slope_p);
    }
    // Weights of one positive: for negatives, for positives, and its own derivative.
    let weigh = |k: usize, x: f64, mass: f64| {
        let share = share * mass;
        let (Some(value_n), Some(value_p), Some(slope_n), Some(slope_p)) =
            (value_n.get(k), value_p.get(k), slope_n.get(k), slope_p.get(k))
        else {
            return [0.0; 4];
        };
        let (g_n, g_p) = (horner(value_n, x), horner(value_p, x));
        let inverse = 1.0 / (g_n + g_p);
        let (beta, both) = (share * g_p * inverse * inverse, -(share * g_n * inverse * inverse));
        let own = -scale * (both * horner(slope_p, x) + beta * horner(slope_n, x));
        [g_p * inverse, beta, both, own]
    };
    let weigh_part = |scores: &[S], labels: &[Y], weighted: &mut [[f64; P]]| {
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
            grid.place(held, &mut panel, &mut x);
            for ((&k, &x), &mass) in panel.iter().zip(&x).zip(&masses).take(found) {
                let [ratio, beta, both, _] = weigh(k as usize, x, mass);
                value -= share * mass * ratio;
                let powers = powers::<P>(x);
                let Some((of_negatives, of_positives)) = weighted.split_at_mut_checked(count) else { break };
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
    };
    let len = shared_len(scores.len(), count);
    let value = if len >= scores.len() {
        weigh_part(scores, labels, weighted)
    } else {
        let mut values = [0.0; PARTS];
        let parts = parts_of(scores, len).zip(parts_of(labels, len));
        let size = (2 * count).max(1);
        each(parts.zip(spare.chunks_exact_mut(size)).zip(&mut values), |(((scores, labels), weighted), value)| {
            *value = weigh_part(scores, labels, weighted);
        });
        total(weighted, spare.chunks_exact(size).take(scores.len().div_ceil(len)));
        values.iter().sum()
    };
    // Sums of very distant rows may not fit.
    if !(value.is_finite() && weighted.iter().flatten().all(|m| m.is_finite())) {
        return None;
    }
    let (beta, both) = weighted.split_at_checked(count)?;
    let (at_negatives, at_positives) = local.split_at_mut_checked(count)?;
    let (negatives, positives) = moments.split_at_checked(count)?;
    tables.sum(back, grid.numbers, held, beta, negatives, at_negatives);
    tables.sum(back, grid.numbers, held, both, positives, at_positives);
    for c in local.iter_mut() {
        *c = c.map(|c| c * scale);
    }
    spread(&grid, scores, labels, local, grad, |labels, panel, x, grad| {
        for (((&y, &p), &x), g) in labels.iter().zip(panel).zip(x).zip(grad) {
            if y.is_positive() {
                let k = p as usize - count;
                let Some(local) = local.get(p as usize) else { break };
                *g = G::settled_of(y.mass() * horner(local, x) + weigh(k, x, y.mass())[3]);
            }
        }
    });
    Some(value)
}

#[cfg(all(test, feature = "alloc", not(feature = "compact")))]
mod tests {
    use super::*;
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
                if super::super::is_fast(super::super::Grade::Fast, range, 1.0, rows) {
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
