//! What trains the runs of `--seeds` and `--grid`: a [`Backend`], the threads of this processor for now.

use crate::args::train::Args;
use crate::error::{CliError, Result};
use crate::run::device::Engine;
use crate::run::parts::Parts;
use crate::run::shared::Shared;
use crate::run::store;
use crate::run::walk::{self, Due, Training};
use undercurve::Real;
use undercurve::data::{Options, RawTable};
use undercurve::trainer::{Config, Predictor, Report};

/// One run of the list.
#[derive(Clone, Debug)]
pub struct Spec {
    pub seed: u64,
    /// The settings that differ from run to run.
    pub settings: Vec<(String, String)>,
}

/// The list, and how each run of it is made: as `train` makes that of its seed and settings, to the bit.
pub struct List<'a, T: Real> {
    pub args: &'a Args,
    /// What is common to all.
    pub config: Config,
    pub options: Options,
    pub table: RawTable,
    pub first: Option<Predictor<T>>,
    pub runs: Vec<Spec>,
    /// Their rows: one for each seed, where these draw other ones, else one for all.
    parts: Shared<Parts<T>>,
    /// Runs that follow each other with the same rows.
    together: usize,
}

impl<'a, T: Real> List<'a, T> {
    /// Runs in order of their seeds, of which each has `points`.
    pub fn new(
        args: &'a Args,
        (config, options, table): (Config, Options, RawTable),
        first: Option<Predictor<T>>,
        runs: Vec<Spec>,
        points: usize,
    ) -> Self {
        // (What costs stand for is found by a run of the seed.)
        let by_seed = splits(args) || args.decision.has_costs();
        let together = if by_seed { points } else { runs.len() };
        let parts = Shared::new((0..runs.len() / together).map(|_| together));
        Self { args, config, options, table, first, runs, parts, together }
    }

    /// Runs of the first seed: one of each point.
    pub fn points(&self) -> usize {
        let seed = self.runs.first().map(|run| run.seed);
        self.runs.iter().take_while(|run| Some(run.seed) == seed).count()
    }

    /// A run, before its first step.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn make(&self, at: usize) -> Result<Training<T>> {
        let Spec { seed, settings } = &self.runs[at];
        let parts = self.parts.get(at / self.together, || {
            let config = Config { seed: *seed, ..self.config.clone() };
            Parts::new(self.args, config, &self.options, &self.table, self.first.as_ref())
        })?;
        let config = Config { seed: *seed, settings: self.settings(settings), ..parts.config().clone() };
        Ok(parts.made(self.args, &config, self.first.clone())?.training(Engine::cpu(), false))
    }

    /// Whether runs are measured on the way, which a picture of them needs: measuring takes longer than many steps.
    pub fn looks(&self) -> bool {
        looks(self.args)
    }

    /// All settings of a run with these of its own.
    pub fn settings(&self, own: &[(String, String)]) -> Vec<(String, String)> {
        let common = self.config.settings.iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        common.chain(own).cloned().collect()
    }

    /// Says that a run has ended, so that rows that none is left for are dropped.
    pub fn done(&self, at: usize) {
        self.parts.done(at / self.together);
    }
}

/// [`List::looks`].
pub fn looks(args: &Args) -> bool {
    args.many.plot.is_some() && args.many.grid.is_none()
}

/// Whether each seed has rows of its own.
pub fn splits(args: &Args) -> bool {
    args.split.is_some() || args.decision.valid_share().is_some()
}

/// What is told of a run.
pub enum Told<'a, T: Real> {
    /// How far it is, as often as `train` reports; with a report where there are to be some on the way ([`List::looks`]).
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
    /// ([`walk::stopped`]) it leaves those that have not ended.
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
    ///
    /// # Errors
    /// As [`Backend::train`].
    pub fn train_these<T: Real>(&self, list: &List<'_, T>, jobs: &[usize], hear: &Hear<'_, T>) -> Result<()> {
        store::in_parallel(jobs, self.threads, |&at| {
            let ended = match list.make(at) {
                _ if walk::stopped().is_some() => return Ok(()),
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

/// Steps a run, and reports on it at its end and as often as [`walk::walk`] does.
fn until_end<T: Real>(
    training: &mut Training<T>,
    list: &List<'_, T>,
    hear: &dyn Fn(Told<'_, T>) -> Result<()>,
) -> Result<Ended> {
    let mut due = Due::new(&training.trainer, list.args.every);
    let (mut report_due, mut reported) = (true, None);
    loop {
        let (over, done) = (training.is_over(), training.trainer.steps_done());
        // (A full gradient moves the run along without a step: nothing new to report.)
        if over || report_due && reported != Some(done) {
            (report_due, reported) = (false, Some(done));
            let progress = training.trainer.progress();
            if over || list.looks() {
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
        if walk::stopped().is_some() {
            return Ok(Ended::Stopped);
        }
        if let Err(error) = training.advance(1) {
            return Ok(Ended::Failed(error));
        }
        report_due |= due.is_now(&training.trainer);
    }
}
