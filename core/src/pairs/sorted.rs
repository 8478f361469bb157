//! Hinge and squared hinge over whole data, exactly, in the time of sorting the positives.
//!
//! With thresholds t_i = s_i − m and d_ij = s_j − t_i = m − (s_i − s_j), a pair counts while d_ij > 0, so every other
//! needs only the number k of thresholds below it. Sorting the positives and looking the others up in buckets gives
//! cells between neighbouring thresholds. Sums then pass from cell to cell over the gap δ:
//!
//! ```text
//! N₂ ← N₂ + δ(2N₁ + δN₀),   N₁ ← N₁ + δN₀,   N₀ ← N₀ + count,     N_q(i) = Σ_j [d_ij]₊^q
//! ```
//!
//! and the same upwards for the sums over thresholds below an other. Every term is ≥ 0, so nothing cancels, wherever the
//! scores lie (prefix sums of s and s² lose nine digits at an offset of 1000).
//!
//! AP: with f = −g1/g2 of g1 = Σ_{j∈+} ℓ and g2 = Σ_j ℓ the pair (i, j) weighs β_i = g1/(n₊g2²) for a negative j and
//! A_i = −(g2 − g1)/(n₊g2²) for a positive one, which a second sweep sums with the roles exchanged.
//!
//! Source: Qi et al. 2021, "Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
//! eq. (2)–(4), for the AP objective over all data; the sweeps are ours. Cost: O(n₊ log n₊ + n) expected. Error: a few
//! units of rounding of the sum of the absolute terms of each entry.

use super::class::Class;
use super::order::{Buckets, SORT_U32, sort_positives};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Others looked up at a time.
const BLOCK: usize = 64;

/// What [`auc`] and [`ap`] borrow.
pub(super) const fn need(rows: usize, positives: usize) -> Need {
    Need {
        real: 0,
        f64: 4 * (positives + 2) + 3 * positives,
        u32: positives + SORT_U32 + Buckets::need(positives) + rows,
        u64: 2 * positives,
    }
}

/// Sorted positives with their cells. `cells[k]` collects the others with exactly k thresholds below:
/// `[score of positive k − 1, …]`. Scores are kept, not thresholds: d = (s_j − s_i) + m rounds once where a rounded
/// threshold far from 0 would cost digits of d.
struct Table<'a> {
    /// Positions of the positives, ascending by score.
    order: &'a [u32],
    cells: &'a mut [[f64; 4]],
    buckets: Buckets<'a>,
    /// The cell of every row, for a second sweep.
    ranks: &'a mut [u32],
    /// Three values for each positive.
    weights: &'a mut [[f64; 3]],
}

impl<'a> Table<'a> {
    fn new<S: Real, Y: Class>(
        scores: &[S],
        labels: &[Y],
        positives: usize,
        margin: f64,
        scratch: Scratch<'a, f64>,
    ) -> Self {
        let (order, rest) = scratch.u32.split_at_mut(positives);
        let (counts, rest) = rest.split_at_mut(SORT_U32);
        let (starts, rest) = rest.split_at_mut(Buckets::need(positives));
        let (cells, weights) = scratch.f64.split_at_mut(4 * (positives + 2));
        sort_positives(scores, labels, order, &mut scratch.u64[..2 * positives], counts);
        let (cells, _) = cells.as_chunks_mut::<4>();
        for (cell, &at) in cells[1..].iter_mut().zip(&*order) {
            *cell = [scores[at as usize].f64(), 0.0, 0.0, 0.0];
        }
        cells[0] = [cells[1][0], 0.0, 0.0, 0.0];
        cells[positives + 1] = [f64::INFINITY, 0.0, 0.0, 0.0];
        let buckets = Buckets::new(positives, |k| cells[k + 1][0] - margin, starts);
        let (weights, _) = weights[..3 * positives].as_chunks_mut::<3>();
        Self { order, cells, buckets, ranks: &mut rest[..scores.len()], weights }
    }
}

