//! Reports of a run: a table for people, one JSON object a line for programs, and the progress bar.

use crate::error::Result;
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::metric::Summary;
use undercurve::trainer::{Report, Trainer};

/// Prints the reports of a run.
pub struct Reporter {
    json: bool,
    bar: ProgressBar,
    ap: f64,
    head: bool,
}

/// The metrics of one part of the data.
pub fn metrics(summary: &Summary) -> Value {
    json!({"auroc": summary.auroc, "ap": summary.ap, "pauc": summary.pauc, "accuracy": summary.accuracy})
}

impl Reporter {
    /// A reporter; the bar shows on a terminal only.
    pub fn new(json: bool, done: u64, total: u64) -> Self {
        let bar = ProgressBar::new(total);
        let style = "{bar:30} {pos}/{len}  {msg}  {eta} left";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(done);
        bar.reset_eta();
        Self { json, bar, ap: f64::NAN, head: false }
    }

    fn print(&self, text: String) -> Result<()> {
        self.bar.suspend(|| output::line(text))
    }

    /// Moves the bar; `value` is the objective on the last batch.
    pub fn step<T: Real>(&self, trainer: &Trainer<T>, value: Option<f64>) {
        self.bar.set_position(trainer.progress().0);
        if self.bar.is_hidden() || !trainer.steps_done().is_multiple_of(16) {
            return;
        }
        let now = match (trainer.step_size(), value) {
            (Some((alpha, _)), _) => format!("step size {alpha:.4}"),
            (None, value) => format!("loss {:.4}", value.unwrap_or(f64::NAN)),
        };
        self.bar.set_message(format!("{now}  AP {:.4}", self.ap));
    }

    /// Prints a line that only people read.
    pub fn say(&self, text: String) -> Result<()> {
        if self.json { Ok(()) } else { self.print(text) }
    }

    /// Prints one report.
    pub fn report(&mut self, report: &Report, seconds: f64) -> Result<()> {
        self.ap = report.test.as_ref().unwrap_or(&report.train).ap;
        if self.json {
            let mut object = json!({
                "step": report.step, "pass": report.pass, "seconds": seconds, "objective": report.objective,
                "grad_norm_sq": report.grad_norm_sq, "train": metrics(&report.train),
            });
            if let Some(sum) = &report.sum {
                object["alpha"] = sum.alpha.into();
                // (JSON has no infinity: null where there is no bound.)
                object["alpha_max"] = sum.alpha_max.into();
            }
            if let Some(test) = &report.test {
                object["test"] = metrics(test);
            }
            return self.print(object.to_string());
        }
        let part = |s: &Summary| format!("{:>7.4} {:>7.4} {:>7.4} {:>7.4}", s.auroc, s.ap, s.pauc, s.accuracy);
        if !self.head {
            self.head = true;
            let names = format!("{:>7} {:>7} {:>7} {:>7}", "AUROC", "AP", "pAUC", "acc.");
            let norm = report.grad_norm_sq.map_or("", |_| "   |grad|^2");
            let alpha = report.sum.map_or("", |_| "    alpha");
            let start = format!("{:>8} {:>8} {:>8} {:>10}{norm}{alpha}", "step", "pass", "seconds", "objective");
            let blank = " ".repeat(start.len());
            match report.test {
                Some(_) => {
                    self.print(format!("{blank} | {:<31} | test", "train"))?;
                    self.print(format!("{start} | {names} | {names}"))?;
                }
                None => self.print(format!("{start} | {names}"))?,
            }
        }
        let norm = report.grad_norm_sq.map_or_else(String::new, |norm| format!(" {norm:>10.3e}"));
        let alpha = report.sum.map_or_else(String::new, |sum| format!(" {:>8.4}", sum.alpha));
        // A run that goes astray must not push the columns aside.
        let objective = match report.objective {
            x if x.abs() < 1e3 => format!("{x:.6}"),
            x => format!("{x:.3e}"),
        };
        let start = format!("{:>8} {:>8.2} {:>8.2} {objective:>10}{norm}{alpha}", report.step, report.pass, seconds);
        let test = report.test.as_ref().map_or_else(String::new, |test| format!(" | {}", part(test)));
        self.print(format!("{start} | {}{test}", part(&report.train)))
    }

    /// Takes the bar away and prints the last line.
    pub fn finish(&self, totals: &Value, sentence: String) -> Result<()> {
        self.bar.finish_and_clear();
        output::line(if self.json { totals.to_string() } else { sentence })
    }
}
