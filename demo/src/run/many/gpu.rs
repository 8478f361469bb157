//! Many runs on a graphics adapter: those that can go side by side in one fleet, the others on the processor.

use super::Chosen;
use super::backend::{Backend, Cpu, Hear, List, Told};
use crate::args::device::Choice;
use crate::error::{CliError, Result};
use crate::output;
use crate::run::device::able::{Runs, able};
use crate::run::device::{self, rate};
use crate::run::due::{Due, next_stop};
use crate::run::stop::stopped;
use crate::run::training::Training;
use std::collections::BTreeSet;
use std::iter;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use undercurve::trainer::Trainer;
use undercurve_gpu::{Context, GpuError, MultiTrainer};

/// A run and its number, its trainer, when it is told of, and whether it has ended.
type Work<'a> = (((&'a mut (usize, Training<f32>), &'a mut Trainer<f32>), &'a mut Due), &'a mut bool);

/// A graphics adapter, and the processor for what it has no kernel for.
pub struct Gpu {
    context: Context,
    choice: Choice,
    rest: Cpu,
    /// Steps that adapters were given.
    made: AtomicU64,
    /// Whether it has trained, and whether some runs were the processor's.
    trained: AtomicBool,
    mixed: AtomicBool,
}

/// What trains the runs of a list under this choice, and why.
pub fn backend(choice: &Choice, threads: usize, list: &List<'_, f32>) -> Chosen<f32> {
    let cpu = || Box::new(Cpu { threads });
    let name = match choice {
        Choice::Cpu => return Ok((cpu(), None)),
        Choice::Named(name) => Some(&**name),
        Choice::Gpu | Choice::Auto => None,
    };
    if *choice != Choice::Auto {
        // (Settings decide, which all seeds share.)
        for at in 0..list.grid.points() {
            able(&list.make(at)?.trainer, Runs::Many).map_err(|why| device::refusal(choice, &why))?;
        }
    }
    let context = match device::adapter(name) {
        Ok(context) => context,
        Err(error) if *choice == Choice::Auto => {
            return Ok((cpu(), Some(format!("CPU: {}", device::why_none(&error)))));
        }
        Err(error) if device::is_failure(&error) => {
            return Ok((cpu(), Some(format!("{}; training on the CPU", device::why_none(&error)))));
        }
        Err(error) => return Err(device::refusal(choice, &device::why_none(&error))),
    };
    let software = device::software(&context);
    let gpu = Gpu {
        context,
        choice: choice.clone(),
        rest: Cpu { threads },
        made: AtomicU64::new(0),
        trained: AtomicBool::new(false),
        mixed: AtomicBool::new(false),
    };
    if *choice != Choice::Auto {
        return Ok((Box::new(gpu), software));
    }
    let (runs, name) = (list.runs.len(), gpu.context.name().to_string());
    match gpu.trial(list) {
        Err(why) => Ok((cpu(), Some(format!("CPU: {why}")))),
        Ok(ratio) if ratio > 1.0 => {
            let reason = format!("GPU: {runs} runs {ratio:.1} times faster on {name} than on this CPU, tried for .1 s");
            Ok((Box::new(gpu), Some(reason)))
        }
        Ok(ratio) => {
            let ratio = 1.0 / ratio;
            Ok((cpu(), Some(format!("CPU: {runs} runs {ratio:.1} times faster here than on {name}, tried for .1 s"))))
        }
    }
}

impl Gpu {
    /// How many times faster than the processor with all its threads it is, for the largest part of the runs that can go side by
    /// side; or why it has nothing to say.
    fn trial(&self, list: &List<'_, f32>) -> std::result::Result<f64, String> {
        let Sorted { groups, whys, .. } = sorted(list);
        let Some(group) = groups.into_iter().max_by_key(Vec::len) else {
            return Err(whys.into_iter().next().unwrap_or_else(|| "no run can be made".to_string()));
        };
        let mut trainers: Vec<_> = group.into_iter().map(|(_, training)| training.trainer).collect();
        let mut one = trainers[0].clone();
        // (As many as fit, where all do not.)
        let mut fleet = loop {
            match MultiTrainer::new(&self.context, trainers.clone()) {
                Err(GpuError::TooLarge { .. }) if trainers.len() > 1 => trainers.truncate(trainers.len() / 2),
                fleet => break fleet.map_err(|error| error.to_string())?,
            }
        };
        let done = |fleet: &mut MultiTrainer| fleet.sync().iter().map(|trainer| trainer.steps_done()).sum::<u64>();
        let mut before = done(&mut fleet);
        let mut steps = 4;
        let gpu = rate(|| {
            steps *= 2;
            fleet.advance(steps);
            let after = done(&mut fleet);
            after - std::mem::replace(&mut before, after)
        });
        if let Some(failure) = fleet.failure() {
            return Err(failure.to_string());
        }
        let cpu = rate(|| u64::from(matches!(one.step(), Ok(Some(_)))));
        if gpu == 0.0 || cpu == 0.0 {
            return Err("these runs are over before a trial is".to_string());
        }
        Ok(gpu / (cpu * self.rest.threads.min(list.runs.len()) as f64))
    }

