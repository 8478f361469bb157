//! Objectives over all rows that are evaluated elsewhere, on a GPU for one: the request and the answer.

use super::running::{Phase, Running};
use super::{Before, BeforeIn, Buffers, Chunks, Data, Desk, Host, Pieces, RunState, Sizes};
use crate::algorithm::{Algorithm, Ask, COUNTERS, Draw, Point, State, Want};
use crate::error::{Error, Result, exact_len};
use crate::estimator::{Estimator, Exact};
use crate::features::EXACT;
use crate::model::Model;
use crate::real::Real;
use crate::sampler::Sampler;

/// An objective over all rows, which a run minimises.
#[derive(Clone, Copy, Debug)]
pub struct WholeObjective<'a> {
    /// The objective, in score space.
    pub objective: Exact,
    /// The rows that count, negatives first.
    pub rows: &'a [u32],
    /// How many of them are negatives.
    pub negatives: usize,
    /// The weight of each of them; empty without weights.
    pub weights: &'a [f64],
}

impl<M, E, A, S, P: Before> Host<M, E, A, S, P> {
    /// What the run's own steps minimise, where that is an [`Exact`] objective of two classes and one score a row; `None` elsewhere.
    pub fn whole<'s, T: Real>(&self, data: &Data<'s, T>) -> Option<WholeObjective<'s>>
    where
        M: Model<T>,
        E: Estimator<T>,
    {
        let objective = self.exact::<T>()?;
        let (rows, negatives) = (data.segments.order(), data.segments.size(0) as usize);
        Some(WholeObjective { objective, rows, negatives, weights: data.segments.weights() })
    }

    fn exact<T: Real>(&self) -> Option<Exact>
    where
        M: Model<T>,
        E: Estimator<T>,
    {
        if EXACT && self.estimator.needs_all() && self.model.heads() == 1 { self.estimator.whole() } else { None }
    }

    /// Where the next step wants value and gradient of the [whole](Self::whole) objective: the model's parameters; `None` where
    /// the step is something else, which [`step`](Self::step) makes, and at the end.
    ///
    /// # Errors
    /// `Length`.
    pub fn wanted<'s, T: Real>(&self, data: &Data<'_, T>, state: &'s RunState<'_, T>) -> Result<Option<&'s [T]>>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        self.wanted_of(&self.sizes(data)?, state.real, state.u64)
    }

    pub(crate) fn wanted_of<'s, T: Real>(&self, sizes: &Sizes, real: &'s [T], u64: &[u64]) -> Result<Option<&'s [T]>>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
    {
        exact_len("state.real", sizes.state().real, real.len())?;
        exact_len("state.u64", sizes.state().u64, u64.len())?;
        let asked = self.asked::<T>(u64[0], sizes.counters(u64));
        Ok(asked.map(|(at, _)| &real[usize::from(at.0) * sizes.length..][..sizes.params]))
    }

    /// Point and draw of the next step, after so many and at these counters, where it is such an evaluation.
    fn asked<T: Real>(&self, steps: u64, counters: &[u64]) -> Option<(Point, Draw)>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
    {
        if steps >= self.steps || self.is_pretraining(steps) || self.exact::<T>().is_none() {
            return None;
        }
        // What an algorithm wants next is a matter of its counters alone.
        let mut own = [0; COUNTERS];
        own.copy_from_slice(&counters[..COUNTERS]);
        let memory = State::<T> { points: &mut [], slots: &mut [], counters: &mut own };
        match self.algorithm.next(&memory) {
            Ask::Evaluate { term: 0, at, previous: None, draw, want: Want::Both, .. }
                if usize::from(at.0) < self.algorithm.points() =>
            {
                Some((at, draw))
            }
            Ask::Evaluate { .. } | Ask::Turn { .. } | Ask::ClassMeans { .. } | Ask::Report { .. } | Ask::Done => None,
        }
    }

    /// Makes the step that [`wanted`](Self::wanted) tells of with this value and gradient, as [`step`](Self::step) does with its own:
    /// with a pull, where there is one, and the counts of rows and steps. A value that is not finite is, to a line search, no
    /// decrease.
    ///
    /// # Errors
    /// `Unsupported` where nothing is wanted; `Length`; `NonFinite` for the gradient; `Overflow` for the value, to other rules.
    pub fn answer<T: Real>(
        &self,
        data: &Data<'_, T>,
        state: &mut RunState<'_, T>,
        buffers: &mut Buffers<'_, T>,
        value: f64,
        grad: &[T],
    ) -> Result<()>
    where
        M: Model<T>,
        E: Estimator<T>,
        A: Algorithm<T>,
        S: Sampler,
        P: BeforeIn<T>,
    {
        let sizes = self.sizes(data)?;
        let (pieces, desk) = (Pieces::cut(state, &sizes)?, Desk::cut(buffers, &sizes)?);
        let Some((at, draw)) = self.asked::<T>(*pieces.steps, pieces.counters) else {
            return Err(Error::Unsupported { what: "an answer where nothing is wanted" });
        };
        exact_len("grad", sizes.length, grad.len())?;
        let searching = draw == Draw::All;
        if !(value.is_finite() || searching) {
            return Err(Error::Overflow { what: "objective" });
        }
        if value.is_finite() {
            crate::error::all_finite("grad", grad)?;
        }
        let Self { estimator, algorithm, sampler, .. } = self;
        let phase = Phase { estimator, algorithm, sampler, length: sizes.length, pretraining: false };
        let (params, heads, passes) = (sizes.params, self.model.heads(), &mut Chunks::new(&mut []));
        let mut running = Running { model: &self.model, data, pieces, desk, passes, params, heads };
        running.pick(&phase, draw)?;
        let value = if value.is_finite() {
            running.desk.grad[..grad.len()].copy_from_slice(grad);
            value
        } else {
            running.desk.grad.fill(T::ZERO);
            f64::INFINITY
        };
        self.made(&phase, &mut running, 0, at, value)
    }
}
