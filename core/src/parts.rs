//! Parallel work in parts: cut by its length alone, on several threads with the feature `rayon`.
//!
//! What a part computes, and the order in which results are combined, depend on the data alone. So the bits do not depend on the
//! number of threads, nor on the feature.

/// Parts at most.
pub(crate) const PARTS: usize = 16;
/// Rows that are not worth cutting: some tens of microseconds of work.
pub(crate) const FEW: usize = 1 << 15;

/// Rows of a part.
pub(crate) const fn part_len(rows: usize) -> usize {
    if rows == 0 {
        1
    } else if rows < FEW {
        rows
    } else {
        rows.div_ceil(PARTS).next_multiple_of(64)
    }
}

/// Rows of a part where at most so many parts pay.
pub(crate) fn part_len_of(rows: usize, most: usize) -> usize {
    if rows < FEW { rows.max(1) } else { rows.div_ceil(most.clamp(1, PARTS)).next_multiple_of(64) }
}

/// Whether work on so many rows is shared between threads: those of the pool that the caller is in.
#[cfg(feature = "rayon")]
pub(crate) fn shared(rows: usize) -> bool {
    rows >= FEW && rayon::current_num_threads() > 1
}
#[cfg(not(feature = "rayon"))]
pub(crate) const fn shared(_: usize) -> bool {
    false
}

/// Whether threads are enough to pay for a second pass over the rows.
#[cfg(feature = "rayon")]
pub(crate) fn shared_by_many(rows: usize) -> bool {
    shared(rows) && rayon::current_num_threads() >= 4
}
#[cfg(not(feature = "rayon"))]
pub(crate) const fn shared_by_many(_: usize) -> bool {
    false
}

/// Calls `work` with every item: one after the other, or, if there are at least two and the pool has threads, at once.
/// At most [`PARTS`] items.
#[cfg_attr(not(feature = "rayon"), inline(always))]
pub(crate) fn each<I: Send>(mut items: impl Iterator<Item = I>, work: impl Fn(I) + Sync) {
    #[cfg(feature = "rayon")]
    if items.size_hint().0 > 1 && rayon::current_num_threads() > 1 {
        fn halve<I: Send>(items: &mut [Option<I>], work: &(impl Fn(I) + Sync)) {
            if items.len() > 1 {
                let (left, right) = items.split_at_mut(items.len() / 2);
                rayon::join(|| halve(left, work), || halve(right, work));
            } else if let Some(item) = items.first_mut().and_then(Option::take) {
                work(item);
            }
        }
        let mut held: [Option<I>; PARTS] = core::array::from_fn(|_| items.next());
        let count = held.iter().flatten().count();
        halve(&mut held[..count], &work);
    }
    items.by_ref().for_each(work);
}
