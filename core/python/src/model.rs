//! Models that score.

use crate::arrays::Floats;
use crate::error::{core, data, trainer, value};
use crate::metrics::rows;
use crate::metrics::threshold_rule;
use crate::table::{Table, read_again};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, PoisonError};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Target, Targets};
use undercurve::decision::Calibrate;
use undercurve::metric::Truth;
use undercurve::trainer::{Length, Predictor};

/// A predictor of either number type.
pub enum Either {
    F32(Predictor<f32>),
    F64(Predictor<f64>),
}

/// A model file, and what it scores with.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Model {
    pub saved: SavedModel,
    // (Scoring works in the predictor's memory.)
    predictor: Mutex<Either>,
}

impl Model {
    pub fn of(saved: SavedModel) -> PyResult<Self> {
        let predictor = match saved.real_bytes {
            4 => Either::F32(Predictor::of(&saved).map_err(trainer)?),
            _ => Either::F64(Predictor::of(&saved).map_err(trainer)?),
        };
        Ok(Self { saved, predictor: Mutex::new(predictor) })
    }

    /// The predictor in a number type.
    pub fn predictor<T: Real>(&self) -> PyResult<Predictor<T>> {
        Predictor::of(&self.saved).map_err(trainer)
    }

    fn with<R>(&self, f32: impl FnOnce(&mut Predictor<f32>) -> R, f64: impl FnOnce(&mut Predictor<f64>) -> R) -> R {
        match &mut *self.predictor.lock().unwrap_or_else(PoisonError::into_inner) {
            Either::F32(predictor) => f32(predictor),
            Either::F64(predictor) => f64(predictor),
        }
    }
}

/// Scores, labels, weights, and what is to be noted.
type Scored<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>, Vec<String>);

fn scored<'py, T: Real + numpy::Element>(
    py: Python<'py>,
    mut predictor: Predictor<T>,
    saved: &SavedModel,
    table: &Table,
    labelled: bool,
) -> PyResult<Scored<'py>> {
    let (preparation, classes) = (&saved.preparation, predictor.classes().len().max(1));
    let of = py.detach(|| {
        let rows = if labelled { preparation.apply(&table.table) } else { preparation.apply_unlabelled(&table.table) }?;
        let mut scores = vec![T::ZERO; rows.len() * classes];
        let done = predictor.score(rows.rows(), &mut scores);
        let done = done.and_then(|()| match scores.iter().position(|score| !score.is_finite()) {
            Some(at) => Err(undercurve::Error::NonFinite { what: "scores", at }),
            None => Ok((rows, scores)),
        });
        Ok(done)
    });
    let (rows, scores) = of.map_err(|error| data(&error, &table.table.columns()))?.map_err(core)?;
    let summary = rows.summary();
    let mut notes: Vec<String> = (summary.unseen.iter())
        .map(|(column, count)| {
            format!("{count} values of column {column:?} did not occur in training and count as none")
        })
        .collect();
    if summary.beyond > 0 {
        notes.push(format!("{} values in columns beyond those of training were left out", summary.beyond));
    }
    let labels = labelled.then(|| match rows.targets() {
        Targets::Values(values) => values.clone().into_pyarray(py).into_any(),
        Targets::Classes { labels, .. } => labels.clone().into_pyarray(py).into_any(),
        Targets::Binary(labels) => labels.clone().into_pyarray(py).into_any(),
        _ => Vec::<u8>::new().into_pyarray(py).into_any(),
    });
    let weights = if table.weights.is_empty() { rows.weights() } else { &table.weights };
    let weights = (labelled && !weights.is_empty()).then(|| weights.to_vec().into_pyarray(py).into_any());
    let flat = scores.into_pyarray(py);
    let scores = if classes > 1 { flat.reshape([rows.len(), classes])?.into_any() } else { flat.into_any() };
    Ok((scores, labels, weights, notes))
}

