//! CSV text to columns. The tokenising is csv-core's; what the cells mean is decided here.

use super::super::error::{DataErrorKind, Placed, whole};
use super::{Content, MISSING, RawColumn, ReadOptions, number_text};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use csv_core::{ReadRecordResult, ReaderBuilder};

/// The columns taken as the label when none is named, in this order, in any case.
pub const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];

/// The lines looked at to find the delimiter and the header.
const LOOK: usize = 100;

/// A cell by itself.
enum Cell {
    Missing,
    Number(f64),
    NonFinite,
    Text,
}

fn cell(text: &str) -> Cell {
    if text.is_empty() || text == "?" || ["na", "n/a", "null"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Cell::Missing;
    }
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Cell::Number(x),
        Ok(_) => Cell::NonFinite,
        Err(_) => Cell::Text,
    }
}

/// All cells in one text, row after row.
struct Cells {
    text: String,
    /// Where each cell starts and ends in the text.
    spans: Vec<[u32; 2]>,
    /// Cells in a row.
    width: usize,
    /// The line each row starts on.
    lines: Vec<u32>,
}

impl Cells {
    fn get(&self, row: usize, column: usize) -> &str {
        match self.spans.get(row * self.width + column) {
            Some(&[start, end]) => self.text.get(start as usize..end as usize).unwrap_or(""),
            None => "",
        }
    }
}

pub(super) fn parse(text: &str, options: &ReadOptions) -> Result<(Content, Vec<u32>), Placed> {
    let mut cells = tokenise(text)?;
    let (header, clear) = header(&cells, options);
    let names = names(&cells, header)?;
    let start = usize::from(header);
    if cells.lines.len() == start {
        return Err((cells.lines[0], 0, DataErrorKind::HeaderOnly));
    }
    let columns = columns(&cells, start)?;
    let header = header.then(|| cells.lines[0]);
    cells.lines.drain(..start);
    Ok((Content::Csv { names, header, clear, columns }, cells.lines))
}

/// Does a line end with the byte at `at`? (`\n`, `\r`, or `\r\n` counted once.)
fn ends_line(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
}

fn tokenise(text: &str) -> Result<Cells, Placed> {
    let bytes = text.as_bytes();
    let mut reader = ReaderBuilder::new().delimiter(delimiter(bytes)).build();
    let mut out = vec![0; bytes.len() + 1];
    let mut ends = vec![0; 64];
    let (mut spans, mut lines) = (Vec::new(), Vec::new());
    let (mut width, mut used, mut at, mut line) = (0, 0, 0, 1);
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
fn delimiter(bytes: &[u8]) -> u8 {
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
fn header(cells: &Cells, options: &ReadOptions) -> (bool, bool) {
    if let Some(header) = options.header {
        return (header, true);
    }
    let row: Vec<&str> = (0..cells.width).map(|column| cells.get(0, column)).collect();
    if let Some(label) = &options.label
        && !matches!(cell(label), Cell::Number(_))
        && row.contains(&label.as_str())
    {
        return (true, true);
    }
    let numbers = row.iter().any(|text| matches!(cell(text), Cell::Number(_) | Cell::NonFinite));
    let words = row.iter().any(|text| matches!(cell(text), Cell::Text));
    let rows = cells.lines.len().min(LOOK);
    // Text above a column that is mostly numbers.
    let names_numbers = |column: usize| {
        let (mut number, mut text) = (0, 0);
        for row in 1..rows {
            match cell(cells.get(row, column)) {
                Cell::Missing => {}
                Cell::Text => text += 1,
                _ => number += 1,
            }
        }
        number > text && matches!(cell(row[column]), Cell::Text)
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

fn names(cells: &Cells, header: bool) -> Result<Vec<String>, Placed> {
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
    numbers: usize,
    text: usize,
    first_text: Option<usize>,
    first_non_finite: Option<usize>,
}

fn columns(cells: &Cells, start: usize) -> Result<Vec<RawColumn>, Placed> {
    let rows = cells.lines.len() - start;
    let mut seen = vec![Seen::default(); cells.width];
    let mut values = vec![Vec::new(); cells.width];
    for row in 0..rows {
        for column in 0..cells.width {
            let seen = &mut seen[column];
            let x = match cell(cells.get(start + row, column)) {
                Cell::Number(x) => {
                    seen.numbers += 1;
                    x
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
    // The first such cell in reading order.
    let non_finite = seen.iter().enumerate().filter(|(_, seen)| seen.text == 0);
    let non_finite = non_finite.filter_map(|(column, seen)| Some((seen.first_non_finite?, column))).min();
    if let Some((row, column)) = non_finite {
        let text = cells.get(start + row, column).to_string();
        return Err((cells.lines[start + row], column as u32 + 1, DataErrorKind::NonFinite { text }));
    }
    Ok(seen
        .iter()
        .zip(values)
        .enumerate()
        .map(|(column, (seen, values))| match seen.first_text {
            None => RawColumn::Numbers(values),
            Some(row) => text_column(cells, start, column, (seen.numbers > seen.text).then_some(row as u32)),
        })
        .collect())
}

fn text_column(cells: &Cells, start: usize, column: usize, stray: Option<u32>) -> RawColumn {
    let rows = cells.lines.len() - start;
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut codes: Vec<u32> = (0..rows)
        .map(|row| {
            let text = cells.get(start + row, column);
            if matches!(cell(text), Cell::Missing) {
                return MISSING;
            }
            let next = numbers.len() as u32;
            *numbers.entry(text).or_insert(next)
        })
        .collect();
    // Categories that are numbers are called by their value, so that 1 and 1.0 are one and the same.
    let mut merged: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (text, code) in numbers {
        let name = if let Cell::Number(x) = cell(text) { number_text(x) } else { text.to_string() };
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
