//! CSV text to columns. The tokenising is csv-core's; what the cells mean is decided here.

use super::super::error::{DataErrorKind, Placed, whole};
use super::{Content, MISSING, RawColumn, ReadOptions, Reading, number_text};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use csv_core::{ReadRecordResult, ReaderBuilder};

/// The columns taken as the label when none is named, in this order, in any case.
pub const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];

/// The lines looked at to find the delimiter and the header.
pub(super) const LOOK: usize = 100;

/// A cell by itself.
enum Cell {
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
    fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Comma(_) | Self::Date(_) | Self::NonFinite)
    }
}

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
    fn cell(self, text: &str) -> Cell {
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

/// All cells in one text, row after row.
pub(super) struct Cells {
    text: String,
    /// Where each cell starts and ends in the text.
    spans: Vec<[u32; 2]>,
    /// Cells in a row.
    pub width: usize,
    /// The line each row starts on.
    pub lines: Vec<u32>,
}

impl Cells {
    /// One row.
    pub fn of_row<'a>(row: impl Iterator<Item = &'a str>) -> Self {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for cell in row {
            let start = text.len();
            text.push_str(cell.trim_ascii());
            spans.push([start as u32, text.len() as u32]);
        }
        Self { text, width: spans.len(), spans, lines: vec![1] }
    }

    pub fn get(&self, row: usize, column: usize) -> &str {
        match self.spans.get(row * self.width + column) {
            Some(&[start, end]) => self.text.get(start as usize..end as usize).unwrap_or(""),
            None => "",
        }
    }
}

pub(super) fn parse(text: &str, options: &ReadOptions) -> Result<(Content, Vec<u32>), Placed> {
    let delimiter = delimiter(text.as_bytes());
    let mut cells = tokenise(text, delimiter, 0)?;
    let reads = Reads { na: &options.na, commas: delimiter != b',' };
    let (header, clear) = header(&cells, options, reads);
    let names = names(&cells, header)?;
    let start = usize::from(header);
    if cells.lines.len() == start {
        return Err((cells.lines[0], 0, DataErrorKind::HeaderOnly));
    }
    let (columns, readings) = columns(&cells, start, &vec![false; cells.width], reads)?;
    let header = header.then(|| cells.lines[0]);
    cells.lines.drain(..start);
    Ok((Content::Csv { names, header, clear, columns, readings }, cells.lines))
}

/// Does a line end with the byte at `at`? (`\n`, `\r`, or `\r\n` counted once.)
pub(super) fn ends_line(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
}

