//! Objectives of batches whose scores come from elsewhere: value, gradient and the state that moves from batch to batch.

use crate::arrays::{Column, Floats, indices, labels, same};
use crate::error::{core, kind, value};
use numpy::{Element, IntoPyArray, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use undercurve::algorithm::{Algorithm, Answer, AnyAlgorithm, COUNTERS, State};
use undercurve::batch::{Batch, Drawn};
use undercurve::constraint::{Constraint, Constraints};
use undercurve::estimator::{AnyEstimator, Estimator as Objective, Grad};
use undercurve::expression::{Bound as Limit, Expression};
use undercurve::registry::{self, Scope};
use undercurve::{Error, Real, Scratch};

/// An objective of the registry for batches of two classes.
#[pyclass(module = "undercurve._core", frozen)]
pub struct Estimator {
    name: &'static str,
    estimator: AnyEstimator,
    drawn: Drawn,
    /// How many groups there are; 0 without.
    groups: usize,
    /// Negatives and positives of the data; with groups those of each, label by label.
    population: Vec<u32>,
    /// What does not change over a run.
    tables: Vec<f64>,
    /// What moves the multipliers, of a method that has a rule of its own for them.
    duals: Option<AnyAlgorithm>,
}

/// Rows of a batch, beside their scores.
struct Asked<'a, 'py> {
    y: &'a Bound<'py, PyAny>,
    rows: Option<&'a Bound<'py, PyAny>>,
    groups: Option<&'a Bound<'py, PyAny>>,
}

/// A constraint of groups by name.
fn constraint(text: &str, groups: &[String]) -> PyResult<Constraint> {
    let refuse = |why: &dyn std::fmt::Display| value(format!("constraints: {text:?}: {why}"));
    let read = Expression::parse(text).map_err(|error| refuse(&error))?;
    let Limit::Value(bound) = read.bound else { return Err(refuse(&"expected a number")) };
    let of = Constraint { measure: read.measure(groups).map_err(|error| refuse(&error))?, sense: read.sense, bound };
    of.check(groups.len() as u32).map_err(|error| refuse(&error))?;
    Ok(of)
}

/// Value, derivative by every score and by every auxiliary variable.
type Told<'py> = (f64, Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pymethods]
impl Estimator {
    #[new]
    #[pyo3(signature = (
        method, positives, negatives, settings, fpr=(0.0, 0.05), stratified=false, seed=1, groups=Vec::new(),
        constraints=Vec::new(), cells=Vec::new()
    ))]
    fn new(
        method: &str,
        positives: u32,
        negatives: u32,
        settings: Vec<(String, String)>,
        fpr: (f64, f64),
        stratified: bool,
        seed: u64,
        groups: Vec<String>,
        constraints: Vec<String>,
        cells: Vec<u32>,
    ) -> PyResult<Self> {
        let entry = registry::method(method)
            .ok_or_else(|| value(format!("method: there is no {method:?}; undercurve.methods() lists them")))?;
        let refuse = |why: &str| Err(value(format!("method: {method} {why}")));
        match entry.kind {
            registry::Kind::Batches | registry::Kind::Whole if groups.is_empty() => {}
            registry::Kind::Batches | registry::Kind::Whole => return refuse("takes no groups"),
            registry::Kind::Cells if groups.is_empty() => return refuse("is of groups; pass them"),
            registry::Kind::Cells => {}
            _ => return refuse("is no loss of scores; undercurve.train runs it"),
        }
        if positives == 0 || negatives == 0 {
            return Err(value(format!(
                "labels: {positives} positives and {negatives} negatives, expected at least 1 of each"
            )));
        }
        let pairs: Vec<(&str, &str)> = settings.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let made = entry.settings(&pairs).map_err(|error| match error {
            registry::SettingError::Unknown { at } => {
                let names: Vec<&str> = entry.params.iter().map(|param| param.name).collect();
                value(format!("{}: {method} has no such parameter; it has {}", pairs[at].0, names.join(", ")))
            }
            registry::SettingError::Value { at, param } => {
                value(format!("{}: {:?} is not in its range ({})", param.name, pairs[at].1, param.about))
            }
        })?;
        let population = if groups.is_empty() { vec![negatives, positives] } else { cells };
        if !groups.is_empty() && population.len() != 2 * groups.len() {
            return Err(value(format!("cells: {} counts for {} groups of two labels", population.len(), groups.len())));
        }
        let scope = Scope {
            population: [negatives, positives],
            network: true,
            groups: groups.len().max(1) as u32,
            ..Scope::default()
        };
        let asked: Vec<Constraint> =
            constraints.iter().map(|text| constraint(text, &groups)).collect::<PyResult<_>>()?;
        let asked = Constraints::new(&asked).map_err(core)?;
        let mut made = made.with_fpr(fpr).with_seed(seed).with_scope(scope);
        if !constraints.is_empty() {
            made = made.with_constraints(&asked);
        }
        let estimator = entry.estimator(&made).map_err(core)?;
        let duals = match entry.kind {
            registry::Kind::Cells => Some(entry.parts(&made).map_err(core)?.1),
            _ => None,
        };
        if let Some(AnyAlgorithm::Icppac(_)) = duals {
            return refuse("moves the parameters by proximal points; undercurve.train runs it");
        }
        let duals = duals.filter(|rule| matches!(rule, AnyAlgorithm::Lagrange(_) | AnyAlgorithm::Ooa(_)));
        if Objective::<f32>::terms(&estimator) > 1 {
            return refuse("has an algorithm of its own; undercurve.train runs it");
        }
        let drawn = match (Objective::<f32>::needs_all(&estimator), stratified) {
            (true, _) => Drawn::All,
            (false, true) => Drawn::Stratified,
            (false, false) => Drawn::Uniform,
        };
        let mut tables = vec![0.0; Objective::<f64>::tables_len(&estimator)];
        let len = Objective::<f64>::prepare(&estimator, &mut tables).len();
        tables.truncate(len);
        Ok(Self { name: entry.name, estimator, drawn, groups: groups.len(), population, tables, duals })
    }

    /// Numbers of state, for so many rows of data.
    fn state_len(&self, rows: usize) -> usize {
        self.estimator.state_len(rows)
    }

    /// Whether its state belongs to rows.
    #[getter]
    fn has_rows(&self) -> bool {
        self.estimator.state_len(2) > self.estimator.state_len(1)
    }

    /// Auxiliary variables: minimised over, then maximised.
    #[getter]
    fn aux(&self) -> (usize, usize) {
        self.estimator.aux()
    }

    /// Whether its ascent variables are multipliers that `ascend` moves, not an optimizer.
    #[getter]
    fn has_duals(&self) -> bool {
        self.duals.is_some()
    }

    /// A step of the multipliers by the method's rule, given the derivatives by them that `update` gave.
    fn ascend(&self, duals: &Bound<'_, PyAny>, by_duals: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(duals) = duals.extract::<PyReadwriteArray1<'_, f32>>() {
            return self.ascended(duals, &by_duals.extract()?);
        }
        let duals = duals.extract().map_err(|_| kind("duals: expected a contiguous array of float32 or float64"))?;
        self.ascended::<f64>(duals, &by_duals.extract()?)
    }

    /// The estimate on a batch with its derivatives; moves `state` unless told not to. A batch that lacks a class which the objective
    /// needs counts nothing: its value and its derivatives are 0.
    #[pyo3(signature = (scores, labels, rows, state, aux, move_state=true, groups=None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        scores: &Bound<'py, PyAny>,
        labels: &Bound<'py, PyAny>,
        rows: Option<&Bound<'py, PyAny>>,
        state: &Bound<'py, PyAny>,
        aux: &Bound<'py, PyAny>,
        move_state: bool,
        groups: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Told<'py>> {
        let batch = Asked { y: labels, rows, groups };
        match Floats::of("scores", scores)? {
            Floats::F32(column) => self.of(py, &column, &batch, state, aux, move_state),
            Floats::F64(column) => self.of(py, &column, &batch, state, aux, move_state),
        }
    }

    fn __repr__(&self) -> String {
        format!("Estimator({:?}, cells={:?})", self.name, self.population)
    }
}

