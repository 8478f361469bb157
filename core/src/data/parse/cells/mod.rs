//! Columns of a CSV text, built row by row.

mod finish;
mod memory;

use super::super::error::{DataErrorKind, Placed};
use super::column::{MISSING, RawColumn, Told, Written};
use super::csv::Cells;
use super::notation::{Decimal, Holds, Meanings, Notation, bucket, limit, limit_names, point_may_group};
use super::number_text;
use super::reads::{Absent, Cell, Reads, long};
use super::seen::Seen;
use super::short::short;
use super::spellings::Spellings;
use crate::features::COMPACT;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The columns, and how they were read.
type Columns = (Vec<RawColumn>, Vec<Told>);

/// Adds at the end, for each column some of whose numbers are limits, the columns that say which.
pub(super) fn add_limits(names: &mut Vec<String>, (columns, told): &mut Columns) {
    for at in 0..told.len() {
        if told[at].notation.limits == [false; 2] {
            continue;
        }
        for (above, name) in [false, true].into_iter().zip(limit_names(&names[at])) {
            if !told[at].notation.limits[usize::from(above)] || names.contains(&name) {
                continue;
            }
            let RawColumn::Numbers(values, written) = &columns[at] else { continue };
            let mut is = vec![0.0; values.len()];
            let limits = written.iter().filter(|(_, text)| limit(text).is_some_and(|(below, _)| below != above));
            limits.for_each(|(row, _)| is[row as usize] = 1.0);
            names.push(name);
            columns.push(RawColumn::Numbers(is, Written::default()));
            told.push(Told::default());
        }
    }
}

/// Columns in the making: their cells come row after row, and what each is shows at the end.
#[derive(Clone, Debug)]
pub(super) struct Making {
    columns: Vec<Column>,
    rows: usize,
    /// Of the first cell in reading order that is infinite, its line, its column and itself, for each column that has one.
    non_finite: BTreeMap<usize, (u32, String)>,
}

#[derive(Clone, Debug)]
struct Column {
    /// Of a column that is not text whatever it holds.
    seen: Option<Seen>,
    cells: Found,
    /// Its second meanings where they differ from the first, by their rows.
    second: Vec<(u32, f64)>,
    /// The row of the first of these where its text is kept for that alone.
    shown: Option<u32>,
    /// How a model says that it is written.
    known: Notation,
    /// What stands for a missing value in it.
    absent: Absent,
    /// The usual words for one among its numbers, which it keeps if it turns out to be text.
    words: Vec<String>,
    /// Its numbers that are not written as they are called.
    spellings: Spellings,
    /// What it holds, if that cannot be read.
    unreadable: Option<String>,
    /// Whether it is text from its first row on.
    began_as_text: bool,
    /// Whether an earlier one had its name.
    called_twice: bool,
}

/// The cells of a column.
#[derive(Clone, Debug)]
enum Found {
    /// Numbers so far, with the cells whose text tells more; a missing one is a NaN that has the number of its word, if it has one.
    Numbers { values: Vec<f64>, written: Written },
    /// The number of each cell's text, and of which of these it is known that they are neither numbers nor dates.
    Text { codes: Vec<u32>, numbers: BTreeMap<String, u32>, words: Vec<bool> },
}

fn code(numbers: &mut BTreeMap<String, u32>, text: &str) -> u32 {
    if let Some(&code) = numbers.get(text) {
        return code;
    }
    let next = numbers.len() as u32;
    numbers.insert(text.to_string(), next);
    next
}

fn is_word(words: &mut Vec<bool>, code: u32, is: bool) {
    let at = code as usize;
    if is && !COMPACT {
        words.resize(words.len().max(at + 1), false);
        words[at] = true;
    }
}

/// Cells of numbers as text, sorted, and which of them each row has: as they are written, where that was kept.
pub(in crate::data) fn as_text(values: &[f64], written: &Written) -> (Vec<String>, Vec<u32>) {
    let (numbers, codes) = coded(values, written, &[]);
    ranked(numbers, codes)
}

/// What is missing for the want of a cell, or by the k-th of some words, from 1.
fn gone(word: usize) -> f64 {
    f64::from_bits(f64::NAN.to_bits() | word as u64)
}

/// Which word that is.
fn word_of(x: f64) -> usize {
    (x.to_bits() & 0xffff_ffff) as usize
}

