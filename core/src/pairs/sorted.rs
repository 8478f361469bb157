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

use super::order::{Edges, Ladder};
use super::streams::{self, Streams};
use super::weight::{Class, Rows};
use crate::error::Result;
use crate::features::COMPACT;
use crate::parts::{PARTS, each, part_len, parts_of, parts_of_mut, shared};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::slices::{Part as _, Place};

/// Others looked up at a time.
const BLOCK: usize = 64;

/// Parts that threads work on have cells and ladders of their own.
const fn parts(rows: usize) -> usize {
    if cfg!(feature = "rayon") && part_len(rows) < rows { PARTS } else { 1 }
}

/// What [`auc`] borrows.
pub(super) const fn auc_need(rows: usize, positives: usize) -> Need {
    let (dealt, parts) = (streams::need(rows), parts(rows));
    Need {
        real: 0,
        f64: dealt.f64 + 4 * (positives + 2 * parts),
        u32: dealt.u32 + positives + parts * Ladder::need(positives) + streams::tables_len(rows),
        u64: dealt.u64,
    }
}

/// What [`ap`] borrows: weights of the positives too, and ranks of the negatives in the place of the tables.
pub(super) const fn ap_need(rows: usize, positives: usize) -> Need {
    let (need, tables) = (auc_need(rows, positives), streams::tables_len(rows));
    let more = rows.saturating_sub(tables);
    Need { f64: need.f64 + 3 * positives, u32: need.u32 + more, ..need }
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
    /// The cell of every negative, for a second sweep; empty without one.
    ranks: &'a mut [u32],
    /// Three values for each positive; empty without one.
    weights: &'a mut [[f64; 3]],
    margin: f64,
}

/// Some neighbouring streams: what is looked up in them is summed apart from the others.
struct Part<'a> {
    ends: &'a [[u32; 3]],
    /// Positives before them, and negatives.
    from: usize,
    other: usize,
    x: &'a mut [f64],
    others: &'a mut [f64],
    order: &'a mut [u32],
    /// The last cell before them, their own, and a place for a cell that no score reaches.
    cells: &'a mut [[f64; 4]],
    ladder: &'a mut [u32],
    ranks: &'a mut [u32],
    /// Σ of the distances of the positives before them from the last of those.
    below: f64,
    value: f64,
}

