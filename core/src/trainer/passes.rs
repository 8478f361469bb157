//! Working memory that grows, and passes of a model over rows on several threads.

use crate::data::Rows;
use crate::error::Result;
use crate::host::{CHUNK, Chunk, Passes, chunk_lens, sum_len};
use crate::model::Model;
use crate::parts::{each, part_len, shared};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use alloc::vec;
use alloc::vec::Vec;

/// Working memory of the calls of one step, grown once.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<T> {
    real: Vec<T>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

/// At least so long, with any contents. (Memory that is zero from the start is the system's until it is written to.)
fn grow<E: Clone>(memory: &mut Vec<E>, need: usize, zero: E) -> &mut [E] {
    if memory.len() < need {
        drop(core::mem::take(memory));
        *memory = vec![zero; need];
    }
    memory
}

impl<T: Real> Work<T> {
    pub fn lend(&mut self, need: Need) -> Scratch<'_, T> {
        Scratch {
            real: grow(&mut self.real, need.real, T::ZERO),
            f64: grow(&mut self.f64, need.f64, 0.0),
            u32: grow(&mut self.u32, need.u32, 0),
            u64: grow(&mut self.u64, need.u64, 0),
        }
    }
}

/// Memory of one part of the rows.
#[derive(Clone, Debug)]
struct Memory<T> {
    chunk: Vec<T>,
    grad: Vec<T>,
    outcome: Result<()>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self { chunk: Vec::new(), grad: Vec::new(), outcome: Ok(()) }
    }
}

impl<T: Real> Memory<T> {
    fn chunk<M: Model<T>>(&mut self, model: &M, rows: Rows<'_, T>, batch: usize) -> Chunk<'_, T> {
        let lens = chunk_lens(model, rows, batch);
        let memory = grow(&mut self.chunk, lens.iter().sum(), T::ZERO);
        let (gathered, rest) = memory.split_at_mut(lens[0]);
        let (cache, rest) = rest.split_at_mut(lens[1]);
        let (scratch, rest) = rest.split_at_mut(lens[2]);
        Chunk { gathered, cache, scratch, scores: &mut rest[..lens[3]], stale: batch > CHUNK }
    }
}

/// Forward and backward passes over rows in parts, each in memory of its own, which grows.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedPasses<T> {
    /// Of one part, used in turn, or of each where threads share the work.
    parts: Vec<Memory<T>>,
}

impl<T: Real> SharedPasses<T> {
    /// Memory for so many parts.
    fn lend(&mut self, parts: usize) -> &mut [Memory<T>] {
        if self.parts.len() < parts {
            self.parts.resize_with(parts, Memory::default);
        }
        &mut self.parts[..parts]
    }

    /// Raw scores of all rows.
    pub fn forward_all<M: Model<T> + Sync>(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        scores: &mut [T],
    ) -> Result<()> {
        let index: Vec<u32> = (0..rows.len() as u32).collect();
        self.forward(model, params, rows, &index, scores)
    }
}

impl<T: Real, M: Model<T> + Sync> Passes<T, M> for SharedPasses<T> {
    fn forward(&mut self, model: &M, params: &[T], rows: Rows<'_, T>, index: &[u32], scores: &mut [T]) -> Result<()> {
        let len = part_len(index.len());
        if !shared(index.len()) {
            return self.lend(1)[0].chunk(model, rows, index.len()).forward(model, params, rows, index, scores);
        }
        let parts = self.lend(index.len().div_ceil(len));
        let heads = model.heads();
        let work = parts.iter_mut().zip(index.chunks(len)).zip(scores.chunks_mut(len * heads));
        each(work, |((memory, index), scores)| {
            memory.outcome = memory.chunk(model, rows, index.len()).forward(model, params, rows, index, scores);
        });
        parts.iter().try_for_each(|memory| memory.outcome)
    }

    /// When the rows were one chunk, `forward` left their cache; otherwise it is made again. Many rows are summed in parts
    /// as [`Chunks`](crate::host::Chunks) do.
    fn backward(
        &mut self,
        model: &M,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        slopes: &[T],
        grad: &mut [T],
    ) -> Result<()> {
        let stale = index.len() > CHUNK;
        let len = sum_len(rows, index.len(), params.len());
        if len >= index.len() {
            let mut chunk = self.lend(1)[0].chunk(model, rows, index.len());
            return chunk.backward(model, params, rows, index, slopes, grad);
        }
        let work = index.chunks(len).zip(slopes.chunks(len * model.heads()));
        let sum = |memory: &mut Memory<T>, index: &[u32], slopes: &[T]| {
            let mut grad = core::mem::take(&mut memory.grad);
            grad.clear();
            grad.resize(params.len(), T::ZERO);
            let mut chunk = Chunk { stale, ..memory.chunk(model, rows, index.len()) };
            memory.outcome = chunk.backward(model, params, rows, index, slopes, &mut grad);
            memory.grad = grad;
        };
        let mut add = |memory: &Memory<T>| -> Result<()> {
            memory.outcome?;
            grad.iter_mut().zip(&memory.grad).for_each(|(to, &x)| *to += x);
            Ok(())
        };
        if shared(index.len()) {
            let parts = self.lend(index.len().div_ceil(len));
            each(parts.iter_mut().zip(work), |(memory, (index, slopes))| sum(memory, index, slopes));
            return parts.iter().try_for_each(add);
        }
        let memory = &mut self.lend(1)[0];
        for (index, slopes) in work {
            sum(memory, index, slopes);
            add(memory)?;
        }
        Ok(())
    }
}
