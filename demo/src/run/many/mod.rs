//! `train --seeds N` and `train --grid NAME=VALUES`: many runs of a method, each with the bits that `train` gives for its seed
//! and settings, a row for each, and what they come to.

mod all;
mod backend;
#[cfg(feature = "gpu")]
mod gpu;
mod picture;
mod told;

use crate::args::grid::{Grid, MOST};
use crate::args::method;
use crate::args::train::Args;
use crate::error::{CliError, Result};
use crate::run::device::{self, Choice};
use crate::run::parts;
use crate::run::store;
use crate::run::walk;
use crate::{input, output};
use all::All;
use backend::{Backend, Cpu, List, Spec, looks, splits};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;
use told::{By, Teller};
use undercurve::Real;
use undercurve::data::Target;
use undercurve::trainer::Config;

/// Refuses what many runs do not have.
fn check(args: &Args, grid: &Grid, runs: usize) -> Result<()> {
    let many = if args.many.seeds.is_some() { "--seeds" } else { "--grid" };
    for (name, given, why) in [
        ("resume", args.resume.is_some(), "a saved run is one"),
        ("save-every", args.save_every.is_some(), "the best run is saved at the end"),
        ("seconds", args.seconds.is_some(), "runs of the same length are compared; --steps and --passes say it"),
        ("require", args.require, "runs under constraints are made one at a time"),
        ("constraint", !args.constraint.is_empty(), "runs under constraints are made one at a time"),
        ("group", !args.reading.group.is_empty(), "runs of groups are made one at a time"),
        (
            "every",
            args.every.is_some() && !looks(args),
            "runs are measured at their end, and on the way for --plot of seeds",
        ),
    ] {
        if given {
            return Err(CliError::input(format!("--{name}: cannot be used with {many}: {why}")));
        }
    }
    if args.many.seeds == Some(0) {
        return Err(CliError::input("--seeds 0: expected at least 1"));
    }
    if runs > MOST {
        return Err(CliError::input(format!("{many}: more than {MOST} runs")));
    }
    if args.seed.unwrap_or(1).checked_add(args.many.seeds.unwrap_or(1)).is_none() {
        return Err(CliError::input("--seeds: the last seed would be above the greatest number there is"));
    }
    if let Some((set, _)) = args.set.iter().find(|(set, _)| grid.0.iter().any(|axis| axis.name == *set)) {
        return Err(CliError::input(format!("--set {set}: is varied by --grid")));
    }
    if let Some(path) = &args.many.plot {
        if path.extension().is_none_or(|text| !text.eq_ignore_ascii_case("svg")) {
            return Err(CliError::input(format!("{}: expected a name with .svg", path.display())));
        }
        if grid.0.len() > 2 {
            return Err(CliError::input("--plot: draws a grid of one or two parameters"));
        }
    }
    let written: Vec<&PathBuf> =
        [&args.many.csv, &args.many.plot, &args.save, &args.out].into_iter().flatten().collect();
    if let Some((_, twice)) = written.iter().enumerate().find(|(at, path)| written[..*at].contains(path)) {
        return Err(CliError::input(format!("{}: is written twice", twice.display())));
    }
    let inputs: Vec<&std::path::Path> =
        [Some(&args.data), args.test.as_ref()].into_iter().flatten().map(|p| &**p).collect();
    for path in [&args.many.csv, &args.many.plot].into_iter().flatten() {
        output::check_output(path, &inputs)?;
    }
    Ok(())
}

