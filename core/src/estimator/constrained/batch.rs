//! What a batch of cells says: shares of the population, thresholds from its negatives, means of the cells, and F₀.

use super::{Constrained, HEAD, Minimised, RING, is_due};
use crate::batch::{Batch, Drawn};
use crate::error::{Error, Result};
use crate::estimator::finite;
use crate::estimator::levels::{self, Soft, Weighted};
use crate::pairs::brute;
use crate::real::Real;
use crate::surrogate::kernel;

impl Constrained {
    /// Rows of the population, or of the batch where it was drawn from all of them alike, that a cell of the batch stands for
    /// in the objective.
    pub(super) fn size<T: Real>(&self, batch: &Batch<'_, T>, cell: usize) -> f64 {
        let rows = batch.starts()[cell + 1] - batch.starts()[cell];
        match batch.drawn() {
            _ if rows == 0 || cell % self.of.groups as usize >= self.open() => 0.0,
            Drawn::Stratified => f64::from(batch.population()[cell]),
            Drawn::Uniform | Drawn::All => f64::from(rows),
        }
    }

    /// The share of a cell among those of its label that the batch has.
    pub(super) fn share<T: Real>(&self, batch: &Batch<'_, T>, cell: usize) -> f64 {
        let groups = self.of.groups as usize;
        let first = cell / groups * groups;
        let all: f64 = (first..first + groups).map(|cell| self.size(batch, cell)).sum();
        if all > 0.0 { self.size(batch, cell) / all } else { 0.0 }
    }

    /// Negatives of a batch with their weights, at most so many of them, evenly spaced in each cell.
    pub(super) fn negatives<T: Real>(&self, batch: &Batch<'_, T>, most: usize, mut each: impl FnMut(f64, f64)) {
        let every = (batch.starts()[self.open()] as usize).div_ceil(most).max(1);
        for cell in 0..self.open() {
            let rows = batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize;
            let taken = rows.len().div_ceil(every);
            let weight = self.share(batch, cell) / taken.max(1) as f64;
            batch.scores()[rows].iter().step_by(every).for_each(|s| each(s.f64(), weight));
        }
    }

    /// Thresholds for a batch, solved from so many scores and weights at the front of the memory.
    pub(super) fn solve(&self, memory: &mut [f64], count: usize, taus: &mut [f64]) -> f64 {
        let third = memory.len() / 3;
        let (scores, rest) = memory.split_at_mut(third);
        let (weights, work) = rest.split_at_mut(third);
        let all: f64 = weights[..count].iter().sum();
        weights[..count].iter_mut().for_each(|w| *w /= all);
        let weighted = Weighted { scores: &scores[..count], weights: &weights[..count] };
        let width = weighted.width();
        weighted.thresholds(&self.levels[..self.count], width, taus, &mut work[..count]);
        width
    }

