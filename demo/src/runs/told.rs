//! What is told of many runs: a row each, in their order, and what they come to.

use super::backend::{List, Told};
use super::grid::Grid;
use crate::bench::paired::mean_sd;
use crate::error::{CliError, Result};
use crate::report::{Columns, cell, metrics, shown};
use crate::walk::Training;
use crate::{output, table};
use indicatif::{ProgressBar, ProgressStyle};
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
    objective: f64,
    /// Parts of the data with its figures on them.
    parts: Vec<(&'static str, Figures)>,
    /// Of several.
    classes: Vec<String>,
    /// What is to be said against the model.
    pub warning: Option<String>,
    /// Whether it is no result, and so none to count or to choose.
    collapsed: bool,
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
        let mut model = training.model();
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
        let classes = training.preparation.classes().to_vec();
        let step = kept.unwrap_or(report.step);
        let warning = report.warning.map(|warning| warning.sentence(training.method()));
        // (It is of the last step.)
        let collapsed = kept.is_none() && report.warning.is_some_and(|warning| warning.collapsed());
        Ok(Self { step, objective: report.objective, parts, classes, warning, collapsed })
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
    grid: &'a Grid,
    pub by: By,
    bar: ProgressBar,
    heard: Mutex<Heard>,
}

/// What is left at the end.
pub struct All {
    pub rows: Vec<Option<Outcome>>,
    pub paths: Vec<Path>,
    pub best: Option<usize>,
    /// The files of `--save` and `--out`, of the best run.
    pub files: [Option<Vec<u8>>; 2],
}

impl<'a, T: Real> Teller<'a, T> {
    pub fn new(list: &'a List<'a, T>, grid: &'a Grid, by: By) -> Self {
        let runs = list.runs.len();
        let bar = ProgressBar::new(TICKS * runs as u64);
        let style = ProgressStyle::with_template("{bar:30} {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let heard = Heard {
            rows: (0..runs).map(|_| None).collect(),
            paths: vec![Vec::new(); runs],
            ticks: vec![0; runs],
            printed: 0,
            head: false,
            leader: None,
        };
        Self { list, grid, by, bar, heard: Mutex::new(heard) }
    }

