//! Rows, columns and missing values of a table that is being prepared.

use super::super::Kind;
use super::super::error::{DataError, DataErrorKind, Doubt};
use super::super::parse::{Content, MISSING, RawColumn, RawTable, truth};
use super::{MAX_DENSE, Options, SplitBy};
use crate::error::Error;
use crate::real::Real;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Refuses a column that nothing can be made of, categories neither.
pub(super) fn refuse_unreadable(table: &RawTable, at: usize) -> Result<(), DataError> {
    let is = |kind: &DataErrorKind| matches!(kind, DataErrorKind::Doubtful { doubt: Doubt::Unreadable, .. });
    table.doubt(at).filter(|error| is(&error.kind)).map_or(Ok(()), Err)
}

/// Refuses a column, read as numbers or dates, that can be read in two ways.
pub(super) fn refuse_doubt(table: &RawTable, at: usize) -> Result<(), DataError> {
    table.doubt(at).map_or(Ok(()), Err)
}

/// The columns that the options say are no features.
pub(super) fn not_features(options: &Options) -> impl Iterator<Item = &String> {
    let split_by = options.split_by.as_ref().map(SplitBy::column);
    options.ignore.iter().chain(&options.weight).chain(split_by)
}

/// Rows whose memory a table gives back at once.
pub(super) const GIVEN_BACK: usize = 1 << 16;

pub(super) fn all_rows(table: &RawTable) -> Vec<u32> {
    (0..table.rows() as u32).collect()
}

pub(super) fn check_rows(table: &RawTable, rows: &[u32]) -> Result<(), DataError> {
    let len = table.rows();
    if rows.is_empty() {
        return Err(table.error(Error::Empty { what: "rows" }.into()));
    }
    match rows.iter().position(|&row| row as usize >= len) {
        Some(at) => Err(table.error(Error::Index { what: "rows", at, len }.into())),
        None => Ok(()),
    }
}

/// The most values that a table of so many rows and columns becomes, but for pieces of numbers, which were asked for.
pub(super) fn most_dense(rows: usize, columns: usize) -> usize {
    MAX_DENSE.max(rows.saturating_mul(columns).saturating_mul(4))
}

pub(super) fn check_dense(table: &RawTable, rows: usize, columns: usize) -> Result<(), DataError> {
    match rows.checked_mul(columns) {
        Some(values) if values <= MAX_DENSE => Ok(()),
        _ => Err(table.error(DataErrorKind::TooWide { rows, columns, widest: String::new() })),
    }
}

pub(super) fn reserve<T>(table: &RawTable, rows: usize, cols: usize) -> Result<Vec<T>, DataError> {
    let mut data = Vec::new();
    let reserved = rows.checked_mul(cols).is_some_and(|len| data.try_reserve_exact(len).is_ok());
    if reserved { Ok(data) } else { Err(table.error(DataErrorKind::TooLarge { what: "the table of features" })) }
}

/// A table of zeros, whose memory the system gives where it is written to.
pub(super) fn zeros<T: Real>(table: &RawTable, rows: usize, cols: usize) -> Result<Vec<T>, DataError> {
    drop(reserve::<T>(table, rows, cols)?);
    Ok(vec![T::ZERO; rows * cols])
}

pub(super) fn not_a_number(table: &RawTable, row: usize, at: usize, column: &str, text: &str) -> DataError {
    table.error_at(row, at, DataErrorKind::NotANumber { text: text.to_string(), column: column.to_string() })
}

/// Where columns are, by their names: for many of them, where [`find_column`] is for one.
pub(super) fn places(names: &[String]) -> BTreeMap<&str, usize> {
    names.iter().map(String::as_str).zip(0..).collect()
}

/// The same of a table.
pub(super) fn places_of(table: &RawTable) -> BTreeMap<&str, usize> {
    if let Content::Csv { names, .. } = &table.content { places(names) } else { BTreeMap::new() }
}

/// The numbers of a column that is one of them, true and false among these as 1 and 0; `None` of categories.
pub(super) fn numbers_of<'a>(table: &'a RawTable, at: usize, categorical: bool) -> Option<Cow<'a, [f64]>> {
    let Content::Csv { columns, .. } = &table.content else { return None };
    match (columns.get(at)?, table.kind(at)) {
        _ if categorical => None,
        (_, Kind::Level) => None,
        (RawColumn::Numbers(values, _), _) => Some(Cow::Borrowed(values)),
        (RawColumn::Text { values, codes, .. }, Kind::Truth) => {
            let of = |&code: &u32| truth(values.get(code as usize)?).map(|one| f64::from(u8::from(one)));
            Some(codes.iter().map(|code| of(code).unwrap_or(f64::NAN)).collect())
        }
        (RawColumn::Text { .. }, _) => None,
    }
}

/// What a column is to a model, taken as categories or not.
pub(super) fn kind_of(table: &RawTable, at: usize, categorical: bool) -> Kind {
    match table.kind(at) {
        Kind::Number if categorical => Kind::Level,
        kind => kind,
    }
}

pub(super) fn find_column(table: &RawTable, names: &[String], name: &str) -> Result<usize, DataError> {
    names.iter().position(|there| there == name).ok_or_else(|| no_column(table, names, name))
}

pub(super) fn no_column(table: &RawTable, names: &[String], name: &str) -> DataError {
    let mut error =
        table.error_in_header(DataErrorKind::MissingColumn { name: name.to_string(), columns: names.to_vec() });
    // (Of two lines of names the second has it.)
    if let (Content::Csv { columns, .. }, true) = (&table.content, table.is_text) {
        let begins = columns.iter().any(|column| match column {
            RawColumn::Text { values, codes, .. } => {
                codes.first().is_some_and(|&code| values.get(code as usize).is_some_and(|text| text == name))
            }
            RawColumn::Numbers(..) => false,
        });
        if begins {
            error.line = table.lines.first().copied().unwrap_or(error.line);
        }
    }
    error
}

pub(super) fn is_missing(column: &RawColumn, row: u32) -> bool {
    match column {
        RawColumn::Numbers(values, _) => values[row as usize].is_nan(),
        RawColumn::Text { codes, .. } => codes[row as usize] == MISSING,
    }
}

/// The error of the first missing value among some columns, in reading order.
pub(super) fn first_missing(table: &RawTable, columns: &[usize], rows: &[u32]) -> Result<(), DataError> {
    let Content::Csv { names, columns: raw, .. } = &table.content else { return Ok(()) };
    let first = columns.iter().filter_map(|&at| Some((*rows.iter().find(|&&row| is_missing(&raw[at], row))?, at)));
    match first.min() {
        Some((row, at)) => Err(table.error_at(row as usize, at, DataErrorKind::Missing { column: names[at].clone() })),
        None => Ok(()),
    }
}
