//! Many runs on a graphics adapter: those that can go side by side in one fleet, the others on the processor.

use super::backend::{Backend, Cpu, Hear, List, Told};
use crate::device::{self, Choice, rate};
use crate::error::{CliError, Result};
use crate::output;
use crate::walk::{self, Due, Training};
use std::collections::BTreeSet;
use std::iter;
use std::mem;
use std::sync::Arc;
use std::thread;
use undercurve::trainer::Trainer;
use undercurve_gpu::{Context, Fleet};

/// A run and its number, its trainer, when it is told of, and whether it has ended.
type Work<'a> = (((&'a mut (usize, Training<f32>), &'a mut Trainer<f32>), &'a mut Due), &'a mut bool);

/// A graphics adapter, and the processor for what it has no kernel for.
pub struct Gpu {
    context: Context,
    choice: Choice,
    rest: Cpu,
}

/// What trains the runs of a list under this choice, and why.
///
/// # Errors
/// [`CliError::Input`] when the user has to choose another adapter.
pub fn backend(
    choice: &Choice,
    threads: usize,
    list: &List<'_, f32>,
) -> Result<(Box<dyn Backend<f32>>, Option<String>)> {
    let cpu = || Box::new(Cpu { threads });
    let name = match choice {
        Choice::Cpu => return Ok((cpu(), None)),
        Choice::Named(name) => Some(&**name),
        Choice::Gpu | Choice::Auto => None,
    };
    let context = match device::adapter(name) {
        Ok(context) => context,
        Err(error) if *choice == Choice::Auto => return Ok((cpu(), Some(format!("CPU: {error}")))),
        Err(error) => {
            return device::refused(&error).map(|why| (cpu() as _, Some(format!("{why}; training on the CPU"))));
        }
    };
    let software = device::software(&context);
    let gpu = Gpu { context, choice: choice.clone(), rest: Cpu { threads } };
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
        let trainers: Vec<_> = group.into_iter().map(|(_, training)| training.trainer).collect();
        let mut one = trainers[0].clone();
        let mut fleet = Fleet::new(&self.context, trainers).map_err(|error| error.to_string())?;
        let done = |fleet: &mut Fleet| fleet.sync().iter().map(|trainer| trainer.steps_done()).sum::<u64>();
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
        mut fleet: Fleet,
        mut group: Vec<(usize, Training<f32>)>,
    ) -> Result<()> {
        let every = list.args.every;
        let stops: BTreeSet<u64> = group.iter().flat_map(|(_, one)| stops(&one.trainer, every)).collect();
        let mut dues: Vec<Due> = group.iter().map(|(_, one)| Due::new(&one.trainer, list.args.every)).collect();
        let mut ended = vec![false; group.len()];
        let mut at = 0;
        for stop in stops {
            fleet.advance(stop - at);
            at = stop;
            if walk::stopped().is_some() {
                return Ok(());
            }
            let trainers = fleet.sync();
            let mut work: Vec<Work<'_>> = group.iter_mut().zip(trainers).zip(&mut dues).zip(&mut ended).collect();
            let each = work.len().div_ceil(self.rest.threads.max(1));
            thread::scope(|scope| {
                let look_at = |part: &mut [Work<'_>]| {
                    part.iter_mut().try_for_each(|(((run, trainer), due), ended)| {
                        let (at, training) = &mut **run;
                        // (The trainer is where it is looked at for that time.)
                        mem::swap(&mut training.trainer, trainer);
                        let heard = if **ended {
                            Ok(())
                        } else {
                            look(*at, training, due, (list.looks(), stop == 0), ended, hear)
                        };
                        mem::swap(&mut training.trainer, trainer);
                        heard
                    })
                };
                let parts: Vec<_> = work.chunks_mut(each).map(|part| scope.spawn(move || look_at(part))).collect();
                parts.into_iter().try_for_each(|part| match part.join() {
                    Ok(heard) => heard,
                    Err(_) => Err(anyhow::anyhow!("a worker failed").into()),
                })
            })?;
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
            if let Some(failure) = fleet.failure().filter(|_| fleet.is_renewable()) {
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
        }
        group.iter().for_each(|(run, _)| list.done(*run));
        Ok(())
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
    iter::successors(Some(0), move |&at| (at < end).then(|| walk::next_stop(trainer, every, at)))
}

/// The runs of a list by what can go side by side.
struct Sorted {
    /// Runs of one shape on one data set.
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
        let shape = match training.trainer.lane() {
            Ok(lane) => lane.shape,
            Err(error) => {
                sorted.whys.insert(error.to_string());
                sorted.alone.push(at);
                continue;
            }
        };
        let like = |group: &&mut Vec<(usize, Training<f32>)>| {
            let other = &group[0].1.trainer;
            Arc::ptr_eq(other.train_data(), training.trainer.train_data())
                && other.lane().is_ok_and(|lane| lane.shape == shape)
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
        format!("gpu: {}", self.context.name())
    }

    fn train(&self, list: &List<'_, f32>, hear: &Hear<'_, f32>) -> Result<()> {
        let Sorted { groups, mut alone, mut whys, failed } = sorted(list);
        for (at, error) in failed {
            hear(at, Told::Failed(error))?;
            list.done(at);
        }
        for group in groups {
            if walk::stopped().is_some() {
                return Ok(());
            }
            let trainers = group.iter().map(|(_, training)| training.trainer.clone()).collect();
            match Fleet::new(&self.context, trainers) {
                Ok(fleet) => self.side_by_side(list, hear, fleet, group)?,
                Err(error) => {
                    whys.insert(error.to_string());
                    alone.extend(group.iter().map(|(at, _)| *at));
                }
            }
        }
        for why in whys {
            output::note(format_args!("{why}; training on the CPU"));
        }
        self.rest.train_these(list, &alone, hear)
    }
}
