//! The trainings of `compare`: every method on every fold, several at a time.

use super::{Plan, tune};
use crate::args::candidates::Candidate;
use crate::error::{CliError, Result};
use crate::output;
use crate::run::shared::Shared;
use crate::run::store::{self, Store};
use crate::tell;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use undercurve::data::{Dataset, Preparation, RawTable};
use undercurve::trainer::{Config, Trainer};

/// A finished training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trained {
    /// The metric on the held-out rows.
    pub value: f64,
    pub seconds: f64,
    /// With `--tune` the settings that were chosen, and whether they lie at an end of the grid.
    pub chosen: Vec<(String, String)>,
    pub edge: bool,
}

/// A candidate on all folds.
pub struct Row {
    pub candidate: Candidate,
    pub trained: Vec<Trained>,
}

impl Row {
    pub fn values(&self) -> Vec<f64> {
        self.trained.iter().map(|one| one.value).collect()
    }

    /// Of one training, in the mean.
    pub fn seconds(&self) -> f64 {
        self.trained.iter().map(|one| one.seconds).sum::<f64>() / self.trained.len() as f64
    }
}

/// What there is to do.
pub struct Job<'a> {
    pub plan: &'a Plan,
    pub table: &'a RawTable,
    /// Fitted on all rows.
    pub whole: &'a Preparation,
    /// Of every repeat the fold of each row.
    pub folds: &'a [Vec<usize>],
    /// Tells data sets apart.
    pub data: u64,
}

/// Seconds from which on they are foretold.
const LONG: f64 = 10.0;

/// How long all will take, by the trainings of one split.
struct Foretold {
    splits: usize,
    /// Trainings of the first split that are open, and what the others took.
    first: Mutex<(usize, f64)>,
}

impl Foretold {
    fn new(splits: usize, candidates: usize) -> Self {
        Self { splits, first: Mutex::new((candidates, 0.0)) }
    }

    /// Seconds of all other splits, said once: when the first is done.
    fn of(&self, split: usize, seconds: f64) -> Option<f64> {
        if split > 0 {
            return None;
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        *first = (first.0.saturating_sub(1), first.1 + seconds);
        (first.0 == 0 && self.splits > 1).then(|| first.1 * (self.splits - 1) as f64)
    }
}

/// Training rows and held-out rows of a fold.
type Parts = [Arc<Dataset<f32>>; 2];

impl Job<'_> {
    /// A method at its defaults, for these training rows.
    ///
    /// # Errors
    /// `Input` for weights of classes that do not fit them.
    pub fn config(&self, candidate: &Candidate, train: &Dataset<f32>) -> Result<Config> {
        let Plan { seed, fpr, .. } = *self.plan;
        let (method, model) = (candidate.method.to_string(), candidate.model.clone());
        let class_weights = self.plan.data.class_weights(self.whole, train)?;
        Ok(Config { method, model, seed, fpr, class_weights, ..Config::default() })
    }

    /// A name for a training, which says all that it depends on.
    fn name(&self, candidate: &Candidate, split: usize) -> String {
        let Plan { metric, folds, fpr, seed, tune, data, .. } = self.plan;
        let weights = data.class_weight.as_ref().map_or_else(String::new, |text| format!(" class weights {text}"));
        let (repeat, fold) = (split / folds, split % folds);
        let tuned = if *tune { " tuned" } else { "" };
        let pauc = if *metric == "pauc" { format!(" {}:{}", fpr.0, fpr.1) } else { String::new() };
        format!(
            "{:016x} {} {}{tuned}{weights} {}{pauc} seed {seed} repeat {repeat} fold {fold} of {folds}",
            self.data, candidate.method, candidate.model, metric
        )
    }

    /// Trains every method on every fold.
    ///
    /// # Errors
    /// `Input` for a method that breaks down, and for a file of finished trainings that is none.
    pub fn measure(&self) -> Result<Vec<Row>> {
        let (plan, candidates) = (self.plan, &self.plan.candidates);
        let store = Store::<Trained>::open(plan.resume.as_deref())?;
        let splits = plan.folds * plan.repeats;
        let jobs: Vec<(usize, &Candidate)> =
            (0..splits).flat_map(|split| candidates.iter().map(move |candidate| (split, candidate))).collect();
        let open: Vec<(usize, &Candidate)> = jobs
            .iter()
            .filter(|(split, candidate)| store.get(&self.name(candidate, *split)).is_none())
            .copied()
            .collect();
        let bar = tell::bar(jobs.len() as u64, "{bar:30} {pos}/{len} trainings  {msg}  {eta} left");
        bar.inc((jobs.len() - open.len()) as u64);
        bar.reset_eta();
        let parts = Shared::new((0..splits).map(|split| open.iter().filter(|job| job.0 == split).count()));
        let workers = plan.threads.unwrap_or_else(store::cores).min(open.len().max(1));
        let first = Foretold::new(splits, candidates.len());
        let done = store::in_parallel(&open, workers, |&(split, candidate)| {
            bar.set_message(candidate.method);
            let both = parts.get(split, || self.parts(split))?;
            let trained = self.train(candidate, split, &both)?;
            if let Some(seconds) = first.of(split, trained.seconds)
                && seconds / workers as f64 > LONG
            {
                let left = candidates.len() * (splits - 1);
                bar.suspend(|| {
                    output::note(format_args!(
                        "the other {left} trainings take about {seconds:.0} s, some {:.0} s with {workers} at a time",
                        seconds / workers as f64
                    ));
                });
            }
            parts.done(split);
            bar.inc(1);
            store.put(self.name(candidate, split), trained)
        });
        bar.finish_and_clear();
        done?;
        let row = |candidate: &Candidate| {
            let trained = (0..splits).filter_map(|split| store.get(&self.name(candidate, split))).collect();
            Row { candidate: candidate.clone(), trained }
        };
        Ok(candidates.iter().map(row).collect())
    }

    /// Training rows and held-out rows, with the preparation that is fitted on the former.
    fn parts(&self, split: usize) -> Result<Parts> {
        let folds = &self.folds[split / self.plan.folds];
        let held = split % self.plan.folds;
        let (test, train): (Vec<u32>, Vec<u32>) = (0..folds.len() as u32).partition(|&row| folds[row as usize] == held);
        let preparation = Preparation::fit_rows(self.table, &self.plan.data.options, &train)?;
        let part = |rows: &[u32]| preparation.apply_rows::<f32>(self.table, rows).map(Arc::new);
        Ok([part(&train)?, part(&test)?])
    }

    fn train(&self, candidate: &Candidate, split: usize, [train, test]: &Parts) -> Result<Trained> {
        let (plan, clock) = (self.plan, Instant::now());
        let place = match plan.repeats {
            1 => format!("fold {}", split + 1),
            _ => format!("fold {} of repeat {}", split % plan.folds + 1, split / plan.folds + 1),
        };
        let failed = |error| CliError::input(format!("{} broke down on {place}: {error}", candidate.method));
        let (config, edge) = match plan.tune {
            true => {
                let choice = tune::choose(&self.config(candidate, train)?, train, plan.metric, plan.seed)?;
                (choice.config, choice.edge)
            }
            false => (self.config(candidate, train)?, false),
        };
        let mut trainer = Trainer::new(&config, train.clone(), None)?;
        while trainer.step().map_err(failed)?.is_some() {}
        let seconds = clock.elapsed().as_secs_f64();
        let value = trainer.evaluate(test).map_err(failed)?.get(plan.metric).unwrap_or(f64::NAN);
        Ok(Trained { value, seconds, chosen: config.settings, edge })
    }
}
