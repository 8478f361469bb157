//! Smoothed hinge and ramp over whole data, exactly, in near-linear time.
//!
//! Both are one polynomial of d = m − t up to a width λ and a simpler one beyond:
//!
//! ```text
//! smoothed hinge   d²/(2λ) for 0 < d ≤ λ,   d − λ/2 for d > λ
//! ramp             d/λ     for 0 < d ≤ λ,   1       for d > λ       (λ = m)
//! ```
//!
//! As a difference of two (squared) hinges they would lose the digits of large d. Instead every positive has a near edge
//! s − m and a far edge s − m + λ. Between its edges lies a window of others; beyond the far edge the sum over d (or the
//! count) is one of non-negative terms. Sums over windows are not differences either: a few near edges are chosen as
//! posts such that every window, all being equally wide, holds exactly one of them, and a window is the part below its
//! post and the part above it. Both parts are running sums from the post, of non-negative terms again, in one walk down
//! and one up. The sums of positives over the window of an other are found the same way.
//!
//! Source: own; the posts are those of the van Herk and Gil–Werman running minimum, in values instead of places. Cost and
//! error: as the hinge sums of `sorted.rs`, with twice the edges.

use super::order::{Edges, Ladder};
use super::streams::{self, Streams};
use super::weight::{Class, Rows};
use crate::error::Result;
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::slices::Part as _;

/// Others looked up at a time.
const BLOCK: usize = 64;
/// Marks a far edge beside the number of its positive.
const FAR: u32 = 1 << 31;

/// Which loss, and its numbers.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) margin: f64,
    /// λ.
    pub(super) width: f64,
    /// Smoothed hinge; otherwise ramp.
    pub(super) round: bool,
}

impl Window {
    /// Whether far edges stay apart from near ones in the rounding of scores in `low..=high`, and can be numbered.
    pub(super) fn fits(&self, (low, high): (f64, f64), positives: usize) -> bool {
        let largest = low.abs().or_larger(high.abs()).or_larger(self.margin);
        self.width > 1e-12 * largest && self.width < 1e60 && positives < FAR as usize
    }

    /// Value and derivative by d of the count and sums of d and d² over others in a window.
    #[inline(always)]
    pub(super) fn inside(&self, [count, sum, squares]: [f64; 3]) -> (f64, f64) {
        if self.round {
            (squares / (2.0 * self.width), sum / self.width)
        } else {
            (sum / self.width, count / self.width)
        }
    }

    /// The same for others beyond it.
    #[inline(always)]
    pub(super) fn beyond(&self, [count, sum]: [f64; 2]) -> (f64, f64) {
        if self.round { (sum - 0.5 * self.width * count, count) } else { (count, 0.0) }
    }
}

/// Ranks of all rows, which lie where the tables of the streams were.
const fn ranks_len(rows: usize) -> usize {
    let tables = streams::tables_len(rows);
    if tables < rows { rows } else { tables }
}

/// What [`auc`] and [`ap`] borrow.
pub(super) const fn need(rows: usize, positives: usize) -> Need {
    let dealt = streams::need(rows);
    Need {
        real: 0,
        f64: dealt.f64 + positives + 4 * (2 * positives + 1) + 5 * positives,
        u32: dealt.u32 + 5 * positives + Ladder::need(2 * positives) + ranks_len(rows),
        u64: dealt.u64,
    }
}

/// The rows by stream, and the memory of the sums. Positives have the numbers of their ascending order.
struct Table<'a> {
    loss: Window,
    streams: Streams<'a>,
    scores: &'a mut [f64],
    /// Where each positive is in the streams.
    places: &'a mut [u32],
    /// The positive of every edge, ascending, with [`FAR`] for its far edge.
    edges: &'a mut [u32],
    /// `cells[k]` lies above k edges: `[score of the last near edge, count, Σd, Σd²]` of the others in it, with d their
    /// distance above that edge; later `[score, a, b, _]` for the derivative a + b·d by such an other.
    cells: &'a mut [[f64; 4]],
    /// The cell of every negative, and of every positive as an other.
    ranks: &'a mut [u32],
    own: &'a mut [u32],
    /// The posts, descending, and how many there are.
    posts: &'a mut [u32],
    post_count: usize,
}

/// See `sorted::auc`.
pub(super) fn auc<S: Real, Y: Class, G: Real>(
    rows: Rows<'_, S, Y>,
    loss: Window,
    mean: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let (mut table, sums) = Table::new(rows, loss, scratch)?;
    let value = table.auc(mean, sums);
    table.streams.collect(grad);
    Ok(value)
}

