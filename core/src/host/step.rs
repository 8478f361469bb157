//! A step: what the algorithm asks for, until the parameters have moved.

use super::memory::again;
use super::running::{EVERYTHING, Phase, Running};
use super::{Before, Host, Passes, Pieces, Sizes, add_pull, spread};
use crate::algorithm::{Algorithm, Answer, Ask, Draw, Point, Want};
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::model::Model;
use crate::real::Real;
use crate::rng::Rng;
use crate::sampler::Sampler;
use crate::slices::Part;

impl<M, E, A, S, P: Before> Host<M, E, A, S, P> {
    /// One step of a phase.
    pub(super) fn step_of<T: Real, E2: Estimator<T>, A2: Algorithm<T>, S2: Sampler>(
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
    pub(super) fn made<T: Real, E2: Estimator<T>, A2: Algorithm<T>, S2: Sampler>(
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
    pub(super) fn begin<T: Real>(&self, restart: bool, sizes: &Sizes, pieces: &mut Pieces<'_, T>) -> Result<()>
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
}
