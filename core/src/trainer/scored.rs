//! A run that joins an estimator with an algorithm by the wall of scores.

use super::config::{Length, TrainerError};
use super::{Common, Device};
use crate::algorithm::{Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Draw, State};
use crate::batch::{Batch, Drawn};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, Estimator, Exact, Grad};
use crate::model::Model;
use crate::real::Real;
use crate::registry::Settings;
use crate::rng::Rng;
use crate::sampler::{AnySampler, Classes, Cursor, Sampler, Whole};
use alloc::vec;
use alloc::vec::Vec;

/// Cross-entropy steps before the method's own.
#[derive(Clone, Copy, Debug)]
struct Pretraining<T> {
    steps: u64,
    estimator: AnyEstimator<T>,
    algorithm: AnyAlgorithm,
    /// Whether the last layer starts again after them.
    restart: bool,
}

/// Estimator, algorithm and everything of the run that changes.
#[derive(Clone, Debug)]
pub(super) struct Scored<T: Real> {
    pub estimator: AnyEstimator<T>,
    algorithm: AnyAlgorithm,
    pretraining: Option<Pretraining<T>>,
    sampler: AnySampler,
    /// Parameters of the model.
    params: usize,
    /// Weight of half the squared norm of the parameters in what is minimised.
    #[cfg(feature = "every-method")]
    decay: f64,
    /// Steps that the schedule spans.
    pub total: u64,
    population: [u32; 2],
    /// Row numbers by class, negatives first.
    by_class: Vec<u32>,
    // What a checkpoint holds.
    pub steps: u64,
    pub drawn: u64,
    pub points: Vec<T>,
    pub slots: Vec<T>,
    pub counters: [u64; COUNTERS],
    pub state: Vec<T>,
    pub cursor: Cursor,
    // What it does not.
    order: Vec<u32>,
    pub index: Vec<u32>,
    batch_slots: Vec<u32>,
    starts: [u32; 3],
    scores: Vec<T>,
    score_grad: Vec<T>,
    grad: Vec<T>,
}

impl<T: Real> Scored<T> {
    pub fn new(settings: &Settings<'_>, common: &Common<T>) -> Result<Self, TrainerError> {
        let (config, model) = (&common.config, &common.model);
        let rows = common.train.labels().len();
        let mut by_class = vec![0; rows];
        let population = Classes::new(common.train.labels(), &mut by_class)?.population();
        let sampler = settings.sampler(config.seed, population)?;
        let batch = sampler.rows();
        let before = settings.pretrain_steps();
        let total = match config.length {
            Length::Method => settings.count("steps")?.saturating_add(before),
            Length::Steps(steps) => steps,
            Length::Passes(passes) => libm::ceil(passes * rows as f64 / batch as f64) as u64,
        };
        let estimator = settings.estimator::<T>()?;
        let algorithm = settings.algorithm(total.saturating_sub(before))?;
        let params = Model::<T>::param_len(model);
        let pretraining = match before {
            0 => None,
            steps => {
                let (estimator, algorithm) = settings.pretraining(steps)?;
                let last = Model::<T>::part(model, "last").map_or(0, |part| part.len());
                Some(Pretraining { steps, estimator, algorithm, restart: settings.restarts(last == params) })
            }
        };
        let (low, high) = estimator.aux();
        let length = params + low + high;
        let mut points = vec![T::ZERO; length * Algorithm::<T>::points(&algorithm)];
        common.start(&mut points[..params])?;
        for copy in 1..points.len() / length {
            points.copy_within(..length, copy * length);
        }
        let early = pretraining.as_ref().map_or(0, |first| Algorithm::<T>::slots_len(&first.algorithm, params));
        let slots = Algorithm::<T>::slots_len(&algorithm, length).max(early);
        let mut order = vec![0; rows];
        let cursor = Cursor::default();
        sampler.prepare(&Classes::from_order(&by_class, population[0])?, &cursor, &mut order)?;
        Ok(Self {
            estimator,
            algorithm,
            pretraining,
            sampler,
            params,
            #[cfg(feature = "every-method")]
            decay: settings.number("decay").unwrap_or(0.0),
            total,
            population,
            by_class,
            steps: 0,
            drawn: 0,
            slots: vec![T::ZERO; slots],
            points,
            counters: [0; COUNTERS],
            state: vec![T::ZERO; estimator.state_len(population[1] as usize)],
            cursor,
            order,
            index: vec![0; batch],
            batch_slots: vec![0; batch],
            starts: [0; 3],
            scores: vec![T::ZERO; batch],
            score_grad: vec![T::ZERO; batch],
            grad: vec![T::ZERO; length],
        })
    }

