//! An objective under constraints on groups: F₀ + a penalty of every constraint, or its Lagrangian, in batches of cells.
//!
//! Source: Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization, section 5
//! (constraints as a smoothed penalty) and appendix F.2 (fairness of ROC curves); the other forms are those of the methods
//! it is compared with.
//!
//! **Who does what.** The inner values g_i and their running estimates u_i belong to score space, and so does the weight
//! y_i = f_i'(u_i) of each inner gradient: they are here. Where scores are wanted (also at w_{t−1}, in
//! [`Batch::previous`](crate::batch::Batch::previous)), and what becomes of the gradient, is the algorithm's. Multipliers are
//! maximised auxiliaries: here their derivative is −u_i, and the algorithm projects them.
//!
//! Rows lie in cells, one segment for each label and group, label by label: segment = label·G + group. The means of a cell c
//!
//! ```text
//! r_ck = mean over c of σ((s − τ_k)/h)      ℓ_c = mean over c of the cross-entropy
//! ```
//!
//! are tracked ([`Tracker`]); every constraint function is linear in them, and so tracked too:
//!
//! ```text
//! gap            |r_ak − r_bk| − κ for every pair of groups and threshold        rate    Σ_c r_c N_c/N − bound  (or minus it)
//! precision ≥ P   (P Σ_neg N_c r_c − (1 − P) Σ_pos N_c r_c)/N                    loss    Σ_c ℓ_c N_c/N − bound
//! objective      F = F₀ + Σ_i ω_i f(g_i),  ω_i one over the constraints, shared by the functions of one
//! ```
//!
//! | form | f | y, of u (of a gap: the size of d, less κ) |
//! |---|---|---|
//! | smoothed (SONEX, ALEXR2) | `ρ[u]₊` smoothed with λ | clip(u/λ, 0, ρ); of a gap, two inner values, with 2λ |
//! | hinge (SONX) | `ρ[u]₊` | ρ 1[u > 0] |
//! | squared (SOX, MSVR) | `ρ[u]₊²` | `2ρ[u]₊` |
//! | multipliers (Lagrange, ICPPAC) | y u | y; a gap has two, for d − κ and −d − κ |
//!
//! **Thresholds.** Pooled: τ_k solves mean over the negatives of σ((s − τ_k)/h) = α_k and h is .15 times their interquartile
//! range, from the last 1536 negatives, after 1, 2, 4, 8, 16, 24, 48, … batches. Scores that move move τ with them,
//! dτ_k/ds_j = w_j σ'_jk / Σ_i w_i σ'_ik over the negatives of the batch, so the gradient of every gap sums to 0: no shift of
//! all scores is rewarded (where no negative of a batch is near τ_k, the batch says nothing of it), and as h follows the
//! scores no shrinking is. Rates and precision take τ = 0 with the same h. Raw: τ ∈ {−3, …, 3}, h = 1, as published; both
//! are rewarded there.
//!
//! F₀ is the mean pairwise surrogate or the cross-entropy, each cell weighted as in the population. With u = old the weights
//! y are those of u before the batch (the paper's SONEX), with u = new those after it. Cells that a batch lacks keep u.
//!
//! State: a mark and K means for each cell; h, three counts, thresholds, and 1536 scores with weights where thresholds are
//! pooled. Cost O(bK + pairs) a batch. Scratch: 2 values and K + 3 `f64` a row, 4K a cell, 4608.

mod batch;
mod functions;

use super::levels::{self, Soft};
use super::tracker::Tracker;
use super::{Estimator, Exact, Grad, Held, Link, commit, commit_aux, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::constraint::{Constraints, LEVELS, Measure, label};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Sigmoid};

/// What is minimised under the constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Minimised {
    /// The mean pairwise surrogate over positives and negatives.
    Auc(AnySurrogate<f64>),
    /// The mean cross-entropy.
    CrossEntropy,
}

/// What a constraint function costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// `ρ[u]₊` smoothed with λ.
    Smoothed(f64),
    /// `ρ[u]₊`.
    Hinge,
    /// `ρ[u]₊²`.
    Squared,
    /// y u, with the multipliers y among the auxiliaries.
    Multipliers,
}

