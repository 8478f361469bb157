//! The memory of a run: what is saved of it, and what is not.

use crate::error::{Error, Result, exact_len};
use crate::scratch::Need;
use crate::slices::Part;

/// Everything of a run that changes: saved and restored, it goes on with the same bits. All of it is 0 before
/// [`Host::start`](super::Host::start).
///
/// - `real`: the points of the algorithm one after the other, each of parameters and auxiliaries; its slots, and behind them
///   the parameters where the method's own steps began, if they are kept; the estimator's state.
/// - `f64`: the objective's estimate of the last step; the sums of a dual reset on its way.
/// - `u64`: steps done, rows drawn, batches that a dual reset has left, and how the last batch was drawn; the reset's counts;
///   the algorithm's counters; the sampler's cursor, and the cursor before the last batch.
#[derive(Debug)]
pub struct RunState<'a, T> {
    /// Of the working type.
    pub real: &'a mut [T],
    /// Sums.
    pub f64: &'a mut [f64],
    /// Counts.
    pub u64: &'a mut [u64],
}

/// Working memory of a run. It belongs to the run from [`Host::start`](super::Host::start) or
/// [`Host::resume`](super::Host::resume) on, but is made anew from the state: nothing of it is saved.
#[derive(Debug)]
pub struct Buffers<'a, T> {
    /// Of the working type.
    pub real: &'a mut [T],
    /// Tables and sums.
    pub f64: &'a mut [f64],
    /// Row numbers.
    pub u32: &'a mut [u32],
    /// Sort keys.
    pub u64: &'a mut [u64],
    /// What was drawn last, and the length of the tables.
    pub(crate) last: Last,
}

/// The last draw, and the length of the tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Last {
    pub drawn: Option<crate::batch::Drawn>,
    pub rows: usize,
    pub tables: usize,
}

impl<'a, T> Buffers<'a, T> {
    /// Of slices as long as [`Host::buffers`](super::Host::buffers) says, or longer, with any contents.
    pub fn new(real: &'a mut [T], f64: &'a mut [f64], u32: &'a mut [u32], u64: &'a mut [u64]) -> Self {
        Self { real, f64, u32, u64, last: Last::default() }
    }
}

/// The length of every piece of a run's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Parameters of the model, and with the auxiliaries of the method's estimator.
    pub params: usize,
    pub length: usize,
    pub points: usize,
    pub slots: usize,
    pub bank: usize,
    pub sums: usize,
    pub counts: usize,
    pub cursor: usize,
    /// Rows of the largest batch, its scores, and the items of a sampler's epoch.
    pub batch: usize,
    pub scores: usize,
    pub items: usize,
    pub segments: usize,
    pub tables: usize,
    pub need: Need,
}

/// Counts at the head of a state.
const HEAD: usize = 4;

/// Lengths of a [`RunState`].
pub(crate) const fn state_need(of: &Sizes) -> Need {
    let u64 = HEAD + of.counts + crate::algorithm::COUNTERS + 2 * of.cursor;
    Need { real: of.points + of.slots + of.bank, f64: 1 + of.sums, u32: 0, u64 }
}

/// Lengths of [`Buffers`].
pub(crate) const fn buffers_need(of: &Sizes) -> Need {
    Need {
        real: 3 * of.scores + of.length + of.need.real,
        f64: of.tables + of.need.f64,
        u32: of.items + 2 * (of.batch + of.segments) + 1 + of.need.u32,
        u64: of.cursor + of.need.u64,
    }
}

impl Sizes {
    /// Of a [`RunState`].
    pub fn state(&self) -> Need {
        state_need(self)
    }

    /// Where they begin.
    pub fn counters_at(&self) -> usize {
        self.state().u64 - 2 * self.cursor - crate::algorithm::COUNTERS
    }

    /// The algorithm's counters in the counts of a state.
    pub fn counters<'a>(&self, u64: &'a [u64]) -> &'a [u64] {
        &u64[self.counters_at()..][..crate::algorithm::COUNTERS]
    }

    /// Of [`Buffers`].
    pub fn buffers(&self) -> Need {
        buffers_need(self)
    }
}

