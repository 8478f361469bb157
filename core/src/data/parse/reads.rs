//! What a cell of a CSV text is by itself: a number, a date, a missing value, text.

use super::ReadOptions;
use super::notation::{DateOrder, Decimal, Meanings, Short, Sign, date, iso_date, limit, number, point_may_group};
use crate::features::COMPACT;
use alloc::string::String;

/// A cell by itself.
pub(super) enum Cell {
    Missing,
    /// A number; whether its text tells more than its value, as zeros before it do.
    Number(Meanings, Sign, bool),
    /// A number that a value is below, or above.
    Limit(Meanings, Sign, bool),
    /// Days since the beginning of 1970.
    Date(Meanings, Short),
    NonFinite,
    Text,
}

impl Cell {
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(..) | Self::Limit(..) | Self::Date(..) | Self::NonFinite)
    }
}

/// Whole numbers up to this are exact.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

/// What stands for a missing value, in any case.
const MISSING_WORDS: [&str; 9] = ["", "?", "-", "na", "n/a", "#n/a", "nan", "null", "none"];
/// Bytes of the longest of them.
const LONGEST_MISSING: usize = 4;

/// How cells are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reads<'a> {
    /// Other spellings of a missing value.
    pub na: &'a [String],
    /// What was said of the file.
    pub decimal: Option<Decimal>,
    pub dates: Option<DateOrder>,
    /// The decimal mark where neither that nor the cells say it.
    pub usual: Option<Decimal>,
}

impl<'a> Reads<'a> {
    /// By the options of a file, and what is between its cells: with commas or blanks there, points are usual.
    pub fn new(options: &'a ReadOptions, delimiter: u8) -> Self {
        let usual = matches!(delimiter, b',' | b' ').then_some(Decimal::Point);
        Self { na: &options.na, decimal: options.decimal, dates: options.dates, usual }
    }

    /// Of what is written by programs.
    pub fn plain(na: &'a [String]) -> Self {
        Self { na, decimal: None, dates: None, usual: Some(Decimal::Point) }
    }

    pub fn cell(self, text: &str) -> Cell {
        self.cell_of(text, None)
    }

    /// A cell of a column whose order of dates is known, or not.
    pub fn cell_of(self, text: &str, order: Option<DateOrder>) -> Cell {
        let missing = || MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
        if (text.len() <= LONGEST_MISSING && missing()) || self.na.iter().any(|na| na == text) {
            return Cell::Missing;
        }
        if !COMPACT && let Some(days) = iso_date(text) {
            return Cell::Date(Meanings::plain(days), Short::No);
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                let second = match text.contains('.') {
                    false => Some(x),
                    true => point_may_group(text.as_bytes()).then(|| libm::round(x * 1000.0)),
                };
                Cell::Number(Meanings { first: Some(x), second }, Sign::None, is_code(text, x))
            }
            Ok(_) => Cell::NonFinite,
            // (A number is no date: three digits make a group, and four a year.)
            Err(_) => {
                let date = || date(text, self.dates.or(order)).map(|(days, short)| Cell::Date(days, short));
                let marked = || number(text).map(|(meanings, sign)| Cell::Number(meanings, sign, true));
                let limit = || {
                    let (below, rest) = limit(text)?;
                    match (rest.parse::<f64>(), number(rest)) {
                        (Ok(x), _) if x.is_finite() && !point_may_group(rest.as_bytes()) => {
                            let second = (!rest.contains('.')).then_some(x);
                            Some(Cell::Limit(Meanings { first: Some(x), second }, Sign::None, below))
                        }
                        (_, Some((meanings, sign))) => Some(Cell::Limit(meanings, sign, below)),
                        _ => None,
                    }
                };
                date().or_else(marked).or_else(limit).unwrap_or(Cell::Text)
            }
        }
    }
}

/// A number with a point that is too long for it to part thousands, and no code.
pub(super) fn long(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || !bytes[1..4].contains(&b'.') || is_padded(text) {
        return None;
    }
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

/// Zeros before it, as codes have.
pub(super) fn is_padded(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0', b'0'..=b'9', ..])
}

/// A whole number that is not exact.
pub(super) fn is_large(text: &str, x: f64) -> bool {
    x.abs() > EXACT && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// Whether a text that parses as this number is another category than others that do.
pub(super) fn is_code(text: &str, x: f64) -> bool {
    is_padded(text) || is_large(text, x)
}
