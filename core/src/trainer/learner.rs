//! What a run by the wall of scores steps with: an estimator and the algorithm that follows its gradients, first those
//! of pre-training where it is asked for, and the memory that both change.

use super::config::{Config, Length, TrainerError, room};
use super::saved::{reals, write_reals};
use crate::algorithm::{Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Point, State};
use crate::checkpoint::{CheckpointError, Coded, MOST, Reader};
use crate::error::Result;
use crate::estimator::AnyEstimator;
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::Settings;
use crate::rng::Rng;
use alloc::vec;
use alloc::vec::Vec;

/// An estimator and the algorithm that follows its gradients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub estimator: AnyEstimator,
    pub algorithm: AnyAlgorithm,
}

/// Cross-entropy steps before the method's own.
#[derive(Clone, Copy, Debug)]
struct Pretraining {
    steps: u64,
    phase: Phase,
    /// Whether the last layer starts again after them.
    restart: bool,
}

/// How many steps a run has: those before the method's own and all together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub before: u64,
    pub total: u64,
}

impl Steps {
    /// With so many rows in all and in a batch. The settings are then those of a run with so many steps of its own.
    pub fn new(settings: &mut Settings<'_>, length: Length, rows: usize, batch: usize) -> Result<Self> {
        let steps = match length {
            Length::Method => {
                let steps = settings.count("steps")?;
                settings.set_steps(steps);
                let before = settings.pretrain_steps();
                Self { before, total: steps.saturating_add(before) }
            }
            Length::Steps(steps) => Self { before: settings.pretrain_steps_of(steps), total: steps },
            Length::Passes(passes) => {
                let steps = libm::ceil(passes * rows as f64 / batch as f64) as u64;
                Self { before: settings.pretrain_steps_of(steps), total: steps }
            }
        };
        settings.set_steps(steps.own());
        Ok(steps)
    }

    /// The method's own.
    pub fn own(self) -> u64 {
        self.total.saturating_sub(self.before)
    }
}

/// The memory of one gradient: where it is taken, and where it goes.
pub(super) struct Work<'a, T> {
    pub params: &'a [T],
    pub aux: &'a [T],
    pub grad: &'a mut [T],
    pub grad_aux: &'a mut [T],
    pub state: &'a mut [T],
}

/// Rows that a dual reset draws in one call at most, so that no call takes long and a run can be saved within it.
const PIECE: usize = 1 << 16;

/// A dual reset on its way: sums over the batches that are drawn.
#[derive(Clone, Debug)]
pub(super) struct Reset {
    /// Batches to draw.
    pub left: u64,
    pub sums: Vec<f64>,
    pub counts: Vec<u64>,
}

impl Reset {
    /// Batches of so many rows to draw in this call.
    pub fn piece(&self, rows: usize) -> u64 {
        self.left.min((PIECE / rows.max(1)).max(1) as u64)
    }
}

/// The phases of a run and everything that they change but the sampler's cursor.
#[derive(Clone, Debug)]
pub(super) struct Learner<T: Real> {
    pub method: Phase,
    pretraining: Option<Pretraining>,
    /// Parameters of the model. The auxiliaries of the estimator follow them in every point.
    pub params: usize,
    /// Weight of half the squared distance to the start of the method's own steps in what is minimised.
    pull: f64,
    /// Whether that start is kept: for the pull, or as an answer.
    keeps_start: bool,
    /// Steps that the schedule spans.
    pub total: u64,
    // What a checkpoint holds.
    pub steps: u64,
    pub drawn: u64,
    pub points: Vec<T>,
    /// Those of the algorithm and, where it is kept, the start of the method's own steps.
    slots: Vec<T>,
    counters: [u64; COUNTERS],
    pub state: Vec<T>,
    pub reset: Option<Reset>,
    // What it does not.
    /// The objective's estimate of the last step.
    pub value: f64,
    /// As long as the longest point.
    pub grad: Vec<T>,
}

