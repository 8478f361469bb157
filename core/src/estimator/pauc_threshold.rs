//! Partial AUC in a range of false-positive rates by two tracked thresholds, for batches of any model.
//!
//! Source: the objective is equation (2) of Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of
//! False Positive Rates", in the form of its equation (12),
//!
//! ```text
//! F = 1/(n₊n₋(β−α)) (f^n − f^m),   f^l = min_λ Σ_{i∈+} (l λ_i + Σ_{j∈−} [ℓ(h_i − h_j) − λ_i]₊),   m = αn₋, n = βn₋
//! ```
//!
//! with h the link of the raw score. ℓ does not increase, so the l largest losses of every positive are those of the same
//! negatives, and the best λ_i are ℓ(h_i − q_l) with one number q_l: the score that a share l/n₋ of the negatives exceeds.
//! Two thresholds q_m ≥ q_n take the place of the 2n₊ dual variables of the paper's AGD-SBCD, and the subgradient is that
//! of the pairs with q_n < h_j ≤ q_m. For a batch of b₊ positives and b₋ negatives and p = m/n₋ and n/n₋:
//!
//! ```text
//! gate_j(q) = 1 above q, τ on it, 0 below; τ in [0, 1] so that Σ_j gate_j(q) is as near to p b₋ as it can be
//! κ_ij = (gate_j(q_n) − gate_j(q_m)) / (b₊b₋(β−α))         c_i += κ_ij ℓ'(h_i − h_j),   c_j −= κ_ij ℓ'(h_i − h_j)
//! q ← q + γ r (mean_j gate_j(q) − p)/p                     the subgradient step of f^l in q, in units of the tail's width
//! r ← (1 − γ)r + γ mean of h_j − q over the h_j > q; where there is none, q − max_j h_j
//! q ← max_j h_j, r as it was, instead, where that is more than r and 12 r/(p b₋): all scores have left q behind
//! ```
//!
//! then times h'(s); above p = ½ with 1 − p for p in the last three, and the other tail, h_j < q. In a tail that falls like
//! an exponential function the error of q shrinks by γ a batch, whatever p and the scale of the scores; and of a threshold
//! that is right, next to no batch says that it was left behind. Every choice of τ is a subgradient; this one moves where all
//! scores tie. Gates and steps are those of q and r before the batch. The first batch brings its own quantiles, and its mean
//! deviation for r; so does one after which all scores tied (r = 0). Where α = 0 there is no q_m and no negative is above it;
//! where β = 1 no q_n and all are. Thresholds that lag and cross drop out: κ is never negative.
//!
//! With the thresholds at the quantiles of the whole data the mean over all batches is the exact subgradient. A value
//! without state is that of the batch's own range (`pauc_minibatch.rs`), which is exact for everything.
//!
//! State: `[q_n, r_n, q_m, r_m]`, from 0. Cost O(b + b₊k) a batch with k negatives between the thresholds, O(b log b) for the
//! first and for values. Scratch: 2 values, one `u32` and one `u64` a row.

use super::pauc_minibatch::stratified;
use super::{Estimator, Exact, Grad, Link, PaucMinibatch, both_classes, commit};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::pairs::brute;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BETA1, BETA2, DECAY_TO, EPS, FROM_CE, FROM_CE_STEPS, MARGIN, NO_RESTART, PRETRAIN_LR, Param, SCHEDULE, SMOOTHING,
    TINY, auto_lr, in_range, link, number, pull, scale, surrogate, text,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, kernel};

/// The partial AUC by tracked thresholds.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, Link, PaucThreshold};
/// use undercurve::surrogate::AnySurrogate;
///
/// let loss = PaucThreshold::new(AnySurrogate::by_name("hinge", 1.0)?, Link::Identity, (0.0, 0.5), 0.1)?;
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&loss, 10)]; // thresholds, whatever the number of positives
/// // The first batch brings its own threshold; in the second both negatives are below it.
/// for (scores, by_score) in [([0.0, 1.0, 0.5], [0.0, 1.0, -1.0]), ([-2.0, -3.0, 0.5], [0.0, 0.0, 0.0])] {
///     let batch = Batch::new(&scores, 1, &[0, 2, 3], &[200, 10], Drawn::Stratified)?; // two negatives, then a positive
///     let (mut u32s, mut u64s) = ([0; 3], [0; 3]);
///     let scratch = Scratch { real: &mut [0.0; 6], f64: &mut [], u32: &mut u32s, u64: &mut u64s };
///     let mut grad = [0.0; 3];
///     loss.update(&batch, &[], &mut state, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
///     assert_eq!(grad, by_score);
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucThreshold {
    /// The range, and sums over it.
    of: PaucMinibatch,
    gamma: f64,
}

/// Numbers of its state: `[q_n, r_n, q_m, r_m]`.
const STATE: usize = 4;

