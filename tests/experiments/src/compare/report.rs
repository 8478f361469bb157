//! A finished comparison as text and figures.

use super::{Choice, Goal, Outcome, Set, Table};
use crate::experiment::{Measured, Source, text};
use crate::tune::{self, EDGE};
use std::path::Path;
use undercurve_demo::error::Result;
use undercurve_demo::figure::{self, Axes, Line};
use undercurve_demo::output;
use undercurve_demo::paired::{Difference, mean_sd};

/// Shares of the way from chance to the best final AUROC.
const TARGETS: [f64; 3] = [0.95, 0.98, 0.99];

/// A finished table.
pub(super) struct Printed<'a> {
    pub table: &'a Table,
    pub sets: &'a [Set],
    /// By set, by candidate.
    pub outcomes: &'a [Vec<Option<Outcome>>],
    pub splits: usize,
}

impl Printed<'_> {
    fn is_gap(&self) -> bool {
        matches!(self.table.goal, Goal::Gap)
    }

    fn heads(&self, first: &str) -> Result<()> {
        let labels: Vec<&str> = self.sets.iter().map(|set| &*set.label).collect();
        output::line(format!("| {first} | {} |", labels.join(" | ")))?;
        output::line(format!("|---|{}", "---|".repeat(self.sets.len())))
    }

    /// One row a candidate, one cell a set.
    fn rows(&self, cell: impl Fn(usize, &Outcome) -> String) -> Result<()> {
        for (k, candidate) in self.table.candidates.iter().enumerate() {
            let cells = self.outcomes.iter().enumerate().map(|(set, rows)| match &rows[k] {
                None => "–".to_owned(),
                Some(outcome) => cell(set, outcome),
            });
            output::line(format!("| {} | {} |", candidate.name, cells.collect::<Vec<_>>().join(" | ")))?;
        }
        Ok(())
    }

    pub fn print(&self, part: &str, what: &str, tuning: u64) -> Result<()> {
        let (label, splits) = (self.table.label, self.splits);
        let title = match self.table.goal {
            Goal::Metric(_) => format!("{part} {label}, mean ± deviation over {splits} splits"),
            Goal::Gap => {
                format!("{label} after the last step, geometric mean over {splits} splits (deviation as a factor)")
            }
        };
        let by = if self.table.by_objective { " by F on the training rows after the last step" } else { "" };
        output::line(format!("{title}; {what}; tuned on {tuning} others{by}.\n"))?;
        let published: Vec<&str> =
            self.sets.iter().map(|set| &*set.name).filter(|name| Source::is_published(name)).collect();
        if let Some(name) = published.first() {
            output::line(format!("{name} has one published split: there seeds vary, and intervals are over these.\n"))?;
        }
        let mean = |outcome: &Outcome| mean_sd(&outcome.test).0;
        let tops: Vec<f64> = (self.outcomes.iter())
            .map(|rows| rows.iter().flatten().map(mean).fold(f64::NEG_INFINITY, f64::max))
            .collect();
        self.heads("method")?;
        self.rows(|set, outcome| {
            let (mean, sd) = mean_sd(&outcome.test);
            let mark = if mean >= tops[set] { "**" } else { "" };
            let edge = if outcome.choice.edges.is_empty() { "" } else { EDGE };
            match self.table.goal {
                Goal::Metric(_) => format!("{mark}{mean:.4}{mark} ± {sd:.4}{edge}"),
                Goal::Gap => format!("{mark}{:.1e}{mark} (×{:.1}){edge}", 10f64.powf(-mean), 10f64.powf(sd)),
            }
        })?;
        let wins = self.table.candidates.iter().enumerate().filter_map(|(k, candidate)| {
            let best =
                |(rows, top): &(&Vec<Option<Outcome>>, &f64)| rows[k].as_ref().is_some_and(|one| mean(one) >= **top);
            let n = self.outcomes.iter().zip(&tops).filter(best).count();
            (n > 0).then(|| format!("{} on {n}", candidate.name))
        });
        output::line(format!("\nBest mean: {}, of {}.", wins.collect::<Vec<_>>().join(", "), self.sets.len()))?;
        self.differences()?;
        if self.is_gap() {
            self.along()?;
        }
        self.edges()?;
        self.tuning()?;
        if self.table.passes {
            self.passes()?;
        }
        if self.table.range.is_some() {
            self.on_train()?;
        }
        Ok(())
    }

    /// What tuning cost, and chose.
    fn tuning(&self) -> Result<()> {
        output::line("\nTuning (points tried, runs, their seconds) and what it chose:\n")?;
        for (set, rows) in self.sets.iter().zip(self.outcomes) {
            for (outcome, candidate) in rows.iter().zip(&self.table.candidates) {
                let Some(Outcome { choice, .. }) = outcome else { continue };
                let (label, name, own) = (&set.label, &candidate.name, text(&choice.settings));
                let Choice { points, runs, seconds, check, valid, .. } = choice;
                let own = if own.is_empty() { "its defaults".to_owned() } else { own };
                let valid = match self.table.goal {
                    Goal::Gap => format!("{:.1e}", 10f64.powf(-valid)),
                    Goal::Metric(_) if self.table.by_objective => format!("F {:.5}", 10f64.powf(-valid)),
                    Goal::Metric(_) => format!("{valid:.4}"),
                };
                let check = format!("check {} of {}, {valid} there", check + 1, self.table.checks);
                output::line(format!(
                    "- {label}, {name}: {points} points, {runs} runs, {seconds:.1} s; {own}; {check}"
                ))?;
            }
        }
        Ok(())
    }

    /// The exact objective and the metric on the training rows, and what it took to come near the least value met.
    fn on_train(&self) -> Result<()> {
        for (set, rows) in self.sets.iter().zip(self.outcomes) {
            let curves: Vec<Vec<Along>> = rows.iter().map(|row| row.as_ref().map_or(Vec::new(), Along::of)).collect();
            let least = curves.iter().flatten().fold(f64::INFINITY, |least, at| least.min(at.objective));
            output::line(format!(
                "\n{} by the exact objective F on its training rows, over the least that a mean over the splits came to, \
                 {least:.5}; the metric there; and the first check with F within 5 % and 1 % of it, in passes and seconds:\n",
                set.label
            ))?;
            output::line("| method | least F | last F | train metric | 5 % | 1 % | passes | seconds |")?;
            output::line(format!("|---|{}", "---|".repeat(7)))?;
            for (candidate, curve) in self.table.candidates.iter().zip(&curves) {
                let Some(last) = curve.last() else { continue };
                let over = |x: f64| format!("{:+.2} %", 100.0 * (x / least - 1.0));
                let own = curve.iter().fold(f64::INFINITY, |own, at| own.min(at.objective));
                let within = |share: f64| {
                    let first = curve.iter().find(|at| at.objective <= (1.0 + share) * least);
                    first.map_or("never".to_owned(), |at| format!("{:.1}, {:.2} s", at.pass, at.seconds))
                };
                let (near, nearer) = (within(0.05), within(0.01));
                output::line(format!(
                    "| {} | {} | {} | {:.4} | {near} | {nearer} | {:.1} | {:.2} |",
                    candidate.name,
                    over(own),
                    over(last.objective),
                    last.metric,
                    last.pass,
                    last.seconds
                ))?;
            }
        }
        Ok(())
    }

    /// The paired differences to the reference.
    fn differences(&self) -> Result<()> {
        let Some(at) = self.table.candidates.iter().position(|one| one.name == self.table.reference) else {
            return Ok(());
        };
        let (name, label) = (self.table.reference, self.table.label);
        let what = if self.is_gap() { "as a factor (below 1: nearer to P*)" } else { "as a difference" };
        output::line(format!(
            "\nTest {label} against {name} on the same splits, {what}, with its 95 % interval (paired t) and wins/ties/losses:\n"
        ))?;
        self.heads("method")?;
        self.rows(|set, outcome| match &self.outcomes[set][at] {
            Some(reference) if !std::ptr::eq(reference, outcome) => {
                let apart = Difference::new(&outcome.test, &reference.test);
                let [wins, ties, losses] = apart.counts;
                let (low, high) = (apart.mean - apart.half, apart.mean + apart.half);
                match self.table.goal {
                    Goal::Metric(_) => format!("{:+.4} [{low:+.4}, {high:+.4}] {wins}/{ties}/{losses}", apart.mean),
                    Goal::Gap => {
                        let [mean, low, high] = [apart.mean, high, low].map(|x| 10f64.powf(-x));
                        format!("×{mean:.2} [{low:.2}, {high:.2}] {wins}/{ties}/{losses}")
                    }
                }
            }
            _ => "–".to_owned(),
        })
    }

    /// P − P* on the way.
    fn along(&self) -> Result<()> {
        const PARTS: [usize; 5] = [20, 10, 4, 2, 1];
        for (set, rows) in self.sets.iter().zip(self.outcomes) {
            let checks = self.table.checks as usize;
            let place = |part: usize| (checks / part).max(1) - 1;
            let Some(longest) = rows.iter().flatten().max_by_key(|outcome| outcome.curve.len()) else { continue };
            let pass = |part| longest.curve.get(place(part)).map_or(String::new(), |point| format!("{:.1}", point.0));
            output::line(format!("\n{} of {} by pass, geometric mean:\n", self.table.label, set.label))?;
            output::line(format!("| method | {} |", PARTS.map(pass).join(" | ")))?;
            output::line(format!("|---|{}", "---|".repeat(PARTS.len())))?;
            for (candidate, outcome) in self.table.candidates.iter().zip(rows) {
                let Some(outcome) = outcome else { continue };
                let at =
                    |part| outcome.curve.get(place(part)).map_or("–".into(), |p| format!("{:.1e}", 10f64.powf(-p.1)));
                output::line(format!("| {} | {} |", candidate.name, PARTS.map(at).join(" | ")))?;
            }
        }
        Ok(())
    }

    /// The winners on an end of their grid.
    fn edges(&self) -> Result<()> {
        let mut lines = Vec::new();
        for (set, rows) in self.sets.iter().zip(self.outcomes) {
            for (outcome, candidate) in rows.iter().zip(&self.table.candidates) {
                let edges = outcome.iter().flat_map(|outcome| &outcome.choice.edges);
                lines.extend(edges.map(|edge| tune::edge_line(&candidate.name, &set.label, edge)));
            }
        }
        if lines.is_empty() {
            return output::line("\nNo winner lies on the end of what was tried for it.");
        }
        output::line(format!("\nWinners on an end of what was tried for them ({EDGE}):\n"))?;
        lines.iter().try_for_each(|line| output::line(format!("- {line}")))
    }

    /// Passes until the mean test curve first reaches shares of the way from chance to the best final mean.
    fn passes(&self) -> Result<()> {
        for (set, rows) in self.sets.iter().zip(self.outcomes) {
            let curves = || rows.iter().flatten().map(|outcome| &outcome.curve);
            let top = curves().filter_map(|curve| curve.last()).fold(0.5f64, |top, point| top.max(point.1));
            let targets = TARGETS.map(|share| 0.5 + share * (top - 0.5));
            let heads = targets.map(|target| format!("{target:.4}")).join(" | ");
            output::line(format!("\nPasses until the mean test {} of {} reaches:\n", self.table.label, set.label))?;
            output::line(format!("| method | {heads} |\n|---|---|---|---|"))?;
            for (outcome, candidate) in rows.iter().zip(&self.table.candidates) {
                let Some(outcome) = outcome else { continue };
                let reached = targets.map(|target| {
                    let first = outcome.curve.iter().find(|point| point.1 >= target);
                    first.map_or("never".to_owned(), |point| format!("{:.2}", point.0))
                });
                output::line(format!("| {} | {} |", candidate.name, reached.join(" | ")))?;
            }
        }
        Ok(())
    }
}

