//! A whole table from a text that arrives in pieces. The memory is the columns and a piece.
//!
//! Where there are threads, pieces of a CSV text wait until there are some for each; their columns are made at once and put behind one
//! another. What a column is may show in a later piece, so a piece's cells of a column that became text in between are read again.

use super::cells::{Making, add_limits};
use super::pieces::{Piece, Pieces};
use super::reads::Reads;
use super::{Content, Format, Notation, ReadOptions, TOO_LARGE, csv, decode, detect, libsvm};
use crate::data::error::{DataError, DataErrorKind, Placed, whole};
use crate::parts;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use memchr::memchr_iter;

/// A table in the making: give it bytes by [`push`](Self::push), and the end by [`finish`](Self::finish).
pub(super) struct Whole<'a> {
    options: &'a ReadOptions,
    name: &'a str,
    pieces: Pieces,
    /// Once the first rows are there.
    form: Option<Form>,
    /// Pieces that wait, and how many are read together.
    waiting: Vec<Piece>,
    together: usize,
}

/// Columns of a piece, and the lines of its rows.
type Made = Result<(Making, Vec<u32>), Placed>;

/// Whether pieces may be read together.
const TOGETHER: bool = cfg!(any(feature = "rayon", test));
/// Pieces for each thread: one may take longer than another.
const EACH: usize = 4;

enum Form {
    Csv { delimiter: u8, names: Vec<String>, header: Option<u32>, clear: bool, columns: Making, lines: Vec<u32> },
    Libsvm(libsvm::Making),
}

impl<'a> Whole<'a> {
    pub fn new(options: &'a ReadOptions, name: &'a str) -> Self {
        let together = match parts::threads() {
            1 => 1,
            threads => threads.saturating_mul(EACH).min(parts::PARTS),
        };
        Self { options, name, pieces: Pieces::of(options), form: None, waiting: Vec::new(), together }
    }

    fn error(&self, placed: Placed, before: u32) -> DataError {
        DataError::placed(self.name, placed, before)
    }

