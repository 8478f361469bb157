//! What a column is, once all of its cells are there.

use super::super::column::{Doubted, MISSING, RawColumn, Told, Written};
use super::super::notation::{DateOrder, Decimal, Holds, Notation, limit};
use super::super::reads::{Absent, Cell, Reads, is_code};
use super::super::seen::Seen;
use super::super::{Kind, Reading, number_text, truth};
use super::{Column, Found, ranked, word_of};
use crate::data::error::Doubt;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

impl Column {
    /// The column, and how it was read.
    pub(super) fn finish(mut self, reads: Reads, usual: Option<Decimal>) -> (RawColumn, Told) {
        let seen = self.seen.filter(|seen| seen.text == 0 && !self.has_words_alone());
        let twice = self.called_twice;
        let (column, mut told) = match (seen, core::mem::replace(&mut self.cells, Found::TEXT)) {
            (Some(seen), Found::Numbers { values, written }) => self.numbers(seen, values, written, reads, usual),
            (_, cells) => {
                self.cells = cells;
                self.text(reads)
            }
        };
        told.readings.extend(twice.then_some(Reading::Twice));
        (column, told)
    }

    /// Whether all that a column holds are words for a missing value that tell more than that there is none: different ones, or one
    /// beside empty cells.
    fn has_words_alone(&self) -> bool {
        let Found::Numbers { values, .. } = &self.cells else { return false };
        let first = || values.first().map_or(0, |x| x.to_bits());
        !self.words.is_empty()
            && self.known.kind.takes_words() != Some(true)
            && values.iter().all(|x| x.is_nan())
            && values.iter().any(|x| x.to_bits() != first())
    }

    /// A column of numbers.
    fn numbers(
        mut self,
        seen: Seen,
        mut values: Vec<f64>,
        written: Written,
        reads: Reads,
        usual: Option<Decimal>,
    ) -> (RawColumn, Told) {
        // What is said of this file comes before what a model knows of another.
        let known = self.known;
        let known = Notation { decimal: reads.decimal.or(known.decimal), dates: reads.dates.or(known.dates), ..known };
        let holds = seen.holds(known, usual);
        let alone = || (Doubt::MarkOfFile, seen.numbers.second_only.unwrap_or(0), 0);
        let mark_of_file =
            holds[0] == Holds::Second && known.decimal.is_none() && usual.is_none() && reads.usual.is_some();
        let doubt = seen.doubt(holds, known).or_else(|| mark_of_file.then(alone));
        if let Some((doubt, row, other)) = doubt {
            let text = |row: u32| {
                let number = || values.get(row as usize).map_or(String::new(), |x| number_text(*x));
                written.iter().find(|(at, _)| *at == row).map_or_else(number, |(_, text)| text.to_string())
            };
            let doubt = Some(Doubted { doubt, row, text: text(row), other: text(other) });
            self.cells = Found::Numbers { values, written };
            let (column, told) = self.text(reads);
            return (column, Told { doubt, ..told });
        }
        if holds.contains(&Holds::Second) {
            self.second.iter().for_each(|&(row, x)| values[row as usize] = x);
        }
        let words = self.plain(&mut values);
        let mut readings = seen.readings(holds, known.kind, &values);
        if self.spellings.has_codes() && values.iter().all(|x| x.is_nan() || libm::trunc(*x) == *x) {
            readings.push(Reading::Exponents);
        }
        let decimal = match holds[0] {
            Holds::First if reads.usual.is_none() => Some(Decimal::Point),
            Holds::Second => Some(Decimal::Comma),
            // (Whole numbers are written as the rest of the file.)
            Holds::Either if seen.numbers.count > 0 => usual.filter(|mark| reads.usual != Some(*mark)),
            _ => None,
        };
        let dates = match holds[1] {
            Holds::First => Some(DateOrder::Day),
            Holds::Second => Some(DateOrder::Month),
            _ => known.dates.filter(|_| seen.dates.count > 0),
        };
        let dates = known.dates.filter(|&order| order == DateOrder::Year && seen.dates.count > 0).or(dates);
        let limits = [0, 1].map(|at| known.limits[at] || seen.limits[at] > 0);
        let kind = seen.kind(known.kind);
        let notation = Notation { decimal, dates, percent: seen.percent.is_some(), limits, buckets: 0, kind };
        // What is to be told from other categories, and which numbers are limits.
        let told = |text: &str| limit(text).is_some() || text.parse().is_ok_and(|x| is_code(text, x));
        let codes = written.iter().filter(|(_, text)| told(text));
        let written = codes.fold(Written::default(), |mut kept, (row, text)| {
            kept.push(row, text);
            kept
        });
        let spellings = self.spellings;
        (RawColumn::Numbers(values, written), Told { readings, notation, doubt: None, words, spellings })
    }

