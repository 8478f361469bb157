//! CSV text to cells, eight bytes at a time, or by csv-core where a cell has quotes inside of quotes, and whether the first line is a
//! header. Types of cells are in [`cells`](super::cells).

use super::super::error::{DataErrorKind, Placed, whole};
use super::reads::{Absent, Cell, Reads};
use super::{Format, Notation, ReadOptions};
use crate::features::COMPACT;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use csv_core::{ReadRecordResult, ReaderBuilder};
use memchr::{memchr, memchr_iter};

/// The columns taken as the label when none is named, in this order, in any case.
pub const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];

/// The lines looked at to find the delimiter and the header.
pub(super) const LOOK: usize = 100;

/// All cells in one text, row after row.
pub(super) struct Cells<'t> {
    text: Cow<'t, str>,
    /// Where each cell starts and ends in the text.
    spans: Vec<[u32; 2]>,
    /// Cells in a row.
    pub width: usize,
    /// The line each row starts on.
    pub lines: Vec<u32>,
}

impl Cells<'_> {
    /// One row.
    pub fn of_row<'a>(row: impl Iterator<Item = &'a str>) -> Self {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for cell in row {
            let start = text.len();
            text.push_str(cell.trim_ascii());
            spans.push([start as u32, text.len() as u32]);
        }
        Self { text: Cow::Owned(text), width: spans.len(), spans, lines: vec![1] }
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &str> {
        let spans = self.spans.get(row * self.width..(row + 1) * self.width).unwrap_or(&[]);
        spans.iter().map(|&span| self.at(span))
    }

    pub fn get(&self, row: usize, column: usize) -> &str {
        self.spans.get(row * self.width + column).map_or("", |&span| self.at(span))
    }

    /// Where the cells of a column start and end in [`bytes`](Self::bytes), from a row on.
    pub fn column(&self, row: usize, column: usize) -> impl Iterator<Item = [u32; 2]> {
        let spans = self.spans.get(row * self.width + column..).unwrap_or(&[]);
        spans.iter().step_by(self.width.max(1)).copied()
    }

    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    pub fn at(&self, [start, end]: [u32; 2]) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }
}

/// Does a line end with the byte at `at`? (`\n`, `\r`, or `\r\n` counted once.)
pub(super) fn ends_line(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
}

/// How many lines end in these of the bytes.
pub(super) fn line_ends(bytes: &[u8], range: Range<usize>) -> usize {
    let (first, some) = (range.start, &bytes[range]);
    let returns = memchr_iter(b'\r', some).filter(|&at| ends_line(bytes, first + at)).count();
    memchr_iter(b'\n', some).count() + returns
}

/// Rows in the making, all as wide as the first of them, or as is asked for.
#[derive(Default)]
struct Rows {
    spans: Vec<[u32; 2]>,
    lines: Vec<u32>,
    /// 0 as long as it is not known.
    width: usize,
    /// Spans of whole rows.
    whole: usize,
}

impl Rows {
    /// A cell from `start` to `end` in the text, without the blanks around it.
    #[inline(always)]
    fn cell(&mut self, text: &[u8], start: usize, end: usize) {
        let bare = |at: usize| text.get(at).is_some_and(|&b| b > b' ');
        if start == end || (bare(start) && bare(end - 1)) {
            self.spans.push([start as u32, end as u32]);
        } else {
            self.cell_within_blanks(text, start, end);
        }
    }

    #[cold]
    fn cell_within_blanks(&mut self, text: &[u8], start: usize, end: usize) {
        let kept = text[start..end].trim_ascii_start();
        let start = end - kept.len();
        self.spans.push([start as u32, (start + kept.trim_ascii_end().len()) as u32]);
    }

    /// Cells of the row that is not whole yet.
    fn found(&self) -> usize {
        self.spans.len() - self.whole
    }

    /// The row that began on this line is whole, unless it has no cell, or an empty one alone: false.
    fn end_line(&mut self, line: u32) -> Result<bool, Placed> {
        if self.found() == 1 && self.spans[self.whole][0] == self.spans[self.whole][1] {
            self.spans.truncate(self.whole);
        }
        self.end(line)
    }

    /// The same where an empty cell alone is a row.
    fn end(&mut self, line: u32) -> Result<bool, Placed> {
        let found = self.found();
        if found == 0 {
            return Ok(false);
        }
        if self.width == 0 {
            self.width = found;
        } else if found != self.width {
            let column = found.min(self.width) as u32 + 1;
            return Err((line, column, DataErrorKind::Ragged { need: self.width, got: found }));
        }
        self.lines.push(line);
        self.whole = self.spans.len();
        Ok(true)
    }

