//! Counted scores, which merge.

use crate::arrays::Floats;
use crate::error::{core, value};
use crate::loss::rows;
use crate::metrics::{curves_told, intervals_told, range, summary_told};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};
use undercurve::metric;

/// `undercurve.State` documents it.
#[pyclass(module = "undercurve._core", frozen)]
#[derive(Default)]
pub struct State(Mutex<metric::State>);

impl State {
    fn lock(&self) -> MutexGuard<'_, metric::State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl State {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let state = py.detach(|| metric::State::from_bytes(bytes));
        state.map(|state| Self(Mutex::new(state))).map_err(|error| value(error.to_string()))
    }

    #[staticmethod]
    fn between(py: Python<'_>, positives: &Self) -> PyResult<Self> {
        let state = py.detach(|| metric::State::between(&positives.lock()));
        state.map(|state| Self(Mutex::new(state))).map_err(core)
    }

    #[pyo3(signature = (scores, labels, weights=None))]
    fn update(
        &self,
        py: Python<'_>,
        scores: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (scores, y, w) = rows(scores, labels, weights)?;
        match &scores {
            Floats::F32(scores) => {
                let s = scores.slice();
                py.detach(|| self.lock().update(s, &y, &w))
            }
            Floats::F64(scores) => {
                let s = scores.slice();
                py.detach(|| self.lock().update(s, &y, &w))
            }
        }
        .map_err(core)
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        // (A copy, so that a state can be merged with itself, and two with each other.)
        py.detach(|| {
            let other = other.lock().clone();
            self.lock().merge(&other)
        })
        .map_err(core)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.lock().to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.lock().rows()
    }

    #[pyo3(signature = (fpr=(0.0, 0.05)))]
    fn summary<'py>(&self, py: Python<'py>, fpr: (f64, f64)) -> PyResult<Bound<'py, PyDict>> {
        let range = range(fpr)?;
        let all = py.detach(|| self.lock().summary(range)).map_err(core)?;
        summary_told(py, &all)
    }

    #[pyo3(signature = (fpr=(0.0, 0.05)))]
    fn intervals<'py>(&self, py: Python<'py>, fpr: (f64, f64)) -> PyResult<Bound<'py, PyDict>> {
        let range = range(fpr)?;
        let all = py.detach(|| self.lock().intervals(range)).map_err(core)?;
        intervals_told(py, &all)
    }

    #[pyo3(signature = (points=None))]
    fn curves<'py>(&self, py: Python<'py>, points: Option<usize>) -> PyResult<Bound<'py, PyDict>> {
        let both = py.detach(|| {
            let state = self.lock();
            Ok((state.roc_curve(points)?, state.pr_curve(points)?))
        });
        let (roc, pr) = both.map_err(core)?;
        curves_told(py, &roc, &pr)
    }
}
