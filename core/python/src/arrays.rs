//! Arguments that are arrays: lent as they are where their memory allows, copied where it does not.

use crate::error::{core, kind, value};
use numpy::{Element, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use undercurve::Error;

/// A vector: lent, or its copy.
pub enum Column<'py, T: Element> {
    Lent(PyReadonlyArray1<'py, T>),
    Own(Vec<T>),
}

impl<'py, T: Element + Copy> Column<'py, T> {
    pub fn of(array: PyReadonlyArray1<'py, T>) -> PyResult<Self> {
        // (Memory of other programs, and the fields of records, need not lie as Rust wants it.)
        let stride = array.strides().first().is_none_or(|stride| stride % size_of::<T>() as isize == 0);
        if !(array.data().is_aligned() && stride) {
            let copy = array.call_method0(intern!(array.py(), "copy"))?.extract::<PyReadonlyArray1<'py, T>>()?;
            return Ok(Self::Own(copy.as_array().iter().copied().collect()));
        }
        Ok(match array.as_slice() {
            Ok(_) => Self::Lent(array),
            Err(_) => Self::Own(array.as_array().iter().copied().collect()),
        })
    }

    pub fn slice(&self) -> &[T] {
        match self {
            Self::Lent(array) => array.as_slice().unwrap_or(&[]),
            Self::Own(values) => values,
        }
    }
}

/// `numpy.asarray`, also of tensors of torch that have a gradient or are elsewhere.
pub fn asarray<'py>(any: &Bound<'py, PyAny>, dtype: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = any.py();
    let function = ASARRAY.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.getattr("asarray")?.unbind()))?;
    let moved = match any.getattr_opt(intern!(py, "detach"))? {
        // (A frame may have a column of that name, and a file has a method.)
        Some(detach) if any.hasattr(intern!(py, "cpu"))? => &detach.call0()?.call_method0(intern!(py, "cpu"))?,
        _ => any,
    };
    match dtype {
        Some(dtype) => function.bind(py).call1((moved, dtype)),
        None => function.bind(py).call1((moved,)),
    }
}

/// The kind and the number of dimensions of an array: `f`, `i`, `u`, `b`, `O` …
fn describe(name: &str, array: &Bound<'_, PyAny>) -> PyResult<(char, usize)> {
    let untyped = array.cast::<numpy::PyUntypedArray>().map_err(|_| kind(format!("{name}: expected an array")))?;
    Ok((char::from(untyped.dtype().kind()), untyped.ndim()))
}

/// Numbers of one dimension, f32 or f64; of other types a copy as f64 (f16 as f32).
pub enum Floats<'py> {
    F32(Column<'py, f32>),
    F64(Column<'py, f64>),
}

impl<'py> Floats<'py> {
    pub fn of(name: &str, any: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = any.extract::<PyReadonlyArray1<'py, f64>>() {
            return Ok(Self::F64(Column::of(array)?));
        }
        if let Ok(array) = any.extract::<PyReadonlyArray1<'py, f32>>() {
            return Ok(Self::F32(Column::of(array)?));
        }
        let array = asarray(any, None)?;
        let (of, dimensions) = describe(name, &array)?;
        if dimensions != 1 {
            let column = if dimensions == 2 { "; pass one column, as X[:, 1]" } else { "" };
            return Err(value(format!("{name}: {dimensions} dimensions, expected 1{column}")));
        }
        if !matches!(of, 'f' | 'i' | 'u' | 'b') {
            return Err(kind(format!("{name}: expected numbers, got {}", array.getattr(intern!(any.py(), "dtype"))?)));
        }
        let half = array.getattr("dtype")?.getattr("itemsize")?.extract::<usize>()? <= 4 && of == 'f';
        let array = asarray(&array, Some(if half { "float32" } else { "float64" }))?;
        match half {
            true => Ok(Self::F32(Column::of(array.extract()?)?)),
            false => Ok(Self::F64(Column::of(array.extract()?)?)),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::F32(column) => column.slice().len(),
            Self::F64(column) => column.slice().len(),
        }
    }
}

