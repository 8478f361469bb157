//! Tables of the core from what Python has in memory: arrays, sparse rows, and columns by the Arrow C interface.

use crate::arrays::{Floats, indices, matrix, same};
use crate::error::{data, kind, value};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatchReader, make_array};
use arrow_schema::{DataType, TimeUnit};
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyList};
use undercurve::data::{DataErrorKind, RawTable, ReadOptions, Values};

/// A column of its own memory.
enum Column {
    Numbers(Vec<f64>),
    Texts(Vec<Option<String>>),
}

impl Column {
    /// Of an array of numbers, or a list of texts and None.
    fn of(name: &str, any: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(list) = any.cast::<PyList>() {
            let text = |(row, cell): (usize, Bound<'_, PyAny>)| {
                cell.extract::<Option<String>>()
                    .map_err(|_| kind(format!("column {name:?}: row {row} is no text and not None")))
            };
            return Ok(Self::Texts(list.iter().enumerate().map(text).collect::<PyResult<_>>()?));
        }
        Ok(Self::Numbers(match Floats::of(name, any)? {
            Floats::F32(column) => column.slice().iter().map(|&x| written(x)).collect(),
            Floats::F64(column) => column.slice().to_vec(),
        }))
    }

    fn texts(&self) -> Vec<Option<&str>> {
        match self {
            Self::Numbers(_) => Vec::new(),
            Self::Texts(texts) => texts.iter().map(Option::as_deref).collect(),
        }
    }
}

/// Rows in memory.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Table {
    pub table: RawTable,
    /// Of sparse rows, which have no column of weights.
    pub weights: Vec<f64>,
}

impl Table {
    fn named(names: &[String], columns: &[Column]) -> PyResult<Self> {
        let texts: Vec<_> = columns.iter().map(Column::texts).collect();
        let values = columns.iter().zip(&texts).map(|(column, texts)| match column {
            Column::Numbers(numbers) => Values::Numbers(numbers),
            Column::Texts(_) => Values::Texts(texts),
        });
        let columns: Vec<(&str, Values<'_>)> = names.iter().map(String::as_str).zip(values).collect();
        let error = |error: &undercurve::data::DataError| match error.kind {
            DataErrorKind::Empty => value("there are no rows"),
            _ => data(error, names),
        };
        Ok(Self { table: RawTable::of_columns("", &columns).map_err(|e| error(&e))?, weights: Vec::new() })
    }
}

/// Columns of one's own: (name, array of numbers or list of texts).
type More<'py> = Vec<(String, Bound<'py, PyAny>)>;

fn add(names: &mut Vec<String>, columns: &mut Vec<Column>, more: More<'_>) -> PyResult<()> {
    for (name, column) in more {
        columns.push(Column::of(&name, &column)?);
        names.push(name);
    }
    Ok(())
}

#[pymethods]
impl Table {
    /// Named columns.
    #[staticmethod]
    fn of_columns(py: Python<'_>, more: More<'_>) -> PyResult<Self> {
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        add(&mut names, &mut columns, more)?;
        py.detach(|| Self::named(&names, &columns))
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
        let mut names: Vec<String> = (1..=width).map(|k| format!("x{k}")).collect();
        let of = |k| Column::Numbers(values[k..].iter().step_by(width).copied().collect());
        let mut columns: Vec<Column> = (0..width).map(of).collect();
        drop(values);
        add(&mut names, &mut columns, more)?;
        py.detach(|| Self::named(&names, &columns))
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
            Column::Numbers(numbers) => Ok(numbers),
            Column::Texts(_) => Err(kind(format!("{name}: sparse rows need numbers"))),
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
        Ok(Self { table: table.map_err(|error| data(&error, &[]))?, weights })
    }

    /// What an object with `__arrow_c_stream__` gives, and some columns beside it.
    #[staticmethod]
    fn of_arrow(py: Python<'_>, stream: &Bound<'_, PyCapsule>, more: More<'_>) -> PyResult<Self> {
        let pointer = stream.pointer_checked(Some(c_str!("arrow_array_stream")))?;
        // SAFETY: by the Arrow PyCapsule interface a capsule of this name holds such a structure, which its consumer takes over
        // and leaves empty.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
        let wrong = |error: arrow_schema::ArrowError| value(format!("Arrow: {error}"));
        let reader = RecordBatchStreamReader::try_new(stream).map_err(wrong)?;
        let fields = reader.schema().fields().clone();
        let mut names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let mut columns: Vec<Column> = fields
            .iter()
            .map(|field| match is_text(field.data_type()) {
                true => Column::Texts(Vec::new()),
                false => Column::Numbers(Vec::new()),
            })
            .collect();
        for batch in reader {
            let batch = batch.map_err(wrong)?;
            for ((name, column), array) in names.iter().zip(&mut columns).zip(batch.columns()) {
                let taken = match column {
                    Column::Numbers(numbers) => push_numbers(array, numbers),
                    Column::Texts(texts) => push_texts(array, texts),
                };
                if !taken {
                    let of = array.data_type();
                    return Err(kind(format!("column {name:?}: {of} is neither numbers, text nor dates")));
                }
            }
        }
        add(&mut names, &mut columns, more)?;
        py.detach(|| Self::named(&names, &columns))
    }

    /// A CSV or LIBSVM file, plain, gzip or zstd, as the command line reads it.
    #[staticmethod]
    #[pyo3(signature = (path, label=None))]
    fn of_file(py: Python<'_>, path: std::path::PathBuf, label: Option<String>) -> PyResult<Self> {
        let name = path.display().to_string();
        let options = ReadOptions { label, ..ReadOptions::default() };
        let read = || -> PyResult<RawTable> {
            let file = std::fs::File::open(&path)?;
            RawTable::read(file, &options, &name).map_err(|error| data(&error, &[]))
        };
        Ok(Self { table: py.detach(read)?, weights: Vec::new() })
    }

