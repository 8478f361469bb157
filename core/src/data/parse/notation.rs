//! How numbers and dates are written: what a cell can mean, and which of two meanings a column has.
//!
//! A number may have a point or a comma as its decimal mark, marks between groups of three digits (the other of the two, a
//! blank or an apostrophe), a percent or a currency sign, and be negative by a sign before or behind it or by brackets. So
//! `12,5` has one meaning and `1.243` two: 1.243, or 1243. A date with slashes or dashes and its year last may have its day or
//! its month first. A cell is read in both ways; the other cells of its column, then those of its file, say which holds.

use crate::checkpoint::{Coded, Reader};
use alloc::string::String;
use alloc::vec::Vec;

/// What parts the whole digits of a number from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// `1234.5`, `1,234.5`.
    Point,
    /// `1234,5`, `1.234,5`.
    Comma,
}

/// What comes first in a date like `03/04/2022`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// The 3rd of April.
    Day,
    /// The 4th of March.
    Month,
}

/// How a column is written, where that is not how numbers are in a file with commas between its cells. A model keeps it, and
/// reads later files so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notation {
    /// The decimal mark of its numbers.
    pub decimal: Option<Decimal>,
    /// What comes first in its dates.
    pub dates: Option<DateOrder>,
    /// Whether its numbers have percent signs; 5.7 % is 5.7.
    pub percent: bool,
}

impl Coded for Notation {
    fn write(&self, out: &mut Vec<u8>) {
        let code = |which: Option<bool>| which.map_or(0, |second| 1 + u8::from(second));
        out.push(code(self.decimal.map(|mark| mark == Decimal::Comma)));
        out.push(code(self.dates.map(|order| order == DateOrder::Month)));
        out.push(u8::from(self.percent));
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let decimal = [None, Some(Decimal::Point), Some(Decimal::Comma)].get(usize::from(from.byte()?)).copied()?;
        let dates = [None, Some(DateOrder::Day), Some(DateOrder::Month)].get(usize::from(from.byte()?)).copied()?;
        Some(Self { decimal, dates, percent: from.value()? })
    }
}

/// A sign at a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    None,
    Percent,
    /// By its place in the list.
    Currency(u8),
}

/// Currencies as they are written at numbers.
const CURRENCIES: [&str; 36] = [
    "R$", "US$", "A$", "C$", "CA$", "AU$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "₪", "zł", "Kč", "kr",
    "Ft", "Fr.", "CHF", "EUR", "USD", "GBP", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "CAD", "AUD", "INR", "CNY",
];

/// A cell's two meanings, one of which may be missing: with a point or a comma as decimal mark, or the day or the month first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meanings {
    pub first: Option<f64>,
    pub second: Option<f64>,
}

impl Meanings {
    /// One in both readings.
    pub const fn plain(x: f64) -> Self {
        Self { first: Some(x), second: Some(x) }
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { first: self.first.map(&f), second: self.second.map(&f) }
    }

    fn none(self) -> bool {
        self.first.is_none() && self.second.is_none()
    }
}

/// Whether a text that parses as a number has a point before its last three digits, and one to three before that: one that may
/// part thousands.
pub(super) fn point_may_group(text: &str) -> bool {
    let bytes = text.as_bytes();
    let bytes = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"+")).unwrap_or(bytes);
    matches!(bytes.len(), 5..=7)
        && bytes[bytes.len() - 4] == b'.'
        && bytes[0] != b'0'
        && bytes.iter().enumerate().all(|(at, b)| b.is_ascii_digit() || at + 4 == bytes.len())
}