impl<T: Real> Learner<T> {
    /// At step 0. `early` is the phase before the method's own, where `steps` has one; `state` the length of the
    /// estimators' state.
    pub fn new(
        method: Phase,
        early: Option<Phase>,
        steps: Steps,
        state: usize,
        settings: &Settings<'_>,
        config: &Config,
        model: &AnyModel,
    ) -> Result<Self, TrainerError> {
        let params = Model::<T>::param_len(model);
        let (low, high) = method.estimator.aux();
        room::<T>(&config.model, params.saturating_mul(8))?;
        let length = params + low + high;
        let copies = Algorithm::<T>::points(&method.algorithm);
        let early_slots = early.map_or(0, |phase| Algorithm::<T>::slots_len(&phase.algorithm, params));
        let slots = Algorithm::<T>::slots_len(&method.algorithm, length).max(early_slots);
        let pull = settings.pull();
        let keeps_start = pull > 0.0 || (early.is_some() && method.estimator.exact().is_some());
        let slots = slots.saturating_add(if keeps_start { params } else { 0 });
        room::<T>(&config.model, length.saturating_mul(copies + 1).saturating_add(slots))?;
        let mut points = vec![T::ZERO; length * copies];
        model.init(&mut Rng::keyed(config.seed, 0x1217, 0), &mut points[..params])?;
        spread(&mut points, length);
        let pretraining = early.map(|phase| {
            let last = Model::<T>::part(model, "last").map_or(0, |part| part.len());
            Pretraining { steps: steps.before, phase, restart: settings.restarts(last == params) }
        });
        let mut learner = Self {
            method,
            pretraining,
            params,
            pull,
            keeps_start,
            total: steps.total,
            steps: 0,
            drawn: 0,
            points,
            slots: vec![T::ZERO; slots],
            counters: [0; COUNTERS],
            state: vec![T::ZERO; state],
            reset: None,
            value: f64::NAN,
            grad: vec![T::ZERO; length],
        };
        learner.keep_start();
        Ok(learner)
    }

    /// Keeps the parameters as the start of the method's own steps, where it is wanted.
    fn keep_start(&mut self) {
        if self.keeps_start {
            let at = self.slots.len() - self.params;
            self.slots[at..].copy_from_slice(&self.points[..self.params]);
        }
    }

    /// The model's parameters where the method's own steps began, once they have; `None` where they are not kept, or
    /// nothing came before.
    pub fn start(&self) -> Option<&[T]> {
        let kept = self.keeps_start && self.pretraining.is_some() && !self.is_pretraining();
        kept.then(|| &self.slots[self.slots.len() - self.params..])
    }

    /// Takes the start of the method's own steps as the iterate.
    pub fn return_to_start(&mut self) {
        let at = usize::from(Algorithm::<T>::iterate(&self.phase().algorithm).0) * self.grad.len();
        let from = self.slots.len() - self.params;
        self.points[at..at + self.params].copy_from_slice(&self.slots[from..]);
    }

    /// Adds the gradient of the pull toward the start at some parameters, and returns its value.
    pub fn add_pull(&self, params: &[T], grad: &mut [T]) -> f64 {
        if self.pull == 0.0 {
            return 0.0;
        }
        let (pull, start) = (T::of(self.pull), &self.slots[self.slots.len() - self.params..]);
        let mut distance = 0.0;
        for ((g, &w), &start) in grad.iter_mut().zip(params).zip(start) {
            let gone = w - start;
            *g = (*g + pull * gone).settled();
            distance += gone.f64() * gone.f64();
        }
        0.5 * self.pull * distance
    }

    /// Steps of pre-training, of the run's.
    pub fn pretraining_steps(&self) -> u64 {
        self.pretraining.map_or(0, |first| first.steps.min(self.total))
    }

    /// Whether the next step is one of pre-training.
    pub fn is_pretraining(&self) -> bool {
        self.pretraining.is_some_and(|first| self.steps < first.steps)
    }

    /// Whether the method's algorithm has ended without having made a step.
    pub fn is_stuck(&self) -> bool {
        !self.is_pretraining() && self.method.algorithm.is_stuck(&self.counters)
    }

