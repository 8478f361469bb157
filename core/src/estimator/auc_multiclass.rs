//! Min-max AUC of several classes (Hand and Till's mean over ordered class pairs).
//!
//! Source: Liu, Yuan, Ying and Yang 2020, "Stochastic AUC Maximization with Deep Neural Networks", equations (4) and (5).
//!
//! With h = softmax(s), p_i the share of class i and c classes, for each ordered pair (i, j):
//!
//! ```text
//! F_ij = p_j(h_i−a_ij)² 1[y=i] + p_i(h_i−b_ij)² 1[y=j]
//!        + 2(1+α_ij)(p_i h_i 1[y=j] − p_j h_i 1[y=i]) − p_i p_j α_ij²
//! F = 1/(c(c−1)) Σ_{i≠j} E F_ij / (p_i p_j)          [`PairWeighting::HandTill`]: every pair alike
//! F = 1/(c(c−1)) Σ_{i≠j} E F_ij                      [`PairWeighting::Shares`]: the paper's, pairs weighted by p_i p_j
//! ```
//!
//! min_{a,b} max_α of a pair's expectation is p_i p_j (E[(1 − h_i + h_i')² | i, j] − 1). Rows lie in one segment for each
//! class. With `sample` > 0 only that many ordered pairs are drawn (with replacement) for each update and their mean
//! estimates the mean over all; [`Estimator::value`] always takes all pairs.
//!
//! Auxiliaries: a, then b, then α, c(c−1) each, pair (i, j) at i(c−1) + j − 1[j > i]. State: the number of updates, in two
//! values, from which the sampled pairs follow. Cost O(rows·c) and O(rows) a pair. Scratch: 2 values for each
//! score and 3 a pair.

use super::auc_min_max::MINMAX_PAPER;
use super::softmax::{classes, softmax};
use super::{Estimator, Grad, Weights, commit, count, finite, segment_weight};
use crate::batch::{Batch, Shape};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{
    ANSWER, BATCH, BATCH_STEPS, CLASS_DECAY, DELTA, L_TILDE, MU, PER_CLASS, PRETRAIN, PRETRAIN_LR, PROX, Param, RESET,
    RESTART, SMOOTHNESS, STAGE, STAGE_FACTOR, STAGE_SCHEDULE, STAGES, WEIGHTS, choice, count, lr, rule, sampling,
};
use crate::registry::settings::Settings;
use crate::rng::Rng;
use crate::scratch::{Need, Scratch};

/// How pairs of classes weigh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairWeighting {
    /// All alike.
    HandTill,
    /// By the product of their shares.
    Shares,
}

/// Min-max AUC over a softmax head.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{AucMulticlass, Estimator, Grad, PairWeighting, Weights};
///
/// let scores = [40.0, 0.0, 0.0, 0.0, 40.0, 0.0, 0.0, 0.0, 40.0]; // a row of each of three classes, all told apart
/// let batch = Batch::new(&scores, 3, &[0, 1, 2, 3], &[1, 1, 1], Drawn::All)?;
/// let loss = AucMulticlass::new(3, PairWeighting::HandTill, 0, 1, Weights::Unbiased)?;
/// let mut aux = [0.0; 18]; // of each ordered pair a = 1, b = 0 and α = b − a: the saddle point
/// aux[..6].fill(1.0);
/// aux[12..].fill(-1.0);
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&loss, 0)];
/// let mut real = vec![0.0; Estimator::<f64>::need(&loss, batch.shape()).real];
/// let (mut grad, mut by_aux) = ([0.0; 9], [1.0f64; 18]);
/// let scratch = Scratch { real: &mut real, ..Scratch::default() };
/// let value: f64 = loss.update(&batch, &aux, &mut state, scratch, Grad { scores: &mut grad, aux: &mut by_aux })?;
/// assert!((value + 1.0).abs() < 1e-12); // E[(1 − h + h')²] − 1 of a pair where h = 1 and h' = 0
/// assert!(by_aux.iter().all(|by| by.abs() < 1e-12));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AucMulticlass {
    classes: u32,
    weighting: PairWeighting,
    sample: u32,
    seed: u64,
    weights: Weights,
}

/// One ordered pair of classes.
#[derive(Clone, Copy)]
struct Pair {
    own: usize,
    other: usize,
}

impl Pair {
    fn of(number: usize, classes: usize) -> Self {
        let (own, rest) = (number / (classes - 1), number % (classes - 1));
        Self { own, other: rest + usize::from(rest >= own) }
    }
}

