//! What is told of many runs: a row each, in their order, and what they come to.

use super::backend::{List, Told};
use crate::args::grid::Axis;
use crate::error::{CliError, Result};
use crate::run::training::Training;
use crate::tell::report::{cell, metrics, shown};
use crate::tell::signal::NoSignal;
use crate::{output, tell};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};
use undercurve::Real;
use undercurve::trainer::{Figures, Warning};

/// Ticks of the bar for each run.
const TICKS: u64 = 1000;

/// What runs are compared by.
#[derive(Clone, Debug)]
pub struct By {
    /// `train`, `valid` or `test`.
    pub part: &'static str,
    pub metric: String,
    /// What people call it.
    pub name: String,
}

impl By {
    /// The rows that a run is to be chosen on, of those there are, and the metric that it is trained for.
    pub fn of<T: Real>(training: &Training<T>) -> Self {
        let part = match (&training.best, training.trainer.test_data()) {
            (Some(_), _) => "valid",
            (None, Some(_)) => "test",
            (None, None) => "train",
        };
        let metric = training.best.as_ref().map_or(training.trainer.own_metric(), |best| best.metric()).to_string();
        let (low, high) = training.trainer.config().fpr;
        let name = match metric.as_str() {
            "auroc" => "AUROC".to_string(),
            "ap" => "AP".to_string(),
            "pauc" => format!("pAUC {low}:{high}"),
            "hand-till" => "Hand-Till AUC".to_string(),
            other => other.to_uppercase(),
        };
        Self { part, metric, name: format!("{part} {name}") }
    }

    /// Whether one value is better than another.
    pub fn better(&self, a: f64, b: f64) -> bool {
        if matches!(self.metric.as_str(), "rmse" | "mae") { a < b } else { a > b }
    }
}

/// A run that has ended.
pub struct Row {
    /// Of the model that is kept.
    pub step: u64,
    pub objective: f64,
    /// Parts of the data with its figures on them.
    pub parts: Vec<(&'static str, Figures)>,
    /// Of several.
    classes: Vec<String>,
    /// What is to be said against the model.
    pub warning: Option<String>,
    /// That nothing was found.
    pub no_signal: Option<NoSignal>,
    /// Whether it is no result, and so none to count or to choose.
    pub collapsed: bool,
}

impl Row {
    fn of<T: Real>(training: &mut Training<T>) -> Result<Self> {
        let Some(report) = training.report.clone() else {
            return Err(anyhow::anyhow!("a run ended without a report").into());
        };
        if report.warning == Some(Warning::Constant) {
            return Err(CliError::input(Warning::Constant.sentence(training.method())));
        }
        let kept = training.kept().map(undercurve::trainer::Best::step);
        let mut model = training.model()?;
        let valid = training.best.as_ref().map(|best| best.valid_data().clone());
        let mut parts = Vec::new();
        let at_end = |figures: Option<Figures>| figures.filter(|_| kept.is_none());
        let train = Some(training.trainer.train_data().clone());
        for (part, rows, told) in [
            ("train", train, Some(report.train)),
            ("valid", valid, None),
            ("test", training.trainer.test_data().cloned(), report.test),
        ] {
            match (at_end(told), rows) {
                (Some(figures), _) => parts.push((part, figures)),
                (None, Some(rows)) => parts.push((part, model.evaluate(&rows)?)),
                (None, None) => {}
            }
        }
        let no_signal = NoSignal::of(&training.trainer, training.best.as_ref(), &mut model)?;
        let classes = training.preparation.classes().to_vec();
        let step = kept.unwrap_or(report.step);
        let warning = report.warning.map(|warning| warning.sentence(training.method()));
        // (It is of the last step.)
        let collapsed = kept.is_none() && report.warning.is_some_and(|warning| warning.collapsed());
        Ok(Self { step, objective: report.objective, parts, classes, warning, no_signal, collapsed })
    }

    /// Its figures on a part of the data.
    pub fn figures(&self, part: &str) -> Option<&Figures> {
        self.parts.iter().find(|(name, _)| *name == part).map(|found| &found.1)
    }

