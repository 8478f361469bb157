//! The table of `compare` and its verdict.

use super::Plan;
use crate::error::Result;
use crate::output;
use crate::tell::text::{WIDTH, wrap};
use serde_json::json;
use undercurve::data::Dataset;
use undercurve_search::{Ahead, Candidate, Job, Row, mean_sd, no_signal, verdict};

/// Characters of a row of the table but for its name and the axis of its interval.
const CELLS: usize = 56;

/// An interval on an axis over `span`, of so many characters: `-` within it, `o` at its middle, `|` at 0.
fn picture(ahead: &Ahead, [low, high]: [f64; 2], axis: usize) -> String {
    let width = (high - low).max(f64::MIN_POSITIVE);
    let place = |x: f64| (((x - low) / width * (axis - 1) as f64).round() as usize).min(axis - 1);
    let mut cells = vec![' '; axis];
    cells[place(ahead.mean - ahead.half)..=place(ahead.mean + ahead.half)].fill('-');
    cells[place(0.0)] = '|';
    cells[place(ahead.mean)] = 'o';
    cells.into_iter().collect::<String>().trim_end().to_string()
}

/// What is printed.
pub struct Table<'a> {
    plan: &'a Plan,
    rows: &'a [Row],
    /// The row that is taken.
    taken: usize,
    data: &'a Dataset<f32>,
    metric: String,
    folds: String,
    /// Of each the row that it is held against, and how far it is ahead.
    base: Vec<usize>,
    ahead: Vec<Ahead>,
    /// What scores that know nothing come to.
    chance: f64,
    /// The interval of what is taken, where it holds that.
    no_signal: Option<[f64; 2]>,
    count: usize,
}

impl<'a> Table<'a> {
    pub fn new(plan: &'a Plan, job: &Job<'_>, rows: &'a [Row], taken: usize, data: &'a Dataset<f32>) -> Self {
        // Of methods that were named cross-entropy with the same model, of a search the simplest model.
        let base = |row: &Row| match &plan.candidates {
            Some(_) => rows.iter().position(|other| other.candidate.model == row.candidate.model).unwrap_or(0),
            None => 0,
        };
        let base: Vec<usize> = rows.iter().map(base).collect();
        let count = job.folds.count;
        let ahead = rows.iter().zip(&base).map(|(row, &base)| Ahead::new(&row.values(), &rows[base].values(), count));
        let (metric, folds, chance) = (job.metric_told(), job.folds.told(), job.chance(data));
        let no_signal = no_signal(&rows[taken], chance, &job.folds);
        Self { plan, rows, taken, data, metric, folds, ahead: ahead.collect(), base, chance, no_signal, count }
    }

    /// The table and the verdict.
    pub fn print(&self) -> Result<()> {
        if self.plan.json { self.objects() } else { self.lines() }
    }

    fn is_base(&self, at: usize) -> bool {
        self.base[at] == at
    }

    /// For programs.
    fn objects(&self) -> Result<()> {
        let (plan, rows) = (self.plan, self.rows);
        for (at, (row, ahead)) in rows.iter().zip(&self.ahead).enumerate() {
            let (mean, sd) = mean_sd(&row.values());
            let other = !self.is_base(at);
            output::line(json!({
                "name": row.candidate.name, "method": row.candidate.method, "model": row.candidate.model.to_string(),
                "options": row.candidate.options(), "metric": self.metric, "folds": row.values(), "mean": mean, "sd": sd,
                "ahead": other.then_some(ahead.mean), "interval": other.then_some(ahead.ends()),
                "seconds": row.seconds(), "dropped": row.dropped, "at_random": self.chance,
            }))?;
        }
        let Candidate { name, method, model, .. } = &rows[self.taken].candidate;
        output::line(json!({
            "best": method, "model": model.to_string(), "name": name, "beyond_noise": self.beyond(), "folds": self.count,
            "repeats": plan.repeats, "no_signal": self.no_signal.is_some(),
        }))
    }

