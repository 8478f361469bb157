//! Types of the cells of a CSV text: numbers, dates, missing values, text; and columns of them, built row by row.

use super::super::error::{DataErrorKind, Placed};
use super::csv::Cells;
use super::{MISSING, RawColumn, Reading, Values, number_text};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A cell by itself.
pub(super) enum Cell {
    Missing,
    Number(f64),
    /// A number with a comma for its point.
    Comma(f64),
    /// Days since the beginning of 1970.
    Date(f64),
    NonFinite,
    Text,
}

impl Cell {
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Comma(_) | Self::Date(_) | Self::NonFinite)
    }
}

/// Whole numbers up to this are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Numbers that rise by one count the rows, when there are so many.
const COUNTED: usize = 20;

/// What stands for a missing value, in any case.
const MISSING_WORDS: [&str; 9] = ["", "?", "-", "na", "n/a", "#n/a", "nan", "null", "none"];

/// How cells are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reads<'a> {
    /// Other spellings of a missing value.
    pub na: &'a [String],
    /// Numbers may have commas for points, since the delimiter is another.
    pub commas: bool,
}

impl Reads<'_> {
    pub fn cell(self, text: &str) -> Cell {
        if MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) || self.na.iter().any(|na| na == text) {
            return Cell::Missing;
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Cell::Number(x),
            Ok(_) => Cell::NonFinite,
            Err(_) => match (comma(text).filter(|_| self.commas), date(text)) {
                (Some(x), _) => Cell::Comma(x),
                (None, Some(days)) => Cell::Date(days),
                (None, None) => Cell::Text,
            },
        }
    }
}

/// A number with one comma between digits, and no point.
fn comma(text: &str) -> Option<f64> {
    let (whole, rest) = text.split_once(',')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let plain = digits(unsigned) && !unsigned.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit());
    let exponent = rest.split(['e', 'E']).next().is_some_and(digits);
    (plain && exponent).then(|| format!("{whole}.{rest}").parse().ok().filter(|x: &f64| x.is_finite()))?
}