fn coded(values: &[f64], written: &Written, words: &[String]) -> (BTreeMap<String, u32>, Vec<u32>) {
    let mut numbers = BTreeMap::new();
    let mut kept = written.iter().peekable();
    let codes = values.iter().zip(0..).map(|(x, row)| match kept.next_if(|(at, _)| *at == row) {
        Some((_, text)) => code(&mut numbers, text),
        None if x.is_nan() => match words.get(word_of(*x).wrapping_sub(1)) {
            Some(word) => code(&mut numbers, word),
            None => MISSING,
        },
        None => code(&mut numbers, &number_text(*x)),
    });
    let codes = codes.collect();
    (numbers, codes)
}

/// The texts in order, and which each cell is.
fn ranked(numbers: BTreeMap<String, u32>, mut codes: Vec<u32>) -> (Vec<String>, Vec<u32>) {
    let mut sorted = vec![MISSING; numbers.len()];
    let mut used = vec![false; numbers.len()];
    codes.iter().filter(|&&code| code != MISSING).for_each(|&code| used[code as usize] = true);
    let mut values = Vec::with_capacity(numbers.len());
    // (Words that turned out to be missing, and what became text anew, left codes that no cell has.)
    for (text, code) in numbers {
        if used[code as usize] {
            sorted[code as usize] = values.len() as u32;
            values.push(text);
        }
    }
    for code in codes.iter_mut().filter(|code| **code != MISSING) {
        *code = sorted[*code as usize];
    }
    (values, codes)
}

impl Found {
    const TEXT: Self = Self::text(BTreeMap::new(), Vec::new());

    const fn text(numbers: BTreeMap<String, u32>, codes: Vec<u32>) -> Self {
        Self::Text { codes, numbers, words: Vec::new() }
    }

    fn numbers() -> Self {
        Self::Numbers { values: Vec::new(), written: Written::default() }
    }

    /// The number of each different text, and that of each cell.
    fn into_coded(self, words: &[String]) -> (BTreeMap<String, u32>, Vec<u32>) {
        match self {
            Self::Numbers { values, written } => coded(&values, &written, words),
            Self::Text { codes, numbers, .. } => (numbers, codes),
        }
    }
}

impl Making {
    /// Of columns of these names. Those of `texts`, and those that are known to be, are text whatever they hold, the others where a cell is no number. `known`: how columns are
    /// written, as far as that is known; `na`: what stands for missing values.
    pub fn new(names: &[String], texts: &[bool], known: &[Notation], na: &[String]) -> Self {
        let absent = Absent::all(na);
        let known = known.iter().copied().chain(core::iter::repeat(Notation::default()));
        let columns = names.iter().zip(texts).zip(known).map(|((name, &text), known)| {
            let text = text || known.kind.is_text();
            let cells = if text { Found::TEXT } else { Found::numbers() };
            Column::new((!text).then(Seen::default), cells, known, absent.of(name))
        });
        Self { columns: columns.collect(), rows: 0, non_finite: BTreeMap::new() }
    }

    /// Where these columns had the names of others.
    pub fn called_twice(mut self, columns: &[usize]) -> Self {
        columns.iter().for_each(|&at| self.columns[at].called_twice = true);
        self
    }

    /// Takes the rows from `start` on, with `before` lines before those of the cells.
    pub fn push(&mut self, cells: &Cells<'_>, start: usize, before: u32, reads: Reads) {
        let all = 0..self.columns.len();
        self.take(all, cells, start, before, reads);
        self.rows += cells.lines.len() - start;
    }

    /// Takes the cells of some columns, one column after the other.
    fn take(
        &mut self,
        columns: impl Iterator<Item = usize>,
        cells: &Cells<'_>,
        start: usize,
        before: u32,
        reads: Reads,
    ) {
        for at in columns {
            let column = &mut self.columns[at];
            let mut row = start;
            loop {
                row += column.push_numbers(self.rows + row - start, cells, row, at);
                if row >= cells.lines.len() {
                    break;
                }
                let was_text = matches!(column.cells, Found::Text { .. });
                if let Some(text) = column.push((self.rows + row - start) as u32, cells.get(row, at), reads) {
                    let line = before.saturating_add(cells.lines[row]);
                    self.non_finite.entry(at).or_insert_with(|| (line, text.to_string()));
                }
                row += 1;
                if !was_text && matches!(column.cells, Found::Text { .. }) {
                    // (What was numbers so far is what is written there.)
                    column.again(self.rows, (start..row).map(|row| cells.get(row, at)));
                }
            }
        }
    }