/// Which running values the weights of a step are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// Those before the batch.
    Old,
    /// Those after it.
    New,
}

/// Where rates are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thresholds {
    /// Gaps at pooled false-positive rates.
    Pooled,
    /// Gaps at the scores −3, …, 3.
    Raw,
}

/// What the estimator is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstrainedSettings {
    /// F₀.
    pub objective: Minimised,
    /// What must hold.
    pub constraints: Constraints,
    /// G ≥ 1; the data then have 2G segments. With one group gaps ask nothing.
    pub groups: u32,
    /// So many of the last groups, fewer than all, are looked at by constraints alone that name them: not by F₀, gaps and
    /// what is asked of everybody.
    pub protected: u32,
    /// In (0, 1]: the bounds of gaps are multiplied by it. Gaps of smooth rates at some thresholds are smaller than those over
    /// all, of a batch's rates noisier.
    pub aim: f64,
    /// What constraint functions cost.
    pub form: Form,
    /// ρ ≥ 0; multipliers are at most so large.
    pub penalty: f64,
    /// How u moves.
    pub tracker: Tracker,
    /// Which u the weights are made of.
    pub uses: Uses,
    /// Where gaps are looked at.
    pub thresholds: Thresholds,
}

/// The estimator.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::constraint::{Constraint, Constraints, Measure};
/// use undercurve::estimator::{
///     Constrained, ConstrainedSettings, Estimator, Form, Grad, Minimised, Thresholds, Tracker, Uses,
/// };
///
/// // The cross-entropy of everybody, with 2 times what that of group 1 is above ½.
/// let of = Constraint::at_most(Measure::Loss { group: Some(1) }, 0.5);
/// let loss = Constrained::new(ConstrainedSettings {
///     objective: Minimised::CrossEntropy,
///     constraints: Constraints::new(&[of])?,
///     groups: 2,
///     protected: 0,
///     aim: 1.0,
///     form: Form::Hinge,
///     penalty: 2.0,
///     tracker: Tracker::USUAL,
///     uses: Uses::New,
///     thresholds: Thresholds::Pooled,
/// })?;
/// let scores = [0.0f64; 4]; // a row of each cell: the negatives of groups 0 and 1, then the positives
/// let batch = Batch::new(&scores, 1, &[0, 1, 2, 3, 4], &[1; 4], Drawn::All)?;
/// let need = Estimator::<f64>::need(&loss, batch.shape());
/// let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
/// let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&loss, 0)];
/// let mut grad = [0.0; 4];
/// let value = loss.update(&batch, &[], &mut state, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// let ln2 = 2.0f64.ln();
/// assert!((value - (ln2 + 2.0 * (ln2 - 0.5))).abs() < 1e-12);
/// // ½/4 of each row by the cross-entropy, and 2·½/2 more of group 1, which violates its bound.
/// assert!(grad.iter().zip([0.125, 0.625, -0.125, -0.625]).all(|(g, e)| (g - e).abs() < 1e-12));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constrained {
    of: ConstrainedSettings,
    /// Levels (or raw thresholds) of gaps, in the order of their columns.
    levels: [f64; levels::MOST],
    count: usize,
    decision: bool,
    loss: bool,
    /// λ, 1 where there is none.
    lambda: f64,
}

/// One function of a constraint, now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Function {
    /// Which constraint of the list.
    pub constraint: usize,
    /// The pooled false-positive rate (or the raw threshold) that a gap is looked at.
    pub level: Option<f64>,
    /// The groups that a gap is between.
    pub pair: Option<[u32; 2]>,
    /// The tracked value, at most 0 where the constraint holds; NaN before the first batch.
    pub value: f64,
    /// y ≥ 0: what the constraint weighs now.
    pub dual: f64,
    /// The largest y there may be: ρ, or infinity.
    pub bound: f64,
    /// The tracked value against the bound that was asked for: of a gap less than `value`, which is against the share of it that training aims at.
    pub excess: f64,
    column: usize,
    weight: f64,
    at: usize,
}

