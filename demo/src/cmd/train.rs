//! `undercurve train`: trains a model, reports on the way, saves and resumes.

use crate::args::train::{Args, Begin, Plan};
use crate::error::{CliError, Result};
use crate::run::average::Others;
use crate::run::device::{self, Engine};
use crate::run::many::{self, List};
use crate::run::resume::{differs, resume};
use crate::run::rows::begin;
use crate::run::stream;
use crate::run::walk::walk;
use crate::{input, output, threads};
use std::path::Path;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;

pub fn run(args: Args) -> Result<()> {
    let plan = args.check()?;
    if let Some(count) = plan.threads {
        threads::limit(count)?;
    }
    let (start, saved) = match &plan.begin {
        Begin::New(new) => (new.start.as_deref().map(input::saved).transpose()?, None),
        Begin::Resume(run) => (None, Some(input::saved(&run.file)?)),
    };
    let there = saved.as_ref().map(|saved| saved.real_bytes);
    if let (Begin::Resume(run), Some(asked)) = (&plan.begin, plan.precision)
        && there != Some(asked)
    {
        return Err(differs(run, "precision"));
    }
    check_places(plan.manner.place.as_deref(), plan.manner.out.as_deref())?;
    if let Some(of) = plan.stream {
        return if plan.precision == Some(8) {
            stream::run::<f64>(&plan, of.rows)
        } else {
            stream::run::<f32>(&plan, of.rows)
        };
    }
    match there.or(plan.precision).or(start.map(|start| start.real_bytes)).unwrap_or(4) {
        4 => run_in::<f32>(plan, saved, device::open_f32, many::choose_f32),
        _ => run_in::<f64>(plan, saved, device::open_f64, many::choose_f64),
    }
}

fn run_in<T: Real>(
    plan: Plan,
    saved: Option<SavedModel>,
    open: device::Open<T>,
    choose: many::Choose<T>,
) -> Result<()> {
    let Plan { rows, begin: from, decision, manner, many, device, threads, average, .. } = plan;
    let mut training = match (&from, &many) {
        (Begin::New(new), Some(many)) => {
            let list = List::<T>::new(&rows, &decision, &manner, new, many)?;
            return many::run(&list, &device, threads, choose);
        }
        (Begin::New(new), None) => begin::<T>(&rows, &decision, new)?,
        (Begin::Resume(run), _) => {
            let saved = saved.map_or_else(|| input::saved(&run.file), Ok)?;
            resume::<T>(&rows, &decision, run, saved)?
        }
    };
    let (engine, note) = Engine::new(&device, &training.trainer, open)?;
    training.engine = engine;
    training.notes(&rows, if let Begin::New(new) = &from { Some(new) } else { None });
    if let Some(note) = note {
        output::note(note);
    }
    if manner.require && training.watch.constraints().is_empty() {
        return Err(CliError::input("--require: nothing is asked of this run; --constraint asks"));
    }
    training.average =
        average.map(|count| Others::train(&training.trainer, training.best.as_ref(), &decision, count)).transpose()?;
    walk(&rows.file, &manner, &mut training)
}

/// A saved run may only take the place of another, never of somebody's data.
fn check_places(run: Option<&Path>, out: Option<&Path>) -> Result<()> {
    if let (Some(run), Some(out)) = (run, out)
        && (run == out || matches!((run.canonicalize(), out.canonicalize()), (Ok(a), Ok(b)) if a == b))
    {
        let text = format!("--out {}: is the file of the run, which goes on from it (--save, --resume)", out.display());
        return Err(CliError::input(text));
    }
    for path in [run, out].into_iter().flatten() {
        output::check_target(path)?;
        match std::fs::read(path) {
            Ok(bytes) if bytes.is_empty() || bytes.starts_with(b"undercurve") => {}
            Ok(_) => {
                return Err(CliError::input(format!(
                    "{}: is there and not a saved model; not replaced",
                    path.display()
                )));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(CliError::file(path, &error)),
        }
    }
    Ok(())
}