    /// Numbers in which what is missing is just that, and which words said so how often.
    fn plain(&self, values: &mut [f64]) -> Vec<(String, usize)> {
        let mut counts = vec![0; self.words.len() + 1];
        if !self.words.is_empty() {
            for x in values.iter_mut().filter(|x| x.is_nan()) {
                counts[word_of(*x)] += 1;
                *x = f64::NAN;
            }
        }
        if self.absent.has_numbers() {
            let gone = self.absent.numbers();
            values.iter_mut().filter(|x| gone.contains(x)).for_each(|x| *x = f64::NAN);
        }
        self.words.iter().cloned().zip(counts.into_iter().skip(1)).collect()
    }

    /// A column of text.
    fn text(self, reads: Reads) -> (RawColumn, Told) {
        let Self { seen, cells, known, absent, words, unreadable, .. } = self;
        let (numbers, mut codes) = cells.into_coded(&words);
        let is_missing = |text: &str| absent.takes(text);
        let kind = kind_of(seen, &numbers, reads, &absent, known);
        let mut counts = Vec::new();
        if kind != Kind::Text {
            let mut words: Vec<(u32, usize, &str)> = numbers
                .iter()
                .filter(|(text, _)| is_missing(text))
                .map(|(text, &code)| (code, 0, text.as_str()))
                .collect();
            if !words.is_empty() {
                for code in &mut codes {
                    if let Some((_, count, _)) = words.iter_mut().find(|word| word.0 == *code) {
                        *count += 1;
                        *code = MISSING;
                    }
                }
            }
            counts = words.into_iter().map(|(_, count, text)| (text.to_string(), count)).collect();
        }
        let signs = |text: &&String| text.bytes().any(|b| b.is_ascii_digit()) && !text.contains(char::is_alphabetic);
        let count = numbers.keys().filter(signs).count();
        let signs = seen.is_some() && 2 * count > numbers.len() && count > 1;
        let readings = if signs { vec![Reading::Signs] } else { Vec::new() };
        let (values, codes) = ranked(numbers, codes);
        let stray = seen.filter(|seen| (kind == Kind::Text || seen.mixed) && seen.most() > seen.text);
        let stray = stray.and_then(|seen| seen.first_text);
        let kind = if values.is_empty() { Kind::Unknown } else { kind };
        let notation = Notation { kind, ..Notation::hashed(known.buckets) };
        let doubt = unreadable.map(|text| Doubted { doubt: Doubt::Unreadable, row: 0, text, other: String::new() });
        (RawColumn::Text { values, codes, stray }, Told { readings, notation, words: counts, doubt, ..Told::default() })
    }
}

/// What the cells of a column of text are.
fn kind_of(
    seen: Option<Seen>,
    numbers: &BTreeMap<String, u32>,
    reads: Reads,
    absent: &Absent,
    known: Notation,
) -> Kind {
    let is_missing = |text: &str| absent.takes(text);
    let truths = || numbers.keys().all(|text| is_missing(text) || truth(text).is_some());
    match (known.kind, seen) {
        // (Those of a model, or of a frame.)
        (Kind::Text | Kind::Code | Kind::Level, _) | (Kind::Truth, None) => known.kind,
        (_, Some(_)) if truths() && numbers.keys().any(|text| truth(text).is_some()) => Kind::Truth,
        (_, Some(seen)) => {
            if seen.mixed {
                Kind::Code
            } else {
                Kind::Text
            }
        }
        (_, None) => {
            let mut there =
                numbers.keys().map(|text| reads.cell(text, absent, known)).filter(|cell| !matches!(cell, Cell::Word));
            let first = there.next();
            let some = first.is_some();
            let code = first.into_iter().chain(there).all(|cell| cell.is_number() && !matches!(cell, Cell::NonFinite));
            if some && code { Kind::Code } else { Kind::Text }
        }
    }
}