    #[getter]
    fn rows(&self) -> usize {
        self.table.rows()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.table.columns()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(kind("a Table cannot be pickled; pickle what it was made of"))
    }
}

/// The number that a file has for a float32, where it is the shortest decimal: models score both alike.
fn written(x: f32) -> f64 {
    // (Whole numbers are themselves.)
    if x.trunc() == x { f64::from(x) } else { x.to_string().parse().unwrap_or_else(|_| f64::from(x)) }
}

fn is_text(of: &DataType) -> bool {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// What a dictionary has at a key; NaN is the key of what is missing.
fn at<T>(values: &[T], key: f64) -> Option<&T> {
    if key.is_nan() { None } else { values.get(key as usize) }
}

/// Adds numbers, with NaN for those that are missing; dates are days since the beginning of 1970. False for other types.
fn push_numbers(array: &dyn Array, out: &mut Vec<f64>) -> bool {
    fn push<T: ArrowPrimitiveType>(array: &dyn Array, out: &mut Vec<f64>, of: impl Fn(T::Native) -> f64) -> bool {
        out.extend(array.as_primitive::<T>().iter().map(|x| x.map_or(f64::NAN, &of)));
        true
    }
    // (The nearest number to the decimal, as of text.)
    fn decimal(digits: impl ToString, scale: i8) -> f64 {
        format!("{}e{}", digits.to_string(), -i32::from(scale)).parse().unwrap_or(f64::NAN)
    }
    const DAY: f64 = 86_400.0;
    match array.data_type() {
        DataType::Null => out.extend(std::iter::repeat_n(f64::NAN, array.len())),
        DataType::Boolean => {
            out.extend(array.as_boolean().iter().map(|x| x.map_or(f64::NAN, |x| f64::from(u8::from(x)))));
        }
        DataType::Int8 => return push::<Int8Type>(array, out, f64::from),
        DataType::Int16 => return push::<Int16Type>(array, out, f64::from),
        DataType::Int32 => return push::<Int32Type>(array, out, f64::from),
        DataType::Int64 => return push::<Int64Type>(array, out, |x| x as f64),
        DataType::UInt8 => return push::<UInt8Type>(array, out, f64::from),
        DataType::UInt16 => return push::<UInt16Type>(array, out, f64::from),
        DataType::UInt32 => return push::<UInt32Type>(array, out, f64::from),
        DataType::UInt64 => return push::<UInt64Type>(array, out, |x| x as f64),
        DataType::Float32 => return push::<Float32Type>(array, out, written),
        DataType::Float16 => return push::<Float16Type>(array, out, f64::from),
        DataType::Float64 => return push::<Float64Type>(array, out, |x| x),
        DataType::Decimal32(_, scale) => return push::<Decimal32Type>(array, out, |x| decimal(x, *scale)),
        DataType::Decimal64(_, scale) => return push::<Decimal64Type>(array, out, |x| decimal(x, *scale)),
        DataType::Decimal128(_, scale) => return push::<Decimal128Type>(array, out, |x| decimal(x, *scale)),
        DataType::Decimal256(_, scale) => return push::<Decimal256Type>(array, out, |x| decimal(x, *scale)),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) | DataType::Duration(_) => {
            let per_day = match array.data_type() {
                DataType::Date32 => 1.0,
                DataType::Timestamp(unit, _) | DataType::Duration(unit) => match unit {
                    TimeUnit::Second => DAY,
                    TimeUnit::Millisecond => 1e3 * DAY,
                    TimeUnit::Microsecond => 1e6 * DAY,
                    TimeUnit::Nanosecond => 1e9 * DAY,
                },
                _ => 1e3 * DAY,
            };
            let whole = if *array.data_type() == DataType::Date32 { DataType::Int32 } else { DataType::Int64 };
            let Ok(data) = array.to_data().into_builder().data_type(whole).build() else { return false };
            let from = out.len();
            let known = push_numbers(&make_array(data), out);
            out[from..].iter_mut().for_each(|x| *x /= per_day);
            return known;
        }
        DataType::Dictionary(_, _) => {
            let (of, mut keys, mut values) = (array.as_any_dictionary(), Vec::new(), Vec::new());
            if !push_numbers(of.keys(), &mut keys) || !push_numbers(of.values().as_ref(), &mut values) {
                return false;
            }
            out.extend(keys.into_iter().map(|key| at(&values, key).copied().unwrap_or(f64::NAN)));
        }
        _ => return false,
    }
    true
}

/// Adds texts. False for other types.
fn push_texts(array: &dyn Array, out: &mut Vec<Option<String>>) -> bool {
    let own = |text: Option<&str>| text.map(str::to_string);
    match array.data_type() {
        DataType::Utf8 => out.extend(array.as_string::<i32>().iter().map(own)),
        DataType::LargeUtf8 => out.extend(array.as_string::<i64>().iter().map(own)),
        DataType::Utf8View => out.extend(array.as_string_view().iter().map(own)),
        DataType::Dictionary(_, _) => {
            let (of, mut keys, mut values) = (array.as_any_dictionary(), Vec::new(), Vec::new());
            if !push_numbers(of.keys(), &mut keys) || !push_texts(of.values().as_ref(), &mut values) {
                return false;
            }
            out.extend(keys.into_iter().map(|key| at(&values, key).cloned().flatten()));
        }
        _ => return false,
    }
    true
}