    /// Whether what is taken is ahead of what it is held against, beyond noise.
    fn beyond(&self) -> bool {
        !self.is_base(self.taken) && self.ahead[self.taken].ends()[0] > 0.0
    }

    /// For people.
    fn lines(&self) -> Result<()> {
        let (plan, data) = (self.plan, self.data);
        let line = |text: String| output::line(wrap(&text, 2));
        line(format!(
            "{}: {} rows ({} positive), {} columns; {}, {}, seed {}; scores at random have {:.4}",
            plan.file.display(),
            data.len(),
            data.positives(),
            data.cols(),
            self.metric,
            self.folds,
            plan.seed,
            self.chance
        ))?;
        self.rows()?;
        let each = self.rows.iter().map(|row| row.seconds() * row.trained.len() as f64).sum::<f64>();
        let all: usize = self.rows.iter().map(|row| row.trained.len()).sum();
        line(format!("{all} trainings of {each:.1} s together."))?;
        let (name, metric, folds) = (&self.rows[self.taken].candidate.name, &self.metric, &self.folds);
        if let Some([low, high]) = self.no_signal {
            return line(format!(
                "No signal found: the 95 % interval of the mean {metric} of {name}, [{low:.4}, {high:.4}], holds that of scores at random, {:.4}.",
                self.chance
            ));
        }
        if plan.candidates.is_none() {
            return line(verdict(self.rows, self.taken, metric, self.count));
        }
        let ahead = &self.ahead[self.taken];
        let models = self.base.iter().enumerate().filter(|(at, base)| at == *base).count();
        let same = if models > 1 { " with the same model" } else { "" };
        let [low, high] = ahead.ends();
        let by = format!("by {:.4} in {metric}, {low:.4} to {high:.4}.", ahead.mean);
        line(match (self.is_base(self.taken), self.beyond()) {
            (true, _) => {
                format!("Nothing beats cross-entropy{same} here: the mean {metric} of {name} is the greatest.")
            }
            (_, true) => format!("{name} beats cross-entropy{same} beyond the noise of {folds}: {by}"),
            _ => format!("Nothing beats cross-entropy{same} beyond the noise of {folds}: {name} is ahead {by}"),
        })
    }

    /// The rows below their heading.
    fn rows(&self) -> Result<()> {
        let width = self.rows.iter().map(|row| row.candidate.name.len()).max().unwrap_or(0).max(6);
        // From the lowest to the highest end of an interval, and the 0 of cross-entropy.
        let span = self.ahead[1..].iter().fold([0.0_f64, 0.0_f64], |[low, high], ahead| {
            [low.min(ahead.mean - ahead.half), high.max(ahead.mean + ahead.half)]
        });
        // (A picture of a few characters shows nothing.)
        let axis = WIDTH.saturating_sub(width + CELLS);
        let axis = if axis < 9 { 0 } else { axis };
        let line = |text: String| output::line(text.trim_end());
        let of = if self.plan.candidates.is_some() { "ce" } else { "ridge" };
        line(format!(
            "{:width$}  {:>6} ± sd     {:>26}  {:>7}  {}",
            "method",
            "mean",
            format!("ahead of {of} [95 %]"),
            "seconds",
            if axis > 0 { "0 at |" } else { "" }
        ))?;
        for (at, (row, ahead)) in self.rows.iter().zip(&self.ahead).enumerate() {
            let (mean, sd) = mean_sd(&row.values());
            let apart = match self.is_base(at) {
                true => String::new(),
                false if self.rows[at].dropped => {
                    format!("{:+.4} on {} folds", ahead.mean, self.rows[at].trained.len())
                }
                false => {
                    format!("{:+.4} [{:+.4}, {:+.4}]", ahead.mean, ahead.mean - ahead.half, ahead.mean + ahead.half)
                }
            };
            line(format!(
                "{:width$}  {mean:.4} ± {sd:.4}  {apart:>26}  {:>7.2}  {}",
                row.candidate.name,
                row.seconds(),
                if axis > 0 { picture(ahead, span, axis) } else { String::new() }
            ))?;
        }
        Ok(())
    }
}
