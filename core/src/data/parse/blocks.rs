//! Rows of a text that arrives in pieces, for a preparation that exists already. The memory is a piece and the rest of the one
//! before, however long the text.
//!
//! The preparation decides whether a column is numbers or text, so a row is read the same way in every block. Blocks end where a
//! line ends outside quotes, by the rules of the tokeniser. A text without line feeds is one block.

use super::cells::{Making, add_limits};
use super::notation::limited;
use super::pieces::{Piece, Pieces};
use super::reads::Reads;
use super::whole::notations;
use super::{Content, Decimal, Encoding, Format, Notation, RawTable, ReadOptions, csv, decode, detect, libsvm};
use crate::data::Preparation;
use crate::data::error::{DataError, DataErrorKind, Placed};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// How the text is cut, and what its columns are.
#[derive(Clone, Debug)]
struct Layout {
    delimiter: u8,
    names: Vec<String>,
    /// Which columns are taken as text.
    texts: Vec<bool>,
    /// The columns to keep.
    keep: Vec<usize>,
    /// How columns are written.
    known: Vec<Notation>,
}

/// Some rows of the text.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its rows, with the line numbers of the whole text.
    pub table: RawTable,
    /// The cells of the kept columns as they are written, rows × columns.
    pub kept: Vec<String>,
}

/// Content, lines and kept cells.
type Parsed = (Content, Vec<u32>, Vec<String>);

/// Reads rows of a text in pieces: give it bytes by [`push`](Self::push), and the end by [`finish`](Self::finish).
#[derive(Clone, Debug)]
pub struct Blocks {
    name: String,
    options: ReadOptions,
    /// Columns that the preparation reads, and its label's.
    needed: Vec<String>,
    label: Option<String>,
    /// Of them, those of text.
    texts: Vec<String>,
    sparse: bool,
    keep: Vec<String>,
    pieces: Pieces,
    /// Once the first rows are there.
    layout: Option<Layout>,
    begun: bool,
}

impl Blocks {
    /// For rows that this preparation reads; the label column may be there or not. `keep`: columns whose cells are wanted as
    /// they are written. `options`: of them format and header (spellings of missing values are the preparation's); a first line with the names of all columns that are read is a
    /// header, and where these have names, any first line is.
    #[must_use]
    pub fn new(preparation: &Preparation, options: &ReadOptions, keep: &[String], name: &str) -> Self {
        Self {
            name: name.to_string(),
            options: ReadOptions {
                na: preparation.na().to_vec(),
                encoding: if options.encoding == Encoding::Utf8 { preparation.encoding() } else { options.encoding },
                columns: preparation.known(),
                ..options.clone()
            },
            needed: preparation.sources().iter().map(|(name, _)| (*name).to_string()).collect(),
            label: preparation.label_column().map(ToString::to_string),
            texts: preparation.texts(),
            sparse: preparation.is_sparse(),
            keep: keep.to_vec(),
            pieces: Pieces::of(options),
            layout: None,
            begun: false,
        }
    }

