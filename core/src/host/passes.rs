//! Forward and backward passes of a model over rows, chunk by chunk.

use crate::data::{Rows, Selection};
use crate::error::{Error, Result};
use crate::features::COMPACT;
use crate::model::Model;
use crate::parts::part_len_of;
use crate::real::Real;
use crate::slices::Part;

/// Rows that a model looks at together when there are more.
pub(crate) const CHUNK: usize = 256;
/// Columns of the widest rows that are gathered for a model that reads each row once: those from here and there in memory are read
/// faster by copying than by computing, up to about as many.
pub(crate) const WIDE: usize = 1024;

/// Passes of a model over selected rows, in memory of its own. A host takes any: one of your own may spread the rows over
/// threads or machines.
pub trait Passes<T: Real, M> {
    /// Raw scores of the rows `index`, in that order; rows × heads.
    ///
    /// # Errors
    /// As [`Model::forward`].
    fn forward(&mut self, model: &M, params: &[T], rows: Rows<'_, T>, index: &[u32], scores: &mut [T]) -> Result<()>;
    /// Adds the parameter gradient of the same rows, whose scores `forward` has just computed at the same parameters.
    ///
    /// # Errors
    /// As [`Model::backward`].
    fn backward(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        slopes: &[T],
        grad: &mut [T],
    ) -> Result<()>;
}

/// Memory of one walk over rows in chunks.
pub(crate) struct Chunk<'a, T> {
    /// A chunk's dense rows, gathered; empty where they are not.
    pub gathered: &'a mut [T],
    pub cache: &'a mut [T],
    pub scratch: &'a mut [T],
    pub scores: &'a mut [T],
    /// Whether the cache is not that of the rows whose gradient is asked for.
    pub stale: bool,
}

/// Lengths of a [`Chunk`] for batches of so many rows.
pub(crate) fn chunk_lens<T: Real, M: Model<T> + ?Sized>(model: &M, rows: Rows<'_, T>, batch: usize) -> [usize; 4] {
    let chunk = CHUNK.min(batch.max(1));
    let (cols, cache) = (rows.cols(), model.cache_len(chunk));
    let is_gathered = matches!(rows, Rows::Dense { .. }) && (cache > 0 || cols <= WIDE);
    [if is_gathered { chunk * cols } else { 0 }, cache, model.scratch_len(chunk), chunk * model.heads()]
}

/// Whether rows follow one another.
fn follow(rows: &[u32]) -> bool {
    rows.windows(2).all(|pair| matches!(pair, &[row, next] if row.checked_add(1) == Some(next)))
}

/// What is done with a chunk: its rows, the position of the first, cache, scratch, scores.
type Step<'s, T> = dyn FnMut(Selection<'_, T>, usize, &mut [T], &mut [T], &mut [T]) -> Result<()> + 's;

impl<T: Real> Chunk<'_, T> {
    /// Calls `step` with the selected rows, chunk by chunk. Dense rows are gathered, where there is memory for it and they do not
    /// follow one another.
    fn run(&mut self, rows: Rows<'_, T>, index: &[u32], step: &mut Step<'_, T>) -> Result<()> {
        let chunk = CHUNK.min(index.len().max(1));
        for (k, part) in index.chunks(chunk).enumerate() {
            let selection = match rows {
                Rows::Dense { data, cols } if follow(part) => {
                    let first = part.first().map_or(0, |&row| row as usize);
                    let span = data.get(first * cols..).and_then(|rest| rest.get(..part.len() * cols));
                    let at = part.last().map_or(0, |&row| row as usize);
                    let data = span.ok_or(Error::Index { what: "index", at, len: rows.len() })?;
                    Selection::all(Rows::Dense { data, cols })
                }
                Rows::Dense { data, cols } if !self.gathered.is_empty() => {
                    let (need, got) = (part.len() * cols, self.gathered.len());
                    let short = Error::Length { what: "passes", need, got };
                    let gathered = self.gathered.get_mut(..need).ok_or(short)?;
                    for (to, &row) in gathered.chunks_exact_mut(cols.max(1)).zip(part) {
                        let from = data.get(row as usize * cols..).and_then(|rest| rest.get(..cols));
                        let from = from.ok_or(Error::Index { what: "index", at: row as usize, len: rows.len() })?;
                        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
                    }
                    Selection::all(Rows::Dense { data: gathered, cols })
                }
                _ => Selection::of(rows, part)?,
            };
            step(selection, k * chunk, self.cache, self.scratch, self.scores)?;
        }
        Ok(())
    }

    pub fn forward<M: Model<T> + ?Sized>(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        scores: &mut [T],
    ) -> Result<()> {
        let heads = model.heads();
        self.run(rows, index, &mut |x, at, cache, _, _| {
            let out = scores.part_mut(at * heads..(at + x.len()) * heads)?;
            model.forward(params, x, cache, out)
        })
    }

    /// Adds the parameter gradient.
    pub fn backward<M: Model<T> + ?Sized>(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        slopes: &[T],
        grad: &mut [T],
    ) -> Result<()> {
        let (heads, stale) = (model.heads(), self.stale);
        self.run(rows, index, &mut |x, at, cache, scratch, scores| {
            let len = x.len() * heads;
            if stale && !cache.is_empty() {
                model.forward(params, x, cache, scores.head_mut(len)?)?;
            }
            model.backward(params, x, cache, slopes.part(at * heads..at * heads + len)?, scratch, grad)
        })
    }
}

