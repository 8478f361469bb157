//! `undercurve train`: trains a model, reports on the way, saves and resumes.

use crate::args::train::{Args, Precision, differs};
use crate::error::{CliError, Result};
use crate::run::device::{self, Engine};
use crate::run::many;
use crate::run::parts::{resume, start};
use crate::run::walk::{Manner, walk};
use crate::{input, output, threads};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;

/// Trains.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<()> {
    if let Some(count) = args.threads {
        threads::limit(count)?;
    }
    let saved = args.resume.as_deref().map(input::saved).transpose()?;
    let first = args.start.as_deref().map(input::saved).transpose()?;
    let asked = args.precision.map(|p| if p == Precision::F64 { 8 } else { 4 });
    let there = saved.as_ref().map(|saved| saved.real_bytes);
    if let (Some(there), Some(asked)) = (there, asked)
        && there != asked
    {
        return Err(differs(args, "precision"));
    }
    match there.or(asked).or(first.map(|first| first.real_bytes)).unwrap_or(4) {
        4 => run_in::<f32>(args, saved, device::open_f32, many::choose_f32),
        _ => run_in::<f64>(args, saved, device::open_f64, many::choose_f64),
    }
}

fn run_in<T: Real>(
    args: &Args,
    saved: Option<SavedModel>,
    open: device::Open<T>,
    choose: many::Choose<T>,
) -> Result<()> {
    for (name, value) in [("every", args.every), ("save-every", args.save_every), ("steps", args.steps)] {
        if value == Some(0) {
            return Err(CliError::input(format!("--{name} 0: expected at least 1")));
        }
    }
    if args.seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
        return Err(CliError::input("--seconds: expected more than 0"));
    }
    if args.passes.is_some_and(|passes| !(passes > 0.0 && passes < 1e12)) {
        return Err(CliError::input("--passes: expected more than 0 and less than 1e12"));
    }
    if args.save_every.is_some() && args.save.is_none() && args.resume.is_none() {
        return Err(CliError::input("--save-every: nothing is saved without --save"));
    }
    check_place(args)?;
    if args.many.is_asked() {
        return many::run::<T>(args, choose);
    }
    args.many.check_alone()?;
    let new = saved.is_none();
    let made = match saved {
        Some(saved) => resume::<T>(args, saved)?,
        None => start::<T>(args)?,
    };
    let (engine, note) = Engine::new(&args.device, &made.trainer, open)?;
    made.notes(args, new);
    if let Some(note) = note {
        output::note(note);
    }
    let place = args.save.as_deref().or(args.resume.as_deref());
    let (file, every, save_every) = (&*args.data, args.every, args.save_every);
    let out = args.out.as_deref();
    let manner = Manner { file, place, out, every, save_every, seconds: args.seconds, json: args.json };
    let mut training = made.training(engine, args.require);
    if args.require && training.watch.constraints().is_empty() {
        return Err(CliError::input("--require: nothing is asked of this run; --constraint asks"));
    }
    walk(&manner, &mut training)
}

/// A saved run may only take the place of another, never of somebody's data.
fn check_place(args: &Args) -> Result<()> {
    let run = args.save.as_ref().or(args.resume.as_ref());
    if let (Some(run), Some(out)) = (run, &args.out)
        && (run == out || matches!((run.canonicalize(), out.canonicalize()), (Ok(a), Ok(b)) if a == b))
    {
        let text = format!("--out {}: is the file of the run, which goes on from it (--save, --resume)", out.display());
        return Err(CliError::input(text));
    }
    for path in [run, args.out.as_ref()].into_iter().flatten() {
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