/// A [`RunState`] in its pieces.
pub(crate) struct Pieces<'a, T> {
    pub points: &'a mut [T],
    pub slots: &'a mut [T],
    pub bank: &'a mut [T],
    pub value: &'a mut f64,
    pub sums: &'a mut [f64],
    pub steps: &'a mut u64,
    pub drawn: &'a mut u64,
    /// Batches that a dual reset has left.
    pub left: &'a mut u64,
    /// How the last batch was drawn: one of [`again`].
    pub again: &'a mut u64,
    pub counts: &'a mut [u64],
    pub counters: &'a mut [u64],
    pub cursor: &'a mut [u64],
    /// The cursor before the last batch.
    pub before: &'a mut [u64],
}

/// How the last batch of a phase was drawn.
pub(crate) mod again {
    /// There was none.
    pub const NONE: u64 = 0;
    /// By the sampler.
    pub const FRESH: u64 = 1;
    /// All rows.
    pub const ALL: u64 = 2;
}

impl<'a, T: Copy> Pieces<'a, T> {
    pub fn cut(state: &'a mut RunState<'_, T>, sizes: &Sizes) -> Result<Self> {
        let need = sizes.state();
        exact_len("state.real", need.real, state.real.len())?;
        exact_len("state.f64", need.f64, state.f64.len())?;
        exact_len("state.u64", need.u64, state.u64.len())?;
        let (points, rest) = state.real.halves_mut(sizes.points)?;
        let (slots, bank) = rest.halves_mut(sizes.slots)?;
        let missing = Error::Empty { what: "state" };
        let (value, sums) = state.f64.split_first_mut().ok_or(missing)?;
        let (head, rest) = state.u64.halves_mut(HEAD)?;
        let [steps, drawn, left, again] = head else { return Err(missing) };
        let (counts, rest) = rest.halves_mut(sizes.counts)?;
        let (counters, rest) = rest.halves_mut(crate::algorithm::COUNTERS)?;
        let (cursor, before) = rest.halves_mut(sizes.cursor)?;
        Ok(Self { points, slots, bank, value, sums, steps, drawn, left, again, counts, counters, cursor, before })
    }
}

/// [`Buffers`] in their pieces.
pub(crate) struct Desk<'a, T> {
    pub scores: &'a mut [T],
    pub previous: &'a mut [T],
    pub slopes: &'a mut [T],
    pub grad: &'a mut [T],
    pub real: &'a mut [T],
    pub tables: &'a mut [f64],
    pub f64: &'a mut [f64],
    pub order: &'a mut [u32],
    pub index: &'a mut [u32],
    pub slots: &'a mut [u32],
    pub starts: &'a mut [u32],
    pub population: &'a mut [u32],
    pub u32: &'a mut [u32],
    /// A cursor to try things with.
    pub spare: &'a mut [u64],
    pub u64: &'a mut [u64],
    pub last: &'a mut Last,
}

impl<'a, T: Copy> Desk<'a, T> {
    pub fn cut(buffers: &'a mut Buffers<'_, T>, sizes: &Sizes) -> Result<Self> {
        let need = sizes.buffers();
        for (what, need, got) in [
            ("buffers.real", need.real, buffers.real.len()),
            ("buffers.f64", need.f64, buffers.f64.len()),
            ("buffers.u32", need.u32, buffers.u32.len()),
            ("buffers.u64", need.u64, buffers.u64.len()),
        ] {
            if got < need {
                return Err(Error::Length { what, need, got });
            }
        }
        let (scores, rest) = buffers.real.halves_mut(sizes.scores)?;
        let (previous, rest) = rest.halves_mut(sizes.scores)?;
        let (slopes, rest) = rest.halves_mut(sizes.scores)?;
        let (grad, real) = rest.halves_mut(sizes.length)?;
        let (tables, f64) = buffers.f64.halves_mut(sizes.tables)?;
        let (order, rest) = buffers.u32.halves_mut(sizes.items)?;
        let (index, rest) = rest.halves_mut(sizes.batch)?;
        let (slots, rest) = rest.halves_mut(sizes.batch)?;
        let (starts, rest) = rest.halves_mut(sizes.segments + 1)?;
        let (population, u32) = rest.halves_mut(sizes.segments)?;
        let (spare, u64) = buffers.u64.halves_mut(sizes.cursor)?;
        let last = &mut buffers.last;
        Ok(Self {
            scores,
            previous,
            slopes,
            grad,
            real,
            tables,
            f64,
            order,
            index,
            slots,
            starts,
            population,
            u32,
            spare,
            u64,
            last,
        })
    }
}