impl Estimator {
    fn ascended<T: Real + Element>(
        &self,
        mut duals: PyReadwriteArray1<'_, T>,
        by_duals: &PyReadonlyArray1<'_, T>,
    ) -> PyResult<()> {
        let Some(rule) = &self.duals else { return Err(value(format!("{} has no multipliers of its own", self.name))) };
        let type_of = |_| kind("duals: expected contiguous arrays");
        let (points, grad) = (duals.as_slice_mut().map_err(type_of)?, by_duals.as_slice().map_err(type_of)?);
        // (Of no parameters but these: the rule's own steps are those of the multipliers.)
        let mut state = State { points, slots: &mut [], counters: &mut [0; COUNTERS] };
        rule.tell(&mut state, Answer::Gradient { value: 0.0, grad }).map_err(core)
    }

    fn of<'py, T: Real + Element>(
        &self,
        py: Python<'py>,
        scores: &Column<'py, T>,
        Asked { y, rows, groups }: &Asked<'_, 'py>,
        state: &Bound<'py, PyAny>,
        aux: &Bound<'py, PyAny>,
        move_state: bool,
    ) -> PyResult<Told<'py>> {
        let scores = scores.slice();
        let y = labels(y)?;
        same("labels", scores.len(), y.len())?;
        let rows = match rows {
            Some(rows) => indices("rows", rows)?,
            None if self.has_rows() => {
                return Err(value(format!(
                    "rows: {} keeps numbers for each row; pass the row numbers of the batch",
                    self.name
                )));
            }
            None => Vec::new(),
        };
        if !rows.is_empty() {
            same("rows", scores.len(), rows.len())?;
        }
        let type_of = |what: &str| kind(format!("{what}: expected a contiguous array of the scores' type"));
        let mut state: PyReadwriteArray1<'py, T> = state.extract().map_err(|_| type_of("state"))?;
        let state = state.as_slice_mut().map_err(|_| type_of("state"))?;
        let aux: PyReadonlyArray1<'py, T> = aux.extract().map_err(|_| type_of("aux"))?;
        let aux = Column::of(aux)?;
        let aux = aux.slice();
        // Rows lie segment by segment: negatives first; with groups those of each group, label by label.
        let segments = self.population.len();
        let segment: Vec<usize> = match (groups, self.groups) {
            (None, 0) => y.iter().map(|&y| usize::from(y)).collect(),
            (Some(_), 0) => return Err(value(format!("groups: {} takes none", self.name))),
            (None, _) => return Err(value(format!("groups: {} needs the group of each row", self.name))),
            (Some(groups), count) => {
                let groups = indices("groups", groups)?;
                same("groups", scores.len(), groups.len())?;
                if let Some(row) = groups.iter().position(|&group| group as usize >= count) {
                    return Err(value(format!("groups: row {row} is {}, expected 0 to {}", groups[row], count - 1)));
                }
                y.iter().zip(&groups).map(|(&y, &group)| usize::from(y) * count + group as usize).collect()
            }
        };
        let mut starts = vec![0u32; segments + 1];
        segment.iter().for_each(|&of| starts[of + 1] += 1);
        (0..segments).for_each(|of| starts[of + 1] += starts[of]);
        let (mut order, mut next) = (vec![0; y.len()], starts.clone());
        for (row, &of) in segment.iter().enumerate() {
            order[next[of] as usize] = row;
            next[of] += 1;
        }
        let sorted: Vec<T> = order.iter().map(|&row| scores[row]).collect();
        let slots: Vec<u32> = match rows.is_empty() || !self.has_rows() {
            true => Vec::new(),
            false => order[starts[1] as usize..].iter().map(|&row| rows[row]).collect(),
        };
        // (Of a batch that is all there is, that is what there is.)
        let own: Vec<u32> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let population = if self.drawn == Drawn::All { &own } else { &self.population };
        // (Samplers with replacement may draw more rows of a class than there are: masses allow that.)
        let masses: Vec<f64> = population.iter().map(|&count| f64::from(count)).collect();
        let told = py.detach(|| -> undercurve::Result<(f64, Vec<T>, Vec<T>)> {
            let batch = Batch::weighted(&sorted, 1, &starts, population, &masses, self.drawn)?
                .with_slots(&slots)
                .with_tables(&self.tables);
            let need = Objective::<T>::need(&self.estimator, batch.shape());
            let (mut real, mut f64s) = (vec![T::ZERO; need.real], vec![0.0; need.f64]);
            let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
            let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
            let (mut by_score, mut by_aux) = (vec![T::ZERO; sorted.len()], vec![T::ZERO; aux.len()]);
            let grad = Grad { scores: &mut by_score, aux: &mut by_aux };
            let told = match move_state {
                true => self.estimator.update(&batch, aux, state, scratch, grad),
                false => self.estimator.gradient(&batch, aux, state, scratch, grad),
            };
            let value = match told {
                Err(Error::OneClass) => 0.0,
                told => told?,
            };
            let mut by_row = vec![T::ZERO; sorted.len()];
            order.iter().zip(&by_score).for_each(|(&row, &g)| by_row[row] = g);
            Ok((value, by_row, by_aux))
        });
        let (value, by_row, by_aux) = told.map_err(|error| self.wrong(error, &order, &rows))?;
        Ok((value, by_row.into_pyarray(py).into_any(), by_aux.into_pyarray(py).into_any()))
    }

    /// What was wrong, with the row as it was given.
    fn wrong(&self, error: Error, order: &[usize], rows: &[u32]) -> PyErr {
        match error {
            Error::NonFinite { what: "scores", at } => core(Error::NonFinite { what: "scores", at: order[at] }),
            Error::Index { .. } => {
                value(format!("rows: {} is beyond the rows of the data", rows.iter().max().copied().unwrap_or(0)))
            }
            error => core(error),
        }
    }
}
