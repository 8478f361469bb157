//! Steps that are computed elsewhere, on a GPU for one: their description and their batches.

use super::memory::again;
use super::running::{go_on, number, owned, place};
use super::{Before, BeforeIn, Buffers, Data, Desk, Host, Pieces, Pretraining, RunState, Sizes};
use crate::algorithm::{Algorithm, COUNTERS};
use crate::batch::{Batch, Drawn};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::model::Model;
use crate::real::Real;
use crate::sampler::Sampler;

/// Where the batches of the next steps go.
#[derive(Debug)]
pub struct Ahead<'a> {
    /// For each step [`Host::list_len`] numbers: how many negatives there are, the rows, segment by segment, and where the
    /// objective has a state the slots of the rows that own some.
    pub lists: &'a mut [u32],
    /// For each step what its rule needs ([`Algorithm::pace`]); as many as there are to be steps.
    pub pace: &'a mut [[f64; 2]],
}

/// What the next steps are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub objective: Recipe,
    pub rule: Recipe,
    pub sigmoid: bool,
    pub ascent: usize,
    /// Rows of a batch; of them negatives, where they are always the same; numbers of a batch's list.
    pub rows: usize,
    pub negatives: Option<usize>,
    pub list: usize,
    /// Entries of a point, and points.
    pub length: usize,
    pub points: usize,
    /// Whether the objective has a state.
    pub bank: bool,
}

impl<M, E, A, S, P: Before> Host<M, E, A, S, P> {
    /// Numbers in the list of a batch of the next steps.
    ///
    /// # Errors
    /// `Unsupported`, with what of the run nobody else can compute.
    pub fn list_len<T: Real>(&self, data: &Data<'_, T>, state: &RunState<'_, T>) -> Result<usize>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let steps = state.u64.first().copied().unwrap_or(0);
        Ok(self.parts_ahead(data, &self.sizes(data)?, steps)?.list)
    }

    /// Draws the batches of the next steps, as many as `to` has room for, and moves the counts of the run past them: what is
    /// left is to put the points, slots and state there that those steps lead to. Returns how many: fewer where something else
    /// than a plain step comes first, which [`step`](Self::step) does, and 0 where that is now.
    ///
    /// # Errors
    /// As [`list_len`](Self::list_len); `Length`.
    pub fn draw<T: Real>(
        &self,
        data: &Data<'_, T>,
        state: &mut RunState<'_, T>,
        buffers: &mut Buffers<'_, T>,
        to: Ahead<'_>,
    ) -> Result<usize>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        let (pieces, desk) = (Pieces::cut(state, &sizes)?, Desk::cut(buffers, &sizes)?);
        let parts = self.parts_ahead(data, &sizes, *pieces.steps)?;
        let need = parts.list * to.pace.len();
        if to.lists.len() < need {
            return Err(Error::Length { what: "lists", need, got: to.lists.len() });
        }
        let most = self.plain_steps::<T>(*pieces.steps, pieces.counters, to.pace);
        match self.pretraining.get() {
            Some(Pretraining { steps, estimator, algorithm, sampler, .. }) if *pieces.steps < *steps => {
                draw((estimator, algorithm, sampler), &parts, most, data, pieces, desk, to)
            }
            _ => {
                let Self { estimator, algorithm, sampler, .. } = self;
                draw((estimator, algorithm, sampler), &parts, most, data, pieces, desk, to)
            }
        }
    }

    /// How many of the next steps are plain ones, after so many and at these counters; and what the rule needs of each.
    pub(crate) fn plain_steps<T: Real>(&self, steps: u64, counters: &[u64], pace: &mut [[f64; 2]]) -> usize
    where
        A: Algorithm<T>,
        P: BeforeIn<T>,
    {
        // (The last step of pre-training ends it.)
        let first = self.pretraining.get().filter(|first| steps < first.steps);
        let end = first.map_or(self.steps, |first| first.steps.min(self.steps) - 1);
        let left = usize::try_from(end.saturating_sub(steps)).unwrap_or(usize::MAX);
        let most = left.min(pace.len());
        let mut own = [0; COUNTERS];
        own.copy_from_slice(counters);
        match first {
            Some(first) => Algorithm::<T>::pace(&first.algorithm, &mut own, &mut pace[..most]),
            None => self.algorithm.pace(&mut own, &mut pace[..most]),
        }
    }

    /// What the steps after so many are made of.
    pub(crate) fn parts_ahead<T: Real>(&self, data: &Data<'_, T>, sizes: &Sizes, steps: u64) -> Result<Parts>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        if self.model.heads() != 1 || data.segments.len() != 2 {
            return Err(Error::Unsupported { what: "other than two classes and one score a row, elsewhere" });
        }
        match self.pretraining.get() {
            Some(first) if steps < first.steps => {
                parts(&first.estimator, &first.algorithm, &first.sampler, data, sizes.params)
            }
            _ => parts(&self.estimator, &self.algorithm, &self.sampler, data, sizes.length),
        }
    }
}