impl Part<'_> {
    /// Walks the streams upwards: sorts the positives of each, calls `enter` with their cells and the rank of the first,
    /// and then `meet` with blocks of its negatives, their cells, and the cells of the stream from the rank on.
    #[inline(always)]
    fn walk(
        &mut self,
        margin: f64,
        mut enter: impl FnMut(&mut [[f64; 4]], usize),
        mut meet: impl FnMut(&mut [f64], &[u32], &mut [[f64; 4]], usize, &mut [u32]),
    ) {
        let (mut at, mut other) = (0, 0);
        for ends in self.ends {
            let (end, other_end) = (ends[0] as usize - self.from, ends[1] as usize - self.other);
            let from = self.from + at;
            let (order, x) = (self.order.span_mut(at..end), self.x.span(at..end));
            let ladder = Ladder::new(&Edges { near: x, margin, far: &[], far_margin: margin }, order, self.ladder);
            let cells = self.cells.span_mut(at..end + 2);
            let [_, own @ .., last] = cells else { break };
            *last = [f64::INFINITY, 0.0, 0.0, 0.0];
            for (cell, k) in own.iter_mut().zip(&mut *order) {
                let Some(&x) = x.get(*k as usize) else { break };
                *cell = [x, 0.0, 0.0, 0.0];
                *k += from as u32;
            }
            enter(cells, from);
            let mut ranks = [0; BLOCK];
            for start in (other..other_end).step_by(BLOCK) {
                let stop = other_end.min(start + BLOCK);
                let block = self.others.span_mut(start..stop);
                let is_below = |k: u32, x| cells.get(k as usize + 1).is_some_and(|cell| (x - cell[0]) + margin > 0.0);
                ladder.ranks(block, &mut ranks, is_below);
                meet(block, &ranks, cells, from, self.ranks.span_mut(start..stop));
            }
            (at, other) = (end, other_end);
        }
    }

    /// What the negatives of the part leave in the cells, their derivatives, and Σ k·d² or Σ ℓ as the value.
    #[inline(always)]
    fn auc(&mut self, square: bool, margin: f64, scale: f64) {
        let (mut below, mut within) = (self.below, 0.0);
        self.walk(
            margin,
            |cells, from| {
                // Upwards: Σ of (t − t_i) over the thresholds below t.
                let [before, own @ .., _] = cells else { return };
                let mut last = before[0];
                for (k, cell) in (from..).zip(own) {
                    if k > 0 {
                        below += k as f64 * (cell[0] - last);
                    }
                    last = cell[0];
                    cell[1] = below;
                }
            },
            |block, ranks, cells, from, _| {
                for (x, &rank) in block.iter_mut().zip(ranks) {
                    let Some(cell) = cells.get_mut(rank as usize) else { break };
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
        self.value = within;
    }

    /// Count, Σd and Σd² of the negatives of each cell, and the cell of every negative.
    #[inline(always)]
    fn ap(&mut self, square: bool, margin: f64) {
        self.walk(
            margin,
            |_, _| {},
            |block, ranks, cells, from, kept| {
                for ((x, &rank), kept) in block.iter_mut().zip(ranks).zip(kept) {
                    let Some(cell) = cells.get_mut(rank as usize) else { break };
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
    }
}

impl<'a> Table<'a> {
    fn new<S: Real, Y: Class>(
        rows: Rows<'_, S, Y>,
        margin: f64,
        twice: bool,
        scratch: Scratch<'a, f64>,
    ) -> Result<Self> {
        let (count, positives, dealt) = (rows.len(), rows.positives, streams::need(rows.len()));
        let (x, rest) = scratch.f64.halves_mut(dealt.f64)?;
        let (weights, cells) = rest.halves_mut(if twice { 3 * positives } else { 0 })?;
        let (dealing, others) = scratch.u32.halves_mut(dealt.u32)?;
        let (order, others) = others.halves_mut(positives)?;
        let (ladder, others) = others.halves_mut(parts(count) * Ladder::need(positives))?;
        let tables = others.head_mut(streams::tables_len(count))?;
        let streams = Streams::new(rows, margin, None, x, dealing, tables, scratch.u64)?;
        let ranks = others.head_mut(if twice { count } else { 0 })?;
        let cells = cells.as_chunks_mut().0;
        // Negatives below all thresholds find a finite score here; what they leave is not read.
        cells.put(0, [streams.x.at(0), 0.0, 0.0, 0.0]);
        Ok(Self { streams, order, cells, ladder, ranks, weights: weights.as_chunks_mut().0, margin })
    }

    /// Calls `work` with every part of the streams, by several threads where they share the work, and returns the sum of
    /// the values. Entries of the cells from `first` on are sums.
    #[inline(always)]
    fn walk(&mut self, first: usize, work: impl Fn(&mut Part<'_>) + Sync) -> f64 {
        let rows = self.streams.x.len();
        let (cuts, count) = self.cuts(part_len(rows));
        let cuts = cuts.get(..count).unwrap_or_default();
        let Some((x, others)) = self.streams.x.split_at_mut_checked(self.order.len()) else { return 0.0 };
        let cell = |cut: &Cut| [cut.last, if first > 1 { cut.below } else { 0.0 }, 0.0, 0.0];
        if !shared(rows) {
            let mut value = 0.0;
            for cut in cuts {
                let (from, to, other) = (cut.from, cut.to, cut.other..cut.other_to);
                let last = self.cells.at(from);
                self.cells.put(from, cell(cut));
                let mut part = Part {
                    ends: self.streams.ends.span(cut.streams.clone()),
                    from,
                    other: cut.other,
                    x: x.span_mut(from..to),
                    others: others.span_mut(other.clone()),
                    order: self.order.span_mut(from..to),
                    cells: self.cells.span_mut(from..to + 2),
                    ladder: self.ladder,
                    ranks: self.ranks.span_mut(other),
                    below: cut.below,
                    value: 0.0,
                };
                work(&mut part);
                value += part.value;
                self.cells.put(from, joined(last, self.cells.at(from), first));
            }
            return value;
        }
        let mut parts: [Option<Part<'_>>; PARTS] = [const { None }; PARTS];
        let (mut x, mut others, mut order) = (x, others, &mut *self.order);
        let (mut cells, mut ladder, mut ranks) = (&mut *self.cells, &mut *self.ladder, &mut *self.ranks);
        let steps = Ladder::need(order.len());
        for (part, cut) in parts.iter_mut().zip(cuts) {
            let (positives, negatives) = (cut.to - cut.from, cut.other_to - cut.other);
            *part = Some(Part {
                ends: &self.streams.ends[cut.streams.clone()],
                from: cut.from,
                other: cut.other,
                x: take(&mut x, positives),
                others: take(&mut others, negatives),
                order: take(&mut order, positives),
                cells: take(&mut cells, positives + 2),
                ladder: take(&mut ladder, steps),
                ranks: if ranks.is_empty() { &mut [] } else { take(&mut ranks, negatives) },
                below: cut.below,
                value: 0.0,
            });
        }
        each(parts[..count].iter_mut().flatten().zip(cuts), |(part, cut)| {
            part.cells[0] = cell(cut);
            work(part);
        });
        let value = parts.iter().flatten().map(|part| part.value).sum();
        // The cells move together; a part's first one is the last of the part before.
        for (k, cut) in cuts.iter().enumerate().skip(1) {
            let start = cut.from + 2 * k;
            self.cells[cut.from] = joined(self.cells[cut.from], self.cells[start], first);
            self.cells.copy_within(start + 1..start + 1 + (cut.to - cut.from), cut.from + 1);
        }
        value
    }

    /// Parts of the streams of at least `len` rows each, but for the last. The last takes all that is left: where every
    /// part has just `len` rows, that may be one more stream, an empty one.
    fn cuts(&self, len: usize) -> ([Cut; PARTS], usize) {
        let mut cuts = [const { Cut::START }; PARTS];
        let mut count = 0;
        let mut cut = Cut { last: self.streams.x.at(0), ..Cut::START };
        for (k, ends) in self.streams.ends.iter().enumerate() {
            (cut.streams.end, cut.to, cut.other_to) = (k + 1, ends[0] as usize, ends[1] as usize);
            let size = (cut.to - cut.from) + (cut.other_to - cut.other);
            let is_last = k + 1 == self.streams.ends.len();
            if is_last || (size >= len && count + 1 < PARTS) {
                if let Some(slot) = cuts.get_mut(count) {
                    *slot = cut.clone();
                    count += 1;
                }
                if !is_last {
                    cut = cut.next(self.streams.x.span(cut.from..cut.to));
                }
            }
        }
        (cuts, count)
    }
}

/// Where a part begins and ends.
#[derive(Clone)]
struct Cut {
    streams: core::ops::Range<usize>,
    from: usize,
    to: usize,
    other: usize,
    other_to: usize,
    /// The highest positive before the part, and Σ of the distances of the positives before from it.
    last: f64,
    below: f64,
}

impl Cut {
    const START: Self = Self { streams: 0..0, from: 0, to: 0, other: 0, other_to: 0, last: 0.0, below: 0.0 };

    /// The part after this one, whose positives are given.
    fn next(&self, positives: &[f64]) -> Self {
        let (mut last, mut below) = (self.last, self.below);
        if let Some(&any) = positives.first() {
            let (chunks, rest) = positives.as_chunks::<4>();
            let mut high = [any; 4];
            for chunk in chunks {
                (0..4).for_each(|l| high[l] = high[l].or_larger(chunk[l]));
            }
            let top = rest.iter().chain(&high).fold(any, |a, &b| a.or_larger(b));
            let mut sums = [0.0; 4];
            for chunk in chunks {
                (0..4).for_each(|l| sums[l] += top - chunk[l]);
            }
            rest.iter().for_each(|x| sums[0] += top - x);
            below += self.from as f64 * (top - last) + ((sums[0] + sums[2]) + (sums[1] + sums[3]));
            last = top;
        }
        Self {
            streams: self.streams.end..self.streams.end,
            from: self.to,
            to: self.to,
            other: self.other_to,
            other_to: self.other_to,
            last,
            below,
        }
    }
}

/// Splits the first elements off.
fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (here, after) = core::mem::take(rest).split_at_mut(count);
    *rest = after;
    here
}

/// A cell with the sums of two parts.
fn joined(mut cell: [f64; 4], part: [f64; 4], first: usize) -> [f64; 4] {
    for (sum, part) in cell.iter_mut().zip(part).skip(first) {
        *sum += part;
    }
    cell
}

/// Mean of ℓ over positives × weighted negatives, ℓ = [d]₊² (`square`, which every copy but that of the feature `compact` knows when it is compiled) or [d]₊, and its derivative by every score.
/// `mean` is 1/(n₊ · total weight). The caller has checked lengths, labels, finiteness and that both classes have rows.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub(super) fn auc<S: Real, Y: Class, G: Real>(
    rows: Rows<'_, S, Y>,
    margin: f64,
    square: bool,
    mean: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let mut table = Table::new(rows, margin, false, scratch)?;
    let value = table.auc(square, mean)?;
    table.streams.collect(grad);
    Ok(value)
}

/// The AP objective −1/n₊ Σ g1/g2 and its derivative by every score; see [`auc`] for ℓ and for what is checked.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub(super) fn ap<S: Real, Y: Class, G: Real>(
    rows: Rows<'_, S, Y>,
    margin: f64,
    square: bool,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let mut table = Table::new(rows, margin, true, scratch)?;
    let value = table.ap(square)?;
    table.streams.collect(grad);
    Ok(value)
}

impl Table<'_> {
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn auc(&mut self, square: bool, mean: f64) -> Result<f64> {
        let (margin, positives) = (self.margin, self.order.len());
        let scale = if square { 2.0 * mean } else { mean };
        let mut within = self.walk(2, |part| match square {
            // The compiler knows which, in every copy but that of the feature `compact`.
            true if !COMPACT => part.auc(true, margin, scale),
            false if !COMPACT => part.auc(false, margin, scale),
            _ => part.auc(square, margin, scale),
        });
        let Streams { x, partial, first_partial, first_out, .. } = &mut self.streams;
        for (x, &weight) in x.span_mut(*first_partial..*first_out).iter_mut().zip(&*partial) {
            let rank = self.cells.span(1..positives + 1).partition_point(|cell| (*x - cell[0]) + margin > 0.0);
            let Some(cell) = self.cells.get_mut(rank) else { break };
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
        x.iter_mut().skip(*first_out).for_each(|x| *x = 0.0);
        let cells = self.cells.part(1..positives + 1)?;
        // Value of the squares: Σ over the cell of b2 + 2·d·b1 + k·d², the last part being `within`.
        let mut value = within;
        if square {
            let (mut b1, mut b2) = (0.0, 0.0);
            let mut last = cells.at(0)[0];
            for (k, cell) in cells.iter().enumerate() {
                let gap = cell[0] - last;
                b2 += gap * (2.0 * b1 + gap * k as f64);
                (b1, last) = (cell[1], cell[0]);
                value += cell[2] * b2 + 2.0 * (b1 * cell[3]);
            }
        }
        // Downwards: the sums over the others above each threshold.
        let (mut count, mut first) = (0.0, 0.0);
        let mut above = cells.last().map_or(0.0, |cell| cell[0]);
        for (cell, &at) in cells.iter().zip(&*self.order).rev() {
            first += count * (above - cell[0]) + cell[3];
            count += cell[2];
            above = cell[0];
            let Some(x) = x.get_mut(at as usize) else { break };
            *x = -scale * if square { first } else { count };
        }
        Ok(value * mean)
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn ap(&mut self, square: bool) -> Result<f64> {
        let (margin, positives) = (self.margin, self.order.len());
        let share = 1.0 / positives as f64;
        let unit = if square { 2.0 } else { 1.0 };
        // First sweep: count, Σd and Σd² of the negatives of each cell.
        self.walk(1, |part| match square {
            true if !COMPACT => part.ap(true, margin),
            false if !COMPACT => part.ap(false, margin),
            _ => part.ap(square, margin),
        });
        let (cells, weights, order) = (&mut *self.cells, &mut *self.weights, &*self.order);
        let (x, others) = self.streams.x.halves_mut(positives)?;
        let own = cells.part(1..positives + 1)?;
        // Downwards: sums over negatives (n) and positives (p) above each threshold, and from them the pair weights.
        let (mut n0, mut n1, mut n2) = (0.0, 0.0, 0.0);
        let (mut p0, mut p1, mut p2) = (0.0, 0.0, 0.0);
        let mut value = 0.0;
        let mut above = own.last().map_or(0.0, |cell| cell[0]);
        let mut outside = own;
        for (&[t, count, sum, squares], weight) in own.iter().zip(&mut *weights).rev() {
            let gap = above - t;
            n2 += gap * (2.0 * n1 + gap * n0) + squares;
            n1 += gap * n0 + sum;
            n0 += count;
            p2 += gap * (2.0 * p1 + gap * p0);
            p1 += gap * p0;
            above = t;
            while let Some((high, rest)) = outside.split_last() {
                let d = (high[0] - t) + margin;
                if d <= 0.0 {
                    break;
                }
                outside = rest;
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
            *weight = [beta, both, -unit * (both * slope_p + beta * slope_n)];
        }
        // Upwards: weighted sums over the thresholds below, for the negatives.
        let (mut b0, mut b1) = (0.0, 0.0);
        let mut last = cells.at(1)[0];
        cells.put(0, [last, 0.0, 0.0, 0.0]);
        for (cell, weight) in cells.part_mut(1..positives + 1)?.iter_mut().zip(&*weights) {
            b1 += b0 * (cell[0] - last);
            b0 += weight[0];
            last = cell[0];
            *cell = [last, b0, b1, 0.0];
        }
        let (cells, ranks, len) = (&*cells, &*self.ranks, part_len(positives + others.len()));
        each(parts_of_mut(others, len).zip(parts_of(ranks, len)), |(others, ranks)| {
            for (x, &rank) in others.iter_mut().zip(ranks) {
                let Some(cell) = cells.get(rank as usize) else { break };
                *x = if square { unit * (cell[2] + ((*x - cell[0]) + margin) * cell[1]) } else { cell[1] };
            }
        });
        // The positives as others, and their own part.
        let (mut b0, mut b1) = (0.0, 0.0);
        let own = cells.part(1..positives + 1)?;
        let mut last = own.at(0)[0];
        let (mut outside, mut their_weights) = (own, &*weights);
        for ((&at, weight), &[s, ..]) in order.iter().zip(&*weights).zip(own) {
            while let (Some((&[t, ..], rest)), Some((weight, rest_weights))) =
                (outside.split_first(), their_weights.split_first())
                && (s - t) + margin > 0.0
            {
                b1 += b0 * (t - last);
                b0 += weight[1];
                last = t;
                (outside, their_weights) = (rest, rest_weights);
            }
            let as_other = if square { unit * (b1 + b0 * ((s - last) + margin)) } else { b0 };
            let Some(x) = x.get_mut(at as usize) else { break };
            *x = as_other + weight[2];
        }
        Ok(value)
    }
}
