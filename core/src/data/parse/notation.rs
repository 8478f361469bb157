//! How numbers and dates are written: what a cell can mean, and which of two meanings a column has.
//!
//! A number may have a point or a comma as its decimal mark, marks between groups of three digits (the other of the two, a
//! blank or an apostrophe), a percent or a currency sign, and be negative by a sign before or behind it or by brackets. So
//! `12,5` has one meaning and `1.243` two: 1.243, or 1243. A date with slashes or dashes and its year last may have its day or
//! its month first. A cell is read in both ways; the other cells of its column, then those of its file, say which holds.

use super::{Kind, number_text};
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

/// What comes first in a date like `03/04/2022` or `03/04/22`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// The 3rd of April.
    Day,
    /// The 4th of March.
    Month,
    /// A year of two digits, the month and the day.
    Year,
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
    /// Whether some of its numbers are limits that a value is below, as `<0.5`, or above; then the columns `x=(below)` and
    /// `x=(above)` say of each row whether its number is one.
    pub limits: [bool; 2],
    /// Of a column of categories that are hashed, the binary logarithm of how many there are then; 0 of others.
    pub buckets: u8,
    /// What its cells are.
    pub kind: Kind,
}

/// The most buckets of a column, as their logarithm.
pub const MAX_BUCKETS: u8 = 16;

impl Notation {
    /// Of categories that are hashed to 2^`buckets`.
    #[must_use]
    pub fn hashed(buckets: u8) -> Self {
        Self { buckets: buckets.min(MAX_BUCKETS), ..Self::default() }
    }

    /// Of cells of this kind, written as usual.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }
}

/// What a text is called in so many buckets: the number of its hash (FNV-1a, its halves folded).
pub(in crate::data) fn bucket(text: &str, buckets: u8) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let at = (hash ^ hash >> 32 ^ hash >> 16) & ((1 << buckets) - 1);
    alloc::format!("#{at:05}")
}

