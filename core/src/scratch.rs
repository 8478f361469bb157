//! Working memory that a call borrows.

use crate::error::{Error, Result};
use core::ops::Add;

/// What a call needs to borrow, in elements. Depends on sizes only, never on values, so it can be asked for once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Elements of the working type.
    pub real: usize,
    /// Elements of `f64`.
    pub f64: usize,
    /// Elements of `u32`.
    pub u32: usize,
    /// Elements of `u64` (sort keys).
    pub u64: usize,
}

impl Need {
    /// No memory.
    pub const NONE: Self = Self { real: 0, f64: 0, u32: 0, u64: 0 };

    /// More than any machine has: of sizes that the calls refuse.
    pub(crate) const UNMET: Self = Self { real: usize::MAX, f64: usize::MAX, u32: usize::MAX, u64: usize::MAX };

    /// Rows that sums and metrics take: they are numbered in `u32`, and the memory that they need has to be countable.
    pub(crate) const fn takes(rows: usize) -> bool {
        rows as u64 <= u32::MAX as u64 && rows < usize::MAX / 32
    }

    /// Enough for either of two calls made one after the other.
    #[must_use]
    pub const fn either(self, other: Self) -> Self {
        const fn max(a: usize, b: usize) -> usize {
            if a > b { a } else { b }
        }
        Self {
            real: max(self.real, other.real),
            f64: max(self.f64, other.f64),
            u32: max(self.u32, other.u32),
            u64: max(self.u64, other.u64),
        }
    }
}

impl Add for Need {
    type Output = Self;
    /// Enough for both at once.
    fn add(self, other: Self) -> Self {
        Self {
            real: self.real + other.real,
            f64: self.f64 + other.f64,
            u32: self.u32 + other.u32,
            u64: self.u64 + other.u64,
        }
    }
}

/// Borrowed working memory. Contents on entry are ignored and on return are unspecified.
#[derive(Debug, Default)]
pub struct Scratch<'a, T> {
    /// Elements of the working type.
    pub real: &'a mut [T],
    /// Elements of `f64`.
    pub f64: &'a mut [f64],
    /// Elements of `u32`.
    pub u32: &'a mut [u32],
    /// Elements of `u64`.
    pub u64: &'a mut [u64],
}

impl<T> Scratch<'_, T> {
    /// `Ok` when at least `need` is there.
    pub fn check(&self, need: Need) -> Result<()> {
        for (what, need, got) in [
            ("scratch.real", need.real, self.real.len()),
            ("scratch.f64", need.f64, self.f64.len()),
            ("scratch.u32", need.u32, self.u32.len()),
            ("scratch.u64", need.u64, self.u64.len()),
        ] {
            if got < need {
                return Err(Error::Length { what, need, got });
            }
        }
        Ok(())
    }

    /// The same memory for a call further down.
    pub fn reborrow(&mut self) -> Scratch<'_, T> {
        Scratch { real: self.real, f64: self.f64, u32: self.u32, u64: self.u64 }
    }
}
