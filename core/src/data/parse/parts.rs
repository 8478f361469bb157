//! A table in parts of so many rows, of a text that arrives in pieces. The memory is a part and a piece, however long the text.

use super::cells::{Making, add_limits};
use super::pieces::{Piece, Pieces};
use super::reads::Reads;
use super::whole::notations;
use super::{Content, Decimal, Format, Kind, Notation, RawColumn, RawTable, ReadOptions, csv, decode, detect, is_word};
use crate::data::error::{DataError, DataErrorKind, Placed};
use crate::error::Error;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Reads a table in parts: give it bytes by [`push`](Self::push), and the end by [`finish`](Self::finish).
///
/// The first part shows what the text is: its delimiter, its names, which columns are text, and how numbers are written. Later parts are
/// read as it was; where one cannot be, the statistics of both do not merge ([`ColumnStats`](crate::data::ColumnStats)).
///
/// ```
/// use undercurve::data::{TableParts, ReadOptions};
///
/// let mut parts = TableParts::new(&ReadOptions::default(), 2, "a text");
/// let text = b"size,label\n1,0\n2,1\n3,0\n4,1\n5,1\n";
/// let mut rows = Vec::new();
/// for bytes in text.chunks(12) {
///     rows.extend(parts.push(bytes)?.map(|part| part.rows()));
/// }
/// rows.extend(parts.finish()?.map(|part| part.rows()));
/// assert_eq!(rows.iter().sum::<usize>(), 5);
/// # Ok::<(), undercurve::data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableParts {
    name: String,
    options: ReadOptions,
    rows: usize,
    pieces: Pieces,
    /// Once the first rows are there.
    form: Option<Form>,
}

/// What the text is, and the part in the making.
#[derive(Clone, Debug)]
struct Form {
    delimiter: u8,
    names: Vec<String>,
    header: Option<u32>,
    clear: bool,
    /// Which columns are taken as text, and which have had numbers.
    texts: Vec<bool>,
    numbers: Vec<bool>,
    /// How columns are written.
    known: Vec<Notation>,
    columns: Making,
    lines: Vec<u32>,
    /// Whether a part was made.
    begun: bool,
}

impl TableParts {
    /// Parts of at least so many rows, but for the last one.
    #[must_use]
    pub fn new(options: &ReadOptions, rows: usize, name: &str) -> Self {
        Self {
            name: name.to_string(),
            options: options.clone(),
            rows: rows.max(1),
            pieces: Pieces::of(options),
            form: None,
        }
    }

    /// Takes the next bytes, of unpacked text; a part as soon as there is one.
    ///
    /// # Errors
    /// What is wrong with the text, as [`RawTable::parse`] says it; `Core(Unsupported)` for LIBSVM rows.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<RawTable>, DataError> {
        if !self.pieces.push(bytes).map_err(|placed| self.error(placed, 0))? {
            return Ok(None); // what it is takes some lines
        }
        let delimiter = match &self.form {
            Some(form) => form.delimiter,
            None => csv::delimiter(self.pieces.pending(), &self.options),
        };
        let Some(piece) = self.pieces.lines(Some(delimiter)) else { return Ok(None) };
        self.take(&piece)?;
        match &self.form {
            Some(form) if form.lines.len() >= self.rows => self.part().map(Some),
            _ => Ok(None),
        }
    }

    /// The last rows.
    ///
    /// # Errors
    /// As [`push`](Self::push); `Empty` and `HeaderOnly` where no row came.
    pub fn finish(&mut self) -> Result<Option<RawTable>, DataError> {
        let rest = self.pieces.rest();
        self.take(&rest)?;
        match &self.form {
            None => Err(self.error((0, 0, DataErrorKind::Empty), 0)),
            Some(Form { header: Some(line), begun: false, lines, .. }) if lines.is_empty() => {
                Err(self.error((*line, 0, DataErrorKind::HeaderOnly), 0))
            }
            Some(form) if form.lines.is_empty() => Ok(None),
            Some(_) => self.part().map(Some),
        }
    }

    fn error(&self, placed: Placed, before: u32) -> DataError {
        DataError::placed(&self.name, placed, before)
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
        let form = match &mut self.form {
            Some(form) => form,
            None => {
                if detect(text, &self.options, &self.name) == Format::Libsvm {
                    return Err((0, 0, Error::Unsupported { what: "LIBSVM rows in parts" }.into()));
                }
                let delimiter = csv::delimiter(&piece.bytes, &self.options);
                let reads = Reads::new(&self.options, delimiter);
                let cells = csv::first(text, delimiter, &self.options)?;
                let (is_header, clear) = csv::header(&cells, &self.options, &self.name, reads);
                let (names, twice) = csv::names(&cells, is_header);
                let header = is_header.then(|| before + cells.lines[0]);
                let texts: Vec<bool> = names.iter().map(|name| self.options.texts.contains(name)).collect();
                let mut known = notations(&names, &self.options.columns);
                known.resize(names.len(), Notation::default());
                let columns = Making::new(&names, &texts, &known, &self.options.na).called_twice(&twice);
                first = Some((cells, usize::from(is_header)));
                let (numbers, lines, begun) = (alloc::vec![false; names.len()], Vec::new(), false);
                self.form.insert(Form { delimiter, names, header, clear, texts, numbers, known, columns, lines, begun })
            }
        };
        let (cells, start) = match first {
            Some(first) => first,
            None => (csv::tokenise(text, form.delimiter, form.names.len())?, 0),
        };
        form.columns.push(&cells, start, before, Reads::new(&self.options, form.delimiter));
        form.lines.extend(cells.lines[start..].iter().map(|line| line.saturating_add(before)));
        Ok(())
    }

    /// The rows so far, and what they show of the columns.
    fn part(&mut self) -> Result<RawTable, DataError> {
        let Some(form) = &mut self.form else { return Err(self.error((0, 0, DataErrorKind::Empty), 0)) };
        let columns = core::mem::replace(&mut form.columns, Making::new(&[], &[], &[], &[]));
        let lines = core::mem::take(&mut form.lines);
        let made = columns.finish(Reads::new(&self.options, form.delimiter));
        let mut made = made.map_err(|placed| DataError::placed(&self.name, placed, 0))?;
        for (at, (column, told)) in made.0.iter().zip(&made.1).enumerate() {
            match column {
                RawColumn::Numbers(values, _) if values.iter().any(|x| !x.is_nan()) => {
                    form.numbers[at] = true;
                    form.known[at] = told.notation;
                    if form.delimiter == b',' {
                        // (As in `Blocks`: there a point is the decimal mark, unless cells said otherwise.)
                        let decimal = form.known[at].decimal.or(Some(Decimal::Point));
                        form.known[at].decimal = decimal;
                    }
                }
                RawColumn::Text { values, .. } if told.doubt.is_none() && !form.numbers[at] => {
                    // (True and false are numbers, and words alone may be of numbers, too.)
                    form.texts[at] = told.notation.kind != Kind::Truth && !values.iter().all(|text| is_word(text));
                    form.known[at].kind = told.notation.kind;
                }
                RawColumn::Numbers(..) | RawColumn::Text { .. } => {}
            }
        }
        form.columns = Making::new(&form.names, &form.texts, &form.known, &self.options.na);
        form.begun = true;
        let mut names = form.names.clone();
        add_limits(&mut names, &mut made);
        let (columns, told) = made;
        Ok(RawTable {
            name: self.name.clone(),
            content: Content::Csv { names, header: form.header, clear: form.clear, columns, told },
            lines,
            na: self.options.na.clone(),
            is_text: true,
            encoding: self.options.encoding,
        })
    }
}
