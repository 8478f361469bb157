//! From bytes to a table of columns: decompression, the format, and the table.

mod blocks;
mod cells;
mod csv;
mod libsvm;
mod notation;
#[cfg(feature = "stream")]
pub mod parts;
mod pieces;
mod short;
#[cfg(feature = "std")]
pub(super) mod unpack;
mod whole;

pub use blocks::{Block, Blocks};
pub(super) use cells::as_text;
pub use csv::LABEL_NAMES;
pub use notation::{DateOrder, Decimal, MAX_BUCKETS, Notation};
pub(super) use notation::{bucket, limited};
pub use whole::first_rows;

use super::error::{DataError, DataErrorKind, Doubt, Placed, whole};
use crate::error::{Error, exact_len};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The most columns that LIBSVM input may have. A model is as wide as the largest index, so one stray index must not
/// ask for gigabytes.
pub const MAX_COLUMNS: u32 = 1 << 26;

/// The most bytes of one line, or of a text without line feeds: 4 GiB, or 1 GiB where pointers have 32 bits.
pub const MAX_TEXT: usize = if usize::BITS > 32 { u32::MAX as usize } else { 1 << 30 };

/// The layout of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// By the name (`.csv`, `.tsv`, `.svm`, `.libsvm`, `.svmlight`, each with or without `.gz` or `.zst`), else by the content.
    #[default]
    Auto,
    /// Cells with commas, semicolons or tabs between them (found from the first lines), quoted with `"` where needed.
    Csv,
    /// `label index:value …`, indices ascending from 1, `#` starts a comment.
    Libsvm,
    /// A table whose cells have blanks or tabs between them, any number; `Auto` takes a text for one without commas, semicolons
    /// and tabs in its first line, with as many words, more than one, in each of the lines looked at.
    Whitespace,
}

/// How bytes become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or, where a byte order mark begins the text (and with the feature `std`), UTF-16.
    #[default]
    Utf8,
    /// Windows-1252, where the text is not UTF-8: Latin-1 with what Windows has in place of its control characters.
    Latin1,
}

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The layout.
    pub format: Format,
    /// The label column if known: a first line that contains this name is a header.
    pub label: Option<String>,
    /// Whether the first line of a CSV file names the columns; `None` looks at it and at the 99 rows below. It does when
    /// one of its cells is `label`; when none of them is a number, but most of some column below (or there is no row
    /// below); or when they are all different and one is of [`LABEL_NAMES`](super::LABEL_NAMES) in any case, does not
    /// recur in its column, and no cell is a number or the column below that one is numbers.
    pub header: Option<bool>,
    /// Spellings of a missing value in CSV files besides the usual ones.
    pub na: Vec<String>,
    /// The decimal mark of the numbers. `None`: as the cells of a column show it, else as those of other columns do; in files
    /// with commas or blanks between their cells else a point.
    pub decimal: Option<Decimal>,
    /// What comes first in dates like `03/04/2022`; `None`: as the cells of a column show it.
    pub dates: Option<DateOrder>,
    /// Columns that are text whatever they hold, as categories are.
    pub texts: Vec<String>,
    /// How the bytes become text.
    pub encoding: Encoding,
    /// How columns are written, by their names, where that is known already ([`Preparation::notations`]).
    ///
    /// [`Preparation::notations`]: crate::data::Preparation::notations
    pub columns: Vec<(String, Notation)>,
}

/// How a column was written, where that is worth telling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// As numbers, or as text.
    #[default]
    Plain,
    /// As numbers with decimal commas.
    Commas,
    /// As numbers with points or commas between groups of three digits, which alone might be decimal marks.
    Thousands,
    /// As numbers with percent signs; 5.7 % is 5.7.
    Percent,
    /// As numbers with the sign of a currency.
    Currency,
    /// As dates, which became days since the beginning of 1970 (UTC): `2024-02-29`, `2024/2/29`, `29.2.2024`, `29/02/2024`,
    /// `02/29/2024`, or `29 Feb 2024` in some languages, each with a time behind it or not.
    Dates,
    /// As dates whose years have two digits: 00 to 39 are 2000 to 2039, 40 to 99 are 1940 to 1999. (They are `Dates`, too.)
    ShortYears,
    /// As numbers, some of which are limits of measuring, as `<0.5` is: the number is the limit, and columns `x=(below)` and
    /// `x=(above)` at the end of the table say which are.
    Limits,
    /// As whole numbers, some beyond 2⁵³, which were rounded.
    Rounded,
    /// As numbers, some with zeros before them, as codes have.
    Padded,
    /// As whole numbers that rise by one from row to row, of at least twenty rows.
    Counter,
    /// As text, most of whose values have digits and no letters, as numbers with signs for thousands, money or shares do.
    Signs,
}

