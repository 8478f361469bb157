//! Exact ranking losses over all the rows that are given, with their gradient.

use crate::arrays::{Floats, labels, same, weights};
use crate::error::{core, value};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};
use undercurve::metric::Truth;
use undercurve::pairs::{self, Grade, Plan, Sum};
use undercurve::registry::method;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::{Error, Real, Scratch};

/// Memory of one call at a time.
#[derive(Default)]
struct Work {
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

/// As [`undercurve.Loss`](../undercurve/__init__.py), which documents it.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Loss {
    kind: String,
    sum: Sum,
    loss: AnySurrogate<f64>,
    /// The surrogate's parameter, by name.
    param: (&'static str, f64),
    grade: Grade,
    tables: Vec<f64>,
    /// Of calls that are over; as many as there were threads at once.
    pool: Mutex<Vec<Work>>,
}

#[pymethods]
impl Loss {
    #[new]
    #[pyo3(signature = (kind, surrogate=None, margin=None, scale=None, smoothing=None, fpr=(0.0, 0.05), tpr=0.0, grade="full"))]
    fn new(
        kind: &str,
        surrogate: Option<&str>,
        margin: Option<f64>,
        scale: Option<f64>,
        smoothing: Option<f64>,
        fpr: (f64, f64),
        tpr: f64,
        grade: &str,
    ) -> PyResult<Self> {
        let sum = match kind {
            "ap" => Sum::Ap,
            "auc" => Sum::Auc,
            "pauc" => Sum::Pauc { fpr, tpr },
            _ => return Err(value(format!("kind: expected 'ap', 'auc' or 'pauc', got {kind:?}"))),
        };
        if !(0.0 <= fpr.0 && fpr.0 < fpr.1 && fpr.1 <= 1.0) {
            return Err(value(format!(
                "fpr: expected (low, high) with 0 <= low < high <= 1, got ({}, {})",
                fpr.0, fpr.1
            )));
        }
        if !(0.0..1.0).contains(&tpr) {
            return Err(value(format!("tpr: expected 0 <= tpr < 1, got {tpr}")));
        }
        let grade = match grade {
            "full" => Grade::Full,
            "fast" => Grade::Fast,
            _ => return Err(value(format!("grade: expected 'full' or 'fast', got {grade:?}"))),
        };
        // Defaults are those of the method of the same objective.
        let method = method(&format!("{kind}-exact")).ok_or_else(|| value("kind: no such method"))?;
        let usual = |pairs: &[(&str, &str)]| match method.settings(pairs) {
            Ok(settings) => method.surrogate(&settings).map_err(core),
            Err(_) => Err(value("surrogate: not one of this loss")),
        };
        let name = match surrogate {
            Some(name) => match SURROGATES.iter().find(|one| one.0 == name) {
                Some(one) => one.0,
                None => {
                    let names: Vec<String> = SURROGATES.iter().map(|one| format!("{:?}", one.0)).collect();
                    return Err(value(format!("surrogate: expected one of {}, got {name:?}", names.join(", "))));
                }
            },
            None => usual(&[])?.name(),
        };
        let wanted = SURROGATES.iter().find(|one| one.0 == name).map_or("margin", |one| one.1);
        let mut given = None;
        for (other, number) in [("margin", margin), ("scale", scale), ("smoothing", smoothing)] {
            if number.is_some() && other != wanted {
                return Err(value(format!("{other}: the surrogate {name} has a {wanted} and no {other}")));
            }
            given = given.or(number);
        }
        let loss = match given {
            Some(number) => AnySurrogate::by_name(name, number)
                .map_err(|_| value(format!("{wanted}: expected a number above 0 that is not extreme, got {number}")))?,
            None => usual(&[("surrogate", name)])?,
        };
        if kind == "pauc" && !undercurve::surrogate::Surrogate::<f64>::is_monotone(loss) {
            return Err(value(format!("surrogate: partial AUC needs one that falls everywhere, and {name} does not")));
        }
        let mut tables = vec![0.0; Plan::need(grade)];
        if Plan::new(loss, grade, &mut tables).is_err() {
            tables = Vec::new();
        }
        Ok(Self { kind: kind.into(), sum, loss, param: (wanted, loss.param()), grade, tables, pool: Mutex::default() })
    }

