//! Rows of whole data in streams of neighbouring scores.
//!
//! Random accesses to tables of all positives miss the caches. So the rows are first dealt to streams, each a range of
//! scores with a few hundred thresholds; what a stream touches then stays near the processor, and results go back to the
//! rows through their places in the streams. The ranges follow the counts of a fine grid, so that a stream holds few
//! thresholds wherever the scores crowd, and inside a stream a `Ladder` divides its own range anew: an outlier or
//! clusters far apart cost little.

use super::weight::{Class, Rows};
use crate::error::Result;
use crate::parts::{PARTS, each, part_len, parts_of, parts_of_mut, shared_by_many};
use crate::real::Real;
use crate::scratch::Need;
use crate::slices::{Part, Place};

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

/// Rows that the grid is laid over.
const fn sampled(rows: usize) -> usize {
    let share = if rows / 16 > SAMPLE { SAMPLE } else { rows / 16 };
    let share = if share < 16 { 16 } else { share };
    if share < rows { share } else { rows }
}

/// What [`Streams`] keep; with `far` edges `positives` more `f64`. The `u64` serve only while they are made.
pub(super) const fn need(rows: usize) -> Need {
    let shared = cfg!(feature = "rayon") && part_len(rows) < rows;
    Need { real: 0, f64: rows, u32: rows + 3 * cells(rows), u64: if shared { rows } else { sampled(rows) } }
}

/// `u32` that serve only while they are made.
pub(super) const fn tables_len(rows: usize) -> usize {
    let parts = if cfg!(feature = "rayon") && part_len(rows) < rows { PARTS } else { 0 };
    2 * (1 + parts) * (3 * cells(rows) + 2)
}

/// The rows by stream.
pub(super) struct Streams<'a> {
    /// Scores: the positives by stream, the negatives by stream, then those that count in part, then those of weight 0,
    /// and then the positives once more by the streams of their far edges, if there are any. Within a stream in the
    /// order of the rows. Results take the place of all but the last.
    pub(super) x: &'a mut [f64],
    /// Where each row is in `x`.
    places: &'a [u32],
    /// For every stream, the ends of its positives, of its negatives and of its far positives, each in its own part.
    pub(super) ends: &'a [[u32; 3]],
    /// Weights of the negatives that count in part.
    pub(super) partial: [f64; PARTIAL],
    /// The first of those in `x`, and the first of weight 0.
    pub(super) first_partial: usize,
    pub(super) first_out: usize,
}

/// Equal cells over the middle of the scores, or of their keys where scores span many powers of two; what lies outside
/// falls into the outermost.
#[derive(Clone, Copy)]
struct Grid {
    by_key: bool,
    low: f64,
    scale: f64,
    last: f64,
}

impl Grid {
    /// From a sample of the rows.
    fn new<S: Real, Y: Class>(scores: &[S], labels: &[Y], margin: f64, cells: usize, keys: &mut [u64]) -> Self {
        let count = sampled(scores.len());
        let keys = keys.span_mut(0..count);
        for (at, key) in keys.iter_mut().enumerate() {
            let row = (at as u64 * (scores.len() as u64 - 1) / (count as u64 - 1).max(1)) as usize;
            if let (Some(&s), Some(&y)) = (scores.get(row), labels.get(row)) {
                *key = place(s, y, margin).key();
            }
        }
        crate::sort::ascending(keys);
        let even = Self::over(keys, false, cells);
        let most = even.most(keys);
        if 8 * most <= count {
            return even;
        }
        let by_key = Self::over(keys, true, cells);
        if 2 * by_key.most(keys) < most { by_key } else { even }
    }

    /// Over an ascending sample.
    fn over(keys: &[u64], by_key: bool, cells: usize) -> Self {
        let at = |rank: usize| if by_key { keys.at(rank) as f64 } else { f64::of_key(keys.at(rank)) };
        // The outermost may be far away; half the width of the others on either side makes room for the usual tails.
        let clip = keys.len() / 32;
        let (low, high) = (at(clip), at(keys.len() - 1 - clip));
        let room = 0.5 * (high - low);
        let last = (cells - 1) as f64;
        let scale = if room > 0.0 { (last / (high - low + 2.0 * room)).or_smaller(f64::MAX) } else { 0.0 };
        Self { by_key, low: low - room, scale, last }
    }

