//! The training loop of one run: steps, reports, saves, and what is told at the end.

use crate::args::train::Manner;
use crate::error::{CliError, Result};
use crate::run::decisions;
use crate::run::due::{Due, next_stop};
use crate::run::stop::{listen, stopped};
use crate::run::training::Training;
use crate::tell::behind::Behind;
use crate::tell::constraints::{self, Ended, Told};
use crate::tell::outliers::Outliers;
use crate::tell::report::Reporter;
use crate::tell::risks;
use crate::tell::signal::NoSignal;
use crate::tell::top::Told as Top;
use crate::tell::unvalidated::Unvalidated;
use crate::{input, output};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;
use undercurve::Real;
use undercurve::trainer::{Best, Predictor, Warning};

/// Steps, reports and saves until the run is over. `file`: the training data's.
pub fn walk<T: Real>(file: &Path, manner: &Manner, run: &mut Training<T>) -> Result<()> {
    listen();
    run.check_rule()?;
    let place = manner.place.as_deref();
    let _locks = [place, manner.out.as_deref()].into_iter().flatten().map(output::lock).collect::<Result<Vec<_>>>()?;
    // What a run that comes to nothing puts back.
    let before_run = place.and_then(|path| std::fs::read(path).ok());
    let clock = Instant::now();
    let (at, end) = run.trainer.progress();
    let mut reporter = Reporter::new(manner.json, at, end);
    open(file, run, &reporter)?;
    steps(manner, run, &mut reporter, clock)?;
    let interrupted = stopped().filter(|_| !run.trainer.is_done());
    let ranks_nothing = run.trainer.is_done() && run.warning() == Some(Warning::Constant);
    let (mut totals, told) = results(manner, run, &reporter, clock, ranks_nothing)?;
    if let (true, Some(path)) = (ranks_nothing, place) {
        match &before_run {
            Some(bytes) => output::write_atomic(path, bytes)?,
            None => std::fs::remove_file(path).map_err(|error| CliError::file(path, &error))?,
        }
    }
    let named = |path: Option<&Path>, what: &str| match path.filter(|_| !ranks_nothing) {
        Some(path) => format!(", {what} {}", path.display()),
        None => String::new(),
    };
    let mut sentence = format!(
        "{} steps ({:.1} passes) in {:.2} s on {}{}{}",
        run.trainer.steps_done(),
        run.trainer.pass(),
        clock.elapsed().as_secs_f64(),
        run.backend(),
        named(place, "saved to"),
        named(manner.out.as_deref(), "the model is in")
    );
    if let Some(told) = &told {
        sentence += &format!("; {}", told.text);
    }
    if interrupted.is_some() {
        totals["interrupted"] = true.into();
    }
    reporter.finish(&totals, sentence)?;
    if let Some(warning) = run.warning() {
        let sentence = warning.sentence(run.method());
        if ranks_nothing {
            return Err(anyhow!("{sentence}; nothing was saved").into());
        }
        output::warn(sentence);
    }
    match (interrupted, told) {
        (Some(code), _) => Err(CliError::Interrupted(code)),
        (None, Some(told)) if manner.require => constraints::required(&told.verdicts, told.text),
        _ => Ok(()),
    }
}

/// The first lines.
fn open<T: Real>(file: &Path, run: &Training<T>, reporter: &Reporter) -> Result<()> {
    reporter.say(run.opening(&file.display().to_string()))?;
    let column = run.preparation.weight_column().unwrap_or_default();
    let weighed = input::weights_told(run.trainer.train_data().weights(), column);
    for told in weighed.into_iter().chain(input::class_weights_told(run.trainer.config(), &run.preparation)) {
        reporter.say(told)?;
    }
    for note in run.trainer.notes() {
        output::note(note);
    }
    run.costs.map_or(Ok(()), |costs| reporter.say(decisions::sentence(costs, run.trainer.config().fpr)))
}

/// All steps, with reports and saves at the start and whenever so many steps, or a twentieth of the run, are done.
fn steps<T: Real>(manner: &Manner, run: &mut Training<T>, reporter: &mut Reporter, clock: Instant) -> Result<()> {
    let mut report = Due::new(&run.trainer, manner.every);
    let mut save = Due::new(&run.trainer, manner.save_every.or(manner.every));
    let (mut report_due, mut save_due) = (true, true);
    let mut reported = None;
    loop {
        let (done, seconds) = (run.trainer.steps_done(), clock.elapsed().as_secs_f64());
        let over = run.is_over() || manner.seconds.is_some_and(|limit| seconds >= limit) || stopped().is_some();
        // (A full gradient moves the run along without a step: nothing new to report.)
        if over || report_due && reported != Some(done) {
            (report_due, reported) = (false, Some(done));
            run.report(reporter, seconds)?;
        }
        if let Some(path) = manner.place.as_ref().filter(|_| over || save_due) {
            output::write_atomic(path, &run.save()?)?;
        }
        if over {
            return Ok(());
        }
        let stop = |every| next_stop(&run.trainer, every, done);
        let next = stop(manner.every).min(stop(manner.save_every.or(manner.every)));
        let stepped = run.advance(next.saturating_sub(done))?;
        report_due |= report.is_now(&run.trainer);
        save_due = save.is_now(&run.trainer);
        reporter.step(run.trainer.progress().0, run.trainer.steps_done(), || run.message(stepped));
    }
}