    /// The arguments that make it again.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("kind", &self.kind)?;
        all.set_item("surrogate", self.loss.name())?;
        all.set_item(self.param.0, self.param.1)?;
        if let Sum::Pauc { fpr, tpr } = self.sum {
            all.set_item("fpr", fpr)?;
            all.set_item("tpr", tpr)?;
        }
        all.set_item("grade", if self.grade == Grade::Full { "full" } else { "fast" })?;
        Ok(all)
    }

    /// Value and derivative by every score; where a class has no row an error, or all of it 0.
    #[pyo3(signature = (scores, labels, weights=None, zero_for_one_class=false))]
    fn value_grad<'py>(
        &self,
        py: Python<'py>,
        scores: &Bound<'py, PyAny>,
        labels: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        zero_for_one_class: bool,
    ) -> PyResult<(f64, Bound<'py, PyAny>)> {
        let (scores, y, w) = rows(scores, labels, weights)?;
        let told = |told: undercurve::Result<f64>| match told {
            Err(Error::OneClass) if zero_for_one_class => Ok(0.0),
            told => told.map_err(core),
        };
        match &scores {
            Floats::F32(scores) => {
                let scores = scores.slice();
                let mut grad = vec![0.0; scores.len()];
                let value = told(py.detach(|| self.evaluate(scores, &y, &w, &mut grad)))?;
                Ok((value, grad.into_pyarray(py).into_any()))
            }
            Floats::F64(scores) => {
                let scores = scores.slice();
                let mut grad = vec![0.0; scores.len()];
                let value = told(py.detach(|| self.evaluate(scores, &y, &w, &mut grad)))?;
                Ok((value, grad.into_pyarray(py).into_any()))
            }
        }
    }
}

/// Scores with a label each, and perhaps a weight.
pub fn rows<'py>(
    scores: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    w: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Floats<'py>, Vec<u8>, Vec<f64>)> {
    let scores = Floats::of("scores", scores)?;
    let y = labels(y)?;
    same("labels", scores.len(), y.len())?;
    let w = weights(w, scores.len())?;
    Ok((scores, y, w))
}

impl Loss {
    pub fn sum(&self) -> Sum {
        self.sum
    }
    pub fn surrogate(&self) -> AnySurrogate<f64> {
        self.loss
    }

    fn evaluate<T: Real>(&self, scores: &[T], y: &[u8], w: &[f64], grad: &mut [T]) -> undercurve::Result<f64> {
        let pool = || self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let mut work = pool().pop().unwrap_or_default();
        let out = self.evaluate_in(&mut work, scores, y, w, grad);
        pool().push(work);
        out
    }

    fn evaluate_in<T: Real>(
        &self,
        work: &mut Work,
        scores: &[T],
        y: &[u8],
        w: &[f64],
        grad: &mut [T],
    ) -> undercurve::Result<f64> {
        let need = match w {
            [] => pairs::need(scores.len(), y.iter().map(|&y| usize::from(y)).sum()),
            _ => pairs::sum_need(scores.len()),
        };
        fn grow<N: Clone + Default>(memory: &mut Vec<N>, need: usize) {
            if memory.len() < need {
                memory.resize(need, N::default());
            }
        }
        grow(&mut work.f64, need.f64);
        grow(&mut work.u32, need.u32);
        grow(&mut work.u64, need.u64);
        let scratch = Scratch { real: &mut [], f64: &mut work.f64, u32: &mut work.u32, u64: &mut work.u64 };
        let truth = Truth::new(y, w)?;
        match &self.tables[..] {
            [] => pairs::sum(self.sum, scores, truth, self.loss, self.grade, scratch, grad),
            tables => Plan::again(self.loss, self.grade, tables)?.sum(self.sum, scores, truth, scratch, grad),
        }
    }
}
