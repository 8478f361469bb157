//! One worker's part of a loss over the rows of several.

use crate::arrays::Floats;
use crate::error::{core, value};
use crate::loss::{Loss, rows};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use undercurve::pairs::distributed::{self, Ask, DistributedError, Op};
use undercurve::{Error, Real};

/// `undercurve.distributed` documents it.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Worker {
    worker: Mutex<distributed::Worker>,
    rows: usize,
    wide: bool,
    /// Why the own rows were refused; raised when all workers know.
    refused: Option<PyErr>,
    /// Whether rows of one class have the value 0.
    zero: bool,
}

fn told(error: DistributedError) -> PyErr {
    match error {
        DistributedError::Core(error) => core(error),
        error => value(error.to_string()),
    }
}

impl Worker {
    fn lock(&self) -> MutexGuard<'_, distributed::Worker> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Worker {
    #[new]
    #[pyo3(signature = (loss, rank, workers, scores, labels, zero_for_one_class=false))]
    fn new(
        py: Python<'_>,
        loss: &Loss,
        rank: u32,
        workers: u32,
        scores: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        zero_for_one_class: bool,
    ) -> Self {
        let (sum, of, place) = (loss.sum(), loss.surrogate(), (rank, workers));
        let made = |worker, rows, wide, refused| Self {
            worker: Mutex::new(worker),
            rows,
            wide,
            refused,
            zero: zero_for_one_class,
        };
        match rows(scores, labels, None) {
            Ok((Floats::F32(scores), y, _)) => {
                let s = scores.slice();
                made(py.detach(|| distributed::Worker::new(sum, of, place, s, &y)), y.len(), false, None)
            }
            Ok((Floats::F64(scores), y, _)) => {
                let s = scores.slice();
                made(py.detach(|| distributed::Worker::new(sum, of, place, s, &y)), y.len(), true, None)
            }
            Err(error) => made(distributed::Worker::refusing::<f64>(sum, of, place), 0, true, Some(error)),
        }
    }

    /// ("gather", bytes), ("sum" or "max", whole numbers), or None at the end.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
        Ok(match self.lock().ask() {
            Ask::AllGather(bytes) => Some(("gather", PyBytes::new(py, bytes).into_any())),
            Ask::AllReduce(op, numbers) => {
                let name = if op == Op::Sum { "sum" } else { "max" };
                Some((name, PyArray1::from_slice(py, numbers).into_any()))
            }
            Ask::Done => None,
        })
    }

    fn gathered(&self, py: Python<'_>, all: Vec<Vec<u8>>) -> PyResult<()> {
        let done = py.detach(|| self.lock().gathered(&all));
        match (&self.refused, done) {
            (Some(error), _) => Err(error.clone_ref(py)),
            (None, Err(DistributedError::Core(Error::OneClass))) if self.zero => Ok(()),
            (None, done) => done.map_err(told),
        }
    }

    fn reduced(&self, py: Python<'_>, numbers: &Bound<'_, PyArray1<i64>>) -> PyResult<()> {
        let numbers = numbers.to_vec().map_err(|_| value("numbers: not in one piece"))?;
        py.detach(|| {
            let mut worker = self.lock();
            match worker.ask() {
                Ask::AllReduce(_, own) if own.len() == numbers.len() => own.copy_from_slice(&numbers),
                _ => return Err(Error::Length { what: "numbers", need: 0, got: numbers.len() }.into()),
            }
            worker.reduced()
        })
        .map_err(told)
    }

    /// Value over all rows, and derivatives by the own scores.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<(f64, Bound<'py, PyAny>)> {
        if self.wide {
            let (value, grad) = self.found::<f64>(py)?;
            Ok((value, grad.into_pyarray(py).into_any()))
        } else {
            let (value, grad) = self.found::<f32>(py)?;
            Ok((value, grad.into_pyarray(py).into_any()))
        }
    }
}

impl Worker {
    fn found<T: Real>(&self, py: Python<'_>) -> PyResult<(f64, Vec<T>)> {
        let mut grad = vec![T::ZERO; self.rows];
        match py.detach(|| self.lock().result(&mut grad)) {
            Err(DistributedError::Core(Error::OneClass)) if self.zero => Ok((0.0, grad)),
            found => found.map(|value| (value, grad)).map_err(told),
        }
    }
}