/// What trains a list of runs under `--device`, and what to tell of it.
pub type Choose<T> = fn(&Choice, usize, &List<'_, T>) -> Result<(Box<dyn Backend<T>>, Option<String>)>;

/// For f32: a graphics adapter, where one is asked for or found to be faster.
///
/// # Errors
/// [`CliError::Input`] when the user has to choose another adapter.
pub fn choose_f32(
    choice: &Choice,
    threads: usize,
    list: &List<'_, f32>,
) -> Result<(Box<dyn Backend<f32>>, Option<String>)> {
    #[cfg(feature = "gpu")]
    return gpu::backend(choice, threads, list);
    #[cfg(not(feature = "gpu"))]
    {
        let _ = list;
        on_cpu(choice, threads, device::NOT_BUILT)
    }
}

/// For f64 there is no kernel.
///
/// # Errors
/// [`CliError::Input`] when one was asked for.
pub fn choose_f64(
    choice: &Choice,
    threads: usize,
    _: &List<'_, f64>,
) -> Result<(Box<dyn Backend<f64>>, Option<String>)> {
    on_cpu(choice, threads, device::F32_ONLY)
}

/// The processor, where no adapter was asked for.
fn on_cpu<T: Real>(choice: &Choice, threads: usize, why: &str) -> Result<(Box<dyn Backend<T>>, Option<String>)> {
    let note = match choice {
        Choice::Cpu => None,
        Choice::Auto => Some(format!("CPU: {why}")),
        Choice::Gpu | Choice::Named(_) => return Err(device::refusal(choice, why)),
    };
    Ok((Box::new(Cpu { threads }), note))
}

/// Trains them.
///
/// # Errors
/// [`CliError`].
pub fn run<T: Real>(args: &Args, choose: Choose<T>) -> Result<()> {
    let none = Grid::default();
    let grid = args.many.grid.as_ref().unwrap_or(&none);
    let seeds = args.many.seeds.unwrap_or(1);
    let runs = grid.points().saturating_mul(usize::try_from(seeds).unwrap_or(usize::MAX));
    check(args, grid, runs)?;
    let first = args.start.as_deref().map(|path| parts::first::<T>(args, path)).transpose()?;
    let (config, options, table) = parts::read(args, first.as_ref())?;
    let method = method::find(&config.method)?;
    let method = method.of_classes().filter(|_| options.target == Target::Classes).unwrap_or(method);
    let grid = &grid.of(method).map_err(|error| CliError::input(format!("--grid {error}")))?;
    let points = grid.points();
    let from = config.seed;
    let specs = (0..runs).map(|at| Spec { seed: from + (at / points) as u64, settings: grid.point(at % points) });
    let read_as = input::reading_notes(&table, args.start.is_none().then_some(&options), &args.data);
    let list = List::new(args, (config, options, table), first, specs.collect(), points);
    for spec in &list.runs[..points] {
        let settings = list.settings(&spec.settings);
        method::check_settings(method, &Config { settings, ..list.config.clone() })?;
    }
    // (What only the data tell of settings: of those at the ends, the others lie between.)
    let made = list.make(0)?;
    drop(list.make(points - 1)?);
    if !made.watch.constraints().is_empty() {
        return Err(CliError::input("runs under constraints are made one at a time: no --seeds, no --grid"));
    }
    let workers = args.threads.unwrap_or_else(store::cores).min(runs);
    let (backend, note) = choose(&args.device, workers, &list)?;
    if let Some(note) = note {
        output::note(note);
    }
    walk::listen();
    let _locks =
        [&args.save, &args.out].into_iter().flatten().map(|path| output::lock(path)).collect::<Result<Vec<_>>>()?;
    input::say(&read_as);
    for note in made.trainer.notes() {
        output::note(note);
    }
    let by = By::of(&made);
    if !args.json {
        output::line(made.opening(&args.data.display().to_string()))?;
        output::line(opening(grid, from, seeds, runs, &backend.name()))?;
    }
    drop(made);
    let clock = Instant::now();
    let teller = Teller::new(&list, grid, by.clone());
    backend.train(&list, &|at, told| teller.hear(at, told))?;
    let all = teller.finish()?;
    let seconds = clock.elapsed().as_secs_f64();
    if let Some(path) = &args.many.csv {
        output::write_atomic(path, all.csv(&list, grid).as_bytes())?;
    }
    for (path, bytes) in [&args.save, &args.out].into_iter().zip(&all.files) {
        if let (Some(path), Some(bytes)) = (path, bytes) {
            output::write_atomic(path, bytes)?;
        }
    }
    if let Some(path) = &args.many.plot {
        picture::draw(path, &all, &by, grid, &list.config.method)?;
    }
    let (name, given) = (backend.name(), backend.given());
    let told = End { list: &list, grid, by: &by, all: &all, seconds, backend: name, given };
    if args.json {
        output::line(told.object())?
    } else {
        told.print()?
    }
    match (walk::stopped(), all.failed()) {
        (Some(code), _) if all.rows.iter().any(Option::is_none) => Err(CliError::Interrupted(code)),
        (_, 0) => Ok(()),
        (_, failed) => Err(anyhow::anyhow!("{failed} of {runs} runs failed").into()),
    }
}

/// What is varied, in one line.
fn opening(grid: &Grid, from: u64, seeds: u64, runs: usize, backend: &str) -> String {
    let mut parts = match seeds {
        1 => vec![format!("seed {from}")],
        _ => vec![format!("seeds {from} to {}", from + (seeds - 1))],
    };
    for axis in &grid.0 {
        let (first, last) = (axis.values.first().map_or("", |v| v), axis.values.last().map_or("", |v| v));
        parts.push(match axis.by_ratio {
            Some(ratio) => {
                let spaced = if ratio { "by ratio" } else { "evenly" };
                format!("{} from {first} to {last}, {} values spaced {spaced}", axis.name, axis.values.len())
            }
            None => format!("{} {}", axis.name, axis.values.join(", ")),
        });
    }
    format!("{runs} runs: {}; on {backend}", parts.join("; "))
}

/// What stands below the rows.
struct End<'a, T: Real> {
    list: &'a List<'a, T>,
    grid: &'a Grid,
    by: &'a By,
    all: &'a All,
    seconds: f64,
    backend: String,
    given: Option<[u64; 2]>,
}