    /// How many of an ascending sample share a cell at most.
    fn most(&self, keys: &[u64]) -> usize {
        let (mut most, mut here, mut last) = (0, 0, None);
        for &key in keys {
            let cell = Some(self.cell(f64::of_key(key)));
            here = if cell == last { here + 1 } else { 1 };
            last = cell;
            most = here.max(most);
        }
        most
    }

    /// The cell of x, which never falls as x rises.
    #[inline(always)]
    fn cell(&self, x: f64) -> u32 {
        let x = if self.by_key { x.key() as f64 } else { x };
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
    /// Deals the rows, positives by their thresholds s − `margin` and, if there are `far` edges, once more by s − `far`.
    /// The memory is that of [`need`], the tables that of [`tables_len`].
    pub(super) fn new<S: Real, Y: Class>(
        rows: Rows<'_, S, Y>,
        margin: f64,
        far: Option<f64>,
        x: &'a mut [f64],
        memory: &'a mut [u32],
        tables: &mut [u32],
        keys: &mut [u64],
    ) -> Result<Self> {
        let Rows { scores, labels, positives, .. } = rows;
        let cells = cells(scores.len());
        let grid = Grid::new(scores, labels, margin, cells, keys);
        let (places, memory) = memory.halves_mut(scores.len())?;
        let (counts, tables) = tables.halves_mut(3 * cells + 2)?;
        let (next, of_parts) = tables.halves_mut(3 * cells + 2)?;
        let (of_far, of_out, of_partial) = (2 * cells, 3 * cells, 3 * cells + 1);
        // How many rows of each class every cell has: positives, negatives, far positives; then those in no cell.
        // Threads that deal move the rows twice: two of them take longer than one.
        let several = shared_by_many(scores.len());
        let ends = memory.head_mut(3 * cells)?.as_chunks_mut::<3>().0;
        let partial = if several {
            count_shared(grid, scores, labels, margin, places, of_parts, counts)
        } else {
            count_rows(grid, scores, labels, margin, places, counts)
        }
        .weights;
        if let Some(far) = far {
            for (s, _) in scores.iter().zip(labels).filter(|(_, y)| y.is_positive()) {
                if let Some(count) = counts.get_mut(of_far + grid.cell(s.f64() - far) as usize) {
                    *count += 1;
                }
            }
        }
        let (streams, last) = join(cells, [0, positives as u32, scores.len() as u32], counts, next, ends);
        let first_partial = last as usize;
        let first_out = first_partial + counts.at(of_partial) as usize;
        next.put(of_out, first_out as u32);
        next.put(of_partial, last);
        counts.put(of_out, of_out as u32);
        counts.put(of_partial, of_partial as u32);
        if several {
            deal_shared(scores, places, counts, next, of_parts, keys, x);
        } else {
            deal(scores, places, counts, next, x);
        }
        if let Some(far) = far {
            for (s, _) in scores.iter().zip(labels).filter(|(_, y)| y.is_positive()) {
                let stream = counts.at(of_far + grid.cell(s.f64() - far) as usize);
                if let Some(next) = next.get_mut(stream as usize) {
                    x.put(*next as usize, s.f64());
                    *next += 1;
                }
            }
        }
        Ok(Self { x, places, ends: ends.head(streams)?, partial, first_partial, first_out })
    }

    /// Gives every row what stands in its place.
    pub(super) fn collect<G: Real>(&self, grad: &mut [G]) {
        let x = &*self.x;
        let len = part_len(grad.len());
        each(parts_of_mut(grad, len).zip(parts_of(self.places, len)), |(grad, places)| {
            for (g, &place) in grad.iter_mut().zip(places) {
                let Some(&x) = x.get(place as usize) else { break };
                *g = G::settled_of(x);
            }
        });
    }
}

/// Joins neighbouring cells to a stream until it has enough thresholds. Counts of rows become numbers of streams, `next` the
/// first place of each class in every stream, `ends` the last. `first` has the places that the classes begin at. Returns the
/// number of streams, and where the negatives end.
fn join(cells: usize, first: [u32; 3], counts: &mut [u32], next: &mut [u32], ends: &mut [[u32; 3]]) -> (usize, u32) {
    next.fill(0);
    let enough = per_stream(first[1] as usize);
    let (mut stream, mut held, mut end) = (0, 0, first);
    for cell in 0..cells {
        let open = cell == 0 || held >= enough;
        if open {
            stream += usize::from(cell > 0);
            held = 0;
        }
        for class in 0..3 {
            if open {
                next.put(class * cells + stream, end[class]);
            }
            if let Some(count) = counts.get_mut(class * cells + cell) {
                held += if class == 1 { 0 } else { *count as usize };
                end[class] += *count;
                *count = (class * cells + stream) as u32;
            }
        }
        ends.put(stream, [end[0], end[1] - first[1], end[2] - first[2]]);
    }
    (stream + 1, end[1])
}

/// Weights of the negatives that count in part.
#[derive(Clone, Copy, Default)]
struct Partial {
    weights: [f64; PARTIAL],
    count: usize,
}

impl Partial {
    fn push(&mut self, weight: f64) {
        if let Some(slot) = self.weights.get_mut(self.count) {
            *slot = weight;
            self.count += 1;
        }
    }
}

/// Writes the code of every row (its class and cell) and counts them.
#[inline(always)]
fn count_rows<S: Real, Y: Class>(
    grid: Grid,
    scores: &[S],
    labels: &[Y],
    margin: f64,
    codes: &mut [u32],
    counts: &mut [u32],
) -> Partial {
    let cells = (counts.len() - 2) / 3;
    let (of_out, of_partial) = (3 * cells, 3 * cells + 1);
    counts.fill(0);
    let mut partial = Partial::default();
    for ((scores, labels), codes) in scores.chunks(BLOCK).zip(labels.chunks(BLOCK)).zip(codes.chunks_mut(BLOCK)) {
        let rows = codes.iter_mut().zip(scores).zip(labels);
        let code =
            |grid: Grid, s: S, y: Y| grid.cell(place(s, y, margin)) + if y.is_positive() { 0 } else { cells as u32 };
        // Two loops, so that the usual one uses vector registers.
        if grid.by_key {
            rows.for_each(|((to, &s), &y)| *to = code(grid, s, y));
        } else {
            rows.for_each(|((to, &s), &y)| *to = code(Grid { by_key: false, ..grid }, s, y));
        }
        if Y::WEIGHTED {
            for (code, &y) in codes.iter_mut().zip(labels) {
                let weight = y.weight();
                if y.is_positive() || weight == 1.0 {
                    continue;
                }
                *code = of_out as u32;
                if weight > 0.0 {
                    *code = of_partial as u32;
                    partial.push(weight);
                }
            }
        }
        for &code in &*codes {
            let Some(count) = counts.get_mut(code as usize) else { break };
            *count += 1;
        }
    }
    partial
}

/// Gives every row its place and `x` its score; `streams` has the stream of every code, `next` the place of the next row
/// of every stream.
#[inline(always)]
fn deal<S: Real>(scores: &[S], places: &mut [u32], streams: &[u32], next: &mut [u32], x: &mut [f64]) {
    for (scores, places) in scores.chunks(BLOCK).zip(places.chunks_mut(BLOCK)) {
        for place in places.iter_mut() {
            let Some(&stream) = streams.get(*place as usize) else { break };
            *place = stream;
        }
        for (place, &s) in places.iter_mut().zip(scores) {
            let Some(next) = next.get_mut(*place as usize) else { break };
            let Some(x) = x.get_mut(*next as usize) else { break };
            *place = *next;
            *x = s.f64();
            *next += 1;
        }
    }
}

/// [`count_rows`] by several threads, with the counts of every part in the first half of its tables.
fn count_shared<S: Real, Y: Class>(
    grid: Grid,
    scores: &[S],
    labels: &[Y],
    margin: f64,
    codes: &mut [u32],
    tables: &mut [u32],
    counts: &mut [u32],
) -> Partial {
    let (len, size) = (part_len(scores.len()), counts.len());
    let mut partials = [Partial::default(); PARTS];
    let rows = scores.chunks(len).zip(labels.chunks(len)).zip(codes.chunks_mut(len));
    each(rows.zip(tables.chunks_exact_mut(2 * size)).zip(&mut partials), |((((s, y), codes), table), partial)| {
        *partial = count_rows(grid, s, y, margin, codes, &mut table[..size]);
    });
    counts.fill(0);
    for table in tables.chunks_exact(2 * size).take(scores.len().div_ceil(len)) {
        counts.iter_mut().zip(table).for_each(|(sum, &count)| *sum += count);
    }
    let mut all = Partial::default();
    for partial in &partials {
        partial.weights[..partial.count].iter().for_each(|&weight| all.push(weight));
    }
    all
}

/// [`deal`] by several threads: every part deals its rows to streams of its own in `held`, and what one stream has in all
/// parts then moves to its place in `x`. The tables of a part begin with the counts of its codes.
fn deal_shared<S: Real>(
    scores: &[S],
    places: &mut [u32],
    streams: &[u32],
    next: &mut [u32],
    tables: &mut [u32],
    held: &mut [u64],
    x: &mut [f64],
) {
    let (len, size) = (part_len(scores.len()), streams.len());
    let parts = scores.len().div_ceil(len);
    for table in tables.chunks_exact_mut(2 * size).take(parts) {
        let (ends, globals) = table.split_at_mut(size);
        // Rows by stream; no stream's number is above that of its codes.
        for code in 0..size {
            let count = core::mem::take(&mut ends[code]);
            ends[streams[code] as usize] += count;
        }
        let mut sum = 0;
        for ((end, global), next) in ends.iter_mut().zip(globals).zip(&mut *next) {
            *global = *next;
            *next += *end;
            (*end, sum) = (sum, sum + *end);
        }
    }
    let rows = scores.chunks(len).zip(places.chunks_mut(len)).zip(held.chunks_mut(len));
    each(rows.zip(tables.chunks_exact_mut(2 * size)), |(((scores, places), held), table)| {
        let (ends, globals) = table.split_at_mut(size);
        for (place, &s) in places.iter_mut().zip(scores) {
            let stream = streams[*place as usize] as usize;
            *place = globals[stream];
            globals[stream] += 1;
            held[ends[stream] as usize] = s.f64().to_bits();
            ends[stream] += 1;
        }
    });
    // The streams in the order of their places: positives and negatives, those that count in part, those of weight 0.
    let tables = &*tables;
    let held = &*held;
    let of_classes = (size - 2) / 3 * 2;
    let order = move |k: usize| if k < of_classes { k } else { size - 1 - (k - of_classes) };
    let mut pieces: [Option<(usize, usize, &mut [f64])>; PARTS] = [const { None }; PARTS];
    let mut rest = &mut x[..scores.len()];
    let (mut from, mut start) = (0, 0);
    for piece in &mut pieces {
        let mut to = from;
        let mut end = start;
        while to < of_classes + 2 && end - start < len {
            // In no stream, or up to where its last row went.
            end = end.max(next[order(to)] as usize);
            to += 1;
        }
        let (here, after) = core::mem::take(&mut rest).split_at_mut(end - start);
        *piece = Some((from, to, here));
        (rest, from, start) = (after, to, end);
    }
    each(pieces.into_iter().flatten(), |(from, to, mut x)| {
        for stream in (from..to).map(order) {
            for (table, held) in tables.chunks_exact(2 * size).zip(held.chunks(len)).take(parts) {
                let begin = if stream > 0 { table[stream - 1] as usize } else { 0 };
                let moved = &held[begin..table[stream] as usize];
                let (here, after) = x.split_at_mut(moved.len());
                here.iter_mut().zip(moved).for_each(|(x, &bits)| *x = f64::from_bits(bits));
                x = after;
            }
        }
    });
}
