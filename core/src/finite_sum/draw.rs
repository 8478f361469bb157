//! Minibatches: uniform subsets without repeats.

use crate::rng::Rng;

/// 0, 1, …, n − 1.
pub(crate) fn identity(order: &mut [u32]) {
    for (k, slot) in order.iter_mut().enumerate() {
        *slot = k as u32;
    }
}

/// Brings a uniformly drawn subset of `partner.len()` examples to the front of `order`: the first steps of a
/// Fisher–Yates shuffle, which need no particular order to start from. `partner` keeps the exchanges for [`undo`].
pub(crate) fn subset(rng: &mut Rng, order: &mut [u32], partner: &mut [u32]) {
    let n = order.len() as u32;
    for (k, partner) in partner.iter_mut().enumerate() {
        let other = k as u32 + rng.below(n - k as u32);
        *partner = other;
        order.swap(k, other as usize);
    }
}

/// The exchanges of [`subset`] among `n` examples, alone.
pub(crate) fn exchanges(rng: &mut Rng, n: usize, partner: &mut [u32]) {
    for (k, partner) in partner.iter_mut().enumerate() {
        *partner = k as u32 + rng.below((n - k) as u32);
    }
}

/// Of minibatches that are subsets, the last one; empty before the first step.
pub(crate) fn drawn(order: &[u32], steps: u64, batch: usize) -> &[u32] {
    if steps == 0 { &[] } else { order.get(..batch).unwrap_or(&[]) }
}

/// Of minibatches that follow one another in `order`, the one before `next`; empty before the first.
pub(crate) fn consecutive(order: &[u32], next: u64, batch: usize) -> &[u32] {
    let Some(k) = next.checked_sub(1) else { return &[] };
    let from = (k as usize).saturating_mul(batch).min(order.len());
    &order[from..from.saturating_add(batch).min(order.len())]
}

/// Takes the exchanges of [`subset`] back.
pub(crate) fn undo(order: &mut [u32], partner: &[u32]) {
    for (k, &other) in partner.iter().enumerate().rev() {
        order.swap(k, other as usize);
    }
}
