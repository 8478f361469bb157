//! The conditional value at risk of the losses of groups: the mean loss of the worst share r of them.
//!
//! Source: Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization, equation (10):
//!
//! ```text
//! min_{w,s} s + 1/n Σ_i (1/r)[L_i(w) − s]₊,   L_i the mean cross-entropy of block i
//! u_i tracks L_i ([`Tracker`]),   y_i = clip((u_i − s)/λ, 0, 1/r)  (hinge: (1/r) 1[u_i > s])
//! c_j = 1/b Σ_i y_i ∂L_i/∂s_j over the b blocks of the batch,   ∂F/∂s = 1 − 1/n Σ_i y_i over all blocks
//! ```
//!
//! s is an auxiliary that is minimised over beside the parameters. The dual form is for OOA (Sagawa, Koh, Hashimoto and Liang
//! 2020, algorithm 1, with the set of weights that belongs to CVaR):
//!
//! ```text
//! max_p Σ_i p_i L_i(w),   Σ p_i = 1,   0 ≤ p_i ≤ 1/(rn);   the auxiliaries are p_i − 1/n, their derivatives −u_i
//! ```
//!
//! Rows lie in cells, segment = label·G + group. Blocks are the groups, where the two cells of one weigh as in the population,
//! or the cells. Those without a row in the data do not count, those that were not drawn yet wait.
//!
//! State: a mark and u for each block. Cost O(b). Scratch: 1 value a row and 4 `f64` a block.

use super::constrained::Uses;
use super::tracker::Tracker;
use super::{Estimator, Grad, commit, commit_aux, finite};
use crate::batch::{Batch, Shape};
use crate::error::{Error, Result, exact_len};
use crate::outer::{CvarHinge, Outer};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// What the losses are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Groups.
    Groups,
    /// The rows of each label in each group.
    Cells,
}

/// What a block's excess over s costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Risk {
    /// (1/r)[u − s]₊ smoothed with λ.
    Smoothed(f64),
    /// (1/r)[u − s]₊.
    Hinge,
    /// Weights p among the auxiliaries.
    Weights,
}

/// What the estimator is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GdroSettings {
    /// r in (0, 1].
    pub share: f64,
    /// G ≥ 1; the data then have 2G segments.
    pub groups: u32,
    /// What the losses are of.
    pub blocks: Blocks,
    /// What an excess costs.
    pub risk: Risk,
    /// How u moves.
    pub tracker: Tracker,
    /// Which u the weights are made of.
    pub uses: Uses,
}

/// CVaR of the losses of groups: its settings, and λ, 1 where there is none. (A compiler may compute what is then not taken,
/// and of whatever lies in its place that would meet subnormal numbers.)
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Blocks, Estimator, Gdro, GdroSettings, Grad, Risk, Tracker, Uses};
///
/// // The mean loss of the worst half of two groups.
/// let loss = Gdro::new(GdroSettings {
///     share: 0.5,
///     groups: 2,
///     blocks: Blocks::Groups,
///     risk: Risk::Hinge,
///     tracker: Tracker::USUAL,
///     uses: Uses::New,
/// })?;
/// let scores = [-3.0, 0.0, 3.0, 0.0]; // the negatives of groups 0 and 1, then the positives: group 0 is told apart
/// let batch = Batch::new(&scores, 1, &[0, 1, 2, 3, 4], &[1; 4], Drawn::All)?;
/// let need = Estimator::<f64>::need(&loss, batch.shape());
/// let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
/// let scratch = Scratch { real: &mut real, f64: &mut f64s, ..Scratch::default() };
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&loss, 0)];
/// let (mut grad, mut by_aux) = ([0.0; 4], [1.0]);
/// let aux = [0.1]; // s, between the losses of the two groups
/// let out = Grad { scores: &mut grad, aux: &mut by_aux };
/// let value: f64 = loss.update(&batch, &aux, &mut state, scratch, out)?;
/// assert!((value - 2.0f64.ln()).abs() < 1e-12); // the loss of group 1
/// assert_eq!((grad, by_aux), ([0.0, 0.25, 0.0, -0.25], [0.0])); // which alone is learnt from
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gdro(GdroSettings, f64);

impl Gdro {
    /// # Errors
    /// `Param`.
    pub fn new(of: GdroSettings) -> Result<Self> {
        if of.groups == 0 || of.groups > u32::from(u16::MAX) {
            return Err(Error::Param { what: "groups" });
        }
        if !(of.share > 0.0 && of.share <= 1.0) {
            return Err(Error::Param { what: "share" });
        }
        match of.risk {
            Risk::Smoothed(lambda) if lambda > 0.0 && lambda.is_finite() => Ok(Self(of, lambda)),
            Risk::Smoothed(_) => Err(Error::Param { what: "smoothing" }),
            Risk::Hinge | Risk::Weights => Ok(Self(of, 1.0)),
        }
    }