/// Days since the beginning of 1970, of `2024-02-29`, `2024-02-29 13:05`, `2024-02-29T13:05:30.5Z` or `29.2.2024`.
fn date(text: &str) -> Option<f64> {
    let number = |text: &str| -> Option<u32> {
        (!text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let mut parts = day.split(if day.contains('-') { '-' } else { '.' });
    let parts = [parts.next()?, parts.next()?, parts.next()?, parts.next().unwrap_or("")];
    let [year, month, date] =
        if day.contains('-') { [parts[0], parts[1], parts[2]] } else { [parts[2], parts[1], parts[0]] };
    if year.len() != 4 || !parts[3].is_empty() || month.len() > 2 || date.len() > 2 {
        return None;
    }
    let (year, month, date) = (number(year)?, number(month)?, number(date)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let long = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if date == 0 || date > long {
        return None;
    }
    // Days of years that begin in March, so that the leap day is the last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + date - 1;
    let mut seconds = 0.0;
    if let Some(time) = time {
        let time = time.strip_suffix('Z').unwrap_or(time);
        let mut parts = time.splitn(3, ':');
        let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
        let second = match parts.next() {
            Some(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') => text.parse::<f64>().ok()?,
            Some(_) => return None,
            None => 0.0,
        };
        if hour > 23 || minute > 59 || second >= 61.0 {
            return None;
        }
        seconds = f64::from(3600 * hour + 60 * minute) + second;
    }
    Some(f64::from(days) - 719_468.0 + seconds / 86_400.0)
}

/// What a pass over a column found.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Numbers, and those of them with points.
    numbers: usize,
    points: usize,
    /// Those with zeros before them, and whole ones beyond 2⁵³.
    padded: usize,
    large: usize,
    /// Numbers with commas, and dates.
    commas: usize,
    dates: usize,
    text: usize,
    first_text: Option<usize>,
    first_comma: Option<usize>,
    first_date: Option<usize>,
}

impl Seen {
    /// Takes a cell; true where the column is text, whatever comes.
    fn add(&mut self, row: usize, cell: &Cell, text: &str, reads: Reads<'_>) -> bool {
        let count = |count: &mut usize, first: &mut Option<usize>| {
            *count += 1;
            first.get_or_insert(row);
        };
        match cell {
            Cell::Number(x) => {
                self.numbers += 1;
                self.padded += usize::from(matches!(text.as_bytes(), [b'0', b'0'..=b'9', ..]));
                self.large += usize::from(x.abs() > EXACT && text.bytes().all(|b| b.is_ascii_digit() || b == b'-'));
                self.points += usize::from(reads.commas && text.contains('.'));
            }
            Cell::Missing | Cell::NonFinite => {}
            Cell::Comma(_) => count(&mut self.commas, &mut self.first_comma),
            Cell::Date(_) => count(&mut self.dates, &mut self.first_date),
            Cell::Text => count(&mut self.text, &mut self.first_text),
        }
        self.text > 0 || (self.numbers + self.commas > 0 && self.dates > 0) || (self.points > 0 && self.commas > 0)
    }

    /// What does not go together is text: commas beside points, dates beside numbers.
    fn settle(&mut self) {
        let mut as_text = |count: usize, first: Option<usize>| {
            self.text += count;
            self.first_text = [self.first_text, first].into_iter().flatten().min();
        };
        let numbers = self.numbers + self.commas;
        if numbers > 0 && self.dates > 0 {
            as_text(self.dates, self.first_date);
        }
        if self.points > 0 && self.commas > 0 {
            as_text(self.commas, self.first_comma);
        } else {
            self.numbers = numbers;
        }
    }

    /// Of a column of numbers.
    fn reading(&self, values: &[f64]) -> Reading {
        let rises = || values.len() >= COUNTED && values.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
        match (self.commas, self.dates) {
            (1.., _) => Reading::Commas,
            (_, 1..) => Reading::Dates,
            _ if self.large > 0 => Reading::Rounded,
            _ if self.padded > 0 => Reading::Padded,
            _ if rises() => Reading::Counter,
            _ => Reading::Plain,
        }
    }
}

/// The columns, and how they were read.
type Columns = (Vec<RawColumn>, Vec<Reading>);

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
}

/// The cells of a column.
#[derive(Clone, Debug)]
enum Found {
    /// Numbers so far, with the cells that would be called otherwise if the column became text.
    Numbers { values: Vec<f64>, odd: Odd },
    /// The number of each cell's text.
    Text { codes: Vec<u32>, numbers: BTreeMap<String, u32> },
}

/// Cells as they are written, by their rows.
#[derive(Clone, Debug, Default)]
struct Odd {
    text: String,
    /// The row, and where in the text its cell ends.
    ends: Vec<(u32, usize)>,
}

impl Odd {
    fn push(&mut self, row: usize, cell: &str) {
        self.text.push_str(cell);
        self.ends.push((row as u32, self.text.len()));
    }
}

fn code(numbers: &mut BTreeMap<String, u32>, text: &str) -> u32 {
    if let Some(&code) = numbers.get(text) {
        return code;
    }
    let next = numbers.len() as u32;
    numbers.insert(text.to_string(), next);
    next
}

impl Found {
    const TEXT: Self = Self::Text { codes: Vec::new(), numbers: BTreeMap::new() };

    /// The same as text.
    fn into_text(self) -> Self {
        let Self::Numbers { values, odd } = self else { return self };
        let mut numbers = BTreeMap::new();
        let (mut start, mut odds) = (0, odd.ends.iter().peekable());
        let codes = values.iter().zip(0..).map(|(x, row)| match odds.next_if(|(at, _)| *at == row) {
            Some(&(_, end)) => code(&mut numbers, &odd.text[core::mem::replace(&mut start, end)..end]),
            None if x.is_nan() => MISSING,
            None => code(&mut numbers, &number_text(*x)),
        });
        Self::Text { codes: codes.collect(), numbers }
    }
}

impl Making {
    /// Those of `texts` are text whatever they hold, the others where a cell is no number.
    pub fn new(texts: &[bool]) -> Self {
        let cells = |&text: &bool| match text {
            true => Found::TEXT,
            false => Found::Numbers { values: Vec::new(), odd: Odd::default() },
        };
        let columns =
            texts.iter().map(|text| Column { seen: (!text).then(Seen::default), cells: cells(text) }).collect();
        Self { columns, rows: 0, non_finite: BTreeMap::new() }
    }

    /// Of columns that are in memory.
    pub fn of_columns<'a>(columns: impl Iterator<Item = Values<'a>>, reads: Reads<'_>) -> Self {
        let mut made = Self { columns: Vec::new(), rows: 0, non_finite: BTreeMap::new() };
        for (at, values) in columns.enumerate() {
            made.rows = values.len();
            made.columns.push(match values {
                Values::Numbers(values) => {
                    let infinite = (1..).zip(values).find(|(_, x)| x.is_infinite());
                    made.non_finite.extend(infinite.map(|(line, x)| (at, (line, format!("{x}")))));
                    let large = values.iter().filter(|x| x.abs() > EXACT && libm::trunc(**x) == **x).count();
                    let seen = Seen { large, ..Seen::default() };
                    Column { seen: Some(seen), cells: Found::Numbers { values: values.to_vec(), odd: Odd::default() } }
                }
                Values::Texts(texts) => {
                    let mut numbers = BTreeMap::new();
                    let texts = texts.iter().map(|text| text.map_or("", str::trim));
                    let codes = texts.map(|text| match reads.cell(text) {
                        Cell::Missing => MISSING,
                        _ => code(&mut numbers, text),
                    });
                    Column { seen: None, cells: Found::Text { codes: codes.collect(), numbers } }
                }
            });
        }
        made
    }

    /// Takes the rows from `start` on, with `before` lines before those of the cells.
    pub fn push(&mut self, cells: &Cells, start: usize, before: u32, reads: Reads<'_>) {
        for row in start..cells.lines.len() {
            for (at, column) in self.columns.iter_mut().enumerate() {
                let text = cells.get(row, at);
                if let Some(text) = column.push(self.rows, text, reads) {
                    let line = before.saturating_add(cells.lines[row]);
                    self.non_finite.entry(at).or_insert_with(|| (line, text.to_string()));
                }
            }
            self.rows += 1;
        }
    }

    /// What the columns are.
    pub fn finish(mut self, reads: Reads<'_>) -> Result<Columns, Placed> {
        self.columns.iter_mut().filter_map(|column| column.seen.as_mut()).for_each(Seen::settle);
        let number = |at: &usize| self.columns[*at].seen.is_some_and(|seen| seen.text == 0);
        let infinite = self.non_finite.iter().filter(|(at, _)| number(at)).map(|(at, (line, text))| (line, at, text));
        if let Some((&line, &at, text)) = infinite.min() {
            return Err((line, at as u32 + 1, DataErrorKind::NonFinite { text: text.clone() }));
        }
        let reading = |column: &Column| match (&column.cells, column.seen) {
            (_, None) => Reading::Plain,
            (Found::Numbers { values, .. }, Some(seen)) => seen.reading(values),
            (Found::Text { numbers, .. }, _) => {
                let signs =
                    |text: &&String| text.bytes().any(|b| b.is_ascii_digit()) && !text.contains(char::is_alphabetic);
                let count = numbers.keys().filter(signs).count();
                if 2 * count > numbers.len() && count > 1 { Reading::Signs } else { Reading::Plain }
            }
        };
        let readings = self.columns.iter().map(reading).collect();
        Ok((self.columns.into_iter().map(|column| column.finish(reads)).collect(), readings))
    }
}

impl Column {
    /// Takes a cell; gives it back where it is infinite.
    fn push<'a>(&mut self, row: usize, text: &'a str, reads: Reads<'_>) -> Option<&'a str> {
        let cell = reads.cell(text);
        let numbers = matches!(self.cells, Found::Numbers { .. });
        let is_text = self.seen.as_mut().is_none_or(|seen| seen.add(row, &cell, text, reads));
        if is_text && numbers {
            self.cells = core::mem::replace(&mut self.cells, Found::TEXT).into_text();
        }
        match &mut self.cells {
            Found::Text { codes, numbers } => {
                codes.push(if matches!(cell, Cell::Missing) { MISSING } else { code(numbers, text) });
                None
            }
            Found::Numbers { values, odd } => {
                if matches!(cell, Cell::Comma(_) | Cell::Date(_) | Cell::NonFinite) {
                    odd.push(row, text);
                }
                values.push(match cell {
                    Cell::Number(x) | Cell::Comma(x) | Cell::Date(x) => x,
                    Cell::Missing | Cell::NonFinite | Cell::Text => f64::NAN,
                });
                matches!(cell, Cell::NonFinite).then_some(text)
            }
        }
    }

    fn finish(self, reads: Reads<'_>) -> RawColumn {
        let Self { seen, cells } = self;
        let (mut codes, numbers) = match cells {
            Found::Numbers { values, .. } => return RawColumn::Numbers(values),
            Found::Text { codes, numbers } => (codes, numbers),
        };
        // Categories that are numbers are called by their value, so that 1 and 1.0 are one and the same.
        let mut merged: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (text, code) in numbers {
            let name = if let Cell::Number(x) = reads.cell(&text) { number_text(x) } else { text };
            merged.entry(name).or_default().push(code);
        }
        let mut sorted = alloc::vec![0; merged.values().map(Vec::len).sum()];
        let mut values = Vec::with_capacity(merged.len());
        for (rank, (name, members)) in merged.into_iter().enumerate() {
            for code in members {
                sorted[code as usize] = rank as u32;
            }
            values.push(name);
        }
        for code in codes.iter_mut().filter(|code| **code != MISSING) {
            *code = sorted[*code as usize];
        }
        let stray = seen.filter(|seen| seen.numbers > seen.text).and_then(|seen| seen.first_text);
        let stray = stray.map(|row| row as u32);
        RawColumn::Text { values, codes, stray }
    }
}
