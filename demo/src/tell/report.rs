//! Reports of a run: a table for people, one JSON object a line for programs, and the progress bar.

use crate::error::Result;
use crate::{output, tell};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use undercurve::metric::ClassSummary;
use undercurve::registry::Method;
use undercurve::trainer::{Figures, Report, Warning};

/// Prints the reports of a run.
pub struct Reporter {
    json: bool,
    bar: ProgressBar,
    /// The metric of the last report, for the bar.
    last: String,
    head: bool,
}

/// The metrics of one part of the data; `names` are those of several classes.
pub fn metrics(figures: &Figures, names: &[String]) -> Value {
    let whole = figures.named().into_iter().filter(|(name, _)| !name.contains('['));
    let mut object: Map<String, Value> = whole.map(|(name, value)| (name.replace('-', "_"), value.into())).collect();
    if let Some(summary) = figures.classes() {
        let classes = (names.iter().zip(&summary.classes))
            .map(|(name, class)| json!({"class": name, "rows": class.rows, "auroc": class.auroc, "ap": class.ap}));
        object.insert("classes".to_string(), Value::from_iter(classes));
    }
    object.into()
}

/// The columns of a table: heading and name of each figure.
pub type Columns = &'static [(&'static str, &'static str)];

/// The columns of these figures, and what the bar shows of them.
pub fn shown(figures: &Figures) -> (Columns, (&'static str, &'static str)) {
    match figures {
        Figures::Binary(_) => {
            (&[("AUROC", "auroc"), ("AP", "ap"), ("pAUC", "pauc"), ("acc.@0", "accuracy:0")], ("AP", "ap"))
        }
        Figures::Classes(_) => {
            (&[("HT-AUC", "hand-till"), ("AUROC", "auroc"), ("AP", "ap"), ("acc.", "accuracy")], ("AUC", "hand-till"))
        }
        _ => (&[("RMSE", "rmse"), ("MAE", "mae"), ("R2", "r2")], ("RMSE", "rmse")),
    }
}

/// A figure in its column. (One that goes astray must not push the others aside.)
pub fn cell(figure: f64) -> String {
    match figure.abs() {
        size if size < 100.0 => format!("{figure:>7.4}"),
        size if size < 1e5 => format!("{figure:>7.1}"),
        _ => format!("{figure:>7.1e}"),
    }
}

/// Adds what is to be said against the model.
pub fn warn(object: &mut Value, warning: Option<Warning>, method: &Method) {
    if let Some(warning) = warning {
        object["warning"] = warning.sentence(method).into();
        object["collapsed"] = warning.collapsed().into();
    }
}

/// A table of the classes, each against all others.
pub fn class_table(summary: &ClassSummary, names: &[String]) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    let mut lines = vec![format!("{:width$} {:>8} {:>8} {:>8}", "class", "rows", "AUROC", "AP")];
    for (name, class) in names.iter().zip(&summary.classes) {
        lines.push(format!("{name:width$} {:>8} {:>8.4} {:>8.4}", class.rows, class.auroc, class.ap));
    }
    lines.join("\n")
}

/// The first columns of a report's line.
fn start(step: u64, pass: f64, seconds: f64, objective: f64) -> String {
    // A run that goes astray must not push the columns aside.
    let objective = if objective.abs() < 1e3 { format!("{objective:.6}") } else { format!("{objective:.3e}") };
    format!("{step:>8} {pass:>8.2} {seconds:>8.2} {objective:>10}")
}

impl Reporter {
    /// A reporter; the bar shows on a terminal only.
    pub fn new(json: bool, done: u64, total: u64) -> Self {
        let bar = tell::bar(total, "{bar:30} {pos}/{len}  {msg}  {eta} left");
        bar.set_position(done);
        bar.reset_eta();
        Self { json, bar, last: String::new(), head: false }
    }

    fn print(&self, text: String) -> Result<()> {
        self.bar.suspend(|| output::line(text))
    }

    /// Moves the bar.
    pub fn step(&self, at: u64, steps: u64, message: impl FnOnce() -> String) {
        self.bar.set_position(at);
        if !self.bar.is_hidden() && steps.is_multiple_of(16) {
            self.bar.set_message(format!("{}  {}", message(), self.last));
        }
    }

    /// Prints a line that only people read.
    pub fn say(&self, text: String) -> Result<()> {
        if self.json { Ok(()) } else { self.print(text) }
    }

    /// Prints one report; `names` are those of several classes.
    pub fn report(&mut self, report: &Report, method: &Method, names: &[String], seconds: f64) -> Result<()> {
        let (columns, (label, name)) = shown(&report.train);
        let held = report.test.as_ref().unwrap_or(&report.train);
        self.last = format!("{label} {:.4}", held.get(name).unwrap_or(f64::NAN));
        if self.json {
            let mut object = json!({
                "step": report.step, "pass": report.pass, "seconds": seconds, "objective": report.objective,
                "grad_norm_sq": report.grad_norm_sq, "train": metrics(&report.train, names),
            });
            if let Some(sum) = &report.sum {
                object["alpha"] = sum.alpha.into();
                // (JSON has no infinity: null where there is no bound.)
                object["alpha_max"] = sum.alpha_max.into();
            }
            if let Some(test) = &report.test {
                object["test"] = metrics(test, names);
            }
            warn(&mut object, report.warning, method);
            return self.print(object.to_string());
        }
        let part = |figures: &Figures| {
            let cells = columns.iter().map(|(_, name)| cell(figures.get(name).unwrap_or(f64::NAN)));
            cells.collect::<Vec<_>>().join(" ")
        };
        let norm = report.grad_norm_sq.map_or("", |_| "   |grad|^2");
        let alpha = report.sum.map_or("", |_| "    alpha");
        self.heading(columns, &format!("{norm}{alpha}"), report.test.is_some())?;
        let norm = report.grad_norm_sq.map_or_else(String::new, |norm| format!(" {norm:>10.3e}"));
        let alpha = report.sum.map_or_else(String::new, |sum| format!(" {:>8.4}", sum.alpha));
        let start = start(report.step, report.pass, seconds, report.objective) + &norm + &alpha;
        let test = report.test.as_ref().map_or_else(String::new, |test| format!(" | {}", part(test)));
        self.print(format!("{start} | {}{test}", part(&report.train)))
    }

    /// Names the columns, once.
    fn heading(&mut self, columns: Columns, more: &str, test: bool) -> Result<()> {
        if std::mem::replace(&mut self.head, true) {
            return Ok(());
        }
        let names: Vec<String> = columns.iter().map(|(heading, _)| format!("{heading:>7}")).collect();
        let names = names.join(" ");
        let start = format!("{:>8} {:>8} {:>8} {:>10}{more}", "step", "pass", "seconds", "objective");
        if !test {
            return self.print(format!("{start} | {names}"));
        }
        let width = names.len();
        self.print(format!("{} | {:<width$} | test", " ".repeat(start.len()), "train"))?;
        self.print(format!("{start} | {names} | {names}"))
    }

    /// Takes the bar away and prints the last line.
    pub fn finish(&self, totals: &Value, sentence: String) -> Result<()> {
        self.bar.finish_and_clear();
        output::line(if self.json { totals.to_string() } else { sentence })
    }
}
