//! The scores of a batch, and how its rows were drawn.

use crate::error::{Error, Result, all_finite, exact_len};
use crate::features::COMPACT;
use crate::real::Real;
use crate::slices::Part;

/// Whether pairs of rows may have weights: not in small builds, unless they are asked for.
pub(crate) const PAIR_WEIGHTS: bool = !COMPACT || cfg!(feature = "weights");

/// Whether rows may: also where exact cross-entropy has folds, which are told by weights.
pub(crate) const WEIGHTS: bool = PAIR_WEIGHTS || cfg!(feature = "exact-methods");

/// How the rows of a batch were drawn, from which unbiased weights follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Uniformly from all rows, without replacement within the batch.
    Uniform,
    /// A fixed number from each segment of the population, without replacement within the batch.
    Stratified,
    /// The batch is the whole population.
    All,
}

/// Sizes of a batch; what scratch lengths depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Scores per row.
    pub heads: usize,
    /// Segments.
    pub segments: usize,
    /// Rows that own state (the positives, for SOAP).
    pub slots: usize,
}

/// Scores of one batch. Rows lie in contiguous segments, some of which may be empty: for binary problems segment 0
/// holds the negatives and segment 1 the positives.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    scores: &'a [T],
    heads: usize,
    previous: Option<&'a [T]>,
    starts: &'a [u32],
    slots: &'a [u32],
    population: &'a [u32],
    drawn: Drawn,
    term: u8,
    rate: Option<f64>,
    tables: &'a [f64],
    masses: &'a [f64],
    weights: &'a [f64],
}

impl<'a, T: Real> Batch<'a, T> {
    /// A batch of raw (never squashed) scores.
    ///
    /// - `scores`: rows × heads, row-major, finite.
    /// - `heads`: scores per row, 1 for binary problems.
    /// - `starts`: segment boundaries, segments + 1 long, ascending from 0 to the number of rows.
    /// - `population`: examples of each segment in the whole data, one per segment.
    ///
    /// # Errors
    /// `Length`, `Index` (boundaries), `NonFinite` (scores), `Param` (0 heads, or a segment with more rows than its
    /// population).
    pub fn new(scores: &'a [T], heads: usize, starts: &'a [u32], population: &'a [u32], drawn: Drawn) -> Result<Self> {
        Self::weighted(scores, heads, starts, population, &[], drawn)
    }

    /// The same of data whose rows have weights, which [drew](crate::sampler) them: `masses` has the sum of the weights of each
    /// segment, or nothing. A row may then be in a batch more than once.
    ///
    /// # Errors
    /// As [`new`](Self::new); `Length` for other than one mass a segment.
    pub fn weighted(
        scores: &'a [T],
        heads: usize,
        starts: &'a [u32],
        population: &'a [u32],
        masses: &'a [f64],
        drawn: Drawn,
    ) -> Result<Self> {
        if !masses.is_empty() {
            exact_len("masses", population.len(), masses.len())?;
        }
        if heads == 0 || !scores.len().is_multiple_of(heads) {
            return Err(Error::Param { what: "heads" });
        }
        let rows = scores.len() / heads;
        exact_len("starts", population.len() + 1, starts.len())?;
        let (first, last) = (starts[0], starts[starts.len() - 1]);
        if first != 0 || last as usize != rows {
            return Err(Error::Index { what: "starts", at: if first != 0 { 0 } else { starts.len() - 1 }, len: rows });
        }
        for (at, pair) in starts.windows(2).enumerate() {
            if pair[1] < pair[0] {
                return Err(Error::Index { what: "starts", at: at + 1, len: rows });
            }
            if pair[1] - pair[0] > population[at] && masses.is_empty() {
                return Err(Error::Param { what: "population" });
            }
        }
        all_finite("scores", scores)?;
        Ok(Self {
            scores,
            heads,
            previous: None,
            starts,
            slots: &[],
            population,
            drawn,
            term: 0,
            rate: None,
            tables: &[],
            masses,
            weights: &[],
        })
    }

    /// Adds the state row of each example that owns state, in batch order: its ordinal among those (for SOAP the positives:
    /// `slots.len()` is their number in the batch). Distinct within the batch, unless rows are drawn by weight: the state of a
    /// row that is there twice moves once, from where it was before the batch.
    #[must_use]
    pub fn with_slots(mut self, slots: &'a [u32]) -> Self {
        self.slots = slots;
        self
    }

