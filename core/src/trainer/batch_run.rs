//! A [`Host`] with its memory: a run by an estimator and an algorithm, over batches or all rows.

use super::config::{Config, TrainerError, as_rows, counted, no_weights, refuse_unread, room, steps_of};
use super::grouped::Grouped;
use super::numbers::Numbers;
use super::passes::{SharedPasses, Work};
use super::run::{CONVERGED, Diagnostic, Objective, Run};
use crate::algorithm::{Adam, Algorithm, AnyAlgorithm};
use crate::batch::{Batch, Drawn, WEIGHTS};
use crate::checkpoint::{CheckpointError, Coded, MOST, Reader, reals, write_reals};
use crate::data::{Dataset, Rows, Targets};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, Estimator, Exact, Grad, Link, Weights};
use crate::features::{COMPACT, EVERY, EXACT, MINIMAL};
use crate::host::{BeforeIn, Buffers, Host, Last, Passes, Pretraining, Residuals, RunState, Sizes, add_pull};
use crate::metric;
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::registry::{Kind, Method, Settings};
use crate::sampler::{AnySampler, Sampler, Stratified, Whole};
use alloc::vec;
use alloc::vec::Vec;

/// A report looks at no more pairs one by one; of more rows it takes evenly spaced ones.
const MOST_PAIRS: f64 = (1u32 << 24) as f64;

/// Share of a metric that an exact method may lose on the training rows.
const FALL: f64 = 0.05;

/// A run by an estimator and an algorithm, with all its memory.
///
/// ```
/// use std::sync::Arc;
/// use undercurve::algorithm::Adam;
/// use undercurve::data::Dataset;
/// use undercurve::estimator::AucPairwise;
/// use undercurve::host::Host;
/// use undercurve::model::Linear;
/// use undercurve::sampler::Stratified;
/// use undercurve::trainer::{BatchRun, Config, Trainer};
///
/// let data = Arc::new(Dataset::dense(vec![0.1, 0.9, 0.3, 0.2, 0.8, 0.4], vec![0, 1, 0, 0, 1, 0], 1)?);
/// let parts = Host::new(Linear::new(1, 1)?, AucPairwise::default(), Adam::default(), Stratified::new(1, 2, 4)?);
/// let run = BatchRun::new(Host { steps: 100, ..parts }, &data)?;
/// let config = Config { method: "of my parts".into(), ..Config::default() };
/// let mut trainer = Trainer::with_run(&config, run, data, None)?;
/// assert_eq!(trainer.run()?.train.get("auroc"), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchRun<T: Real, M = AnyModel, E = AnyEstimator, A = AnyAlgorithm, S = AnySampler, P = Option<Pretraining>>
{
    pub(super) host: Host<M, E, A, S, P>,
    /// Weight of half the squared norm of the parameters in what is minimised.
    pub(super) decay: f64,
    pub(super) sizes: Sizes,
    pub(super) grouped: Grouped,
    pub(super) population: Vec<u32>,
    /// Of targets that are numbers.
    numbers: Option<Numbers<T>>,
    // What a checkpoint holds.
    pub(super) real: Vec<T>,
    pub(super) f64: Vec<f64>,
    pub(super) u64: Vec<u64>,
    // What it does not.
    pub(super) buffers: Owned<T>,
    pub(super) passes: SharedPasses<T>,
    work: Work<T>,
    /// The parameters in the units of the numbers, where they were asked for.
    told: Vec<T>,
}

/// [`Buffers`] that own their memory.
#[derive(Clone, Debug)]
pub(super) struct Owned<T> {
    real: Vec<T>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
    last: Last,
}

impl<T: Real> Owned<T> {
    fn new(sizes: &Sizes) -> Self {
        let need = sizes.buffers();
        Self {
            real: vec![T::ZERO; need.real],
            f64: vec![0.0; need.f64],
            u32: vec![0; need.u32],
            u64: vec![0; need.u64],
            last: Last::default(),
        }
    }

