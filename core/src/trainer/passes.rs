//! Working memory, and the passes of a model over rows in parts and chunks.

use crate::data::{Rows, Selection};
use crate::error::Result;
use crate::model::{AnyModel, Model};
use crate::parts::{each, part_len, part_len_of, shared};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use alloc::vec::Vec;

/// Rows that one pass of the model looks at together when there are more than a batch.
const CHUNK: usize = 256;

/// Working memory of the calls of one step, grown once.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<T> {
    real: Vec<T>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

impl<T: Real> Work<T> {
    pub fn lend(&mut self, need: Need) -> Scratch<'_, T> {
        fn grow<E: Clone>(memory: &mut Vec<E>, need: usize, zero: E) -> &mut [E] {
            if memory.len() < need {
                memory.resize(need, zero);
            }
            memory
        }
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
    gathered: Vec<T>,
    cache: Vec<T>,
    scratch: Vec<T>,
    scores: Vec<T>,
    grad: Vec<T>,
    outcome: Result<()>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self {
            gathered: Vec::new(),
            cache: Vec::new(),
            scratch: Vec::new(),
            scores: Vec::new(),
            grad: Vec::new(),
            outcome: Ok(()),
        }
    }
}

/// Forward and backward passes over rows in parts, and over a part in chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Passes<T> {
    /// Of one part, used in turn, or of each where threads share the work.
    parts: Vec<Memory<T>>,
}

impl<T: Real> Memory<T> {
    /// Calls `step` with the selected rows, chunk by chunk: model, rows, position of the first, cache, scratch. Dense rows
    /// are gathered so that the model sees contiguous memory.
    fn run(
        &mut self,
        model: &AnyModel,
        rows: Rows<'_, T>,
        index: &[u32],
        mut step: impl FnMut(Selection<'_, T>, usize, &mut [T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let chunk = CHUNK.min(index.len().max(1));
        self.cache.resize(Model::<T>::cache_len(model, chunk), T::ZERO);
        self.scratch.resize(Model::<T>::scratch_len(model, chunk), T::ZERO);
        for (k, part) in index.chunks(chunk).enumerate() {
            let selection = match rows {
                Rows::Dense { data, cols } => {
                    self.gathered.clear();
                    for &row in part {
                        self.gathered.extend_from_slice(&data[row as usize * cols..][..cols]);
                    }
                    Selection::all(Rows::Dense { data: &self.gathered, cols })
                }
                Rows::Csr { .. } => Selection::of(rows, part)?,
            };
            step(selection, k * chunk, &mut self.cache, &mut self.scratch)?;
        }
        Ok(())
    }

    fn forward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        scores: &mut [T],
    ) -> Result<()> {
        self.run(model, rows, index, |x, at, cache, _| {
            let heads = Model::<T>::heads(model);
            let out = &mut scores[at * heads..(at + x.len()) * heads];
            model.forward(params, x, cache, out)
        })
    }

    /// Adds the parameter gradient; `again` when the cache is not that of these rows.
    fn backward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        score_grad: &[T],
        again: bool,
        grad: &mut [T],
    ) -> Result<()> {
        let heads = Model::<T>::heads(model);
        let mut scores = core::mem::take(&mut self.scores);
        scores.resize(CHUNK * heads, T::ZERO);
        let done = self.run(model, rows, index, |x, at, cache, scratch| {
            let len = x.len() * heads;
            if again {
                model.forward(params, x, cache, &mut scores[..len])?;
            }
            model.backward(params, x, cache, &score_grad[at * heads..][..len], scratch, grad)
        });
        self.scores = scores;
        done
    }
}

impl<T: Real> Passes<T> {
    /// Memory for so many parts.
    fn lend(&mut self, parts: usize) -> &mut [Memory<T>] {
        if self.parts.len() < parts {
            self.parts.resize_with(parts, Memory::default);
        }
        &mut self.parts[..parts]
    }

    pub fn forward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: Option<&[u32]>,
        scores: &mut [T],
    ) -> Result<()> {
        let identity: Vec<u32>;
        let index = match index {
            Some(index) => index,
            None => {
                identity = (0..rows.len() as u32).collect();
                &identity
            }
        };
        let len = part_len(index.len());
        if !shared(index.len()) {
            return self.lend(1)[0].forward(model, params, rows, index, scores);
        }
        let parts = self.lend(index.len().div_ceil(len));
        let heads = Model::<T>::heads(model);
        let work = parts.iter_mut().zip(index.chunks(len)).zip(scores.chunks_mut(len * heads));
        each(work, |((memory, index), scores)| memory.outcome = memory.forward(model, params, rows, index, scores));
        parts.iter().try_for_each(|memory| memory.outcome)
    }

    /// Adds the parameter gradient. When the rows were one chunk, `forward` left their cache; otherwise it is made again.
    ///
    /// Many rows are summed in parts, each from 0, whose sums are then added in order; as many as together hold no more
    /// than a quarter of the numbers that the data have.
    pub fn backward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: &[u32],
        score_grad: &[T],
        grad: &mut [T],
    ) -> Result<()> {
        let again = index.len() > CHUNK;
        let len = part_len_of(index.len(), rows.nnz() / (4 * params.len().max(1)));
        let work = index.chunks(len).zip(score_grad.chunks(len * Model::<T>::heads(model)));
        if len >= index.len() {
            return self.lend(1)[0].backward(model, params, rows, index, score_grad, again, grad);
        }
        let sum = |memory: &mut Memory<T>, index: &[u32], score_grad: &[T]| {
            let mut grad = core::mem::take(&mut memory.grad);
            grad.clear();
            grad.resize(params.len(), T::ZERO);
            memory.outcome = memory.backward(model, params, rows, index, score_grad, again, &mut grad);
            memory.grad = grad;
        };
        let mut add = |memory: &Memory<T>| -> Result<()> {
            memory.outcome?;
            grad.iter_mut().zip(&memory.grad).for_each(|(to, &x)| *to += x);
            Ok(())
        };
        if shared(index.len()) {
            let parts = self.lend(index.len().div_ceil(len));
            each(parts.iter_mut().zip(work), |(memory, (index, score_grad))| sum(memory, index, score_grad));
            return parts.iter().try_for_each(add);
        }
        let memory = &mut self.lend(1)[0];
        for (index, score_grad) in work {
            sum(memory, index, score_grad);
            add(memory)?;
        }
        Ok(())
    }
}