/// The cells of a text with this delimiter, so many in a row (0: as many as in the first).
pub(super) fn tokenise(text: &str, delimiter: u8, width: usize) -> Result<Cells, Placed> {
    let bytes = text.as_bytes();
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut out = vec![0; bytes.len() + 1];
    let mut ends = vec![0; 64];
    let (mut spans, mut lines) = (Vec::new(), Vec::new());
    let (mut width, mut used, mut at, mut line) = (width, 0, 0, 1);
    loop {
        while at < bytes.len() && matches!(bytes[at], b'\n' | b'\r') {
            line += u32::from(ends_line(bytes, at));
            at += 1;
        }
        if at == bytes.len() {
            break;
        }
        let (first, mut filled, mut found) = (at, 0, 0);
        let mut closing: &[u8] = b"\n";
        loop {
            let (input, closed) = if at < bytes.len() { (&bytes[at..], false) } else { (closing, true) };
            let (result, read, written, cells) =
                reader.read_record(input, &mut out[used + filled..], &mut ends[found..]);
            filled += written;
            found += cells;
            if closed {
                closing = &closing[read..];
            } else {
                at += read;
            }
            match result {
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputEndsFull => ends.resize(ends.len() * 2, 0),
                // A line break after the last byte ends every record but one with an open quote.
                ReadRecordResult::InputEmpty if closed => {
                    return Err((line, found as u32 + 1, DataErrorKind::OpenQuote));
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => return Err((line, 0, super::TOO_LARGE)),
            }
        }
        let blank = found == 1 && out[used..used + filled].iter().all(u8::is_ascii_whitespace);
        if !blank {
            if width == 0 {
                width = found;
            } else if found != width {
                let column = found.min(width) as u32 + 1;
                return Err((line, column, DataErrorKind::Ragged { need: width, got: found }));
            }
            let mut from = used;
            for &end in &ends[..found] {
                let end = used + end;
                let raw = &out[from..end];
                let left = raw.len() - raw.trim_ascii_start().len();
                let kept = raw.trim_ascii().len();
                spans.push([(from + left) as u32, (from + left + kept) as u32]);
                from = end;
            }
            lines.push(line);
            used += filled;
        }
        line += (first..at).filter(|&i| ends_line(bytes, i)).count() as u32;
    }
    if lines.is_empty() {
        return Err(whole(DataErrorKind::Empty));
    }
    out.truncate(used);
    let text = String::from_utf8(out).map_err(|_| whole(DataErrorKind::Encoding))?;
    Ok(Cells { text, spans, width, lines })
}

/// Tab or semicolon when every line looked at has the same number of them, else comma; when none fits, the commonest
/// of the first line.
pub(super) fn delimiter(bytes: &[u8]) -> u8 {
    const CANDIDATES: [u8; 3] = *b"\t;,";
    let mut counts: Vec<[usize; 3]> = Vec::new();
    let (mut count, mut quoted, mut any) = ([0; 3], false, false);
    for &b in bytes {
        match b {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => {
                if any {
                    counts.push(count);
                }
                if counts.len() == LOOK {
                    break;
                }
                (count, any) = ([0; 3], false);
                continue;
            }
            _ if quoted => {}
            _ => {
                if let Some(which) = CANDIDATES.iter().position(|&c| c == b) {
                    count[which] += 1;
                }
            }
        }
        any = true;
    }
    if any && counts.len() < LOOK {
        counts.push(count);
    }
    let Some(&first) = counts.first() else { return b',' };
    for which in 0..3 {
        if first[which] > 0 && counts.iter().all(|count| count[which] == first[which]) {
            return CANDIDATES[which];
        }
    }
    let mut best = 2;
    for which in [1, 0] {
        if first[which] > first[best] {
            best = which;
        }
    }
    CANDIDATES[best]
}

/// Whether the first row names the columns, and whether that is clear: the rules of [`ReadOptions::header`].
fn header(cells: &Cells, options: &ReadOptions, reads: Reads<'_>) -> (bool, bool) {
    if let Some(header) = options.header {
        return (header, true);
    }
    let row: Vec<&str> = (0..cells.width).map(|column| cells.get(0, column)).collect();
    if let Some(label) = &options.label
        && label.parse::<f64>().is_err()
        && row.contains(&label.as_str())
    {
        return (true, true);
    }
    let numbers = row.iter().any(|text| reads.cell(text).is_number());
    let words = row.iter().any(|text| matches!(reads.cell(text), Cell::Text));
    let rows = cells.lines.len().min(LOOK);
    // Text above a column that is mostly numbers.
    let names_numbers = |column: usize| {
        let (mut number, mut text) = (0, 0);
        for row in 1..rows {
            match reads.cell(cells.get(row, column)) {
                Cell::Missing => {}
                Cell::Text => text += 1,
                _ => number += 1,
            }
        }
        number > text && matches!(reads.cell(row[column]), Cell::Text)
    };
    if words && !numbers && (rows == 1 || (0..cells.width).any(names_numbers)) {
        return (true, true);
    }
    let is_usual = |column: usize| LABEL_NAMES.iter().any(|name| row[column].eq_ignore_ascii_case(name));
    let Some(column) = (0..cells.width).find(|&column| is_usual(column)) else {
        return (false, numbers || !words);
    };
    // A usual name of the label may as well be a label, as y is beside n.
    let distinct = row.iter().collect::<BTreeSet<_>>().len() == row.len();
    let recurs = (1..rows).any(|below| cells.get(below, column) == row[column]);
    let above_numbers = names_numbers(column);
    (distinct && !recurs && (!numbers || above_numbers), distinct && above_numbers)
}

pub(super) fn names(cells: &Cells, header: bool) -> Result<Vec<String>, Placed> {
    let mut seen = BTreeSet::new();
    (0..cells.width)
        .map(|column| {
            let written = if header { cells.get(0, column) } else { "" };
            let name = if written.is_empty() { format!("x{}", column + 1) } else { written.to_string() };
            if seen.insert(name.clone()) {
                Ok(name)
            } else {
                Err((cells.lines[0], column as u32 + 1, DataErrorKind::DuplicateColumn { name }))
            }
        })
        .collect()
}

/// What a pass over a column found.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Numbers, and those of them with points.
    numbers: usize,
    points: usize,
    /// Numbers with commas, and dates.
    commas: usize,
    dates: usize,
    text: usize,
    first_text: Option<usize>,
    first_comma: Option<usize>,
    first_date: Option<usize>,
    first_non_finite: Option<usize>,
}