impl PaucThreshold {
    /// - `fpr`: the range, 0 ≤ α < β ≤ 1.
    /// - `gamma` in (0, 1]: the share of its error that a threshold loses in a batch.
    ///
    /// # Errors
    /// `Param` (range, gamma), `Unsupported` (a surrogate that is not monotone).
    pub fn new(surrogate: AnySurrogate<f64>, link: Link, fpr: (f64, f64), gamma: f64) -> Result<Self> {
        let of = PaucMinibatch::new(surrogate, link, fpr)?;
        if !(gamma > 0.0 && gamma <= 1.0) {
            return Err(Error::Param { what: "gamma" });
        }
        Ok(Self { of, gamma })
    }

    /// The surrogate ℓ.
    #[must_use]
    pub fn surrogate<T: Real>(&self) -> AnySurrogate<T> {
        self.of.surrogate()
    }

    /// The thresholds' shares of the negatives, β and α, where they lie inside.
    fn levels(&self) -> [Option<f64>; 2] {
        [self.of.fpr().1, self.of.fpr().0].map(|p| (p > 0.0 && p < 1.0).then_some(p))
    }

    /// The estimate, with the gradient by raw score if one is wanted, and the state after the batch.
    fn step<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Option<&mut [T]>,
    ) -> Result<(f64, [T; STATE])> {
        let count = both_classes(batch)?.0.len();
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        exact_len("state", STATE, state.len())?;
        let gamma = batch.rate().unwrap_or(self.gamma);
        if !(gamma > 0.0 && gamma <= 1.0) {
            return Err(Error::Param { what: "rate" });
        }
        let (h, rest) = scratch.real.split_at_mut(batch.scores().len());
        let out = &mut rest[..h.len()];
        self.of.link().apply(batch.scores(), h);
        out.fill(T::ZERO);
        let (low, high) = h.split_at(count);
        kernel!(self.surrogate::<T>(), loss => brute::check(loss, high, low)?);

        let fresh = |which: usize| state[2 * which + 1] == T::ZERO;
        if [0, 1].into_iter().any(|which| fresh(which) && self.levels()[which].is_some()) {
            sort(low, &mut scratch.u64[..count]);
        }
        let mut next = [T::ZERO; STATE];
        let gates = [0, 1].map(|which| {
            let p = self.levels()[which]?;
            let (threshold, width) = match fresh(which) {
                true => (quantile(&scratch.u64[..count], p), deviation(low)),
                false => (state[2 * which], state[2 * which + 1].f64()),
            };
            let (gate, q) = (Gate::new(threshold, p, low), threshold.f64());
            let (tail, side) = if p > 0.5 { (1.0 - p, -1.0) } else { (p, 1.0) };
            let (mut beyond, mut number, mut nearest) = (0.0, 0.0, f64::NEG_INFINITY);
            for h in low {
                let over = side * (h.f64() - q);
                nearest = nearest.or_larger(over);
                if over > 0.0 {
                    (beyond, number) = (beyond + over, number + 1.0);
                }
            }
            let far = width * (12.0 / (tail * count as f64)).or_larger(1.0);
            (next[2 * which], next[2 * which + 1]) = if -nearest > far {
                (T::of(q + side * nearest), T::of(width))
            } else {
                let seen = if number > 0.0 { beyond / number } else { -nearest };
                let step = (gamma * width * gate.excess).settled() / tail;
                (T::of(q + step), T::settled_of((1.0 - gamma) * width + gamma * seen))
            };
            Some(gate)
        });
        crate::error::all_finite("state", &next).map_err(|_| Error::Overflow { what: "threshold" })?;

        let weighed = low.iter().enumerate().filter_map(|(at, &h)| {
            let inside = gates[0].map_or(1.0, |gate| gate.of(h)) - gates[1].map_or(0.0, |gate| gate.of(h));
            (inside > 0.0).then_some((h, inside, at))
        });
        let value = self.of.sum(weighed, count, high, Some(out))?;
        if let Some(grad) = grad {
            self.of.link().chain(h, out);
            commit(out, grad)?;
        }
        Ok((value, next))
    }
}

/// A threshold against the negatives of a batch.
#[derive(Clone, Copy)]
struct Gate<T> {
    threshold: T,
    /// What a negative on the threshold counts.
    tie: f64,
    /// By how much the share above it, those on it counted so, is more than what is wanted: 0 where a tie makes up for it.
    excess: f64,
}

impl<T: Real> Gate<T> {
    /// Of a threshold that a share `p` is to exceed.
    fn new(threshold: T, p: f64, low: &[T]) -> Self {
        let (mut above, mut tied) = (0usize, 0usize);
        for &h in low {
            above += usize::from(h > threshold);
            tied += usize::from(h == threshold);
        }
        let (above, tied, all) = (above as f64, tied as f64, low.len() as f64);
        let wanted = p * all;
        let sum = wanted.or_larger(above).or_smaller(above + tied);
        let tie = if tied > 0.0 { (sum - above) / tied } else { 0.0 };
        Self { threshold, tie, excess: (sum - wanted) / all }
    }

