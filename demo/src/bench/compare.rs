//! Tunes methods on data sets under equal budgets, judges each once on test rows, and prints the table.
//!
//! Rules, the same for every method: every point of its grid is trained on the training part with the same steps and
//! measured on the validation part at the same checks; the point and the check with the best validation metric are
//! taken (so a run may stop early); that point is trained once more with the same seed and judged on the test part at
//! that check. All grids of a table have the same number of points.

use super::experiment::{self, Budget, Candidate, DATASETS, Parts, Settings, Thin, mean_sd, text};
use super::figure::{self, Line};
use super::store::{self, Store};
use crate::error::{CliError, Result};
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;
use undercurve::metric::Summary;
use undercurve::trainer::ModelSpec;

/// Options of `bench auprc` and `bench auroc`.
#[derive(clap::Args, Debug)]
#[group(skip)] // the benches that flatten this have a group of the same name
pub struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Data sets, with commas between them [default: annthyroid, mammography, ijcnn1, w8a, hiv]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    datasets: Vec<String>,
    /// Only these methods of the table, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Candidates from FILE instead of the bench's own, one a line: NAME; METHOD; a=1 | a=2; b=3 | b=4 …
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// Print the best validation metric and leave the test part alone: for choosing grids
    #[arg(long)]
    valid: bool,
    /// Seeds 1 to N, each with its own split
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Steps of every run
    #[arg(long, value_name = "N", default_value_t = 3000)]
    steps: u64,
    /// linear, or mlp:WIDTHS
    #[arg(long, default_value = "linear")]
    model: String,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Keep every finished run in FOLDER/runs.jsonl; a bench that is started again continues there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Train nothing: print what --out holds
    #[arg(long, requires = "out")]
    show: bool,
    /// annthyroid only, one seed, few steps, two points of every grid
    #[arg(long)]
    quick: bool,
    /// Write convergence figures (SVG) into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
}

impl Args {
    /// Whether the model is linear.
    pub fn is_linear(&self) -> bool {
        self.model == "linear"
    }
}

/// A table: its candidates, its metric and the data that it changes.
pub struct Table {
    /// Name of the bench, in JSON and file names.
    pub bench: &'static str,
    /// Name of the metric.
    pub label: &'static str,
    /// The metric.
    pub metric: fn(&Summary) -> f64,
    /// The methods.
    pub candidates: Vec<Candidate>,
    /// The data as it is, or thinned in several ways, each with its name.
    pub variants: Vec<(String, Thin)>,
    /// Checks of every run.
    pub checks: u64,
    /// Whether to say how many passes it took to reach shares of the best final metric.
    pub passes: bool,
}

/// What a run measured: `(step, pass, metric)` at each check, and its seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The checks, in the order of steps.
    pub checks: Vec<(u64, f64, f64)>,
    /// Seconds of training and checks.
    pub seconds: f64,
}

/// A data set in one of its variants.
struct Set {
    label: String,
    name: String,
    thin: Thin,
}

/// What tuning chose for one method, one set and one seed, and what it came to.
struct Outcome {
    settings: Settings,
    valid: f64,
    test: f64,
    /// Test metric by pass, at all checks.
    curve: Vec<(f64, f64)>,
    runs: usize,
    seconds: f64,
}

struct Bench<'a> {
    table: &'a Table,
    budget: Budget,
    store: Store<Measured>,
    bar: ProgressBar,
    jobs: usize,
    points: usize,
    show: bool,
    valid: bool,
}