impl Seen {
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

    fn reading(&self) -> Reading {
        match (self.text, self.commas, self.dates) {
            (0, 1.., _) => Reading::Commas,
            (0, _, 1..) => Reading::Dates,
            _ => Reading::Plain,
        }
    }
}

/// The columns, and how they were read.
type Columns = (Vec<RawColumn>, Vec<Reading>);

/// The columns; those of `texts` are text whatever they hold, the others where a cell is no number.
pub(super) fn columns(cells: &Cells, start: usize, texts: &[bool], reads: Reads<'_>) -> Result<Columns, Placed> {
    let rows = cells.lines.len() - start;
    let mut seen = vec![Seen::default(); cells.width];
    let mut values = vec![Vec::new(); cells.width];
    for row in 0..rows {
        for column in (0..cells.width).filter(|&column| !texts[column]) {
            let seen = &mut seen[column];
            let text = cells.get(start + row, column);
            let x = match reads.cell(text) {
                Cell::Number(x) => {
                    seen.numbers += 1;
                    seen.points += usize::from(reads.commas && text.contains('.'));
                    x
                }
                Cell::Comma(x) => {
                    seen.commas += 1;
                    seen.first_comma.get_or_insert(row);
                    x
                }
                Cell::Date(days) => {
                    seen.dates += 1;
                    seen.first_date.get_or_insert(row);
                    days
                }
                Cell::Missing => f64::NAN,
                Cell::NonFinite => {
                    seen.first_non_finite.get_or_insert(row);
                    f64::NAN
                }
                Cell::Text => {
                    seen.text += 1;
                    seen.first_text.get_or_insert(row);
                    f64::NAN
                }
            };
            if seen.text == 0 {
                values[column].push(x);
            } else if seen.text == 1 {
                values[column] = Vec::new(); // becomes text below
            }
        }
    }
    seen.iter_mut().for_each(Seen::settle);
    // The first such cell in reading order.
    let non_finite = seen.iter().enumerate().filter(|(_, seen)| seen.text == 0);
    let non_finite = non_finite.filter_map(|(column, seen)| Some((seen.first_non_finite?, column))).min();
    if let Some((row, column)) = non_finite {
        let text = cells.get(start + row, column).to_string();
        return Err((cells.lines[start + row], column as u32 + 1, DataErrorKind::NonFinite { text }));
    }
    let readings = seen.iter().map(Seen::reading).collect();
    let columns = seen.iter().zip(values).enumerate().map(|(column, (seen, values))| match seen.first_text {
        None if texts[column] => text_column(cells, start, column, None, reads),
        None => RawColumn::Numbers(values),
        Some(row) => text_column(cells, start, column, (seen.numbers > seen.text).then_some(row as u32), reads),
    });
    Ok((columns.collect(), readings))
}

fn text_column(cells: &Cells, start: usize, column: usize, stray: Option<u32>, reads: Reads<'_>) -> RawColumn {
    let rows = cells.lines.len() - start;
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut codes: Vec<u32> = (0..rows)
        .map(|row| {
            let text = cells.get(start + row, column);
            if matches!(reads.cell(text), Cell::Missing) {
                return MISSING;
            }
            let next = numbers.len() as u32;
            *numbers.entry(text).or_insert(next)
        })
        .collect();
    // Categories that are numbers are called by their value, so that 1 and 1.0 are one and the same.
    let mut merged: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (text, code) in numbers {
        let name = if let Cell::Number(x) = reads.cell(text) { number_text(x) } else { text.to_string() };
        merged.entry(name).or_default().push(code);
    }
    let mut sorted = vec![0; merged.values().map(Vec::len).sum()];
    let mut values = Vec::with_capacity(merged.len());
    for (rank, (name, members)) in merged.into_iter().enumerate() {
        for code in members {
            sorted[code as usize] = rank as u32;
        }
        values.push(name);
    }
    for code in &mut codes {
        if *code != MISSING {
            *code = sorted[*code as usize];
        }
    }
    RawColumn::Text { values, codes, stray }
}
