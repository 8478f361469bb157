//! What a cell of a CSV text is by itself: a number, a date, a missing value, text.

use super::ReadOptions;
use super::clock::{self, Shows};
use super::notation::{
    DateOrder, Decimal, Meanings, Notation, Short, Sign, date, iso_date, limit, number, point_may_group,
};
use super::number_text;
use crate::features::COMPACT;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A cell by itself.
pub(super) enum Cell {
    /// Nothing, or what was said to stand for that.
    Missing,
    /// A word that stands for a missing value among numbers and dates, and is a text elsewhere.
    Word,
    /// A number; whether its text tells more than its value, as zeros before it do.
    Number(Meanings, Sign, bool),
    /// A number that a value is below, or above.
    Limit(Meanings, Sign, bool),
    /// Days since the beginning of 1970.
    Date(Meanings, Short),
    /// A time of the day or a length of time, in days.
    Clock(f64, Shows),
    NonFinite,
    Text,
}

impl Cell {
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(..) | Self::Limit(..) | Self::Date(..) | Self::Clock(..) | Self::NonFinite)
    }
}

/// Whole numbers up to this are exact.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

/// What stands for a missing value among numbers, in any case.
const MISSING_WORDS: [&str; 8] = ["?", "-", "na", "n/a", "#n/a", "nan", "null", "none"];
/// Bytes of the longest of them.
const LONGEST_MISSING: usize = 4;

/// Whether a text is one of the usual words for a missing value.
pub(in crate::data) fn is_word(text: &str) -> bool {
    text.len() <= LONGEST_MISSING && MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The usual words as they are written most: what models of before words were told from categories take for missing everywhere.
pub(in crate::data) fn words_as_written() -> Vec<String> {
    let capital = |word: &str| [&word[..1].to_ascii_uppercase(), &word[1..]].concat();
    let each = MISSING_WORDS.iter().flat_map(|word| [(*word).into(), word.to_ascii_uppercase(), capital(word)]);
    let mut all: Vec<String> = each.chain(["NaN".into(), "N/a".into()]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What stands for a missing value in a column besides an empty cell: what [`ReadOptions::na`] says of it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::data) struct Absent {
    texts: Arc<[String]>,
    /// Whether some of these are numbers.
    numbers: bool,
    /// Whether the usual words do, among numbers.
    words: bool,
}

impl Absent {
    /// Those of all columns, of which [`of`](Self::of) makes those of one.
    pub fn all(na: &[String]) -> Self {
        Self::new(na.iter().filter(|text| *text != ALONE).cloned().collect(), na.iter().all(|text| text != ALONE))
    }

    fn new(texts: Arc<[String]>, words: bool) -> Self {
        let numbers = texts.iter().any(|text| text.parse::<f64>().is_ok());
        Self { texts, numbers, words }
    }

    /// Those of one column.
    pub fn of(&self, column: &str) -> Self {
        let mut own: Vec<String> = Vec::new();
        let mut words = self.words;
        for text in self.texts.iter().filter_map(|text| text.strip_prefix(column)?.strip_prefix('=')) {
            if text.is_empty() { words = false } else { own.push(text.into()) }
        }
        if own.is_empty() {
            return Self { words, ..self.clone() };
        }
        own.extend(self.texts.iter().cloned());
        Self::new(own.into(), words)
    }

    pub fn has(&self, text: &str) -> bool {
        self.texts.iter().any(|na| na == text)
    }

    /// Whether it is one of the usual words, and they do.
    pub fn takes(&self, text: &str) -> bool {
        self.words && is_word(text)
    }

    /// Whether some numbers do.
    pub fn has_numbers(&self) -> bool {
        self.numbers
    }

    /// Those numbers, however they are written.
    pub fn numbers(&self) -> Vec<f64> {
        self.texts.iter().filter_map(|text| text.parse().ok()).collect()
    }
}

/// What says, among spellings of missing values, that the usual words are none.
const ALONE: &str = "=";

/// How cells are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reads {
    /// What was said of the file.
    pub decimal: Option<Decimal>,
    pub dates: Option<DateOrder>,
    /// The decimal mark where neither that nor the cells say it.
    pub usual: Option<Decimal>,
}

impl Reads {
    /// By the options of a file, and what is between its cells: with commas or blanks there, points are usual.
    pub fn new(options: &ReadOptions, delimiter: u8) -> Self {
        let usual = matches!(delimiter, b',' | b' ').then_some(Decimal::Point);
        Self { decimal: options.decimal, dates: options.dates, usual }
    }

    /// Of what is written by programs.
    pub const PLAIN: Self = Self { decimal: None, dates: None, usual: Some(Decimal::Point) };

    /// A cell of a column of which so much is known.
    pub fn cell(self, text: &str, absent: &Absent, known: Notation) -> Cell {
        if text.is_empty() || absent.has(text) {
            return Cell::Missing;
        }
        if absent.takes(text) {
            return Cell::Word;
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
            Ok(x) if x.is_nan() => Cell::Text,
            Ok(_) => Cell::NonFinite,
            // (A number is no date: three digits make a group, and four a year.)
            Err(_) => {
                let date = || date(text, self.dates.or(known.dates)).map(|(days, short)| Cell::Date(days, short));
                let clock = || clock::read(text).map(|(days, shows)| Cell::Clock(days, shows));
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
                date().or_else(marked).or_else(clock).or_else(limit).unwrap_or(Cell::Text)
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
    x.abs() >= EXACT && text.bytes().all(|b| b.is_ascii_digit() || b == b'-') && number_text(x) != text
}

/// Whether a text that parses as this number is another category than others that do.
pub(super) fn is_code(text: &str, x: f64) -> bool {
    is_padded(text) || is_large(text, x)
}

/// What `true` and `false`, in any case, say.
pub(in crate::data) fn truth(text: &str) -> Option<bool> {
    match text {
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