impl AucMulticlass {
    /// - `classes`: at least 2, at most 1000.
    /// - `sample`: ordered pairs drawn for each update, at most a million (1000 classes have no more), 0 for all; `seed` of
    ///   their draws.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(classes: u32, weighting: PairWeighting, sample: u32, seed: u64, weights: Weights) -> Result<Self> {
        if !(2..=1000).contains(&classes) {
            return Err(Error::Param { what: "classes" });
        }
        if sample > 1_000_000 {
            return Err(Error::Param { what: "pairs" });
        }
        Ok(Self { classes, weighting, sample, seed, weights })
    }

    fn pairs(&self) -> usize {
        self.classes as usize * (self.classes as usize - 1)
    }

    fn check<T: Real>(&self, batch: &Batch<'_, T>, aux: &[T], scratch: &Scratch<'_, T>) -> Result<()> {
        if classes(batch)? != self.classes as usize {
            return Err(Error::Param { what: "classes" });
        }
        if batch.population().contains(&0) {
            return Err(Error::OneClass);
        }
        exact_len("aux", 3 * self.pairs(), aux.len())?;
        crate::error::all_finite("aux", aux)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))
    }

    /// Value of one pair times `scale`; adds its gradient by h and by its three auxiliaries.
    fn pair<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        Pair { own, other }: Pair,
        [a, b, alpha]: [f64; 3],
        scale: f64,
        h: &[T],
        by_h: &mut [T],
    ) -> (f64, [f64; 3]) {
        let count = self.classes as usize;
        let total: f64 = (0..count).map(|class| batch.mass(class)).sum();
        let share = |class: usize| batch.mass(class) / total;
        let (p_own, p_other) = (share(own), share(other));
        let scale = match self.weighting {
            PairWeighting::HandTill => scale / (p_own * p_other),
            PairWeighting::Shares => scale,
        };
        let mut value = -scale * p_own * p_other * alpha * alpha;
        let mut by = [0.0, 0.0, -2.0 * scale * p_own * p_other * alpha];
        for (class, factor, centre, sign, slot) in [(own, p_other, a, -1.0, 0), (other, p_own, b, 1.0, 1)] {
            let weight = scale * factor * segment_weight(self.weights, batch, class);
            for row in batch.starts()[class] as usize..batch.starts()[class + 1] as usize {
                let x = h[row * count + own].f64();
                let d = x - centre;
                value += weight * (d * d + sign * 2.0 * (1.0 + alpha) * x);
                by[slot] -= 2.0 * weight * d;
                by[2] += sign * 2.0 * weight * x;
                by_h[row * count + own] += T::settled_of(2.0 * weight * (d + sign * (1.0 + alpha)));
            }
        }
        (value, by)
    }

    fn softmax_rows<T: Real>(&self, batch: &Batch<'_, T>, h: &mut [T]) {
        let count = self.classes as usize;
        for (h, s) in h.chunks_exact_mut(count).zip(batch.scores().chunks_exact(count)) {
            softmax(s, h);
        }
    }
}

fn of_pair<T: Real>(aux: &[T], pairs: usize, k: usize) -> [f64; 3] {
    [aux[k].f64(), aux[pairs + k].f64(), aux[2 * pairs + k].f64()]
}

impl<T: Real> Estimator<T> for AucMulticlass {
    fn state_len(&self, _: usize) -> usize {
        2
    }

    fn aux(&self) -> (usize, usize) {
        (2 * self.pairs(), self.pairs())
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows * shape.heads + 3 * self.pairs(), ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.check(batch, aux, &scratch)?;
        let size = batch.scores().len();
        let (h, out) = scratch.real.split_at_mut(size);
        self.softmax_rows(batch, h);
        out[..size].fill(T::ZERO);
        let scale = 1.0 / self.pairs() as f64;
        let mut value = 0.0;
        for k in 0..self.pairs() {
            let pair = Pair::of(k, self.classes as usize);
            value += self.pair(batch, pair, of_pair(aux, self.pairs(), k), scale, h, &mut out[..size]).0;
        }
        finite("min-max AUC objective", value)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.check(batch, aux, &scratch)?;
        exact_len("state", 2, state.len())?;
        exact_len("grad.aux", aux.len(), grad.aux.len())?;
        exact_len("grad.scores", batch.scores().len(), grad.scores.len())?;
        let (count, pairs, size) = (self.classes as usize, self.pairs(), batch.scores().len());
        let (h, rest) = scratch.real.split_at_mut(size);
        let (out, rest) = rest.split_at_mut(size);
        let by_aux = &mut rest[..3 * pairs];
        self.softmax_rows(batch, h);
        out.fill(T::ZERO);
        by_aux.fill(T::ZERO);
        let updates = count::updates(state)?;
        let mut rng = Rng::keyed(self.seed, 0x9a17, updates);
        let draws = if self.sample == 0 { pairs } else { self.sample as usize };
        let mut value = 0.0;
        for draw in 0..draws {
            let k = if self.sample == 0 { draw } else { rng.below(pairs as u32) as usize };
            let aux = of_pair(aux, pairs, k);
            let (part, by) = self.pair(batch, Pair::of(k, count), aux, 1.0 / draws as f64, h, out);
            value += part;
            for (slot, by) in by.iter().enumerate() {
                let by = if slot == 2 { -by } else { *by };
                by_aux[slot * pairs + k] += T::settled_of(by);
            }
        }
        let value = finite("min-max AUC objective", value)?;
        // Through the softmax: ∂F/∂s_k = h_k (∂F/∂h_k − Σ_l h_l ∂F/∂h_l).
        for (by, h) in out.chunks_exact_mut(count).zip(h.chunks_exact(count)) {
            let mut mean = T::ZERO;
            for (&by, &h) in by.iter().zip(h) {
                mean += by.settled() * h;
            }
            for (by, &h) in by.iter_mut().zip(h) {
                *by = h * (*by - mean).settled();
            }
        }
        super::commit_aux(by_aux)?;
        commit(out, grad.scores)?;
        grad.aux.copy_from_slice(by_aux);
        Ok(value)
    }