/// All but the kind, which is saved by itself ([`Kinds`](super::kind::Kinds)).
impl Coded for Notation {
    fn write(&self, out: &mut Vec<u8>) {
        let code = |which: Option<bool>| which.map_or(0, |second| 1 + u8::from(second));
        out.push(code(self.decimal.map(|mark| mark == Decimal::Comma)));
        out.push(self.dates.map_or(0, |order| 1 + order as u8));
        let limits = u8::from(self.limits[0]) << 1 | u8::from(self.limits[1]) << 2;
        out.push(u8::from(self.percent) | limits | self.buckets << 3);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let decimal = [None, Some(Decimal::Point), Some(Decimal::Comma)].get(usize::from(from.byte()?)).copied()?;
        let orders = [None, Some(DateOrder::Day), Some(DateOrder::Month), Some(DateOrder::Year)];
        let dates = orders.get(usize::from(from.byte()?)).copied()?;
        let [percent, below, above] = [1, 2, 4].map(|bit| from.0.first().is_some_and(|byte| byte & bit > 0));
        let buckets = from.byte()? >> 3;
        let kind = Kind::Unknown;
        (buckets <= MAX_BUCKETS).then_some(Self { decimal, dates, percent, limits: [below, above], buckets, kind })
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
const CURRENCIES: [&str; 39] = [
    "R$", "US$", "A$", "C$", "CA$", "AU$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "₪", "zł", "Kč", "kr",
    "Ft", "Fr.", "CHF", "EUR", "USD", "GBP", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "CAD", "AUD", "INR", "CNY",
    "円", "元", "원",
];

/// What is behind the name of a column that says whether numbers are limits.
const LIMITS: [&str; 2] = ["=(below)", "=(above)"];

/// The names of the columns that say which numbers of a column are limits.
pub(super) fn limit_names(column: &str) -> [String; 2] {
    LIMITS.map(|end| [column, end].concat())
}

/// The column that such a name is about.
pub(in crate::data) fn limited(name: &str) -> Option<&str> {
    LIMITS.iter().find_map(|end| name.strip_suffix(end))
}

/// Whether a value is below a limit of measuring or above one, as `<0.5`, and the limit.
pub(super) fn limit(text: &str) -> Option<(bool, &str)> {
    let (below, rest) = match text.strip_prefix(['<', '≤']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix(['>', '≥'])?),
    };
    Some((below, rest.strip_prefix('=').unwrap_or(rest).trim_start()))
}

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
pub(super) fn point_may_group(bytes: &[u8]) -> bool {
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
        if let Some(after) = rest.strip_prefix(['-', '\u{2212}', '▲', '△']).or_else(|| rest.strip_suffix('-')) {
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
        // (12,34,567 in India.)
        let inner = if mark == ',' && whole.split(mark).nth(1).is_some_and(|group| group.len() == 2) { 2 } else { 3 };
        let mut groups = whole.split(mark).enumerate().peekable();
        while let Some((at, group)) = groups.next() {
            let fits = match groups.peek() {
                _ if at == 0 => (1..=inner).contains(&group.len()) && !group.starts_with('0'),
                Some(_) => group.len() == inner,
                None => group.len() == 3,
            };
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

/// What a year of two digits leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// It has four.
    No,
    /// It is last, and the first part can be none.
    Last,
    /// It may be first as well: 24-03-05 is a day of 2024 or of 2005.
    Either,
    /// It can be first alone.
    First,
}

/// Days of so many nanoseconds, as [`days_of_nanos`].
pub(super) fn days_of(nanos: i64) -> f64 {
    nanos.div_euclid(NANOS_OF_DAY) as f64 + nanos.rem_euclid(NANOS_OF_DAY) as f64 / NANOS_OF_DAY as f64
}

/// Days, of so many nanoseconds: the same number for the same moment or length of time, in whatever unit it was stored.
#[must_use]
pub fn days_of_nanos(nanos: i128) -> f64 {
    const DAY: i128 = 86_400_000_000_000;
    nanos.div_euclid(DAY) as f64 + nanos.rem_euclid(DAY) as f64 / DAY as f64
}

/// Days since the beginning of 1970 (UTC), of `2024-02-29`, `2024/2/29`, `29.2.2024`, or `29/02/2024` or `29-02-2024` with the day
/// or the month first; of `29 Feb 2024`, `Feb 29, 2024`, `29. Februar 2024`, `29 de febrero de 2024`, `2024年2月29日`; the year of
/// two digits or four. Behind it a time: `13:05`, `13:05:30.5`, `1:05 PM`, with `Z`, `UTC`, `GMT` or `+02:00`, a blank, a comma
/// or `T` before it. `order`: what is known of the column, which years of two digits need.
pub(super) fn date(text: &str, order: Option<DateOrder>) -> Option<(Meanings, Short)> {
    if text.len() > 60 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let (found, short, time) = in_digits(text, order).or_else(|| in_words(text))?;
    let time = time.trim();
    let nanos = if time.is_empty() { 0 } else { nanos_of_day(time)? };
    // (A zone may lead to another day.)
    let (more, rest) = (nanos.div_euclid(NANOS_OF_DAY), nanos.rem_euclid(NANOS_OF_DAY));
    Some((found.map(|days| days + more as f64 + rest as f64 / NANOS_OF_DAY as f64), short))
}

/// Days of a date like 2024-02-29, which [`date`] takes, too.
pub(super) fn iso_date(text: &str) -> Option<f64> {
    let [_, _, _, _, b'-', _, _, b'-', _, _] = text.as_bytes() else { return None };
    days(text.get(..4)?, text.get(5..7)?, text.get(8..)?)
}

fn in_digits(text: &str, order: Option<DateOrder>) -> Option<(Meanings, Short, &str)> {
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let day = if time.is_empty() { day } else { day.trim_end_matches(',') };
    let mark = day.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts = day.split(mark);
    let [a, b, c] = [parts.next()?, parts.next()?, parts.next()?];
    if !parts.next().unwrap_or("").is_empty() {
        return None;
    }
    if a.len() == 4 {
        return Some((Meanings::plain(days(a, b, c)?), Short::No, time));
    }
    let (is_short, year_first) = (c.len() == 2, if a.len() == 2 { days(a, b, c) } else { None });
    if is_short && order == Some(DateOrder::Year) {
        return Some((Meanings::plain(year_first?), Short::First, time));
    }
    let day_first = days(c, b, a);
    let found = Meanings { first: day_first, second: if mark == '.' { day_first } else { days(c, a, b) } };
    let short = match (is_short, found.none(), year_first) {
        (false, ..) => Short::No,
        // (Versions have one digit in some parts.)
        _ if mark == '.' && a.len() + b.len() == 4 => Short::Last,
        (true, true, Some(days)) if order.is_none() => return Some((Meanings::plain(days), Short::First, time)),
        (_, _, None) if mark != '.' => Short::Last,
        _ => Short::Either,
    };
    (!found.none()).then_some((found, short, time))
}

/// Beginnings of the names of months, in English, German, French, Spanish, Portuguese, Italian, Dutch, Polish and Scandinavian
/// languages.
const MONTHS: [&str; 12] = [
    "jan ene gen sty jän",
    "feb fév fev lut",
    "mar mär mrz maa mrt",
    "apr avr abr kwi",
    "may mai maj mei mag",
    "jun juin giu cze",
    "jul juil lug lip",
    "aug aoû aou ago sie",
    "sep set wrz",
    "oct okt ott out paź paz",
    "nov lis",
    "dec dez déc dic des gru",
];

fn in_words(text: &str) -> Option<(Meanings, Short, &str)> {
    let (mut rest, mut short) = (text, Short::No);
    let [mut day, mut month, mut year] = [""; 3];
    let mut number = String::new();
    if let Some((first, after)) = text.split_once('年') {
        let (second, after) = after.split_once('月')?;
        (year, month) = (first, second);
        (day, rest) = after.split_once('日')?;
    }
    while day.is_empty() || month.is_empty() || year.is_empty() {
        rest = rest.trim_start_matches([' ', '\u{a0}', '-', '/', '.', ',']);
        let digits = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest.find(|c: char| if digits { !c.is_ascii_digit() } else { !c.is_alphabetic() });
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        match (digits, word.len()) {
            (true, 4) if year.is_empty() => year = word,
            (true, 1 | 2) if day.is_empty() => day = word,
            (true, 2) if year.is_empty() => (year, short) = (word, Short::Last),
            (false, 1..) if matches!(word, "de" | "of" | "st" | "nd" | "rd" | "th" | "er") => {}
            (false, 3..) if month.is_empty() => {
                let lower = word.to_ascii_lowercase();
                let known = |names: &&str| names.split(' ').any(|name| lower.starts_with(name));
                number = number_text(1.0 + MONTHS.iter().position(known)? as f64);
                month = word;
            }
            _ => return None,
        }
    }
    let found = days(year, if number.is_empty() { month } else { &number }, day)?;
    Some((Meanings::plain(found), short, rest.trim_start_matches([',', 'T'])))
}

/// The number of a few digits.
pub(super) fn small(text: &str) -> Option<u32> {
    (!text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn days(year: &str, month: &str, day: &str) -> Option<f64> {
    if !matches!(year.len(), 2 | 4) || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let (mut number, month, day) = (small(year)?, small(month)?, small(day)?);
    if year.len() == 2 {
        // 1940 to 2039.
        number += if number < 40 { 2000 } else { 1900 };
    }
    let year = number;
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

const NANOS_OF_DAY: i64 = 86_400_000_000_000;
pub(super) const SECOND: i64 = 1_000_000_000;

/// Nanoseconds of a time of day, less what its zone is ahead of UTC.
pub(super) fn nanos_of_day(text: &str) -> Option<i64> {
    let utc = text.strip_suffix(['Z', 'z']).or(text.strip_suffix("UTC")).or(text.strip_suffix("GMT"));
    let (text, ahead) = match utc {
        Some(text) => (text.trim_end(), 0),
        None => match text.rfind(['+', '-']) {
            Some(at) => (text[..at].trim_end(), zone(&text[at..])?),
            None => (text, 0),
        },
    };
    let ends = |word: &str| {
        text.len() > 2 && text.is_char_boundary(text.len() - 2) && text[text.len() - 2..].eq_ignore_ascii_case(word)
    };
    let half = if ends("am") { Some(0) } else { ends("pm").then_some(12) };
    let text = if half.is_some() { text[..text.len() - 2].trim_end() } else { text };
    let (hour, rest) = clock(text)?;
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24).then(|| i64::from(hour) * 3600 * SECOND + rest - ahead)
}

/// The hours of `13:05` or `13:05:30.5`, and the nanoseconds of what is behind them.
pub(super) fn clock(text: &str) -> Option<(u32, i64)> {
    let mut parts = text.splitn(3, ':');
    let (hour, minute) = (small(parts.next()?)?, small(parts.next()?).filter(|&minute| minute < 60)?);
    let nanos = match parts.next() {
        Some(text) => nanos(text).filter(|&nanos| nanos < 61 * SECOND)?,
        None => 0,
    };
    Some((hour, i64::from(minute) * 60 * SECOND + nanos))
}

/// Nanoseconds of a number of seconds, of which nine digits behind the point count.
pub(super) fn nanos(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(9)];
    let behind = if fraction.is_empty() { 0 } else { small(fraction)? };
    Some(i64::from(small(whole)?) * SECOND + i64::from(behind) * 10_i64.pow(9 - fraction.len() as u32))
}

/// Nanoseconds ahead of UTC, of `+02:00`, `-0530` or `+02`.
fn zone(text: &str) -> Option<i64> {
    let (sign, digits) = text.split_at(1);
    let digits: String = digits.chars().filter(|&c| c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (small(&digits)?, 0),
        4 => (small(digits.get(..2)?)?, small(digits.get(2..)?)?),
        _ => return None,
    };
    let ahead = i64::from(3600 * hours + 60 * minutes) * SECOND;
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