    /// Hears one.
    ///
    /// # Errors
    /// Those of stdout.
    pub fn hear(&self, at: usize, told: Told<'_, T>) -> Result<()> {
        let ended = match told {
            Told::Report(report, (done, all)) => {
                let values = [Some(&report.train), report.test.as_ref()].into_iter().flatten();
                let values = values.map(|figures| figures.get(&self.by.metric).unwrap_or(f64::NAN)).collect();
                let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.paths[at].push((report.step, values));
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
            let save = self.list.args.save.as_ref().map(|_| training.save()).transpose()?;
            let out = self.list.args.out.as_ref().map(|_| training.alone()).transpose()?;
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
        if self.list.args.json {
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
                let mark = match (row.collapsed, &row.warning) {
                    (true, _) => " ! collapsed",
                    (false, Some(_)) => " ! warning",
                    (false, None) => "",
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
        let axes = self.grid.0.iter().map(|axis| format!(" {:>1$}", axis.name, width(axis)));
        let start = format!("{:>6}{} {:>8}", "seed", axes.collect::<String>(), "step");
        let of = row.parts.iter().map(|(part, _)| format!("{part:<0$}", names.len()));
        self.print(format!("{} | {}", " ".repeat(start.len()), of.collect::<Vec<_>>().join(" | ")).trim_end())?;
        self.print(format!("{start} | {}", vec![names; row.parts.len()].join(" | ")))
    }

    /// Seed and settings, in their columns.
    fn start(&self, at: usize) -> String {
        let spec = &self.list.runs[at];
        let cells =
            spec.settings.iter().zip(&self.grid.0).map(|((_, value), axis)| format!(" {value:>0$}", width(axis)));
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
                for (part, figures) in &row.parts {
                    object[*part] = metrics(figures, &row.classes);
                }
            }
            Err(error) => object["error"] = error.as_str().into(),
        }
        object
    }

    /// The end of the work: prints rows that others before them kept back, and gives everything.
    ///
    /// # Errors
    /// Those of stdout.
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

fn width(axis: &super::grid::Axis) -> usize {
    axis.values.iter().map(String::len).max().unwrap_or(0).max(axis.name.len()).max(6)
}

fn figure_cells(figures: &Figures) -> String {
    let cells = shown(figures).0.iter().map(|(_, name)| cell(figures.get(name).unwrap_or(f64::NAN)));
    cells.collect::<Vec<_>>().join(" ")
}

/// The point below which a share of sorted values lies, on the line between two of them.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// Values in order.
pub fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Mean, standard deviation, 10 %, median, 90 % of a figure over the runs that have it.
pub struct Spread {
    pub part: &'static str,
    pub heading: &'static str,
    /// Its name for programs.
    name: String,
    pub figures: [f64; 5],
}

impl All {
    /// The runs that ended.
    pub fn ended(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().enumerate().filter_map(|(at, row)| Some((at, row.as_ref()?.as_ref().ok()?)))
    }

    /// Those that have a result.
    pub fn good(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.ended().filter(|(_, row)| !row.collapsed)
    }

    /// Runs that came to nothing.
    pub fn failed(&self) -> usize {
        self.rows.iter().flatten().filter(|row| row.is_err()).count()
    }

    /// The spread of every figure of every part.
    pub fn spreads(&self) -> Vec<Spread> {
        let Some((_, first)) = self.good().next() else { return Vec::new() };
        let mut spreads = Vec::new();
        for (part, figures) in &first.parts {
            let columns: Columns = shown(figures).0;
            for (heading, name) in columns {
                let of = |row: &Row| row.figures(part).and_then(|figures| figures.get(name)).unwrap_or(f64::NAN);
                let values = sorted(self.good().map(|(_, row)| of(row)));
                if values.is_empty() {
                    continue;
                }
                let (mean, sd) = mean_sd(&values);
                let sd = if values.len() > 1 { sd } else { f64::NAN };
                let of = |share| quantile(&values, share);
                let figures = [mean, sd, of(0.1), of(0.5), of(0.9)];
                spreads.push(Spread { part, heading, name: name.replace('-', "_"), figures });
            }
        }
        spreads
    }

    /// Mean, standard deviation and number of the values that runs of each point of the grid have; the runs of a seed
    /// follow each other.
    pub fn points(&self, by: &By, points: usize) -> Vec<(f64, f64, usize)> {
        let of = |point: usize| {
            let rows = self.rows.iter().skip(point).step_by(points).flatten();
            let values: Vec<f64> = rows.filter_map(|row| row.as_ref().ok()?.value(by)).collect();
            let (mean, sd) = if values.is_empty() { (f64::NAN, f64::NAN) } else { mean_sd(&values) };
            (mean, sd, values.len())
        };
        (0..points).map(of).collect()
    }

    /// The table of `--csv`.
    pub fn csv<T: Real>(&self, list: &List<'_, T>, grid: &Grid) -> String {
        let names: Vec<(&str, Vec<String>)> = self.ended().next().map_or_else(Vec::new, |(_, row)| {
            let whole =
                |figures: &Figures| figures.named().into_iter().map(|f| f.0).filter(|f| !f.contains('[')).collect();
            row.parts.iter().map(|(part, figures)| (*part, whole(figures))).collect()
        });
        let axes = grid.0.iter().map(|axis| axis.name.clone());
        let figures = names
            .iter()
            .flat_map(|(part, names)| names.iter().map(move |name| format!("{part}_{}", name.replace('-', "_"))));
        let fixed = |name: &str| std::iter::once(name.to_string());
        let start = fixed("run").chain(fixed("seed")).chain(axes);
        let head = start
            .chain(fixed("step"))
            .chain(fixed("objective"))
            .chain(figures)
            .chain(fixed("warning"))
            .chain(fixed("error"));
        let mut text = line_of(head);
        for (at, (outcome, spec)) in self.rows.iter().zip(&list.runs).enumerate() {
            let Some(outcome) = outcome else { continue };
            let mut cells = vec![(at + 1).to_string(), spec.seed.to_string()];
            cells.extend(spec.settings.iter().map(|(_, value)| value.clone()));
            let row = outcome.as_ref().ok();
            cells.push(row.map_or_else(String::new, |row| row.step.to_string()));
            cells.push(row.map_or_else(String::new, |row| row.objective.to_string()));
            for (part, figures) in &names {
                let of = row.and_then(|row| row.figures(part));
                cells.extend(figures.iter().map(|name| {
                    let value = of.and_then(|of| of.get(name)).filter(|value| !value.is_nan());
                    value.map_or_else(String::new, |value| value.to_string())
                }));
            }
            cells.push(row.and_then(|row| row.warning.clone()).unwrap_or_default());
            cells.push(outcome.as_ref().err().cloned().unwrap_or_default());
            text += &line_of(cells.into_iter());
        }
        text
    }
}

/// A line of a CSV file.
fn line_of(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| table::cell(&cell)).collect::<Vec<_>>().join(",") + "\n"
}

impl Spread {
    /// Its line of the table.
    pub fn line(&self) -> String {
        let cells = self.figures.map(|figure| if figure.is_nan() { format!("{:>7}", "–") } else { cell(figure) });
        format!("{:<6} {:<7} {}", self.part, self.heading, cells.join(" "))
    }

    /// Adds it to what programs read.
    pub fn add(&self, object: &mut Value) {
        for (name, figure) in ["mean", "sd", "q10", "median", "q90"].iter().zip(self.figures) {
            object[*name][self.part][&self.name] = figure.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quantile, sorted};

    #[test]
    fn quantiles_lie_between_the_values() {
        let values = sorted([3.0, 1.0, f64::NAN, 2.0, 4.0].into_iter());
        assert_eq!([0.0, 0.5, 1.0].map(|share| quantile(&values, share)), [1.0, 2.5, 4.0]);
        assert!((quantile(&values, 0.1) - 1.3).abs() < 1e-12);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }
}
