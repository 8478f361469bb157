//! What rows count: a column of numbers.

use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, RawColumn, RawTable, number_text};
use super::table::{find_column, first_missing, not_a_number};
use alloc::vec::Vec;

/// The weights of some rows.
///
/// # Errors
/// `MissingColumn`, `NoWeightColumn`; with their place `Missing`, `NotANumber`, `Weight`.
pub(super) fn weights(table: &RawTable, name: &str, rows: &[u32]) -> Result<Vec<f64>, DataError> {
    let Content::Csv { names, columns, .. } = &table.content else {
        return Err(table.error(DataErrorKind::NoWeightColumn));
    };
    let at = find_column(table, names, name)?;
    first_missing(table, &[at], rows)?;
    let weight = |&row: &u32| {
        let row = row as usize;
        match &columns[at] {
            RawColumn::Numbers(values) if values[row] >= 0.0 && values[row].is_finite() => Ok(values[row]),
            RawColumn::Numbers(values) => {
                let kind = DataErrorKind::Weight { text: number_text(values[row]), column: name.into() };
                Err(table.error_at(row, at, kind))
            }
            RawColumn::Text { values, codes, .. } => {
                let text = values[codes[row] as usize].as_str();
                text.parse().ok().filter(|w: &f64| *w >= 0.0).ok_or_else(|| not_a_number(table, row, at, name, text))
            }
        }
    };
    rows.iter().map(weight).collect()
}
