//! Hinge and squared hinge over whole data, exactly, in less than the time of sorting the scores.
//!
//! With thresholds t_i = s_i − m and d_ij = s_j − t_i = m − (s_i − s_j), a pair counts while d_ij > 0, so every other
//! needs only the number k of thresholds below it. The rows are dealt to streams of neighbouring scores; in each stream
//! the thresholds are sorted and the negatives looked up among them, which gives cells between neighbouring thresholds.
//! Sums then pass from cell to cell over the gap δ:
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
//! eq. (2)–(4), for the AP objective over all data; the sweeps are ours. Cost: O(n) where the scores spread, O(n log n₊)
//! at worst. Error: a few units of rounding of the sum of the absolute terms of each entry.

use super::class::Class;
use super::order::{Edges, Ladder};
use super::streams::{self, Streams};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Others looked up at a time.
const BLOCK: usize = 64;

/// What [`auc`] and [`ap`] borrow.
pub(super) const fn need(rows: usize, positives: usize) -> Need {
    let dealt = streams::need(rows);
    Need {
        real: 0,
        f64: dealt.f64 + 4 * (positives + 2) + 3 * positives,
        u32: dealt.u32 + positives + Ladder::need(positives) + rows,
        u64: dealt.u64,
    }
}

/// The rows by stream, and the memory of the sums.
struct Table<'a> {
    streams: Streams<'a>,
    /// Places of the positives, ascending by score.
    order: &'a mut [u32],
    /// `cells[k]` collects the negatives with exactly k thresholds below: `[score of positive k − 1, …]`. Scores are
    /// kept, not thresholds: d = (s_j − s_i) + m rounds once where a rounded threshold far from 0 would cost digits of d.
    cells: &'a mut [[f64; 4]],
    ladder: &'a mut [u32],
    /// The cell of every negative, for a second sweep.
    ranks: &'a mut [u32],
    /// Three values for each positive.
    weights: &'a mut [[f64; 3]],
    margin: f64,
}

impl<'a> Table<'a> {
    fn new<S: Real, Y: Class>(
        scores: &[S],
        labels: &[Y],
        positives: usize,
        margin: f64,
        scratch: Scratch<'a, f64>,
    ) -> Self {
        let dealt = streams::need(scores.len());
        let (x, rest) = scratch.f64.split_at_mut(dealt.f64);
        let (cells, rest) = rest.split_at_mut(4 * (positives + 2));
        let (dealing, others) = scratch.u32.split_at_mut(dealt.u32);
        let (order, others) = others.split_at_mut(positives);
        let (ladder, ranks) = others.split_at_mut(Ladder::need(positives));
        let streams = Streams::new(scores, labels, positives, margin, None, x, dealing, scratch.u64);
        let cells = cells.as_chunks_mut().0;
        // Negatives below all thresholds find a finite score here; what they leave is not read.
        cells[0] = [streams.x[0], 0.0, 0.0, 0.0];
        Self { streams, order, cells, ladder, ranks, weights: rest[..3 * positives].as_chunks_mut().0, margin }
    }

    /// Walks the streams upwards: sorts the positives of each, calls `enter` with their cells and the rank of the first,
    /// and then `meet` with blocks of its negatives, their cells, and the cells of the stream from the rank on.
    #[inline(always)]
    fn walk(
        &mut self,
        mut enter: impl FnMut(&mut [[f64; 4]], usize),
        mut meet: impl FnMut(&mut [f64], &[u32], &mut [[f64; 4]], usize, usize),
    ) {
        let (positives, others) = self.streams.x.split_at_mut(self.order.len());
        let (mut from, mut other) = (0, 0);
        let margin = self.margin;
        for ends in self.streams.ends {
            let (end, other_end) = (ends[0] as usize, ends[1] as usize);
            let order = &mut self.order[from..end];
            let x = &positives[from..end];
            let ladder = Ladder::new(&Edges { near: x, margin, far: &[], far_margin: margin }, order, self.ladder);
            let cells = &mut self.cells[from..end + 2];
            for (cell, k) in cells[1..].iter_mut().zip(&mut *order) {
                *cell = [x[*k as usize], 0.0, 0.0, 0.0];
                *k += from as u32;
            }
            enter(cells, from);
            cells[end - from + 1] = [f64::INFINITY, 0.0, 0.0, 0.0];
            let mut ranks = [0; BLOCK];
            for at in (other..other_end).step_by(BLOCK) {
                let block = &mut others[at..other_end.min(at + BLOCK)];
                ladder.ranks(block, &mut ranks, |k, x| (x - cells[k as usize + 1][0]) + margin > 0.0);
                let len = block.len();
                meet(block, &ranks[..len], cells, from, at);
            }
            (from, other) = (end, other_end);
        }
    }
}

/// Mean of ℓ over positives × weighted negatives, ℓ = [d]₊² (`square`, which every copy but that of the feature `compact` knows when it is compiled) or [d]₊, and its derivative by every score.
/// `mean` is 1/(n₊ · total weight). The caller has checked lengths, labels, finiteness and that both classes have rows.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub(super) fn auc<S: Real, Y: Class, G: Real>(
    scores: &[S],
    labels: &[Y],
    positives: usize,
    margin: f64,
    square: bool,
    mean: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> f64 {
    let mut table = Table::new(scores, labels, positives, margin, scratch);
    let value = table.auc(square, mean);
    table.streams.collect(grad);
    value
}