    /// What it is compared by; `None` where that is no number, or the run no result.
    pub fn value(&self, by: &By) -> Option<f64> {
        self.figures(by.part)?.get(&by.metric).filter(|value| !value.is_nan() && !self.collapsed)
    }
}

/// How a run ended: with figures, or with an error.
pub type Outcome = Result<Row, String>;

/// A run's metric on the way: how far it was, and its value on every part that reports measure.
pub type Path = Vec<(u64, Vec<f64>)>;

/// The run that is the best so far.
struct Leader {
    at: usize,
    value: f64,
    /// The files of `--save` and `--out`.
    files: [Option<Vec<u8>>; 2],
}

/// What is left at the end.
pub struct All {
    pub rows: Vec<Option<Outcome>>,
    pub paths: Vec<Path>,
    pub best: Option<usize>,
    /// The files of `--save` and `--out`, of the best run.
    pub files: [Option<Vec<u8>>; 2],
}

/// Everything that was heard.
struct Heard {
    rows: Vec<Option<Outcome>>,
    paths: Vec<Path>,
    ticks: Vec<u64>,
    /// Rows that are printed.
    printed: usize,
    head: bool,
    leader: Option<Leader>,
}

/// Hears of runs and tells them.
pub struct Teller<'a, T: Real> {
    list: &'a List<'a, T>,
    pub by: By,
    bar: ProgressBar,
    heard: Mutex<Heard>,
}

impl<'a, T: Real> Teller<'a, T> {
    pub fn new(list: &'a List<'a, T>, by: By) -> Self {
        let runs = list.runs.len();
        let bar = tell::bar(TICKS * runs as u64, "{bar:30} {msg}  {eta} left");
        let heard = Heard {
            rows: (0..runs).map(|_| None).collect(),
            paths: vec![Vec::new(); runs],
            ticks: vec![0; runs],
            printed: 0,
            head: false,
            leader: None,
        };
        Self { list, by, bar, heard: Mutex::new(heard) }
    }

    /// Hears one.
    pub fn hear(&self, at: usize, told: Told<'_, T>) -> Result<()> {
        let ended = match told {
            Told::At((done, all), report) => {
                let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(report) = report {
                    let values = [Some(&report.train), report.test.as_ref()].into_iter().flatten();
                    let values = values.map(|figures| figures.get(&self.by.metric).unwrap_or(f64::NAN)).collect();
                    heard.paths[at].push((report.step, values));
                }
                heard.ticks[at] = TICKS * done.min(all) / all.max(1);
                self.bar.set_position(heard.ticks.iter().sum());
                return Ok(());
            }
            Told::Ended(training) => {
                let row = Row::of(training);
                if let Ok(row) = &row {
                    self.lead(at, row, training)?;
                }
                row.map_err(told_of)
            }
            Told::Failed(error) => Err(told_of(error)),
        };
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.rows[at] = Some(ended);
        heard.ticks[at] = TICKS;
        self.bar.set_position(heard.ticks.iter().sum());
        let done = heard.rows.iter().flatten().count();
        self.bar.set_message(format!("{done}/{} runs", heard.rows.len()));
        while heard.rows.get(heard.printed).is_some_and(Option::is_some) {
            self.print_next(&mut heard)?;
        }
        Ok(())
    }

    /// Keeps the files of the best run; of equal ones that of the first in the list.
    fn lead(&self, at: usize, row: &Row, training: &mut Training<T>) -> Result<()> {
        let Some(value) = row.value(&self.by) else { return Ok(()) };
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = heard
            .leader
            .as_ref()
            .is_none_or(|leader| self.by.better(value, leader.value) || (value == leader.value && at < leader.at));
        if ahead {
            let save = self.list.manner.place.as_ref().map(|_| training.save()).transpose()?;
            let out = self.list.manner.out.as_ref().map(|_| training.alone()).transpose()?;
            heard.leader = Some(Leader { at, value, files: [save, out] });
        }
        Ok(())
    }

    fn print(&self, text: impl std::fmt::Display) -> Result<()> {
        self.bar.suspend(|| output::line(text))
    }