    /// Takes the next bytes, of unpacked text.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let begun = match self.pieces.push(bytes) {
            Ok(begun) => begun,
            Err(placed) => {
                self.take_waiting()?;
                return Err(self.error(placed, 0));
            }
        };
        if !begun {
            return Ok(()); // what it is takes some lines
        }
        let delimiter = match &self.form {
            Some(Form::Csv { delimiter, .. }) => Some(*delimiter),
            Some(Form::Libsvm(_)) => None,
            None => Some(csv::delimiter(self.pieces.pending(), self.options)),
        };
        self.pieces.lines(delimiter).map_or(Ok(()), |piece| self.take(piece))
    }

    /// The table, and the line of each row.
    pub fn finish(mut self) -> Result<(Content, Vec<u32>), DataError> {
        let rest = self.pieces.rest();
        self.take(rest)?;
        self.take_waiting()?;
        let made = match self.form.take() {
            None => Err(whole(DataErrorKind::Empty)),
            Some(Form::Libsvm(rows)) => rows.finish(),
            Some(Form::Csv { header: Some(line), lines, .. }) if lines.is_empty() => {
                Err((line, 0, DataErrorKind::HeaderOnly))
            }
            Some(Form::Csv { delimiter, mut names, header, clear, columns, lines }) => {
                columns.finish(Reads::new(self.options, delimiter)).map(|mut made| {
                    add_limits(&mut names, &mut made);
                    let (columns, told) = made;
                    (Content::Csv { names, header, clear, columns, told }, lines)
                })
            }
        };
        made.map_err(|placed| self.error(placed, 0))
    }

    fn take(&mut self, piece: Piece) -> Result<(), DataError> {
        if TOGETHER && self.together > 1 && matches!(self.form, Some(Form::Csv { .. })) {
            self.waiting.push(piece);
            return if self.waiting.len() < self.together { Ok(()) } else { self.take_waiting() };
        }
        match self.parse(&piece) {
            // (Blank lines alone.)
            Ok(()) | Err((_, _, DataErrorKind::Empty)) => Ok(()),
            Err(placed) => Err(self.error(placed, piece.before)),
        }
    }

    /// Takes the pieces that wait.
    ///
    /// # Errors
    /// The first in the order of the text.
    pub fn take_waiting(&mut self) -> Result<(), DataError> {
        if !TOGETHER || self.waiting.is_empty() {
            return Ok(());
        }
        let pieces = core::mem::take(&mut self.waiting);
        let Some(Form::Csv { delimiter, names, columns, lines, .. }) = &mut self.form else { return Ok(()) };
        let (delimiter, width, options) = (*delimiter, names.len(), self.options);
        let reads = Reads::new(options, delimiter);
        let made = |piece: &Piece, mut making: Making| {
            let text = decode(piece, options.encoding)?;
            let cells = csv::tokenise(&text, delimiter, width)?;
            making.push(&cells, 0, piece.before, reads);
            Ok((making, cells.lines))
        };
        let mut results: Vec<Option<Made>> = pieces.iter().map(|_| None).collect();
        {
            let (behind, made) = (columns.behind(), &made);
            parts::each(pieces.iter().zip(&mut results), |(piece, result)| *result = Some(made(piece, behind.clone())));
        }
        for (piece, result) in pieces.iter().zip(results) {
            let taken = match result {
                None | Some(Err((_, _, DataErrorKind::Empty))) => Ok(()),
                Some(Err(placed)) => Err(placed),
                Some(Ok((_, more))) if more.len() > u32::MAX as usize - lines.len() => Err(whole(TOO_LARGE)),
                Some(Ok((making, more))) => {
                    lines.extend(more.iter().map(|line| line.saturating_add(piece.before)));
                    let again = columns.append(making);
                    if again.is_empty() {
                        Ok(())
                    } else {
                        decode(piece, options.encoding).and_then(|text| {
                            let cells = csv::tokenise(&text, delimiter, width)?;
                            columns.push_of(&again, &cells, piece.before, reads);
                            Ok(())
                        })
                    }
                }
            };
            taken.map_err(|placed| DataError::placed(self.name, placed, piece.before))?;
        }
        Ok(())
    }

    fn parse(&mut self, piece: &Piece) -> Result<(), Placed> {
        let text = decode(piece, self.options.encoding)?;
        let (text, before) = (&*text, piece.before);
        let mut first = None;
        if self.form.is_none() {
            if detect(text, self.options, self.name) == Format::Libsvm {
                self.form = Some(Form::Libsvm(libsvm::Making::new()));
            } else {
                let delimiter = csv::delimiter(&piece.bytes, self.options);
                let cells = csv::first(text, delimiter, self.options)?;
                let (is_header, clear) =
                    csv::header(&cells, self.options, self.name, Reads::new(self.options, delimiter));
                let (names, twice) = csv::names(&cells, is_header);
                let header = is_header.then(|| before + cells.lines[0]);
                let texts: Vec<bool> = names.iter().map(|name| self.options.texts.contains(name)).collect();
                let known = notations(&names, &self.options.columns);
                let columns = Making::new(&names, &texts, &known, &self.options.na).called_twice(&twice);
                self.form = Some(Form::Csv { delimiter, names, header, clear, columns, lines: Vec::new() });
                first = Some((cells, usize::from(is_header)));
            }
        }
        match &mut self.form {
            Some(Form::Csv { delimiter, names, columns, lines, .. }) => {
                let (cells, start) = match first {
                    Some(first) => first,
                    None => (csv::tokenise(text, *delimiter, names.len())?, 0),
                };
                if cells.lines.len() > u32::MAX as usize - lines.len() {
                    return Err(whole(TOO_LARGE));
                }
                columns.push(&cells, start, before, Reads::new(self.options, *delimiter));
                lines.extend(cells.lines[start..].iter().map(|line| line.saturating_add(before)));
                Ok(())
            }
            Some(Form::Libsvm(rows)) => rows.push(text, true, before),
            None => Ok(()),
        }
    }
}

/// Bytes in which the first rows are looked for.
const FIRST: usize = 1 << 16;

/// The first rows of an unpacked CSV text, at most `most`, their cells as they are written. Those of the first 64 KiB; none where
/// that is no CSV, or cannot be read.
#[must_use]
pub fn first_rows(bytes: &[u8], options: &ReadOptions, name: &str, most: usize) -> Vec<Vec<String>> {
    let behind = memchr_iter(b'\n', bytes).nth((options.skip as usize).wrapping_sub(1)).map_or(0, |end| end + 1);
    let bytes = &bytes[if options.skip == 0 { 0 } else { behind }..];
    let bytes = match bytes.get(..FIRST) {
        Some(first) => &first[..first.iter().rposition(|&b| b == b'\n' || b == b'\r').map_or(0, |at| at + 1)],
        None => bytes,
    };
    let piece = Piece { bytes: bytes.to_vec(), before: 0 };
    let Ok(text) = decode(&piece, options.encoding) else { return Vec::new() };
    let delimiter = csv::delimiter(&piece.bytes, options);
    let cells = match detect(&text, options, name) {
        Format::Libsvm => return Vec::new(),
        Format::Auto | Format::Csv | Format::Whitespace => csv::first(&text, delimiter, options),
    };
    let Ok(cells) = cells else { return Vec::new() };
    let start = usize::from(csv::header(&cells, options, name, Reads::new(options, delimiter)).0);
    let rows = (start..cells.lines.len()).take(most);
    rows.map(|row| cells.row(row).map(ToString::to_string).collect()).collect()
}