    /// One step, with the estimator computed by `device` where it does that.
    pub fn step(&mut self, common: &mut Common<T>, device: &mut dyn Device<T>) -> Result<Option<f64>> {
        let (estimator, algorithm) = self.current();
        loop {
            match algorithm.next(&self.memory(&algorithm)) {
                Ask::Gradient { at, draw, .. } => {
                    let value = match self.gradient(common, &estimator, usize::from(at.0), draw, device) {
                        // A line search may try a point whose value does not fit; that is no decrease, not the end.
                        Err(Error::Overflow { .. }) if draw == Draw::All => {
                            self.grad.fill(T::ZERO);
                            f64::INFINITY
                        }
                        other => other?,
                    };
                    let grad = core::mem::take(&mut self.grad);
                    let length = self.length(&estimator);
                    let told =
                        algorithm.tell(&mut self.memory(&algorithm), Answer::Gradient { value, grad: &grad[..length] });
                    self.grad = grad;
                    told?;
                    self.steps += 1;
                    if self.pretraining.is_some_and(|first| first.steps == self.steps) {
                        self.begin_method(common)?;
                    }
                    return Ok(Some(value));
                }
                Ask::Report { .. } => algorithm.tell(&mut self.memory(&algorithm), Answer::Continue)?,
                Ask::ClassMeans { at, draw, batches } => {
                    let [negative, positive] =
                        self.class_means(common, &estimator, usize::from(at.0), draw, batches)?;
                    algorithm.tell(&mut self.memory(&algorithm), Answer::ClassMeans { positive, negative })?;
                }
                Ask::Done => return Ok(None),
            }
        }
    }

    /// What the next step is made with: cross-entropy while pre-training, then the method.
    pub(super) fn current(&self) -> (AnyEstimator<T>, AnyAlgorithm) {
        match &self.pretraining {
            Some(first) if self.steps < first.steps => (first.estimator, first.algorithm),
            _ => (self.estimator, self.algorithm),
        }
    }

    /// Parameters and auxiliaries together.
    fn length(&self, estimator: &AnyEstimator<T>) -> usize {
        let (low, high) = estimator.aux();
        self.params + low + high
    }

