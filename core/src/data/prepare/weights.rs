//! Weights of rows: a column of numbers.

use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, RawColumn, RawTable, number_text};
use super::table::{find_column, not_a_number, refuse_doubt};
use alloc::string::String;
use alloc::vec::Vec;

/// The weights of some rows.
///
/// # Errors
/// `MissingColumn`, `NoWeightColumn`; with their place `NotANumber`, and `Weight`, also for a missing one.
pub(super) fn weights(table: &RawTable, name: &str, rows: &[u32]) -> Result<Vec<f64>, DataError> {
    let Content::Csv { names, columns, .. } = &table.content else {
        return Err(table.error(DataErrorKind::NoWeightColumn));
    };
    let at = find_column(table, names, name)?;
    refuse_doubt(table, at)?;
    let weight = |&row: &u32| {
        let row = row as usize;
        let refuse = |text| {
            let kind = DataErrorKind::Weight { text, column: name.into() };
            Err(table.error_at(row, at, kind))
        };
        match &columns[at] {
            RawColumn::Numbers(values, _) if values[row] >= 0.0 && values[row].is_finite() => Ok(values[row]),
            RawColumn::Numbers(values, _) if values[row].is_nan() => refuse(String::new()),
            RawColumn::Numbers(values, _) => refuse(number_text(values[row])),
            RawColumn::Text { values, codes, .. } => match values.get(codes[row] as usize) {
                None => refuse(String::new()),
                Some(text) => match text.parse::<f64>() {
                    Ok(w) if w >= 0.0 && w.is_finite() => Ok(w),
                    Ok(_) => refuse(text.clone()),
                    Err(_) => Err(not_a_number(table, row, at, name, text)),
                },
            },
        }
    };
    rows.iter().map(weight).collect()
}