    fn track(&self, _: &Batch<'_, T>, state: &mut [T], _: Scratch<'_, T>) -> Result<()> {
        exact_len("state", 2, state.len())?;
        count::write(count::updates(state)? + 1, state);
        Ok(())
    }

    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        mut scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        // The gradient is that of what was seen before.
        let value = self.gradient(batch, aux, state, scratch.reborrow(), grad)?;
        self.track(batch, state, scratch)?;
        Ok(value)
    }
}

impl AucMulticlass {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let shares = settings.text("weighting") == Some("shares");
        let weighting = if shares { PairWeighting::Shares } else { PairWeighting::HandTill };
        let (classes, pairs) = (settings.scope().classes, settings.value("pairs") as u32);
        Self::new(classes, weighting, pairs, settings.seed(), Weights::from_settings(settings))
    }
}

const WEIGHTING: Param = choice(
    "weighting",
    "hand-till",
    &["hand-till", "shares"],
    "pairs of classes all alike, or weighted by the product of their shares as in the paper",
);
const PAIRS: Param = count("pairs", "0", 0, "ordered pairs of classes drawn for each step; 0 for all");

/// Its entry in the table of methods.
pub(crate) const PPD_SG: Entry = Entry {
    name: "ppd-sg",
    title: "PPD-SG on several classes",
    about: "Maximises the Hand-Till AUC through its min-max square loss, in stages that start from the mean of the last.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: &[
        BATCH_STEPS,
        rule("ppd-sg", &["ppd-sg"]),
        lr("3"),
        STAGE,
        STAGE_FACTOR,
        PROX,
        RESET,
        STAGE_SCHEDULE,
        MU,
        SMOOTHNESS,
        L_TILDE,
        WEIGHTING,
        PAIRS,
        sampling("stratified"),
        PER_CLASS,
        BATCH,
        WEIGHTS,
        CLASS_DECAY,
        ANSWER,
        PRETRAIN,
        PRETRAIN_LR,
        RESTART,
    ],
    paper: &[],
    source: Source { paper: MINMAX_PAPER, part: "equations (4), (5), algorithm 2" },
    files: &["core/src/estimator/auc_multiclass.rs", "core/src/algorithm/ppd_sg.rs"],
};

/// Its entry in the table of methods.
pub(crate) const PPD_ADAGRAD: Entry = Entry {
    name: "ppd-adagrad",
    title: "PPD-AdaGrad on several classes",
    about: "PPD-SG with AdaGrad's coordinate-wise steps.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: &[
        BATCH_STEPS,
        rule("ppd-adagrad", &["ppd-adagrad"]),
        lr("0.3"),
        STAGE,
        STAGE_FACTOR,
        STAGES,
        DELTA,
        PROX,
        RESET,
        STAGE_SCHEDULE,
        MU,
        SMOOTHNESS,
        L_TILDE,
        WEIGHTING,
        PAIRS,
        sampling("stratified"),
        PER_CLASS,
        BATCH,
        WEIGHTS,
        ANSWER,
        PRETRAIN,
        PRETRAIN_LR,
        RESTART,
    ],
    paper: &[],
    source: Source { paper: MINMAX_PAPER, part: "equations (4), (5), algorithms 2 and 3, lemma 3" },
    files: &["core/src/estimator/auc_multiclass.rs", "core/src/algorithm/ppd_adagrad.rs"],
};