    /// For rows that come behind others: their columns, which are text where those are.
    pub fn behind(&self) -> Self {
        let columns = self.columns.iter().map(|column| {
            let cells = match column.cells {
                Found::Text { .. } => Found::TEXT,
                Found::Numbers { .. } => Found::numbers(),
            };
            Column::new(column.seen.map(|_| Seen::default()), cells, column.known, column.absent.clone())
        });
        Self { columns: columns.collect(), rows: 0, non_finite: BTreeMap::new() }
    }

    /// Takes rows that were made [`behind`](Self::behind) others, as if their cells had come one after the other. Which columns they
    /// could not be taken of, because they became text meanwhile: [`push_of`](Self::push_of) is to be called for these.
    pub fn append(&mut self, next: Self) -> Vec<usize> {
        let rows = self.rows as u32;
        let mut again = Vec::new();
        for (at, (column, next)) in self.columns.iter_mut().zip(next.columns).enumerate() {
            if !column.append(next, rows) {
                again.push(at);
            }
        }
        for (at, found) in next.non_finite {
            self.non_finite.entry(at).or_insert(found);
        }
        self.rows += next.rows;
        again
    }

    /// Takes cells of some columns, of the last rows.
    pub fn push_of(&mut self, columns: &[usize], cells: &Cells<'_>, before: u32, reads: Reads) {
        self.rows -= cells.lines.len();
        self.take(columns.iter().copied(), cells, 0, before, reads);
        self.rows += cells.lines.len();
    }

    /// What the columns are.
    pub fn finish(mut self, reads: Reads) -> Result<Columns, Placed> {
        for column in &mut self.columns {
            column.seen.iter_mut().for_each(|seen| seen.settle(column.known));
        }
        let number = |at: &usize| self.columns[*at].seen.is_some_and(|seen| seen.text == 0);
        let infinite = self.non_finite.iter().filter(|(at, _)| number(at)).map(|(at, (line, text))| (line, at, text));
        if let Some((&line, &at, text)) = infinite.min() {
            return Err((line, at as u32 + 1, DataErrorKind::NonFinite { text: text.clone() }));
        }
        let usual = reads.decimal.or(self.usual(reads));
        Ok(self.columns.into_iter().map(|column| column.finish(reads, usual)).unzip())
    }

    /// The decimal mark of the file, where columns whose cells say it agree.
    fn usual(&self, reads: Reads) -> Option<Decimal> {
        let numbers = self.columns.iter().filter_map(|column| column.seen.filter(|seen| seen.text == 0));
        let [mut point, mut comma] = [false; 2];
        for seen in numbers {
            point |= seen.numbers.holds() == Holds::First;
            comma |= seen.numbers.holds() == Holds::Second;
        }
        match [point, comma] {
            [true, false] => Some(Decimal::Point),
            [false, true] => Some(Decimal::Comma),
            [false, false] => reads.usual,
            [true, true] => None,
        }
    }
}

impl Column {
    fn new(seen: Option<Seen>, cells: Found, known: Notation, absent: Absent) -> Self {
        let began_as_text = matches!(cells, Found::Text { .. });
        let (second, words, spellings) = (Vec::new(), Vec::new(), Spellings::default());
        Self {
            seen,
            cells,
            second,
            shown: None,
            known,
            absent,
            words,
            spellings,
            unreadable: None,
            began_as_text,
            called_twice: false,
        }
    }

    /// Takes cells, from a row on, as long as they are what most files have most: in a column of numbers plain ones, and none at
    /// all. How many there were.
    fn push_numbers(&mut self, row: usize, cells: &Cells<'_>, start: usize, at: usize) -> usize {
        let (Some(seen), Found::Numbers { values, .. }) = (&mut self.seen, &mut self.cells) else { return 0 };
        // (A number among dates is text.)
        if self.absent.has_numbers() || seen.is_of_time() {
            return 0;
        }
        let (bytes, first) = (cells.bytes(), values.len());
        for span in cells.column(start, at) {
            let [start, end] = span.map(|at| at as usize);
            let (x, places) = match short(bytes, start, end) {
                Some((_, 3)) if point_may_group(&bytes[start..end]) => break,
                Some((x, places)) => {
                    if !is_plain(&bytes[start..end], x, places) {
                        self.spellings.add(cells.at(span));
                    }
                    (x, places)
                }
                None if start == end => {
                    values.push(f64::NAN);
                    continue;
                }
                // (Of a number with a point, at least one digit is behind it.)
                None => match if COMPACT { None } else { long(cells.at(span)) } {
                    Some(x) => {
                        self.spellings.add(cells.at(span));
                        (x, 1)
                    }
                    None => break,
                },
            };
            seen.add_plain((row + values.len() - first) as u32, x, places);
            values.push(x);
        }
        values.len() - first
    }