/// Weights, one a row; none at all without.
pub fn weights(any: Option<&Bound<'_, PyAny>>, rows: usize) -> PyResult<Vec<f64>> {
    let Some(any) = any else { return Ok(Vec::new()) };
    let weights = match Floats::of("weights", any)? {
        Floats::F32(column) => column.slice().iter().map(|&w| f64::from(w)).collect(),
        Floats::F64(column) => column.slice().to_vec(),
    };
    same("weights", rows, weights.len())?;
    Ok(weights)
}

/// `Ok` when there is one value a row.
pub fn same(name: &str, rows: usize, got: usize) -> PyResult<()> {
    if rows == got { Ok(()) } else { Err(value(format!("{name}: {got} values for {rows} scores"))) }
}

/// Labels of two classes: booleans, or numbers that are 0 or 1.
pub fn labels(any: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    fn of<T: Element + Copy>(array: PyReadonlyArray1<'_, T>, label: impl Fn(T) -> Option<u8>) -> PyResult<Vec<u8>> {
        let column = Column::of(array)?;
        // (255 is no label; all are looked at before any is refused, which a processor does many at a time.)
        let labels: Vec<u8> = column.slice().iter().map(|&y| label(y).unwrap_or(255)).collect();
        match labels.iter().position(|&y| y > 1) {
            Some(at) => Err(core(Error::Label { at })),
            None => Ok(labels),
        }
    }
    macro_rules! numbers {
        ($any:expr, $($T:ty),*) => {$(
            if let Ok(array) = $any.extract::<PyReadonlyArray1<'_, $T>>() {
                let (zero, one) = (0 as $T, 1 as $T);
                return of(array, |y| if y == zero { Some(0) } else if y == one { Some(1) } else { None });
            }
        )*};
    }
    let known = |any: &Bound<'_, PyAny>| -> PyResult<Vec<u8>> {
        if let Ok(array) = any.extract::<PyReadonlyArray1<'_, bool>>() {
            return of(array, |y| Some(u8::from(y)));
        }
        numbers!(any, i64, u8, f32, f64, i32, i8, u32, u64, i16, u16);
        let array = asarray(any, None)?;
        let (of, dimensions) = describe("labels", &array)?;
        if dimensions != 1 {
            return Err(value(format!("labels: {dimensions} dimensions, expected 1")));
        }
        match of {
            'b' | 'i' | 'u' | 'f' => labels(&asarray(&array, Some("float64"))?),
            _ => Err(kind(
                "labels: expected booleans or the numbers 0 and 1; compare texts with the positive one, as y == \"yes\"",
            )),
        }
    };
    known(any)
}

/// Whole numbers of one dimension, 0 or more.
pub fn indices(name: &str, any: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let array = asarray(any, None)?;
    let (of, dimensions) = describe(name, &array)?;
    if dimensions != 1 {
        return Err(value(format!("{name}: {dimensions} dimensions, expected 1")));
    }
    if !matches!(of, 'i' | 'u') {
        return Err(kind(format!("{name}: expected whole numbers")));
    }
    let column = Column::of(asarray(&array, Some("int64"))?.extract::<PyReadonlyArray1<'_, i64>>()?)?;
    let number = |(at, &x): (usize, &i64)| {
        u32::try_from(x).map_err(|_| value(format!("{name}: row {at} is {x}, expected 0 to 2^32 - 1")))
    };
    column.slice().iter().enumerate().map(number).collect()
}

/// A table of numbers, row-major: its values in f64, and how many columns.
pub fn matrix(name: &str, any: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, usize)> {
    let array = asarray(any, None)?;
    let (of, dimensions) = describe(name, &array)?;
    if dimensions != 2 {
        return Err(value(format!("{name}: {dimensions} dimensions, expected 2")));
    }
    if !matches!(of, 'f' | 'i' | 'u' | 'b') {
        return Err(kind(format!("{name}: expected numbers, got {}", array.getattr("dtype")?)));
    }
    // (A copy that is aligned, in one order and of one type, from whatever there is.)
    let array = array.call_method1(intern!(any.py(), "astype"), ("float64", "C"))?;
    let array = array.extract::<PyReadonlyArray2<'_, f64>>()?;
    Ok((
        array.as_slice().map_or_else(|_| array.as_array().iter().copied().collect(), <[f64]>::to_vec),
        array.as_array().ncols(),
    ))
}
