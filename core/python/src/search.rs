//! A search for the model that pays, told to Python while it goes on.

use crate::error::{core, trainer, value};
use crate::metrics::threshold_rule;
use crate::model::Model;
use crate::table::Table;
use crate::trainer::{Reading, of};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use undercurve::data::{Options, Preparation, RawTable};
use undercurve::decision::ThresholdRule;
use undercurve_search::{
    AWAY, Error, Folds, HeldOut, Importance, Job, MOST_ROWS, RANGE, Refit, Tried, Want, Watch, column_auroc, folds,
    importances, search as search_for, want,
};

/// How far a search is, of which Python asks.
#[derive(Default)]
struct Desk {
    /// Trainings in hand and done, the name of the last, and what was said since.
    state: Mutex<(usize, usize, String, Vec<String>)>,
    stop: AtomicBool,
}

impl Desk {
    fn with<R>(&self, of: impl FnOnce(&mut (usize, usize, String, Vec<String>)) -> R) -> R {
        of(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Watch for Desk {
    fn begin(&self, all: usize, known: usize) {
        // (Of all folds so far.)
        self.with(|state| (state.0, state.1) = (state.0 + all, state.1 + known));
    }

    fn train(&self, name: &str) {
        self.with(|state| state.2 = name.to_string());
    }

    fn trained(&self) {
        self.with(|state| state.1 += 1);
    }

    fn note(&self, text: std::fmt::Arguments<'_>) {
        self.with(|state| state.3.push(text.to_string()));
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

/// What a search is asked for, as `undercurve.auto` gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    want: String,
    threshold: Option<String>,
    folds: Option<usize>,
    seed: u64,
    threads: Option<usize>,
}

impl Asked {
    /// What is wanted, where all else can be done.
    fn want(&self) -> PyResult<Want> {
        if let Some(text) = &self.threshold
            && let ThresholdRule::Promised(_) = threshold_rule("threshold", text)?
        {
            return Err(value(format!(
                "threshold: {text}: a promise needs rows that decided nothing: Model.with_threshold on others"
            )));
        }
        for (name, given, least) in [("folds", self.folds, 2), ("threads", self.threads, 1)] {
            if let Some(given) = given.filter(|&given| given < least) {
                return Err(value(format!("{name}: expected at least {least}, got {given}")));
            }
        }
        want(&self.want).map_err(|expected| value(format!("want: {expected}, got {:?}", self.want)))
    }
}

/// What came of it.
struct Found {
    tried: Vec<Tried>,
    taken: String,
    verdict: (String, bool),
    away: Vec<String>,
    importances: Vec<Importance>,
    held_out: HeldOut,
    refit: Refit,
    metric: &'static str,
    fpr: (f64, f64),
}

/// Columns each of which alone ranks the label almost perfectly.
fn away(table: &RawTable, of: &Preparation, options: &Options, labels: &[u8]) -> Vec<String> {
    let apart = options.split_by.as_ref().map(|by| by.column().clone());
    let used = |name: &String| {
        Some(&name[..]) != of.label_column() && !options.ignore.contains(name) && Some(name) != apart.as_ref()
    };
    let ranks = |at: usize| column_auroc(table, at, labels).is_some_and(|auroc| auroc >= AWAY);
    table
        .columns()
        .into_iter()
        .enumerate()
        .filter(|(at, name)| used(name) && ranks(*at))
        .map(|(_, name)| name)
        .collect()
}

fn found(table: &RawTable, options: &Options, asked: &Asked, want: Want, watch: &Desk) -> Result<Found, Error> {
    let whole = Preparation::fit(table, options)?;
    let all = whole.apply::<f32>(table)?;
    if all.labels().is_empty() {
        return Err(Error::Input("auto: expected labels of two classes".into()));
    }
    let (metric, fpr) =
        want.of(all.len(), all.positives(), RANGE).map_err(|why| Error::Input(format!("want: {why}")))?;
    let count = asked.folds.unwrap_or_else(|| folds(all.len()));
    let folds = Folds::new(&all, count, 1, asked.seed, MOST_ROWS)?;
    let mut job = Job::new(table, options, folds, (&whole, &all), watch);
    (job.metric, job.fpr, job.seed, job.threads) = (metric, fpr, asked.seed, asked.threads);
    let search = search_for(&job, &all)?;
    let row = &search.rows[search.taken];
    let (refit, held_out) = Refit::with_held_out(&job, row, all.labels())?;
    Ok(Found {
        taken: row.candidate.name.clone(),
        tried: search.tried(&job),
        verdict: search.verdict(&job, job.chance(&all)),
        away: away(table, &whole, options, all.labels()),
        importances: importances(&job, row)?,
        held_out,
        refit,
        metric,
        fpr,
    })
}

/// The model of all rows, and what is known of it. `told` is called with trainings done and in hand, the name of one and what is to be said.
#[pyfunction]
#[pyo3(signature = (reading, table, asked, told=None))]
pub fn search<'py>(
    py: Python<'py>,
    reading: Reading,
    table: &Table,
    asked: Asked,
    told: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let (want, options) = (asked.want()?, reading.options(table)?);
    let (desk, raw) = (Desk::default(), &table.table);
    let tell = || -> PyResult<()> {
        py.check_signals()?;
        let (all, count, name, notes) =
            desk.with(|state| (state.0, state.1, state.2.clone(), std::mem::take(&mut state.3)));
        told.map_or(Ok(()), |told| told.call1((count, all, name, notes)).map(|_| ()))
    };
    let found = beside(py, &desk, &tell, || found(raw, &options, &asked, want, &desk))?;
    let found = found.map_err(|error| failed(error, table))?;
    tell()?;
    let out = result(py, &found)?;
    Ok((Model::of(found.refit.file)?, out))
}

/// Works on another thread while this one tells, until that fails, as on Ctrl-C.
fn beside<R: Send>(
    py: Python<'_>,
    desk: &Desk,
    tell: &dyn Fn() -> PyResult<()>,
    work: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    let (done, ended) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // (Whoever waits is there.)
            let _ = done.send(work());
        });
        let ended = Mutex::new(ended);
        let mut heard = Ok(());
        loop {
            let wait = || ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(Duration::from_millis(50));
            match py.detach(wait) {
                Err(RecvTimeoutError::Timeout) if heard.is_ok() => {
                    heard = tell();
                    desk.stop.store(heard.is_err(), Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(value("auto: a worker failed")),
                Ok(found) => return heard.map(|()| found),
            }
        }
    })
}

fn failed(error: Error, table: &Table) -> PyErr {
    match error {
        Error::Folds { count, why } => value(format!("folds: {count}: {why}")),
        Error::Data(error) => of(&error, table),
        Error::Core(error) => core(error),
        Error::Trainer(error) => trainer(error),
        error => value(error.to_string()),
    }
}

fn result<'py>(py: Python<'py>, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let mut tried = Vec::new();
    for row in &found.tried {
        let one = PyDict::new(py);
        one.set_item("name", &row.name)?;
        one.set_item("options", &row.options)?;
        one.set_item("values", &row.values)?;
        one.set_item("mean", row.mean)?;
        one.set_item("sd", row.sd)?;
        one.set_item("seconds", row.seconds)?;
        one.set_item("dropped", row.dropped)?;
        one.set_item("ahead", row.ahead.map(|[mean, ..]| mean))?;
        one.set_item("interval", row.ahead.map(|[_, low, high]| (low, high)))?;
        tried.push(one);
    }
    let held_out = &found.held_out;
    let (scores, labels) = held_out.scores();
    let rows: Vec<u32> = held_out.rows().iter().map(|one| one.row).collect();
    let folds: Vec<u32> = held_out.rows().iter().map(|one| one.fold as u32).collect();
    out.set_item("tried", tried)?;
    let importances: Vec<(&str, f64, f64)> =
        found.importances.iter().map(|one| (&one.column[..], one.loss, one.sd)).collect();
    out.set_item("importances", importances)?;
    out.set_item("away", &found.away)?;
    out.set_item("taken", &found.taken)?;
    out.set_item("metric", found.metric)?;
    out.set_item("fpr", found.fpr)?;
    out.set_item("verdict", &found.verdict.0)?;
    out.set_item("signal", found.verdict.1)?;
    out.set_item("scores", scores.into_pyarray(py))?;
    out.set_item("labels", labels.into_pyarray(py))?;
    out.set_item("rows", rows.into_pyarray(py))?;
    out.set_item("folds", folds.into_pyarray(py))?;
    out.set_item("clusters", found.refit.clusters(held_out))?;
    Ok(out)
}
