//! A piece of a column of numbers.

use super::super::parse::number_text;
use crate::checkpoint::{Coded, Reader};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A function of a column of numbers, before it is scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its lower end; −∞ for none.
    pub low: f64,
    /// Its upper end; ∞ for none.
    pub high: f64,
    /// Whether it is 1 from `low` to below `high` and 0 elsewhere, instead of x within them and the nearer end outside.
    pub step: bool,
}

impl Piece {
    /// Its value.
    #[inline]
    #[must_use]
    pub fn apply(&self, x: f64) -> f64 {
        if self.step {
            return f64::from(u8::from(x >= self.low && x < self.high));
        }
        if x < self.low {
            self.low
        } else if x > self.high {
            self.high
        } else {
            x
        }
    }

    /// What its column is called: the column with the ends.
    pub(super) fn name(&self, column: &str) -> String {
        let end = |x: f64| if x.is_finite() { number_text(x) } else { String::new() };
        let (low, high) = (end(self.low), end(self.high));
        if self.step && high.is_empty() {
            return format!("{column}>={low}");
        }
        format!("{column}[{low},{high}{}", if self.step { ')' } else { ']' })
    }
}

impl Coded for Piece {
    fn write(&self, out: &mut Vec<u8>) {
        self.low.write(out);
        self.high.write(out);
        self.step.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let piece = Self { low: from.value()?, high: from.value()?, step: from.value()? };
        (piece.low < piece.high).then_some(piece)
    }
}
