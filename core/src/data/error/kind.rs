//! What the cells of a column are, which a model keeps.

use crate::checkpoint::{Coded, Reader};
use alloc::vec::Vec;

/// What the cells of a column are. A model keeps it, and refuses a column of another kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Not known, as of a column without a value.
    #[default]
    Unknown,
    /// Numbers.
    Number,
    /// Moments, as days since the beginning of 1970 (UTC).
    Date,
    /// Times of the day, as days: 18:00 is 0.75.
    Time,
    /// Lengths of time, as days.
    Duration,
    /// True and false, as 1 and 0.
    Truth,
    /// Categories that are numbers, by their values.
    Level,
    /// Categories that are texts of numbers or dates, as they are written.
    Code,
    /// Texts, each of which is what it is to the last byte.
    Text,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Unknown,
        Self::Number,
        Self::Date,
        Self::Time,
        Self::Duration,
        Self::Truth,
        Self::Level,
        Self::Code,
        Self::Text,
    ];

    /// What such cells are called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "nothing",
            Self::Number => "numbers",
            Self::Date => "dates",
            Self::Time => "times of the day",
            Self::Duration => "durations",
            Self::Truth => "true and false",
            Self::Level | Self::Code | Self::Text => "categories",
        }
    }

    /// Whether its cells are texts to the reader of a file.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Level | Self::Code | Self::Text)
    }

    /// Whether the usual words stand for a missing value among such cells; `None` where that is not known.
    #[must_use]
    pub fn takes_words(self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Text => Some(false),
            _ => Some(true),
        }
    }
}

impl Coded for Kind {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Self::ALL.get(usize::from(from.byte()?)).copied()
    }
}