const RING: usize = 1536;
const REFRESH: u32 = 24;
/// Numbers of the state before the thresholds: h, batches so far, head and length of the ring.
const HEAD: usize = 4;
const RAW: [f64; 7] = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];

impl Constrained {
    /// # Errors
    /// `Param`: no groups, a constraint that cannot be asked of them, ρ, λ; a gap at one level of raw thresholds.
    pub fn new(of: ConstrainedSettings) -> Result<Self> {
        if of.groups <= of.protected || of.groups > u32::from(u16::MAX) {
            return Err(Error::Param { what: "groups" });
        }
        if !(of.penalty >= 0.0 && of.penalty.is_finite()) {
            return Err(Error::Param { what: "penalty" });
        }
        if !(of.aim > 0.0 && of.aim <= 1.0) {
            return Err(Error::Param { what: "aim" });
        }
        let lambda = if let Form::Smoothed(lambda) = of.form { lambda } else { 1.0 };
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::Param { what: "smoothing" });
        }
        let mut new = Self { of, levels: [0.0; levels::MOST], count: 0, decision: false, loss: false, lambda };
        for constraint in of.constraints.as_slice() {
            constraint.check(of.groups)?;
            match (constraint.measure, of.thresholds) {
                (Measure::Gap { at: Some(_), .. }, Thresholds::Raw) => {
                    return Err(Error::Param { what: "level" });
                }
                (Measure::Gap { at: Some(level), .. }, _) => new.add(&[level]),
                (Measure::Gap { at: None, .. }, Thresholds::Pooled) => new.add(&LEVELS),
                (Measure::Gap { at: None, .. }, Thresholds::Raw) => new.add(&RAW),
                (Measure::Rate { .. } | Measure::Precision { .. }, _) => new.decision = true,
                (Measure::Loss { .. }, _) => new.loss = true,
            }
        }
        Ok(new)
    }

    fn add(&mut self, levels: &[f64]) {
        for &level in levels {
            if !self.levels[..self.count].contains(&level) {
                self.levels[self.count] = level;
                self.count += 1;
            }
        }
    }

    /// The constraints.
    #[must_use]
    pub fn constraints(&self) -> &Constraints {
        &self.of.constraints
    }

    fn pooled(&self) -> bool {
        self.of.thresholds == Thresholds::Pooled && self.soft() > 0
    }
    /// Columns of soft indicators: levels, then the score 0.
    fn soft(&self) -> usize {
        self.count + usize::from(self.decision)
    }
    /// K.
    fn columns(&self) -> usize {
        self.soft() + usize::from(self.loss)
    }
    /// Groups that are not protected.
    fn open(&self) -> usize {
        (self.of.groups - self.of.protected) as usize
    }
    fn cells(&self) -> usize {
        2 * self.of.groups as usize
    }
    fn means(&self) -> usize {
        self.cells() * self.columns()
    }
    /// Where the state goes on behind the cells.
    fn rest(&self) -> usize {
        self.cells() * (1 + self.columns())
    }
    fn len(&self) -> usize {
        self.rest() + if self.pooled() { HEAD + self.count + 2 * RING } else { 0 }
    }

    fn check<T: Real>(&self, batch: &Batch<'_, T>, aux: Option<&[T]>, state: Option<&[T]>) -> Result<()> {
        let shape = batch.shape();
        if shape.heads != 1 || shape.segments != self.cells() {
            return Err(Error::Unsupported { what: "constraints on other than one score a row and a segment a cell" });
        }
        aux.map_or(Ok(()), |aux| exact_len("aux", Estimator::<T>::aux(self).1, aux.len()))?;
        let Some(state) = state else { return Ok(()) };
        exact_len("state", self.len(), state.len())?;
        if self.sound(state) { Ok(()) } else { Err(Error::Overflow { what: "the number of batches" }) }
    }

    /// Whether a state has counts that a run comes to: batches so far, head and length of the ring. (A damaged one may not.)
    fn sound<T: Real>(&self, state: &[T]) -> bool {
        let below = |at: usize, end: usize| {
            let count = state.get(self.rest() + at).map_or(f64::NAN, |count| count.f64());
            count >= 0.0 && count < end as f64 && libm::floor(count) == count
        };
        !self.pooled() || below(1, 2 * REFRESH as usize) && below(2, RING) && below(3, RING + 1)
    }

    /// Writes the gradient, if one is wanted, then the state after the batch, if it is to move; the estimate.
    fn step<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        held: Held<'_, T>,
        scratch: Scratch<'_, T>,
        grad: Option<Grad<'_, T>>,
    ) -> Result<f64> {
        self.check(batch, grad.is_some().then_some(aux), Some(held.read()))?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let tracker = self.of.tracker.at_rate(batch.rate())?;
        let (rows, k, groups, population) =
            (batch.scores().len(), self.columns(), self.of.groups as usize, batch.population());
        let moves = matches!(held, Held::Moved(_));
        let (out, own) = scratch.real.split_at_mut(rows);
        let (memory, rest) = scratch.f64.split_at_mut(self.solved(batch.shape().rows));
        let (slopes, rest) = rest.split_at_mut(rows * k);
        let (means, rest) = rest.split_at_mut(self.means());
        let (before, rest) = rest.split_at_mut(self.means());
        let (used, rest) = rest.split_at_mut(self.means());
        let y = &mut rest[..self.means()];
        let (soft, width) = self.soft_of(batch, Some(held.read()), moves, memory)?;
        self.measure(batch, batch.scores(), &soft, means, Some(slopes));
        if let (Some(scores), true) = (batch.previous(), moves) {
            self.measure(batch, scores, &soft, before, None);
        }
        // The running values, old where they are seen, in `used`; the new ones in `means`.
        let state = held.read();
        for cell in 0..self.cells() {
            let held = &state[cell * (k + 1)..][..k + 1];
            let seen = held[0] != T::ZERO;
            let drawn = batch.starts()[cell + 1] > batch.starts()[cell];
            for column in 0..k {
                let at = cell * k + column;
                let old = seen.then(|| held[1 + column].f64());
                let now = match (old, drawn && moves) {
                    (Some(old), false) => old,
                    (old, _) => tracker.next(old, means[at], batch.previous().map(|_| before[at])),
                };
                used[at] = if self.of.uses == Uses::Old { old.unwrap_or(now) } else { now };
                // (A correction may leave next to nothing of it.)
                means[at] = T::settled_of(now).f64();
            }
        }
        crate::error::all_finite("u", means).map_err(|_| Error::Overflow { what: "constraint" })?;
        y.fill(0.0);
        let mut value = 0.0;
        // A cell without a row so far says nothing of its constraints.
        let known = |cell: usize| state[cell * (k + 1)] != T::ZERO || batch.starts()[cell + 1] > batch.starts()[cell];
        self.functions(|function| {
            if !self.all_cells(&function, population, known) {
                return;
            }
            let of = &self.of.constraints.as_slice()[function.constraint];
            let (cost, weight) = self.outer(
                &function,
                self.value_at(&function, population, |cell, column| used[cell * k + column]),
                aux,
            );
            value += function.weight * cost;
            if let (Measure::Gap { rate, .. }, Some(pair)) = (of.measure, function.pair) {
                let [a, b] = pair.map(|group| label(rate) * groups + group as usize);
                y[a * k + function.column] += function.weight * weight;
                y[b * k + function.column] -= function.weight * weight;
                return;
            }
            self.linear(of, population, |cell, factor| {
                y[cell * k + function.column] += function.weight * weight * factor;
            });
        });
        let Some(grad) = grad else {
            let value = finite("penalty", value)?;
            if let Held::Moved(state) = held {
                self.commit(batch, state, means, &soft, width);
            }
            return Ok(value);
        };
        exact_len("grad.aux", aux.len(), grad.aux.len())?;
        self.spread(batch, slopes, y, before);
        for cell in 0..self.cells() {
            for row in batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize {
                let mut sum = 0.0;
                y[cell * k..][..k].iter().zip(&slopes[row * k..][..k]).for_each(|(y, slope)| sum += y * slope);
                out[row] = T::settled_of(sum);
            }
        }
        value += self.objective(batch, Some(out), &mut own[..rows])?;
        let value = finite("objective", value)?;
        own[..aux.len()].fill(T::ZERO);
        self.functions(|function| {
            if aux.is_empty() || !self.all_cells(&function, population, known) {
                return;
            }
            let now = self.value_at(&function, population, |cell, column| means[cell * k + column]);
            if function.pair.is_some() {
                let width = self.width(&function);
                own[function.at] = -T::of(now - width);
                own[function.at + 1] = -T::of(-now - width);
            } else {
                own[function.at] = -T::of(now);
            }
        });
        commit_aux(&own[..aux.len()])?;
        commit(out, grad.scores)?;
        grad.aux.copy_from_slice(&own[..aux.len()]);
        if let Held::Moved(state) = held {
            self.commit(batch, state, means, &soft, width);
        }
        Ok(value)
    }

    /// From weights of the means to weights of the rows' slopes, with what the thresholds bring in. `sums` is working memory.
    fn spread<T: Real>(&self, batch: &Batch<'_, T>, slopes: &[f64], y: &mut [f64], sums: &mut [f64]) {
        let (k, groups) = (self.columns(), self.of.groups as usize);
        let size = |cell: usize| f64::from(batch.starts()[cell + 1] - batch.starts()[cell]);
        sums.fill(0.0);
        for cell in 0..self.cells() {
            let share = 1.0 / size(cell).or_larger(1.0);
            let rows = batch.starts()[cell] as usize..batch.starts()[cell + 1] as usize;
            let sums = &mut sums[cell * k..][..k];
            for row in slopes[rows.start * k..rows.end * k].chunks_exact(k.max(1)) {
                sums.iter_mut().zip(row).for_each(|(sum, slope)| *sum += share * slope);
            }
        }
        for column in 0..if self.of.thresholds == Thresholds::Pooled { self.count } else { 0 } {
            let at = |cell: usize| cell * k + column;
            let by_tau: f64 = -(0..self.cells()).map(|cell| y[at(cell)] * sums[at(cell)]).sum::<f64>();
            let steep: f64 = (0..groups).map(|cell| self.share(batch, cell) * sums[at(cell)]).sum();
            for cell in 0..self.cells() {
                if steep <= f64::MIN_POSITIVE {
                    y[at(cell)] = 0.0;
                } else if cell < groups {
                    y[at(cell)] += by_tau * self.share(batch, cell) / steep;
                }
            }
        }
        for cell in 0..self.cells() {
            let share = 1.0 / size(cell).or_larger(1.0);
            y[cell * k..][..k].iter_mut().for_each(|y| *y *= share);
        }
    }

    /// Writes the new state.
    fn commit<T: Real>(&self, batch: &Batch<'_, T>, state: &mut [T], means: &[f64], soft: &Soft, width: f64) {
        let k = self.columns();
        let (cells, held) = state.split_at_mut(self.rest());
        for (cell, held) in cells.chunks_exact_mut(k + 1).enumerate() {
            if batch.starts()[cell + 1] > batch.starts()[cell] {
                held[0] = T::ONE;
                held[1..].iter_mut().zip(&means[cell * k..]).for_each(|(u, &mean)| *u = T::of(mean));
            }
        }
        if !self.pooled() {
            return;
        }
        held[0] = T::of(width);
        // (A state may hold anything.)
        let batches = (held[1].f64() as u32).saturating_add(1);
        held[1] = T::of(f64::from(if batches >= 2 * REFRESH { batches - REFRESH } else { batches }));
        let (mut head, mut count) = (held[2].f64() as usize % RING, (held[3].f64() as usize).min(RING));
        let (numbers, ring) = held.split_at_mut(HEAD + self.count);
        numbers[HEAD..].iter_mut().zip(soft.taus()).for_each(|(held, &tau)| *held = T::of(tau));
        self.negatives(batch, RING, |score, weight| {
            (ring[head], ring[RING + head]) = (T::of(score), T::of(weight));
            head = (head + 1) % RING;
            count = (count + 1).min(RING);
        });
        (numbers[2], numbers[3]) = (T::of(head as f64), T::of(count as f64));
    }

    /// `f64`s that thresholds are solved in.
    fn solved(&self, rows: usize) -> usize {
        if self.pooled() { 3 * rows.max(RING) } else { 0 }
    }

    /// The objective over everything.
    fn exact(&self) -> Option<Exact> {
        match self.of.objective {
            Minimised::Auc(surrogate) => Some(Exact::auc(surrogate, Link::Identity)),
            Minimised::CrossEntropy => None,
        }
    }
}