    /// The thresholds of a batch: the state's, or new ones where it has none or, moving, they are due. The new h, and
    /// thresholds, are 0 without thresholds of that kind.
    pub(super) fn soft_of<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        state: Option<&[T]>,
        moves: bool,
        memory: &mut [f64],
    ) -> Result<(Soft, f64)> {
        let mut taus = [0.0; levels::MOST];
        taus[..self.count].copy_from_slice(&self.levels[..self.count]);
        if !self.pooled() {
            return Ok((Soft::new(&taus[..self.soft()], 1.0), 0.0));
        }
        let third = memory.len() / 3;
        let mut count = 0;
        let held = state.map(|state| &state[self.rest()..]);
        let mut width = held.map_or(0.0, |held| held[0].f64());
        if let (Some(held), true) = (held, width > 0.0) {
            taus.iter_mut().zip(&held[HEAD..HEAD + self.count]).for_each(|(tau, held)| *tau = held.f64());
        }
        if width > 0.0 && !(moves && held.is_some_and(|held| is_due((held[1].f64() as u32).saturating_add(1)))) {
            return Ok((Soft::new(&taus[..self.soft()], width), width));
        }
        let (mut head, mut most) = (0, third);
        if let (Some(held), true) = (held, moves) {
            let ring = &held[HEAD + self.count..];
            (head, count, most) = (held[2].f64() as usize % RING, (held[3].f64() as usize).min(RING), RING);
            for at in 0..count {
                (memory[at], memory[third + at]) = (ring[at].f64(), ring[RING + at].f64());
            }
        }
        self.negatives(batch, most, |score, weight| {
            (memory[head], memory[third + head]) = (T::of(score).f64(), T::of(weight).f64());
            head = (head + 1) % most;
            count = (count + 1).min(most);
        });
        if count == 0 {
            return Err(Error::OneClass);
        }
        width = self.solve(memory, count, &mut taus[..self.count]);
        taus[self.count..].fill(0.0);
        if !T::of(width).is_finite() || taus.iter().any(|&tau| !T::of(tau).is_finite()) {
            return Err(Error::Overflow { what: "threshold" });
        }
        Ok((Soft::new(&taus[..self.soft()], width), width))
    }

    /// Means of the columns in every cell of the batch, and the slopes of every row's columns where they are wanted.
    pub(super) fn measure<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        scores: &[T],
        soft: &Soft,
        means: &mut [f64],
        mut slopes: Option<&mut [f64]>,
    ) {
        let (k, count, groups) = (self.columns(), self.soft(), self.of.groups as usize);
        means.fill(0.0);
        for (cell, means) in means.chunks_exact_mut(k.max(1)).enumerate() {
            let rows = batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize;
            let share = 1.0 / (rows.len().max(1) as f64);
            for row in rows {
                let s = scores[row].f64();
                let mut own = slopes.as_deref_mut().map(|slopes| &mut slopes[row * k..][..k]);
                if count > 0 {
                    soft.of(s, |column, value, slope| {
                        means[column] += value;
                        if let Some(own) = own.as_deref_mut() {
                            own[column] = slope;
                        }
                    });
                }
                if self.loss {
                    let sign = if cell < groups { 1.0 } else { -1.0 };
                    means[count] += (sign * s).softplus();
                    if let Some(own) = own {
                        own[count] = sign * (sign * s).sigmoid().settled();
                    }
                }
            }
            means.iter_mut().for_each(|mean| *mean *= share);
        }
    }

    /// F₀ on the batch; its gradient is added to `out`, if there is one, with `own` as working memory as long.
    pub(super) fn objective<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        mut out: Option<&mut [T]>,
        own: &mut [T],
    ) -> Result<f64> {
        let groups = self.of.groups as usize;
        let rows = |cell: usize| batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize;
        let scores = batch.scores();
        match self.of.objective {
            Minimised::Auc(surrogate) => {
                let middle = batch.starts()[groups] as usize;
                let lacks = |first: usize| (first..first + groups).all(|cell| self.size(batch, cell) == 0.0);
                if lacks(0) || lacks(groups) {
                    return Err(Error::OneClass);
                }
                let mut value = 0.0;
                kernel!(surrogate.to::<T>(), loss => {
                    brute::check(loss, &scores[middle..], &scores[..middle])?;
                    for high in (groups..2 * groups).filter(|&cell| self.size(batch, cell) > 0.0) {
                        for low in (0..groups).filter(|&cell| self.size(batch, cell) > 0.0) {
                            let weight = self.share(batch, low) * self.share(batch, high);
                            let (below, above) = own.split_at_mut(middle);
                            let at = rows(high).start - middle..rows(high).end - middle;
                            let (by_high, by_low) = (&mut above[at], &mut below[rows(low)]);
                            let mean = brute::auc(loss, &scores[rows(high)], &scores[rows(low)], by_high, by_low)?;
                            value += weight * mean.f64();
                            if let Some(out) = out.as_deref_mut() {
                                let weight = T::of(weight);
                                for rows in [rows(low), rows(high)] {
                                    out[rows.clone()].iter_mut().zip(&own[rows]).for_each(|(c, by)| *c += weight * *by);
                                }
                            }
                        }
                    }
                });
                finite("pairwise loss", value)
            }
            Minimised::CrossEntropy => {
                let all: f64 = (0..2 * groups).map(|cell| self.size(batch, cell)).sum();
                if all == 0.0 {
                    return Err(Error::Empty { what: "batch" });
                }
                let mut value = 0.0;
                for cell in (0..2 * groups).filter(|&cell| self.size(batch, cell) > 0.0) {
                    let weight = self.size(batch, cell) / (all * rows(cell).len() as f64);
                    let sign = if cell < groups { T::ONE } else { -T::ONE };
                    for row in rows(cell) {
                        value += weight * (sign * scores[row]).softplus().f64();
                        if let Some(out) = out.as_deref_mut() {
                            out[row] += T::of(weight) * sign * (sign * scores[row]).sigmoid().settled();
                        }
                    }
                }
                finite("cross-entropy", value)
            }
        }
    }
}
