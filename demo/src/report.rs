//! Reports of a run: a table for people, one JSON object a line for programs, and the progress bar.

use crate::error::Result;
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use undercurve::metric::Summary;
use undercurve::trainer::Report;

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
    pub fn step(&self, done: u64, value: f64) {
        self.bar.set_position(done);
        if !self.bar.is_hidden() && done.is_multiple_of(16) {
            self.bar.set_message(format!("loss {value:.4}  AP {:.4}", self.ap));
        }
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
                "train": metrics(&report.train),
            });
            if let Some(test) = &report.test {
                object["test"] = metrics(test);
            }
            return self.print(object.to_string());
        }
        let part = |s: &Summary| format!("{:>7.4} {:>7.4} {:>7.4} {:>7.4}", s.auroc, s.ap, s.pauc, s.accuracy);
        if !self.head {
            self.head = true;
            let names = format!("{:>7} {:>7} {:>7} {:>7}", "AUROC", "AP", "pAUC", "acc.");
            let start = format!("{:>8} {:>8} {:>8} {:>10}", "step", "pass", "seconds", "objective");
            let blank = " ".repeat(start.len());
            match report.test {
                Some(_) => {
                    self.print(format!("{blank} | {:<31} | test", "train"))?;
                    self.print(format!("{start} | {names} | {names}"))?;
                }
                None => self.print(format!("{start} | {names}"))?,
            }
        }
        let start = format!("{:>8} {:>8.2} {:>8.2} {:>10.6}", report.step, report.pass, seconds, report.objective);
        let test = report.test.as_ref().map_or_else(String::new, |test| format!(" | {}", part(test)));
        self.print(format!("{start} | {}{test}", part(&report.train)))
    }

    /// Takes the bar away and prints the last line.
    pub fn finish(&self, totals: &Value, sentence: String) -> Result<()> {
        self.bar.finish_and_clear();
        output::line(if self.json { totals.to_string() } else { sentence })
    }
}
