//! A parsed file.

use super::column::{Content, Doubted, MISSING, RawColumn, Told, row_after};
use super::reads::Reads;
use super::whole::Whole;
use super::{
    Absent, ColumnValues, Encoding, Format, Kind, Notation, PIECE, ReadOptions, Reading, TOO_LARGE, cells, csv,
    number_text,
};
use crate::data::MAX_COLUMNS;
use crate::data::error::{DataError, DataErrorKind, whole};
use crate::error::{Error, exact_len};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

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

/// A parsed file: columns of numbers or text, or sparse rows, with the line each row came from.
///
/// Cells of a CSV file lose the blanks around them. Empty ones are missing, and in a column whose other cells are numbers or dates `?`,
/// `-`, `NA`, `N/A`, `#N/A`, `NaN`, `null` and `None` (in any case), too; elsewhere these are texts as any. Infinities among numbers are an error. Numbers may have decimal commas, marks between thousands, percent
/// signs, currencies, and brackets or a minus behind them where they are negative; a column of dates becomes days, and limits of measuring
/// become numbers with a column at the end that says which they are ([`Reading`]). Of what can be read in two ways,
/// as 1.243 and 03/04/2022 can, the column's other cells decide, then the file's; where none does, training on it is an error
/// ([`doubt`](Self::doubt)). Blank lines are skipped, a byte order mark is too. A column is text as soon as one cell is neither a number nor missing.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    pub(in crate::data) name: String,
    pub(in crate::data) content: Content,
    pub(in crate::data) lines: Vec<u32>,
    /// Spellings of missing values that were named.
    pub(in crate::data) na: Vec<String>,
    /// Whether it was read from a text, and not made of values in memory.
    pub(in crate::data) is_text: bool,
    pub(in crate::data) encoding: Encoding,
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
        let mut table = Whole::new(options, name);
        bytes.chunks(PIECE).try_for_each(|piece| table.push(piece))?;
        Self::made(table.finish()?, options, name)
    }

    /// Reads a file as its bytes come, plain or packed as in [`parse`](Self::parse).
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and `Unreadable`.
    #[cfg(feature = "std")]
    pub fn read(reader: impl std::io::Read, options: &ReadOptions, name: &str) -> Result<Self, DataError> {
        let failed = |error: std::io::Error| DataError::placed(name, whole(super::unpack::kind(&error)), 0);
        let mut reader = super::unpack::unpacked(reader).map_err(failed)?;
        let mut table = Whole::new(options, name);
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

    pub(super) fn made(
        (content, lines): (Content, Vec<u32>),
        options: &ReadOptions,
        name: &str,
    ) -> Result<Self, DataError> {
        Ok(Self {
            name: name.to_string(),
            content,
            lines,
            na: options.na.clone(),
            is_text: true,
            encoding: options.encoding,
        })
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
        let reads = Reads::PLAIN;
        // (Of how a file was written only that counts here: what is given is written as programs write it.)
        let of = |name: &String| {
            let known = known.iter().find(|known| known.0 == *name).map_or(Notation::default(), |known| known.1);
            Notation { limits: known.limits, kind: known.kind, ..Notation::default() }
        };
        let known: Vec<Notation> = names.iter().map(of).collect();
        let mut making = cells::Making::new(&names, &texts, &known, na);
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
                *told = Told { notation: Notation::of(Kind::Number), ..Told::default() };
            }
            // (What is open stays so, though the cell that shows it may be gone.)
            told.doubt.iter_mut().for_each(|doubt| doubt.row = row_after(doubt.row, &keep).unwrap_or(0));
        }
        let mut kept = keep.iter();
        self.lines.retain(|_| kept.next().copied().unwrap_or(false));
        gone
    }

    /// The same rows, behind so many others: errors count on.
    #[must_use]
    pub fn behind(mut self, rows: usize) -> Self {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        self.lines.iter_mut().for_each(|line| *line = line.saturating_add(rows));
        self
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

    /// How columns are written, by their names, where that is not how numbers usually are in such a file; what they are says
    /// [`kind`](Self::kind).
    #[must_use]
    pub fn notations(&self) -> Vec<(String, Notation)> {
        let Content::Csv { names, told, .. } = &self.content else { return Vec::new() };
        let of = |told: &Told| Notation { kind: Kind::Unknown, ..told.notation };
        let other = names.iter().zip(told).filter(|(_, told)| of(told) != Notation::default());
        other.map(|(name, told)| (name.clone(), of(told))).collect()
    }

    /// What the cells of the k-th column are.
    #[must_use]
    pub fn kind(&self, column: usize) -> Kind {
        let Content::Csv { told, .. } = &self.content else { return Kind::Number };
        told.get(column).map_or(Kind::Unknown, |told| told.notation.kind)
    }

    /// The usual words that stood for missing values among the numbers or dates of the k-th column, and how many there were of each.
    #[must_use]
    pub fn words(&self, column: usize) -> &[(String, usize)] {
        let Content::Csv { told, .. } = &self.content else { return &[] };
        told.get(column).map_or(&[], |told| &told.words)
    }

    /// Two numbers of the k-th column that are written otherwise, and are one number; `codes`: also those that are told apart as
    /// categories.
    pub(in crate::data) fn two_spellings(&self, column: usize, codes: bool) -> Option<(String, String)> {
        let Content::Csv { told, columns, .. } = &self.content else { return None };
        let RawColumn::Numbers(values, _) = columns.get(column)? else { return None };
        told.get(column)?.spellings.two(values, codes)
    }

    /// Makes missing what these spellings say stands for that, in a table that was not read from a text by them.
    pub(in crate::data) fn forget(&mut self, na: &[String]) {
        let all = Absent::all(na);
        let Content::Csv { names, columns, .. } = &mut self.content else { return };
        for (name, column) in names.iter().zip(columns) {
            let absent = all.of(name);
            match column {
                RawColumn::Numbers(values, _) => {
                    let gone = absent.numbers();
                    values.iter_mut().filter(|x| gone.contains(x)).for_each(|x| *x = f64::NAN);
                }
                RawColumn::Text { values, codes, .. } => {
                    let gone: Vec<bool> = values.iter().map(|text| absent.has(text)).collect();
                    let is = |code: &&mut u32| gone.get(**code as usize) == Some(&true);
                    codes.iter_mut().filter(is).for_each(|code| *code = MISSING);
                }
            }
        }
    }

    /// The binary logarithm of the buckets of the k-th column, where its categories were hashed.
    pub(in crate::data) fn buckets(&self, column: usize) -> u8 {
        let Content::Csv { told, .. } = &self.content else { return 0 };
        told.get(column).map_or(0, |told| told.notation.buckets)
    }

    /// Whether some numbers of the k-th column are limits that values are below, and above.
    pub(in crate::data) fn limits(&self, column: usize) -> [bool; 2] {
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
    pub(in crate::data) fn percent(&self, column: usize) -> Option<bool> {
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
        let none = |at: usize| self.missing(at) == self.rows() && self.doubt(at).is_none();
        names.filter(|&(at, _)| none(at)).map(|(_, name)| name).collect()
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

    /// How many columns there are; of LIBSVM the largest index.
    #[must_use]
    pub fn width(&self) -> usize {
        match &self.content {
            Content::Csv { names, .. } => names.len(),
            Content::Libsvm { cols, .. } => *cols,
        }
    }

    /// The columns, from 0, and values of a LIBSVM row; `None` for tables with names, and past the last row.
    #[must_use]
    pub fn sparse_row(&self, row: usize) -> Option<(&[u32], &[f64])> {
        let Content::Libsvm { ptr, col, val, .. } = &self.content else { return None };
        let range = *ptr.get(row)?..*ptr.get(row + 1)?;
        Some((col.get(range.clone())?, val.get(range)?))
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
    pub(in crate::data) fn error_at(&self, row: usize, column: usize, kind: DataErrorKind) -> DataError {
        let line = self.lines.get(row).copied().unwrap_or(0);
        DataError { file: self.name.clone(), line, column: column as u32 + 1, kind }
    }

    /// An error about which columns there are: in the line that names them, if one does.
    pub(in crate::data) fn error_in_header(&self, kind: DataErrorKind) -> DataError {
        let line = if let Content::Csv { header, .. } = &self.content { header.unwrap_or(0) } else { 0 };
        DataError { file: self.name.clone(), line, column: 0, kind }
    }

    /// An error of the whole file.
    pub(in crate::data) fn error(&self, kind: DataErrorKind) -> DataError {
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
