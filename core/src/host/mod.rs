//! A run on lent memory: model, estimator, algorithm and sampler together, without an allocator.
//!
//! A [`Host`] answers what an algorithm asks for ([`Ask`]): it draws rows, scores them, runs the estimator and
//! back-propagates. It holds configuration only. What changes is a [`RunState`], which is all that is saved; [`Buffers`]
//! are computed again from it. A [`Trainer`](crate::trainer::Trainer) owns a host with its memory.
//!
//! Every part may be one of your own: [`Model`], [`Estimator`], [`Algorithm`], [`Sampler`], [`Passes`].
//!
//! ```
//! use undercurve::algorithm::Adam;
//! use undercurve::data::{Rows, Segments};
//! use undercurve::estimator::Soap;
//! use undercurve::host::{Buffers, Chunks, Data, Host, RunState};
//! use undercurve::model::Linear;
//! use undercurve::sampler::Stratified;
//!
//! let (x, y) = ([0.1f32, 0.9, 0.3, 0.2, 0.8, 0.4], [0u8, 1, 0, 0, 1, 0]);
//! let (mut order, mut starts) = ([0; 6], [0; 3]);
//! let data = Data { rows: Rows::dense(&x, 1)?, segments: Segments::new(&y, &mut order, &mut starts)? };
//! let host = Host { steps: 100, ..Host::new(Linear::new(1, 1)?, Soap::default(), Adam::default(), Stratified::new(1, 2, 4)?) };
//!
//! // How much memory, the host says; where there is no allocator, arrays that are large enough do.
//! let (need, work) = (host.state(&data)?, host.buffers(&data)?);
//! let (mut real, mut f64s, mut u64s) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u64]);
//! let mut state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
//! let (mut w, mut f, mut u, mut k) = (vec![0.0; work.real], vec![0.0; work.f64], vec![0; work.u32], vec![0; work.u64]);
//! let mut buffers = Buffers::new(&mut w, &mut f, &mut u, &mut k);
//! let mut memory = vec![0.0; host.passes(&data)?];
//! let mut passes = Chunks::new(&mut memory);
//!
//! host.start(&data, &mut state, &mut buffers)?;
//! while host.step(&data, &mut state, &mut buffers, &mut passes)?.is_some() {}
//! assert!(host.params(&data, &state)?[0] > 0.0); // weight, bias
//! # Ok::<(), undercurve::Error>(())
//! ```

mod ahead;
mod elsewhere;
mod footprint;
mod memory;
mod passes;
mod pretraining;
mod running;
mod step;

pub use ahead::Ahead;
pub use elsewhere::WholeObjective;
pub use footprint::{Footprint, Lengths};
pub use memory::{Buffers, RunState};
pub use passes::{Chunks, Passes, Residuals};
pub use pretraining::{Before, BeforeIn, NoPretraining, Pretraining};

pub(crate) use memory::{Desk, Last, Pieces, Sizes};
#[cfg(feature = "alloc")]
pub(crate) use passes::{CHUNK, Chunk, chunk_lens, sum_len};
use running::{EVERYTHING, Phase, Running, go_on, owned, owners};

use crate::algorithm::{Algorithm, AnyAlgorithm, Ask, COUNTERS, State};
use crate::batch::Shape;
use crate::data::{Rows, Segments};
use crate::error::{Error, Result, exact_len};
use crate::estimator::{AnyEstimator, Estimator};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::rng::Rng;
use crate::sampler::{AnySampler, Sampler};
use crate::scratch::Need;
use crate::slices::Part;

/// The rows of a run, and how they are grouped.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a, T> {
    /// Feature rows.
    pub rows: Rows<'a, T>,
    /// The same rows by segment: negatives and positives, or one class after the other.
    pub segments: Segments<'a>,
}

