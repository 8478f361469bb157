//! A whole table from a text that arrives in pieces. The memory is the columns and a piece.

use super::cells::{Making, Reads, add_limits};
use super::pieces::{Piece, Pieces};
use super::{Content, Format, Notation, ReadOptions, TOO_LARGE, csv, decode, detect, libsvm};
use crate::data::error::{DataError, DataErrorKind, Placed, whole};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A table in the making: give it bytes by [`push`](Self::push), and the end by [`finish`](Self::finish).
pub(super) struct Whole<'a> {
    options: &'a ReadOptions,
    name: &'a str,
    pieces: Pieces,
    /// Once the first rows are there.
    form: Option<Form>,
}

enum Form {
    Csv { delimiter: u8, names: Vec<String>, header: Option<u32>, clear: bool, columns: Making, lines: Vec<u32> },
    Libsvm(libsvm::Making),
}

impl<'a> Whole<'a> {
    pub fn new(options: &'a ReadOptions, name: &'a str) -> Self {
        Self { options, name, pieces: Pieces::default(), form: None }
    }

    fn error(&self, placed: Placed, before: u32) -> DataError {
        DataError::placed(self.name, placed, before)
    }

    /// Takes the next bytes, of unpacked text.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        if !self.pieces.push(bytes).map_err(|placed| self.error(placed, 0))? {
            return Ok(()); // what it is takes some lines
        }
        let delimiter = match &self.form {
            Some(Form::Csv { delimiter, .. }) => Some(*delimiter),
            Some(Form::Libsvm(_)) => None,
            None => Some(csv::delimiter(self.pieces.pending(), self.options)),
        };
        self.pieces.lines(delimiter).map_or(Ok(()), |piece| self.take(&piece))
    }

    /// The table, and the line of each row.
    pub fn finish(mut self) -> Result<(Content, Vec<u32>), DataError> {
        let rest = self.pieces.rest();
        self.take(&rest)?;
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

    fn take(&mut self, piece: &Piece) -> Result<(), DataError> {
        match self.parse(piece) {
            // (Blank lines alone.)
            Ok(()) | Err((_, _, DataErrorKind::Empty)) => Ok(()),
            Err(placed) => Err(self.error(placed, piece.before)),
        }
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
                let cells = csv::tokenise(text, delimiter, 0)?;
                let (is_header, clear) = csv::header(&cells, self.options, Reads::new(self.options, delimiter));
                let names = csv::names(&cells, is_header)?;
                let header = is_header.then(|| before + cells.lines[0]);
                let texts: Vec<bool> = names.iter().map(|name| self.options.texts.contains(name)).collect();
                let columns = Making::new(&texts, &notations(&names, &self.options.columns));
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
    let bytes = match bytes.get(..FIRST) {
        Some(first) => &first[..first.iter().rposition(|&b| b == b'\n' || b == b'\r').map_or(0, |at| at + 1)],
        None => bytes,
    };
    let piece = Piece { bytes: bytes.to_vec(), before: 0 };
    let Ok(text) = decode(&piece, options.encoding) else { return Vec::new() };
    let delimiter = csv::delimiter(&piece.bytes, options);
    let cells = match detect(&text, options, name) {
        Format::Libsvm => return Vec::new(),
        Format::Auto | Format::Csv | Format::Whitespace => csv::tokenise(&text, delimiter, 0),
    };
    let Ok(cells) = cells else { return Vec::new() };
    let start = usize::from(csv::header(&cells, options, Reads::new(options, delimiter)).0);
    let rows = (start..cells.lines.len()).take(most);
    rows.map(|row| cells.row(row).map(ToString::to_string).collect()).collect()
}

/// What is known of columns of these names.
pub(super) fn notations(names: &[String], known: &[(String, Notation)]) -> Vec<Notation> {
    let of = |name: &String| known.iter().find(|(known, _)| known == name).map_or(Notation::default(), |known| known.1);
    if known.is_empty() { Vec::new() } else { names.iter().map(of).collect() }
}
