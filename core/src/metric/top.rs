//! The highest scores: precision, recall and lift of the first k rows.
//!
//! ```text
//! T_k = Σ of positives among the k highest scores      precision@k = T_k/k      recall@k = T_k/n₊      lift@k = (T_k/k)/(n₊/n)
//! ```
//!
//! Where the k-th score is tied with the next, T_k is its mean over all orders of the tied rows: of g tied rows, p of them
//! positive, of which r are among the first k, r·p/g count (McSherry and Najork 2008, "Computing Information Retrieval
//! Performance Measures Efficiently in the Presence of Tied Scores").

use super::amount::Amount;
use super::labels::Labels;
use crate::decimal::number;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::scratch::Scratch;
use core::fmt;
use core::str::FromStr;

/// How many rows are taken from the top: a number of them, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Top {
    /// A number of rows.
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

    /// The number of rows, of `all`; with weights what they weigh.
    ///
    /// # Errors
    /// `Param` for no row, more than there are, or a share out of range.
    ///
    /// ```
    /// use undercurve::metric::Top;
    /// assert_eq!((Top::Rows(7).of(300.0)?, Top::Percent(2.0).of(300.0)?, Top::Percent(2.0).of(30.0)?), (7.0, 6.0, 1.0));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn of(self, all: f64) -> Result<f64> {
        let rows = match self {
            Self::Rows(rows) => rows as f64,
            // (A third of a multiple of three is that, whatever its last bit.)
            Self::Percent(share) => libm::floor(share * all / 100.0 + 1e-6).or_larger(1.0),
        };
        if self.is_sound() && rows <= all { Ok(rows) } else { Err(Error::Param { what: "rows at the top" }) }
    }
}

/// `100`, or `2%`.
impl FromStr for Top {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let top = match text.strip_suffix('%') {
            Some(share) => number(share).map(Self::Percent),
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
    pub rows: f64,
    /// Positives among them: their mean over all orders of what is tied at the end.
    pub found: f64,
    /// Positives among all rows.
    pub positives: f64,
    /// All rows.
    pub of: f64,
}

impl TopRows {
    /// Share of positives among the rows taken.
    #[must_use]
    pub fn precision(self) -> f64 {
        self.found / self.rows
    }
    /// Share of the positives that are among them.
    #[must_use]
    pub fn recall(self) -> f64 {
        self.found / self.positives
    }
    /// The precision as a multiple of that of rows taken by chance.
    #[must_use]
    pub fn lift(self) -> f64 {
        self.precision() / (self.positives / self.of)
    }
}

/// What the highest scores hold; of rows with weights those of so much weight. `scratch` as [`need`](super::need) says; O(n).
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::metric::{Top, top};
///
/// let (scores, labels) = ([0.9_f32, 0.5, 0.5, 0.1], [1, 1, 0, 0]);
/// let scratch = Scratch { u64: &mut [0; 8], ..Scratch::default() };
/// let first = top(&scores, &labels, Top::Rows(2), scratch)?;
/// assert_eq!((first.found, first.precision(), first.lift()), (1.5, 0.75, 1.5)); // the second is tied with a negative
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// As [`Top::of`] and [`auroc`](super::auroc).
pub fn top<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    top: Top,
    scratch: Scratch<'_, T>,
) -> Result<TopRows> {
    let (mut rows, mut found, mut seen) = (Ok(0.0), 0.0, 0.0);
    let classes = labels.groups(scores, scratch, |classes, group| {
        if seen == 0.0 {
            rows = top.of((classes.positives + classes.negatives).f64());
        }
        let all = (group.run.positives + group.run.negatives).f64();
        let taken = all.or_smaller(rows.unwrap_or(0.0) - seen);
        if taken > 0.0 {
            found += taken * group.run.positives.f64() / all;
        }
        seen += all;
    })?;
    Ok(TopRows {
        rows: rows?,
        found,
        positives: classes.positives.f64(),
        of: (classes.positives + classes.negatives).f64(),
    })
}