    /// The cells of `next` behind so many rows, unless the column is text without those having been read as text.
    fn append(&mut self, next: Self, rows: u32) -> bool {
        let seen = self.seen.zip(next.seen).map(|(mut seen, next)| {
            seen.append(&next, rows);
            seen
        });
        match (&mut self.cells, next.cells) {
            (Found::Numbers { values, written }, Found::Numbers { values: mut more, written: mut cells })
                if seen.is_some_and(|seen| !seen.is_text()) =>
            {
                let words: Vec<usize> = next.words.iter().map(|word| word_in(&mut self.words, word)).collect();
                if words.iter().zip(1..).any(|(&now, before)| now != before) {
                    let missing = more.iter_mut().filter(|x| x.is_nan() && word_of(**x) > 0);
                    missing.for_each(|x| *x = gone(words[word_of(*x) - 1]));
                }
                self.spellings.append(next.spellings);
                // (The text of an ambiguous number is kept once.)
                if let Some(shown) = next.shown.filter(|_| !self.second.is_empty()) {
                    cells.remove(shown);
                }
                self.shown = self.shown.or(next.shown.filter(|_| self.second.is_empty()).map(|row| row + rows));
                values.extend(more);
                written.append(&cells, rows);
                self.second.extend(next.second.iter().map(|&(row, second)| (row + rows, second)));
            }
            (Found::Text { codes, numbers, words }, Found::Text { codes: more, numbers: texts, words: are })
                if next.began_as_text =>
            {
                self.unreadable = self.unreadable.take().or(next.unreadable);
                let mut new = vec![0; texts.len()];
                for (text, old) in texts {
                    let count = numbers.len() as u32;
                    let code = *numbers.entry(text).or_insert(count);
                    new[old as usize] = code;
                    is_word(words, code, are.get(old as usize).copied().unwrap_or(false));
                }
                codes.extend(more.iter().map(|&code| if code == MISSING { MISSING } else { new[code as usize] }));
            }
            _ => return false,
        }
        self.seen = seen;
        true
    }

    /// Takes a cell; gives it back where it is infinite.
    fn push<'a>(&mut self, row: u32, text: &'a str, reads: Reads) -> Option<&'a str> {
        let hashed = self.known.buckets > 0;
        // A text that came before is what it was.
        if !COMPACT
            && !hashed
            && let Found::Text { codes, numbers, words } = &mut self.cells
            && let Some(&code) = numbers.get(text)
            && (self.seen.is_none() || words.get(code as usize) == Some(&true))
        {
            self.seen.iter_mut().for_each(|seen| seen.text += 1);
            codes.push(code);
            return None;
        }
        let cell = reads.cell(text, &self.absent, self.known);
        let numbers = matches!(self.cells, Found::Numbers { .. });
        let is_text = self.seen.as_mut().is_none_or(|seen| {
            seen.add(row, &cell, text);
            seen.is_text()
        });
        if is_text && numbers {
            let (numbers, codes) = core::mem::replace(&mut self.cells, Found::TEXT).into_coded(&self.words);
            self.cells = Found::text(numbers, codes);
            self.second = Vec::new();
        }
        if let Found::Text { codes, numbers, .. } = &mut self.cells
            && hashed
            && !matches!(cell, Cell::Missing)
        {
            codes.push(code(numbers, &bucket(text, self.known.buckets)));
            return None;
        }
        match &mut self.cells {
            Found::Text { codes, numbers, words } => {
                let code = if matches!(cell, Cell::Missing) { MISSING } else { code(numbers, text) };
                if matches!(cell, Cell::Text) {
                    is_word(words, code, true);
                }
                codes.push(code);
                None
            }
            Found::Numbers { .. } => {
                self.push_number(row, text, &cell);
                matches!(cell, Cell::NonFinite).then_some(text)
            }
        }
    }

    /// Takes the last cells anew, behind so many rows, of a column that has just become text.
    fn again<'a>(&mut self, before: usize, cells: impl Iterator<Item = &'a str>) {
        let Found::Text { codes, numbers, .. } = &mut self.cells else { return };
        if self.known.buckets == 0 {
            codes.truncate(before);
            let absent = |text: &str| text.is_empty() || self.absent.has(text);
            codes.extend(cells.map(|text| if absent(text) { MISSING } else { code(numbers, text) }));
        }
        if before == 0 {
            self.spellings = Spellings::default();
        }
    }

    /// Takes a cell of a column that has been of numbers so far.
    fn push_number(&mut self, row: u32, text: &str, cell: &Cell) {
        let Found::Numbers { values, written } = &mut self.cells else { return };
        let meanings = match *cell {
            Cell::Number(meanings, _, _) | Cell::Limit(meanings, ..) | Cell::Date(meanings, _) => meanings,
            Cell::Clock(days, _) => Meanings::plain(days),
            Cell::Word => Meanings::plain(gone(word_in(&mut self.words, text))),
            Cell::Missing | Cell::NonFinite | Cell::Text => Meanings::plain(f64::NAN),
        };
        let other = match meanings {
            Meanings { first: Some(first), second: Some(second) } if !first.is_nan() && first != second => Some(second),
            Meanings { .. } => None,
        };
        // (The first of them is shown where nothing decides.)
        let shown = other.is_some() && self.second.is_empty();
        let told = match cell {
            Cell::Number(_, _, told) => *told,
            Cell::Limit(..) | Cell::Date(..) | Cell::Clock(..) | Cell::NonFinite => true,
            Cell::Missing | Cell::Word | Cell::Text => false,
        };
        if shown || told {
            written.push(row, text);
            self.shown = self.shown.or((shown && !told).then_some(row));
        }
        let plain = |text: &str| {
            short(text.as_bytes(), 0, text.len()).is_some_and(|(x, places)| is_plain(text.as_bytes(), x, places))
        };
        if matches!(cell, Cell::Number(..)) && !plain(text) {
            self.spellings.add(text);
        }
        values.push(meanings.first.or(meanings.second).unwrap_or(f64::NAN));
        self.second.extend(other.map(|second| (row, second)));
    }
}

