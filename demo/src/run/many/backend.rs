//! What trains the runs of `--seeds` and `--grid`: a [`Backend`], the threads of this processor for now.

use crate::args::decide::DecisionPlan;
use crate::args::grid::Grid;
use crate::args::many::ManyPlan;
use crate::args::method;
use crate::args::train::{Manner, New, RowsPlan};
use crate::error::{CliError, Result};
use crate::run::due::Due;
use crate::run::rows::{Prepared, Read, Start};
use crate::run::stop::stopped;
use crate::run::store;
use crate::run::training::Training;
use undercurve::Real;
use undercurve::data::Target;
use undercurve::trainer::{Config, Report};
use undercurve_search::Shared;

/// One run of the list.
#[derive(Clone, Debug)]
pub struct Spec {
    pub seed: u64,
    /// The settings that differ from run to run.
    pub settings: Vec<(String, String)>,
}

/// The list, and how each run of it is made: as `train` makes that of its seed and settings, to the bit.
pub struct List<'a, T: Real> {
    pub rows: &'a RowsPlan,
    decision: &'a DecisionPlan,
    pub manner: &'a Manner,
    pub many: &'a ManyPlan,
    /// With whole numbers where the method takes no others.
    pub grid: Grid,
    /// What is common to all.
    read: Read,
    start: Option<Start<T>>,
    pub runs: Vec<Spec>,
    /// What is to be said of how the rows were read.
    pub notes: Vec<String>,
    /// Their rows: one for each seed, where these draw other ones, else one for all.
    prepared: Shared<Prepared<T>>,
    /// Runs that follow each other with the same rows.
    together: usize,
}

impl<'a, T: Real> List<'a, T> {
    /// Reads the rows, and checks the settings of every run, in order of their seeds.
    pub fn new(
        rows: &'a RowsPlan,
        decision: &'a DecisionPlan,
        manner: &'a Manner,
        new: &New,
        many: &'a ManyPlan,
    ) -> Result<Self> {
        let start = Start::of(new, &rows.data)?;
        let read = Read::new(rows, new, start.as_ref())?;
        let method = new.method.of_classes().filter(|_| read.options.target == Target::Classes).unwrap_or(new.method);
        let grid = many.grid.of(method).map_err(|error| CliError::input(format!("--grid {error}")))?;
        let (points, from) = (grid.points(), read.config.seed);
        let runs =
            (0..many.runs()).map(|at| Spec { seed: from + (at / points) as u64, settings: grid.point(at % points) });
        let runs: Vec<Spec> = runs.collect();
        let notes = read.notes(rows, new);
        // (What costs stand for is found by a run of the seed.)
        let by_seed = splits(rows, decision) || decision.costs.is_some();
        let together = if by_seed { points } else { runs.len() };
        let prepared = Shared::new((0..runs.len() / together).map(|_| together));
        let list = Self { rows, decision, manner, many, grid, read, start, runs, notes, prepared, together };
        for spec in &list.runs[..points] {
            let settings = list.settings(&spec.settings);
            method::check_settings(method, &Config { settings, ..list.read.config.clone() })?;
        }
        Ok(list)
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        &self.read.config.method
    }

    /// Whether each seed has rows of its own.
    pub fn splits(&self) -> bool {
        splits(self.rows, self.decision)
    }

    /// A run, before its first step.
    pub fn make(&self, at: usize) -> Result<Training<T>> {
        let Spec { seed, settings } = &self.runs[at];
        let Read { config, options, table } = &self.read;
        let prepared = self.prepared.get(at / self.together, || {
            let config = Config { seed: *seed, ..config.clone() };
            Prepared::new(self.rows, self.decision, config, options, table, self.start.as_ref())
        })?;
        let config = Config { seed: *seed, settings: self.settings(settings), ..prepared.config().clone() };
        prepared.training(self.decision, &config, self.start.as_ref().map(|start| start.model.clone()))
    }

    /// All settings of a run with these of its own.
    fn settings(&self, own: &[(String, String)]) -> Vec<(String, String)> {
        let common = self.read.config.settings.iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        common.chain(own).cloned().collect()
    }

