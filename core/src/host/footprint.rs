//! The memory of a run, known when it is compiled.

use super::memory::{Sizes, buffers_need, state_need};
use super::passes::{CHUNK, WIDE};
use crate::pairs::keep_slopes;
use crate::parts::FEW;
use crate::scratch::Need;

/// Lengths of everything that a run is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Of a [`RunState`](super::RunState).
    pub state: Need,
    /// Of [`Buffers`](super::Buffers).
    pub buffers: Need,
    /// Of [`Chunks`](super::Chunks).
    pub passes: usize,
}

impl Lengths {
    /// Enough for either of two runs.
    #[must_use]
    pub const fn either(self, other: Self) -> Self {
        let passes = if self.passes > other.passes { self.passes } else { other.passes };
        Self { state: self.state.either(other.state), buffers: self.buffers.either(other.buffers), passes }
    }

    /// All of it in bytes, of numbers of so many bytes.
    #[must_use]
    pub const fn bytes(&self, number: usize) -> usize {
        let wide = self.state.f64 + self.state.u64 + self.buffers.f64 + self.buffers.u64;
        number * (self.state.real + self.buffers.real + self.passes) + 8 * wide + 4 * self.buffers.u32
    }
}

/// How much memory a run of a linear model takes, step by step from its parts: what [`Host::state`](super::Host::state),
/// [`Host::buffers`](super::Host::buffers) and [`Host::passes`](super::Host::passes) say when the program runs. For other parts ask
/// those.
///
/// ```
/// use undercurve::host::{Footprint, Lengths};
///
/// // 200 rows of 3 dense columns, 20 of them positive; batches of 4 positives and 12 negatives.
/// const RUN: Lengths = Footprint::linear(200, 20, 3).batches(4, 12).soap().adam().lengths();
/// assert_eq!(RUN.state.real, 4 + 2 * 4 + 2 * 20); // parameters, Adam's moments, u1 and u2 of each positive
/// assert!(RUN.bytes(4) < 3 << 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    rows: usize,
    positives: usize,
    /// Gathered of a row; 0 where rows are sparse.
    gathered: usize,
    params: usize,
    batch: usize,
    aux: usize,
    /// State of the objective for each positive, and at all.
    per_positive: usize,
    state: usize,
    /// Scratch of the objective for each row of a batch.
    per_row: usize,
    /// Slots of the step rule for each parameter.
    per_param: usize,
    /// Points of the step rule.
    points: usize,
    start: bool,
}

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

impl Footprint {
    /// A linear model with one score, on so many dense rows, of which so many are positives; until more is said with batches of all
    /// rows and by a rule without slots.
    #[must_use]
    pub const fn linear(rows: usize, positives: usize, columns: usize) -> Self {
        Self {
            rows,
            positives: least(positives, rows),
            gathered: if columns <= WIDE { columns } else { 0 },
            params: columns + 1,
            batch: rows,
            aux: 0,
            per_positive: 0,
            state: 0,
            per_row: 0,
            per_param: 0,
            points: 1,
            start: false,
        }
    }

    /// Sparse rows.
    #[must_use]
    pub const fn sparse(self) -> Self {
        Self { gathered: 0, ..self }
    }

    /// Batches of [`Stratified`](crate::sampler::Stratified).
    #[must_use]
    pub const fn batches(self, positives: usize, negatives: usize) -> Self {
        Self { batch: least(positives, self.positives) + least(negatives, self.rows - self.positives), ..self }
    }

    /// The start is kept: with a pull, or by `keep_start`.
    #[must_use]
    pub const fn with_start(self) -> Self {
        Self { start: true, ..self }
    }

    /// [`Soap`](crate::estimator::Soap).
    #[must_use]
    pub const fn soap(self) -> Self {
        self.objective(0, 2, 0, 5 + keep_slopes::need(1))
    }

    /// [`AucPairwise`](crate::estimator::AucPairwise).
    #[must_use]
    pub const fn auc_pairwise(self) -> Self {
        self.objective(0, 0, 0, 2)
    }

    /// [`AucMinMax`](crate::estimator::AucMinMax).
    #[must_use]
    pub const fn auc_min_max(self) -> Self {
        self.objective(3, 0, 6, 2)
    }

    /// [`CrossEntropy`](crate::estimator::CrossEntropy) and [`Focal`](crate::estimator::Focal).
    #[must_use]
    pub const fn cross_entropy(self) -> Self {
        self.objective(0, 0, 0, 1)
    }

    /// An objective with so many auxiliaries, values of state for each positive and beside, and values of scratch for each row of a
    /// batch.
    #[must_use]
    pub const fn objective(self, aux: usize, per_positive: usize, state: usize, per_row: usize) -> Self {
        Self { aux, per_positive, state, per_row, ..self }
    }

    /// [`Adam`](crate::algorithm::Adam).
    #[must_use]
    pub const fn adam(self) -> Self {
        self.rule(1, 2)
    }

    /// [`Momentum`](crate::algorithm::Momentum) and [`Adagrad`](crate::algorithm::Adagrad).
    #[must_use]
    pub const fn momentum(self) -> Self {
        self.rule(1, 1)
    }

    /// [`Sgd`](crate::algorithm::Sgd).
    #[must_use]
    pub const fn sgd(self) -> Self {
        self.rule(1, 0)
    }

    /// [`PpdSg`](crate::algorithm::PpdSg).
    #[must_use]
    pub const fn ppd_sg(self) -> Self {
        self.rule(2, 1)
    }

