//! Cells between neighbouring thresholds in whole numbers, and the sweeps over them.

use super::hello::Options;
use super::select::Select;
use crate::metric::radix::{counts_len, sort_keys};
use crate::pairs::Sum;
use crate::pairs::order::{Edges, Ladder};
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;

/// Negatives looked up at a time.
const BLOCK: usize = 64;
/// Most bits of a distance.
const BITS: u32 = 60;
/// Bits of a limb. Those of 2¹⁵ − 1 workers add to less than 2⁶³.
const LIMB: u32 = 48;

/// Keys as scores, ascending.
pub(super) fn ascending(mut keys: Vec<u64>) -> impl Iterator<Item = f64> {
    let (mut spare, mut counts) = (vec![0; keys.len()], vec![0; counts_len(keys.len())]);
    sort_keys(&mut keys, &mut spare, &mut counts);
    keys.into_iter().map(f64::of_key)
}

/// The negatives above one threshold and below the next.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// 1/step, a power of two.
    scale: f64,
    count: u64,
    sum: u128,
    squares: u128,
}

/// All thresholds with what lies between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// Scores of the positives, ascending, and infinity.
    positives: Vec<f64>,
    /// Of an own negative how many thresholds are below, of a positive its place; by row.
    ranks: Vec<u32>,
    cells: Vec<Cell>,
    /// Derivatives by the positives.
    own: Vec<f64>,
    /// Σ of the pair weights of the thresholds up to each, and Σ weight·(distance to it).
    below: Vec<[f64; 2]>,
}

impl Cells {
    pub(super) fn new(mut positives: Vec<f64>, rows: usize) -> Self {
        positives.push(f64::INFINITY);
        Self { positives, ranks: vec![0; rows], ..Self::default() }
    }

    fn thresholds(&self) -> usize {
        self.positives.len().saturating_sub(1)
    }

    /// x − t of the threshold below which `rank` are.
    #[inline(always)]
    fn distance(&self, x: f64, rank: u32, margin: f64) -> f64 {
        (x - self.positives[rank as usize - 1]) + margin
    }

    /// Ranks all own rows; writes the biased exponent of the largest distance in each cell, 0 where there is none.
    pub(super) fn reach(
        &mut self,
        options: &Options,
        scores: &[f64],
        labels: &[u8],
        select: &Select,
        numbers: &mut Vec<i64>,
    ) {
        let count = self.thresholds();
        // (All thresholds are in one ladder, which is not to be searched.)
        let steps = 4 * count + 8;
        let (mut order, mut memory) = (vec![0; count], vec![0; steps + 2]);
        let margin = options.margin;
        let near = &self.positives[..count];
        let edges = Edges { near, margin, far: &[], far_margin: margin };
        let ladder = Ladder::with_steps(steps, &edges, &mut order, &mut memory);
        let mut ranks = core::mem::take(&mut self.ranks);
        let mut found = [0; BLOCK];
        numbers.clear();
        numbers.resize(count, 0);
        for ((x, y), ranks) in scores.chunks(BLOCK).zip(labels.chunks(BLOCK)).zip(ranks.chunks_mut(BLOCK)) {
            ladder.ranks(x, &mut found, |k, x| (x - self.positives[k as usize]) + margin > 0.0);
            for (((&x, &y), rank), &found) in x.iter().zip(y).zip(ranks).zip(&found) {
                if y == 1 {
                    *rank = near.partition_point(|&s| s < x) as u32;
                    continue;
                }
                *rank = found;
                if found > 0 && self.counts_whole(select, x) {
                    let reach = (self.distance(x, found, margin).to_bits() >> 52) as i64;
                    let most = &mut numbers[found as usize - 1];
                    *most = reach.max(*most);
                }
            }
        }
        self.ranks = ranks;
    }

    /// Whether a negative counts, and as one: those that tie at an end are added by [`Cells::sweep`].
    #[inline(always)]
    fn counts_whole(&self, select: &Select, x: f64) -> bool {
        select.width().is_none() || (select.share(x) > 0.0 && !select.is_tied(x))
    }

    /// Takes the exponents of all workers.
    pub(super) fn steps(&mut self, numbers: &[i64], rows: u64) {
        let bits = i64::from(bits(rows));
        let cell = |&reach: &i64| Cell { scale: power(bits + 1022 - reach), count: 0, sum: 0, squares: 0 };
        self.cells = numbers.iter().map(cell).collect();
    }

