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

pub use ahead::Ahead;
pub use elsewhere::WholeObjective;
pub use footprint::{Footprint, Lengths};
pub use memory::{Buffers, RunState};
pub use passes::{Chunks, Passes};
pub use pretraining::{Before, BeforeIn, NoPretraining, Pretraining};

use crate::features::{MINIMAL, MULTICLASS};
use memory::again;
pub(crate) use memory::{Desk, Last, Pieces, Sizes};
#[cfg(feature = "alloc")]
pub(crate) use passes::{CHUNK, Chunk, chunk_lens, sum_len};

use crate::algorithm::{Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Draw, Point, State, Want};
use crate::batch::{Batch, Drawn, Shape};
use crate::data::{Rows, Segments};
use crate::error::{Error, Result, exact_len};
use crate::estimator::{AnyEstimator, Estimator, Grad};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use crate::rng::Rng;
use crate::sampler::{AnySampler, Place, Sampler, Whole};
use crate::scratch::{Need, Scratch};
use crate::slices::Part;
use core::ops::Range;

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

/// The part of a host that makes a step: its own, or that of pre-training.
struct Phase<'p, E, A, S> {
    estimator: &'p E,
    algorithm: &'p A,
    sampler: &'p S,
    /// Parameters and auxiliaries.
    length: usize,
    pretraining: bool,
}

/// Rows that a dual reset draws in one call at most, so that no call takes long and a run can be saved within it.
const PIECE: usize = 1 << 16;

/// Whether algorithms may ask for terms, or for an estimator's state and its gradient apart: those of `every-method` alone do.
const EVERYTHING: bool = !MINIMAL;

/// What a step works with.
struct Running<'r, 'd, T, M, P> {
    model: &'r M,
    data: &'r Data<'d, T>,
    pieces: Pieces<'r, T>,
    desk: Desk<'r, T>,
    passes: &'r mut P,
    params: usize,
    heads: usize,
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

    /// One step of a phase.
    fn step_of<T: Real, E2: Estimator<T>, A2: Algorithm<T>, S2: Sampler>(
        &self,
        phase: &Phase<'_, E2, A2, S2>,
        running: &mut Running<'_, '_, T, M, impl Passes<T, M>>,
    ) -> Result<Option<f64>>
    where
        M: Model<T>,
    {
        loop {
            match phase.algorithm.next(&running.memory(phase)) {
                Ask::Evaluate { term, at, previous, draw, rate, want } => {
                    let evaluated = running.evaluate(phase, (term, rate), at, previous, draw, want);
                    let value = match evaluated {
                        // A line search may try a point whose value does not fit; that is no decrease, not the end.
                        Err(Error::Overflow { .. }) if draw == Draw::All && want == Want::Both => {
                            running.desk.grad.fill(T::ZERO);
                            f64::INFINITY
                        }
                        other => other?,
                    };
                    if want == Want::Track && EVERYTHING {
                        running.tell(phase, Answer::Continue)?;
                        continue;
                    }
                    self.made(phase, running, term, at, value)?;
                    return Ok(Some(value));
                }
                Ask::Turn { term } if EVERYTHING => {
                    phase.estimator.turn(term, running.bank(phase)?)?;
                    running.tell(phase, Answer::Continue)?;
                }
                Ask::Turn { .. } => return Err(Error::Unsupported { what: "a turn in this build" }),
                Ask::Report { .. } => running.tell(phase, Answer::Continue)?,
                Ask::ClassMeans { at, draw, batches } => {
                    if !running.means(phase, at, draw, batches)? {
                        return Ok(Some(*running.pieces.value));
                    }
                    running.tell_means(phase, at)?;
                }
                Ask::Done => return Ok(None),
            }
        }
    }

