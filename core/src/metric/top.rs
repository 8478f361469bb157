//! The highest scores: precision, recall and lift of the first k rows.
//!
//! ```text
//! T_k = Σ of positives among the k highest scores      precision@k = T_k/k      recall@k = T_k/n₊      lift@k = (T_k/k)/(n₊/n)
//! ```
//!
//! Where the k-th score is tied with the next, T_k is its mean over all orders of the tied rows: of g tied rows, p of them
//! positive, of which r are among the first k, r·p/g count (McSherry and Najork 2008, "Computing Information Retrieval
//! Performance Measures Efficiently in the Presence of Tied Scores").

use super::rank::groups;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;
use core::fmt;
use core::str::FromStr;

/// How many rows are taken from the top: a number of them, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Top {
    /// So many.
    Rows(u64),
    /// A share of all rows, in per cent: above 0, at most 100; rounded down to whole rows, and at least one.
    Percent(f64),
}

impl Top {
    /// Whether there are data of which it is a number of rows.
    pub(crate) fn is_sound(self) -> bool {
        match self {
            Self::Rows(rows) => rows > 0,
            Self::Percent(share) => share > 0.0 && share <= 100.0,
        }
    }

    /// The number of rows, of `n`.
    ///
    /// # Errors
    /// `Param` for no row, more than `n`, or a share out of range.
    ///
    /// ```
    /// use undercurve::metric::Top;
    /// assert_eq!((Top::Rows(7).of(300)?, Top::Percent(2.0).of(300)?, Top::Percent(2.0).of(30)?), (7, 6, 1));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn of(self, n: usize) -> Result<u64> {
        let rows = match self {
            Self::Rows(rows) => rows,
            // (A third of a multiple of three is that, whatever its last bit.)
            Self::Percent(share) if self.is_sound() => ((share * n as f64 / 100.0 + 1e-6) as u64).max(1),
            Self::Percent(_) => 0,
        };
        if rows == 0 || rows > n as u64 { Err(Error::Param { what: "rows at the top" }) } else { Ok(rows) }
    }
}

/// `100`, or `2%`.
impl FromStr for Top {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let top = match text.strip_suffix('%') {
            Some(share) => share.parse().ok().map(Self::Percent),
            None => text.parse().ok().map(Self::Rows),
        };
        top.filter(|top| top.is_sound()).ok_or(Error::Param { what: "rows at the top" })
    }
}

impl fmt::Display for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rows(rows) => write!(f, "{rows}"),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}

/// What the highest scores hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopRows {
    /// Rows taken.
    pub rows: u64,
    /// Positives among them: their mean over all orders of what is tied at the end.
    pub found: f64,
    /// Positives among all rows.
    pub positives: u64,
    /// All rows.
    pub of: u64,
}

impl TopRows {
    /// Share of positives among the rows taken.
    #[must_use]
    pub fn precision(self) -> f64 {
        self.found / self.rows as f64
    }
    /// Share of the positives that are among them.
    #[must_use]
    pub fn recall(self) -> f64 {
        self.found / self.positives as f64
    }
    /// The precision as a multiple of that of rows taken by chance.
    #[must_use]
    pub fn lift(self) -> f64 {
        self.precision() / (self.positives as f64 / self.of as f64)
    }
}

/// What the highest scores hold. `scratch` as [`need`](super::need) says; O(n).
///
/// # Errors
/// As [`Top::of`] and [`auroc`](super::auroc).
pub fn top<T: Real>(scores: &[T], labels: &[u8], top: Top, scratch: Scratch<'_, T>) -> Result<TopRows> {
    let (classes, groups) = groups(scores, labels, scratch)?;
    let rows = top.of(scores.len())?;
    let (mut found, mut left) = (0.0, rows);
    for group in groups {
        let all = group.run.positives + group.run.negatives;
        let taken = all.min(left);
        found += taken as f64 * group.run.positives as f64 / all as f64;
        left -= taken;
        if left == 0 {
            break;
        }
    }
    Ok(TopRows { rows, found, positives: classes.positives, of: classes.positives + classes.negatives })
}