/// What judged runs came to at a check, the mean over the splits.
struct Along {
    pass: f64,
    seconds: f64,
    objective: f64,
    /// On the training rows, and on those that judge.
    metric: f64,
    test: f64,
}

impl Along {
    /// As far as all runs go.
    fn of(outcome: &Outcome) -> Vec<Self> {
        let runs = &outcome.runs;
        let length = runs.iter().map(|run| run.on_train.len().min(run.checks.len())).min().unwrap_or(0);
        let mean = |of: &dyn Fn(&Measured) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let at = |k: usize| Self {
            pass: mean(&|run| run.checks[k].1),
            seconds: mean(&|run| run.on_train[k][0]),
            objective: mean(&|run| run.on_train[k][1]),
            metric: mean(&|run| run.on_train[k][2]),
            test: mean(&|run| run.checks[k].2),
        };
        (0..length).map(at).collect()
    }
}

/// A line for each candidate that has points.
fn lines<'a>(table: &'a Table, curves: &'a [Vec<(f64, f64)>]) -> Vec<Line<'a>> {
    let there = table.candidates.iter().zip(curves).filter(|(_, points)| !points.is_empty());
    there.map(|(candidate, points)| Line::new(&candidate.name, points)).collect()
}

/// Figures of F and of the test metric by pass and by second.
fn figures_along(table: &Table, set: &Set, rows: &[Option<Outcome>], folder: &Path, name: &str) -> Result<()> {
    type Of = fn(&Along) -> f64;
    let across: [(&str, &str, Of); 2] = [("passes", "passes", |at| at.pass), ("seconds", "seconds", |at| at.seconds)];
    let up: [(&str, &str, Of, bool); 2] =
        [("F", "F", |at| at.objective, true), ("test", table.label, |at| at.test, false)];
    for (by, across, x) in across {
        for (what, up, y, log) in up {
            let curves: Vec<Vec<(f64, f64)>> =
                rows.iter().map(|row| row.iter().flat_map(Along::of).map(|at| (x(&at), y(&at))).collect()).collect();
            let lines = lines(table, &curves);
            if lines.is_empty() {
                continue;
            }
            let title = format!("{}: mean {up}", set.label);
            let axes = Axes { title: &title, across, up, log };
            figure::draw_on(&folder.join(format!("{name}-{what}-{by}.svg")), &axes, &lines)?;
        }
    }
    Ok(())
}

