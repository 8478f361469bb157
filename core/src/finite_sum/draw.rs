//! Minibatches: uniform subsets without repeats.

use super::run::{Event, Memory, Run};
use crate::Real;
use crate::error::Result;
use crate::rng::Rng;

impl Run {
    /// `inner` on a fresh minibatch at the front of the order of `n` examples, as large as the counts behind it. Where it
    /// is refused, the draw is taken back and the run is as it was.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn on_subset<T: Real>(
        &mut self,
        n: usize,
        memory: &mut Memory<'_, T>,
        inner: impl FnOnce(&mut Self, &mut Memory<'_, T>) -> Result<Event>,
    ) -> Result<Event> {
        let before = self.clone();
        let (order, partner) = memory.u32.split_at_mut(n);
        subset(&mut self.rng, order, partner);
        let event = inner(self, memory);
        if event.is_err() {
            let (order, partner) = memory.u32.split_at_mut(n);
            // (The exchanges may have been written over.)
            exchanges(&mut before.rng.clone(), n, partner);
            undo(order, partner);
            *self = before;
        }
        event
    }
}

/// 0, 1, …, n − 1.
pub(super) fn identity(order: &mut [u32]) {
    for (k, slot) in order.iter_mut().enumerate() {
        *slot = k as u32;
    }
}

/// Brings a uniformly drawn subset of `partner.len()` examples to the front of `order`: the first steps of a
/// Fisher–Yates shuffle, which need no particular order to start from. `partner` keeps the exchanges for [`undo`].
fn subset(rng: &mut Rng, order: &mut [u32], partner: &mut [u32]) {
    let n = order.len() as u32;
    for (k, partner) in partner.iter_mut().enumerate() {
        let other = k as u32 + rng.below(n - k as u32);
        *partner = other;
        order.swap(k, other as usize);
    }
}

/// The exchanges of [`subset`] among `n` examples, alone.
fn exchanges(rng: &mut Rng, n: usize, partner: &mut [u32]) {
    for (k, partner) in partner.iter_mut().enumerate() {
        *partner = k as u32 + rng.below((n - k) as u32);
    }
}

/// Of minibatches that are subsets, the last one; empty before the first step.
pub(super) fn drawn(order: &[u32], steps: u64, batch: usize) -> &[u32] {
    if steps == 0 { &[] } else { order.get(..batch).unwrap_or(&[]) }
}

/// Of minibatches that follow one another in `order`, the one before `next`; empty before the first.
pub(super) fn consecutive(order: &[u32], next: u64, batch: usize) -> &[u32] {
    let Some(k) = next.checked_sub(1) else { return &[] };
    let from = (k as usize).saturating_mul(batch).min(order.len());
    &order[from..from.saturating_add(batch).min(order.len())]
}

/// Takes the exchanges of [`subset`] back.
fn undo(order: &mut [u32], partner: &[u32]) {
    for (k, &other) in partner.iter().enumerate().rev() {
        order.swap(k, other as usize);
    }
}