/// Tells what the run came to, and writes its model, unless that ranks nothing. The totals, and what constraints came to.
fn results<T: Real>(
    manner: &Manner,
    run: &Training<T>,
    reporter: &Reporter,
    clock: Instant,
    ranks_nothing: bool,
) -> Result<(Value, Option<Told>)> {
    if let Some(details) = run.details() {
        reporter.say(details)?;
    }
    let mut totals = run.totals(clock.elapsed().as_secs_f64());
    let mut model = run.model()?;
    if let Some(best) = &run.best {
        reporter.say(kept(run, best, &mut totals))?;
        if let Some(text) = best.idle_patience().filter(|_| run.is_over()) {
            output::note(text);
        }
    }
    if let Some(others) = &run.average {
        reporter.say(others.tell(&run.trainer, run.best.as_ref(), &mut totals))?;
    }
    if let Some(text) = run.test_figures(&mut model, &mut totals)? {
        reporter.say(text)?;
    }
    if let Some(outliers) = Outliers::of(&run.trainer, &mut model)? {
        reporter.say(outliers.sentence())?;
        totals["outliers"] = json!(outliers.rows);
    }
    wanted(manner, run, &mut model, reporter, &mut totals)?;
    if let Some(none) = NoSignal::of(&run.trainer, run.best.as_ref(), &mut model)? {
        totals["no_signal"] = none.object();
        reporter.say(none.sentence())?;
    } else if let Some(unvalidated) = Unvalidated::of(&run.trainer, run.best.as_ref()).filter(|_| !ranks_nothing) {
        totals["unvalidated"] = unvalidated.object();
        output::note(unvalidated.sentence());
    }
    // (What was stopped is compared with nothing: that would take time again.)
    if run.is_over()
        && let Some(behind) = Behind::of(&run.trainer, run.best.as_ref(), &mut model)?
    {
        totals["behind"] = behind.object();
        output::warn(behind.sentence());
    }
    let saved = manner.out.as_deref().or(manner.place.as_deref()).filter(|_| !ranks_nothing);
    run.decisions(&mut model, saved, reporter, &mut totals)?;
    // (Before what else is told, which may fail.)
    if let Some(path) = manner.out.as_ref().filter(|_| !ranks_nothing) {
        output::write_atomic(path, &run.alone()?)?;
    }
    let told = if run.trainer.train_data().groups() > 1 || !run.watch.constraints().is_empty() {
        groups(run, &mut model, reporter, &mut totals)?
    } else {
        None
    };
    Ok((totals, told))
}

/// Which model is kept.
fn kept<T: Real>(run: &Training<T>, best: &Best<T>, totals: &mut Value) -> String {
    let (metric, value, step, last) = (best.metric(), best.value(), best.step(), run.trainer.steps_done());
    let kept = if run.kept().is_some() { step } else { last };
    totals["kept"] = json!({"step": kept, "best_step": step, "metric": metric, "valid": value});
    let mut of = format!("step {step} with {metric} {value:.4} on the validation rows");
    if !run.watch.constraints().is_empty() {
        totals["kept"]["excess"] = best.excess().into();
        of += &match best.excess() {
            0.0 => ", where it keeps all bounds".to_string(),
            excess => format!(", where it passes its bounds by {excess:.4} in sum"),
        };
    }
    match run.kept() {
        Some(_) => format!("Kept: {of}, of {last} steps"),
        None => format!("Kept: the last, step {last} (the best was {of})"),
    }
}

/// What groups and constraints came to.
fn groups<T: Real>(
    run: &Training<T>,
    model: &mut Predictor<T>,
    reporter: &Reporter,
    totals: &mut Value,
) -> Result<Option<Told>> {
    let valid = run.best.as_ref().map(|best| &**best.valid_data());
    let threshold = totals["threshold"]["at"].as_f64();
    let ended = Ended::of(&run.trainer, model, &run.watch, valid, &run.held_out, threshold)?;
    reporter.say(ended.text())?;
    ended.add(totals);
    // (What was stopped is compared with nothing: that would take as long again.)
    if let Some(risks) = risks::Told::of(&run.trainer, model, valid, run.trainer.is_done())? {
        reporter.say(risks.text())?;
        totals["risks"] = risks.json();
    }
    Ok(ended.sentence())
}

/// Tells what was wanted at the top of the list.
fn wanted<T: Real>(
    manner: &Manner,
    run: &Training<T>,
    model: &mut Predictor<T>,
    reporter: &Reporter,
    totals: &mut Value,
) -> Result<()> {
    let Some(want) = manner.want else { return Ok(()) };
    let valid = run.best.as_ref().map(|best| ("validation", &**best.valid_data()));
    let part = run.trainer.test_data().map(|test| ("test", &**test)).or(valid);
    let part = part.unwrap_or(("training", run.trainer.train_data()));
    if let Some(top) = Top::of(want, &run.trainer, model, part)? {
        reporter.say(top.sentence())?;
        totals["wanted"] = top.object();
        if let Some(warning) = top.warning() {
            output::warn(warning);
        }
    }
    Ok(())
}