pub(super) fn figures(
    table: &Table,
    sets: &[Set],
    outcomes: &[Vec<Option<Outcome>>],
    folder: &Path,
    model: &str,
) -> Result<()> {
    let log = matches!(table.goal, Goal::Gap);
    for (set, rows) in sets.iter().zip(outcomes) {
        let curve = |row: &Option<Outcome>| -> Vec<(f64, f64)> {
            let points = row.iter().flat_map(|outcome| outcome.curve.iter().copied());
            points.map(|(x, y)| (x, if log { 10f64.powf(-y) } else { y })).collect()
        };
        let curves: Vec<Vec<(f64, f64)>> = rows.iter().map(curve).collect();
        let lines = lines(table, &curves);
        if lines.is_empty() {
            continue;
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name = format!("{} {} {model}", table.bench, set.label).chars().map(plain).collect::<String>();
        if table.range.is_some() {
            let name = format!("{name} {}", table.label).replace(|c: char| !plain(c).is_ascii_alphanumeric(), "-");
            figures_along(table, set, rows, folder, &name)?;
            continue;
        }
        let mean = if log { "geometric mean" } else { "mean test" };
        let title = format!("{} ({model}): {mean} {}", set.label, table.label);
        let axes = Axes { title: &title, across: "passes", up: table.label, log };
        figure::draw_on(&folder.join(format!("{name}.svg")), &axes, &lines)?;
    }
    Ok(())
}