/// The cells of a block of negatives; positives, whose cells nobody reads, get cell 0 without a look at the table.
#[inline(always)]
fn look_up<S: Real, Y: Class>(
    buckets: &Buckets<'_>,
    margin: f64,
    cells: &[[f64; 4]],
    scores: &[S],
    labels: &[Y],
    ranks: &mut [u32],
) {
    // Three short loops instead of one: the first two need no table and use vector registers.
    let mut x = [0.0; BLOCK];
    for ((x, s), &y) in x.iter_mut().zip(scores).zip(labels) {
        *x = if y.is_positive() { f64::MIN } else { s.f64() };
    }
    let mut bucket = [0u32; BLOCK];
    for (b, &x) in bucket.iter_mut().zip(&x) {
        *b = buckets.bucket(x) as u32;
    }
    for ((rank, &b), &x) in ranks.iter_mut().zip(&bucket).zip(&x) {
        *rank = buckets.below(b as usize, x, margin, cells) as u32;
    }
}

/// Mean of ℓ over positives × weighted negatives, ℓ = [d]₊² (`SQUARE`) or [d]₊, and its derivative by every score.
/// `mean` is 1/(n₊ · total weight). The caller has checked lengths, labels, finiteness and that both classes have rows.
pub(super) fn auc<S: Real, Y: Class, G: Real, const SQUARE: bool>(
    scores: &[S],
    labels: &[Y],
    positives: usize,
    margin: f64,
    mean: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> f64 {
    let Table { order, cells, buckets, .. } = Table::new(scores, labels, positives, margin, scratch);
    let scale = if SQUARE { 2.0 * mean } else { mean };
    // Upwards: b1 = Σ of (t − t_i) over the thresholds below t, and its square sum for the value.
    let mut below = 0.0;
    for k in 1..positives {
        let gap = cells[k + 1][0] - cells[k][0];
        below += k as f64 * gap;
        cells[k + 1][1] = below;
    }
    let mut within = 0.0;
    let mut ranks = [0u32; BLOCK];
    let blocks = scores.chunks(BLOCK).zip(labels.chunks(BLOCK)).zip(grad.chunks_mut(BLOCK));
    for ((scores, labels), grad) in blocks {
        look_up(&buckets, margin, cells, scores, labels, &mut ranks);
        for (((s, &y), g), &rank) in scores.iter().zip(labels).zip(grad).zip(&ranks) {
            let cell = &mut cells[rank as usize];
            let k = f64::from(rank);
            let weight = y.weight();
            let share = if Y::WEIGHTED { scale * weight } else { scale };
            let d = (s.f64() - cell[0]) + margin;
            if SQUARE {
                cell[2] += weight;
                cell[3] += weight * d;
                within += weight * (k * (d * d));
                *g = G::of(share * (cell[1] + k * d));
            } else {
                cell[2] += weight;
                within += weight * (cell[1] + k * d);
                *g = G::of(share * k);
            }
        }
    }
    // Value of the squares: Σ over the cell of b2 + 2·d·b1 + k·d², the last part being `within`.
    let mut value = within;
    if SQUARE {
        let (mut b1, mut b2) = (0.0, 0.0);
        for k in 1..=positives {
            let gap = if k > 1 { cells[k][0] - cells[k - 1][0] } else { 0.0 };
            b2 += gap * (2.0 * b1 + gap * (k - 1) as f64);
            b1 = cells[k][1];
            value += cells[k][2] * b2 + 2.0 * (b1 * cells[k][3]);
        }
    }
    // Downwards: the sums over the others above each threshold.
    let (mut count, mut first) = (0.0, 0.0);
    let mut above = cells[positives][0];
    for (cell, &at) in cells[1..=positives].iter().zip(order).rev() {
        first += count * (above - cell[0]) + cell[3];
        count += cell[2];
        above = cell[0];
        grad[at as usize] = G::of(-scale * if SQUARE { first } else { count });
    }
    value * mean
}

/// The AP objective −1/n₊ Σ g1/g2 and its derivative by every score; see [`auc`] for ℓ and for what is checked.
pub(super) fn ap<S: Real, Y: Class, G: Real, const SQUARE: bool>(
    scores: &[S],
    labels: &[Y],
    positives: usize,
    margin: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> f64 {
    let Table { order, cells, buckets, ranks, weights } = Table::new(scores, labels, positives, margin, scratch);
    let share = 1.0 / positives as f64;
    let unit = if SQUARE { 2.0 } else { 1.0 };
    // First sweep: count, Σd and Σd² of the negatives of each cell.
    let blocks = scores.chunks(BLOCK).zip(labels.chunks(BLOCK)).zip(ranks.chunks_mut(BLOCK));
    for ((scores, labels), ranks) in blocks {
        look_up(&buckets, margin, cells, scores, labels, ranks);
        for ((s, &y), &rank) in scores.iter().zip(labels).zip(&*ranks) {
            let cell = &mut cells[rank as usize];
            let weight = y.weight();
            let d = (s.f64() - cell[0]) + margin;
            cell[1] += weight;
            cell[2] += weight * d;
            if SQUARE {
                cell[3] += weight * d * d;
            }
        }
    }
    // Downwards: sums over negatives (n) and positives (p) above each threshold, and from them the pair weights.
    let (mut n0, mut n1, mut n2) = (0.0, 0.0, 0.0);
    let (mut p0, mut p1, mut p2) = (0.0, 0.0, 0.0);
    let mut value = 0.0;
    let mut above = cells[positives][0];
    let mut entered = positives;
    for k in (0..positives).rev() {
        let [t, count, sum, squares] = cells[k + 1];
        let gap = above - t;
        n2 += gap * (2.0 * n1 + gap * n0) + squares;
        n1 += gap * n0 + sum;
        n0 += count;
        p2 += gap * (2.0 * p1 + gap * p0);
        p1 += gap * p0;
        above = t;
        while entered > 0 {
            let d = (scores[order[entered - 1] as usize].f64() - t) + margin;
            if d <= 0.0 {
                break;
            }
            entered -= 1;
            p0 += 1.0;
            p1 += d;
            p2 += d * d;
        }
        let (of_positives, of_negatives, slope_p, slope_n) = if SQUARE { (p2, n2, p1, n1) } else { (p1, n1, p0, n0) };
        let inverse = 1.0 / (of_positives + of_negatives);
        let (ratio_p, ratio_n) = (of_positives * inverse, of_negatives * inverse);
        let (beta, both) = (share * ratio_p * inverse, -(share * ratio_n * inverse));
        value -= share * ratio_p;
        weights[k] = [beta, both, -unit * (both * slope_p + beta * slope_n)];
    }
    // Upwards: weighted sums over the thresholds below, for the negatives.
    let (mut b0, mut b1) = (0.0, 0.0);
    let mut last = cells[1][0];
    cells[0] = [last, 0.0, 0.0, 0.0];
    for (cell, weight) in cells[1..].iter_mut().zip(&*weights) {
        b1 += b0 * (cell[0] - last);
        b0 += weight[0];
        last = cell[0];
        *cell = [last, b0, b1, 0.0];
    }
    for ((s, &rank), g) in scores.iter().zip(&*ranks).zip(grad.iter_mut()) {
        let cell = &cells[rank as usize];
        *g = G::of(if SQUARE { unit * (cell[2] + ((s.f64() - cell[0]) + margin) * cell[1]) } else { cell[1] });
    }
    // The positives as others, and their own part.
    let (mut b0, mut b1) = (0.0, 0.0);
    let mut last = cells[1][0];
    let mut entered = 0;
    for (&at, weight) in order.iter().zip(&*weights) {
        let x = scores[at as usize].f64();
        while entered < positives && (x - cells[entered + 1][0]) + margin > 0.0 {
            let t = cells[entered + 1][0];
            b1 += b0 * (t - last);
            b0 += weights[entered][1];
            last = t;
            entered += 1;
        }
        let as_other = if SQUARE { unit * (b1 + b0 * ((x - last) + margin)) } else { b0 };
        grad[at as usize] = G::of(as_other + weight[2]);
    }
    value
}
