//! The one error type of the core.

use crate::features::COMPACT;
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
        /// About how many more would tell; `None` where no number of rows like these would do.
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

/// The number of every error, with its name and what it says in general: for languages and files that know no enum. Numbers keep
/// their meaning; new errors get new ones. Those from 100 on are of other types, which have a `code` too.
pub const CODES: &[(u16, &str, &str)] = &[
    (1, "Length", "a slice has the wrong length"),
    (2, "NonFinite", "an input value is NaN or infinite"),
    (3, "Label", "a label is not a class number"),
    (4, "Weight", "a weight is no number of 0 or more"),
    (5, "Index", "an index does not fit what it selects from"),
    (6, "OneClass", "both positives and negatives are needed, and one class has no example"),
    (7, "Empty", "an argument is empty"),
    (8, "Overflow", "a result does not fit the number type"),
    (9, "Param", "a parameter is outside its range"),
    (10, "Unreachable", "nothing reaches what is asked"),
    (11, "Unsupported", "a combination that is not supported"),
    (12, "Unpromised", "no threshold can be promised on these rows"),
    (101, "SettingError::Unknown", "the method has no parameter of this name"),
    (102, "SettingError::Value", "the value is outside the parameter's domain"),
    (111, "CheckpointError::NotOurs", "not a saved undercurve model"),
    (112, "CheckpointError::Version", "saved in a format that this release does not read"),
    (113, "CheckpointError::Damaged", "the saved model is cut short or damaged"),
    (114, "CheckpointError::ModelOnly", "a model without its run, which training cannot go on from"),
    (115, "CheckpointError::Mismatch", "saved with other data, another model or another number type"),
    (116, "CheckpointError::RunOnly", "a saved run without how its rows were prepared"),
    (121, "TrainerError::Config", "a wrong method, setting, model or length"),
    (122, "TrainerError::NotBuilt", "a method that is not in this build"),
    (131, "JudgeError::NoGroups", "the rows have no groups"),
    (132, "JudgeError::UnknownGroup", "there is no such group"),
    (133, "JudgeError::NoOld", "there is no earlier model to compare with"),
    (141, "ExpressionError", "a text is no constraint"),
    (151, "DataError", "a file cannot be used"),
    (161, "StateError::NotOurs", "not a state of this kind"),
    (162, "StateError::Version", "a state in a format that this release does not read"),
    (163, "StateError::Damaged", "the state is cut short or damaged"),
    (171, "DistributedError::Worker", "the rows of one worker are refused"),
    (172, "DistributedError::Differs", "a worker computes something else than worker 0"),
    (173, "DistributedError::Damaged", "a worker sent other bytes than it said"),
];

impl Error {
    /// Its number in [`CODES`].
    ///
    /// ```
    /// use undercurve::{CODES, Error};
    /// let code = Error::OneClass.code();
    /// assert_eq!(CODES.iter().find(|entry| entry.0 == code).unwrap().1, "OneClass");
    /// ```
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::Length { .. } => 1,
            Self::NonFinite { .. } => 2,
            Self::Label { .. } => 3,
            Self::Weight { .. } => 4,
            Self::Index { .. } => 5,
            Self::OneClass => 6,
            Self::Empty { .. } => 7,
            Self::Overflow { .. } => 8,
            Self::Param { .. } => 9,
            Self::Unreachable { .. } => 10,
            Self::Unsupported { .. } => 11,
            Self::Unpromised { .. } => 12,
        }
    }
}

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
            Self::Unreachable { what: "precision" } => f.write_str("no threshold has that precision"),
            Self::Unreachable { .. } => f.write_str("more rows than that tie for the highest score"),
            Self::Unpromised { more: Some(more), what } => {
                write!(f, "no threshold can be promised: about {more} more {what} would tell")
            }
            Self::Unpromised { more: None, .. } => {
                f.write_str("no threshold can be promised: no number of alerts has that rate on these rows, and more like them would not do")
            }
            Self::Unsupported { what } => write!(f, "not supported: {what}"),
        }
    }
}

impl core::error::Error for Error {}

/// A text inside another, on one line. (`compact` shows it as it is: what tells printable characters apart has 3 KB.)
pub(crate) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if COMPACT { f.write_str(self.0) } else { self.0.escape_debug().fmt(f) }
    }
}

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