/// [`Passes`] in lent memory, on one thread.
///
/// Many rows are summed in parts, each from 0, whose sums are then added in order; as many as together hold no more than a
/// quarter of the numbers that the data have.
#[derive(Debug)]
pub struct Chunks<'a, T> {
    memory: &'a mut [T],
}

impl<'a, T: Real> Chunks<'a, T> {
    /// Elements of memory for batches of so many of these rows.
    pub fn need<M: Model<T> + ?Sized>(model: &M, rows: Rows<'_, T>, batch: usize) -> usize {
        let parts = if is_cut(rows, batch, model.param_len()) { model.param_len() } else { 0 };
        chunk_lens(model, rows, batch).iter().sum::<usize>() + parts
    }

    /// In memory as long as [`need`](Self::need) says, or longer, with any contents.
    pub fn new(memory: &'a mut [T]) -> Self {
        Self { memory }
    }

    /// The memory of a chunk, and of the sum of a part.
    fn cut<M: Model<T> + ?Sized>(
        &mut self,
        model: &M,
        rows: Rows<'_, T>,
        batch: usize,
    ) -> Result<(Chunk<'_, T>, &mut [T])> {
        let (need, got) = (Self::need(model, rows, batch), self.memory.len());
        if got < need {
            return Err(Error::Length { what: "passes", need, got });
        }
        let [gathered, cache, scratch, scores] = chunk_lens(model, rows, batch);
        let (gathered, rest) = self.memory.halves_mut(gathered)?;
        let (cache, rest) = rest.halves_mut(cache)?;
        let (scratch, rest) = rest.halves_mut(scratch)?;
        let (scores, part) = rest.halves_mut(scores)?;
        Ok((Chunk { gathered, cache, scratch, scores, stale: batch > CHUNK }, part))
    }
}

/// Rows of a part of a sum over so many.
pub(crate) fn sum_len<T: Real>(rows: Rows<'_, T>, batch: usize, params: usize) -> usize {
    part_len_of(batch, rows.nnz().checked_div(4 * params).unwrap_or(rows.nnz() / 4))
}

fn is_cut<T: Real>(rows: Rows<'_, T>, batch: usize, params: usize) -> bool {
    sum_len(rows, batch, params) < batch
}

impl<T: Real, M: Model<T>> Passes<T, M> for Chunks<'_, T> {
    fn forward(&mut self, model: &M, params: &[T], rows: Rows<'_, T>, index: &[u32], scores: &mut [T]) -> Result<()> {
        self.cut(model, rows, index.len())?.0.forward(model, params, rows, index, scores)
    }

    fn backward(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        slopes: &[T],
        grad: &mut [T],
    ) -> Result<()> {
        let len = sum_len(rows, index.len(), params.len());
        let heads = model.heads();
        let (mut chunk, part) = self.cut(model, rows, index.len())?;
        if len >= index.len() {
            return chunk.backward(model, params, rows, index, slopes, grad);
        }
        let part = part.head_mut(params.len())?;
        for (index, slopes) in index.chunks(len.max(1)).zip(slopes.chunks((len * heads).max(1))) {
            part.fill(T::ZERO);
            chunk.backward(model, params, rows, index, slopes, part)?;
            grad.iter_mut().zip(&*part).for_each(|(to, &x)| *to += x);
        }
        Ok(())
    }
}

/// Passes whose scores are residuals: less the number that each row is to have. An estimator then looks at numbers as targets without
/// knowing of them; gradients are the same. Without numbers, and in builds with `compact`, scores.
pub struct Residuals<'a, T, P> {
    /// By row of the data, or nothing.
    pub targets: &'a [T],
    /// What scores the rows, with one score each.
    pub passes: &'a mut P,
}

impl<T: Real, M, P: Passes<T, M>> Passes<T, M> for Residuals<'_, T, P> {
    fn forward(&mut self, model: &M, params: &[T], rows: Rows<'_, T>, index: &[u32], scores: &mut [T]) -> Result<()> {
        self.passes.forward(model, params, rows, index, scores)?;
        if COMPACT || self.targets.is_empty() {
            return Ok(());
        }
        for (score, &row) in scores.iter_mut().zip(index) {
            let short = Error::Index { what: "targets", at: row as usize, len: self.targets.len() };
            *score -= *self.targets.get(row as usize).ok_or(short)?;
        }
        Ok(())
    }

    fn backward(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        slopes: &[T],
        grad: &mut [T],
    ) -> Result<()> {
        self.passes.backward(model, params, rows, index, slopes, grad)
    }
}
