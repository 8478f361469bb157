//! The one error type of the core.

use core::fmt;

/// What went wrong, and where. After an `Err` nothing the caller lent has changed, unless the function says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A slice has the wrong length.
    Length {
        /// The argument.
        what: &'static str,
        /// The length it must have (at least, for scratch).
        need: usize,
        /// The length it has.
        got: usize,
    },
    /// An input value is NaN or infinite.
    NonFinite {
        /// The argument.
        what: &'static str,
        /// Position in it.
        at: usize,
    },
    /// A label is neither 0 nor 1 (or not a class number).
    Label {
        /// Position of the label.
        at: usize,
    },
    /// A weight is negative, NaN or infinite.
    Weight {
        /// Position of its row.
        at: usize,
    },
    /// An index points past the end of what it selects from, or indices that must ascend do not.
    Index {
        /// The argument.
        what: &'static str,
        /// Position in it.
        at: usize,
        /// The length of what it selects from.
        len: usize,
    },
    /// Positives and negatives are both needed, and one class has no example.
    OneClass,
    /// The argument is empty and must not be.
    Empty {
        /// The argument.
        what: &'static str,
    },
    /// A finite input whose answer does not fit the type; found before anything is written.
    Overflow {
        /// The quantity that does not fit.
        what: &'static str,
    },
    /// A parameter is outside its range.
    Param {
        /// Its name, as in the registry.
        what: &'static str,
    },
    /// No choice keeps what is asked.
    Unreachable {
        /// What is asked for.
        what: &'static str,
    },
    /// No threshold can be promised on these rows.
    Unpromised {
        /// About how many more would tell; `None` where more of the same would hardly do.
        more: Option<u64>,
        /// More of what: positives or negatives.
        what: &'static str,
    },
    /// A combination that is not supported.
    Unsupported {
        /// The combination.
        what: &'static str,
    },
}

/// `core::result::Result` with this crate's [`enum@Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { what, need, got } => write!(f, "{what}: length {got}, but {need} is needed"),
            Self::NonFinite { what, at } => write!(f, "{what}: value {at} is NaN or infinite"),
            Self::Label { at } => write!(f, "the label of row {at} (from 0) is not a class number"),
            Self::Weight { at } => write!(f, "the weight of row {at} (from 0) is no number of 0 or more"),
            Self::Index { what, at, len } => write!(f, "{what}: entry {at} does not fit a length of {len}"),
            Self::OneClass => f.write_str("both positives and negatives are needed, and one class has no example"),
            Self::Empty { what } => write!(f, "{what} is empty"),
            Self::Overflow { what } => write!(f, "{what} does not fit the number type"),
            Self::Param { what } => write!(f, "parameter {what} is outside its range"),
            Self::Unreachable { what } => write!(f, "{what}: nothing reaches what is asked"),
            Self::Unpromised { more: Some(more), what } => {
                write!(f, "no threshold can be promised: about {more} more {what} would tell")
            }
            Self::Unpromised { more: None, .. } => {
                f.write_str("no threshold can be promised, and more rows like these would hardly tell")
            }
            Self::Unsupported { what } => write!(f, "not supported: {what}"),
        }
    }
}

impl core::error::Error for Error {}

/// `Ok` when `got` is exactly `need`.
#[inline]
pub(crate) fn exact_len(what: &'static str, need: usize, got: usize) -> Result<()> {
    if need == got { Ok(()) } else { Err(Error::Length { what, need, got }) }
}

/// `Ok` when every value is finite.
#[cfg_attr(not(feature = "compact"), inline)]
#[cfg_attr(feature = "compact", inline(never))]
pub(crate) fn all_finite<T: crate::Real>(what: &'static str, values: &[T]) -> Result<()> {
    // One pass without branches first, in lanes: 0·x is 0 for finite x and NaN otherwise.
    let mut sums = [T::ZERO; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += T::ZERO * x;
        }
    }
    for &x in rest {
        sums[0] += T::ZERO * x;
    }
    if sums.iter().all(|&sum| sum == T::ZERO) {
        return Ok(());
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(Error::NonFinite { what, at }),
        None => Ok(()),
    }
}

/// `Ok((positives, negatives))` when every label is 0 or 1.
#[inline]
pub(crate) fn count_labels(labels: &[u8]) -> Result<(usize, usize)> {
    let mut positives = 0;
    let mut odd = 0u8;
    for &y in labels {
        positives += usize::from(y & 1);
        odd |= y >> 1;
    }
    if odd != 0 {
        let at = labels.iter().position(|&y| y > 1).unwrap_or(0);
        return Err(Error::Label { at });
    }
    Ok((positives, labels.len() - positives))
}
