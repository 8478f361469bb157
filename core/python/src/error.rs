//! Errors of the core as Python's: `ValueError`, with the argument and the row, from 0.

use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use undercurve::Error;
use undercurve::data::{DataError, DataErrorKind, Doubt};
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
        Error::NonFinite { what: "scores", at } => {
            format!("scores: row {at} is NaN or infinite (numpy.nan_to_num makes infinite ones the first or the last)")
        }
        Error::NonFinite { what, at } => format!("{what}: row {at} is NaN or infinite"),
        Error::Label { at } => format!("labels: row {at} is neither 0 nor 1"),
        Error::Weight { at } => format!("weights: row {at} is no number of 0 or more"),
        Error::OneClass => "labels: one class has no row; both positives and negatives are needed".to_string(),
        Error::Length { what, need, got } => format!("{what}: {got} values, expected {need}"),
        Error::Param { what } => format!("{what}: outside its range"),
        error => error.to_string(),
    })
}

/// What to do about it, in Python's words.
fn remedy(kind: &DataErrorKind) -> String {
    match kind {
        DataErrorKind::LabelWord { word, column, .. } => {
            format!(" (na=[{word:?}] leaves these rows out, na=[{:?}] takes it as a class)", format!("{column}="))
        }
        DataErrorKind::LabelTwice { column, .. } => {
            format!(" (as texts they are apart: categorical=[{column:?}] of a file, astype(str) of a frame)")
        }
        DataErrorKind::LabelSpellings { labels } => format!(" (positive={labels:?})"),
        DataErrorKind::Doubtful { doubt: Doubt::Unreadable, column, .. } => {
            format!(" (ignore=[{column:?}] leaves it out)")
        }
        DataErrorKind::Doubtful { doubt: Doubt::Spelling, column, .. } => {
            format!(" (astype(str) makes {column:?} text)")
        }
        DataErrorKind::NotANumber { text, column } => {
            format!("; categorical=[{column:?}] takes it as text, na=[{text:?}] takes the cell for missing")
        }
        DataErrorKind::Encoding => " (encoding='latin1' reads Western European text of Windows)".to_string(),
        DataErrorKind::OtherKind { column, .. } => format!(" (give {column:?} the type that it had in training)"),
        _ => String::new(),
    }
}

/// An error of a file; or of a table in memory, which has no name, and whose row k is line k + 1.
pub fn data(error: &DataError, columns: &[String]) -> PyErr {
    let remedy = remedy(&error.kind);
    if !error.file.is_empty() {
        return value(format!("{error}{remedy}"));
    }
    let column = (error.column as usize).checked_sub(1).and_then(|at| columns.get(at));
    let place = match (error.line.checked_sub(1), column) {
        (Some(row), Some(name)) => format!("row {row}, column {name:?}: "),
        (Some(row), None) => format!("row {row}: "),
        (None, Some(name)) => format!("column {name:?}: "),
        (None, None) => String::new(),
    };
    let text = format!("{place}{}{remedy}", error.kind);
    if matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Unreadable, .. }) {
        kind(text)
    } else {
        value(text)
    }
}

/// An error of labels alone.
pub fn labels_refused(error: &DataError) -> PyErr {
    let row = error.line.checked_sub(1).map_or(String::new(), |row| format!("row {row}: "));
    value(format!("labels: {row}{}{}", error.kind, remedy(&error.kind)))
}

/// An error of a run.
pub fn trainer(error: TrainerError) -> PyErr {
    match error {
        TrainerError::Core(error) => core(error),
        error => value(error.to_string()),
    }
}