/// A column that is in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values<'a> {
    /// Numbers; NaN is a missing one.
    Numbers(&'a [f64]),
    /// Text; `None` is a missing one, as are the words that stand for one in a file.
    Texts(&'a [Option<&'a str>]),
}

impl Values<'_> {
    fn len(self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }
}

/// The cells of a column, as they were read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnValues<'a> {
    /// Numbers, and dates as days since the beginning of 1970; NaN is a missing one.
    Numbers(&'a [f64]),
    /// Text, and what is doubtful.
    Texts {
        /// The different cells, sorted.
        values: &'a [String],
        /// Which of them each row has; `u32::MAX` is a missing one.
        codes: &'a [u32],
    },
}

/// One column of a CSV file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RawColumn {
    /// Every cell that is there is a finite number; NaN stands for a missing one.
    Numbers(Vec<f64>, Written),
    /// Some cell is no number.
    Text {
        /// The different cells, sorted.
        values: Vec<String>,
        /// Which of them each row has; [`MISSING`] for none.
        codes: Vec<u32>,
        /// The first row that is no number, in a column where most cells are.
        stray: Option<u32>,
    },
}

impl RawColumn {
    /// Keeps the rows of which it is so.
    fn retain(&mut self, keep: &[bool]) {
        fn some<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            values.retain(|_| keep.next().copied().unwrap_or(false));
        }
        match self {
            Self::Numbers(values, written) => {
                some(values, keep);
                written.retain(keep);
            }
            Self::Text { values, codes, stray } => {
                some(codes, keep);
                let mut used = alloc::vec![false; values.len()];
                codes.iter().filter(|&&code| code != MISSING).for_each(|&code| used[code as usize] = true);
                let mut next = 0..;
                let new: Vec<u32> =
                    used.iter().map(|used| used.then(|| next.next()).flatten().unwrap_or(MISSING)).collect();
                codes.iter_mut().filter(|code| **code != MISSING).for_each(|code| *code = new[*code as usize]);
                some(values, &used);
                let Some(row) = *stray else { return };
                // Without the cell that made it text it may be numbers.
                let number = |code: u32| values.get(code as usize).map_or(Some(f64::NAN), |text| text.parse().ok());
                let numbers: Vec<f64> = codes.iter().map_while(|&code| number(code)).collect();
                *stray = row_after(row, keep).or(Some(numbers.len() as u32));
                if numbers.len() == codes.len() {
                    *self = Self::Numbers(numbers, Written::default());
                }
            }
        }
    }

    /// Keeps the first rows, and gives the memory of the others back.
    pub(super) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Numbers(values, written) => {
                values.truncate(rows);
                values.shrink_to_fit();
                written.truncate(rows);
            }
            Self::Text { codes, .. } => {
                codes.truncate(rows);
                codes.shrink_to_fit();
            }
        }
    }
}

/// Cells as they are written, by ascending rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    text: String,
    /// The row, and where in the text its cell ends.
    ends: Vec<(u32, usize)>,
}

impl Written {
    fn push(&mut self, row: u32, cell: &str) {
        self.text.push_str(cell);
        self.ends.push((row, self.text.len()));
    }

    /// Those of another table, before whose rows there are so many.
    fn append(&mut self, next: &Self, rows: u32) {
        let before = self.text.len();
        self.text.push_str(&next.text);
        self.ends.extend(next.ends.iter().map(|&(row, end)| (row + rows, before + end)));
    }

    /// Without the cell of this row.
    fn remove(&mut self, row: u32) {
        let all = core::mem::take(self);
        all.iter().filter(|&(at, _)| at != row).for_each(|(at, cell)| self.push(at, cell));
    }

    fn truncate(&mut self, rows: usize) {
        self.ends.truncate(self.ends.partition_point(|&(row, _)| (row as usize) < rows));
    }