/// What a run is made of. The [module](self) has an example; with the parts exchanged it is this:
///
/// ```
/// use undercurve::algorithm::{Schedule, Sgd};
/// use undercurve::data::{Rows, Segments};
/// use undercurve::estimator::AucPairwise;
/// use undercurve::host::{Buffers, Chunks, Data, Host, RunState};
/// use undercurve::model::Linear;
/// use undercurve::sampler::Whole;
///
/// let (x, y) = ([0.0, 1.0, 0.5], [0u8, 0, 1]); // the example of `AucPairwise`, as scores of a weight of 1 …
/// let (mut order, mut starts) = ([0; 3], [0; 3]);
/// let data = Data { rows: Rows::dense(&x, 1)?, segments: Segments::new(&y, &mut order, &mut starts)? };
/// let sgd = Sgd::new(Schedule::constant(0.5), 0.0)?;
/// let host = Host { steps: 1, ..Host::new(Linear::new(1, 1)?, AucPairwise::default(), sgd, Whole) };
///
/// let (need, work) = (host.state(&data)?, host.buffers(&data)?);
/// let (mut real, mut f64s, mut u64s) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u64]);
/// let mut state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
/// let (mut w, mut f, mut u, mut k) = (vec![0.0; work.real], vec![0.0; work.f64], vec![0; work.u32], vec![0; work.u64]);
/// let mut buffers = Buffers::new(&mut w, &mut f, &mut u, &mut k);
/// let mut memory = vec![0.0; host.passes(&data)?];
/// host.start_at(&[1.0, 0.0], &data, &mut state, &mut buffers)?; // … and no bias
/// assert_eq!(host.step(&data, &mut state, &mut buffers, &mut Chunks::new(&mut memory))?, Some(1.25));
/// assert_eq!(host.params(&data, &state)?, [0.75, 0.0]); // 1 − ½·(½·0 + 1½·1 − 2·½), as Σ c_i x_i is ½
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Host<M = AnyModel, E = AnyEstimator, A = AnyAlgorithm, S = AnySampler, P = NoPretraining> {
    /// Rows to scores.
    pub model: M,
    /// The objective in score space.
    pub estimator: E,
    /// The rule in parameter space.
    pub algorithm: A,
    /// Where batches come from.
    pub sampler: S,
    /// What comes before the method's own steps; see [`Host::after`].
    pub pretraining: P,
    /// Steps in all, those before included; no end by default.
    pub steps: u64,
    /// Weight of half the squared distance to the start of the method's own steps in what is minimised; of an objective of
    /// several terms in its last.
    pub pull: f64,
    /// Whether that start is kept even without a pull: [`Host::start_params`] then tells it.
    pub keep_start: bool,
    /// Start values of the model follow from it.
    pub seed: u64,
}

impl<M, E, A, S> Host<M, E, A, S> {
    /// Without pre-training, pull and end, seed 1.
    pub fn new(model: M, estimator: E, algorithm: A, sampler: S) -> Self {
        Self {
            model,
            estimator,
            algorithm,
            sampler,
            pretraining: NoPretraining,
            steps: u64::MAX,
            pull: 0.0,
            keep_start: false,
            seed: 1,
        }
    }
}

impl<M, E, A, S, P: Before> Host<M, E, A, S, P> {
    /// The same after other steps: a [`Pretraining`], or an `Option` of one.
    pub fn after<P2: Before>(self, pretraining: P2) -> Host<M, E, A, S, P2> {
        let Self { model, estimator, algorithm, sampler, steps, pull, keep_start, seed, .. } = self;
        Host { model, estimator, algorithm, sampler, pretraining, steps, pull, keep_start, seed }
    }

    fn keeps_start(&self) -> bool {
        // (By its bits: a comparison of numbers may be made before it is known that there is one, and memory that holds none is often
        // subnormal.)
        self.keep_start || self.pull > 0.0 || self.pretraining.get().is_some_and(|first| first.pull.to_bits() != 0)
    }

    /// Weight of the pull toward the start of the present steps, after so many.
    pub(crate) fn pull_after(&self, steps: u64) -> f64 {
        match self.pretraining.get() {
            Some(first) if steps < first.steps => first.pull,
            _ => self.pull,
        }
    }

    pub(crate) fn is_pretraining(&self, steps: u64) -> bool {
        self.pretraining.get().is_some_and(|first| steps < first.steps)
    }