    /// Adds the scores of the same rows at the previous parameters (for MSVR-type estimators).
    ///
    /// # Errors
    /// `Length`, `NonFinite`.
    pub fn with_previous(mut self, previous: &'a [T]) -> Result<Self> {
        exact_len("previous", self.scores.len(), previous.len())?;
        all_finite("previous", previous)?;
        self.previous = Some(previous);
        Ok(self)
    }

    /// As an evaluation of one term of an objective that has several, 0 being the first, which it is without this.
    /// [`Estimator::value`](crate::estimator::Estimator::value) reads no term: it is always the whole objective.
    #[must_use]
    pub fn of_term(mut self, term: u8) -> Self {
        self.term = term;
        self
    }

    /// With the weight of new values in the estimator's state, instead of the estimator's own.
    #[must_use]
    pub fn at_rate(mut self, rate: Option<f64>) -> Self {
        self.rate = rate;
        self
    }

    /// With the tables that the estimator [prepared](crate::estimator::Estimator::prepare) for the run; without, it makes
    /// them at every call.
    #[must_use]
    pub fn with_tables(mut self, tables: &'a [f64]) -> Self {
        self.tables = tables;
        self
    }

    /// With the weight of each row, above 0, where the batch is the whole population; what is drawn by weight has none. Estimators
    /// that read them refuse others.
    ///
    /// # Errors
    /// `Length`.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        if !weights.is_empty() {
            exact_len("weights", self.shape().rows, weights.len())?;
        }
        self.weights = weights;
        Ok(self)
    }

    /// Raw scores, rows × heads.
    #[inline]
    #[must_use]
    pub fn scores(&self) -> &'a [T] {
        self.scores
    }
    /// Scores of the same rows at the previous parameters.
    #[inline]
    #[must_use]
    pub fn previous(&self) -> Option<&'a [T]> {
        self.previous
    }
    /// Segment boundaries.
    #[inline]
    #[must_use]
    pub fn starts(&self) -> &'a [u32] {
        self.starts
    }
    /// State rows of the examples that own state.
    #[inline]
    #[must_use]
    pub fn slots(&self) -> &'a [u32] {
        self.slots
    }
    /// Examples of each segment in the whole data.
    #[inline]
    #[must_use]
    pub fn population(&self) -> &'a [u32] {
        self.population
    }
    /// What a segment of the whole data comes to: its rows, or their weights. Only shares of these mean something to a mean.
    #[inline]
    #[must_use]
    pub fn mass(&self, segment: usize) -> f64 {
        match self.masses.get(segment) {
            Some(&mass) if WEIGHTS => mass,
            _ => self.population.get(segment).map_or(0.0, |&rows| f64::from(rows)),
        }
    }
    /// The weight of each row of a batch of everything; empty without.
    #[inline]
    #[must_use]
    pub fn weights(&self) -> &'a [f64] {
        if WEIGHTS { self.weights } else { &[] }
    }
    /// How the rows were drawn.
    #[inline]
    #[must_use]
    pub fn drawn(&self) -> Drawn {
        self.drawn
    }
    /// Which term of the objective.
    #[inline]
    #[must_use]
    pub fn term(&self) -> u8 {
        self.term
    }
    /// Weight of new values in the estimator's state, where it is not the estimator's own.
    #[inline]
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }
    /// Tables that the estimator prepared; empty without.
    #[inline]
    #[must_use]
    pub fn tables(&self) -> &'a [f64] {
        self.tables
    }
    /// Sizes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape {
            rows: self.scores.len().checked_div(self.heads).unwrap_or(0),
            heads: self.heads,
            segments: self.population.len(),
            slots: self.slots.len(),
        }
    }

    /// Scores of the negatives and of the positives of a binary batch (either may be empty).
    ///
    /// # Errors
    /// `Unsupported` when the batch has several heads or not exactly two segments.
    pub fn binary(&self) -> Result<(&'a [T], &'a [T])> {
        if self.heads != 1 || self.population.len() != 2 {
            return Err(Error::Unsupported {
                what: "this estimator needs one score a row and the segments negative, positive",
            });
        }
        self.scores.halves(self.starts.get(1).map_or(0, |&start| start as usize))
    }
}
