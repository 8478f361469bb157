//! The global contrastive loss of two encoders.

use crate::arrays::indices;
use crate::error::{core, kind, value};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray2, PyReadwriteArray1, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use undercurve::estimator::{Contrastive, Tracker, Uses, Views};
use undercurve::{Real, Scratch};

/// Value, and derivative by the embeddings of either encoder, flat.
type Told<'py> = (f64, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The estimate on a batch of rows of the data, whose running sums `state` has and which move; see `undercurve.torch.Contrastive`.
#[pyfunction]
pub fn contrastive<'py>(
    py: Python<'py>,
    first: &Bound<'py, PyAny>,
    second: &Bound<'py, PyAny>,
    rows: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
    temperature: f64,
    gamma: f64,
) -> PyResult<Told<'py>> {
    let loss = Tracker::new(gamma, 0.0).and_then(|tracker| Contrastive::new(temperature, tracker, Uses::New));
    let (loss, rows) = (loss.map_err(core)?, indices("rows", rows)?);
    match state.cast::<PyArray1<f32>>() {
        Ok(state) => of(py, loss, [first, second], &rows, state.try_readwrite()),
        Err(_) => of(py, loss, [first, second], &rows, state.cast::<PyArray1<f64>>()?.try_readwrite()),
    }
}

fn of<'py, T: Real + Element>(
    py: Python<'py>,
    loss: Contrastive,
    views: [&Bound<'py, PyAny>; 2],
    rows: &[u32],
    state: Result<PyReadwriteArray1<'py, T>, numpy::BorrowError>,
) -> PyResult<Told<'py>> {
    let wrong = |_| kind("first, second, state: expected contiguous arrays of one type");
    let mut state = state.map_err(|error| value(error.to_string()))?;
    let state = state.as_slice_mut().map_err(|_| kind("state: expected a contiguous array"))?;
    let views: [PyReadonlyArray2<'py, T>; 2] = [views[0].extract().map_err(wrong)?, views[1].extract().map_err(wrong)?];
    let width = views[0].shape()[1];
    if views.iter().any(|of| of.shape() != [rows.len(), width]) {
        let told = views.each_ref().map(|of| format!("{:?}", of.shape()));
        return Err(value(format!("first, second: shapes {} and {}, of {} rows", told[0], told[1], rows.len())));
    }
    let [first, second] = [views[0].as_slice(), views[1].as_slice()];
    let (first, second) =
        (first.map_err(|_| kind("first: not contiguous"))?, second.map_err(|_| kind("second: not contiguous"))?);
    let all = state.len() / 2;
    if let Some(row) = rows.iter().find(|&&row| row as usize >= all) {
        return Err(value(format!("rows: {row} is beyond the {all} rows of the data")));
    }
    let views = Views { first, second, width, owners: rows, all, previous: None };
    let need = Contrastive::need(rows.len(), width);
    let (mut by_first, mut by_second) = (vec![T::ZERO; first.len()], vec![T::ZERO; second.len()]);
    let told = py.detach(|| {
        let (mut real, mut f64s) = (vec![T::ZERO; need.real], vec![0.0; need.f64]);
        let scratch = Scratch { real: &mut real, f64: &mut f64s, ..Scratch::default() };
        loss.update(&views, state, scratch, [&mut by_first, &mut by_second])
    });
    Ok((told.map_err(core)?, by_first.into_pyarray(py).into_any(), by_second.into_pyarray(py).into_any()))
}