    /// Says that a run has ended, so that rows that none is left for are dropped.
    pub fn done(&self, at: usize) {
        self.prepared.done(at / self.together);
    }
}

fn splits(rows: &RowsPlan, decision: &DecisionPlan) -> bool {
    rows.split.is_some() || decision.valid_share().is_some()
}

/// What is told of a run.
pub enum Told<'a, T: Real> {
    /// How far it is, as often as `train` reports; with a report where there are to be some on the way ([`ManyPlan::looks`]).
    At((u64, u64), Option<&'a Report>),
    /// It is at its end, and `report` of it is of this step.
    Ended(&'a mut Training<T>),
    /// It came to nothing.
    Failed(CliError),
}

/// Who hears it, from any thread; an error ends the work.
pub type Hear<'a, T> = dyn Fn(usize, Told<'_, T>) -> Result<()> + Sync + 'a;

/// Trains a list of runs.
pub trait Backend<T: Real> {
    /// What people call it; when it has trained, by what that really was.
    fn name(&self) -> String;

    /// Pipelines that a graphics adapter built, and dispatches that it was given; `None` of the processor.
    fn given(&self) -> Option<[u64; 2]> {
        None
    }

    /// Trains every run of the list, each from [`List::make`], and tells of it by its number; on Ctrl-C
    /// ([`stopped`]) it leaves those that have not ended.
    ///
    /// # Errors
    /// Those of `hear`. A run that fails is told.
    fn train(&self, list: &List<'_, T>, hear: &Hear<'_, T>) -> Result<()>;
}

/// Threads of this processor, each with a run of its own.
pub struct Cpu {
    pub threads: usize,
}

impl<T: Real> Backend<T> for Cpu {
    fn name(&self) -> String {
        format!("cpu, {} thread{}", self.threads, if self.threads == 1 { "" } else { "s" })
    }

    fn train(&self, list: &List<'_, T>, hear: &Hear<'_, T>) -> Result<()> {
        self.train_these(list, &(0..list.runs.len()).collect::<Vec<_>>(), hear)
    }
}

impl Cpu {
    /// Trains some of the runs.
    pub fn train_these<T: Real>(&self, list: &List<'_, T>, jobs: &[usize], hear: &Hear<'_, T>) -> Result<()> {
        store::in_parallel(jobs, self.threads, |&at| {
            let ended = match list.make(at) {
                _ if stopped().is_some() => return Ok(()),
                Ok(mut training) => match until_end(&mut training, list, &|told| hear(at, told))? {
                    Ended::Stopped => return Ok(()),
                    Ended::Done => hear(at, Told::Ended(&mut training)),
                    Ended::Failed(error) => hear(at, Told::Failed(error)),
                },
                Err(error) => hear(at, Told::Failed(error)),
            };
            list.done(at);
            ended
        })
    }
}

/// How a run came out.
enum Ended {
    Done,
    Stopped,
    Failed(CliError),
}

/// Steps a run, and reports on it at its end and as often as the loop of one does.
fn until_end<T: Real>(
    training: &mut Training<T>,
    list: &List<'_, T>,
    hear: &dyn Fn(Told<'_, T>) -> Result<()>,
) -> Result<Ended> {
    let mut due = Due::new(&training.trainer, list.manner.every);
    let (mut report_due, mut reported) = (true, None);
    loop {
        let (over, done) = (training.is_over(), training.trainer.steps_done());
        // (A full gradient moves the run along without a step: nothing new to report.)
        if over || report_due && reported != Some(done) {
            (report_due, reported) = (false, Some(done));
            let progress = training.trainer.progress();
            if over || list.many.looks() {
                match training.measure() {
                    Ok(report) => hear(Told::At(progress, Some(report)))?,
                    Err(error) => return Ok(Ended::Failed(error)),
                }
            } else {
                hear(Told::At(progress, None))?;
            }
        }
        if over {
            return Ok(Ended::Done);
        }
        if stopped().is_some() {
            return Ok(Ended::Stopped);
        }
        if let Err(error) = training.advance(1) {
            return Ok(Ended::Failed(error));
        }
        report_due |= due.is_now(&training.trainer);
    }
}