    pub(crate) fn sizes<T: Real>(&self, data: &Data<'_, T>) -> Result<Sizes>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let (params, heads) = (self.model.param_len(), self.model.heads());
        let (low, high) = self.estimator.aux();
        let length = params + low + high;
        let (rows, segments) = (data.segments.order().len(), data.segments.len());
        // (Fewer, where some have no weight.)
        if rows > data.rows.len() || rows < data.rows.len() && !EVERYTHING {
            return Err(Error::Length { what: "rows", need: rows, got: data.rows.len() });
        }
        let mut slots = self.algorithm.slots_len(length);
        let mut points = length.checked_mul(self.algorithm.points());
        let mut batch = if self.algorithm.draws_all() { rows } else { self.sampler.rows(&data.segments) };
        let shape = |rows: usize, owned: usize| Shape { rows, heads, segments, slots: rows.min(owned) };
        let own = owners(&self.estimator, &data.segments);
        if own.start > own.end || own.end > segments {
            return Err(Error::Unsupported { what: "owners that are no segments" });
        }
        let owned = owned(&self.estimator, &data.segments).len();
        let (mut need, mut bank) = (self.estimator.need(shape(batch, owned)), self.estimator.state_len(owned));
        if let Some(first) = self.pretraining.get() {
            if Estimator::<T>::aux(&first.estimator) != (0, 0) {
                return Err(Error::Unsupported { what: "pre-training with auxiliaries" });
            }
            let all = Algorithm::<T>::draws_all(&first.algorithm);
            let early = if all { rows } else { first.sampler.rows(&data.segments) };
            slots = slots.max(Algorithm::<T>::slots_len(&first.algorithm, params));
            slots = slots.max(if first.restart { params } else { 0 });
            let owned = self::owned::<T, _>(&first.estimator, &data.segments).len();
            need = need.either(first.estimator.need(shape(early, owned)));
            bank = bank.max(first.estimator.state_len(owned));
            points = points.max(params.checked_mul(Algorithm::<T>::points(&first.algorithm)));
            batch = batch.max(early);
        }
        if self.keeps_start() {
            slots = slots.saturating_add(params);
        }
        let points = points.ok_or(Error::Overflow { what: "points" })?;
        let tables = self.estimator.tables_len();
        Ok(Sizes {
            params,
            length,
            points,
            slots,
            bank,
            sums: segments * heads,
            counts: segments,
            cursor: data.segments.cursor_len(),
            batch,
            scores: batch * heads,
            items: data.segments.items(),
            segments,
            tables,
            need,
        })
    }
}

impl<M, E, A, S, P: Before> Host<M, E, A, S, P> {
    /// Lengths of a [`RunState`].
    ///
    /// # Errors
    /// `Length` (rows and segments of other data), `Overflow`.
    pub fn state<T: Real>(&self, data: &Data<'_, T>) -> Result<Need>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        Ok(self.sizes(data)?.state())
    }

    /// Lengths of [`Buffers`].
    ///
    /// # Errors
    /// As [`state`](Self::state).
    pub fn buffers<T: Real>(&self, data: &Data<'_, T>) -> Result<Need>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        Ok(self.sizes(data)?.buffers())
    }

