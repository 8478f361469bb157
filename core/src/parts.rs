//! Parallel work in parts: cut by its length alone, on several threads with the feature `rayon`.
//!
//! What a part computes, and the order in which results are combined, depend on the data alone. So the bits do not depend on the
//! number of threads, nor on the feature.

#[cfg_attr(feature = "rayon", path = "parts/threads.rs")]
#[cfg_attr(not(feature = "rayon"), path = "parts/one_thread.rs")]
mod threads;

#[cfg(feature = "tables")]
pub(crate) use threads::threads;
pub(crate) use threads::{each, shared, shared_by_many};

/// Parts at most.
pub(crate) const PARTS: usize = 16;
/// Rows that are not worth cutting: some tens of microseconds of work.
pub(crate) const FEW: usize = 1 << 15;

/// Rows of a part.
pub(crate) const fn part_len(rows: usize) -> usize {
    let len = if rows < FEW { rows } else { rows.div_ceil(PARTS).next_multiple_of(64) };
    // (Last, so that the compiler sees that chunks of it have rows.)
    if len == 0 { 1 } else { len }
}

/// A slice in parts of `len` elements, the last of which may have fewer: `chunks` that divides by no length and so cannot panic.
pub(crate) struct Parts<S> {
    rest: S,
    len: usize,
}

/// The parts of a slice.
#[inline]
pub(crate) fn parts_of<T>(slice: &[T], len: usize) -> Parts<&[T]> {
    Parts { rest: slice, len: len.max(1) }
}

/// The parts of a slice.
#[inline]
pub(crate) fn parts_of_mut<T>(slice: &mut [T], len: usize) -> Parts<&mut [T]> {
    Parts { rest: slice, len: len.max(1) }
}

/// Parts of so many elements at least: [`each`] asks whether there are two.
fn at_least(elements: usize, len: usize) -> (usize, Option<usize>) {
    (if elements > len { 2 } else { usize::from(elements > 0) }, None)
}

impl<'a, T> Iterator for Parts<&'a [T]> {
    type Item = &'a [T];
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (part, rest) = self.rest.split_at_checked(self.len).unwrap_or((self.rest, &[]));
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        at_least(self.rest.len(), self.len)
    }
}

impl<'a, T> Iterator for Parts<&'a mut [T]> {
    type Item = &'a mut [T];
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = core::mem::take(&mut self.rest);
        let len = self.len.min(rest.len());
        let (part, rest) = rest.split_at_mut_checked(len)?;
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        at_least(self.rest.len(), self.len)
    }
}

/// Rows of a part where at most so many parts pay.
pub(crate) fn part_len_of(rows: usize, most: usize) -> usize {
    if rows < FEW { rows.max(1) } else { rows.div_ceil(most.clamp(1, PARTS)).next_multiple_of(64) }
}