/// Whether a short number is written as it is called.
fn is_plain(text: &[u8], x: f64, places: usize) -> bool {
    !((places > 0 && text.last() == Some(&b'0')) || (x == 0.0 && text[0] == b'-'))
}

/// The number of a word among those of a column.
fn word_in(words: &mut Vec<String>, word: &str) -> usize {
    match words.iter().position(|known| known == word) {
        Some(at) => at + 1,
        None => {
            words.push(word.to_string());
            words.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::whole::tests::{KINDS, pick};
    use super::{Cells, Found, Making, Reads};
    use crate::rng::Rng;
    use alloc::format;

    /// What is taken column by column, and by what came before, is what cells tell by themselves.
    #[test]
    fn short_ways_make_the_same_columns() {
        let mut random = Rng::new(4);
        for round in 0..2_000 {
            let of = |random: &mut Rng| KINDS[(random.uniform() * KINDS.len() as f64) as usize];
            let (kind, other, rows) = (of(&mut random), of(&mut random), 1 + (random.uniform() * 60.0) as usize);
            let na = [alloc::string::String::from("7")];
            let (na, names) = (if round % 8 == 0 { &na[..] } else { &[] }, [alloc::string::String::from("x")]);
            let reads = Reads::PLAIN;
            let mut making = Making::new(&names, &[round % 5 == 0], &[], na);
            let mut slow = making.clone();
            for row in 0..rows {
                let kind = if random.uniform() < 0.1 { other } else { kind };
                let long = ["0012.5000", "01.25000001", "12.5000001", "-0.00000012345678", "1.5e-10", "123456.78e400"];
                let kind = if random.uniform() < 0.1 { &long[..] } else { kind };
                let cell = pick(&mut random, kind).trim_matches('"');
                making.push(&Cells::of_row([cell].into_iter()), 0, row as u32, reads);
                let column = &mut slow.columns[0];
                if let Found::Text { words, .. } = &mut column.cells {
                    words.clear();
                }
                let was_text = matches!(column.cells, Found::Text { .. });
                if let Some(text) = column.push(row as u32, cell, reads) {
                    slow.non_finite.entry(0).or_insert_with(|| (1 + row as u32, text.into()));
                }
                if !was_text && matches!(column.cells, Found::Text { .. }) {
                    column.again(row, [cell].into_iter());
                }
                slow.rows += 1;
            }
            let [made, slow] = [making, slow].map(|making| format!("{:?}", making.finish(reads)));
            assert_eq!(made, slow, "{round}");
        }
    }
}