#[pymethods]
impl Model {
    #[staticmethod]
    fn of_bytes(bytes: &[u8]) -> PyResult<Self> {
        Self::of(SavedModel::from_bytes(bytes).map_err(|error| value(error.to_string()))?)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.saved.to_bytes())
    }

    /// A file of rows, read as in training.
    fn read(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<Table> {
        py.detach(|| read_again(&path, &self.saved.preparation)).map(Table::from)
    }

    /// A score a row, of several classes rows × classes; with `labelled` the labels and the weights that the table has; and what is to be
    /// noted of its cells.
    #[pyo3(signature = (table, labelled=false))]
    fn scores<'py>(&self, py: Python<'py>, table: &Table, labelled: bool) -> PyResult<Scored<'py>> {
        // (The interpreter's lock is given back while another thread scores.)
        let clone = self.with(|p| Either::F32(p.clone()), |p| Either::F64(p.clone()));
        let saved = &self.saved;
        match clone {
            Either::F32(predictor) => scored(py, predictor, saved, table, labelled),
            Either::F64(predictor) => scored(py, predictor, saved, table, labelled),
        }
    }

    /// The probabilities that scores stand for, or None of a method that ranks only.
    fn probabilities<'py>(&self, py: Python<'py>, scores: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let scores: Vec<f64> = match Floats::of("scores", scores)? {
            Floats::F32(column) => column.slice().iter().map(|&s| f64::from(s)).collect(),
            Floats::F64(column) => column.slice().to_vec(),
        };
        let of: Option<Vec<f64>> = self.with(
            |p| scores.iter().map(|&s| p.probability(s as f32).map(f64::from)).collect(),
            |p| scores.iter().map(|&s| p.probability(s)).collect(),
        );
        Ok(of.map(|values| values.into_pyarray(py).into_any()))
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.with(|p| p.has_probabilities(), |p| p.has_probabilities())
    }

    /// A copy with the threshold of a rule on labelled scores.
    #[pyo3(signature = (rule, scores, labels, weights=None, clusters=None))]
    fn with_threshold(
        &self,
        rule: &str,
        scores: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        clusters: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let rule = threshold_rule("rule", rule)?;
        let (scores, y, w) = rows(scores, labels, None, weights)?;
        let truth = Truth::new(&y, &w).map_err(core)?;
        let mut saved = self.saved.clone();
        let of = clusters.as_deref();
        match scores {
            Floats::F32(s) => saved.decide(rule, s.slice(), truth, of, "given").map(|_| ()),
            Floats::F64(s) => saved.decide(rule, s.slice(), truth, of, "given").map(|_| ()),
        }
        .map_err(core)?;
        Self::of(saved)
    }

    /// A copy with the probabilities that labelled scores tell, by Platt's curve.
    #[pyo3(signature = (scores, labels, weights=None))]
    fn calibrated(
        &self,
        scores: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (scores, y, w) = rows(scores, labels, None, weights)?;
        let truth = Truth::new(&y, &w).map_err(core)?;
        let mut saved = self.saved.clone();
        match scores {
            Floats::F32(s) => saved.calibrate(Calibrate::Platt, s.slice(), truth, "held-out"),
            Floats::F64(s) => saved.calibrate(Calibrate::Platt, s.slice(), truth, "held-out"),
        }
        .map_err(core)?;
        Self::of(saved)
    }

    /// The parameters, as the core keeps them.
    fn params<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.with(
            |p| p.params().to_vec().into_pyarray(py).into_any(),
            |p| p.params().to_vec().into_pyarray(py).into_any(),
        )
    }

    /// What is known of it.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (config, classes) =
            self.with(|p| (p.config().clone(), p.classes().to_vec()), |p| (p.config().clone(), p.classes().to_vec()));
        let SavedModel { preparation, threshold, decided, calibrated, real_bytes, trained, .. } = &self.saved;
        let out = PyDict::new(py);
        out.set_item("method", config.method)?;
        out.set_item("model", config.model.to_string())?;
        out.set_item("settings", config.settings)?;
        out.set_item("constraints", config.constraints)?;
        out.set_item("seed", config.seed)?;
        out.set_item("fpr", config.fpr)?;
        out.set_item(
            "steps",
            match config.length {
                Length::Steps(steps) => Some(steps),
                Length::Method | Length::Passes(_) => None,
            },
        )?;
        out.set_item("dtype", if *real_bytes == 4 { "float32" } else { "float64" })?;
        out.set_item(
            "target",
            match preparation.target() {
                Target::Binary => "binary",
                Target::Classes => "classes",
                Target::Values => "values",
                _ => "",
            },
        )?;
        out.set_item("label", preparation.label_column())?;
        out.set_item("positive", preparation.positive())?;
        out.set_item("negative", preparation.negative())?;
        out.set_item("classes", classes)?;
        out.set_item("sparse", preparation.is_sparse())?;
        out.set_item("inputs", preparation.cols())?;
        let columns: Vec<(String, bool)> =
            preparation.sources().into_iter().map(|(name, source)| (name.to_string(), source.is_category())).collect();
        out.set_item("columns", columns)?;
        let encoded: Vec<(String, f64, f64)> =
            preparation.encoded().into_iter().map(|one| (one.name, one.shift, one.divisor)).collect();
        out.set_item("encoded", encoded)?;
        out.set_item("weight", preparation.weight_column())?;
        out.set_item("groups", (preparation.group_columns().to_vec(), preparation.group_names().to_vec()))?;
        out.set_item("threshold", *threshold)?;
        out.set_item("rule", decided.as_ref().map(|decided| (decided.rule.to_string(), decided.on.clone())))?;
        out.set_item("calibrated", calibrated.as_ref().map(|of| of.on.clone()))?;
        out.set_item("step", trained.step)?;
        out.set_item("figures", trained.figures.clone())?;
        Ok(out)
    }
}