/// What is known of columns of these names.
pub(super) fn notations(names: &[String], known: &[(String, Notation)]) -> Vec<Notation> {
    let of = |name: &String| known.iter().find(|(known, _)| known == name).map_or(Notation::default(), |known| known.1);
    if known.is_empty() { Vec::new() } else { names.iter().map(of).collect() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{ReadOptions, Whole};
    use crate::rng::Rng;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    /// Cells of columns of a kind.
    pub(in super::super) const KINDS: [&[&str]; 18] = [
        &["1", "-2.5", "0.125", "12", "1e3", ""],
        &["1.243", "2.125", "7", "12.50", ""],
        &["1.243", "1.5", "\"3,5\"", "\"1,243\"", "\"7,25\""],
        &["2024-01-02", "2023-12-31", "", "2024-02-30"],
        &["03/04/2022", "05/06/2021", "13/01/2020", "01/13/2020"],
        &["01.02.03", "29.12.31", "1/2/33"],
        &["<0.5", "1.5", ">7", "2"],
        &["5%", "7.5%", "3", "$4", "€5"],
        &["a", "b", "Bern", "1.50", "1.5", "01", "?"],
        &["007", "7", "12345678901234567890", "1.0", "1"],
        &["\"two\nlines\"", "\"a \"\"b\"\"\"", "x", "3"],
        &["inf", "1", "2", "NaN"],
        &["\"3,5\"", "\"1,243\"", "\"7,25\"", "7"],
        &["$4", "$5"],
        &["€5", "€7"],
        &["5%", "1.243%", "1.240", "2.120"],
        &["1.50", "1.5", "2.0", "2.00", "3"],
        &["2-3-4-5", "1'0", "3/7"],
    ];

    /// What is read of a text that comes in pieces of so many bytes, so many of them together.
    fn read(text: &str, size: usize, together: usize) -> String {
        let options = ReadOptions::default();
        let mut table = Whole { together, ..Whole::new(&options, "t.csv") };
        let pushed = text.as_bytes().chunks(size).try_for_each(|bytes| table.push(bytes));
        match pushed.and_then(|()| table.finish()) {
            Ok(made) => format!("{made:?}"),
            Err(error) => format!("{error:?}"),
        }
    }

    pub(in super::super) fn pick<'a>(random: &mut Rng, of: &[&'a str]) -> &'a str {
        of[(random.uniform() * of.len() as f64) as usize]
    }

    /// A table and an error are the same however many pieces are read together.
    #[test]
    fn pieces_read_together_are_those_read_one_by_one() {
        let (mut random, mut errors, mut rounds) = (Rng::new(3), 0, 0);
        while rounds < 400 {
            rounds += 1;
            let width = 1 + (random.uniform() * 4.0) as usize;
            // What a column holds changes in its midst, or with a few of its cells.
            let kinds: Vec<[&[&str]; 2]> =
                (0..width).map(|_| [(); 2].map(|()| KINDS[(random.uniform() * KINDS.len() as f64) as usize])).collect();
            let (change, stray) = (100.0 + 400.0 * random.uniform(), if random.uniform() < 0.5 { 0.0 } else { 0.01 });
            let delimiter = if random.uniform() < 0.5 { ',' } else { ';' };
            let mut text: String = (0..width).map(|column| format!("c{column}{delimiter}")).collect();
            text.push_str("label\n");
            for row in 0..400 {
                for kinds in &kinds {
                    let other = f64::from(row) > change || random.uniform() < stray;
                    text.push_str(pick(&mut random, kinds[usize::from(other)]));
                    text.push(delimiter);
                }
                text.push_str(if random.uniform() < 0.3 { "1" } else { "0" });
                text.push_str(match random.uniform() {
                    x if x < 0.0002 => ",ragged;\n",
                    x if x < 0.01 => "\r\n",
                    x if x < 0.02 => "\n\n",
                    _ => "\n",
                });
            }
            if random.uniform() < 0.05 {
                text.push_str("\"open");
            }
            let size = 1 + (600.0 * libm::pow(random.uniform(), 3.0)) as usize;
            let expected = read(&text, size, 1);
            errors += usize::from(expected.starts_with("DataError"));
            for together in [2, 7] {
                assert_eq!(read(&text, size, together).to_string(), expected, "{size} {together} {text}");
            }
        }
        assert!(errors > rounds / 20 && errors < rounds, "{errors}");
    }
}