/// See `sorted::ap`.
pub(super) fn ap<S: Real, Y: Class, G: Real>(
    rows: Rows<'_, S, Y>,
    loss: Window,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Result<f64> {
    let (mut table, sums) = Table::new(rows, loss, scratch)?;
    let value = table.ap(sums);
    table.streams.collect(grad);
    Ok(value)
}

impl<'a> Table<'a> {
    /// The table with the negatives in its cells, and memory for four values of each positive.
    fn new<S: Real, Y: Class>(
        rows: Rows<'_, S, Y>,
        loss: Window,
        scratch: Scratch<'a, f64>,
    ) -> Result<(Self, &'a mut [f64])> {
        let (count, positives, dealt) = (rows.len(), rows.positives, streams::need(rows.len()));
        let (x, rest) = scratch.f64.halves_mut(dealt.f64 + positives)?;
        let (cells, rest) = rest.halves_mut(4 * (2 * positives + 1))?;
        let (sorted, rest) = rest.halves_mut(positives)?;
        let (dealing, others) = scratch.u32.halves_mut(dealt.u32)?;
        let (edges, others) = others.halves_mut(2 * positives)?;
        let (places, others) = others.halves_mut(positives)?;
        let (posts, others) = others.halves_mut(positives)?;
        let (own, others) = others.halves_mut(positives)?;
        let (ladder, ranks) = others.halves_mut(Ladder::need(2 * positives))?;
        let far = Some(loss.margin - loss.width);
        let tables = ranks.head_mut(streams::tables_len(count))?;
        let streams = Streams::new(rows, loss.margin, far, x, dealing, tables, scratch.u64)?;
        let cells = cells.as_chunks_mut().0;
        let mut table = Self { loss, streams, scores: sorted, places, edges, cells, ranks, own, posts, post_count: 0 };
        table.fill(ladder, count);
        Ok((table, rest.head_mut(4 * positives)?))
    }

    /// Sorts the edges of `rows` rows and gathers the negatives between them.
    fn fill(&mut self, ladder: &mut [u32], rows: usize) {
        let Self { loss, streams, scores, places, edges, cells, ranks, .. } = self;
        let (margin, far_margin) = (loss.margin, loss.margin - loss.width);
        let (near_x, rest) = streams.x.split_at(scores.len());
        let (others, far_x) = rest.split_at(rows - scores.len());
        let (mut near, mut other, mut far) = (0, 0, 0);
        cells[0] = [near_x[0], 0.0, 0.0, 0.0];
        for ends in streams.ends {
            let (near_end, other_end, far_end) = (ends[0] as usize, ends[1] as usize, ends[2] as usize);
            let here = Edges { near: &near_x[near..near_end], margin, far: &far_x[far..far_end], far_margin };
            let first = near + far;
            let steps = Ladder::new(&here, &mut edges[first..near_end + far_end], ladder);
            let start = near;
            // Near edges in order are the positives, and far edges the same once more.
            for at in first..near_end + far_end {
                let k = edges[at] as usize;
                if k < here.near.len() {
                    (scores[near], places[near]) = (here.near[k], (start + k) as u32);
                    edges[at] = near as u32;
                    near += 1;
                } else {
                    edges[at] = FAR | far as u32;
                    far += 1;
                }
                let base = if near > 0 { scores[near - 1] } else { near_x[0] };
                cells[at + 1] = [base, 0.0, 0.0, 0.0];
            }
            let edges = &edges[first..near_end + far_end];
            let mut found = [0; BLOCK];
            for at in (other..other_end).step_by(BLOCK) {
                let block = &others[at..other_end.min(at + BLOCK)];
                steps.ranks(block, &mut found, |k, x| {
                    edges.get(k as usize).is_some_and(|&edge| is_below(edge, x, loss, scores))
                });
                for ((&x, &rank), kept) in block.iter().zip(&found).zip(&mut ranks[at..]) {
                    *kept = first as u32 + rank;
                    add(&mut cells[*kept as usize], x, margin, 1.0);
                }
            }
            other = other_end;
        }
        let from = streams.first_partial - scores.len();
        for (at, &weight) in (from..streams.first_out - scores.len()).zip(&streams.partial) {
            let x = others[at];
            let rank = edges.partition_point(|&edge| is_below(edge, x, loss, scores));
            ranks[at] = rank as u32;
            add(&mut cells[rank], x, margin, weight);
        }
    }

    /// Σ over the others in the cells of ℓ and of its derivative by d, for every positive. Sets the posts.
    fn sums(&mut self, value: &mut [f64], slope: &mut [f64]) {
        let Self { loss, scores, edges, cells, posts, .. } = self;
        value.fill(0.0);
        slope.fill(0.0);
        let mut put = |positive: usize, (v, s): (f64, f64)| {
            value[positive] += v;
            slope[positive] += s;
        };
        // Down: everything above a far edge, and the part of a window below its post. Sums over others are relative to
        // the near edge `near` − 1, the last one below.
        let (mut near, mut far) = (scores.len(), scores.len());
        let (mut above, mut below_post) = ([0.0; 2], [0.0; 3]);
        let mut far_at_post = usize::MAX;
        let mut count = 0;
        for (cell, &edge) in cells[1..].iter().zip(&**edges).rev() {
            above[0] += cell[1];
            above[1] += cell[2];
            for q in 0..3 {
                below_post[q] += cell[q + 1];
            }
            if edge & FAR != 0 {
                far -= 1;
                let rise = scores[near - 1] - scores[far];
                put(far, loss.beyond([above[0], above[1] + rise * above[0]]));
                continue;
            }
            near -= 1;
            if near < far_at_post {
                // The far edge is below the last post: the window needs a new one.
                far_at_post = far;
                posts[count] = near as u32;
                count += 1;
                below_post = [0.0; 3];
            } else {
                put(near, loss.inside(below_post));
            }
            if near > 0 {
                let gap = scores[near] - scores[near - 1];
                above[1] += gap * above[0];
                below_post = raise(below_post, gap);
            }
        }
        // Up: the part of a window above its post, relative to the post.
        let (mut near, mut far) = (0, 0);
        let mut above_post = [0.0; 3];
        let mut next = posts[..count].iter().rev().map(|&p| p as usize).peekable();
        let mut post = 0;
        for (cell, &edge) in cells.iter().zip(&**edges) {
            let inside = raise([cell[1], cell[2], cell[3]], cell[0] - scores[post]);
            for q in 0..3 {
                above_post[q] += inside[q];
            }
            if edge & FAR != 0 {
                put(far, loss.inside(raise(above_post, scores[post] - scores[far])));
                far += 1;
            } else {
                if let Some(this) = next.next_if_eq(&near) {
                    post = this;
                    above_post = [0.0; 3];
                }
                near += 1;
            }
        }
        self.post_count = count;
    }

    /// The derivative by d of Σ wℓ over the positives, as a + b·d for the others of every cell. Needs the posts; weights
    /// of one sign.
    fn slopes(&mut self, weights: &[f64]) {
        let Self { loss, scores, edges, cells, .. } = self;
        let posts = &self.posts[..self.post_count];
        // Down: the positives of the post below whose far edge is above, relative to the post.
        let (mut near, mut far) = (scores.len(), scores.len());
        let mut active = [0.0; 2];
        let mut left = posts.iter().map(|&p| p as usize);
        let mut post = left.next();
        for (cell, &edge) in cells[1..].iter_mut().zip(&**edges).rev() {
            let rise = post.map_or(0.0, |post| cell[0] - scores[post]);
            (cell[1], cell[2]) = (active[1] + rise * active[0], active[0]);
            if edge & FAR != 0 {
                far -= 1;
                active[0] += weights[far];
                active[1] += weights[far] * post.map_or(0.0, |post| scores[post] - scores[far]);
            } else {
                near -= 1;
                if post == Some(near) {
                    active = [0.0; 2];
                    post = left.next();
                }
            }
        }
        // Up: those of the post above whose near edge is below, relative to the last near edge; and those beyond their far
        // edge.
        let (mut near, mut far) = (0, 0);
        let (mut active, mut beyond) = ([0.0; 2], 0.0);
        let mut posts = posts.iter().rev().map(|&p| p as usize).peekable();
        let inverse = 1.0 / loss.width;
        cells[0] = [scores[0], 0.0, 0.0, 0.0];
        for (cell, &edge) in cells[1..].iter_mut().zip(&**edges) {
            if edge & FAR != 0 {
                beyond += weights[far];
                far += 1;
            } else {
                if near > 0 {
                    active[1] += (scores[near] - scores[near - 1]) * active[0];
                }
                if posts.next_if_eq(&near).is_some() {
                    active = [0.0; 2];
                } else {
                    active[0] += weights[near];
                }
                near += 1;
            }
            let (sum, count) = ((cell[1] + active[1]) * inverse, (cell[2] + active[0]) * inverse);
            (cell[1], cell[2]) = if loss.round { (sum + beyond, count) } else { (count, 0.0) };
        }
    }

    /// The derivative by an other of that cell, after [`slopes`](Self::slopes).
    #[inline(always)]
    fn slope_at(&self, cell: u32, x: f64) -> f64 {
        let [base, a, b, _] = self.cells[cell as usize];
        a + b * ((x - base) + self.loss.margin)
    }

    /// Puts the derivative by every negative in its place, times `factor`.
    fn put_negatives(&mut self, factor: f64) {
        let positives = self.scores.len();
        for at in positives..self.streams.first_out {
            let slope = self.slope_at(self.ranks[at - positives], self.streams.x[at]);
            self.streams.x[at] = factor * slope;
        }
        let Streams { x, partial, first_partial, first_out, .. } = &mut self.streams;
        for (x, weight) in x[*first_partial..*first_out].iter_mut().zip(&*partial) {
            *x *= weight;
        }
        let far = x.len() - positives;
        x[*first_out..far].fill(0.0);
    }

    fn auc(&mut self, mean: f64, sums: &mut [f64]) -> f64 {
        let positives = self.scores.len();
        let (value, rest) = sums.split_at_mut(positives);
        let (slope, weights) = rest.split_at_mut(positives);
        self.sums(value, slope);
        let weights = &mut weights[..positives];
        weights.fill(1.0);
        self.slopes(weights);
        self.put_negatives(mean);
        for (&place, slope) in self.places.iter().zip(&*slope) {
            self.streams.x[place as usize] = -(mean * slope);
        }
        value.iter().sum::<f64>() * mean
    }

    fn ap(&mut self, sums: &mut [f64]) -> f64 {
        let positives = self.scores.len();
        let (value_n, rest) = sums.split_at_mut(positives);
        let (slope_n, rest) = rest.split_at_mut(positives);
        let (value_p, slope_p) = rest.split_at_mut(positives);
        self.sums(value_n, slope_n);
        for cell in self.cells.iter_mut() {
            *cell = [cell[0], 0.0, 0.0, 0.0];
        }
        let mut cell = 0;
        for (own, &s) in self.own.iter_mut().zip(&*self.scores) {
            while self.edges.get(cell).is_some_and(|&edge| is_below(edge, s, &self.loss, self.scores)) {
                cell += 1;
            }
            *own = cell as u32;
            add(&mut self.cells[cell], s, self.loss.margin, 1.0);
        }
        self.sums(value_p, slope_p);
        // The weights of the pairs with negatives and with positives, and the own derivative, take the place of the sums.
        let share = 1.0 / positives as f64;
        let mut value = 0.0;
        for i in 0..positives {
            let inverse = 1.0 / (value_p[i] + value_n[i]);
            let (ratio_p, ratio_n) = (value_p[i] * inverse, value_n[i] * inverse);
            let (beta, both) = (share * ratio_p * inverse, -(share * ratio_n * inverse));
            value -= share * ratio_p;
            slope_n[i] = -(both * slope_p[i] + beta * slope_n[i]);
            (value_n[i], value_p[i]) = (beta, both);
        }
        self.slopes(value_n);
        self.put_negatives(1.0);
        self.slopes(value_p);
        for i in 0..positives {
            let as_other = self.slope_at(self.own[i], self.scores[i]);
            self.streams.x[self.places[i] as usize] = as_other + slope_n[i];
        }
        value
    }
}

/// Whether an edge is below x: a near edge where d > 0, a far edge where d > λ.
#[inline(always)]
fn is_below(edge: u32, x: f64, loss: &Window, scores: &[f64]) -> bool {
    let far = edge & FAR != 0;
    let margin = if far { loss.margin - loss.width } else { loss.margin };
    (x - scores[(edge & !FAR) as usize]) + margin > 0.0
}

/// Adds an other to its cell.
#[inline(always)]
fn add(cell: &mut [f64; 4], x: f64, margin: f64, weight: f64) {
    let d = (x - cell[0]) + margin;
    cell[1] += weight;
    cell[2] += weight * d;
    cell[3] += weight * (d * d);
}

/// Count, Σd and Σd² with every d larger by `gap` ≥ 0.
#[inline(always)]
pub(super) fn raise([count, sum, squares]: [f64; 3], gap: f64) -> [f64; 3] {
    [count, sum + gap * count, squares + gap * (2.0 * sum + gap * count)]
}