    fn retain(&mut self, keep: &[bool]) {
        let all = core::mem::take(self);
        let (mut at, mut kept) = (0, 0);
        for (row, cell) in all.iter() {
            while at < row {
                kept += u32::from(keep[at as usize]);
                at += 1;
            }
            if keep[row as usize] {
                self.push(kept, cell);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Rows and cells.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let starts = core::iter::once(0).chain(self.ends.iter().map(|end| end.1));
        self.ends.iter().zip(starts).map(|(&(row, end), start)| (row, self.text.get(start..end).unwrap_or("")))
    }
}

/// Where a row is once only some are kept; `None` if it is not.
fn row_after(row: u32, keep: &[bool]) -> Option<u32> {
    let row = row as usize;
    keep.get(row)?.then(|| keep[..row].iter().filter(|kept| **kept).count() as u32)
}

/// How a column was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub readings: Vec<Reading>,
    pub notation: Notation,
    /// What cannot be told, and the numbers are not to be trusted for it.
    pub doubt: Option<Doubted>,
}

/// What is open about a column, with cells that show it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Doubted {
    pub doubt: Doubt,
    pub row: u32,
    pub text: String,
    pub other: String,
}

impl<'a> From<&'a RawTable> for Cow<'a, RawTable> {
    fn from(table: &'a RawTable) -> Self {
        Cow::Borrowed(table)
    }
}

impl From<RawTable> for Cow<'_, RawTable> {
    fn from(table: RawTable) -> Self {
        Cow::Owned(table)
    }
}

/// The code of a missing cell.
pub(super) const MISSING: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// `header`: the line that names the columns, if one does; `clear`: no other reading of it comes into question.
    Csv { names: Vec<String>, header: Option<u32>, clear: bool, columns: Vec<RawColumn>, told: Vec<Told> },
    Libsvm {
        labels: Vec<f64>,
        ptr: Vec<usize>,
        col: Vec<u32>,
        val: Vec<f64>,
        cols: usize,
        /// Of each row; empty without.
        queries: Vec<u64>,
    },
}

/// A parsed file: columns of numbers or text, or sparse rows, with the line each row came from.
///
/// Cells of a CSV file lose the blanks around them. Empty cells, `?`, `-`, `NA`, `N/A`, `#N/A`, `NaN`, `null` and `None` (in
/// any case) are missing. Infinities among numbers are an error. Numbers may have decimal commas, marks between thousands, percent
/// signs, currencies, and brackets or a minus behind them where they are negative; a column of dates becomes days, and limits of measuring
/// become numbers with a column at the end that says which they are ([`Reading`]). Of what can be read in two ways,
/// as 1.243 and 03/04/2022 can, the column's other cells decide, then the file's; where none does, training on it is an error
/// ([`doubt`](Self::doubt)). Blank lines are skipped, a byte order mark is too. A column is text as soon as one cell is neither a number nor missing.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    pub(super) name: String,
    pub(super) content: Content,
    pub(super) lines: Vec<u32>,
    /// Spellings of missing values that were named.
    pub(super) na: Vec<String>,
    /// Whether it was read from a text, and not made of values in memory.
    pub(super) is_text: bool,
    pub(super) encoding: Encoding,
}

impl RawTable {
    /// Reads a whole file from memory, plain, gzip or (with the feature `zstd`) zstd, known by their first bytes.
    ///
    /// `name` is what errors call it. Cost: one pass over the text and one over the cells, those of CSV on the threads of the rayon
    /// pool that the caller is in (with the feature `rayon`), with the same table and the same errors; memory of 8 bytes per cell (of
    /// text 4 and its different values, LIBSVM 12 per stored value), while reading also a piece of the text, or sixteen, and of numbers
    /// with commas and dates what is written. No more than 2³² rows.
    ///
    /// # Errors
    /// Everything about the text itself: empty, binary, not UTF-8, cut-off gzip, ragged rows, open quotes, two columns
    /// of one name, NaN or infinite values, LIBSVM tokens and indices.
    ///
    /// ```
    /// use undercurve::data::{Format, RawTable};
    /// let table = RawTable::parse(b"age,label\n31,0\n47,1\n", Format::Auto, "people.csv")?;
    /// assert_eq!((table.rows(), table.columns()), (2, vec!["age".into(), "label".into()]));
    /// # Ok::<(), undercurve::data::DataError>(())
    /// ```
    pub fn parse(bytes: &[u8], format: Format, name: &str) -> Result<Self, DataError> {
        Self::parse_with(bytes, &ReadOptions { format, ..ReadOptions::default() }, name)
    }