impl Bench<'_> {
    fn grid(&self, candidate: &Candidate) -> Vec<Settings> {
        candidate.grid(self.budget.steps).into_iter().take(self.points).collect()
    }

    fn key(&self, set: &Set, seed: u64, candidate: &Candidate, settings: &Settings, part: &str) -> String {
        let (model, steps, checks) = (&self.budget.model, self.budget.steps, self.budget.checks);
        let (label, metric, method) = (&set.label, self.table.label, &candidate.method);
        format!("{label}; seed {seed}; {model}; {method} {}; {steps} steps; {metric} {checks}x {part}", text(settings))
    }

    /// Trains every point that is not in the store yet, several at a time.
    fn work(&self, parts: &Parts, seed: u64, set: &Set, jobs: &[(Candidate, Settings)], part: &str) -> Result<()> {
        let judge = if part == "test" { &parts.test } else { &parts.valid };
        store::in_parallel(jobs, self.jobs, |(candidate, settings)| {
            let key = self.key(set, seed, candidate, settings, part);
            if self.store.get(&key).is_none() {
                let (budget, metric) = (&self.budget, self.table.metric);
                let measured = experiment::run(parts, judge, &candidate.method, settings, seed, budget, metric)?;
                self.store.put(key, measured)?;
            }
            self.bar.inc(1);
            Ok(())
        })
    }

    /// The point and the check with the best validation metric; `None` while points are missing.
    fn choose(&self, set: &Set, seed: u64, candidate: &Candidate) -> Option<(Settings, usize, f64, f64)> {
        let (mut best, mut seconds) = (None, 0.0);
        for settings in self.grid(candidate) {
            let measured = self.store.get(&self.key(set, seed, candidate, &settings, "valid"))?;
            seconds += measured.seconds;
            for (check, &(_, _, value)) in measured.checks.iter().enumerate() {
                if best.as_ref().is_none_or(|best: &(Settings, usize, f64)| value > best.2) {
                    best = Some((settings.clone(), check, value));
                }
            }
        }
        best.map(|(settings, check, valid)| (settings, check, valid, seconds))
    }

    /// Tunes and judges every candidate on one set with one seed. Where runs are missing that may not be made: `None`.
    fn outcomes(&self, folder: &std::path::Path, set: &Set, seed: u64) -> Result<Vec<Option<Outcome>>> {
        let candidates = &self.table.candidates;
        if !self.show {
            let pair = |candidate: &Candidate| -> Vec<_> {
                self.grid(candidate).into_iter().map(|point| (candidate.clone(), point)).collect()
            };
            let tuning: Vec<_> = candidates.iter().flat_map(pair).collect();
            let missing = |jobs: &[(Candidate, Settings)], part: &str| {
                jobs.iter().any(|(candidate, s)| self.store.get(&self.key(set, seed, candidate, s, part)).is_none())
            };
            let chosen = |bench: &Self| -> Vec<(Candidate, Settings)> {
                let choice = |c: &Candidate| bench.choose(set, seed, c).map(|chosen| (c.clone(), chosen.0));
                candidates.iter().filter_map(choice).collect()
            };
            if missing(&tuning, "valid") || (!self.valid && missing(&chosen(self), "test")) {
                let parts = experiment::parts(folder, &set.name, seed, set.thin)?;
                self.work(&parts, seed, set, &tuning, "valid")?;
                if !self.valid {
                    self.work(&parts, seed, set, &chosen(self), "test")?;
                }
            } else {
                self.bar.inc((tuning.len() + candidates.len()) as u64);
            }
        }
        let outcome = |candidate: &Candidate| {
            let (settings, check, valid, seconds) = self.choose(set, seed, candidate)?;
            let part = if self.valid { "valid" } else { "test" };
            let Measured { checks, .. } = self.store.get(&self.key(set, seed, candidate, &settings, part))?;
            Some(Outcome {
                settings,
                valid,
                test: checks.get(check)?.2,
                curve: checks.iter().map(|&(_, pass, value)| (pass, value)).collect(),
                runs: self.grid(candidate).len(),
                seconds,
            })
        };
        Ok(candidates.iter().map(outcome).collect())
    }
}

/// Shares of the way from chance to the best final AUROC.
const TARGETS: [f64; 3] = [0.95, 0.98, 0.99];