/// The AP objective −1/n₊ Σ g1/g2 and its derivative by every score; see [`auc`] for ℓ and for what is checked.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub(super) fn ap<S: Real, Y: Class, G: Real>(
    scores: &[S],
    labels: &[Y],
    positives: usize,
    margin: f64,
    square: bool,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> f64 {
    let mut table = Table::new(scores, labels, positives, margin, scratch);
    let value = table.ap(square);
    table.streams.collect(grad);
    value
}

impl Table<'_> {
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn auc(&mut self, square: bool, mean: f64) -> f64 {
        let (margin, positives) = (self.margin, self.order.len());
        let scale = if square { 2.0 * mean } else { mean };
        let (mut below, mut within) = (0.0, 0.0);
        self.walk(
            |cells, from| {
                // Upwards: Σ of (t − t_i) over the thresholds below t.
                for (k, at) in (from..).zip(1..cells.len() - 1) {
                    if k > 0 {
                        below += k as f64 * (cells[at][0] - cells[at - 1][0]);
                    }
                    cells[at][1] = below;
                }
            },
            |block, ranks, cells, from, _| {
                for (x, &rank) in block.iter_mut().zip(ranks) {
                    let cell = &mut cells[rank as usize];
                    let k = (from + rank as usize) as f64;
                    let d = (*x - cell[0]) + margin;
                    let first = cell[1] + k * d;
                    cell[2] += 1.0;
                    if square {
                        cell[3] += d;
                        within += k * (d * d);
                        *x = scale * first;
                    } else {
                        within += first;
                        *x = scale * k;
                    }
                }
            },
        );
        let Streams { x, partial, first_partial, first_out, .. } = &mut self.streams;
        for (x, &weight) in x[*first_partial..*first_out].iter_mut().zip(&*partial) {
            let rank = self.cells[1..=positives].partition_point(|cell| (*x - cell[0]) + margin > 0.0);
            let cell = &mut self.cells[rank];
            let k = rank as f64;
            let d = (*x - cell[0]) + margin;
            let first = cell[1] + k * d;
            cell[2] += weight;
            if square {
                cell[3] += weight * d;
                within += weight * (k * (d * d));
                *x = scale * weight * first;
            } else {
                within += weight * first;
                *x = scale * weight * k;
            }
        }
        x[*first_out..].fill(0.0);
        let cells = &*self.cells;
        // Value of the squares: Σ over the cell of b2 + 2·d·b1 + k·d², the last part being `within`.
        let mut value = within;
        if square {
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
        for (cell, &at) in cells[1..=positives].iter().zip(&*self.order).rev() {
            first += count * (above - cell[0]) + cell[3];
            count += cell[2];
            above = cell[0];
            x[at as usize] = -scale * if square { first } else { count };
        }
        value * mean
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn ap(&mut self, square: bool) -> f64 {
        let (margin, positives) = (self.margin, self.order.len());
        let share = 1.0 / positives as f64;
        let unit = if square { 2.0 } else { 1.0 };
        // First sweep: count, Σd and Σd² of the negatives of each cell.
        let kept = core::mem::take(&mut self.ranks);
        self.walk(
            |_, _| {},
            |block, ranks, cells, from, at| {
                for ((x, &rank), kept) in block.iter_mut().zip(ranks).zip(&mut kept[at..]) {
                    let cell = &mut cells[rank as usize];
                    *kept = rank + from as u32;
                    let d = (*x - cell[0]) + margin;
                    cell[1] += 1.0;
                    cell[2] += d;
                    if square {
                        cell[3] += d * d;
                    }
                }
            },
        );
        let (cells, weights, order) = (&mut *self.cells, &mut *self.weights, &*self.order);
        let (x, others) = self.streams.x.split_at_mut(positives);
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
                let d = (cells[entered][0] - t) + margin;
                if d <= 0.0 {
                    break;
                }
                entered -= 1;
                p0 += 1.0;
                p1 += d;
                p2 += d * d;
            }
            let (of_positives, of_negatives, slope_p, slope_n) =
                if square { (p2, n2, p1, n1) } else { (p1, n1, p0, n0) };
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
        for (x, &rank) in others.iter_mut().zip(&*kept) {
            let cell = &cells[rank as usize];
            *x = if square { unit * (cell[2] + ((*x - cell[0]) + margin) * cell[1]) } else { cell[1] };
        }
        // The positives as others, and their own part.
        let (mut b0, mut b1) = (0.0, 0.0);
        let mut last = cells[1][0];
        let mut entered = 0;
        for (k, (&at, weight)) in order.iter().zip(&*weights).enumerate() {
            let s = cells[k + 1][0];
            while entered < positives && (s - cells[entered + 1][0]) + margin > 0.0 {
                let t = cells[entered + 1][0];
                b1 += b0 * (t - last);
                b0 += weights[entered][1];
                last = t;
                entered += 1;
            }
            let as_other = if square { unit * (b1 + b0 * ((s - last) + margin)) } else { b0 };
            x[at as usize] = as_other + weight[2];
        }
        value
    }
}