    fn finish(self, text: Cow<'_, str>) -> Result<Cells<'_>, Placed> {
        let Self { spans, lines, width, .. } = self;
        if lines.is_empty() { Err(whole(DataErrorKind::Empty)) } else { Ok(Cells { text, spans, width, lines }) }
    }
}

/// The cells of a text with this delimiter, so many in a row (0: as many as in the first).
pub(super) fn tokenise(text: &str, delimiter: u8, width: usize) -> Result<Cells<'_>, Placed> {
    if delimiter == b' ' {
        return words(text, width);
    }
    match if COMPACT { None } else { simple(text, delimiter, width) } {
        Some(cells) => cells,
        None => quoted(text, delimiter, width),
    }
}

/// Where a delimiter or a control character is: a tab, a form feed or the end of a line.
struct Ends<'t> {
    bytes: &'t [u8],
    /// Eight times the delimiter.
    delimiter: u64,
    /// Where the word is that is looked at, and the high bits of those of its bytes that are one and were not given yet.
    word: usize,
    marks: u64,
}

impl<'t> Ends<'t> {
    fn new(bytes: &'t [u8], delimiter: u8) -> Self {
        let mut ends = Self { bytes, delimiter: u64::from_le_bytes([delimiter; 8]), word: 0, marks: 0 };
        ends.look(0);
        ends
    }

    /// Looks at the eight bytes from there on.
    #[inline(always)]
    fn look(&mut self, from: usize) {
        const ONES: u64 = u64::MAX / 255;
        const LOW: u64 = ONES * 127;
        let rest = self.bytes.get(from..).unwrap_or(&[]);
        let word = match rest.first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => rest.iter().rev().fold(u64::MAX, |word, &b| word << 8 | u64::from(b)),
        };
        // High bits of bytes that are not the delimiter, and of those from 14 on: no byte carries into the next.
        let other = word ^ self.delimiter;
        let other = ((other & LOW) + LOW) | other;
        let text = ((word & LOW) + ONES * (128 - 14)) | word;
        (self.word, self.marks) = (from, !((other & text) | LOW));
    }

    /// The next one; the end of the text after the last.
    #[inline(always)]
    fn find(&mut self) -> usize {
        while self.marks == 0 {
            if self.bytes.len() - self.word <= 8 {
                return self.bytes.len();
            }
            self.look(self.word + 8);
        }
        let at = self.word + self.marks.trailing_zeros() as usize / 8;
        self.marks &= self.marks - 1;
        at
    }
}

/// The same where the cells lie in the text as they are: no quote inside of quotes. `None` for other texts.
fn simple(text: &str, delimiter: u8, width: usize) -> Option<Result<Cells<'_>, Placed>> {
    let bytes = text.as_bytes();
    let mut rows = Rows { width, spans: Vec::with_capacity(bytes.len() / 8), ..Rows::default() };
    let (mut from, mut line, mut begun) = (0, 1, 1);
    let mut next = Ends::new(bytes, delimiter);
    while from <= bytes.len() {
        let (start, end, at) = if bytes.get(from) == Some(&b'"') {
            let end = from + 1 + memchr(b'"', &bytes[from + 1..])?;
            next.look((end + 2).min(bytes.len()));
            line += line_ends(bytes, from..end) as u32;
            (from + 1, end, end + 1)
        } else {
            let mut end = next.find();
            while bytes.get(end).is_some_and(|&b| b != delimiter && !matches!(b, b'\n' | b'\r')) {
                end = next.find();
            }
            (from, end, end)
        };
        let ends = bytes.get(at).copied();
        if start > from && ends.is_some_and(|b| b != delimiter && !matches!(b, b'\n' | b'\r')) {
            return None;
        }
        rows.cell(bytes, start, end);
        from = at + 1;
        if ends != Some(delimiter) {
            if let Err(placed) = rows.end_line(begun) {
                return Some(Err(placed));
            }
            line += u32::from(ends.is_some() && ends_line(bytes, at));
            begun = line;
        }
    }
    Some(rows.finish(Cow::Borrowed(text)))
}

/// The same of any text.
fn quoted(text: &str, delimiter: u8, width: usize) -> Result<Cells<'_>, Placed> {
    let bytes = text.as_bytes();
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut out = vec![0; bytes.len() + 1];
    let mut ends = vec![0; 64];
    let mut rows = Rows { width, ..Rows::default() };
    let (mut used, mut at, mut line) = (0, 0, 1);
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
        let mut from = used;
        for &end in &ends[..found] {
            rows.cell(&out, from, used + end);
            from = used + end;
        }
        if rows.end_line(line)? {
            used += filled;
        }
        line += line_ends(bytes, first..at) as u32;
    }
    out.truncate(used);
    let text = String::from_utf8(out).map_err(|_| whole(DataErrorKind::Encoding))?;
    rows.finish(Cow::Owned(text))
}