    /// The part of the memory that an algorithm works on.
    fn memory(&mut self, algorithm: &AnyAlgorithm) -> State<'_, T> {
        let early = self.pretraining.is_some_and(|first| self.steps < first.steps);
        let length = if early { self.params } else { self.aux_end() };
        State {
            points: &mut self.points[..length * Algorithm::<T>::points(algorithm)],
            slots: &mut self.slots[..Algorithm::<T>::slots_len(algorithm, length)],
            counters: &mut self.counters,
        }
    }

    /// Ends pre-training: a new last layer where one is wanted, and the method's own memory at its start.
    fn begin_method(&mut self, common: &Common<T>) -> Result<()> {
        let params = self.params;
        if self.pretraining.is_some_and(|first| first.restart)
            && let Some(last) = Model::<T>::part(&common.model, "last")
        {
            let mut fresh = vec![T::ZERO; params];
            common.model.init(&mut Rng::keyed(common.config.seed, 0x1217, 1), &mut fresh)?;
            self.points[last.clone()].copy_from_slice(&fresh[last]);
        }
        let length = self.aux_end();
        self.points[params..length].fill(T::ZERO);
        for copy in 1..self.points.len() / length {
            self.points.copy_within(..length, copy * length);
        }
        self.slots.fill(T::ZERO);
        self.state.fill(T::ZERO);
        self.counters = [0; COUNTERS];
        Ok(())
    }

    /// Parameters and auxiliaries of the method itself.
    fn aux_end(&self) -> usize {
        self.length(&self.estimator)
    }

    /// Draws rows into `self.index` and scores them at a point, given the length of a point.
    fn draw(&mut self, common: &mut Common<T>, point: usize, length: usize, draw: Draw) -> Result<([u32; 3], Drawn)> {
        let classes = Classes::from_order(&self.by_class, self.population[0])?;
        let (starts, drawn) = match draw {
            Draw::Fresh { .. } => {
                let rows = self.sampler.rows();
                self.index.resize(rows, 0);
                self.batch_slots.resize(rows, 0);
                let taken = self.sampler.draw(
                    &classes,
                    &mut self.cursor,
                    &mut self.order,
                    &mut self.index,
                    &mut self.batch_slots,
                )?;
                (taken.starts, taken.drawn)
            }
            Draw::All => {
                let rows = self.by_class.len();
                self.index.resize(rows, 0);
                self.batch_slots.resize(rows, 0);
                let taken = Whole::new(rows as u32)?.draw(
                    &classes,
                    &mut Cursor::default(),
                    &mut self.order,
                    &mut self.index,
                    &mut self.batch_slots,
                )?;
                (taken.starts, taken.drawn)
            }
            Draw::Again => (self.starts, Drawn::Stratified),
        };
        self.starts = starts;
        let rows = self.index.len();
        self.drawn += rows as u64;
        self.scores.resize(rows, T::ZERO);
        let params = &self.points[point * length..][..self.params];
        common.passes.forward(&common.model, params, common.train.rows(), Some(&self.index), &mut self.scores)?;
        Ok((starts, drawn))
    }

    /// Draws, scores, estimates and back-propagates; the gradient is left in `self.grad`.
    fn gradient(
        &mut self,
        common: &mut Common<T>,
        estimator: &AnyEstimator<T>,
        point: usize,
        draw: Draw,
        device: &mut dyn Device<T>,
    ) -> Result<f64> {
        let length = self.length(estimator);
        let (starts, drawn) = self.draw(common, point, length, draw)?;
        self.score_grad.resize(self.index.len(), T::ZERO);
        let split = self.params;
        let (params, aux) = self.points[point * length..][..length].split_at(split);
        let batch = Batch::new(&self.scores, 1, &starts, &self.population, drawn)?
            .with_slots(&self.batch_slots[..(starts[2] - starts[1]) as usize]);
        let (grad, grad_aux) = self.grad[..length].split_at_mut(split);
        let state = &mut self.state[..estimator.state_len(self.population[1] as usize)];
        let out = Grad { scores: &mut self.score_grad, aux: &mut *grad_aux };
        let value = match device.update(estimator, &batch, aux, state, out) {
            Some(value) => value?,
            None => {
                let scratch = common.work.lend(estimator.need(batch.shape()));
                let out = Grad { scores: &mut self.score_grad, aux: grad_aux };
                estimator.update(&batch, aux, state, scratch, out)?
            }
        };
        grad.fill(T::ZERO);
        common.passes.backward(&common.model, params, common.train.rows(), &self.index, &self.score_grad, grad)?;
        Ok(value)
    }

    /// Mean link score of the negatives and of the positives over some draws; `None` for a class that was not drawn.
    fn class_means(
        &mut self,
        common: &mut Common<T>,
        estimator: &AnyEstimator<T>,
        point: usize,
        draw: Draw,
        batches: u64,
    ) -> Result<[Option<T>; 2]> {
        let length = self.length(estimator);
        let (mut sums, mut counts) = ([0.0; 2], [0u64; 2]);
        for _ in 0..batches {
            let (starts, _) = self.draw(common, point, length, draw)?;
            for class in 0..2 {
                for &s in &self.scores[starts[class] as usize..starts[class + 1] as usize] {
                    let mut h = [T::ZERO];
                    Estimator::<T>::link(estimator).apply(&[s], &mut h);
                    sums[class] += h[0].f64();
                    counts[class] += 1;
                }
            }
        }
        Ok([0, 1].map(|class| (counts[class] > 0).then(|| T::of(sums[class] / counts[class] as f64))))
    }

    /// The objective over the whole training data, from its scores in row order; in its near-linear form `whole`, if it
    /// has one.
    pub fn objective(&self, common: &mut Common<T>, whole: Option<Exact>, scores: &[T]) -> Result<f64> {
        let ordered: Vec<T> = self.by_class.iter().map(|&row| scores[row as usize]).collect();
        let slots: Vec<u32> = (0..self.population[1]).collect();
        let starts = [0, self.population[0], self.by_class.len() as u32];
        let batch = Batch::new(&ordered, 1, &starts, &self.population, Drawn::All)?.with_slots(&slots);
        let aux = &self.iterate()[self.params..];
        if let Some(whole) = whole {
            return whole.value(&batch, aux, common.work.lend(Estimator::<T>::need(&whole, batch.shape())));
        }
        self.estimator.value(&batch, aux, common.work.lend(self.estimator.need(batch.shape())))
    }

    /// Squared norm of the gradient of what a method over the whole data minimises; `None` for methods of batches, and
    /// where it does not fit the number type. A forward and a backward pass over all rows.
    #[cfg(feature = "every-method")]
    pub fn grad_norm_sq(&self, common: &mut Common<T>) -> Result<Option<f64>> {
        let AnyEstimator::Exact(exact) = &self.estimator else { return Ok(None) };
        let (params, rows) = (self.params(), common.train.rows());
        let (mut scores, mut slopes) = (vec![T::ZERO; rows.len()], vec![T::ZERO; rows.len()]);
        common.passes.forward(&common.model, params, rows, Some(&self.by_class), &mut scores)?;
        let starts = [0, self.population[0], self.by_class.len() as u32];
        let slots: Vec<u32> = (0..self.population[1]).collect();
        let batch = Batch::new(&scores, 1, &starts, &self.population, Drawn::All)?.with_slots(&slots);
        let scratch = common.work.lend(Estimator::<T>::need(exact, batch.shape()));
        match exact.update(&batch, &[], &mut [], scratch, Grad { scores: &mut slopes, aux: &mut [] }) {
            Err(Error::Overflow { .. }) => return Ok(None),
            value => value?,
        };
        let decay = T::of(self.decay);
        let mut grad: Vec<T> = params.iter().map(|&w| decay * w).collect();
        common.passes.backward(&common.model, params, rows, &self.by_class, &slopes, &mut grad)?;
        let norm: f64 = grad.iter().map(|g| g.f64() * g.f64()).sum();
        Ok(norm.is_finite().then_some(norm))
    }

    /// Parameters and auxiliaries at the algorithm's iterate.
    pub fn iterate(&self) -> &[T] {
        let at = usize::from(Algorithm::<T>::iterate(&self.current().1).0);
        &self.points[at * self.grad.len()..][..self.grad.len()]
    }

    /// The model's parameters there.
    pub fn params(&self) -> &[T] {
        &self.iterate()[..self.params]
    }

    /// Makes what follows from the restored cursor.
    pub fn resume(&mut self) -> Result<()> {
        let classes = Classes::from_order(&self.by_class, self.population[0])?;
        self.sampler.prepare(&classes, &self.cursor, &mut self.order)
    }
}
