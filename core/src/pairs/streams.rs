//! Rows of whole data in streams of neighbouring scores.
//!
//! Random accesses to tables of all positives miss the caches. So the rows are first dealt to streams, each a range of
//! scores with a few hundred thresholds; what a stream touches then stays near the processor, and results go back to the
//! rows through their places in the streams. The ranges follow the counts of a fine grid, so that a stream holds few
//! thresholds wherever the scores crowd, and inside a stream a [`Ladder`] divides its own range anew: an outlier or
//! clusters far apart cost little.

use super::class::Class;
use crate::real::Real;
use crate::scratch::Need;

/// Rows taken at a time.
const BLOCK: usize = 64;
/// Cells of the grid at most, over which rows are counted.
const CELLS: usize = 4096;
/// Rows that the grid is laid over at most.
const SAMPLE: usize = 1024;
/// Negatives whose weight is neither 0 nor 1, at most: the two ends of a range of ranks.
const PARTIAL: usize = 2;
/// Adding 2⁵² rounds to an integer, which the low bits then count.
const ONES: f64 = 4_503_599_627_370_496.0;

/// Cells of the grid for a number of rows.
const fn cells(rows: usize) -> usize {
    if rows < 128 {
        16
    } else if rows > 8 * CELLS {
        CELLS
    } else {
        (rows / 8).next_power_of_two()
    }
}

/// Thresholds that make a stream.
const fn per_stream(positives: usize) -> usize {
    if positives < 256 * 512 { 256 } else { positives / 512 }
}

/// What [`Streams::new`] borrows.
pub(super) const fn need(rows: usize) -> Need {
    let sample = if rows < SAMPLE { rows } else { SAMPLE };
    Need { real: 0, f64: rows, u32: rows + 2 * (2 * cells(rows) + 2) + cells(rows), u64: sample }
}

/// The classes of rows, in the order in which they are laid out.
#[derive(Clone, Copy)]
enum Kind {
    Positive = 0,
    Negative = 1,
    /// Weight 0: its derivative is 0.
    Out = 2,
    Partial = 3,
}

fn kind<Y: Class>(y: Y) -> Kind {
    if y.is_positive() {
        Kind::Positive
    } else if !Y::WEIGHTED || y.weight() == 1.0 {
        Kind::Negative
    } else if y.weight() > 0.0 {
        Kind::Partial
    } else {
        Kind::Out
    }
}

/// The rows by stream.
pub(super) struct Streams<'a> {
    /// Scores: the positives by stream, the negatives by stream, then [`partial`](Self::partial), then those of weight
    /// 0. Within a stream in the order of the rows. Results take their place.
    pub(super) x: &'a mut [f64],
    /// Where each row is in `x`.
    places: &'a [u32],
    /// For every stream, the ends of its positives and of its negatives in `x`.
    pub(super) ends: &'a [[u32; 2]],
    /// Weights of the negatives that count in part.
    pub(super) partial: [f64; PARTIAL],
    /// The first of those in `x`, and the first of the left out.
    pub(super) first_partial: usize,
    pub(super) first_out: usize,
}

/// Equal cells over the middle of the scores; what lies outside falls into the outermost.
#[derive(Clone, Copy)]
struct Grid {
    low: f64,
    scale: f64,
    last: f64,
}

impl Grid {
    /// From a sample of the rows, ascending.
    fn new<S: Real, Y: Class>(scores: &[S], labels: &[Y], margin: f64, cells: usize, keys: &mut [u64]) -> Self {
        let count = (scores.len() / 16).clamp(16, SAMPLE).min(scores.len());
        let keys = &mut keys[..count];
        for (at, key) in keys.iter_mut().enumerate() {
            let row = (at as u64 * (scores.len() as u64 - 1) / (count as u64 - 1).max(1)) as usize;
            *key = place(scores[row], labels[row], margin).key();
        }
        keys.sort_unstable();
        // The outermost may be far away; half the width of the others on either side makes room for the usual tails.
        let clip = count / 32;
        let (low, high) = (f64::of_key(keys[clip]), f64::of_key(keys[count - 1 - clip]));
        let room = 0.5 * (high - low);
        let last = (cells - 1) as f64;
        let scale = if room > 0.0 { (last / (high - low + 2.0 * room)).or_smaller(f64::MAX) } else { 0.0 };
        Self { low: low - room, scale, last }
    }