    /// Sums the own negatives, and writes the limbs of the cells.
    pub(super) fn count(
        &mut self,
        options: &Options,
        scores: &[f64],
        labels: &[u8],
        select: &Select,
        numbers: &mut Vec<i64>,
    ) {
        let mut cells = core::mem::take(&mut self.cells);
        for ((&x, &y), &rank) in scores.iter().zip(labels).zip(&self.ranks) {
            if y == 1 || rank == 0 || !self.counts_whole(select, x) {
                continue;
            }
            let cell = &mut cells[rank as usize - 1];
            let d = u128::from((self.distance(x, rank, options.margin) * cell.scale + 0.5) as u64);
            cell.count += 1;
            cell.sum += d;
            if options.square {
                cell.squares += d * d;
            }
        }
        numbers.clear();
        for cell in &cells {
            numbers.push(cell.count as i64);
            limbs(cell.sum, 2, numbers);
            if options.square {
                limbs(cell.squares, 3, numbers);
            }
        }
        self.cells = cells;
    }

    /// Takes the limbs of all workers; returns the value, the same at each of them.
    pub(super) fn sweep(&mut self, options: &Options, select: &Select, labels: [u64; 2], numbers: &[i64]) -> f64 {
        let width = if options.square { 6 } else { 3 };
        let mut cells: Vec<[f64; 3]> = self
            .cells
            .iter()
            .zip(numbers.chunks(width))
            .map(|(cell, limbs)| {
                let step = 1.0 / cell.scale;
                let squares = if options.square { joined(&limbs[3..]) * step * step } else { 0.0 };
                [limbs[0] as f64, joined(&limbs[1..3]) * step, squares]
            })
            .collect();
        self.cells = Vec::new();
        for (x, tied) in select.tied() {
            let below = |&s: &f64| (x - s) + options.margin > 0.0;
            let rank = self.positives.partition_point(below) as u32;
            if rank > 0 {
                let (mass, d) = (select.share(x) * tied, self.distance(x, rank, options.margin));
                let cell = &mut cells[rank as usize - 1];
                (cell[0], cell[1], cell[2]) = (cell[0] + mass, cell[1] + mass * d, cell[2] + mass * (d * d));
            }
        }
        match options.sum {
            Sum::Ap => self.sweep_ap(options, &cells),
            Sum::Auc | Sum::Pauc { .. } => {
                let [positives, negatives] = labels.map(|count| count as f64);
                let mean = 1.0 / (positives * select.width().unwrap_or(negatives));
                self.sweep_auc(options, mean, &cells)
            }
        }
    }

    /// As `sorted`: downwards the sums over the negatives above each threshold, upwards those over the thresholds below.
    fn sweep_auc(&mut self, options: &Options, mean: f64, cells: &[[f64; 3]]) -> f64 {
        let count = self.thresholds();
        let (mut value, scale) = (0.0, if options.square { 2.0 * mean } else { mean });
        let mut sums = Above::from(self.positives[count - 1]);
        self.own = vec![0.0; count];
        for ((own, &t), &cell) in self.own.iter_mut().zip(&self.positives).zip(cells).rev() {
            sums.pass(t, cell);
            value += if options.square { sums.squares } else { sums.sum };
            *own = -scale * if options.square { sums.sum } else { sums.count };
        }
        let (mut last, mut sum) = (self.positives[0], 0.0);
        self.below = Vec::with_capacity(count);
        for (k, &t) in (0_u32..).zip(&self.positives[..count]) {
            sum += f64::from(k) * (t - last);
            last = t;
            self.below.push([scale * (f64::from(k) + 1.0), scale * sum]);
        }
        value * mean
    }