/// The cells of a text with blanks or tabs between them, any number; in quotes they may have some themselves.
fn words(text: &str, width: usize) -> Result<Cells<'_>, Placed> {
    let (mut out, mut rows) = (String::with_capacity(text.len()), Rows { width, ..Rows::default() });
    for (line, number) in text.lines().flat_map(|line| line.split('\r')).zip(1..) {
        let mut rest = line.trim_ascii_start();
        while !rest.is_empty() {
            let start = out.len();
            if let Some(mut quoted) = rest.strip_prefix('"') {
                loop {
                    let open = (number, rows.found() as u32 + 1, DataErrorKind::OpenQuote);
                    let (inside, after) = quoted.split_once('"').ok_or(open)?;
                    out.push_str(inside);
                    match after.strip_prefix('"') {
                        Some(more) => quoted = more,
                        None => break rest = after,
                    }
                    out.push('"');
                }
            } else {
                let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            rows.spans.push([start as u32, out.len() as u32]);
            rest = rest.trim_ascii_start();
        }
        rows.end(number)?;
    }
    rows.finish(Cow::Owned(out))
}

/// What parts the cells: tab, semicolon or bar when every line looked at has the same number of them, else comma; when none fits, the
/// commonest of the first line. A blank stands for [`Format::Whitespace`], which it is by itself when the first line has none
/// of the four, and every line as many words, more than one.
pub(super) fn delimiter(bytes: &[u8], options: &ReadOptions) -> u8 {
    const CANDIDATES: [u8; 4] = *b"\t;|,";
    if options.format == Format::Whitespace {
        return b' ';
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Some(said) = separator(bytes) {
        return said;
    }
    let looked: Vec<[usize; 5]> = Lines { bytes }
        .take(LOOK)
        .map(|line| {
            let mut count = [0; 5];
            let (mut quoted, mut before) = (false, b' ');
            for &b in line {
                if let Some(which) = CANDIDATES.iter().position(|&c| c == b && !quoted) {
                    count[which] += 1;
                }
                count[4] += usize::from(!quoted && before.is_ascii_whitespace() && !b.is_ascii_whitespace());
                quoted ^= b == b'"';
                before = b;
            }
            count
        })
        .collect();
    let Some(&first) = looked.first() else { return b',' };
    // (Rows may have a name that the first line has none for.)
    let fits = |which: usize, more: usize| looked[1..].iter().all(|count| count[which] == first[which] + more);
    let which = [0, 1].iter().find_map(|&more| (0..4).find(|&which| first[which] > 0 && fits(which, more)));
    if let Some(which) = which {
        return CANDIDATES[which];
    }
    let words = first[4] > 1 && first[..4] == [0; 4] && (fits(4, 0) || fits(4, 1));
    if words && options.format == Format::Auto {
        return b' ';
    }
    let mut best = 3;
    for which in [2, 1, 0] {
        if first[which] > first[best] {
            best = which;
        }
    }
    CANDIDATES[best]
}

/// The delimiter that a first line `sep=;` names, as spreadsheets write it.
pub(super) fn separator(bytes: &[u8]) -> Option<u8> {
    match bytes.strip_prefix(b"sep=")? {
        &[delimiter @ (b'\t' | b';' | b'|' | b','), b'\n' | b'\r', ..] => Some(delimiter),
        _ => None,
    }
}

/// Whether there are as many whole lines as are looked at.
pub(super) fn has_lines(bytes: &[u8]) -> bool {
    let whole = &bytes[..bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1)];
    Lines { bytes: whole }.filter(|line| !line.trim_ascii().is_empty()).nth(LOOK - 1).is_some()
}

/// Lines with something in them; quotes, wherever they are, hide the ends of lines.
struct Lines<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let mut quoted = false;
            let end = self.bytes.iter().position(|&b| {
                quoted ^= b == b'"';
                !quoted && matches!(b, b'\n' | b'\r')
            });
            if self.bytes.is_empty() {
                return None;
            }
            let (line, rest) = self.bytes.split_at(end.unwrap_or(self.bytes.len()));
            self.bytes = rest.get(1..).unwrap_or(&[]);
            if !line.is_empty() {
                return Some(line);
            }
        }
    }
}