    /// [`parse`](Self::parse) with more said about the file.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(bytes: &[u8], options: &ReadOptions, name: &str) -> Result<Self, DataError> {
        #[cfg(feature = "std")]
        return Self::read(bytes, options, name);
        #[allow(unreachable_code)]
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return Err(DataError::placed(name, whole(DataErrorKind::GzipUnsupported), 0));
        }
        let mut table = whole::Whole::new(options, name);
        bytes.chunks(PIECE).try_for_each(|piece| table.push(piece))?;
        Self::made(table.finish()?, options, name)
    }

    /// Reads a file as its bytes come, plain or packed as in [`parse`](Self::parse).
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and `Unreadable`.
    #[cfg(feature = "std")]
    pub fn read(reader: impl std::io::Read, options: &ReadOptions, name: &str) -> Result<Self, DataError> {
        let failed = |error: std::io::Error| DataError::placed(name, whole(unpack::kind(&error)), 0);
        let mut reader = unpack::unpacked(reader).map_err(failed)?;
        let mut table = whole::Whole::new(options, name);
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            piece.clear();
            let read = std::io::Read::read_to_end(&mut std::io::Read::take(&mut reader, PIECE as u64), &mut piece);
            // (What came before an error of the reader has errors of its own first.)
            table.push(&piece)?;
            match read {
                Ok(0) => return Self::made(table.finish()?, options, name),
                Ok(_) => {}
                Err(error) => {
                    table.take_waiting()?;
                    return Err(failed(error));
                }
            }
        }
    }

    fn made((content, lines): (Content, Vec<u32>), options: &ReadOptions, name: &str) -> Result<Self, DataError> {
        Ok(Self {
            name: name.to_string(),
            content,
            lines,
            na: options.na.clone(),
            is_text: true,
            encoding: options.encoding,
        })
    }

    /// A table of columns that are in memory: what a CSV file of the same cells is, whose row k is line k + 1; but text stays
    /// text where all of it is numbers or dates.
    ///
    /// Cost: one pass; memory of 8 bytes a number and 4 a text, and the different texts.
    ///
    /// # Errors
    /// `Empty` without rows, `Ragged` for columns of other lengths than the first (its place is the column), `DuplicateColumn`,
    /// `NonFinite`, `TooLarge`.
    ///
    /// ```
    /// use undercurve::data::{RawTable, Values};
    /// let (age, city) = ([31.0, f64::NAN], [Some("Bern"), None]);
    /// let table = RawTable::of_columns("people", &[("age", Values::Numbers(&age)), ("city", Values::Texts(&city))])?;
    /// assert_eq!((table.rows(), table.missing(0), table.missing(1)), (2, 1, 1));
    /// # Ok::<(), undercurve::data::DataError>(())
    /// ```
    pub fn of_columns(name: &str, columns: &[(&str, Values<'_>)]) -> Result<Self, DataError> {
        let at = |placed| DataError::placed(name, placed, 0);
        let rows = columns.first().map_or(0, |column| column.1.len());
        if rows == 0 {
            return Err(at(whole(DataErrorKind::Empty)));
        }
        let lines: Vec<u32> = (1..=u32::try_from(rows).map_err(|_| at(whole(TOO_LARGE)))?).collect();
        if let Some(column) = columns.iter().position(|column| column.1.len() != rows) {
            let got = columns[column].1.len();
            return Err(at((0, column as u32 + 1, DataErrorKind::Ragged { need: rows, got })));
        }
        let names: Vec<String> = columns.iter().map(|column| column.0.to_string()).collect();
        let mut known = BTreeSet::new();
        if let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) {
            return Err(at(whole(DataErrorKind::DuplicateColumn { name: twice.clone() })));
        }
        let reads = cells::Reads::plain(&[]);
        let making = cells::Making::of_columns(columns.iter().map(|column| column.1), reads);
        let (columns, told) = making.finish(reads).map_err(at)?;
        let content = Content::Csv { names, header: None, clear: true, columns, told };
        Ok(Self { name: name.to_string(), content, lines, na: Vec::new(), is_text: false, encoding: Encoding::Utf8 })
    }

    /// Sparse rows that are in memory: what a LIBSVM file of them is, whose row k is line k + 1. Row k has the values
    /// `val[ptr[k]..ptr[k + 1]]` in the columns `col[…]`, from 0, ascending, below `cols`; `labels` is empty or has one a row.
    ///
    /// # Errors
    /// `Empty` without rows, `NonFinite`, `TooLarge`, and `Core` with `Length` or `Index` for what does not go together.
    pub fn of_sparse(
        name: &str,
        labels: &[f64],
        ptr: &[usize],
        col: &[u32],
        val: &[f64],
        cols: usize,
    ) -> Result<Self, DataError> {
        let at = |placed| DataError::placed(name, placed, 0);
        let core = |error: Error| at(whole(error.into()));
        let rows = ptr.len().saturating_sub(1);
        if rows == 0 {
            return Err(at(whole(DataErrorKind::Empty)));
        }
        let lines: Vec<u32> = (1..=u32::try_from(rows).map_err(|_| at(whole(TOO_LARGE)))?).collect();
        if cols > MAX_COLUMNS as usize {
            return Err(at(whole(DataErrorKind::IndexLarge { text: cols.to_string() })));
        }
        exact_len("col", val.len(), col.len()).map_err(core)?;
        exact_len("ptr", val.len(), ptr[rows]).map_err(core)?;
        if !labels.is_empty() {
            exact_len("labels", rows, labels.len()).map_err(core)?;
        }
        for (row, ends) in ptr.windows(2).enumerate() {
            let index = |what, at| core(Error::Index { what, at, len: val.len() });
            let columns = col.get(ends[0]..ends[1]).ok_or_else(|| index("ptr", row))?;
            let ascend = columns.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascend || columns.last().is_some_and(|&last| last as usize >= cols) {
                return Err(index("col", ends[0]));
            }
            let values = val[ends[0]..ends[1]].iter().chain(labels.get(row));
            if let Some(value) = values.into_iter().find(|value| !value.is_finite()) {
                return Err(at((lines[row], 0, DataErrorKind::NonFinite { text: value.to_string() })));
            }
        }
        let labels = if labels.is_empty() { alloc::vec![f64::NAN; rows] } else { labels.to_vec() };
        let (ptr, col, val, queries) = (ptr.to_vec(), col.to_vec(), val.to_vec(), Vec::new());
        let content = Content::Libsvm { labels, ptr, col, val, cols, queries };
        Ok(Self { name: name.to_string(), content, lines, na: Vec::new(), is_text: true, encoding: Encoding::Utf8 })
    }

    /// One row, from names of columns and what a file would have in them; all but `numbers` are text whatever they hold.
    /// `known`: how columns are written.
    pub(crate) fn of_row(
        row: &[(&str, &str)],
        numbers: &[&str],
        na: &[String],
        known: &[(String, Notation)],
    ) -> Result<Self, DataError> {
        let name = String::from("row");
        let cells = csv::Cells::of_row(row.iter().map(|cell| cell.1));
        let mut names: Vec<String> = row.iter().map(|cell| cell.0.to_string()).collect();
        let texts: Vec<bool> = row.iter().map(|cell| !numbers.contains(&cell.0)).collect();
        let reads = cells::Reads::plain(na);
        // (Of how a file was written only that counts here: what is given is written as programs write it.)
        let limits =
            |name: &String| known.iter().find(|known| known.0 == *name).map_or([false; 2], |known| known.1.limits);
        let known: Vec<Notation> =
            names.iter().map(|name| Notation { limits: limits(name), ..Notation::default() }).collect();
        let mut making = cells::Making::new(&texts, &known);
        making.push(&cells, 0, 0, reads);
        match making.finish(reads) {
            Ok(mut made) => {
                cells::add_limits(&mut names, &mut made);
                let (columns, told) = made;
                let content = Content::Csv { names, header: None, clear: true, columns, told };
                Ok(Self {
                    name,
                    content,
                    lines: cells.lines,
                    na: na.to_vec(),
                    is_text: false,
                    encoding: Encoding::Utf8,
                })
            }
            Err(placed) => Err(DataError::placed(&name, placed, 0)),
        }
    }

    /// Leaves out the rows that have no value in this column, as rows without a label have, and says how many there were. Where
    /// no row has one, where there is no such column, and in LIBSVM, all rows stay.
    pub fn leave_out_missing(&mut self, column: &str) -> usize {
        let Content::Csv { names, columns, told, .. } = &mut self.content else { return 0 };
        let Some(at) = names.iter().position(|name| name == column) else { return 0 };
        let keep: Vec<bool> = match &columns[at] {
            RawColumn::Numbers(values, _) => values.iter().map(|x| !x.is_nan()).collect(),
            RawColumn::Text { codes, .. } => codes.iter().map(|&code| code != MISSING).collect(),
        };
        let gone = keep.iter().filter(|kept| !**kept).count();
        if gone == 0 || gone == keep.len() {
            return 0;
        }
        for (column, told) in columns.iter_mut().zip(told) {
            let was_text = matches!(column, RawColumn::Text { .. });
            column.retain(&keep);
            if was_text && matches!(column, RawColumn::Numbers(..)) {
                *told = Told::default();
            }
            // (What is open stays so, though the cell that shows it may be gone.)
            told.doubt.iter_mut().for_each(|doubt| doubt.row = row_after(doubt.row, &keep).unwrap_or(0));
        }
        let mut kept = keep.iter();
        self.lines.retain(|_| kept.next().copied().unwrap_or(false));
        gone
    }

    /// The name given when it was read.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file was: `Csv` or `Libsvm`.
    #[must_use]
    pub fn format(&self) -> Format {
        match self.content {
            Content::Csv { .. } => Format::Csv,
            Content::Libsvm { .. } => Format::Libsvm,
        }
    }

    /// Number of rows, at least 1.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Names of the columns, the label's among them; `x1`, `x2`, … without a header. Empty for LIBSVM.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        match &self.content {
            Content::Csv { names, .. } => names.clone(),
            Content::Libsvm { .. } => Vec::new(),
        }
    }

    /// The cells of the k-th column; `None` for LIBSVM and past the last column.
    #[must_use]
    pub fn column(&self, column: usize) -> Option<ColumnValues<'_>> {
        let Content::Csv { columns, .. } = &self.content else { return None };
        Some(match columns.get(column)? {
            RawColumn::Numbers(values, _) => ColumnValues::Numbers(values),
            RawColumn::Text { values, codes, .. } => ColumnValues::Texts { values, codes },
        })
    }

    /// The columns that were written otherwise than plainly, and how; a column with more than one peculiarity is there as often.
    #[must_use]
    pub fn readings(&self) -> Vec<(&str, Reading)> {
        let Content::Csv { names, told, .. } = &self.content else { return Vec::new() };
        let each = names.iter().zip(told);
        each.flat_map(|(name, told)| told.readings.iter().map(|&reading| (name.as_str(), reading))).collect()
    }

    /// How columns are written, by their names, where that is not how numbers usually are in such a file.
    #[must_use]
    pub fn notations(&self) -> Vec<(String, Notation)> {
        let Content::Csv { names, told, .. } = &self.content else { return Vec::new() };
        let other = names.iter().zip(told).filter(|(_, told)| told.notation != Notation::default());
        other.map(|(name, told)| (name.clone(), told.notation)).collect()
    }

    /// The binary logarithm of the buckets of the k-th column, where its categories were hashed.
    pub(super) fn buckets(&self, column: usize) -> u8 {
        let Content::Csv { told, .. } = &self.content else { return 0 };
        told.get(column).map_or(0, |told| told.notation.buckets)
    }

    /// Whether some numbers of the k-th column are limits that values are below, and above.
    pub(super) fn limits(&self, column: usize) -> [bool; 2] {
        let Content::Csv { told, .. } = &self.content else { return [false; 2] };
        told.get(column).map_or([false; 2], |told| told.notation.limits)
    }

    /// What cannot be told of the k-th column, as the error that its use as numbers or dates gives: a decimal mark or an order of
    /// day and month that no cell shows, or cells that contradict each other.
    #[must_use]
    pub fn doubt(&self, column: usize) -> Option<DataError> {
        let Content::Csv { names, told, .. } = &self.content else { return None };
        let Doubted { doubt, row, text, other } = told.get(column)?.doubt.as_ref()?;
        let (name, text, other) = (names[column].clone(), text.clone(), other.clone());
        Some(self.error_at(*row as usize, column, DataErrorKind::Doubtful { doubt: *doubt, column: name, text, other }))
    }

    /// Whether numbers of the k-th column have percent signs; `None` where it has no numbers but 0, or is no column of a text.
    pub(super) fn percent(&self, column: usize) -> Option<bool> {
        let Content::Csv { told, columns, .. } = &self.content else { return None };
        let percent = told.get(column)?.notation.percent;
        let RawColumn::Numbers(values, _) = &columns[column] else { return None };
        (self.is_text && (percent || values.iter().any(|x| *x != 0.0 && !x.is_nan()))).then_some(percent)
    }

    /// How many values are missing in the k-th column; 0 for LIBSVM and past the last column.
    #[must_use]
    pub fn missing(&self, column: usize) -> usize {
        let Content::Csv { columns, .. } = &self.content else { return 0 };
        match columns.get(column) {
            None => 0,
            Some(RawColumn::Numbers(values, _)) => values.iter().filter(|x| x.is_nan()).count(),
            Some(RawColumn::Text { codes, .. }) => codes.iter().filter(|&&code| code == MISSING).count(),
        }
    }

    /// The columns without any value.
    #[must_use]
    pub fn empty(&self) -> Vec<String> {
        let names = self.columns().into_iter().enumerate();
        names.filter(|&(at, _)| self.missing(at) == self.rows()).map(|(_, name)| name).collect()
    }

    /// The different values of the k-th column (of the labels, for LIBSVM) with their counts, as `Options::positive`
    /// calls them; numbers by value, text in order of its bytes. `None` when there are more than `most`.
    #[must_use]
    pub fn values(&self, column: usize, most: usize) -> Option<Vec<(String, usize)>> {
        let mut counts = BTreeMap::<Value, usize>::new();
        let mut add = |value: Value| {
            *counts.entry(value).or_default() += 1;
            counts.len() <= most
        };
        let numbers = |values: &[f64], add: &mut dyn FnMut(Value) -> bool| {
            values.iter().filter(|x| !x.is_nan()).all(|&x| add(Value::Number(ascending(x), number_text(x))))
        };
        let few = match &self.content {
            Content::Libsvm { labels, .. } => numbers(labels, &mut add),
            Content::Csv { columns, .. } => match columns.get(column) {
                None => true,
                Some(RawColumn::Numbers(values, _)) => numbers(values, &mut add),
                Some(RawColumn::Text { values, codes, .. }) => codes
                    .iter()
                    .filter_map(|&code| values.get(code as usize))
                    .all(|text| add(Value::Text(text.clone()))),
            },
        };
        few.then(|| {
            let named = |(value, count)| match value {
                Value::Number(_, text) | Value::Text(text) => (text, count),
            };
            counts.into_iter().map(named).collect()
        })
    }

    /// Whether the first line named the columns.
    #[must_use]
    pub fn has_header(&self) -> bool {
        matches!(self.content, Content::Csv { header: Some(_), .. })
    }

    /// Whether the first line could be read either way, as names or as a row: [`ReadOptions::header`] did not say, and
    /// it is without numbers above columns of text, or holds a usual name of the label and little else speaks for names.
    #[must_use]
    pub fn header_is_guessed(&self) -> bool {
        matches!(self.content, Content::Csv { clear: false, .. })
    }

    /// The first cell of the k-th column that is there and no number, with its line; `None` for a column of numbers, for
    /// LIBSVM and past the last column.
    #[must_use]
    pub fn first_text(&self, column: usize) -> Option<(u32, &str)> {
        let Content::Csv { columns, .. } = &self.content else { return None };
        let RawColumn::Text { values, codes, .. } = columns.get(column)? else { return None };
        codes.iter().zip(&self.lines).find_map(|(&code, &line)| {
            let text = values.get(code as usize)?;
            text.parse::<f64>().is_err().then_some((line, text.as_str()))
        })
    }

    /// The first cell of the k-th column that is no number, with its line, in a column where most cells are.
    #[must_use]
    pub fn stray(&self, column: usize) -> Option<(u32, &str)> {
        let Content::Csv { columns, .. } = &self.content else { return None };
        let RawColumn::Text { values, codes, stray: Some(row) } = columns.get(column)? else { return None };
        let row = *row as usize;
        Some((*self.lines.get(row)?, values.get(*codes.get(row)? as usize)?.as_str()))
    }

    /// An error in the cell `column` of `row`.
    pub(super) fn error_at(&self, row: usize, column: usize, kind: DataErrorKind) -> DataError {
        let line = self.lines.get(row).copied().unwrap_or(0);
        DataError { file: self.name.clone(), line, column: column as u32 + 1, kind }
    }

    /// An error about which columns there are: in the line that names them, if one does.
    pub(super) fn error_in_header(&self, kind: DataErrorKind) -> DataError {
        let line = if let Content::Csv { header, .. } = &self.content { header.unwrap_or(0) } else { 0 };
        DataError { file: self.name.clone(), line, column: 0, kind }
    }

    /// An error of the whole file.
    pub(super) fn error(&self, kind: DataErrorKind) -> DataError {
        DataError { file: self.name.clone(), line: 0, column: 0, kind }
    }
}

