//! Parts of slices, with an error where a slice is too short: code that cuts its memory by these cannot panic.

use crate::error::{Error, Result};
use core::ops::Range;

/// Parts of a slice. All errors are `Length`.
pub(crate) trait Part {
    /// The elements of a range.
    fn part(&self, range: Range<usize>) -> Result<&Self>;
    /// The elements of a range.
    fn part_mut(&mut self, range: Range<usize>) -> Result<&mut Self>;
    /// The first `len` elements.
    fn head(&self, len: usize) -> Result<&Self>;
    /// The first `len` elements.
    fn head_mut(&mut self, len: usize) -> Result<&mut Self>;
    /// The first `len` elements, and the others.
    fn halves(&self, len: usize) -> Result<(&Self, &Self)>;
    /// The first `len` elements, and the others.
    fn halves_mut(&mut self, len: usize) -> Result<(&mut Self, &mut Self)>;
    /// The last `len` elements.
    fn tail(&self, len: usize) -> Result<&Self>;
    /// The last `len` elements.
    fn tail_mut(&mut self, len: usize) -> Result<&mut Self>;
    /// Copies as many elements as both have.
    fn copy(&mut self, from: &Self);
}

/// Elements and parts whose places the caller has worked out: what is not there is a default, or nothing, and no panic.
pub(crate) trait Place<T> {
    /// The element at a place.
    fn at(&self, place: usize) -> T;
    /// Writes the element at a place.
    fn put(&mut self, place: usize, value: T);
    /// The elements of a range.
    fn span(&self, range: Range<usize>) -> &Self;
    /// The elements of a range.
    fn span_mut(&mut self, range: Range<usize>) -> &mut Self;
}

impl<T: Copy + Default> Place<T> for [T] {
    #[inline(always)]
    fn at(&self, place: usize) -> T {
        self.get(place).copied().unwrap_or_default()
    }
    #[inline(always)]
    fn put(&mut self, place: usize, value: T) {
        if let Some(element) = self.get_mut(place) {
            *element = value;
        }
    }
    #[inline(always)]
    fn span(&self, range: Range<usize>) -> &Self {
        self.get(range).unwrap_or_default()
    }
    #[inline(always)]
    fn span_mut(&mut self, range: Range<usize>) -> &mut Self {
        self.get_mut(range).unwrap_or_default()
    }
}

const fn short(need: usize, got: usize) -> Error {
    Error::Length { what: "memory", need, got }
}

impl<T: Copy> Part for [T] {
    #[inline]
    fn part(&self, range: Range<usize>) -> Result<&Self> {
        let error = short(range.end, self.len());
        self.get(range).ok_or(error)
    }
    #[inline]
    fn part_mut(&mut self, range: Range<usize>) -> Result<&mut Self> {
        let error = short(range.end, self.len());
        self.get_mut(range).ok_or(error)
    }
    #[inline]
    fn head(&self, len: usize) -> Result<&Self> {
        self.part(0..len)
    }
    #[inline]
    fn head_mut(&mut self, len: usize) -> Result<&mut Self> {
        self.part_mut(0..len)
    }
    #[inline]
    fn halves(&self, len: usize) -> Result<(&Self, &Self)> {
        self.split_at_checked(len).ok_or(short(len, self.len()))
    }
    #[inline]
    fn halves_mut(&mut self, len: usize) -> Result<(&mut Self, &mut Self)> {
        let error = short(len, self.len());
        self.split_at_mut_checked(len).ok_or(error)
    }
    #[inline]
    fn tail(&self, len: usize) -> Result<&Self> {
        self.part(self.len().wrapping_sub(len)..self.len())
    }
    #[inline]
    fn tail_mut(&mut self, len: usize) -> Result<&mut Self> {
        self.part_mut(self.len().wrapping_sub(len)..self.len())
    }
    #[inline]
    fn copy(&mut self, from: &Self) {
        self.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
    }
}
