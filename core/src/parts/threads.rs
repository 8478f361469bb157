//! Work in parts on the threads of the rayon pool that the caller is in.

use super::{FEW, PARTS};

/// Whether work on so many rows is shared between threads.
pub(crate) fn shared(rows: usize) -> bool {
    rows >= FEW && threads() > 1
}

/// How many threads there are for work in parts.
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Whether threads are enough to pay for a second pass over the rows.
pub(crate) fn shared_by_many(rows: usize) -> bool {
    shared(rows) && threads() >= 4
}

/// Calls `work` with every item: one after the other, or, if there are at least two and the pool has threads, at once.
/// At most [`PARTS`] items.
pub(crate) fn each<I: Send>(mut items: impl Iterator<Item = I>, work: impl Fn(I) + Sync) {
    if items.size_hint().0 > 1 && threads() > 1 {
        let mut held: [Option<I>; PARTS] = core::array::from_fn(|_| items.next());
        let count = held.iter().flatten().count();
        halve(&mut held[..count], &work);
    }
    items.by_ref().for_each(work);
}

fn halve<I: Send>(items: &mut [Option<I>], work: &(impl Fn(I) + Sync)) {
    if items.len() > 1 {
        let (left, right) = items.split_at_mut(items.len() / 2);
        rayon::join(|| halve(left, work), || halve(right, work));
    } else if let Some(item) = items.first_mut().and_then(Option::take) {
        work(item);
    }
}