/// A number with marks and signs; what [`str::parse`] takes is not asked for here.
pub(super) fn number(text: &str) -> Option<(Meanings, Sign)> {
    // Nothing else is a number, and most text ends here.
    if text.len() > 40 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let (mut rest, mut negative, mut sign) = (text, false, Sign::None);
    let flip = |negative: &mut bool| !core::mem::replace(negative, true);
    if let Some(inside) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        (rest, negative) = (inside.trim(), true);
    }
    // Signs come in any order, each once.
    loop {
        if let Some(after) = rest.strip_prefix(['-', '\u{2212}']).or_else(|| rest.strip_suffix('-')) {
            if !flip(&mut negative) {
                return None;
            }
            rest = after.trim();
        } else if let (Some(before), Sign::None) = (rest.strip_suffix('%'), sign) {
            (rest, sign) = (before.trim_end(), Sign::Percent);
        } else if let (Some((at, other)), Sign::None) = (currency(rest), sign) {
            (rest, sign) = (other.trim(), Sign::Currency(at));
        } else {
            break;
        }
    }
    let rest = rest.strip_prefix('+').unwrap_or(rest);
    let meanings = Meanings { first: marked(rest, '.', ','), second: marked(rest, ',', '.') };
    (!meanings.none()).then(|| (meanings.map(|x| if negative { -x } else { x }), sign))
}

/// The currency at either end, and the rest.
fn currency(text: &str) -> Option<(u8, &str)> {
    let digit = |c: char| c.is_ascii_digit();
    if text.starts_with(digit) && text.ends_with(digit) {
        return None;
    }
    (0..).zip(CURRENCIES).find_map(|(at, word)| {
        let other = text.strip_prefix(word).or_else(|| text.strip_suffix(word))?;
        // Letters next to it make it another word.
        let joined = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        let before = text.starts_with(word) && joined(other.chars().next());
        let behind = !text.starts_with(word) && joined(other.chars().next_back());
        (!before && !behind).then_some((at, other))
    })
}

/// A number without signs, with this decimal mark and, in groups of three digits, that one or blanks or apostrophes.
fn marked(text: &str, decimal: char, other: char) -> Option<f64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (whole, fraction) = match mantissa.split_once(decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if fraction.is_some_and(|text| !digits(text)) || (whole.is_empty() && fraction.is_none_or(str::is_empty)) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    if digits(whole) {
        plain.push_str(whole);
    } else {
        let mark = whole.chars().find(|c| !c.is_ascii_digit())?;
        if mark != other && !matches!(mark, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '’') {
            return None;
        }
        for (at, group) in whole.split(mark).enumerate() {
            let fits = if at == 0 { matches!(group.len(), 1..=3) && !group.starts_with('0') } else { group.len() == 3 };
            if !fits || !digits(group) || !exponent.is_empty() {
                return None;
            }
            plain.push_str(group);
        }
    }
    if let Some(fraction) = fraction {
        plain.push('.');
        plain.push_str(fraction);
    }
    plain.push_str(exponent);
    plain.parse().ok().filter(|x: &f64| x.is_finite())
}

/// Days since the beginning of 1970 (UTC), of `2024-02-29`, `2024/2/29`, `29.2.2024`, or `29/02/2024` or `29-02-2024` with the day
/// or the month first, and behind it a time: `13:05`, `13:05:30.5`, `1:05 PM`, with `Z` or `+02:00`, a blank or `T` before it.
pub(super) fn date(text: &str) -> Option<Meanings> {
    if text.len() > 40 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time.trim())),
        None => (text, None),
    };
    let mark = day.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts = day.split(mark);
    let parts = [parts.next()?, parts.next()?, parts.next()?, parts.next().unwrap_or("")];
    if !parts[3].is_empty() {
        return None;
    }
    let found = if parts[0].len() == 4 {
        let days = days(parts[0], parts[1], parts[2])?;
        Meanings { first: Some(days), second: Some(days) }
    } else if mark == '.' {
        let days = days(parts[2], parts[1], parts[0])?;
        Meanings { first: Some(days), second: Some(days) }
    } else {
        Meanings { first: days(parts[2], parts[1], parts[0]), second: days(parts[2], parts[0], parts[1]) }
    };
    let seconds = match time {
        Some(time) => seconds(time)?,
        None => 0.0,
    };
    (!found.none()).then(|| found.map(|days| days + seconds / 86_400.0))
}