    /// Trains runs that are of one shape.
    fn side_by_side(
        &self,
        list: &List<'_, f32>,
        hear: &Hear<'_, f32>,
        mut fleet: MultiTrainer,
        mut group: Vec<(usize, Training<f32>)>,
    ) -> Result<()> {
        let every = list.manner.every;
        let stops: BTreeSet<u64> = group.iter().flat_map(|(_, one)| stops(&one.trainer, every)).collect();
        let mut dues: Vec<Due> = group.iter().map(|(_, one)| Due::new(&one.trainer, list.manner.every)).collect();
        let mut ended = vec![false; group.len()];
        let mut at = 0;
        for stop in stops {
            fleet.advance(stop - at);
            at = stop;
            if stopped().is_some() {
                return Ok(());
            }
            let trainers = fleet.sync();
            let mut work: Vec<Work<'_>> = group.iter_mut().zip(trainers).zip(&mut dues).zip(&mut ended).collect();
            self.look_at(&mut work, (list.many.looks(), stop == 0), hear)?;
            let errors: Vec<_> = (0..group.len()).map(|at| fleet.error(at).copied()).collect();
            for (((run, training), trainer), (ended, error)) in
                group.iter_mut().zip(fleet.sync()).zip(ended.iter_mut().zip(errors))
            {
                if let (Some(error), false) = (error, *ended) {
                    *ended = true;
                    mem::swap(&mut training.trainer, trainer);
                    hear(*run, Told::Failed(training.failed(error)))?;
                }
            }
            if ended.iter().all(|&ended| ended) {
                break;
            }
            self.renew(&mut fleet);
        }
        group.iter().for_each(|(run, _)| list.done(*run));
        self.made.fetch_add(fleet.made(), Ordering::Relaxed);
        Ok(())
    }