    fn of(&self, h: T) -> f64 {
        if h > self.threshold {
            1.0
        } else if h == self.threshold {
            self.tie
        } else {
            0.0
        }
    }
}

/// The negatives' keys in ascending order.
fn sort<T: Real>(low: &[T], keys: &mut [u64]) {
    keys.iter_mut().zip(low).for_each(|(key, h)| *key = h.key());
    crate::sort::ascending(keys);
}

/// The score that a share `p` of the sorted negatives exceeds: half way between two where p b₋ is whole.
fn quantile<T: Real>(keys: &[u64], p: f64) -> T {
    let last = keys.len() - 1;
    let (above, part) = place(keys.len(), p);
    let [left, right] = [above, (above + 1).min(last)].map(|at| T::of_key(keys[last - at]).f64());
    // On the score itself between two that tie.
    T::of(left + part * (right - left))
}

/// How many are above that quantile's left neighbour, and the part of the way from it to the next lower one.
fn place(count: usize, p: f64) -> (usize, f64) {
    let at = (p * count as f64 - 0.5).or_larger(0.0).or_smaller((count - 1) as f64);
    (at as usize, at - f64::from(at as u32))
}

/// Mean deviation from the mean.
fn deviation<T: Real>(low: &[T]) -> f64 {
    let count = low.len() as f64;
    let mean = low.iter().map(|h| h.f64()).sum::<f64>() / count;
    low.iter().map(|h| (h.f64() - mean).abs()).sum::<f64>() / count
}

impl<T: Real> Estimator<T> for PaucThreshold {
    /// The ends of the range among the negatives of a batch; γ; 0; of the thresholds β and α each its share, 0 where there is
    /// none, and for its quantile how many are above the one on its left, and the part of the way to the next.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let count = stratified(batch)?;
        let (low, high) = self.of.fpr();
        let [n, m] = self.levels().map(|level| {
            let p = level.unwrap_or(0.0);
            let (above, part) = place(count as usize, p);
            [p, above as f64, part]
        });
        let numbers = [low * count, high * count, self.gamma, 0.0, n[0], n[1], n[2], 0.0, m[0], m[1], m[2]];
        Some(Recipe::new("pauc-threshold", &numbers).with_surrogate(self.of.surrogate()))
    }

    fn state_len(&self, _: usize) -> usize {
        STATE
    }

    fn link(&self) -> Link {
        self.of.link()
    }

    fn whole(&self) -> Option<Exact> {
        Estimator::<T>::whole(&self.of)
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows, u64: shape.rows, ..Need::NONE }.either(Estimator::<T>::need(&self.of, shape))
    }

    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.of.value(batch, aux, scratch)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        Ok(self.step(batch, state, scratch, Some(grad.scores))?.0)
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        let (_, next) = self.step(batch, state, scratch, None)?;
        state.copy_from_slice(&next);
        Ok(())
    }

    /// The gradient is that of the thresholds before the batch.
    fn update(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        let (value, next) = self.step(batch, state, scratch, Some(grad.scores))?;
        state.copy_from_slice(&next);
        Ok(value)
    }
}

impl PaucThreshold {
    /// Of settings. A range that ends within the first negative of the data has no quantile that batches could track.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        if settings.fpr().1 * f64::from(settings.scope().population[0]) < 1.0 {
            return Err(Error::Unsupported { what: text("a range of less than one negative: pauc-exact takes it") });
        }
        Self::new(super::surrogate(settings)?, Link::from_settings(settings), settings.fpr(), settings.value("gamma"))
    }
}

const SOME: [Param; 2] = in_range(1);

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "pauc-threshold",
    title: "Partial AUC by thresholds",
    about: "Minimises the pairwise surrogate over the negatives of a false-positive range (--fpr), in batches.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: &[
        FROM_CE_STEPS,
        optimizer("adam"),
        auto_lr(0.02, 0.0003),
        SCHEDULE,
        surrogate("sigmoid"),
        MARGIN,
        scale("30"),
        SMOOTHING,
        link("identity"),
        number("gamma", "0.02", TINY, 1.0, "share of its error that a threshold loses in a batch"),
        SOME[0],
        SOME[1],
        BETA1,
        BETA2,
        EPS,
        pull(0.03, 4.0),
        DECAY_TO,
        FROM_CE,
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[],
    source: Source {
        paper: "Yao, Lin, Yang 2022, Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
        part: "equations (2), (12), with two thresholds instead of a dual variable for each positive",
    },
    files: &["core/src/estimator/pauc_threshold.rs"],
};