/// The number of a few digits.
fn small(text: &str) -> Option<u32> {
    (!text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn days(year: &str, month: &str, day: &str) -> Option<f64> {
    if year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let (year, month, day) = (small(year)?, small(month)?, small(day)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let long = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day == 0 || day > long {
        return None;
    }
    // Days of years that begin in March, so that the leap day is the last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
    Some(f64::from(days) - 719_468.0)
}

/// Seconds of a time of day, less what its zone is ahead of UTC.
fn seconds(text: &str) -> Option<f64> {
    let (text, ahead) = match text.strip_suffix(['Z', 'z']) {
        Some(text) => (text, 0.0),
        None => match text.rfind(['+', '-']) {
            Some(at) => (text[..at].trim_end(), zone(&text[at..])?),
            None => (text, 0.0),
        },
    };
    let ends = |word: &str| {
        text.len() > 2 && text.is_char_boundary(text.len() - 2) && text[text.len() - 2..].eq_ignore_ascii_case(word)
    };
    let half = if ends("am") { Some(0) } else { ends("pm").then_some(12) };
    let text = if half.is_some() { text[..text.len() - 2].trim_end() } else { text };
    let mut parts = text.splitn(3, ':');
    let (hour, minute) = (small(parts.next()?)?, small(parts.next()?)?);
    let second = match parts.next() {
        Some(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') => text.parse::<f64>().ok()?,
        Some(_) => return None,
        None => 0.0,
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24 && minute < 60 && second < 61.0).then(|| f64::from(3600 * hour + 60 * minute) + second - ahead)
}

/// Seconds ahead of UTC, of `+02:00`, `-0530` or `+02`.
fn zone(text: &str) -> Option<f64> {
    let (sign, digits) = text.split_at(1);
    let digits: String = digits.chars().filter(|&c| c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (small(&digits)?, 0),
        4 => (small(digits.get(..2)?)?, small(digits.get(2..)?)?),
        _ => return None,
    };
    let ahead = f64::from(3600 * hours + 60 * minutes);
    (hours < 24 && minutes < 60).then_some(if sign == "-" { -ahead } else { ahead })
}

/// How many cells of a column there are of a kind, and the first row of each meaning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub count: usize,
    /// The first row of them all; of them,
    pub first: Option<u32>,
    /// with the first meaning alone, the second alone, and two that differ.
    pub first_only: Option<u32>,
    pub second_only: Option<u32>,
    pub both: Option<u32>,
}

/// Which meaning of a column's cells holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// It makes no difference.
    Either,
    First,
    Second,
    /// Cells contradict each other.
    Neither,
    /// The cells do not say, where it matters.
    Unknown,
}

impl Tally {
    #[inline]
    pub fn add(&mut self, row: u32, meanings: Meanings) {
        self.count += 1;
        self.first.get_or_insert(row);
        let first = match meanings {
            Meanings { first: Some(_), second: None } => &mut self.first_only,
            Meanings { first: None, second: Some(_) } => &mut self.second_only,
            Meanings { first, second } if first != second => &mut self.both,
            Meanings { .. } => return,
        };
        first.get_or_insert(row);
    }

    /// What the cells say by themselves.
    pub fn holds(&self) -> Holds {
        match (self.first_only, self.second_only, self.both) {
            (Some(_), Some(_), _) => Holds::Neither,
            (Some(_), None, _) => Holds::First,
            (None, Some(_), _) => Holds::Second,
            (None, None, Some(_)) => Holds::Unknown,
            (None, None, None) => Holds::Either,
        }
    }

    /// What holds where it is known for the file, or for the column, to be the second meaning or the first.
    pub fn under(&self, second: bool) -> Holds {
        match (second, self.first_only.is_some(), self.second_only.is_some()) {
            (true, true, _) | (false, _, true) => Holds::Neither,
            (true, false, _) => Holds::Second,
            (false, ..) => Holds::First,
        }
    }
}