    /// Makes the step of an evaluation whose gradient is in `desk.grad`.
    fn made<T: Real, E2: Estimator<T>, A2: Algorithm<T>, S2: Sampler>(
        &self,
        phase: &Phase<'_, E2, A2, S2>,
        running: &mut Running<'_, '_, T, M, impl Passes<T, M>>,
        term: u8,
        at: Point,
        value: f64,
    ) -> Result<()>
    where
        M: Model<T>,
    {
        // The pull is a part of the objective's last term.
        let without = term + 1 < phase.estimator.terms();
        let pulled = if without { 0.0 } else { self.pull_at(phase, running, at)? };
        let grad = running.desk.grad.head(phase.length)?;
        let mut memory = running.pieces.memory(phase);
        phase.algorithm.tell(&mut memory, Answer::Gradient { value: value + pulled, grad })?;
        *running.pieces.steps = running.pieces.steps.saturating_add(1);
        *running.pieces.value = value;
        Ok(())
    }

    /// Adds the gradient of the pull toward the start, and returns its value.
    fn pull_at<T: Real, E2, A2, S2, R>(
        &self,
        phase: &Phase<'_, E2, A2, S2>,
        running: &mut Running<'_, '_, T, M, R>,
        at: Point,
    ) -> Result<f64> {
        let params = running.params;
        let from = usize::from(at.0) * phase.length;
        let start = running.pieces.slots.tail(if self.keeps_start() { params } else { 0 })?;
        let weight = self.pull_after(*running.pieces.steps);
        Ok(add_pull(weight, running.pieces.points.part(from..from + params)?, start, running.desk.grad))
    }

    /// Ends pre-training: a new last layer where one is wanted, and the method's own memory at its start.
    fn begin<T: Real>(&self, restart: bool, sizes: &Sizes, pieces: &mut Pieces<'_, T>) -> Result<()>
    where
        M: Model<T>,
    {
        let (params, length) = (sizes.params, sizes.length);
        if restart && let Some(last) = self.model.part("last") {
            // (The slots are free now, and hold a vector or two.)
            let fresh = &mut pieces.slots[..];
            let mut rng = Rng::keyed(self.seed, 0x1217, 1);
            if fresh.len() >= params {
                self.model.init(&mut rng, &mut fresh[..params])?;
                pieces.points[last.clone()].copy_from_slice(&fresh[last]);
            } else {
                return Err(Error::Length { what: "slots", need: params, got: fresh.len() });
            }
        }
        pieces.points.part_mut(params..length)?.fill(T::ZERO);
        spread(pieces.points, length);
        pieces.slots.fill(T::ZERO);
        if self.keeps_start() {
            pieces.slots.tail_mut(params)?.copy(pieces.points);
        }
        pieces.bank.fill(T::ZERO);
        pieces.counters.fill(0);
        *pieces.again = again::NONE;
        Ok(())
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

/// Makes what follows from a cursor, and the batch that was drawn last again, for those that ask for it.
fn go_on<T: Real>(
    sampler: &impl Sampler,
    first: usize,
    data: &Data<'_, T>,
    pieces: Pieces<'_, T>,
    desk: Desk<'_, T>,
) -> Result<()> {
    let segments = &data.segments;
    match *pieces.again {
        _ if !EVERYTHING => sampler.prepare(segments, pieces.cursor, desk.order),
        again::FRESH => {
            desk.spare.copy(pieces.before);
            sampler.prepare(segments, desk.spare, desk.order)?;
            desk.last.rows = sampler.rows(segments);
            let to = place(desk.index, desk.slots, desk.starts, desk.last.rows)?;
            desk.last.drawn = Some(sampler.draw(segments, desk.spare, desk.order, to)?);
            number(desk.slots.head_mut(desk.last.rows)?, first);
            if *desk.spare == *pieces.cursor { Ok(()) } else { Err(Error::Param { what: "cursor" }) }
        }
        again::ALL => {
            sampler.prepare(segments, pieces.cursor, desk.order)?;
            desk.last.rows = Whole.rows(segments);
            desk.last.drawn = Some(Whole.fill(segments, place(desk.index, desk.slots, desk.starts, desk.last.rows)?));
            number(desk.slots.head_mut(desk.last.rows)?, first);
            Ok(())
        }
        again::NONE => sampler.prepare(segments, pieces.cursor, desk.order),
        _ => Err(Error::Param { what: "last batch" }),
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

impl<T: Real> Pieces<'_, T> {
    /// The part of the memory that an algorithm works on.
    fn memory<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>) -> State<'_, T> {
        State {
            points: self.points.get_mut(..phase.length * phase.algorithm.points()).unwrap_or_default(),
            slots: self.slots.get_mut(..phase.algorithm.slots_len(phase.length)).unwrap_or_default(),
            counters: self.counters,
        }
    }
}

impl<T: Real, M: Model<T>, P: Passes<T, M>> Running<'_, '_, T, M, P> {
    fn memory<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>) -> State<'_, T> {
        self.pieces.memory(phase)
    }