fn parts<T: Real, E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
    estimator: &E,
    algorithm: &A,
    sampler: &S,
    data: &Data<'_, T>,
    length: usize,
) -> Result<Parts> {
    let segments = &data.segments;
    let rows = sampler.rows(segments);
    if rows > MOST {
        return Err(Error::Unsupported { what: "batches of more than 4096 rows elsewhere" });
    }
    let negatives = sampler.rows_of(segments, 0);
    let population = [segments.items_of(0), segments.items_of(1)];
    let low = negatives.unwrap_or_else(|| (population[0] as usize).min(rows.saturating_sub(1))) as u32;
    let drawn = if negatives.is_some() { Drawn::Stratified } else { Drawn::Uniform };
    let starts = [0, low, rows as u32];
    let of = (starts, population, segments.masses(), drawn);
    let zeros = [T::ZERO; MOST];
    let objective =
        recipe(estimator, of, &zeros[..rows]).ok_or(Error::Unsupported { what: "this objective elsewhere" })?;
    let rule = algorithm.recipe().ok_or(Error::Unsupported { what: "this step rule elsewhere" })?;
    // Of two terms plain steps take the last; a rule for one would take the first.
    if estimator.terms() > 1 && rule.name != "dca" {
        return Err(Error::Unsupported { what: "this step rule elsewhere" });
    }
    let bank = estimator.state_len(owned(estimator, segments).len()) > 0;
    // (Of rows with weights a batch may have one several times, and its state would be moved as often.)
    if bank && !segments.weights().is_empty() {
        return Err(Error::Unsupported { what: "weights of rows in an objective with a state, elsewhere" });
    }
    let list = 1 + rows + if bank { rows - negatives.unwrap_or(0) } else { 0 };
    let sigmoid = estimator.link() == crate::estimator::Link::Sigmoid;
    let (ascent, points) = (estimator.aux().1, algorithm.points());
    Ok(Parts { objective, rule, sigmoid, ascent, rows, negatives, list, length, points, bank })
}

/// Of batches so composed. (Scores have nothing to do with it, so any will do.)
fn recipe<T: Real, E: Estimator<T>>(
    estimator: &E,
    (starts, population, masses, drawn): ([u32; 3], [u32; 2], &[f64], Drawn),
    scores: &[T],
) -> Option<Recipe> {
    let batch = Batch::weighted(scores, 1, &starts, &population, masses, drawn).ok()?;
    estimator.recipe(&batch)
}

/// Rows of a batch that somebody else computes, at most.
const MOST: usize = 4096;

fn draw<T: Real, E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
    (estimator, algorithm, sampler): (&E, &A, &S),
    parts: &Parts,
    most: usize,
    data: &Data<'_, T>,
    pieces: Pieces<'_, T>,
    desk: Desk<'_, T>,
    to: Ahead<'_>,
) -> Result<usize> {
    let (segments, rows) = (&data.segments, parts.rows);
    let owned = owned(estimator, segments);
    let (mut made, mut refused) = (0, false);
    for list in to.lists.chunks_exact_mut(parts.list).take(most) {
        desk.spare.copy_from_slice(pieces.cursor);
        let drawn =
            sampler.draw(segments, desk.spare, desk.order, place(desk.index, desk.slots, desk.starts, rows)?)?;
        let low = desk.starts[1] as usize;
        if parts.negatives.is_none() {
            // A batch that the objective has nothing to say to is the core's to refuse.
            let starts = [0, low as u32, rows as u32];
            let of = (starts, [segments.items_of(0), segments.items_of(1)], segments.masses(), drawn);
            refused = recipe(estimator, of, &desk.scores[..rows]).is_none();
            if refused {
                break;
            }
        }
        pieces.before.copy_from_slice(pieces.cursor);
        pieces.cursor.copy_from_slice(desk.spare);
        let (count, rest) = list.split_at_mut(1);
        let (index, slots) = rest.split_at_mut(rows);
        count[0] = low as u32;
        index.copy_from_slice(&desk.index[..rows]);
        number(&mut desk.slots[..rows], owned.start);
        slots.fill(0);
        if !owned.is_empty() && parts.bank {
            slots[..rows - low].copy_from_slice(&desk.slots[low..rows]);
        }
        desk.last.drawn = Some(drawn);
        desk.last.rows = rows;
        *pieces.again = again::FRESH;
        *pieces.drawn = pieces.drawn.saturating_add(rows as u64);
        *pieces.steps = pieces.steps.saturating_add(1);
        made += 1;
    }
    algorithm.pace(pieces.counters, &mut to.pace[..made]);
    if refused {
        // The batch before it is the last one again.
        go_on(sampler, owned.start, data, pieces, desk)?;
    }
    Ok(made)
}
