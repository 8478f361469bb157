//! Errors of the core as Python's: `ValueError`, with the argument and the row, from 0.

use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use undercurve::Error;
use undercurve::data::DataError;
use undercurve::trainer::TrainerError;

/// A wrong value.
pub fn value(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

/// A wrong type.
pub fn kind(text: impl Into<String>) -> PyErr {
    PyTypeError::new_err(text.into())
}

/// An error of the core.
pub fn core(error: Error) -> PyErr {
    value(match error {
        Error::NonFinite { what, at } => format!("{what}: row {at} is NaN or infinite"),
        Error::Label { at } => format!("labels: row {at} is neither 0 nor 1"),
        Error::Weight { at } => format!("weights: row {at} is no number of 0 or more"),
        Error::OneClass => "labels: one class has no row; both positives and negatives are needed".to_string(),
        Error::Length { what, need, got } => format!("{what}: {got} values, expected {need}"),
        Error::Param { what } => format!("{what}: outside its range"),
        error => error.to_string(),
    })
}

/// An error of a file; or of a table in memory, which has no name, and whose row k is line k + 1.
pub fn data(error: &DataError, columns: &[String]) -> PyErr {
    if !error.file.is_empty() {
        return value(error.to_string());
    }
    let column = (error.column as usize).checked_sub(1).and_then(|at| columns.get(at));
    let place = match (error.line.checked_sub(1), column) {
        (Some(row), Some(name)) => format!("row {row}, column {name:?}: "),
        (Some(row), None) => format!("row {row}: "),
        (None, Some(name)) => format!("column {name:?}: "),
        (None, None) => String::new(),
    };
    value(format!("{place}{}", error.kind))
}

/// An error of a run.
pub fn trainer(error: TrainerError) -> PyErr {
    match error {
        TrainerError::Core(error) => core(error),
        error => value(error.to_string()),
    }
}
