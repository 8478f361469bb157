//! The table of `compare` and its verdict.

use super::measure::Row;
use super::{Args, MetricArg};
use crate::bench::paired::mean_sd;
use crate::error::Result;
use crate::output;
use serde_json::{Value, json};
use undercurve::data::Dataset;
use undercurve::metric::student;

/// Characters of the longest bar.
const BAR: f64 = 24.0;

/// How far a method is ahead of cross-entropy, and half its interval.
struct Ahead {
    mean: f64,
    half: f64,
}

impl Ahead {
    /// With a variance of 1/(r·k) + 1/(k − 1) times that of a fold: the training rows of k folds, r times drawn, overlap.
    fn new(ours: &[f64], theirs: &[f64], folds: usize) -> Self {
        let apart: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_sd(&apart);
        let (all, k) = (apart.len() as f64, folds as f64);
        Self { mean, half: student(apart.len() as u64 - 1) * sd * (1.0 / all + 1.0 / (k - 1.0)).sqrt() }
    }
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

/// The table and the verdict.
///
/// # Errors
/// Those of stdout.
pub fn print(args: &Args, rows: &[Row], data: &Dataset<f32>) -> Result<()> {
    let metric = match args.metric {
        MetricArg::Pauc => format!("pauc {}:{}", args.fpr.0, args.fpr.1),
        other => other.name().to_string(),
    };
    let folds = match args.repeats {
        1 => format!("{} folds", args.folds),
        repeats => format!("{repeats} times {} folds", args.folds),
    };
    let width = rows.iter().map(|row| row.name(args).len()).max().unwrap_or(0).max(6);
    if !args.json {
        output::line(format!(
            "{}: {} rows ({} positive), {} columns; {metric}, {folds}, {}{}, seed {}",
            args.data.display(),
            data.len(),
            data.positives(),
            data.cols(),
            args.model.join(", "),
            if args.tune { ", tuned" } else { "" },
            args.seed
        ))?;
        output::line(format!(
            "{:width$}  {:>6} ± sd     {:>26}  {:>8}",
            "method", "mean", "ahead of ce [95 %]", "seconds"
        ))?;
    }
    for (at, row) in rows.iter().enumerate() {
        let (mean, sd) = mean_sd(&row.values());
        let ahead = Ahead::new(&row.values(), &rows[0].values(), args.folds);
        if args.json {
            let interval = (at > 0).then_some([ahead.mean - ahead.half, ahead.mean + ahead.half]);
            output::line(json!({
                "method": row.entry.method, "model": row.entry.model.to_string(), "metric": metric, "folds": row.values(), "mean": mean, "sd": sd,
                "chosen": args.tune.then(|| chosen(row)), "at_edge": args.tune.then(|| edges(row)),
                "ahead": (at > 0).then_some(ahead.mean), "interval": interval, "seconds": row.seconds(),
            }))?;
            continue;
        }
        let apart = match at {
            0 => String::new(),
            _ => format!("{:+.4} [{:+.4}, {:+.4}]", ahead.mean, ahead.mean - ahead.half, ahead.mean + ahead.half),
        };
        let bar = "#".repeat((BAR * mean.clamp(0.0, 1.0)).round() as usize);
        output::line(format!(
            "{:width$}  {mean:.4} ± {sd:.4}  {apart:>26}  {:>8.2}  {bar}",
            row.name(args),
            row.seconds()
        ))?;
    }
    if args.tune && !args.json {
        for row in rows.iter().filter(|row| edges(row) > 0) {
            output::line(format!(
                "{}: {} of {} choices of lr and decay lie at an end of the grid; it may have more to gain.",
                row.name(args),
                edges(row),
                row.trained.len()
            ))?;
        }
    }
    let best = best(rows);
    let ahead = Ahead::new(&rows[best].values(), &rows[0].values(), args.folds);
    let (low, high) = (ahead.mean - ahead.half, ahead.mean + ahead.half);
    let beyond = best > 0 && low > 0.0;
    if args.json {
        return output::line(
            json!({"best": rows[best].entry.method, "model": rows[best].entry.model.to_string(), "beyond_noise": beyond, "folds": args.folds, "repeats": args.repeats}),
        );
    }
    let (each, all) = rows
        .iter()
        .fold((0.0, 0), |(sum, n), row| (sum + row.seconds() * row.trained.len() as f64, n + row.trained.len()));
    output::line(format!(
        "{all} trainings of {each:.1} s together; one of cross-entropy takes {:.2} s.",
        rows[0].seconds()
    ))?;
    output::line(match (best, beyond) {
        (0, _) => format!("Nothing beats cross-entropy here: its mean {metric} is the greatest."),
        (_, true) => format!(
            "{} beats cross-entropy beyond the noise of {folds}: by {:.4} in {metric}, {low:.4} to {high:.4}.",
            rows[best].name(args),
            ahead.mean
        ),
        _ => format!(
            "Nothing beats cross-entropy beyond the noise of {folds}: {} is ahead by {:.4} in {metric}, {low:.4} to {high:.4}.",
            rows[best].name(args),
            ahead.mean
        ),
    })
}