    /// The cell of x, which never falls as x rises.
    #[inline(always)]
    fn cell(&self, x: f64) -> u32 {
        index(x, self.low, self.scale, self.last)
    }
}

/// (x − low)·scale as an index from 0 to `last`; it never falls as x rises.
#[inline(always)]
pub(super) fn index(x: f64, low: f64, scale: f64, last: f64) -> u32 {
    let z = (x - low) * scale;
    let z = if z > 0.0 { z } else { 0.0 };
    let z = if z < last { z } else { last };
    (z + ONES).to_bits() as u32
}

/// A negative's score, or a positive's threshold.
#[inline(always)]
fn place<S: Real, Y: Class>(s: S, y: Y, margin: f64) -> f64 {
    s.f64() - if y.is_positive() { margin } else { 0.0 }
}

impl<'a> Streams<'a> {
    /// Deals the rows. The memory is that of [`need`].
    pub(super) fn new<S: Real, Y: Class>(
        scores: &[S],
        labels: &[Y],
        positives: usize,
        margin: f64,
        x: &'a mut [f64],
        memory: &'a mut [u32],
        keys: &mut [u64],
    ) -> Self {
        let cells = cells(scores.len());
        let grid = Grid::new(scores, labels, margin, cells, keys);
        let (places, memory) = memory.split_at_mut(scores.len());
        let (counts, memory) = memory.split_at_mut(2 * cells + 2);
        let (next, memory) = memory.split_at_mut(2 * cells + 2);
        // How many rows of each class every cell has: positives, negatives, left out, partial.
        counts.fill(0);
        let mut partial = [0.0; PARTIAL];
        let mut partials = 0;
        for ((scores, labels), codes) in scores.chunks(BLOCK).zip(labels.chunks(BLOCK)).zip(places.chunks_mut(BLOCK)) {
            for ((code, &s), &y) in codes.iter_mut().zip(scores).zip(labels) {
                *code = grid.cell(place(s, y, margin)) + if y.is_positive() { 0 } else { cells as u32 };
            }
            if Y::WEIGHTED {
                for (code, &y) in codes.iter_mut().zip(labels) {
                    match kind(y) {
                        Kind::Out => *code = 2 * cells as u32,
                        Kind::Partial => {
                            *code = 2 * cells as u32 + 1;
                            if let Some(slot) = partial.get_mut(partials) {
                                *slot = y.weight();
                                partials += 1;
                            }
                        }
                        _ => {}
                    }
                }
            }
            for &code in &*codes {
                counts[code as usize] += 1;
            }
        }
        // Neighbouring cells make a stream until it has enough thresholds. Counts become places in `next`.
        let ends = memory.as_chunks_mut::<2>().0;
        let enough = per_stream(positives);
        let (mut stream, mut held) = (0, 0);
        let (mut of_positives, mut of_negatives) = (0, positives as u32);
        for cell in 0..cells {
            if cell == 0 || held >= enough {
                stream += usize::from(cell > 0);
                held = 0;
                (next[stream], next[cells + stream]) = (of_positives, of_negatives);
            }
            let (p, n) = (counts[cell], counts[cells + cell]);
            counts[cell] = stream as u32;
            counts[cells + cell] = (cells + stream) as u32;
            held += p as usize;
            of_positives += p;
            of_negatives += n;
            ends[stream] = [of_positives, of_negatives];
        }
        let ends = &ends[..=stream];
        let first_partial = of_negatives as usize;
        let first_out = first_partial + counts[2 * cells + 1] as usize;
        (next[2 * cells], next[2 * cells + 1]) = (first_out as u32, of_negatives);
        (counts[2 * cells], counts[2 * cells + 1]) = (2 * cells as u32, 2 * cells as u32 + 1);
        for (scores, places) in scores.chunks(BLOCK).zip(places.chunks_mut(BLOCK)) {
            for place in places.iter_mut() {
                *place = counts[*place as usize];
            }
            for (place, &s) in places.iter_mut().zip(scores) {
                let next = &mut next[*place as usize];
                *place = *next;
                x[*next as usize] = s.f64();
                *next += 1;
            }
        }
        Self { x, places, ends, partial, first_partial, first_out }
    }

    /// Gives every row what stands in its place.
    pub(super) fn collect<G: Real>(&self, grad: &mut [G]) {
        for (g, &place) in grad.iter_mut().zip(self.places) {
            *g = G::of(self.x[place as usize]);
        }
    }
}
