//! `train --seeds N` and `train --grid NAME=VALUES`: many runs of a method, each with the bits that `train` gives for its seed
//! and settings, a row for each, and what they come to.

mod all;
mod backend;
mod end;
#[cfg(feature = "gpu")]
mod gpu;
mod picture;
mod told;

use crate::args::device::Choice;
use crate::error::{CliError, Result};
use crate::run::device;
use crate::run::stop::{listen, stopped};
use crate::run::store;
use crate::{input, output};
use backend::{Backend, Cpu};
use end::End;
use std::time::Instant;
use told::{By, Teller};
use undercurve::Real;

pub use backend::List;

/// What trains a list of runs, and what to tell of it.
pub type Chosen<T> = Result<(Box<dyn Backend<T>>, Option<String>)>;

/// Chooses it under `--device`.
pub type Choose<T> = fn(&Choice, usize, &List<'_, T>) -> Chosen<T>;

/// For f32: a graphics adapter, where one is asked for or found to be faster.
pub fn choose_f32(choice: &Choice, threads: usize, list: &List<'_, f32>) -> Chosen<f32> {
    #[cfg(feature = "gpu")]
    return gpu::backend(choice, threads, list);
    #[cfg(not(feature = "gpu"))]
    {
        let _ = list;
        on_cpu(choice, threads, device::NOT_BUILT)
    }
}

/// For f64 there is no kernel.
pub fn choose_f64(choice: &Choice, threads: usize, _: &List<'_, f64>) -> Chosen<f64> {
    on_cpu(choice, threads, device::F32_ONLY)
}

/// The processor, where no adapter was asked for.
fn on_cpu<T: Real>(choice: &Choice, threads: usize, why: &str) -> Chosen<T> {
    let note = match choice {
        Choice::Cpu => None,
        Choice::Auto => Some(format!("CPU: {why}")),
        Choice::Gpu | Choice::Named(_) => return Err(device::refusal(choice, why)),
    };
    Ok((Box::new(Cpu { threads }), note))
}

pub fn run<T: Real>(list: &List<'_, T>, device: &Choice, threads: Option<usize>, choose: Choose<T>) -> Result<()> {
    let (runs, manner) = (list.runs.len(), list.manner);
    // (What only the data tell of settings: of those at the ends, the others lie between.)
    let made = list.make(0)?;
    drop(list.make(list.grid.points() - 1)?);
    if !made.watch.constraints().is_empty() {
        return Err(CliError::input("runs under constraints are made one at a time: no --seeds, no --grid"));
    }
    let workers = threads.unwrap_or_else(store::cores).min(runs);
    let (backend, note) = choose(device, workers, list)?;
    if let Some(note) = note {
        output::note(note);
    }
    listen();
    let places = [&manner.place, &manner.out];
    let _locks = places.into_iter().flatten().map(|path| output::lock(path)).collect::<Result<Vec<_>>>()?;
    input::say(&list.notes);
    for note in made.trainer.notes() {
        output::note(note);
    }
    let by = By::of(&made);
    if !manner.json {
        output::line(made.opening(&list.rows.file.display().to_string()))?;
        output::line(opening(list, &backend.name()))?;
    }
    drop(made);
    let clock = Instant::now();
    let teller = Teller::new(list, by.clone());
    backend.train(list, &|at, told| teller.hear(at, told))?;
    let all = teller.finish()?;
    let seconds = clock.elapsed().as_secs_f64();
    if let Some(path) = &list.many.csv {
        output::write_atomic(path, all.csv(list).as_bytes())?;
    }
    for (path, bytes) in places.into_iter().zip(&all.files) {
        if let (Some(path), Some(bytes)) = (path, bytes) {
            output::write_atomic(path, bytes)?;
        }
    }
    if let Some(path) = &list.many.plot {
        picture::draw(path, &all, &by, &list.grid, list.method())?;
    }
    let (name, given) = (backend.name(), backend.given());
    let end = End { list, by: &by, all: &all, seconds, backend: name, given };
    if manner.json {
        output::line(end.object())?
    } else {
        end.print()?
    }
    match (stopped(), all.failed()) {
        (Some(code), _) if all.rows.iter().any(Option::is_none) => Err(CliError::Interrupted(code)),
        (_, 0) => Ok(()),
        (_, failed) => Err(anyhow::anyhow!("{failed} of {runs} runs failed").into()),
    }
}

/// What is varied, in one line.
fn opening<T: Real>(list: &List<'_, T>, backend: &str) -> String {
    let (from, seeds, runs) = (list.runs[0].seed, list.many.seeds, list.runs.len());
    let mut parts = match seeds {
        1 => vec![format!("seed {from}")],
        _ => vec![format!("seeds {from} to {}", from + (seeds - 1))],
    };
    for axis in &list.grid.0 {
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