    /// As `sorted`: pair weights downwards, and then their sums upwards.
    fn sweep_ap(&mut self, options: &Options, cells: &[[f64; 3]]) -> f64 {
        let (count, margin) = (self.thresholds(), options.margin);
        let (share, unit) = (1.0 / count as f64, if options.square { 2.0 } else { 1.0 });
        let positives = &self.positives[..count];
        let mut negative = Above::from(positives[count - 1]);
        let mut positive = Above::from(positives[count - 1]);
        let (mut value, mut entered) = (0.0, count);
        let mut weights = vec![[0.0; 2]; count];
        self.own = vec![0.0; count];
        for k in (0..count).rev() {
            let t = positives[k];
            negative.pass(t, cells[k]);
            positive.pass(t, [0.0; 3]);
            while entered > 0 {
                let d = (positives[entered - 1] - t) + margin;
                if d <= 0.0 {
                    break;
                }
                entered -= 1;
                positive.add([1.0, d, d * d]);
            }
            let ([of_positives, slope_p], [of_negatives, slope_n]) =
                (positive.parts(options.square), negative.parts(options.square));
            let inverse = 1.0 / (of_positives + of_negatives);
            let (ratio_p, ratio_n) = (of_positives * inverse, of_negatives * inverse);
            let (beta, both) = (share * ratio_p * inverse, -(share * ratio_n * inverse));
            value -= share * ratio_p;
            weights[k] = [beta, both];
            self.own[k] = -unit * (both * slope_p + beta * slope_n);
        }
        let (mut b0, mut b1, mut last) = (0.0, 0.0, positives[0]);
        self.below = Vec::with_capacity(count);
        for (&t, weight) in positives.iter().zip(&weights) {
            b1 += b0 * (t - last);
            b0 += weight[0];
            last = t;
            self.below.push([unit * b0, unit * b1]);
        }
        // The positives as others.
        let (mut b0, mut b1, mut last, mut entered) = (0.0, 0.0, positives[0], 0);
        for (&s, own) in positives.iter().zip(&mut self.own) {
            while entered < count && (s - positives[entered]) + margin > 0.0 {
                let t = positives[entered];
                b1 += b0 * (t - last);
                b0 += weights[entered][1];
                last = t;
                entered += 1;
            }
            *own += if options.square { unit * (b1 + b0 * ((s - last) + margin)) } else { b0 };
        }
        value
    }

    /// The derivatives by the own rows.
    pub(super) fn slopes<G: Real>(
        &self,
        options: &Options,
        scores: &[f64],
        labels: &[u8],
        select: &Select,
        grad: &mut [G],
    ) {
        for (((&x, &y), &rank), grad) in scores.iter().zip(labels).zip(&self.ranks).zip(grad) {
            *grad = G::settled_of(if y == 1 {
                self.own[rank as usize]
            } else if rank == 0 {
                0.0
            } else {
                let [b0, b1] = self.below[rank as usize - 1];
                let d = self.distance(x, rank, options.margin);
                select.share(x) * if options.square { b1 + d * b0 } else { b0 }
            });
        }
    }
}

/// Count, Σd and Σd² of the rows above a threshold that falls.
struct Above {
    at: f64,
    count: f64,
    sum: f64,
    squares: f64,
}

impl Above {
    fn from(at: f64) -> Self {
        Self { at, count: 0.0, sum: 0.0, squares: 0.0 }
    }
    /// Down to the threshold of a cell, and adds the cell.
    fn pass(&mut self, at: f64, cell: [f64; 3]) {
        let gap = self.at - at;
        self.squares += gap * (2.0 * self.sum + gap * self.count);
        self.sum += gap * self.count;
        self.at = at;
        self.add(cell);
    }
    fn add(&mut self, cell: [f64; 3]) {
        self.count += cell[0];
        self.sum += cell[1];
        self.squares += cell[2];
    }
    /// Σ of the loss and of half or all of its slope.
    fn parts(&self, square: bool) -> [f64; 2] {
        if square { [self.squares, self.sum] } else { [self.sum, self.count] }
    }
}

/// Bits of a distance, so that squares of so many add up in 127.
const fn bits(rows: u64) -> u32 {
    let bits = (127 - rows.next_power_of_two().trailing_zeros()) / 2;
    if bits > BITS { BITS } else { bits }
}

/// 2^exponent, of those in range; the distances that occur lie far inside it.
fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(1, 2046) as u64) << 52)
}

fn limbs(mut number: u128, count: usize, out: &mut Vec<i64>) {
    for _ in 0..count {
        out.push((number & ((1 << LIMB) - 1)) as i64);
        number >>= LIMB;
    }
}

/// The number of added limbs.
fn joined(limbs: &[i64]) -> f64 {
    limbs.iter().rev().fold(0_u128, |sum, &limb| (sum << LIMB) + u128::from(limb as u64)) as f64
}
