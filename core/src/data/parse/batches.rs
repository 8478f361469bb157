//! Tables of columns in memory.

use super::reads::Reads;
use super::{Content, Encoding, RawTable, ReadOptions, TOO_LARGE, Values, cells};
use crate::data::error::{DataError, DataErrorKind, whole};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl RawTable {
    /// A table of columns that are in memory: what a CSV file of the same cells is, whose row k is line k + 1; but text stays
    /// what it is, to the last byte, also where all of it is numbers or dates, or words for a missing value.
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
        let names = columns.iter().map(|column| column.0.to_string()).collect();
        let mut all = Batches::new(name, names, &ReadOptions::default())?;
        all.push(&columns.iter().map(|column| column.1).collect::<Vec<_>>())?;
        all.finish()
    }
}

/// A table of columns in memory that come in batches of rows: what [`RawTable::of_columns`] makes of all rows at once. The memory is that
/// of the table.
#[derive(Clone, Debug)]
pub struct Batches {
    name: String,
    names: Vec<String>,
    na: Vec<String>,
    /// Of each column the binary logarithm of its buckets, or 0.
    buckets: Vec<u8>,
    columns: Option<cells::Making>,
    rows: usize,
}

impl Batches {
    /// Columns of these names. Of the options it reads what stands for missing values, and which columns are hashed.
    ///
    /// # Errors
    /// `DuplicateColumn`.
    pub fn new(name: &str, names: Vec<String>, options: &ReadOptions) -> Result<Self, DataError> {
        let mut known = BTreeSet::new();
        if let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) {
            return Err(DataError::placed(name, whole(DataErrorKind::DuplicateColumn { name: twice.clone() }), 0));
        }
        let buckets = |name: &String| options.columns.iter().find(|of| of.0 == *name).map_or(0, |of| of.1.buckets);
        let buckets = names.iter().map(buckets).collect();
        Ok(Self { name: name.to_string(), names, na: options.na.clone(), buckets, columns: None, rows: 0 })
    }

    /// Adds rows: a batch of each column, which is of one kind in all batches.
    ///
    /// # Errors
    /// `Ragged` for columns of other lengths than the first (its place is the column), or another number of them; `TooLarge`,
    /// and `OtherFormat` for a column that was of another kind.
    pub fn push(&mut self, columns: &[Values<'_>]) -> Result<(), DataError> {
        let at = |placed| DataError::placed(&self.name, placed, 0);
        if columns.len() != self.names.len() {
            return Err(at(whole(DataErrorKind::Ragged { need: self.names.len(), got: columns.len() })));
        }
        let rows = columns.first().map_or(0, |column| column.len());
        if let Some(column) = columns.iter().position(|column| column.len() != rows) {
            let got = columns[column].len();
            return Err(at((0, column as u32 + 1, DataErrorKind::Ragged { need: rows, got })));
        }
        if rows > u32::MAX as usize - self.rows {
            return Err(at(whole(TOO_LARGE)));
        }
        let making = cells::Making::of_columns(columns.iter().copied(), &self.buckets, self.rows);
        match &mut self.columns {
            None => self.columns = Some(making),
            Some(before) => {
                if !before.append(making).is_empty() {
                    return Err(at(whole(DataErrorKind::OtherFormat)));
                }
            }
        }
        self.rows += rows;
        Ok(())
    }

    /// The table.
    ///
    /// # Errors
    /// `Empty` without rows, `NonFinite`.
    pub fn finish(self) -> Result<RawTable, DataError> {
        let Self { name, names, na, columns, rows, .. } = self;
        let at = |placed| DataError::placed(&name, placed, 0);
        let columns = columns.filter(|_| rows > 0).ok_or_else(|| at(whole(DataErrorKind::Empty)))?;
        let (columns, told) = columns.finish(Reads::PLAIN).map_err(at)?;
        let content = Content::Csv { names, header: None, clear: true, columns, told };
        let lines = (1..=rows as u32).collect();
        let mut table = RawTable { name, content, lines, na, is_text: false, encoding: Encoding::Utf8 };
        let na = table.na.clone();
        table.forget(&na);
        Ok(table)
    }
}
