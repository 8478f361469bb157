//! How a step answers its algorithm: rows drawn and scored, losses estimated, gradients propagated.

use super::memory::again;
use super::{Data, Desk, Passes, Pieces};
use crate::algorithm::{Algorithm, Answer, Draw, Point, State, Want};
use crate::batch::{Batch, Drawn};
use crate::data::Segments;
use crate::error::{Error, Result};
use crate::estimator::{Estimator, Grad};
use crate::features::{MINIMAL, MULTICLASS};
use crate::model::Model;
use crate::real::Real;
use crate::sampler::{Place, Sampler, Whole};
use crate::scratch::Scratch;
use crate::slices::Part;
use core::ops::Range;

/// The part of a host that makes a step: its own, or that of pre-training.
pub(super) struct Phase<'p, E, A, S> {
    pub estimator: &'p E,
    pub algorithm: &'p A,
    pub sampler: &'p S,
    /// Parameters and auxiliaries.
    pub length: usize,
    pub pretraining: bool,
}

/// Rows that a dual reset draws in one call at most, so that no call takes long and a run can be saved within it.
pub(super) const PIECE: usize = 1 << 16;

/// Whether algorithms may ask for terms, or for an estimator's state and its gradient apart: those of `every-method` alone do.
pub(super) const EVERYTHING: bool = !MINIMAL;

/// What a step works with.
pub(super) struct Running<'r, 'd, T, M, P> {
    pub model: &'r M,
    pub data: &'r Data<'d, T>,
    pub pieces: Pieces<'r, T>,
    pub desk: Desk<'r, T>,
    pub passes: &'r mut P,
    pub params: usize,
    pub heads: usize,
}

/// Makes what follows from a cursor, and the batch that was drawn last again, for those that ask for it.
pub(super) fn go_on<T: Real>(
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

impl<T: Real> Pieces<'_, T> {
    /// The part of the memory that an algorithm works on.
    pub(super) fn memory<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>) -> State<'_, T> {
        State {
            points: self.points.get_mut(..phase.length * phase.algorithm.points()).unwrap_or_default(),
            slots: self.slots.get_mut(..phase.algorithm.slots_len(phase.length)).unwrap_or_default(),
            counters: self.counters,
        }
    }
}

impl<T: Real, M: Model<T>, P: Passes<T, M>> Running<'_, '_, T, M, P> {
    pub(super) fn memory<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>) -> State<'_, T> {
        self.pieces.memory(phase)
    }

    pub(super) fn tell<E, A: Algorithm<T>, S>(
        &mut self,
        phase: &Phase<'_, E, A, S>,
        answer: Answer<'_, T>,
    ) -> Result<()> {
        phase.algorithm.tell(&mut self.memory(phase), answer)
    }

    /// The state of a phase's estimator.
    pub(super) fn bank<E: Estimator<T>, A, S>(&mut self, phase: &Phase<'_, E, A, S>) -> Result<&mut [T]> {
        let len = phase.estimator.state_len(owned(phase.estimator, &self.data.segments).len());
        self.pieces.bank.head_mut(len)
    }

    /// Draws rows.
    pub(super) fn pick<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
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
    pub(super) fn draw<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
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
    pub(super) fn evaluate<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
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
    pub(super) fn means<E: Estimator<T>, A: Algorithm<T>, S: Sampler>(
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
    pub(super) fn mean(&self, class: usize, of: usize) -> Option<f64> {
        let count = self.pieces.counts[class];
        (count > 0).then(|| self.pieces.sums[class * self.heads + of] / count as f64)
    }

    /// Answers with the means of two classes; or, of several, with the best dual variables: for a pair of classes (i, j) the
    /// mean of h_i over class j less that over class i. Those of a class that was not drawn stay as they are at the point.
    pub(super) fn tell_means<E, A: Algorithm<T>, S>(&mut self, phase: &Phase<'_, E, A, S>, at: Point) -> Result<()> {
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
pub(super) fn place<'a>(
    index: &'a mut [u32],
    items: &'a mut [u32],
    starts: &'a mut [u32],
    rows: usize,
) -> Result<Place<'a>> {
    let got = index.len().min(items.len());
    let short = Error::Length { what: "batch", need: rows, got };
    let (Some(index), Some(items)) = (index.get_mut(..rows), items.get_mut(..rows)) else { return Err(short) };
    Ok(Place { index, items, starts })
}

/// Makes slots of the places of drawn rows, of those that own state (what becomes of the others is not read).
pub(super) fn number(slots: &mut [u32], first: usize) {
    slots.iter_mut().for_each(|slot| *slot = slot.wrapping_sub(first as u32));
}

/// The segments whose rows own state. (None of a small build's estimators names its own.)
pub(super) fn owners<T: Real, E: Estimator<T>>(estimator: &E, segments: &Segments<'_>) -> Range<usize> {
    if EVERYTHING { estimator.owners(segments.len()) } else { 1..segments.len() }
}

/// Where those rows are in the order of the segments.
pub(super) fn owned<T: Real, E: Estimator<T>>(estimator: &E, segments: &Segments<'_>) -> Range<usize> {
    let owners = owners(estimator, segments);
    bounds(segments.starts(), owners)
}

/// The rows of some segments; none where there are no such segments.
pub(super) fn bounds(starts: &[u32], segments: Range<usize>) -> Range<usize> {
    let start = |segment: usize| starts.get(segment).map_or(0, |&start| start as usize);
    start(segments.start)..start(segments.end)
}

/// Whether no number is below the one before. (`is_sorted` links a panic.)
pub(super) fn ascends(starts: &[u32]) -> bool {
    starts.iter().zip(starts.iter().skip(1)).all(|(low, high)| low <= high)
}