    /// Looks at runs that have come to a stop, on all threads.
    fn look_at(&self, work: &mut [Work<'_>], asked: (bool, bool), hear: &Hear<'_, f32>) -> Result<()> {
        let each = work.len().div_ceil(self.rest.threads.max(1));
        let part = |part: &mut [Work<'_>]| {
            part.iter_mut().filter(|work| !*work.1).try_for_each(|(((run, trainer), due), ended)| {
                let (at, training) = &mut **run;
                // (The trainer is where it is looked at for that time.)
                mem::swap(&mut training.trainer, trainer);
                let heard = look(*at, training, due, asked, ended, hear);
                mem::swap(&mut training.trainer, trainer);
                heard
            })
        };
        thread::scope(|scope| {
            let parts: Vec<_> = work.chunks_mut(each).map(|work| scope.spawn(move || part(work))).collect();
            parts.into_iter().try_for_each(|part| match part.join() {
                Ok(heard) => heard,
                Err(_) => Err(anyhow::anyhow!("a worker failed").into()),
            })
        })
    }

    /// Puts another adapter in the place of one that failed, or leaves the rest to the processor.
    fn renew(&self, fleet: &mut MultiTrainer) {
        let Some(failure) = fleet.failure().filter(|_| fleet.is_renewable()) else { return };
        let why = device::one_line(&failure.to_string());
        let name = if let Choice::Named(name) = &self.choice { Some(&**name) } else { None };
        match device::adapter(name) {
            Ok(context) => {
                output::note(format_args!("{why}; training goes on on {}", context.name()));
                fleet.renew(&context);
            }
            Err(_) => output::note(format_args!("{why}; training goes on on the CPU")),
        }
    }

    /// Trains runs of one shape, all side by side or, where their rows do not fit, half of them after the other. What is left, and why.
    fn as_many_as_fit(
        &self,
        list: &List<'_, f32>,
        hear: &Hear<'_, f32>,
        group: Vec<(usize, Training<f32>)>,
    ) -> Result<Vec<(usize, GpuError)>> {
        let (mut groups, mut left) = (vec![group], Vec::new());
        while let Some(mut group) = groups.pop() {
            if stopped().is_some() {
                break;
            }
            let trainers = group.iter().map(|(_, training)| training.trainer.clone()).collect();
            match MultiTrainer::new(&self.context, trainers) {
                Ok(fleet) => self.side_by_side(list, hear, fleet, group)?,
                Err(GpuError::TooLarge { .. }) if group.len() > 1 => {
                    let second = group.split_off(group.len().div_ceil(2));
                    groups.extend([second, group]);
                }
                Err(error) => left.extend(group.iter().map(|(at, _)| (*at, error.clone()))),
            }
        }
        Ok(left)
    }
}

/// Looks at a run that has come to a stop, as the processor's walk does.
fn look(
    at: usize,
    training: &mut Training<f32>,
    due: &mut Due,
    (looks, first): (bool, bool),
    ended: &mut bool,
    hear: &Hear<'_, f32>,
) -> Result<()> {
    if let Err(error) = training.look() {
        *ended = true;
        return hear(at, Told::Failed(error));
    }
    let (due, over) = (due.is_now(&training.trainer), training.is_over());
    let progress = training.trainer.progress();
    if over || looks && (first || due) {
        match training.measure() {
            Ok(report) => hear(at, Told::At(progress, Some(report)))?,
            Err(error) => {
                *ended = true;
                return hear(at, Told::Failed(error));
            }
        }
    } else if due {
        hear(at, Told::At(progress, None))?;
    }
    if over {
        *ended = true;
        hear(at, Told::Ended(training))?;
    }
    Ok(())
}

/// All steps from the first at which a run is looked at.
fn stops(trainer: &Trainer<f32>, every: Option<u64>) -> impl Iterator<Item = u64> {
    let end = trainer.total_steps();
    iter::successors(Some(0), move |&at| (at < end).then(|| next_stop(trainer, every, at)))
}

/// The runs of a list by what can go side by side.
struct Sorted {
    /// Runs of one shape.
    groups: Vec<Vec<(usize, Training<f32>)>>,
    /// Runs whose steps no kernel can make, and why.
    alone: Vec<usize>,
    whys: BTreeSet<String>,
    /// Runs that cannot be made.
    failed: Vec<(usize, CliError)>,
}

fn sorted(list: &List<'_, f32>) -> Sorted {
    let mut sorted = Sorted { groups: Vec::new(), alone: Vec::new(), whys: BTreeSet::new(), failed: Vec::new() };
    for at in 0..list.runs.len() {
        let training = match list.make(at) {
            Ok(training) => training,
            Err(error) => {
                sorted.failed.push((at, error));
                continue;
            }
        };
        if let Err(why) = able(&training.trainer, Runs::Many) {
            sorted.whys.insert(why);
            sorted.alone.push(at);
            continue;
        }
        let like = |group: &&mut Vec<(usize, Training<f32>)>| {
            MultiTrainer::together(&group[0].1.trainer, &training.trainer).unwrap_or(false)
        };
        match sorted.groups.iter_mut().find(like) {
            Some(group) => group.push((at, training)),
            None => sorted.groups.push(vec![(at, training)]),
        }
    }
    sorted
}

impl Backend<f32> for Gpu {
    fn name(&self) -> String {
        let (adapter, rest) = (format!("gpu: {}", self.context.name()), Backend::<f32>::name(&self.rest));
        let made = self.made.load(Ordering::Relaxed);
        match (self.trained.load(Ordering::Relaxed), self.mixed.load(Ordering::Relaxed)) {
            (true, _) if made == 0 => rest,
            (true, true) => format!("{adapter}, and {rest}"),
            _ => adapter,
        }
    }

    fn given(&self) -> Option<[u64; 2]> {
        let given = self.context.given();
        Some([given.pipelines, given.dispatches])
    }

    fn train(&self, list: &List<'_, f32>, hear: &Hear<'_, f32>) -> Result<()> {
        self.trained.store(true, Ordering::Relaxed);
        let Sorted { groups, mut alone, mut whys, failed } = sorted(list);
        for (at, error) in failed {
            hear(at, Told::Failed(error))?;
            list.done(at);
        }
        for group in groups {
            for (at, error) in self.as_many_as_fit(list, hear, group)? {
                let why = device::one_line(&error.to_string());
                if self.choice == Choice::Auto || device::is_failure(&error) {
                    whys.insert(why);
                    alone.push(at);
                } else {
                    hear(at, Told::Failed(device::refusal(&self.choice, &why)))?;
                    list.done(at);
                }
            }
        }
        if stopped().is_some() {
            return Ok(());
        }
        for why in whys {
            output::note(format_args!("{why}; training on the CPU"));
        }
        self.mixed.store(!alone.is_empty(), Ordering::Relaxed);
        self.rest.train_these(list, &alone, hear)
    }
}