    fn tell<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>, answer: Answer<'_, T>) -> Result<()> {
        phase.algorithm.tell(&mut self.memory(phase), answer)
    }

    /// The state of a phase's estimator.
    fn bank<E: Estimator<T>, A, S>(&mut self, phase: &Phase<'_, E, A, S>) -> Result<&mut [T]> {
        let len = phase.estimator.state_len(owned(phase.estimator, &self.data.segments).len());
        self.pieces.bank.head_mut(len)
    }

    /// Draws rows.
    fn pick<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
        &mut self,
        phase: &Phase<'_, E, A, S>,
        draw: Draw,
    ) -> Result<Drawn> {
        let segments = &self.data.segments;
        let desk = &mut self.desk;
        let drawn = match draw {
            Draw::Fresh { sampler: 0 } => {
                let rows = phase.sampler.rows(segments);
                let to = place(desk.index, desk.slots, desk.starts, rows)?;
                // What a draw that fails leaves behind is no batch.
                desk.last.drawn = None;
                *self.pieces.again = again::NONE;
                self.pieces.before.copy(self.pieces.cursor);
                let drawn = phase.sampler.draw(segments, self.pieces.cursor, desk.order, to)?;
                if let Some(at) = desk.index.iter().take(rows).position(|&row| row as usize >= self.data.rows.len()) {
                    return Err(Error::Index { what: "index", at, len: self.data.rows.len() });
                }
                // (Whether the segments follow each other, for those who look at them without a batch.)
                if desk.starts.first() != Some(&0)
                    || !ascends(desk.starts)
                    || desk.starts.last() != Some(&(rows as u32))
                {
                    return Err(Error::Param { what: "starts" });
                }
                (desk.last.rows, *self.pieces.again) = (rows, again::FRESH);
                drawn
            }
            Draw::All => {
                let rows = Whole.rows(segments);
                let to = place(desk.index, desk.slots, desk.starts, rows)?;
                (desk.last.rows, *self.pieces.again) = (rows, again::ALL);
                // Everything at once moves no cursor but its own.
                Whole.fill(segments, to)
            }
            Draw::Again => match desk.last.drawn {
                Some(drawn) => drawn,
                None => return Err(Error::Unsupported { what: "the batch before the first" }),
            },
            Draw::Fresh { .. } => return Err(Error::Unsupported { what: "a second sampler" }),
        };
        desk.last.drawn = Some(drawn);
        let rows = desk.last.rows;
        if draw != Draw::Again {
            number(desk.slots.head_mut(rows)?, owned(phase.estimator, segments).start);
        }
        *self.pieces.drawn = self.pieces.drawn.saturating_add(rows as u64);
        Ok(drawn)
    }

    /// Draws rows, and scores them at a point; at another first, if there is one.
    fn draw<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
        &mut self,
        phase: &Phase<'_, E, A, S>,
        at: Point,
        previous: Option<Point>,
        draw: Draw,
    ) -> Result<Drawn> {
        let points = phase.algorithm.points();
        if usize::from(at.0) >= points || previous.is_some_and(|previous| usize::from(previous.0) >= points) {
            return Err(Error::Unsupported { what: "a point that the algorithm does not have" });
        }
        let drawn = self.pick(phase, draw)?;
        let desk = &mut self.desk;
        let rows = desk.last.rows;
        let index = desk.index.head(rows)?;
        let scores = rows * self.heads;
        let points = &*self.pieces.points;
        let params = |at: Point| {
            let from = usize::from(at.0) * phase.length;
            points.part(from..from + self.params)
        };
        if let (Some(previous), true) = (previous, EVERYTHING) {
            let to = desk.previous.head_mut(scores)?;
            self.passes.forward(self.model, params(previous)?, self.data.rows, index, to)?;
        }
        self.passes.forward(self.model, params(at)?, self.data.rows, index, desk.scores.head_mut(scores)?)?;
        Ok(drawn)
    }

    /// Draws, scores, estimates and back-propagates; the gradient is left in `desk.grad`.
    fn evaluate<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
        &mut self,
        phase: &Phase<'_, E, A, S>,
        (term, rate): (u8, Option<f64>),
        at: Point,
        previous: Option<Point>,
        draw: Draw,
        want: Want,
    ) -> Result<f64> {
        if term >= phase.estimator.terms()
            || !(EVERYTHING || want == Want::Both && previous.is_none() && draw != Draw::Again)
        {
            return Err(Error::Unsupported { what: "a term that the objective does not have" });
        }
        let drawn = self.draw(phase, at, previous, draw)?;
        let (owned, params) = (owned(phase.estimator, &self.data.segments), self.params);
        let desk = &mut self.desk;
        let (rows, scores) = (desk.last.rows, desk.last.rows * self.heads);
        let (slopes, slots) = (desk.slopes.head_mut(scores)?, desk.slots.head(rows)?);
        let segments = &self.data.segments;
        let masses = segments.masses();
        let mut batch =
            Batch::weighted(desk.scores.head(scores)?, self.heads, desk.starts, desk.population, masses, drawn)?;
        if drawn == Drawn::All && !segments.weights().is_empty() {
            if !phase.estimator.takes_weights() {
                return Err(Error::Unsupported { what: "weights of all rows in this objective" });
            }
            batch = batch.with_weights(segments.weights())?;
        }
        let owners = owners(phase.estimator, &self.data.segments);
        batch = batch.with_slots(slots.part(bounds(desk.starts, owners))?);
        if previous.is_some() && EVERYTHING {
            batch = batch.with_previous(desk.previous.head(scores)?)?;
        }
        if !phase.pretraining {
            batch = batch.with_tables(desk.tables.head(desk.last.tables)?);
        }
        batch = batch.of_term(term).at_rate(rate);
        let from = usize::from(at.0) * phase.length;
        let (weights, aux) = self.pieces.points.part(from..from + phase.length)?.halves(params)?;
        let (by_params, by_aux) = desk.grad.head_mut(phase.length)?.halves_mut(params)?;
        let state = self.pieces.bank.head_mut(phase.estimator.state_len(owned.len()))?;
        let scratch = Scratch { real: desk.real, f64: desk.f64, u32: desk.u32, u64: desk.u64 };
        let value = match want {
            Want::Track if EVERYTHING => {
                phase.estimator.track(&batch, state, scratch)?;
                return Ok(f64::NAN);
            }
            Want::Gradient if EVERYTHING => {
                let out = Grad { scores: slopes, aux: by_aux };
                phase.estimator.gradient(&batch, aux, state, scratch, out)?
            }
            Want::Both | Want::Track | Want::Gradient => {
                let out = Grad { scores: slopes, aux: by_aux };
                phase.estimator.update(&batch, aux, state, scratch, out)?
            }
        };
        by_params.fill(T::ZERO);
        let index = desk.index.head(rows)?;
        self.passes.backward(self.model, weights, self.data.rows, index, desk.slopes.head(scores)?, by_params)?;
        Ok(value)
    }

    /// Sums of the linked scores of each class over some draws; whether no draws are left for another call.
    fn means<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
        &mut self,
        phase: &Phase<'_, E, A, S>,
        at: Point,
        draw: Draw,
        batches: u64,
    ) -> Result<bool> {
        let (heads, link) = (self.heads, phase.estimator.link());
        if *self.pieces.left == 0 {
            *self.pieces.left = batches;
            self.pieces.sums.fill(0.0);
            self.pieces.counts.fill(0);
        }
        let rows = phase.sampler.rows(&self.data.segments);
        let piece = (*self.pieces.left).min((PIECE / rows.max(1)).max(1) as u64);
        for _ in 0..piece {
            *self.pieces.left -= 1;
            self.draw(phase, at, None, draw)?;
            let desk = &mut self.desk;
            let h = &mut desk.slopes[..heads];
            for (class, bounds) in desk.starts.windows(2).enumerate() {
                let rows = bounds[0] as usize * heads..bounds[1] as usize * heads;
                for scores in desk.scores[rows].chunks_exact(heads) {
                    link.apply_to_row(scores, h);
                    for (sum, h) in self.pieces.sums[class * heads..][..heads].iter_mut().zip(&*h) {
                        *sum += h.f64();
                    }
                    self.pieces.counts[class] = self.pieces.counts[class].saturating_add(1);
                }
            }
        }
        Ok(*self.pieces.left == 0)
    }

    /// Mean of score `of` of a row over the rows of a class that were drawn; `None` where there were none.
    fn mean(&self, class: usize, of: usize) -> Option<f64> {
        let count = self.pieces.counts[class];
        (count > 0).then(|| self.pieces.sums[class * self.heads + of] / count as f64)
    }

    /// Answers with the means of two classes; or, of several, with the best dual variables: for a pair of classes (i, j) the
    /// mean of h_i over class j less that over class i. Those of a class that was not drawn stay as they are at the point.
    fn tell_means<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>, at: Point) -> Result<()> {
        if self.heads == 1 || !MULTICLASS {
            let [negative, positive] = [0, 1].map(|class| self.mean(class, 0).map(T::of));
            return self.tell(phase, Answer::ClassMeans { positive, negative });
        }
        let classes = self.data.segments.len();
        let pairs = classes * (classes - 1);
        if self.heads != classes || phase.length - self.params < pairs {
            return Err(Error::Unsupported { what: "class means of other than one dual variable a pair of classes" });
        }
        let from = (usize::from(at.0) + 1) * phase.length - pairs;
        self.desk.grad[..pairs].copy_from_slice(&self.pieces.points[from..][..pairs]);
        for k in 0..pairs {
            let (own, rest) = (k / (classes - 1), k % (classes - 1));
            let other = rest + usize::from(rest >= own);
            if let (Some(high), Some(low)) = (self.mean(other, own), self.mean(own, own)) {
                self.desk.grad[k] = T::of(high - low);
            }
        }
        let alpha = &self.desk.grad[..pairs];
        let mut memory = self.pieces.memory(phase);
        phase.algorithm.tell(&mut memory, Answer::Duals { alpha })
    }
}

