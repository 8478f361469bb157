//! Working memory, and the passes of a model over rows in chunks.

use crate::data::{Rows, Selection};
use crate::error::Result;
use crate::model::{AnyModel, Model};
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

/// Memory of forward and backward passes over chunks of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Passes<T> {
    gathered: Vec<T>,
    cache: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> Passes<T> {
    /// Calls `step` with the selected rows, chunk by chunk: model, rows, position of the first, cache, scratch. Dense rows
    /// are gathered so that the model sees contiguous memory.
    fn run(
        &mut self,
        model: &AnyModel,
        rows: Rows<'_, T>,
        index: Option<&[u32]>,
        mut step: impl FnMut(&AnyModel, Selection<'_, T>, usize, &mut [T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let count = index.map_or_else(|| rows.len(), <[u32]>::len);
        let chunk = CHUNK.min(count.max(1));
        self.cache.resize(Model::<T>::cache_len(model, chunk), T::ZERO);
        self.scratch.resize(Model::<T>::scratch_len(model, chunk), T::ZERO);
        let identity: Vec<u32>;
        let index = match index {
            Some(index) => index,
            None => {
                identity = (0..count as u32).collect();
                &identity
            }
        };
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
            step(model, selection, k * chunk, &mut self.cache, &mut self.scratch)?;
        }
        Ok(())
    }

    pub fn forward(
        &mut self,
        model: &AnyModel,
        params: &[T],
        rows: Rows<'_, T>,
        index: Option<&[u32]>,
        scores: &mut [T],
    ) -> Result<()> {
        self.run(model, rows, index, |model, x, at, cache, _| {
            let out = &mut scores[at..at + x.len()];
            model.forward(params, x, cache, out)
        })
    }

    /// Adds the parameter gradient. When the rows were one chunk, `forward` left their cache; otherwise it is made again.
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
        let mut scores = [T::ZERO; CHUNK];
        self.run(model, rows, Some(index), |model, x, at, cache, scratch| {
            let len = x.len();
            if again {
                model.forward(params, x, cache, &mut scores[..len])?;
            }
            model.backward(params, x, cache, &score_grad[at..at + len], scratch, grad)
        })
    }
}
