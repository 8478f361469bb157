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
        subset(&mut self.rng, n, memory.u32);
        let event = inner(self, memory);
        if event.is_err() {
            undo(before.rng.clone(), n, memory.u32);
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

/// Brings a uniformly drawn subset to the front of the order of `n` examples, as large as what lies behind it, where the
/// exchanges are kept: the first steps of a Fisher–Yates shuffle, which need no particular order to start from.
fn subset(rng: &mut Rng, n: usize, counts: &mut [u32]) {
    let (order, partner) = counts.split_at_mut(n);
    for (k, partner) in partner.iter_mut().enumerate() {
        *partner = k as u32 + rng.below((n - k) as u32);
        order.swap(k, *partner as usize);
    }
}

/// Takes back the draw that was made from this state of the generator on; its exchanges may have been written over.
fn undo(mut rng: Rng, n: usize, counts: &mut [u32]) {
    let (order, partner) = counts.split_at_mut(n);
    for (k, partner) in partner.iter_mut().enumerate() {
        *partner = k as u32 + rng.below((n - k) as u32);
    }
    for (k, &other) in partner.iter().enumerate().rev() {
        order.swap(k, other as usize);
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
