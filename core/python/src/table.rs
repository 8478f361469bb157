//! Tables of the core from what Python has: arrays, sparse rows, columns by the Arrow C interface, and files.

use crate::arrays::{Column as Array, Floats, indices, matrix, same};
use crate::error::{data, kind, labels_refused, value};
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use numpy::PyReadonlyArray1;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyList, PyTuple};
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use undercurve::data::{
    DataError, DataErrorKind, Encoding, Kind, Options, RawTable, ReadOptions, Values, binary_labels, check_label,
    days_of_nanos, label_column_of,
};
use undercurve_arrow::{Rows, parquet, single};

/// A column of its own memory.
enum Column {
    Numbers(Vec<f64>),
    /// Whole numbers; those that a float has not, with their rows and digits.
    Whole(Vec<f64>, Vec<(u32, String)>),
    Of(Kind, Vec<f64>),
    Texts(Vec<Option<String>>),
}

impl Column {
    /// Of what `undercurve.frames.column` makes: an array of numbers, a list of texts and None, or a kind with an array, of moments and
    /// lengths of time with the nanoseconds of a unit, of whole numbers with the digits of some.
    fn of(name: &str, any: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(list) = any.cast::<PyList>() {
            let text = |(row, cell): (usize, Bound<'_, PyAny>)| {
                cell.extract::<Option<String>>()
                    .map_err(|_| kind(format!("column {name:?}: row {row} is no text and not None")))
            };
            return Ok(Self::Texts(list.iter().enumerate().map(text).collect::<PyResult<_>>()?));
        }
        if let Ok(typed) = any.cast::<PyTuple>() {
            let (of, values) = (typed.get_item(0)?.extract::<String>()?, typed.get_item(1)?);
            let of_time = |of: Kind| {
                let unit = typed.get_item(2)?.extract::<i64>()?;
                let values = Array::of(values.extract::<PyReadonlyArray1<'_, i64>>()?)?;
                // (The least number is no time.)
                let days = |&x: &i64| match x {
                    i64::MIN => f64::NAN,
                    x => days_of_nanos(i128::from(x) * i128::from(unit)),
                };
                Ok(Self::Of(of, values.slice().iter().map(days).collect()))
            };
            return match &of[..] {
                "date" => of_time(Kind::Date),
                "time" => of_time(Kind::Time),
                "duration" => of_time(Kind::Duration),
                "truth" => Ok(Self::Of(Kind::Truth, numbers(name, &values)?)),
                "level" => Ok(Self::Of(Kind::Level, numbers(name, &values)?)),
                _ => Ok(Self::Whole(numbers(name, &values)?, typed.get_item(2)?.extract()?)),
            };
        }
        Ok(Self::Numbers(numbers(name, any)?))
    }

    /// Some rows.
    fn values(&self, rows: std::ops::Range<usize>) -> Part<'_> {
        match self {
            Self::Numbers(values) => Part::Numbers(&values[rows]),
            Self::Of(kind, values) => Part::Of(*kind, &values[rows]),
            Self::Texts(texts) => Part::Texts(&texts[rows]),
            Self::Whole(values, exact) => {
                let there = exact.iter().filter(|(row, _)| rows.contains(&(*row as usize)));
                let exact = there.map(|(row, text)| (*row - rows.start as u32, text.clone())).collect();
                Part::Whole(&values[rows], exact)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Of(_, values) | Self::Whole(values, _) => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}

/// Some rows of a column.
enum Part<'a> {
    Numbers(&'a [f64]),
    Whole(&'a [f64], Vec<(u32, String)>),
    Of(Kind, &'a [f64]),
    Texts(&'a [Option<String>]),
}

impl Part<'_> {
    fn values(&self) -> Values<'_> {
        match self {
            Self::Numbers(values) => Values::Numbers(values),
            Self::Whole(values, exact) => Values::Whole(values, exact),
            Self::Of(kind, values) => Values::Of(*kind, values),
            Self::Texts(texts) => Values::Owned(texts),
        }
    }
}

/// Numbers of an array; single ones as a file has them.
fn numbers(name: &str, any: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(match Floats::of(name, any)? {
        Floats::F32(column) => column.slice().iter().map(|&x| single(x)).collect(),
        Floats::F64(column) => column.slice().to_vec(),
    })
}

/// Labels of two of any kind, 1 for the positive ones: those of numbers that are 0 and 1 as they are, others by the rule of the core.
pub fn two_labels(any: &Bound<'_, PyAny>, positive: Option<&str>) -> PyResult<Vec<u8>> {
    let plain = if positive.is_none() { crate::arrays::labels(any).ok() } else { None };
    if let Some(labels) = plain {
        return Ok(labels);
    }
    let array = crate::arrays::asarray(any, None)?;
    let dimensions = array.getattr("ndim")?.extract::<usize>()?;
    if dimensions != 1 {
        return Err(value(format!("labels: {dimensions} dimensions, expected 1")));
    }
    let made = any.py().import("undercurve.frames")?.call_method1("column", ("labels", any))?;
    let column = Column::of("labels", &made)?;
    let part = column.values(0..column.len());
    let table = RawTable::of_columns("", &[("labels", part.values())]);
    let options = Options { label: Some("labels".into()), positive: positive.map(Into::into), ..Options::default() };
    table.and_then(|table| binary_labels(&table, &options)).map_err(|error| labels_refused(&error))
}

/// Rows in memory.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Table {
    pub table: RawTable,
    /// Of sparse rows, which have no column of weights.
    pub weights: Vec<f64>,
    /// Rows of a file that had no label, and are left out.
    unlabelled: usize,
}

impl From<RawTable> for Table {
    fn from(table: RawTable) -> Self {
        Self { table, weights: Vec::new(), unlabelled: 0 }
    }
}

/// What is wrong with a table in memory.
fn wrong(error: &DataError, names: &[String]) -> PyErr {
    match error.kind {
        DataErrorKind::Empty => value("there are no rows"),
        _ => data(error, names),
    }
}

/// Columns of one's own: (name, what `undercurve.frames.column` makes).
type More<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// Their names and values.
fn own(more: More<'_>) -> PyResult<(Vec<String>, Vec<Column>)> {
    let columns = more.iter().map(|(name, column)| Column::of(name, column)).collect::<PyResult<_>>()?;
    Ok((more.into_iter().map(|column| column.0).collect(), columns))
}

/// Reads a file of any kind.
fn read(path: &Path, options: &ReadOptions) -> PyResult<RawTable> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{name}: {error}"));
    let mut file = File::open(path).map_err(failed)?;
    let mut first = Vec::new();
    std::io::Read::by_ref(&mut file).take(4).read_to_end(&mut first).map_err(failed)?;
    file.rewind().map_err(failed)?;
    if first == b"PAR1" {
        return parquet::table(file, options, &name).map_err(|error| match error {
            parquet::Error::File(text) => value(format!("{name}: {text}")),
            parquet::Error::Data(error) => data(&error, &[]),
        });
    }
    RawTable::read(file, options, &name).map_err(|error| data(&error, &[]))
}

/// A file for a model with this preparation: missing values, texts and numbers are taken as in training.
pub fn read_again(path: &Path, of: &undercurve::data::Preparation) -> PyResult<RawTable> {
    read(
        path,
        &ReadOptions {
            label: of.label_column().map(Into::into),
            na: of.na().to_vec(),
            texts: of.texts(),
            columns: of.known(),
            encoding: of.encoding(),
            ..ReadOptions::default()
        },
    )
}

#[pymethods]
impl Table {
    /// Named columns.
    #[staticmethod]
    fn of_columns(py: Python<'_>, more: More<'_>) -> PyResult<Self> {
        let (names, columns) = own(more)?;
        let made = py.detach(|| {
            let parts: Vec<Part<'_>> = columns.iter().map(|column| column.values(0..column.len())).collect();
            let columns: Vec<(&str, Values<'_>)> =
                names.iter().map(String::as_str).zip(parts.iter().map(Part::values)).collect();
            RawTable::of_columns("", &columns)
        });
        made.map(Self::from).map_err(|error| wrong(&error, &names))
    }

    /// The columns of a matrix of numbers, called x1, x2, …, and some beside them.
    #[staticmethod]
    fn of_matrix(py: Python<'_>, x: &Bound<'_, PyAny>, more: More<'_>) -> PyResult<Self> {
        let (values, width) = matrix("X", x)?;
        if width == 0 || values.is_empty() {
            return Err(value(format!(
                "X: {} rows and {width} columns, expected at least 1 of each",
                values.len() / width.max(1)
            )));
        }
        let of = |k: usize| -> Vec<f64> { values[k..].iter().step_by(width).copied().collect() };
        let matrix: Vec<(String, Vec<f64>)> = (0..width).map(|k| (format!("x{}", k + 1), of(k))).collect();
        drop(values);
        let (names, beside) = own(more)?;
        let made = py.detach(|| {
            let parts: Vec<Part<'_>> = beside.iter().map(|column| column.values(0..column.len())).collect();
            let beside = names.iter().map(String::as_str).zip(parts.iter().map(Part::values));
            let own = matrix.iter().map(|(name, values)| (name.as_str(), Values::Numbers(values)));
            RawTable::of_columns("", &own.chain(beside).collect::<Vec<_>>())
        });
        let all = || matrix.iter().map(|column| column.0.clone()).chain(names.iter().cloned()).collect::<Vec<_>>();
        made.map(Self::from).map_err(|error| wrong(&error, &all()))
    }

    /// Sparse rows (CSR), with a label each or none, and a weight each or none.
    #[staticmethod]
    #[pyo3(signature = (values, columns, starts, width, labels=None, weights=None))]
    fn of_csr(
        values: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        starts: &Bound<'_, PyAny>,
        width: usize,
        labels: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let numbers = |name: &str, any: &Bound<'_, PyAny>| match Column::of(name, any)? {
            Column::Numbers(numbers) | Column::Of(Kind::Truth, numbers) | Column::Whole(numbers, _) => Ok(numbers),
            Column::Of(..) | Column::Texts(_) => Err(kind(format!("{name}: sparse rows need numbers"))),
        };
        let values = numbers("X", values)?;
        let columns = indices("X.indices", columns)?;
        let starts: Vec<usize> = indices("X.indptr", starts)?.into_iter().map(|at| at as usize).collect();
        let labels = labels.map(|labels| numbers("labels", labels)).transpose()?.unwrap_or_default();
        if !labels.is_empty() {
            same("labels", starts.len().saturating_sub(1), labels.len())?;
        }
        let weights = crate::arrays::weights(weights, starts.len().saturating_sub(1))?;
        let table = RawTable::of_sparse("", &labels, &starts, &columns, &values, width);
        Ok(Self { table: table.map_err(|error| data(&error, &[]))?, weights, unlabelled: 0 })
    }

    /// What an object with `__arrow_c_stream__` gives, and some columns beside it.
    #[staticmethod]
    fn of_arrow(py: Python<'_>, stream: &Bound<'_, PyCapsule>, more: More<'_>) -> PyResult<Self> {
        let pointer = stream.pointer_checked(Some(c_str!("arrow_array_stream")))?;
        // SAFETY: by the Arrow PyCapsule interface a capsule of this name holds such a structure, which its consumer takes over
        // and leaves empty.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
        let failed = |error: arrow_schema::ArrowError| value(format!("Arrow: {error}"));
        let reader = RecordBatchStreamReader::try_new(stream).map_err(failed)?;
        let (schema, (names, beside)) = (reader.schema(), own(more)?);
        let all: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).chain(names.clone()).collect();
        let error = |error: DataError| wrong(&error, &all);
        let mut rows = Rows::new(&schema, &names, &ReadOptions::default(), "").map_err(error)?;
        let mut at = 0;
        for batch in reader {
            let batch = batch.map_err(failed)?;
            let end = at + batch.num_rows();
            if let Some(column) = beside.iter().find(|column| column.len() < end) {
                return Err(value(format!("{} values for {end} rows or more", column.len())));
            }
            let parts: Vec<Part<'_>> = beside.iter().map(|column| column.values(at..end)).collect();
            let values: Vec<Values<'_>> = parts.iter().map(Part::values).collect();
            rows.push(&batch, &values).map_err(error)?;
            at = end;
        }
        if let Some(column) = beside.iter().find(|column| column.len() != at) {
            return Err(value(format!("{} values for {at} rows", column.len())));
        }
        py.detach(|| rows.finish()).map(Self::from).map_err(error)
    }

    /// A CSV, LIBSVM or Parquet file, as the command line reads it. Columns of `texts` are text, whatever they hold; `na` says what stands
    /// for missing values, `skip` how many lines are before the first that counts, `latin1` that what is no UTF-8 is Windows-1252.
    #[staticmethod]
    #[pyo3(signature = (path, label=None, texts=Vec::new(), na=Vec::new(), skip=0, latin1=false))]
    fn of_file(
        py: Python<'_>,
        path: std::path::PathBuf,
        label: Option<String>,
        texts: Vec<String>,
        na: Vec<String>,
        skip: u32,
        latin1: bool,
    ) -> PyResult<Self> {
        py.detach(|| {
            let encoding = if latin1 { Encoding::Latin1 } else { Encoding::Utf8 };
            let options = ReadOptions { label: label.clone(), texts, na, skip, encoding, ..ReadOptions::default() };
            let mut table = read(&path, &options)?;
            // (What is wrong with the label is told where it is needed.)
            let label = label_column_of(&table, &Options { label, ..Options::default() }).ok().flatten();
            let Some(label) = label else { return Ok(table.into()) };
            check_label(&table, &label).map_err(|error| data(&error, &[]))?;
            let unlabelled = table.leave_out_missing(&label);
            Ok(Self { unlabelled, ..table.into() })
        })
    }

    #[getter]
    fn rows(&self) -> usize {
        self.table.rows()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.table.columns()
    }

    /// Columns of whole numbers that a float has not.
    #[getter]
    fn rounded(&self) -> Vec<String> {
        let readings = self.table.readings().into_iter();
        readings.filter(|of| of.1 == undercurve::data::Reading::Rounded).map(|of| of.0.to_string()).collect()
    }

    /// Rows of a file that had no label, and are left out.
    #[getter]
    fn unlabelled(&self) -> usize {
        self.unlabelled
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(kind("a Table cannot be pickled; pickle what it was made of"))
    }
}