    /// What the next step is made with: cross-entropy while pre-training, then the method.
    pub fn phase(&self) -> Phase {
        match &self.pretraining {
            Some(first) if self.steps < first.steps => first.phase,
            _ => self.method,
        }
    }

    /// Parameters and auxiliaries of a phase together.
    pub fn length(&self, phase: &Phase) -> usize {
        let (low, high) = phase.estimator.aux();
        self.params + low + high
    }

    /// The part of the memory that a phase works on.
    fn memory(&mut self, phase: &Phase) -> State<'_, T> {
        let length = self.length(phase);
        State {
            points: &mut self.points[..length * Algorithm::<T>::points(&phase.algorithm)],
            slots: &mut self.slots[..Algorithm::<T>::slots_len(&phase.algorithm, length)],
            counters: &mut self.counters,
        }
    }

    /// Whether all steps are done, or the algorithm has nothing more to do.
    pub fn is_done(&self) -> bool {
        // What an algorithm wants next is a matter of its counters alone.
        let mut counters = self.counters;
        let state = State::<T> { points: &mut [], slots: &mut [], counters: &mut counters };
        self.steps >= self.total || self.phase().algorithm.next(&state) == Ask::Done
    }

    /// What the algorithm wants next.
    pub fn next(&mut self, phase: &Phase) -> Ask {
        phase.algorithm.next(&self.memory(phase))
    }

    /// Answers everything but a gradient.
    pub fn tell(&mut self, phase: &Phase, answer: Answer<'_, T>) -> Result<()> {
        phase.algorithm.tell(&mut self.memory(phase), answer)
    }

    /// Follows the gradient in `self.grad`: one step, and the end of pre-training where it was its last.
    pub fn follow(&mut self, phase: &Phase, at: Point, value: f64, config: &Config, model: &AnyModel) -> Result<()> {
        let mut grad = core::mem::take(&mut self.grad);
        let pulled = if self.is_pretraining() { 0.0 } else { self.add_pull(self.point(at, phase), &mut grad) };
        let told = self.tell(phase, Answer::Gradient { value: value + pulled, grad: &grad[..self.length(phase)] });
        self.grad = grad;
        told?;
        self.steps += 1;
        self.value = value;
        match self.pretraining {
            Some(first) if first.steps == self.steps => self.begin_method(first.restart, config, model),
            _ => Ok(()),
        }
    }

    /// Ends pre-training: a new last layer where one is wanted, and the method's own memory at its start.
    fn begin_method(&mut self, restart: bool, config: &Config, model: &AnyModel) -> Result<()> {
        let (params, length) = (self.params, self.length(&self.method));
        if restart && let Some(last) = Model::<T>::part(model, "last") {
            let mut fresh = vec![T::ZERO; params];
            model.init(&mut Rng::keyed(config.seed, 0x1217, 1), &mut fresh)?;
            self.points[last.clone()].copy_from_slice(&fresh[last]);
        }
        self.points[params..length].fill(T::ZERO);
        spread(&mut self.points, length);
        self.slots.fill(T::ZERO);
        self.keep_start();
        self.state.fill(T::ZERO);
        self.counters = [0; COUNTERS];
        Ok(())
    }

    /// Parameters and auxiliaries at a point of a phase.
    pub fn point(&self, at: Point, phase: &Phase) -> &[T] {
        let length = self.length(phase);
        &self.points[usize::from(at.0) * length..][..length]
    }

    /// What an estimator and a model need for the gradient at a point of a phase, over so many positives.
    pub fn work(&mut self, phase: &Phase, at: Point, positives: usize) -> Work<'_, T> {
        let length = self.length(phase);
        let (params, aux) = self.points[usize::from(at.0) * length..][..length].split_at(self.params);
        let (grad, grad_aux) = self.grad[..length].split_at_mut(self.params);
        let state = &mut self.state[..phase.estimator.state_len(positives)];
        Work { params, aux, grad, grad_aux, state }
    }

    /// Parameters and auxiliaries at the algorithm's iterate.
    pub fn iterate(&self) -> &[T] {
        let at = usize::from(Algorithm::<T>::iterate(&self.phase().algorithm).0);
        &self.points[at * self.grad.len()..][..self.grad.len()]
    }

    /// The model's parameters there.
    pub fn params(&self) -> &[T] {
        &self.iterate()[..self.params]
    }

    /// The dual reset on its way, or one of so many batches, with so many sums and counts.
    pub fn take_reset(&mut self, batches: u64, [sums, counts]: [usize; 2]) -> Reset {
        let fresh = || Reset { left: batches, sums: vec![0.0; sums], counts: vec![0; counts] };
        self.reset.take().unwrap_or_else(fresh)
    }

    /// What ends a checkpoint: a dual reset on its way; nothing where there is none.
    pub fn write_reset(&self, out: &mut Vec<u8>) {
        if let Some(reset) = &self.reset {
            out.push(1);
            reset.left.write(out);
            reset.sums.write(out);
            reset.counts.write(out);
        }
    }

    /// Takes over what [`write_reset`](Self::write_reset) wrote of so many sums and counts.
    pub fn read_reset(&mut self, [sums, counts]: [usize; 2], from: &mut Reader<'_>) -> Result<(), TrainerError> {
        if from.byte() != Some(1) {
            return Ok(());
        }
        let mut read = || Some(Reset { left: from.value()?, sums: from.value()?, counts: from.value()? });
        let reset = read().ok_or(CheckpointError::Damaged)?;
        let sound = reset.left <= MOST
            && (reset.sums.len(), reset.counts.len()) == (sums, counts)
            && reset.sums.iter().all(|sum| sum.is_finite())
            && reset.counts.iter().all(|&count| count <= MOST);
        if !sound {
            return Err(CheckpointError::Damaged.into());
        }
        self.reset = Some(reset);
        Ok(())
    }

    /// The points as they are saved: the iterate first, in whose place the first point is.
    pub fn write_points(&self, out: &mut Vec<u8>) {
        let mut points = self.points.clone();
        self.exchange(&mut points);
        write_reals(&points, out);
    }

    /// Exchanges the iterate with the first point.
    fn exchange(&self, points: &mut [T]) {
        let at = usize::from(Algorithm::<T>::iterate(&self.phase().algorithm).0) * self.grad.len();
        let (first, rest) = points.split_at_mut(at);
        first.iter_mut().zip(rest).take(self.grad.len()).for_each(|(a, b)| core::mem::swap(a, b));
    }

    /// What follows the points in a checkpoint; the sampler's cursor comes after it.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.steps.write(out);
        self.drawn.write(out);
        write_reals(&self.slots, out);
        self.counters.write(out);
        write_reals(&self.state, out);
    }

    /// Takes over the points and what [`write`](Self::write) wrote.
    pub fn read(&mut self, points: &[u8], from: &mut Reader<'_>) -> Result<(), TrainerError> {
        let mut read = || Some((from.value()?, from.value()?, from.bytes()?, from.value()?, from.bytes()?));
        let (steps, drawn, slots, counters, state) = read().ok_or(CheckpointError::Damaged)?;
        reals(points, &mut self.points)?;
        reals(slots, &mut self.slots)?;
        reals(state, &mut self.state)?;
        (self.counters, self.steps, self.drawn) = (counters, steps, drawn);
        let mut points = core::mem::take(&mut self.points);
        self.exchange(&mut points);
        self.points = points;
        // Counts that no run reaches.
        if steps > MOST || drawn > MOST || !self.phase().algorithm.sound(&self.counters, steps) {
            return Err(CheckpointError::Damaged.into());
        }
        Ok(())
    }
}

/// Copies the first point to all others.
fn spread<T: Copy>(points: &mut [T], length: usize) {
    for copy in 1..points.len() / length {
        points.copy_within(..length, copy * length);
    }
}
