//! The compiled part of the Python package `undercurve`; its Python files document it.

mod arrays;
mod columns;
mod contrastive;
mod distributed;
mod error;
mod estimator;
mod loss;
mod metrics;
mod model;
mod search;
mod state;
mod table;
mod trainer;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("METRICS", metrics::table())?;
    module.add_class::<loss::Loss>()?;
    module.add_class::<estimator::Estimator>()?;
    module.add_class::<state::State>()?;
    module.add_class::<columns::ColumnStats>()?;
    module.add_class::<columns::Preparation>()?;
    module.add_class::<distributed::Worker>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<trainer::Trainer>()?;
    module.add_function(wrap_pyfunction!(contrastive::contrastive, module)?)?;
    module.add_function(wrap_pyfunction!(search::search, module)?)?;
    module.add_function(wrap_pyfunction!(trainer::methods, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::summary, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::measure, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::compare, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::curves, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::calibration, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::decide, module)?)?;
    Ok(())
}