/// Runs a table and prints it: Markdown, or JSON lines.
///
/// # Errors
/// `Input`; when results cannot be written.
pub fn run(mut table: Table, args: &Args, as_json: bool) -> Result<()> {
    let model = ModelSpec::parse(&args.model).map_err(|text| anyhow::anyhow!(text))?;
    if let Some(file) = &args.grid {
        let text = std::fs::read_to_string(file).map_err(|error| CliError::file(file, &error))?;
        table.candidates = Candidate::parse(&text, &file.display().to_string())?;
    }
    let all = table.candidates.clone();
    if let Some(name) = args.only.iter().find(|name| all.iter().all(|candidate| candidate.name != **name)) {
        let names: Vec<&str> = all.iter().map(|candidate| &*candidate.name).collect();
        return Err(CliError::input(format!("--only {name}: expected one of {}", names.join(", "))));
    }
    table.candidates.retain(|c| args.only.is_empty() || args.only.contains(&c.name));
    let (steps, points, seeds) = if args.quick { (1200, 2, 1) } else { (args.steps, usize::MAX, args.seeds) };
    for folder in [&args.figures, &args.out].into_iter().flatten() {
        std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
    }
    let names: Vec<&str> = match args.datasets.as_slice() {
        [] if args.quick => vec!["annthyroid"],
        [] => DATASETS[..5].to_vec(),
        names => names.iter().map(String::as_str).collect(),
    };
    let set = |name: &str, (variant, thin): &(String, Thin)| Set {
        label: if variant.is_empty() { name.to_owned() } else { format!("{name}, {variant}") },
        name: name.to_owned(),
        thin: *thin,
    };
    let sets: Vec<Set> = names.iter().flat_map(|name| table.variants.iter().map(|v| set(name, v))).collect();
    let bench = Bench {
        table: &table,
        budget: Budget { steps, model, checks: table.checks },
        store: Store::open(args.out.as_ref().map(|folder| folder.join("runs.jsonl")).as_deref())?,
        bar: ProgressBar::new(0),
        jobs: args.jobs.unwrap_or_else(store::cores).max(1),
        points,
        show: args.show,
        valid: args.valid,
    };
    let each: usize = table.candidates.iter().map(|candidate| bench.grid(candidate).len() + 1).sum();
    bench.bar.set_length((each * sets.len()) as u64 * seeds);
    let style = "{bar:30} {pos}/{len} runs  {msg}  {eta} left";
    bench.bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    // By set, by candidate, by seed. Seeds go round the sets, so that a bench that is stopped has something of each.
    let mut outcomes: Vec<Vec<Vec<Outcome>>> =
        sets.iter().map(|_| table.candidates.iter().map(|_| Vec::new()).collect()).collect();
    for seed in 1..=seeds {
        for (set, rows) in sets.iter().zip(&mut outcomes) {
            bench.bar.set_message(format!("{}, seed {seed}", set.label));
            for ((row, outcome), candidate) in
                rows.iter_mut().zip(bench.outcomes(&args.data, set, seed)?).zip(&table.candidates)
            {
                let Some(outcome) = outcome else { continue };
                if as_json {
                    bench.bar.suspend(|| {
                        output::line(json!({
                            "bench": table.bench, "dataset": set.label, "model": args.model, "method": candidate.name,
                            "seed": seed, "test": outcome.test, "valid": outcome.valid,
                            "settings": text(&outcome.settings), "runs": outcome.runs, "seconds": outcome.seconds,
                        }))
                    })?;
                }
                row.push(outcome);
            }
        }
    }
    bench.bar.finish_and_clear();
    if !as_json {
        let part = if args.valid { "Validation" } else { "Test" };
        print(&table, &sets, &outcomes, part, &format!("model {}, {steps} steps", args.model))?;
    }
    if let Some(folder) = &args.figures {
        for (set, rows) in sets.iter().zip(&outcomes) {
            let curves: Vec<Vec<(f64, f64)>> = rows.iter().map(|row| average(row)).collect();
            let lines: Vec<Line<'_>> = (table.candidates.iter().zip(&curves))
                .filter(|(_, points)| !points.is_empty())
                .map(|(candidate, points)| Line { name: &candidate.name, points })
                .collect();
            if lines.is_empty() {
                continue;
            }
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let name = format!("{} {} {}", table.bench, set.label, args.model).chars().map(plain).collect::<String>();
            let title = format!("{} ({}): mean test {}", set.label, args.model, table.label);
            figure::draw(&folder.join(format!("{name}.svg")), &title, table.label, &lines)?;
        }
    }
    Ok(())
}

/// The mean and deviation over seeds of a cell; `None` without any.
fn cell(row: &[Outcome]) -> Option<(f64, f64)> {
    (!row.is_empty()).then(|| mean_sd(&row.iter().map(|outcome| outcome.test).collect::<Vec<_>>()))
}