    /// A rule with so many points, and so many slots for each parameter.
    #[must_use]
    pub const fn rule(self, points: usize, per_param: usize) -> Self {
        Self { points, per_param, ..self }
    }

    /// What that comes to.
    #[must_use]
    pub const fn lengths(&self) -> Lengths {
        let length = self.params + self.aux;
        let sizes = Sizes {
            params: self.params,
            length,
            points: self.points * length,
            slots: self.per_param * length + if self.start { self.params } else { 0 },
            bank: self.per_positive * self.positives + self.state,
            sums: 2,
            counts: 2,
            cursor: 4,
            batch: self.batch,
            scores: self.batch,
            items: self.rows,
            segments: 2,
            tables: 0,
            need: Need { real: self.per_row * self.batch, ..Need::NONE },
        };
        let chunk = least(CHUNK, if self.batch > 0 { self.batch } else { 1 });
        // (Sums over many rows are made in parts.)
        let parts = if self.batch >= FEW { self.params } else { 0 };
        let passes = chunk * (self.gathered + 1) + parts;
        Lengths { state: state_need(&sizes), buffers: buffers_need(&sizes), passes }
    }
}

/// Declares a struct that holds the memory of a run, as long as [`Lengths`](crate::host::Lengths) say.
///
/// It has `EMPTY`, and `lend`, which takes what [`Host::state`](crate::host::Host::state) says and returns the run's
/// [`RunState`](crate::host::RunState), [`Buffers`](crate::host::Buffers) and [`Chunks`](crate::host::Chunks). A run that needs more
/// than was declared is an error.
///
/// ```
/// use undercurve::algorithm::Adam;
/// use undercurve::data::{Rows, Segments};
/// use undercurve::estimator::Soap;
/// use undercurve::host::{Data, Footprint, Host};
/// use undercurve::model::Linear;
/// use undercurve::sampler::Stratified;
///
/// undercurve::run_memory! {
///     /// Six rows of one column, two of them positive.
///     struct Memory(f32) = Footprint::linear(6, 2, 1).batches(2, 4).soap().adam().lengths();
/// }
/// static X: [f32; 6] = [0.1, 0.9, 0.3, 0.2, 0.8, 0.4];
/// let (mut order, mut starts) = ([0; 6], [0; 3]);
/// let segments = Segments::new(&[0u8, 1, 0, 0, 1, 0], &mut order, &mut starts)?;
/// let data = Data { rows: Rows::dense(&X, 1)?, segments };
/// let host = Host { steps: 100, ..Host::new(Linear::new(1, 1)?, Soap::default(), Adam::default(), Stratified::new(1, 2, 4)?) };
///
/// let mut memory = Memory::EMPTY;
/// let (mut state, mut buffers, mut passes) = memory.lend(host.state(&data)?)?;
/// host.start(&data, &mut state, &mut buffers)?;
/// while host.step(&data, &mut state, &mut buffers, &mut passes)?.is_some() {}
/// assert!(host.params(&data, &state)?[0] > 0.0);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[macro_export]
macro_rules! run_memory {
    ($(#[$about:meta])* $seen:vis struct $Name:ident($T:ty) = $lengths:expr;) => {
        $(#[$about])*
        $seen struct $Name {
            real: [$T; { const L: $crate::host::Lengths = $lengths; L.state.real }],
            sums: [f64; { const L: $crate::host::Lengths = $lengths; L.state.f64 }],
            counts: [u64; { const L: $crate::host::Lengths = $lengths; L.state.u64 }],
            work: [$T; { const L: $crate::host::Lengths = $lengths; L.buffers.real }],
            tables: [f64; { const L: $crate::host::Lengths = $lengths; L.buffers.f64 }],
            index: [u32; { const L: $crate::host::Lengths = $lengths; L.buffers.u32 }],
            keys: [u64; { const L: $crate::host::Lengths = $lengths; L.buffers.u64 }],
            passes: [$T; { const L: $crate::host::Lengths = $lengths; L.passes }],
        }

        impl $Name {
            /// Nothing in it.
            $seen const EMPTY: Self = {
                const L: $crate::host::Lengths = $lengths;
                Self {
                    real: [0.0; L.state.real],
                    sums: [0.0; L.state.f64],
                    counts: [0; L.state.u64],
                    work: [0.0; L.buffers.real],
                    tables: [0.0; L.buffers.f64],
                    index: [0; L.buffers.u32],
                    keys: [0; L.buffers.u64],
                    passes: [0.0; L.passes],
                }
            };

            /// The memory of a run whose state is so long.
            ///
            /// # Errors
            /// `Length`.
            $seen fn lend(
                &mut self,
                state: $crate::Need,
            ) -> $crate::Result<($crate::host::RunState<'_, $T>, $crate::host::Buffers<'_, $T>, $crate::host::Chunks<'_, $T>)> {
                let short = |what, need, got| $crate::Error::Length { what, need, got };
                let got = [self.real.len(), self.sums.len(), self.counts.len()];
                Ok((
                    $crate::host::RunState {
                        real: self.real.get_mut(..state.real).ok_or(short("real", state.real, got[0]))?,
                        f64: self.sums.get_mut(..state.f64).ok_or(short("sums", state.f64, got[1]))?,
                        u64: self.counts.get_mut(..state.u64).ok_or(short("counts", state.u64, got[2]))?,
                    },
                    $crate::host::Buffers::new(&mut self.work, &mut self.tables, &mut self.index, &mut self.keys),
                    $crate::host::Chunks::new(&mut self.passes),
                ))
            }
        }
    };
}
