//! Numbers of rows, or sums of their weights.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Mul, Sub};

/// What rows come to: their number, or the sum of their weights.
pub trait Amount:
    Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + AddAssign
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
{
    /// As a number.
    fn f64(self) -> f64;
    /// Of a number of rows.
    fn of(rows: u64) -> Self;
}

impl Amount for u64 {
    #[inline(always)]
    fn f64(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn of(rows: u64) -> Self {
        rows
    }
}

/// For the pairs of more rows than 2³².
impl Amount for u128 {
    #[inline(always)]
    fn f64(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn of(rows: u64) -> Self {
        Self::from(rows)
    }
}

impl Amount for f64 {
    #[inline(always)]
    fn f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn of(rows: u64) -> Self {
        rows as f64
    }
}
