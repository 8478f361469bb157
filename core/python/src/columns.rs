//! Statistics of columns, which merge, and the preparation that they make.

use crate::error::{data, value};
use crate::table::{Table, read_again};
use crate::trainer::{missing, scale, target};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use undercurve::data as core_data;
use undercurve::data::{Encode, Options, Rows, Targets};

/// `undercurve.ColumnStats` documents it.
#[pyclass(module = "undercurve._core", frozen)]
#[derive(Default)]
pub struct ColumnStats(Mutex<core_data::ColumnStats>);

/// What a part is counted by.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    label: String,
    target: String,
    categorical: Vec<String>,
    features: Vec<String>,
    ignore: Vec<String>,
}

/// What the preparation is made by.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Finish {
    target: String,
    positive: Option<String>,
    scale: Option<String>,
    encode: Option<String>,
    missing: String,
    keep_identifiers: bool,
}

impl ColumnStats {
    fn lock(&self) -> MutexGuard<'_, core_data::ColumnStats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ColumnStats {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[staticmethod]
    fn of(py: Python<'_>, table: &Table, asked: Asked) -> PyResult<Self> {
        let Asked { label, categorical, features, ignore, .. } = asked;
        let target = target(&asked.target)?;
        let options = Options { label: Some(label), target, categorical, features, ignore, ..Options::default() };
        let stats = py.detach(|| core_data::ColumnStats::of(&table.table, &options));
        stats.map(|stats| Self(Mutex::new(stats))).map_err(|error| data_error(&error, table))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let stats = py.detach(|| core_data::ColumnStats::from_bytes(bytes));
        stats.map(|stats| Self(Mutex::new(stats))).map_err(|error| value(error.to_string()))
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        // (A copy, so that they can be merged with themselves, and two with each other.)
        py.detach(|| {
            let other = other.lock().clone();
            self.lock().merge(&other)
        })
        .map_err(|error| data(&error, &[]))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.lock().to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.lock().rows()
    }

    fn finish(&self, py: Python<'_>, asked: Finish) -> PyResult<Preparation> {
        let options = Options {
            target: target(&asked.target)?,
            positive: asked.positive,
            scale: asked.scale.as_deref().map(scale).transpose()?,
            encode: asked.encode.as_deref().map_or(Ok(Encode::Linear), crate::trainer::encode)?,
            missing: missing(&asked.missing)?,
            keep_identifiers: asked.keep_identifiers,
            ..Options::default()
        };
        py.detach(|| self.lock().finish(&options)).map(Preparation).map_err(|error| data(&error, &[]))
    }
}

/// `undercurve.Preparation` documents it.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Preparation(core_data::Preparation);

fn data_error(error: &core_data::DataError, table: &Table) -> PyErr {
    data(error, &table.table.columns())
}

#[pymethods]
impl Preparation {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        core_data::Preparation::from_bytes(bytes).map(Self).map_err(|error| value(error.to_string()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Names of the columns after encoding.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.column_names()
    }

    /// The label column, the positive label, and the classes.
    #[getter]
    fn labels(&self) -> (Option<String>, Option<String>, Vec<String>) {
        (self.0.label_column().map(Into::into), self.0.positive().map(Into::into), self.0.classes().to_vec())
    }

    /// A file of rows, read as those that it was made of.
    fn read(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<Table> {
        py.detach(|| read_again(&path, &self.0)).map(Table::from)
    }

    /// Rows as a model sees them, rows × columns, and their targets, if they are asked for.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        targets: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let table_of = &table.table;
        let made =
            py.detach(|| if targets { self.0.apply::<f64>(table_of) } else { self.0.apply_unlabelled(table_of) });
        let made = made.map_err(|error| data_error(&error, table))?;
        let Rows::Dense { data: x, cols, .. } = made.rows() else { return Err(value("rows that are not dense")) };
        let x = x.to_vec().into_pyarray(py).reshape([x.len() / cols.max(1), cols])?.into_any();
        let y = match (targets, made.targets()) {
            (false, _) | (_, Targets::None) => None,
            (_, Targets::Values(values)) => Some(values.clone().into_pyarray(py).into_any()),
            (_, Targets::Classes { labels, .. }) => Some(labels.clone().into_pyarray(py).into_any()),
            (_, _) => Some(made.labels().to_vec().into_pyarray(py).into_any()),
        };
        Ok((x, y))
    }
}