/// Whether thresholds are made anew with the batch of this number, from 1.
fn is_due(batch: u32) -> bool {
    batch.is_multiple_of(REFRESH) || batch < REFRESH && batch.is_power_of_two()
}

impl<T: Real> Estimator<T> for Constrained {
    fn state_len(&self, _: usize) -> usize {
        self.len()
    }

    fn aux(&self) -> (usize, usize) {
        (0, if matches!(self.of.form, Form::Multipliers) { self.functions(|_| ()) } else { 0 })
    }

    fn need(&self, shape: Shape) -> Need {
        let (rows, k) = (shape.rows, self.columns());
        let exact = self.exact().map_or(Need::NONE, |exact| Estimator::<T>::need(&exact, shape));
        let real = rows + rows.max(Estimator::<T>::aux(self).1);
        Need { real: real + exact.real, f64: self.solved(rows) + rows * k + 4 * self.means() + exact.f64, ..exact }
    }

    /// With the batch's own means and thresholds.
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.check(batch, Some(aux), None)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let (memory, rest) = scratch.f64.split_at_mut(self.solved(batch.shape().rows));
        let (means, rest) = rest.split_at_mut(self.means());
        let (soft, _) = self.soft_of(batch, None, false, memory)?;
        self.measure(batch, batch.scores(), &soft, means, None);
        let k = self.columns();
        let empty = |cell: usize| batch.starts()[cell + 1] == batch.starts()[cell];
        let mut value = 0.0;
        self.functions(|function| {
            if !self.all_cells(&function, batch.population(), |cell| !empty(cell)) {
                return;
            }
            value += function.weight
                * self
                    .outer(
                        &function,
                        self.value_at(&function, batch.population(), |cell, column| means[cell * k + column]),
                        aux,
                    )
                    .0;
        });
        value += match self.exact() {
            Some(exact) if batch.drawn() == Drawn::All => {
                // The rows of the groups that are not protected, label by label.
                let (open, real) = scratch.real.split_at_mut(batch.scores().len());
                let (starts, mut ends) = (batch.starts(), [0; 3]);
                for label in 0..2 {
                    let first = label * self.of.groups as usize;
                    let rows = starts[first] as usize..starts[first + self.open()] as usize;
                    ends[label + 1] = ends[label] + rows.len() as u32;
                    open[ends[label] as usize..ends[label + 1] as usize].copy_from_slice(&batch.scores()[rows]);
                }
                let population = [ends[1], ends[2] - ends[1]];
                let whole = Batch::new(&open[..ends[2] as usize], 1, &ends, &population, Drawn::All)?;
                let scratch = Scratch { real, f64: rest, u32: scratch.u32, u64: scratch.u64 };
                exact.value(&whole, &[], scratch)?
            }
            _ => self.objective(batch, None, &mut scratch.real[..batch.scores().len()])?,
        };
        finite("objective", value)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.step(batch, aux, Held::Read(state), scratch, Some(grad))
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        // (Multipliers matter to the estimate alone, which nobody sees.)
        self.step(batch, &[], Held::Moved(state), scratch, None).map(|_| ())
    }

    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.step(batch, aux, Held::Moved(state), scratch, Some(grad))
    }
}

impl Default for ConstrainedSettings {
    fn default() -> Self {
        Self {
            objective: Minimised::Auc(AnySurrogate::Sigmoid(Sigmoid::UNIT)),
            constraints: Constraints::roc(0.05),
            groups: 1,
            protected: 0,
            aim: 1.0,
            form: Form::Smoothed(0.002),
            penalty: 4.0,
            tracker: Tracker::USUAL,
            uses: Uses::Old,
            thresholds: Thresholds::Pooled,
        }
    }
}