    /// Names of the columns, once the first rows have been read; empty for LIBSVM.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        self.layout.as_ref().map_or(&[], |layout| &layout.names)
    }

    /// Columns of the text that neither the preparation reads nor anybody keeps, its label among them.
    #[must_use]
    pub fn extra(&self) -> Vec<&str> {
        let used: BTreeSet<&String> = self.needed.iter().chain(&self.keep).collect();
        self.columns().iter().filter(|name| !used.contains(name)).map(String::as_str).collect()
    }

    /// Takes the next bytes, of unpacked text; rows as soon as there are some.
    ///
    /// # Errors
    /// What is wrong with the text, as [`RawTable::parse`] says it, and a column that is not there.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<Block>, DataError> {
        if !self.pieces.push(bytes).map_err(|placed| self.error(placed, 0))? {
            return Ok(None); // what the delimiter is takes some lines
        }
        let delimiter = match &self.layout {
            Some(layout) => Some(layout.delimiter),
            None if self.sparse => None,
            None => Some(csv::delimiter(self.pieces.pending(), &self.options)),
        };
        self.pieces.lines(delimiter).map_or(Ok(None), |piece| self.take(&piece))
    }

    /// The last rows.
    ///
    /// # Errors
    /// As [`push`](Self::push); `Empty` and `HeaderOnly` where no row came.
    pub fn finish(&mut self) -> Result<Option<Block>, DataError> {
        let rest = self.pieces.rest();
        let rest = self.take(&rest)?;
        if rest.is_none() && !self.begun {
            return Err(self.error((0, 0, DataErrorKind::Empty), 0));
        }
        Ok(rest)
    }

    fn error(&self, placed: Placed, before: u32) -> DataError {
        DataError::placed(&self.name, placed, before)
    }

    /// The rows of a piece.
    fn take(&mut self, piece: &Piece) -> Result<Option<Block>, DataError> {
        if piece.bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let block = match self.parse(piece) {
            // (Comments alone, or empty cells.)
            Err((_, _, DataErrorKind::Empty)) => None,
            other => other.map_err(|placed| self.error(placed, piece.before))?,
        };
        self.begun |= block.is_some();
        Ok(block.map(|(content, lines, kept)| Block {
            table: RawTable {
                name: self.name.clone(),
                content,
                lines,
                na: self.options.na.clone(),
                is_text: true,
                encoding: self.options.encoding,
            },
            kept,
        }))
    }

    fn parse(&mut self, piece: &Piece) -> Result<Option<Parsed>, Placed> {
        let text = decode(piece, self.options.encoding)?;
        let (text, before) = (&*text, piece.before);
        if !self.begun {
            // (A sparse text is told from a table as in training.)
            let format = detect(text, &self.options, &self.name);
            if (format == Format::Libsvm) != self.sparse {
                return Err((0, 0, DataErrorKind::OtherFormat));
            }
            if let Some(name) = self.keep.first().filter(|_| self.sparse) {
                return Err((0, 0, DataErrorKind::MissingColumn { name: name.clone(), columns: Vec::new() }));
            }
        }
        if self.sparse {
            let mut making = libsvm::Making::new();
            making.push(text, false, before)?;
            let (content, lines) = making.finish()?;
            return Ok(Some((content, lines, Vec::new())));
        }
        let (delimiter, width) = match &self.layout {
            Some(layout) => (layout.delimiter, layout.names.len()),
            None => (csv::delimiter(&piece.bytes, &self.options), 0),
        };
        let cells = match width {
            0 => csv::first(text, delimiter, &self.options)?,
            width => csv::tokenise(text, delimiter, width)?,
        };
        let mut start = 0;
        let layout = match self.layout.take() {
            Some(layout) => layout,
            None => {
                let header = self.options.header.unwrap_or_else(|| self.is_header(&cells));
                start = usize::from(header);
                let names = if header { csv::names(&cells, true).0 } else { self.numbered(cells.width) };
                self.layout(delimiter, names, u32::from(header))?
            }
        };
        let layout = self.layout.insert(layout);
        if cells.lines.len() == start {
            return if self.begun { Ok(None) } else { Err((cells.lines[0], 0, DataErrorKind::HeaderOnly)) };
        }
        let rows = start..cells.lines.len();
        let kept = rows.flat_map(|row| layout.keep.iter().map(move |&at| (row, at)));
        let kept = kept.map(|(row, at)| cells.get(row, at).to_string()).collect();
        let reads = Reads::new(&self.options, delimiter);
        let mut making = Making::new(&layout.names, &layout.texts, &layout.known, &self.options.na);
        making.push(&cells, start, 0, reads);
        let (mut made, mut names) = (making.finish(reads)?, layout.names.clone());
        add_limits(&mut names, &mut made);
        let (columns, told) = made;
        let content = Content::Csv { names, header: None, clear: true, columns, told };
        let lines = cells.lines[start..].iter().map(|line| line.saturating_add(before));
        Ok(Some((content, lines.collect(), kept)))
    }

    fn is_header(&self, cells: &csv::Cells) -> bool {
        let first: BTreeSet<&str> = (0..cells.width).map(|column| cells.get(0, column)).collect();
        let named = |name: &String| first.contains(name.as_str()) || limited(name).is_some();
        let numbered = |name: &String| name.strip_prefix('x').is_some_and(|number| number.parse::<u32>().is_ok());
        self.needed.iter().all(named) || !self.needed.iter().all(numbered)
    }

    /// Names of columns without any. Where they are too few, the label's is not among them.
    fn numbered(&self, width: usize) -> Vec<String> {
        let number = |name: &String| name.strip_prefix('x').and_then(|number| number.parse::<usize>().ok());
        let label = self.label.as_ref().and_then(number).filter(|_| {
            let most = self.needed.iter().filter_map(number).max();
            most.is_some_and(|most| most > width)
        });
        (1..).filter(|&at| label != Some(at)).take(width).map(|at| format!("x{at}")).collect()
    }

    /// What the columns of these names are; every column that is asked for has to be there.
    fn layout(&self, delimiter: u8, names: Vec<String>, line: u32) -> Result<Layout, Placed> {
        let places: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let there = |name: &&String| {
            let of = limited(name).filter(|of| self.needed.iter().any(|name| name == of));
            places.contains_key(name.as_str()) || of.is_some_and(|of| places.contains_key(of))
        };
        if let Some(name) = self
            .needed
            .iter()
            .find(|name| !there(name))
            .or(self.keep.iter().find(|name| !places.contains_key(name.as_str())))
        {
            return Err((line, 0, DataErrorKind::MissingColumn { name: name.clone(), columns: names }));
        }
        // What is not looked at is text: whatever it holds.
        let mut texts = vec![true; names.len()];
        let place = |name: &String| places.get(name.as_str()).copied();
        self.needed.iter().filter_map(place).for_each(|at| texts[at] = false);
        self.texts.iter().filter_map(place).for_each(|at| texts[at] = true);
        let keep = self.keep.iter().filter_map(place).collect();
        // In a file with commas between its cells a point is the decimal mark, unless the model says otherwise: the cells of a
        // block alone do not decide it.
        let mut known = notations(&names, &self.options.columns);
        if delimiter == b',' {
            known.resize(names.len(), Notation::default());
            known.iter_mut().for_each(|known| known.decimal = known.decimal.or(Some(Decimal::Point)));
        }
        Ok(Layout { delimiter, names, texts, keep, known })
    }
}