impl<T: Real> End<'_, T> {
    /// Seed and settings of a run.
    fn name(&self, at: usize) -> String {
        let spec = &self.list.runs[at];
        let settings = spec.settings.iter().map(|(name, value)| format!(", {name}={value}"));
        format!("seed {}{}", spec.seed, settings.collect::<String>())
    }

    /// Settings of a point.
    fn point(&self, at: usize) -> String {
        let settings = self.grid.point(at).into_iter().map(|(name, value)| format!("{name}={value}"));
        settings.collect::<Vec<_>>().join(", ")
    }

    fn value(&self, at: usize) -> f64 {
        let row = self.all.rows[at].as_ref().and_then(|row| row.as_ref().ok());
        row.and_then(|row| row.value(self.by)).unwrap_or(f64::NAN)
    }

    /// Seeds that every point was trained with, if there are several, and points of the grid, if there is one.
    fn is_grid_of_seeds(&self) -> bool {
        !self.grid.0.is_empty() && self.list.runs.len() > self.grid.points()
    }

    /// The point with the best mean, of those with most runs.
    fn best_point(&self, points: &[(f64, f64, usize)]) -> Option<usize> {
        let most = points.iter().map(|point| point.2).max().filter(|&most| most > 0)?;
        (0..points.len())
            .filter(|&at| points[at].2 == most)
            .reduce(|best, at| if self.by.better(points[at].0, points[best].0) { at } else { best })
    }

    /// Parameters whose best value is the first or the last.
    fn at_end(&self, point: usize) -> Vec<&str> {
        let chosen = self.grid.point(point);
        let numbers = self.grid.0.iter().zip(&chosen).filter(|(axis, _)| axis.by_ratio.is_some());
        let at_end =
            numbers.filter(|(axis, (_, value))| [axis.values.first(), axis.values.last()].contains(&Some(value)));
        at_end.map(|(axis, _)| axis.name.as_str()).collect()
    }

    fn print(&self) -> Result<()> {
        let warned: Vec<(usize, &String)> =
            self.all.ended().filter_map(|(at, row)| Some((at, row.warning.as_ref()?))).collect();
        if let Some((first, sentence)) = warned.first() {
            let runs = if warned.len() == 1 { "1 run".to_string() } else { format!("{} runs", warned.len()) };
            output::line(format!("\n{runs} with a warning; {}: {sentence}", self.name(*first)))?;
            output::line(
                "(Those of all are in --csv and --json. Collapsed runs are no result: they are not counted below.)",
            )?;
        }
        match self.all.ended().filter(|(_, row)| row.no_signal.is_some()).count() {
            0 => {}
            none => output::line(format!(
                "\n{none} of {} runs found no signal: the 95 % interval of their AUROC is not above 0.5",
                self.list.runs.len()
            ))?,
        }
        let spreads = self.all.spreads();
        if !spreads.is_empty() {
            let names = ["mean", "sd", "10 %", "median", "90 %"].map(|name| format!("{name:>7}"));
            output::line(format!("\n{:14} {}", "", names.join(" ")))?;
            spreads.iter().try_for_each(|spread| output::line(spread.line()))?;
        }
        let points = self.all.points(self.by, self.grid.points());
        let chosen = if self.is_grid_of_seeds() {
            output::line(format!("\n{} by point, mean ± sd over seeds:", self.by.name))?;
            let width = (0..points.len()).map(|at| self.point(at).len()).max().unwrap_or(0);
            for (at, (mean, sd, runs)) in points.iter().enumerate() {
                output::line(format!("  {:<width$}  {mean:.4} ± {sd:.4} ({runs} runs)", self.point(at)))?;
            }
            self.best_point(&points)
        } else {
            self.all.best.map(|at| at % self.grid.points())
        };
        output::line("")?;
        if let (true, Some(at)) = (self.is_grid_of_seeds(), chosen) {
            let (mean, sd, runs) = points[at];
            output::line(format!(
                "Best point: {}, {} {mean:.4} ± {sd:.4} over {runs} seeds",
                self.point(at),
                self.by.name
            ))?;
        }
        if let Some(at) = chosen {
            for name in self.at_end(at) {
                output::line(format!("{name} lies at an end of its range; there may be more to gain beyond."))?;
            }
        }
        if let Some(at) = self.all.best {
            let most = match self.by.part {
                "valid" => "",
                "test" => "; chosen on the test rows, which flatters it (--valid chooses on others)",
                _ => "; chosen on the training rows, which says nothing of others (--test, --split, --valid)",
            };
            let several = self.list.runs[0].seed != self.list.runs[self.list.runs.len() - 1].seed;
            let split =
                if several && splits(self.list.args) { "; every seed has rows of its own, some easier" } else { "" };
            output::line(format!("Best run: {}, {} {:.4}{most}{split}", self.name(at), self.by.name, self.value(at)))?;
        }
        let [saved, model] =
            [("saved to", &self.list.args.save), ("the model is in", &self.list.args.out)].map(|(what, path)| {
                match (path, self.all.best) {
                    (Some(path), Some(_)) => format!(", {what} {}", path.display()),
                    _ => String::new(),
                }
            });
        let (done, runs) = (self.all.rows.iter().flatten().count(), self.list.runs.len());
        let done = if done == runs { format!("{runs} runs") } else { format!("{done} of {runs} runs") };
        output::line(format!("{done} in {:.2} s on {}{saved}{model}", self.seconds, self.backend))
    }

    fn object(&self) -> Value {
        let mut object = json!({
            "done": true, "runs": self.list.runs.len(), "failed": self.all.failed(), "method": self.list.config.method,
            "seconds": self.seconds, "backend": self.backend, "by": {"part": self.by.part, "metric": self.by.metric},
        });
        if let Some([pipelines, dispatches]) = self.given {
            (object["pipelines"], object["dispatches"]) = (pipelines.into(), dispatches.into());
        }
        let ended = self.all.rows.iter().flatten().count();
        if ended < self.list.runs.len() {
            object["interrupted"] = true.into();
        }
        object["ended"] = ended.into();
        object["no_signal"] = self.all.ended().filter(|(_, row)| row.no_signal.is_some()).count().into();
        object["collapsed"] = (self.all.ended().count() - self.all.good().count()).into();
        self.all.spreads().iter().for_each(|spread| spread.add(&mut object));
        let settings =
            |settings: Vec<(String, String)>| settings.into_iter().map(|(k, v)| (k, Value::from(v))).collect::<Value>();
        if let Some(at) = self.all.best {
            let spec = &self.list.runs[at];
            object["best"] = json!({
                "run": at + 1, "seed": spec.seed, "settings": settings(spec.settings.clone()), "value": self.value(at),
            });
        }
        if self.is_grid_of_seeds() {
            let points = self.all.points(self.by, self.grid.points());
            let best = self.best_point(&points);
            let of = |at: usize| {
                let (mean, sd, runs) = points[at];
                json!({"settings": settings(self.grid.point(at)), "mean": mean, "sd": sd, "runs": runs})
            };
            object["points"] = (0..points.len()).map(of).collect();
            object["best_point"] = best.map_or(Value::Null, of);
        }
        object
    }
}
