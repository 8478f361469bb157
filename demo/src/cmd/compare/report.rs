//! The table of `compare` and its verdict.

use super::Plan;
use super::measure::Row;
use crate::args::candidates::Candidate;
use crate::error::Result;
use crate::output;
use crate::tell::paired::mean_sd;
use crate::tell::text::{WIDTH, wrap};
use serde_json::{Value, json};
use undercurve::data::Dataset;
use undercurve::metric::student;

/// Characters of a row of the table but for its name and the axis of its interval.
const CELLS: usize = 56;

/// How far a method is ahead of cross-entropy, and half its interval.
pub struct Ahead {
    pub mean: f64,
    pub half: f64,
}

impl Ahead {
    /// With a variance of 1/(r·k) + 1/(k − 1) times that of a fold: the training rows of k folds, r times drawn, overlap.
    pub fn new(ours: &[f64], theirs: &[f64], folds: usize) -> Self {
        let apart: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_sd(&apart);
        let (all, k) = (apart.len() as f64, folds as f64);
        Self { mean, half: student(apart.len() as u64 - 1) * sd * (1.0 / all + 1.0 / (k - 1.0)).sqrt() }
    }
}

impl Ahead {
    /// Of a method from what knows nothing.
    fn of_chance(values: &[f64], chance: f64, folds: usize) -> Self {
        Self::new(values, &vec![chance; values.len()], folds)
    }
}

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

/// How many of its choices lie at an end of the grid.
fn edges(row: &Row) -> usize {
    row.trained.iter().filter(|one| one.edge).count()
}

/// The settings chosen on each fold.
fn chosen(row: &Row) -> Value {
    let one = |settings: &[(String, String)]| settings.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<Value>();
    row.trained.iter().map(|trained| one(&trained.chosen)).collect()
}

/// The row with the greatest mean, the first of equal ones.
pub fn best(rows: &[Row]) -> usize {
    let mean = |at: usize| mean_sd(&rows[at].values()).0;
    (1..rows.len()).fold(0, |best, at| if mean(at) > mean(best) { at } else { best })
}

/// What is printed.
struct Table<'a> {
    plan: &'a Plan,
    rows: &'a [Row],
    metric: String,
    folds: String,
    /// How far each is ahead of cross-entropy with the same model.
    ahead: Vec<Ahead>,
    /// What scores that know nothing come to.
    chance: f64,
}

/// The table and the verdict.
pub fn print(plan: &Plan, rows: &[Row], data: &Dataset<f32>) -> Result<()> {
    let metric = match plan.metric {
        "pauc" => format!("pauc {}:{}", plan.fpr.0, plan.fpr.1),
        other => other.to_string(),
    };
    let folds = match plan.repeats {
        1 => format!("{} folds", plan.folds),
        repeats => format!("{repeats} times {} folds", plan.folds),
    };
    let base = |at: usize| rows[plan.base(at)].values();
    let ahead = rows.iter().enumerate().map(|(at, row)| Ahead::new(&row.values(), &base(at), plan.folds)).collect();
    let chance = plan.chance(data.len(), data.positives());
    let table = Table { plan, rows, metric, folds, ahead, chance };
    if plan.json { table.objects() } else { table.lines(data) }
}

impl Table<'_> {
    /// The row with the greatest mean, how far it is ahead of cross-entropy with its model, and whether beyond noise.
    fn verdict(&self) -> (usize, &Ahead, bool) {
        let best = best(self.rows);
        let ahead = &self.ahead[best];
        (best, ahead, !self.is_base(best) && ahead.mean - ahead.half > 0.0)
    }

    fn is_base(&self, at: usize) -> bool {
        self.plan.base(at) == at
    }

    /// The interval of the greatest mean, where it holds what scores come to that know nothing.
    fn no_signal(&self, best: usize) -> Option<[f64; 2]> {
        let above = Ahead::of_chance(&self.rows[best].values(), self.chance, self.plan.folds);
        let ends = [above.mean - above.half, above.mean + above.half].map(|end| end + self.chance);
        (ends[0] <= self.chance).then_some(ends)
    }

    /// For programs.
    fn objects(&self) -> Result<()> {
        let (plan, rows) = (self.plan, self.rows);
        for (at, (row, ahead)) in rows.iter().zip(&self.ahead).enumerate() {
            let (mean, sd) = mean_sd(&row.values());
            let interval = (!self.is_base(at)).then_some([ahead.mean - ahead.half, ahead.mean + ahead.half]);
            output::line(json!({
                "method": row.candidate.method, "model": row.candidate.model.to_string(), "metric": self.metric,
                "folds": row.values(), "mean": mean, "sd": sd,
                "chosen": plan.tune.then(|| chosen(row)), "at_edge": plan.tune.then(|| edges(row)),
                "ahead": (!self.is_base(at)).then_some(ahead.mean), "interval": interval, "seconds": row.seconds(),
                "at_random": self.chance,
            }))?;
        }
        let (best, _, beyond) = self.verdict();
        let Candidate { method, model, .. } = &rows[best].candidate;
        output::line(json!({
            "best": method, "model": model.to_string(), "beyond_noise": beyond, "folds": plan.folds, "repeats": plan.repeats,
            "no_signal": self.no_signal(best).is_some(),
        }))
    }

    /// For people.
    fn lines(&self, data: &Dataset<f32>) -> Result<()> {
        let (plan, rows) = (self.plan, self.rows);
        let line = |text: String| output::line(wrap(&text, 2));
        line(format!(
            "{}: {} rows ({} positive), {} columns; {}, {}, {}{}, seed {}; scores at random have {:.4}",
            plan.file.display(),
            data.len(),
            data.positives(),
            data.cols(),
            self.metric,
            self.folds,
            plan.models,
            if plan.tune { ", tuned" } else { "" },
            plan.seed,
            self.chance
        ))?;
        self.rows()?;
        for row in rows.iter().filter(|row| plan.tune && edges(row) > 0) {
            line(format!(
                "{}: {} of {} choices of lr and decay lie at an end of the grid; it may have more to gain.",
                row.candidate.name,
                edges(row),
                row.trained.len()
            ))?;
        }
        let (each, all) = rows
            .iter()
            .fold((0.0, 0), |(sum, n), row| (sum + row.seconds() * row.trained.len() as f64, n + row.trained.len()));
        line(format!(
            "{all} trainings of {each:.1} s together; one of cross-entropy takes {:.2} s.",
            rows[0].seconds()
        ))?;
        let (best, Ahead { mean, half }, beyond) = self.verdict();
        let (name, metric, folds) = (&rows[best].candidate.name, &self.metric, &self.folds);
        if let Some([low, high]) = self.no_signal(best) {
            return line(format!(
                "No signal found: the 95 % interval of the greatest mean {metric}, {name} with [{low:.4}, {high:.4}], holds that of scores at random, {:.4}.",
                self.chance
            ));
        }
        let models = self.rows.iter().filter(|row| row.candidate.method == "ce").count();
        let same = if models > 1 { " with the same model" } else { "" };
        let by = format!("by {mean:.4} in {metric}, {:.4} to {:.4}.", mean - half, mean + half);
        line(match (self.is_base(best), beyond) {
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
        line(format!(
            "{:width$}  {:>6} ± sd     {:>26}  {:>7}  {}",
            "method",
            "mean",
            "ahead of ce [95 %]",
            "seconds",
            if axis > 0 { "0 at |" } else { "" }
        ))?;
        for (at, (row, ahead)) in self.rows.iter().zip(&self.ahead).enumerate() {
            let (mean, sd) = mean_sd(&row.values());
            let apart = match self.is_base(at) {
                true => String::new(),
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