    /// Blocks there are.
    #[must_use]
    pub fn blocks(&self) -> usize {
        match self.0.blocks {
            Blocks::Groups => self.0.groups as usize,
            Blocks::Cells => 2 * self.0.groups as usize,
        }
    }

    /// The greatest weight of a block: 1/(rn), at least 1/n and at most 1.
    #[must_use]
    pub fn cap(&self) -> f64 {
        (1.0 / (self.0.share * self.blocks() as f64)).or_smaller(1.0)
    }

    /// The share r.
    #[must_use]
    pub fn share_of_blocks(&self) -> f64 {
        self.0.share
    }

    /// The block of a row with this label (1 or 0) in this group; `None` for a group that training has no row of.
    #[must_use]
    pub fn block_of(&self, label: u8, group: u32) -> Option<usize> {
        (group < self.0.groups).then(|| self.block(usize::from(label) * self.0.groups as usize + group as usize))
    }

    fn block(&self, cell: usize) -> usize {
        match self.0.blocks {
            Blocks::Groups => cell % self.0.groups as usize,
            Blocks::Cells => cell,
        }
    }

    /// Share of a cell among the rows of its block that the batch has.
    fn share<T: Real>(&self, batch: &Batch<'_, T>, cell: usize) -> f64 {
        let size = |cell: usize| {
            let drawn = batch.starts()[cell + 1] > batch.starts()[cell];
            if drawn { f64::from(batch.population()[cell]) } else { 0.0 }
        };
        let own = self.block(cell);
        let all: f64 = (0..2 * self.0.groups as usize).filter(|&other| self.block(other) == own).map(size).sum();
        if all > 0.0 { size(cell) / all } else { 0.0 }
    }

    /// Losses of the blocks of the batch at its scores or others; NaN of those it has no row of.
    fn losses<T: Real>(&self, batch: &Batch<'_, T>, scores: &[T], losses: &mut [f64]) {
        let groups = self.0.groups as usize;
        losses.fill(f64::NAN);
        for cell in 0..2 * groups {
            let rows = batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize;
            if rows.is_empty() {
                continue;
            }
            let sign = if cell < groups { T::ONE } else { -T::ONE };
            let share = self.share(batch, cell) / rows.len() as f64;
            let sum: f64 = scores[rows].iter().map(|&s| (sign * s).softplus().f64()).sum();
            let loss = &mut losses[self.block(cell)];
            *loss = share * sum + if loss.is_nan() { 0.0 } else { *loss };
        }
    }

    /// What a block costs, and its weight.
    fn outer<T: Real>(&self, block: usize, u: f64, aux: &[T]) -> (f64, f64) {
        match self.0.risk {
            Risk::Weights => {
                // The mean of n p_i u_i.
                let weight = 1.0 + aux[block].f64() * self.blocks() as f64;
                (weight * u, weight)
            }
            Risk::Hinge => {
                let outer = CvarHinge { share: self.0.share, s: aux[0].f64() };
                (outer.value(u), outer.slope(u))
            }
            Risk::Smoothed(_) => {
                let outer = CvarHinge { share: self.0.share, s: aux[0].f64() };
                (outer.envelope(u, self.1), outer.envelope_slope(u, self.1))
            }
        }
    }

    /// s of the objective; 0 without one.
    fn level<T: Real>(&self, aux: &[T]) -> f64 {
        if self.0.risk == Risk::Weights { 0.0 } else { aux[0].f64() }
    }

    fn check<T: Real>(&self, batch: &Batch<'_, T>, aux: Option<&[T]>, state: Option<&[T]>) -> Result<()> {
        let shape = batch.shape();
        if shape.heads != 1 || shape.segments != 2 * self.0.groups as usize {
            return Err(Error::Unsupported { what: "groups with other than one score a row and a segment a cell" });
        }
        let (low, high) = Estimator::<T>::aux(self);
        aux.map_or(Ok(()), |aux| exact_len("aux", low + high, aux.len()))?;
        if shape.rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        state.map_or(Ok(()), |state| exact_len("state", 2 * self.blocks(), state.len()))
    }