/// Whether the first row names the columns, and whether that is clear: the rules of [`ReadOptions::header`].
pub(super) fn header(cells: &Cells<'_>, options: &ReadOptions, name: &str, reads: Reads) -> (bool, bool) {
    let is_arff = || name.trim_end_matches(".gz").to_ascii_lowercase().ends_with(".arff");
    if let Some(header) = options.header.or_else(|| is_arff().then_some(true)) {
        return (header, true);
    }
    let absent = Absent::all(&options.na);
    let cell = |text: &str| reads.cell(text, &absent, Notation::default());
    let row: Vec<&str> = (0..cells.width).map(|column| cells.get(0, column)).collect();
    if let Some(label) = &options.label
        && label.parse::<f64>().is_err()
        && row.contains(&label.as_str())
    {
        return (true, true);
    }
    let numbers = row.iter().any(|text| cell(text).is_number());
    let words = row.iter().any(|text| matches!(cell(text), Cell::Text));
    let rows = cells.lines.len().min(LOOK);
    // Text above a column that is mostly numbers.
    let names_numbers = |column: usize| {
        let (mut number, mut text) = (0, 0);
        for row in 1..rows {
            match cell(cells.get(row, column)) {
                Cell::Missing | Cell::Word => {}
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

/// Names of columns, and those of them that had one which an earlier column has: these get a number behind it.
pub(super) fn names(cells: &Cells<'_>, header: bool) -> (Vec<String>, Vec<usize>) {
    let (mut seen, mut twice) = (BTreeSet::new(), Vec::new());
    let written = |column: usize| match if header { cells.get(0, column) } else { "" } {
        "" => format!("x{}", column + 1),
        name => name.to_string(),
    };
    let all: BTreeSet<String> = (0..cells.width).map(written).collect();
    let names = (0..cells.width).map(|column| {
        let mut name = written(column);
        if seen.contains(&name) {
            let numbered = |k: usize| format!("{name}.{k}");
            let free = |other: &String| !seen.contains(other) && !all.contains(other);
            name = (2..).map(numbered).find(free).unwrap_or_default();
            twice.push(column);
        }
        seen.insert(name.clone());
        name
    });
    (names.collect(), twice)
}

/// What R calls the names of rows.
const ROW_NAMES: &str = "rownames";

/// The cells of a text that begins here: where every row has one cell more than the names in the first line, as R writes tables, the first
/// column has a name, too.
pub(super) fn first<'t>(text: &'t str, delimiter: u8, options: &ReadOptions) -> Result<Cells<'t>, Placed> {
    let count = |line: &str| tokenise(line, delimiter, 0).map_or(0, |cells| cells.width);
    let mut lines = Lines { bytes: text.as_bytes() }.filter_map(|line| core::str::from_utf8(line).ok()).take(LOOK);
    let Some(line) = lines.next().filter(|_| !COMPACT && options.header != Some(false)) else {
        return tokenise(text, delimiter, 0);
    };
    let names = count(line);
    let named =
        || tokenise(line, delimiter, 0).is_ok_and(|cells| cells.row(0).all(|name| name.parse::<f64>().is_err()));
    let counts: Vec<usize> = lines.map(count).collect();
    // (One row may be too long.)
    if counts.len() < 2 || counts.iter().any(|&count| count != names + 1) || !named() {
        return tokenise(text, delimiter, 0);
    }
    let blank = &text[..text.len() - text.trim_start().len()];
    let text = format!("{blank}{ROW_NAMES}{}{}", char::from(delimiter), &text[blank.len()..]);
    let cells = tokenise(&text, delimiter, 0)?;
    Ok(Cells { spans: cells.spans, lines: cells.lines, width: cells.width, text: Cow::Owned(cells.text.into_owned()) })
}

#[cfg(all(test, not(feature = "compact")))]
mod tests {
    use super::{Cells, Placed, quoted, simple};
    use crate::rng::Rng;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn told(cells: Result<Cells<'_>, Placed>) -> Result<(Vec<String>, usize, Vec<u32>), Placed> {
        cells.map(|cells| {
            let rows = 0..cells.lines.len();
            (rows.flat_map(|row| cells.row(row)).map(str::to_string).collect(), cells.width, cells.lines.clone())
        })
    }

    /// What memchr makes of a text is what csv-core makes of it.
    #[test]
    fn cells_are_those_of_csv_core() {
        let mut random = Rng::new(1);
        let mut taken = 0;
        for round in 0..3_000 {
            let alphabet: &[u8] = if round % 2 == 0 { b"a1,,\n\r \t;" } else { b"a,,\n\n\r\" \"" };
            let count = 1 + (random.uniform() * 30.0) as usize;
            let text: String = (0..count).map(|_| char::from(alphabet[(random.uniform() * 9.0) as usize])).collect();
            for width in [0, 2] {
                let Some(found) = simple(&text, b',', width) else { continue };
                taken += 1;
                assert_eq!(told(found), told(quoted(&text, b',', width)), "{text:?} {width}");
            }
        }
        assert!(taken > 3_400, "{taken}");
    }
}
