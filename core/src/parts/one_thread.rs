//! In place of `threads.rs` in builds without `rayon`.

pub(crate) const fn shared(_: usize) -> bool {
    false
}

pub(crate) const fn threads() -> usize {
    1
}

pub(crate) const fn shared_by_many(_: usize) -> bool {
    false
}

#[inline(always)]
pub(crate) fn each<I: Send>(items: impl Iterator<Item = I>, work: impl Fn(I) + Sync) {
    items.for_each(work);
}