    /// Writes the gradient, if one is wanted; the estimate, and the new running values (NaN where there is none).
    fn step<'s, T: Real>(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &[T],
        moves: bool,
        scratch: Scratch<'s, T>,
        grad: Option<Grad<'_, T>>,
    ) -> Result<(f64, &'s [f64])> {
        self.check(batch, grad.is_some().then_some(aux), Some(state))?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let tracker = self.0.tracker.at_rate(batch.rate())?;
        let n = self.blocks();
        let (next, rest) = scratch.f64.split_at_mut(n);
        let (before, rest) = rest.split_at_mut(n);
        let (used, rest) = rest.split_at_mut(n);
        let y = &mut rest[..n];
        self.losses(batch, batch.scores(), next);
        if let (Some(scores), true) = (batch.previous(), moves) {
            self.losses(batch, scores, before);
        }
        let drawn = next.iter().filter(|loss| !loss.is_nan()).count();
        for (block, held) in state.chunks_exact(2).enumerate() {
            let old = (held[0] != T::ZERO).then(|| held[1].f64());
            let now = match old {
                Some(old) if next[block].is_nan() || !moves => old,
                old => tracker.next(old, next[block], batch.previous().map(|_| before[block])),
            };
            used[block] = if self.0.uses == Uses::Old { old.unwrap_or(now) } else { now };
            // (Weights of blocks that were not drawn are not needed.)
            next[block] = T::settled_of(now).f64();
            if !now.is_nan() && !next[block].is_finite() {
                return Err(Error::Overflow { what: "loss of a group" });
            }
        }
        let Some(grad) = grad else { return Ok((f64::NAN, next)) };
        let known = used.iter().filter(|u| !u.is_nan()).count() as f64;
        let (mut value, mut weights) = (0.0, 0.0);
        for (block, (&u, y)) in used.iter().zip(&mut *y).enumerate() {
            let (cost, weight) = if u.is_nan() { (0.0, 0.0) } else { self.outer(block, u, aux) };
            *y = weight;
            value += cost / known;
            weights += weight / known;
        }
        let value = finite("loss of the groups", value + self.level(aux))?;
        let (out, by_aux) = scratch.real.split_at_mut(batch.shape().rows);
        let groups = self.0.groups as usize;
        for cell in 0..2 * groups {
            let rows = batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize;
            let sign = if cell < groups { T::ONE } else { -T::ONE };
            let share = self.share(batch, cell) / (rows.len().max(1) * drawn) as f64;
            let weight = T::of(y[self.block(cell)] * share).settled() * sign;
            for (c, &s) in out[rows.clone()].iter_mut().zip(&batch.scores()[rows]) {
                *c = weight * (sign * s).sigmoid().settled();
            }
        }
        exact_len("grad.aux", aux.len(), grad.aux.len())?;
        let by_aux = &mut by_aux[..aux.len()];
        match self.0.risk {
            Risk::Weights => {
                let gradient = |u: f64| if u.is_nan() { T::ZERO } else { -T::of(u) };
                by_aux.iter_mut().zip(&*next).for_each(|(by, &u)| *by = gradient(u));
            }
            Risk::Smoothed(_) | Risk::Hinge => by_aux[0] = T::of(1.0 - weights),
        }
        commit_aux(by_aux)?;
        commit(out, grad.scores)?;
        grad.aux.copy_from_slice(by_aux);
        Ok((value, next))
    }
}

/// Writes the new running values.
fn commit_state<T: Real>(state: &mut [T], next: &[f64]) {
    for (held, &u) in state.chunks_exact_mut(2).zip(next) {
        if !u.is_nan() {
            (held[0], held[1]) = (T::ONE, T::of(u));
        }
    }
}

impl<T: Real> Estimator<T> for Gdro {
    fn state_len(&self, _: usize) -> usize {
        2 * self.blocks()
    }

    fn aux(&self) -> (usize, usize) {
        if self.0.risk == Risk::Weights { (0, self.blocks()) } else { (1, 0) }
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows + self.blocks().max(1), f64: 4 * self.blocks(), ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.check(batch, Some(aux), None)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let losses = &mut scratch.f64[..self.blocks()];
        self.losses(batch, batch.scores(), losses);
        let known = losses.iter().filter(|loss| !loss.is_nan()).count() as f64;
        let costs = losses.iter().enumerate().filter(|(_, loss)| !loss.is_nan());
        let sum: f64 = costs.map(|(block, &loss)| self.outer(block, loss, aux).0).sum();
        finite("loss of the groups", sum / known + self.level(aux))
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        Ok(self.step(batch, aux, state, false, scratch, Some(grad))?.0)
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        let (_, next) = self.step(batch, &[], state, true, scratch, None)?;
        commit_state(state, next);
        Ok(())
    }

    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        let (value, next) = self.step(batch, aux, state, true, scratch, Some(grad))?;
        commit_state(state, next);
        Ok(value)
    }
}
