//! What every training run does on the way: steps, reports, saves, Ctrl-C.

use crate::error::{CliError, Result};
use crate::output;
use crate::report::Reporter;
use crate::train::Args;
use anyhow::anyhow;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use undercurve::Real;

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// A run in progress, of two classes or of several.
pub trait Run {
    /// One step, as [`Trainer::step`](undercurve::trainer::Trainer::step).
    fn step(&mut self) -> undercurve::Result<Option<f64>>;
    /// What to tell the user after a step.
    fn note(&mut self) -> Option<String> {
        None
    }
    fn steps_done(&self) -> u64;
    /// As [`Trainer::is_done`](undercurve::trainer::Trainer::is_done).
    fn is_done(&self) -> bool;
    /// How far the run is and how far it goes.
    fn progress(&self) -> (u64, u64);
    fn pass(&self) -> f64;
    /// What is trained, in one line.
    fn opening(&self, data: &str) -> String;
    /// Measures and prints.
    fn report(&mut self, reporter: &mut Reporter, seconds: f64) -> Result<()>;
    /// What the bar says besides how far it is, given the objective on the last batch.
    fn message(&self, value: Option<f64>) -> String;
    /// The parameter that is to blame when numbers leave their range.
    fn rate(&self) -> &'static str {
        "learning rate (--set lr=…)"
    }
    /// Rows of the last batch, and what class it had none of, if it had rows of one class alone.
    fn batch(&self) -> (usize, Option<&'static str>);
    /// What to tell the user about the model at the end.
    fn warning(&mut self) -> Option<String>;
    /// What people read of the last report besides its line.
    fn details(&self) -> Option<String> {
        None
    }
    /// What the last line says of the run, without the totals of every run.
    fn totals(&self) -> Value;
    /// What it ran on, for people.
    fn backend(&self) -> String;
    /// The file's bytes.
    fn save(&self) -> Vec<u8>;
}

/// Why a step failed: a batch had nothing to compare, or numbers grew beyond the type.
fn failed(run: &dyn Run, error: undercurve::Error) -> CliError {
    if error != undercurve::Error::OneClass {
        return left_range(run, error);
    }
    let step = run.steps_done() + 1;
    let (rows, absent) = run.batch();
    let had = absent.map_or_else(|| "rows of one class alone".to_string(), |class| format!("no {class} row"));
    CliError::input(format!(
        "step {step}: the batch of {rows} rows had {had}, and this method compares classes; \
         use --set sampling=stratified, or a larger batch (--set batch=…)"
    ))
}

/// Numbers grew beyond the type: the options are not at fault for certain, but nearly always.
pub fn left_range(run: &dyn Run, error: undercurve::Error) -> CliError {
    let (step, rate) = (run.steps_done(), run.rate());
    anyhow!("training broke down after {step} steps ({error}); a smaller {rate} may help").into()
}

/// Steps, reports and saves until the run is over.
pub fn walk(args: &Args, run: &mut dyn Run) -> Result<()> {
    // A second Ctrl-C ends the program where it stands. Without a handler the first one does.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    let place = args.save.as_ref().or(args.resume.as_ref());
    let clock = Instant::now();
    let seconds = || clock.elapsed().as_secs_f64();
    let (mut at, end) = run.progress();
    let part = end.div_ceil(20).max(1);
    let mut reporter = Reporter::new(args.json, at, end);
    reporter.say(run.opening(&args.data.display().to_string()))?;

    let mut closed = false;
    // At the start, and whenever so many steps, or a twentieth of the run, are done.
    let (mut report_due, mut save_due) = (true, true);
    let mut reported = None;
    loop {
        let done = run.steps_done();
        let out_of_time = args.seconds.is_some_and(|limit| seconds() >= limit);
        let mut over = run.is_done() || out_of_time || STOP.load(Ordering::SeqCst) || closed;
        // (A full gradient moves the run along without a step: nothing new to report.)
        if (over || report_due && reported != Some(done)) && !closed {
            (report_due, reported) = (false, Some(done));
            match run.report(&mut reporter, seconds()) {
                Err(CliError::Closed) => (closed, over) = (true, true),
                other => other?,
            }
        }
        if let Some(path) = place
            && (over || save_due)
        {
            output::write_atomic(path, &run.save())?;
        }
        if over {
            break;
        }
        let stepped = run.step().map_err(|error| failed(run, error))?;
        if let Some(note) = run.note() {
            eprintln!("note: {note}");
        }
        let before = std::mem::replace(&mut at, run.progress().0);
        let moved = run.steps_done() > done;
        let due = |every: Option<u64>| match every {
            Some(every) => moved && run.steps_done().is_multiple_of(every),
            None => before / part != at / part,
        };
        report_due |= due(args.every);
        save_due = due(args.save_every.or(args.every));
        reporter.step(at, run.steps_done(), || run.message(stepped));
    }
    if closed {
        return Err(CliError::Closed);
    }
    if let Some(details) = run.details() {
        reporter.say(details)?;
    }
    let mut totals = run.totals();
    for (name, value) in
        [("steps", json!(run.steps_done())), ("pass", json!(run.pass())), ("seconds", json!(seconds()))]
    {
        totals[name] = value;
    }
    let saved = place.map_or_else(String::new, |path| format!(", saved to {}", path.display()));
    let sentence = format!(
        "{} steps ({:.1} passes) in {:.2} s on {}{saved}",
        run.steps_done(),
        run.pass(),
        seconds(),
        run.backend()
    );
    let interrupted = STOP.load(Ordering::SeqCst) && !run.is_done();
    if interrupted {
        totals["interrupted"] = true.into();
    }
    reporter.finish(&totals, sentence)?;
    if let Some(warning) = run.warning() {
        eprintln!("note: {warning}");
    }
    if interrupted { Err(CliError::Interrupted) } else { Ok(()) }
}

/// The number type.
pub fn precision<T: Real>() -> &'static str {
    if T::BYTES == 8 { "f64" } else { "f32" }
}