    pub(super) fn lend<O>(&mut self, with: impl FnOnce(&mut Buffers<'_, T>) -> O) -> O {
        let mut buffers = Buffers::new(&mut self.real, &mut self.f64, &mut self.u32, &mut self.u64);
        buffers.last = self.last;
        let out = with(&mut buffers);
        self.last = buffers.last;
        out
    }
}

impl<T, M, E, A, S, P> BatchRun<T, M, E, A, S, P>
where
    T: Real,
    M: Model<T> + Sync,
    E: Estimator<T>,
    A: Algorithm<T>,
    S: Sampler,
    P: BeforeIn<T>,
{
    /// A run at its start, of a host over training rows: their classes are the segments.
    ///
    /// # Errors
    /// `OneClass` (a class without a row), `Param` (a model of other columns), and those of [`Host::start`].
    pub fn new(host: Host<M, E, A, S, P>, train: &Dataset<T>) -> Result<Self> {
        Self::of_grouped(host, train, Grouped::of(train, false)?.weighted(&as_rows(train.weights().to_vec()))?, None)
    }

    /// At the model's start values, or at others.
    fn of_grouped(
        host: Host<M, E, A, S, P>,
        train: &Dataset<T>,
        grouped: Grouped,
        params: Option<&[T]>,
    ) -> Result<Self> {
        let data = grouped.data(train.rows())?;
        let population: Vec<u32> = (0..data.segments.len()).map(|segment| data.segments.size(segment)).collect();
        if population.contains(&0) && !grouped.cells {
            return Err(Error::OneClass);
        }
        if host.model.inputs() != train.cols() {
            return Err(Error::Param { what: "inputs" });
        }
        let sizes = host.sizes(&data)?;
        let state = sizes.state();
        let numbers = match train.targets() {
            Targets::Values(values) if !COMPACT => Some(Numbers::of(values)),
            _ => None,
        };
        let params = params.map(|params| {
            let mut params = params.to_vec();
            if let Some(numbers) = &numbers {
                numbers.seen(&mut params);
            }
            params
        });
        let mut run = Self {
            numbers,
            told: Vec::new(),
            decay: 0.0,
            real: vec![T::ZERO; state.real],
            f64: vec![0.0; state.f64],
            u64: vec![0; state.u64],
            buffers: Owned::new(&sizes),
            passes: SharedPasses::default(),
            work: Work::default(),
            host,
            sizes,
            grouped,
            population,
        };
        let Self { host, grouped, real, f64, u64, buffers, .. } = &mut run;
        let data = grouped.data(train.rows())?;
        let mut state = RunState { real, f64, u64 };
        buffers.lend(|buffers| match params {
            Some(params) => host.start_at(&params, &data, &mut state, buffers),
            None => host.start(&data, &mut state, buffers),
        })?;
        Ok(run)
    }

    /// What it is made of.
    #[must_use]
    pub fn host(&self) -> &Host<M, E, A, S, P> {
        &self.host
    }

    pub(super) fn model(&self) -> &M {
        &self.host.model
    }

    /// The estimator's state (u, for SOAP).
    #[must_use]
    pub fn estimator_state(&self) -> &[T] {
        &self.real[self.sizes.points + self.sizes.slots..]
    }

    /// The model's parameters where the method's own steps began, once they have; `None` where they are not kept, or
    /// nothing came before.
    fn start(&self) -> Option<&[T]> {
        self.host.begun_at(&self.sizes, self.steps_done()).map(|range| &self.real[range])
    }

    /// Parameters and auxiliaries at the algorithm's iterate.
    pub(super) fn iterate(&self) -> &[T] {
        let at = self.host.iterate_at::<T>(&self.sizes, self.steps_done());
        &self.real[at..at + self.sizes.length]
    }

    fn weights(&self) -> &[T] {
        &self.iterate()[..self.sizes.params]
    }

    /// The tables that the estimator prepared.
    fn tables(&self) -> &[f64] {
        &self.buffers.f64[..self.buffers.last.tables]
    }

    /// The objective, where it is one over the whole data.
    fn exact(&self) -> Option<Exact> {
        // (A small module without the exact methods has no use for what follows of one.)
        if EXACT && self.host.estimator.needs_all() { self.host.estimator.whole() } else { None }
    }

    /// At the end of an exact method that went on from something else: the model where its own steps began, if the metric
    /// on the training rows has fallen by more than [`FALL`] of it. A surrogate can fall while what it stands for falls,
    /// too: where most pairs are in the wrong order, by shrinking all scores. (A little it may fall, and held-out rows
    /// gain.)
    fn keep_the_better(&mut self, train: &Dataset<T>) -> Result<()> {
        let (Some(exact), Some(start)) = (self.exact(), self.start()) else { return Ok(()) };
        let (start, params) = (start.to_vec(), self.weights().to_vec());
        let mut scores = vec![T::ZERO; train.len()];
        let mut metric = |params: &[T]| {
            self.passes.forward_all(&self.host.model, params, train.rows(), &mut scores)?;
            exact.metric(&scores, train, self.work.lend(metric::need(scores.len())))
        };
        if metric(&params)? < (1.0 - FALL) * metric(&start)? {
            let at = self.host.iterate_at::<T>(&self.sizes, self.steps_done());
            self.real[at..at + start.len()].copy_from_slice(&start);
        }
        Ok(())
    }

    /// After a step: at the end of the run the better model is kept.
    pub(super) fn ended(&mut self, train: &Dataset<T>) -> Result<()> {
        if self.is_done() { self.keep_the_better(train) } else { Ok(()) }
    }

    /// The objective over scores of so many rows of each segment, with a weight each or none, in its near-linear form, if it has
    /// one.
    fn objective_of(&mut self, scores: &[T], population: &[u32], weights: &[f64]) -> Result<f64> {
        let mut starts = vec![0; population.len() + 1];
        for (segment, &rows) in population.iter().enumerate() {
            starts[segment + 1] = starts[segment] + rows;
        }
        let owners = self.host.estimator.owners(population.len());
        let slots: Vec<u32> = (0..starts[owners.end] - starts[owners.start]).collect();
        let heads = self.host.model.heads();
        let batch =
            Batch::new(scores, heads, &starts, population, Drawn::All)?.with_slots(&slots).with_weights(weights)?;
        let aux = self.iterate()[self.sizes.params..].to_vec();
        let tables = self.tables().to_vec();
        let batch = batch.with_tables(&tables);
        // (Modules of other methods than these do without their sums: all pairs are as right.)
        if let (Some(whole), true) = (self.host.estimator.whole(), EXACT || MINIMAL) {
            return whole.value(&batch, &aux, self.work.lend(Estimator::<T>::need(&whole, batch.shape())));
        }
        self.host.estimator.value(&batch, &aux, self.work.lend(self.host.estimator.need(batch.shape())))
    }

    /// That it has come to its last step before its algorithm was to end, and far from a minimum. Of cross-entropy over all rows: others
    /// over all rows begin at cross-entropy, where a gradient is no measure of later ones.
    fn unconverged(&self) -> Option<Diagnostic> {
        let (steps, counters) = (self.steps_done(), self.sizes.counters(&self.u64));
        let convex = self.host.estimator.needs_all() && self.host.estimator.whole().is_none();
        if !EXACT
            || !convex
            || self.start().is_some()
            || steps < self.host.steps
            || self.host.has_ended::<T>(counters, steps)
        {
            return None;
        }
        let slots = &self.real[self.sizes.points..][..self.sizes.slots];
        let share = self.host.algorithm.remaining(slots).filter(|&share| share > CONVERGED)?;
        Some(Diagnostic::Unconverged { share })
    }

    /// Squared norm of the gradient of what a method over the whole data minimises; `None` for methods of batches, and
    /// where it does not fit the number type. A forward and a backward pass over all rows.
    fn grad_norm_sq(&mut self, rows: Rows<'_, T>) -> Result<Option<f64>> {
        let (Some(exact), true) = (self.exact(), EVERY) else { return Ok(None) };
        let (params, index) = (self.weights().to_vec(), &self.grouped.order);
        let slots: Vec<u32> = (0..index.len() as u32 - self.population[0]).collect();
        let (mut scores, mut slopes) = (vec![T::ZERO; index.len()], vec![T::ZERO; index.len()]);
        self.passes.forward(&self.host.model, &params, rows, index, &mut scores)?;
        let tables = &self.buffers.f64[..self.buffers.last.tables];
        let batch = Batch::new(&scores, 1, &self.grouped.starts, &self.population, Drawn::All)?;
        let batch = batch.with_slots(&slots).with_tables(tables).with_weights(&self.grouped.weights)?;
        let scratch = self.work.lend(Estimator::<T>::need(&exact, batch.shape()));
        match exact.gradient(&batch, &[], &[], scratch, Grad { scores: &mut slopes, aux: &mut [] }) {
            Err(Error::Overflow { .. }) => return Ok(None),
            value => value?,
        };
        let decay = T::of(self.decay);
        let mut grad: Vec<T> = params.iter().map(|&w| decay * w).collect();
        self.passes.backward(&self.host.model, &params, rows, index, &slopes, &mut grad)?;
        if self.host.pull > 0.0 {
            let end = self.sizes.points + self.sizes.slots;
            add_pull(self.host.pull, &params, &self.real[end - params.len()..end], &mut grad);
        }
        let norm: f64 = grad.iter().map(|g| g.f64() * g.f64()).sum();
        Ok(norm.is_finite().then_some(norm))
    }
}

impl<T, M, E, A, S, P> Run<T> for BatchRun<T, M, E, A, S, P>
where
    T: Real,
    M: Model<T> + Sync,
    E: Estimator<T>,
    A: Algorithm<T>,
    S: Sampler,
    P: BeforeIn<T>,
{
    fn step(&mut self, data: &Dataset<T>) -> Result<Option<f64>> {
        let Self { host, grouped, real, f64, u64, buffers, passes, numbers, .. } = self;
        let all = grouped.data(data.rows())?;
        let mut state = RunState { real, f64, u64 };
        let targets = numbers.as_ref().map_or(&[][..], |numbers| &numbers.targets);
        let mut passes = Residuals { targets, passes };
        let value = buffers.lend(|buffers| host.step(&all, &mut state, buffers, &mut passes))?;
        if value.is_some() {
            self.ended(data)?;
        }
        Ok(value)
    }

    fn is_done(&self) -> bool {
        let steps = self.steps_done();
        let counters = self.sizes.counters(&self.u64);
        steps >= self.host.steps || self.host.has_ended::<T>(counters, steps)
    }

    fn steps_done(&self) -> u64 {
        self.u64[0]
    }

    fn total_steps(&self) -> u64 {
        self.host.steps
    }

    fn pretraining_steps(&self) -> u64 {
        self.host.pretraining.get().map_or(0, |first| first.steps.min(self.host.steps))
    }

    fn drawn(&self) -> u64 {
        self.u64[1]
    }

    fn batch(&self, _: &Dataset<T>) -> &[u32] {
        let from = self.sizes.items;
        let rows = if self.buffers.last.rows > 0 { self.buffers.last.rows } else { self.sizes.batch };
        &self.buffers.u32[from..from + rows]
    }

    fn params(&mut self, data: &Dataset<T>) -> Result<&[T]> {
        if self.numbers.is_none() {
            return Ok(self.weights());
        }
        self.told = self.copy_params(data);
        Ok(&self.told)
    }

    fn copy_params(&self, _: &Dataset<T>) -> Vec<T> {
        let mut params = self.weights().to_vec();
        if let Some(numbers) = &self.numbers {
            numbers.told(&mut params);
        }
        params
    }

    fn heads(&self) -> usize {
        self.host.model.heads()
    }

    fn score(&mut self, data: &Dataset<T>, rows: Rows<'_, T>, scores: &mut [T]) -> Result<()> {
        if self.numbers.is_some() {
            let params = self.copy_params(data);
            return self.passes.forward_all(&self.host.model, &params, rows, scores);
        }
        let at = self.host.iterate_at::<T>(&self.sizes, self.steps_done());
        let params = &self.real[at..at + self.sizes.params];
        self.passes.forward_all(&self.host.model, params, rows, scores)
    }

    fn objective(&mut self, data: &Dataset<T>, scores: &[T]) -> Result<Objective> {
        let heads = self.host.model.heads();
        let of = |row: &u32| &scores[*row as usize * heads..][..heads];
        let mut ordered: Vec<T> = self.grouped.order.iter().flat_map(of).copied().collect();
        if let (Targets::Values(values), false) = (data.targets(), COMPACT) {
            ordered.iter_mut().zip(&self.grouped.order).for_each(|(score, &row)| *score -= values[row as usize]);
        }
        let (mut population, mut weights) = (self.population.clone(), self.grouped.weights.clone());
        if WEIGHTS && !weights.is_empty() && !Estimator::<T>::takes_weights(&self.host.estimator) {
            (ordered, population) = self.grouped.repeated(&ordered, heads);
            weights = Vec::new();
        }
        let pairs = (ordered.len() - population[0] as usize) as f64 * ordered.len() as f64;
        let value = if self.host.estimator.values_all_pairs() && pairs > MOST_PAIRS {
            let every = libm::ceil(crate::Real::sqrt(pairs / MOST_PAIRS)) as usize;
            let (low, high) = ordered.split_at(population[0] as usize);
            let population = [low, high].map(|class| class.len().div_ceil(every) as u32);
            let thinned: Vec<T> = low.iter().step_by(every).chain(high.iter().step_by(every)).copied().collect();
            self.objective_of(&thinned, &population, &[])?
        } else {
            self.objective_of(&ordered, &population, &weights)?
        };
        Ok(Objective { value, grad_norm_sq: self.grad_norm_sq(data.rows())?, sum: None })
    }

    fn link(&self) -> Link {
        self.host.estimator.link()
    }

    fn diagnostic(&mut self, _: &Dataset<T>) -> Result<Option<Diagnostic>> {
        let steps = self.steps_done();
        let early = self.host.pretraining.get().filter(|first| steps < first.steps);
        if self.exact().is_some() && self.is_done() && self.start().is_some_and(|start| start == self.weights()) {
            return Ok(Some(Diagnostic::Start));
        }
        if early.is_none() && self.host.algorithm.is_stuck(self.sizes.counters(&self.u64)) {
            return Ok(Some(Diagnostic::Stuck));
        }
        let ball = match &early {
            Some(first) => Algorithm::<T>::ball(&first.algorithm),
            None => self.host.algorithm.ball(),
        };
        let Some((radius, ascent)) = ball else { return Ok(self.unconverged()) };
        let iterate = self.iterate();
        let free = &iterate[..iterate.len().saturating_sub(ascent)];
        let square: f64 = free.iter().map(|x| x.f64() * x.f64()).sum();
        Ok((crate::Real::sqrt(square) > 0.99 * radius).then_some(Diagnostic::Edge { radius }))
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_reals(&self.real, out);
        write_reals(&self.f64, out);
        self.u64.write(out);
    }

    fn read(&mut self, data: &Dataset<T>, from: &[u8]) -> Result<(), CheckpointError> {
        let mut from = Reader(from);
        let mut read = || Some((from.bytes()?, from.bytes()?, from.value::<Vec<u64>>()?));
        let (real, f64, u64) = read().ok_or(CheckpointError::Damaged)?;
        reals(real, &mut self.real)?;
        // (The estimate of the last step is NaN before the first.)
        let (value, sums) = f64.split_at_checked(8).ok_or(CheckpointError::Damaged)?;
        let mut sums_read = vec![0.0; self.f64.len() - 1];
        reals(sums, &mut sums_read)?;
        self.f64[0] = f64::from_le_bytes(value.try_into().map_err(|_| CheckpointError::Damaged)?);
        self.f64[1..].copy_from_slice(&sums_read);
        // Counts that no run reaches.
        if u64.len() != self.u64.len() || !self.sizes.sound(&u64) {
            return Err(CheckpointError::Damaged);
        }
        self.u64 = u64;
        let Self { host, grouped, real, f64, u64, buffers, .. } = self;
        let all = grouped.data(data.rows()).map_err(|_| CheckpointError::Damaged)?;
        let mut state = RunState { real, f64, u64 };
        buffers.lend(|buffers| host.resume(&all, &mut state, buffers)).map_err(|_| CheckpointError::Damaged)
    }
}

impl<T: Real> BatchRun<T> {
    /// Of a method of the registry, at the model's start values or at others.
    pub(super) fn of_method(
        method: &'static Method,
        settings: Settings<'_>,
        config: &Config,
        model: AnyModel,
        train: &Dataset<T>,
        start: Option<&[T]>,
        weights: &[f64],
    ) -> Result<Self, TrainerError> {
        let grouped = Grouped::of(train, method.kind == Kind::Cells)?.weighted(weights)?.standing_for(train);
        let segments = grouped.data(train.rows())?.segments;
        let sampler = match method.kind {
            Kind::Whole => AnySampler::Whole(Whole),
            Kind::Batches | Kind::Cells | Kind::FiniteSum => AnySampler::from_settings(&settings, segments.items())?,
        };
        // Cross-entropy goes over batches also where the method looks at everything.
        let early_sampler = match sampler {
            AnySampler::Whole(_) => AnySampler::Stratified(Stratified::new(config.seed, 8, 56)?),
            batches @ (AnySampler::Shuffle(_) | AnySampler::Stratified(_)) => batches,
        };
        let mut settings = settings.with_batch(early_sampler.rows(&segments));
        let mut drawn = sampler.rows(&segments);
        if !MINIMAL && method.kind == Kind::Cells {
            // (A step may draw more than one batch.)
            drawn *= Algorithm::<T>::batches(&method.parts(&settings)?.1) as usize;
            settings = settings.with_batch(drawn);
        }
        let rows = train.stands_for_rows().unwrap_or_else(|| counted(weights, grouped.order.len()));
        let (before, steps) = steps_of(&mut settings, config.length, rows, drawn)?;
        let (estimator, algorithm) = method.parts(&settings)?;
        // What looks at all rows at once has to weigh them itself.
        let all = Algorithm::<T>::draws_all(&algorithm) && !Estimator::<T>::takes_weights(&estimator);
        if WEIGHTS && !grouped.weights.is_empty() && (all || method.kind == Kind::Cells) {
            return Err(no_weights(method));
        }
        let (heads, params) = (Model::<T>::heads(&model), Model::<T>::param_len(&model));
        let pretraining = match before {
            0 => None,
            steps => {
                let last = Model::<T>::part(&model, "last").map_or(0, |part| part.len());
                Some(Pretraining {
                    steps,
                    estimator: AnyEstimator::cross_entropy(Weights::from_settings(&settings), heads),
                    algorithm: AnyAlgorithm::Adam(Adam::of_pretraining(&settings, before)?),
                    sampler: early_sampler,
                    restart: settings.restarts(last == params),
                    pull: if settings.scope().from_linear { settings.pretraining_decay() } else { 0.0 },
                })
            }
        };
        room::<T>(&config.model, params.saturating_mul(8))?;
        let (pull, seed) = (settings.pull(), config.seed);
        let from_linear = settings.scope().from_linear;
        let keep_start = (pretraining.is_some() || start.is_some()) && estimator.needs_all() || from_linear;
        let host = Host { model, estimator, algorithm, sampler, pretraining, steps, pull, keep_start, seed };
        let sizes = host.sizes(&grouped.data(train.rows())?)?;
        room::<T>(&config.model, sizes.points.saturating_add(sizes.length).saturating_add(sizes.slots))?;
        let decay = settings.decay();
        refuse_unread(&settings, method, config)?;
        Ok(Self { decay, ..Self::of_grouped(host, train, grouped, start)? }.with_curvature(train, weights))
    }
}

impl Sizes {
    /// Whether steps, rows drawn and the counts of a reset can be a run's.
    fn sound(&self, u64: &[u64]) -> bool {
        let to = self.state().u64 - 2 * self.cursor - crate::algorithm::COUNTERS;
        u64[..to].iter().all(|&count| count <= MOST)
    }
}
