//! A saved run that goes on.

use crate::args::decide::{DecisionPlan, Valid};
use crate::args::method;
use crate::args::train::{Resume, RowsPlan};
use crate::error::{CliError, Result};
use crate::input;
use crate::run::decisions;
use crate::run::device::Engine;
use crate::run::rows::{apply_and_split, bounded_files, contradicted, contradicted_kind, rows_of_every_class};
use crate::run::training::Training;
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::{CheckpointError, SavedModel};
use undercurve::data::{Dataset, Preparation};
use undercurve::trainer::{Best, Config, Given, Init, Predictor, Trainer, TrainerError, Watch};

/// An option that contradicts the run that is resumed.
pub fn differs(run: &Resume, what: &str) -> CliError {
    of_file(run, &format!("saved with another {what}; leave the option out to continue that run"))
}

fn of_file(run: &Resume, error: &dyn std::fmt::Display) -> CliError {
    CliError::input(format!("{}: {error}", run.file.display()))
}

/// The data and the trainer of a saved run. Options that say something else than the run are refused.
pub fn resume<T: Real>(
    rows: &RowsPlan,
    decision: &DecisionPlan,
    run: &Resume,
    saved: SavedModel,
) -> Result<Training<T>> {
    let SavedModel { preparation, split, valid: share, costs, decided, calibrated, best, trainer: bytes, .. } = saved;
    let model = Predictor::<T>::load(&bytes).map_err(|error| of_file(run, &error))?;
    if !model.has_run() {
        return Err(of_file(run, &CheckpointError::ModelOnly));
    }
    let config = model.config();
    let other = contradicted_kind(run.target, &rows.data, &preparation, "positive label");
    let other = other.or_else(|| contradicted_run(rows, run, config, split, &preparation));
    if let Some(what) = other.or_else(|| decision.differs(share, costs)) {
        return Err(differs(run, what));
    }
    rows.check_target(preparation.target())?;
    let table = input::table_again(&rows.file, rows.data.layout, &preparation)?;
    if let Some(option) = contradicted(&rows.data, &preparation, &table.columns()) {
        return Err(differs(run, option));
    }
    let (mut train, test) = apply_and_split(rows, split, &preparation, &table, config.seed)?;
    let chosen_on = share.map(Valid::Share).or(decision.valid.clone()).filter(|_| best.is_some());
    let layout = rows.data.layout;
    let valid = decisions::validation(chosen_on.as_ref(), &rows.file, layout, config.seed, &preparation, &mut train)?;
    rows_of_every_class(rows, &train, test.as_ref())?;
    if rows.data.class_weight.is_some() && rows.data.class_weights(&preparation, &train)? != config.class_weights {
        return Err(differs(run, "list of class weights (--class-weight)"));
    }
    let [files, held_out] = bounded_files(layout, config, &preparation, split)?;
    let given = Given { test: test.map(Arc::new), files, ..Given::rows(Arc::new(train)) };
    let trainer = Trainer::load_as(&bytes, &changed(run, config)?, given).map_err(|error| match error {
        TrainerError::Config(text) => CliError::Input(text),
        error => of_file(run, &error),
    })?;
    let best = kept(decision, run, &trainer, best, valid)?;
    let before = Some((decided.map(|decided| decided.rule), calibrated.map(|it| it.calibration.how())));
    let (rule, calibrate) = decisions::rule(decision, &trainer, best.is_some(), costs, before);
    let (watch, engine, valid) = (Watch::new(&trainer), Engine::cpu(), share);
    let (average, report) = (None, None);
    Ok(Training {
        trainer,
        engine,
        preparation,
        split,
        best,
        valid,
        costs,
        rule,
        calibrate,
        average,
        report,
        watch,
        held_out,
    })
}

/// The configuration with the length and the settings of what is left.
fn changed(run: &Resume, config: &Config) -> Result<Config> {
    method::check_once(&run.set)?;
    let mut changed = Config { length: run.length.unwrap_or(config.length), ..config.clone() };
    for (name, value) in &run.set {
        match changed.settings.iter_mut().rev().find(|(set, _)| set == name) {
            Some((_, before)) => before.clone_from(value),
            None => changed.settings.push((name.clone(), value.clone())),
        }
    }
    Ok(changed)
}

/// What kept the best model of a saved run, and goes on keeping it.
fn kept<T: Real>(
    decision: &DecisionPlan,
    run: &Resume,
    trainer: &Trainer<T>,
    saved: Option<Vec<u8>>,
    valid: Option<Dataset<T>>,
) -> Result<Option<Best<T>>> {
    let Some(saved) = saved else {
        return match decision.valid {
            Some(_) => Err(differs(run, "set of validation rows (--valid)")),
            None => Ok(None),
        };
    };
    let Some(valid) = valid else {
        return Err(of_file(run, &"saved with validation rows of another file; name it (--valid)"));
    };
    let best = Best::load(&saved, trainer, Arc::new(valid)).map_err(|error| of_file(run, &error))?;
    decision.differs_of(&best).map_or(Ok(Some(best)), |what| Err(differs(run, what)))
}

/// The first option that says something else than a saved run.
fn contradicted_run(
    rows: &RowsPlan,
    run: &Resume,
    config: &Config,
    split: Option<f64>,
    preparation: &Preparation,
) -> Option<&'static str> {
    let init = run.init.filter(|init| *init != Init::Auto);
    let all = [
        ("method", run.method.as_ref().is_some_and(|method| *method != config.method)),
        ("model", run.model.as_ref().is_some_and(|model| *model != config.model)),
        ("list of constraints", !run.constraints.is_empty() && run.constraints != config.constraints),
        ("start of the network (--init)", init.is_some_and(|init| init != config.init)),
        ("seed", run.seed.is_some_and(|seed| seed != config.seed)),
        ("false-positive range", run.fpr.is_some_and(|fpr| fpr != config.fpr)),
        ("split", rows.split.is_some() && rows.split != split),
        ("split (--test is given)", rows.test.is_some() && split.is_some()),
        ("scaling", rows.data.options.scale.is_some_and(|scale| scale != preparation.scale())),
    ];
    all.into_iter().find(|(_, other)| *other).map(|(what, _)| what)
}