/// A cell's value, ordered.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Number(i64, String),
    Text(String),
}

/// An integer that orders as the number does.
fn ascending(x: f64) -> i64 {
    let bits = (x + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// A number as a category or label is called.
pub(super) fn number_text(x: f64) -> String {
    format!("{}", x + 0.0) // −0 is called 0
}

/// Bytes of a text that are taken at once.
const PIECE: usize = 1 << 17;

const TOO_LARGE: DataErrorKind = DataErrorKind::TooLarge { what: "a line of the text" };

/// What Windows-1252 has in place of the control characters from 128 to 159; five are left as they are.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The bytes as text, without a byte order mark, and with a blank line for one that names the delimiter.
fn decode(piece: &pieces::Piece, encoding: Encoding) -> Result<Cow<'_, str>, Placed> {
    const KNOWN: [(&[u8], &str); 7] = [
        (b"PK\x03\x04", "a zip archive"),
        (b"PAR1", "a Parquet file"),
        (b"\xfd7zXZ", "an xz archive"),
        (b"\x28\xb5\x2f\xfd", "zstd inside gzip or zstd"),
        (b"\xff\xfe", "UTF-16"),
        (b"\xfe\xff", "UTF-16"),
        (b"\x1f\x8b", "gzip inside gzip or zstd"),
    ];
    let (bytes, first) = (piece.bytes.as_slice(), piece.before == 0);
    if let Some(&(_, looks_like)) = KNOWN.iter().find(|(magic, _)| first && bytes.starts_with(magic)) {
        return Err(whole(DataErrorKind::Binary { looks_like }));
    }
    // Tab, line feed, form feed and carriage return are the control characters that text has.
    let control = |b: u8| b < 32 && !matches!(b, b'\t' | b'\n' | b'\r' | 12);
    if bytes.iter().fold(false, |any, &b| any | control(b)) {
        let saved = bytes.starts_with(crate::checkpoint::MAGIC);
        let looks_like = if saved { "a run that undercurve saved" } else { "binary data" };
        return Err(whole(DataErrorKind::Binary { looks_like }));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| first).unwrap_or(bytes);
    let bytes = if first && csv::separator(bytes).is_some() { &bytes[5..] } else { bytes };
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) if encoding == Encoding::Latin1 => {
            let char = |&b: &u8| if matches!(b, 128..160) { WINDOWS[usize::from(b - 128)] } else { char::from(b) };
            Ok(Cow::Owned(bytes.iter().map(char).collect()))
        }
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
            Err((line as u32, 0, DataErrorKind::Encoding))
        }
    }
}

fn detect(text: &str, options: &ReadOptions, name: &str) -> Format {
    if options.format != Format::Auto {
        return options.format;
    }
    let lower = name.to_ascii_lowercase();
    let plain = [".gz", ".zst"].iter().find_map(|end| lower.strip_suffix(end)).unwrap_or(&lower);
    if [".csv", ".tsv"].iter().any(|end| plain.ends_with(end)) {
        return Format::Csv;
    }
    if [".svm", ".libsvm", ".svmlight"].iter().any(|end| plain.ends_with(end)) {
        return Format::Libsvm;
    }
    let (mut pairs, mut others) = (0, 0);
    for line in text.lines().take(20) {
        for token in line.split_once('#').map_or(line, |(data, _)| data).split_ascii_whitespace().skip(1) {
            let is_pair = token.split_once(':').is_some_and(|(index, value)| {
                !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) && !value.contains([',', ';', ':'])
            });
            *(if is_pair { &mut pairs } else { &mut others }) += 1;
        }
    }
    if pairs > others { Format::Libsvm } else { Format::Csv }
}