    /// Prints the next row that is there.
    fn print_next(&self, heard: &mut Heard) -> Result<()> {
        let at = heard.printed;
        heard.printed += 1;
        let Some(outcome) = &heard.rows[at] else { return Ok(()) };
        if self.list.manner.json {
            return self.print(self.object(at, outcome));
        }
        if let (Ok(row), false) = (outcome, heard.head) {
            heard.head = true;
            self.heading(row)?;
        }
        let (start, spec) = (self.start(at), &self.list.runs[at]);
        match outcome {
            Ok(row) => {
                let parts = row.parts.iter().map(|(_, figures)| figure_cells(figures));
                let mark = match (row.collapsed, &row.warning, &row.no_signal) {
                    (true, ..) => " ! collapsed",
                    (false, Some(_), _) => " ! warning",
                    (false, None, Some(_)) => " ! no signal",
                    (false, None, None) => "",
                };
                self.print(format!("{start} {:>8} | {}{mark}", row.step, parts.collect::<Vec<_>>().join(" | ")))
            }
            Err(error) => self.print(format!("{start}  failed: {} (seed {})", error, spec.seed)),
        }
    }

    /// Names the columns.
    fn heading(&self, row: &Row) -> Result<()> {
        let columns = row.parts.first().map_or(&[][..], |(_, figures)| shown(figures).0);
        let names: Vec<String> = columns.iter().map(|(heading, _)| format!("{heading:>7}")).collect();
        let names = names.join(" ");
        let axes = self.list.grid.0.iter().map(|axis| format!(" {:>1$}", axis.name, width(axis)));
        let start = format!("{:>6}{} {:>8}", "seed", axes.collect::<String>(), "step");
        let of = row.parts.iter().map(|(part, _)| format!("{part:<0$}", names.len()));
        self.print(format!("{} | {}", " ".repeat(start.len()), of.collect::<Vec<_>>().join(" | ")).trim_end())?;
        self.print(format!("{start} | {}", vec![names; row.parts.len()].join(" | ")))
    }

    /// Seed and settings, in their columns.
    fn start(&self, at: usize) -> String {
        let spec = &self.list.runs[at];
        let cells =
            spec.settings.iter().zip(&self.list.grid.0).map(|((_, value), axis)| format!(" {value:>0$}", width(axis)));
        format!("{:>6}{}", spec.seed, cells.collect::<String>())
    }

    /// A run for programs.
    fn object(&self, at: usize, outcome: &Outcome) -> Value {
        let spec = &self.list.runs[at];
        let settings: Map<String, Value> = spec.settings.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
        let mut object = json!({ "run": at + 1, "seed": spec.seed, "settings": settings });
        match outcome {
            Ok(row) => {
                object["step"] = row.step.into();
                object["objective"] = row.objective.into();
                if let Some(warning) = &row.warning {
                    object["warning"] = warning.as_str().into();
                    object["collapsed"] = row.collapsed.into();
                }
                if let Some(none) = &row.no_signal {
                    object["no_signal"] = none.object();
                }
                for (part, figures) in &row.parts {
                    object[*part] = metrics(figures, &row.classes);
                }
            }
            Err(error) => object["error"] = error.as_str().into(),
        }
        object
    }

    /// The end of the work: prints rows that others before them kept back, and gives everything.
    pub fn finish(self) -> Result<All> {
        let mut heard = std::mem::replace(
            &mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner),
            Heard { rows: vec![], paths: vec![], ticks: vec![], printed: 0, head: false, leader: None },
        );
        while heard.printed < heard.rows.len() {
            self.print_next(&mut heard)?;
        }
        self.bar.finish_and_clear();
        let best = heard.leader.as_ref().map(|leader| leader.at);
        let files = heard.leader.map_or([None, None], |leader| leader.files);
        Ok(All { rows: heard.rows, paths: heard.paths, best, files })
    }
}

/// An error as a row has it.
fn told_of(error: CliError) -> String {
    match error {
        CliError::Input(text) => text,
        CliError::Failed(error) => format!("{error:#}"),
        other => format!("{other:?}"),
    }
}

fn width(axis: &Axis) -> usize {
    axis.values.iter().map(String::len).max().unwrap_or(0).max(axis.name.len()).max(6)
}

fn figure_cells(figures: &Figures) -> String {
    let cells = shown(figures).0.iter().map(|(_, name)| cell(figures.get(name).unwrap_or(f64::NAN)));
    cells.collect::<Vec<_>>().join(" ")
}