    /// Elements of memory that [`Chunks`] need.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    pub fn passes<T: Real>(&self, data: &Data<'_, T>) -> Result<usize>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        Ok(Chunks::need(&self.model, data.rows, self.sizes(data)?.batch))
    }

    /// Begins a run: start values of the model, everything else 0.
    ///
    /// # Errors
    /// `Length`, `Param` and `OneClass` as [`Sampler::prepare`].
    pub fn start<T: Real>(
        &self,
        data: &Data<'_, T>,
        state: &mut RunState<'_, T>,
        buffers: &mut Buffers<'_, T>,
    ) -> Result<()>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        state.real.fill(T::ZERO);
        state.f64.fill(0.0);
        state.u64.fill(0);
        let pieces = Pieces::cut(state, &sizes)?;
        *pieces.value = f64::NAN;
        self.model.init(&mut Rng::keyed(self.seed, 0x1217, 0), pieces.points.head_mut(sizes.params)?)?;
        spread(pieces.points, sizes.length);
        if self.keeps_start() {
            pieces.slots.tail_mut(sizes.params)?.copy(pieces.points);
        }
        self.resume(data, state, buffers)
    }

    /// The same at given parameters of the model.
    ///
    /// # Errors
    /// As [`start`](Self::start), and `Length`, `NonFinite` (parameters).
    pub fn start_at<T: Real>(
        &self,
        params: &[T],
        data: &Data<'_, T>,
        state: &mut RunState<'_, T>,
        buffers: &mut Buffers<'_, T>,
    ) -> Result<()>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        exact_len("params", self.model.param_len(), params.len())?;
        crate::error::all_finite("params", params)?;
        self.start(data, state, buffers)?;
        let sizes = self.sizes(data)?;
        let pieces = Pieces::cut(state, &sizes)?;
        pieces.points.head_mut(sizes.params)?.copy(params);
        spread(pieces.points, sizes.length);
        if self.keeps_start() {
            pieces.slots.tail_mut(sizes.params)?.copy(params);
        }
        Ok(())
    }

    /// Goes on with a restored state: makes what the buffers hold of it.
    ///
    /// # Errors
    /// As [`start`](Self::start); `Param` for counts that no run has.
    pub fn resume<T: Real>(
        &self,
        data: &Data<'_, T>,
        state: &mut RunState<'_, T>,
        buffers: &mut Buffers<'_, T>,
    ) -> Result<()>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        let pieces = Pieces::cut(state, &sizes)?;
        let desk = Desk::cut(buffers, &sizes)?;
        let sound = match self.is_pretraining(*pieces.steps) {
            true => {
                let first = self.pretraining.get();
                first.is_some_and(|p| Algorithm::<T>::sound(&p.algorithm, pieces.counters, *pieces.steps))
            }
            false => self.algorithm.sound(pieces.counters, *pieces.steps),
        };
        if !sound {
            return Err(Error::Param { what: "counters" });
        }
        if let Some(at) = data.segments.order().iter().position(|&row| row as usize >= data.rows.len()) {
            return Err(Error::Index { what: "segments", at, len: data.rows.len() });
        }
        for (segment, size) in desk.population.iter_mut().enumerate() {
            *size = data.segments.items_of(segment);
        }
        *desk.last = Last { drawn: None, rows: 0, tables: self.estimator.prepare(desk.tables).len() };
        match self.pretraining.get() {
            Some(first) if self.is_pretraining(*pieces.steps) => {
                go_on(&first.sampler, owned::<T, _>(&first.estimator, &data.segments).start, data, pieces, desk)
            }
            _ => go_on(&self.sampler, owned::<T, _>(&self.estimator, &data.segments).start, data, pieces, desk),
        }
    }

    /// One step: the objective's estimate on its batch, or `None` where nothing is left to do. A dual reset of many batches
    /// is cut into pieces, each a call that leaves the number of steps as it was.
    ///
    /// # Errors
    /// As the parts; `Length` for memory of other sizes; `Unsupported` for what a host of one model and one sampler cannot
    /// answer (a second sampler), and `Index` for rows there are not. The points are then as before; the batch is drawn.
    pub fn step<T: Real>(
        &self,
        data: &Data<'_, T>,
        state: &mut RunState<'_, T>,
        buffers: &mut Buffers<'_, T>,
        passes: &mut impl Passes<T, M>,
    ) -> Result<Option<f64>>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        let (pieces, desk) = (Pieces::cut(state, &sizes)?, Desk::cut(buffers, &sizes)?);
        if *pieces.steps >= self.steps {
            return Ok(None);
        }
        let (params, heads, pretraining) = (sizes.params, self.model.heads(), self.is_pretraining(*pieces.steps));
        let mut running = Running { model: &self.model, data, pieces, desk, passes, params, heads };
        let value = match self.pretraining.get() {
            Some(first) if pretraining => {
                let Pretraining { estimator, algorithm, sampler, .. } = first;
                let phase = Phase { estimator, algorithm, sampler, length: params, pretraining };
                self.step_of(&phase, &mut running)?
            }
            _ => {
                let Self { estimator, algorithm, sampler, .. } = self;
                let phase = Phase { estimator, algorithm, sampler, length: sizes.length, pretraining };
                self.step_of(&phase, &mut running)?
            }
        };
        match self.pretraining.get() {
            Some(first) if pretraining && *running.pieces.steps == first.steps => {
                self.begin(first.restart, &sizes, &mut running.pieces)?;
                running.desk.last.drawn = None;
                // Another sampler than before makes its own order, and begins anew where the cursor cannot be its own.
                let Running { pieces, desk, .. } = running;
                if self.sampler.prepare(&data.segments, pieces.cursor, desk.order).is_err() {
                    pieces.cursor.fill(0);
                    self.sampler.prepare(&data.segments, pieces.cursor, desk.order)?;
                }
            }
            _ => {}
        }
        Ok(value)
    }

    /// Whether nothing is left to do.
    ///
    /// # Errors
    /// `Length`.
    pub fn is_done<T: Real>(&self, data: &Data<'_, T>, state: &mut RunState<'_, T>) -> Result<bool>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        let pieces = Pieces::cut(state, &sizes)?;
        Ok(*pieces.steps >= self.steps || self.has_ended::<T>(pieces.counters, *pieces.steps))
    }

    /// Whether the algorithm wants nothing more.
    pub(crate) fn has_ended<T: Real>(&self, counters: &[u64], steps: u64) -> bool
    where
        A: Algorithm<T>,
    {
        // What an algorithm wants next is a matter of its counters alone.
        let mut own = [0; COUNTERS];
        own.copy_from_slice(&counters[..COUNTERS]);
        let memory = State::<T> { points: &mut [], slots: &mut [], counters: &mut own };
        !self.is_pretraining(steps) && self.algorithm.next(&memory) == Ask::Done
    }

    /// The model's parameters at the algorithm's iterate.
    ///
    /// # Errors
    /// `Length`.
    pub fn params<'s, T: Real>(&self, data: &Data<'_, T>, state: &'s RunState<'_, T>) -> Result<&'s [T]>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        exact_len("state.real", sizes.state().real, state.real.len())?;
        let at = self.iterate_at::<T>(&sizes, state.u64.first().copied().unwrap_or(0));
        state.real.part(at..at + sizes.params)
    }

    /// Where the iterate begins among the points, after so many steps.
    pub(crate) fn iterate_at<T: Real>(&self, sizes: &Sizes, steps: u64) -> usize
    where
        A: Algorithm<T>,
        P: BeforeIn<T>,
    {
        let (point, length) = match self.pretraining.get() {
            Some(first) if steps < first.steps => (Algorithm::<T>::iterate(&first.algorithm), sizes.params),
            _ => (self.algorithm.iterate(), sizes.length),
        };
        usize::from(point.0) * length
    }

    /// The model's parameters where the method's own steps began, once they have; `None` where they are not kept
    /// ([`keep_start`](Self::keep_start), or pre-training and a pull).
    ///
    /// # Errors
    /// `Length`.
    pub fn start_params<'s, T: Real>(&self, data: &Data<'_, T>, state: &'s RunState<'_, T>) -> Result<Option<&'s [T]>>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        exact_len("state.real", sizes.state().real, state.real.len())?;
        Ok(self.begun_at(&sizes, state.u64.first().copied().unwrap_or(0)).map(|range| &state.real[range]))
    }

    /// Where those parameters are in a state.
    pub(crate) fn begun_at(&self, sizes: &Sizes, steps: u64) -> Option<core::ops::Range<usize>> {
        let kept =
            (self.keep_start || self.pull > 0.0 && self.pretraining.get().is_some()) && !self.is_pretraining(steps);
        let end = sizes.points + sizes.slots;
        kept.then(|| end - sizes.params..end)
    }
}

/// Adds the gradient of a pull of this weight toward a start at some parameters, and returns its value.
pub(crate) fn add_pull<T: Real>(weight: f64, params: &[T], start: &[T], grad: &mut [T]) -> f64 {
    if weight == 0.0 {
        return 0.0;
    }
    let pull = T::of(weight);
    let mut distance = 0.0;
    for ((g, &w), &start) in grad.iter_mut().zip(params).zip(start) {
        let gone = w - start;
        *g = (*g + pull * gone).settled();
        distance += gone.f64() * gone.f64();
    }
    0.5 * weight * distance
}

/// Copies the first point to all others.
fn spread<T: Copy>(points: &mut [T], length: usize) {
    let Ok((first, others)) = points.halves_mut(length) else { return };
    for point in others.chunks_exact_mut(length.max(1)) {
        point.copy(first);
    }
}