fn print(table: &Table, sets: &[Set], outcomes: &[Vec<Vec<Outcome>>], part: &str, what: &str) -> Result<()> {
    let seeds = outcomes.iter().flatten().map(Vec::len).max().unwrap_or(0);
    output::line(format!("{part} {}, mean ± deviation over {seeds} seeds; {what}.\n", table.label))?;
    output::line(format!("| method | {} |", sets.iter().map(|set| &*set.label).collect::<Vec<_>>().join(" | ")))?;
    output::line(format!("|---|{}", "---|".repeat(sets.len())))?;
    let tops: Vec<f64> =
        outcomes.iter().map(|rows| rows.iter().filter_map(|row| cell(row)).fold(0.0, |top, c| c.0.max(top))).collect();
    for (k, candidate) in table.candidates.iter().enumerate() {
        let cells = outcomes.iter().zip(&tops).map(|(rows, &top)| match cell(&rows[k]) {
            None => "–".to_owned(),
            Some((mean, sd)) => {
                let fewer = if rows[k].len() < seeds { format!(" ({} seeds)", rows[k].len()) } else { String::new() };
                let mark = if mean >= top { "**" } else { "" };
                format!("{mark}{mean:.4}{mark} ± {sd:.4}{fewer}")
            }
        });
        output::line(format!("| {} | {} |", candidate.name, cells.collect::<Vec<_>>().join(" | ")))?;
    }
    let wins = table.candidates.iter().enumerate().filter_map(|(k, candidate)| {
        let best = |(rows, top): &(&Vec<Vec<Outcome>>, &f64)| cell(&rows[k]).is_some_and(|cell| cell.0 >= **top);
        let n = outcomes.iter().zip(&tops).filter(best).count();
        (n > 0).then(|| format!("{} on {n}", candidate.name))
    });
    output::line(format!("\nBest mean: {}, of {}.", wins.collect::<Vec<_>>().join(", "), sets.len()))?;
    output::line("\nTuning (runs and seconds of all seeds) and the settings chosen, by seed:\n")?;
    for (set, rows) in sets.iter().zip(outcomes) {
        for (row, candidate) in rows.iter().zip(&table.candidates).filter(|(row, _)| !row.is_empty()) {
            let (runs, seconds) = row.iter().fold((0, 0.0), |(n, s), outcome| (n + outcome.runs, s + outcome.seconds));
            let chosen: Vec<String> = row.iter().map(|outcome| text(&outcome.settings)).collect();
            let (label, name, chosen) = (&set.label, &candidate.name, chosen.join("; "));
            output::line(format!("- {label}, {name}: {runs} runs, {seconds:.1} s; {chosen}"))?;
        }
    }
    if table.passes {
        passes(table, sets, outcomes)?;
    }
    Ok(())
}

/// Passes until the mean test curve first reaches shares of the way from chance to the best final mean.
fn passes(table: &Table, sets: &[Set], outcomes: &[Vec<Vec<Outcome>>]) -> Result<()> {
    for (set, rows) in sets.iter().zip(outcomes) {
        let curves: Vec<Vec<(f64, f64)>> = rows.iter().map(|row| average(row)).collect();
        let top = curves.iter().filter_map(|curve| curve.last()).fold(0.5f64, |top, point| top.max(point.1));
        let targets = TARGETS.map(|share| 0.5 + share * (top - 0.5));
        let heads = targets.map(|target| format!("{target:.4}")).join(" | ");
        output::line(format!("\nPasses until the mean test {} of {} reaches:\n", table.label, set.label))?;
        output::line(format!("| method | {heads} |\n|---|---|---|---|"))?;
        for (curve, candidate) in curves.iter().zip(&table.candidates) {
            let reached = targets.map(|target| {
                let first = curve.iter().find(|point| point.1 >= target);
                first.map_or("never".to_owned(), |point| format!("{:.2}", point.0))
            });
            output::line(format!("| {} | {} |", candidate.name, reached.join(" | ")))?;
        }
    }
    Ok(())
}

/// The mean curve over seeds, as far as all of them go.
fn average(row: &[Outcome]) -> Vec<(f64, f64)> {
    let length = row.iter().map(|outcome| outcome.curve.len()).min().unwrap_or(0);
    let count = row.len() as f64;
    let mean = |k: usize| {
        let (x, y) = row.iter().fold((0.0, 0.0), |(x, y), outcome| (x + outcome.curve[k].0, y + outcome.curve[k].1));
        (x / count, y / count)
    };
    (0..length).map(mean).collect()
}
