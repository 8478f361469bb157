//! The table of `compare` and its verdict.

use super::measure::Row;
use super::{Args, MetricArg};
use crate::error::Result;
use crate::output;
use crate::tell::paired::mean_sd;
use serde_json::{Value, json};
use undercurve::data::Dataset;
use undercurve::metric::student;

/// Characters of an interval's axis.
const AXIS: usize = 31;

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

/// An interval on an axis over `span`: `-` within it, `o` at its middle, `|` at 0.
fn picture(ahead: &Ahead, [low, high]: [f64; 2]) -> String {
    let width = (high - low).max(f64::MIN_POSITIVE);
    let place = |x: f64| (((x - low) / width * (AXIS - 1) as f64).round() as usize).min(AXIS - 1);
    let mut cells = vec![' '; AXIS];
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
    // From the lowest to the highest end of an interval, and the 0 of cross-entropy.
    let apart = rows[1..].iter().map(|row| Ahead::new(&row.values(), &rows[0].values(), args.folds));
    let span = apart.fold([0.0_f64, 0.0_f64], |[low, high], ahead| {
        [low.min(ahead.mean - ahead.half), high.max(ahead.mean + ahead.half)]
    });
    let ends = format!("{:<+.4}{:>+gap$.4}", span[0], span[1], gap = AXIS - 7);
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
            "{:width$}  {:>6} ± sd     {:>26}  {:>8}  {:>AXIS$}",
            "method", "mean", "ahead of ce [95 %]", "seconds", ends
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
        output::line(format!(
            "{:width$}  {mean:.4} ± {sd:.4}  {apart:>26}  {:>8.2}  {}",
            row.name(args),
            row.seconds(),
            picture(&ahead, span)
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