/// Room for a draw of so many rows.
fn place<'a>(index: &'a mut [u32], items: &'a mut [u32], starts: &'a mut [u32], rows: usize) -> Result<Place<'a>> {
    let got = index.len().min(items.len());
    let short = Error::Length { what: "batch", need: rows, got };
    let (Some(index), Some(items)) = (index.get_mut(..rows), items.get_mut(..rows)) else { return Err(short) };
    Ok(Place { index, items, starts })
}

/// Makes slots of the places of drawn rows, of those that own state (what becomes of the others is not read).
fn number(slots: &mut [u32], first: usize) {
    slots.iter_mut().for_each(|slot| *slot = slot.wrapping_sub(first as u32));
}

/// The segments whose rows own state. (None of a small build's estimators names its own.)
fn owners<T: Real, E: Estimator<T>>(estimator: &E, segments: &Segments<'_>) -> Range<usize> {
    if EVERYTHING { estimator.owners(segments.len()) } else { 1..segments.len() }
}

/// Where those rows are in the order of the segments.
fn owned<T: Real, E: Estimator<T>>(estimator: &E, segments: &Segments<'_>) -> Range<usize> {
    let owners = owners(estimator, segments);
    bounds(segments.starts(), owners)
}

/// The rows of some segments; none where there are no such segments.
fn bounds(starts: &[u32], segments: Range<usize>) -> Range<usize> {
    let start = |segment: usize| starts.get(segment).map_or(0, |&start| start as usize);
    start(segments.start)..start(segments.end)
}

/// Whether no number is below the one before. (`is_sorted` links a panic.)
fn ascends(starts: &[u32]) -> bool {
    starts.iter().zip(starts.iter().skip(1)).all(|(low, high)| low <= high)
}
