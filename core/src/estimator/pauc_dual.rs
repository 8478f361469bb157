//! The partial AUC in a range as the difference of two sums of the largest losses, each in its dual form with one dual
//! variable for each positive: what AGD-SBCD and DCA draw from.
//!
//! Source: Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates", equations
//! (6), (12) and (13), algorithms 1, 2 and 4.
//!
//! ```text
//! F = f^n − f^m,   f^l = 1/(n₊n₋(β−α)) Σ_{i∈+} φ_l(S_i) = min_λ g^l,   m = αn₋,  n = βn₋,   S_i = {ℓ(h_i − h_j): j ∈ −}
//! g^l = 1/(n₊n₋(β−α)) Σ_{i∈+} (l λ_i + Σ_{j∈−} [ℓ(h_i − h_j) − λ_i]₊)
//! ```
//!
//! φ_l the sum of the l largest, h the link of the raw score. A batch of b₊ positives and b₋ negatives gives
//!
//! ```text
//! κ_ij = 1[ℓ(h_i − h_j) > λ_i] / (b₊b₋(β−α))          c_i += κ_ij ℓ'(h_i − h_j),   c_j −= κ_ij ℓ'(h_i − h_j)
//! λ_i ← λ_i − θ(l/n₋ − 1/b₋ Σ_j 1[ℓ(h_i − h_j) > λ_i])    for the positives of the batch
//! ```
//!
//! The mean of either over all batches is the exact subgradient of g^l. Gradients are those of λ before the batch. A batch of
//! everything brings the best λ of all positives by one sort, λ_i = ℓ(h_i − q) with q the ⌈l⌉-th highest negative, and with
//! it a new inner problem; its gradient is that of f^l by near-linear sums. Ending an inner problem
//! ([`turn`](Estimator::turn)) makes every λ its mean λ̄ over the problem's steps.
//!
//! Deviations: the objective is divided by n₊n₋(β−α), so that steps near 1 are sensible whatever the data and the range (θ
//! here is the paper's times n₋); λ̄ is kept lazily, so that a batch costs what its own positives do. The proofs ask for
//! slopes with a bound, and steps run away without one: the squared hinge, the square and the exponential are refused.
//!
//! Term 0 is f^m and term 1 f^n. With α = 0 there is no f^m, and with β = 1 f^n is the sum of all losses and needs no λ.
//! State: a bank for each term, `[λ, λ̄ so far, steps that it holds]` for each positive of the data, then the steps of each
//! term's inner problem. A value is that of the batch's own range. Cost O(b₊b₋) a batch, O(n log n) for everything. Scratch:
//! 5 values and one `u64` a row, and that of [`Exact`].

use super::pauc_minibatch::MANY;
use super::{Estimator, Exact, Grad, Held, Link, PaucMinibatch, both_classes, commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::pairs::brute;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::*;
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Surrogate, kernel};

/// Numbers of a bank for each positive of the data.
pub(super) const DUAL: usize = 3;
/// Terms of an objective of ranked losses: f^m and f^n.
pub(super) const TERMS: usize = 2;

/// The two terms of the partial AUC.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, Link, PaucDual};
/// use undercurve::surrogate::AnySurrogate;
///
/// let scores = [0.0, 1.0, 0.5]; // two negatives, then a positive: all there is
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?.with_slots(&[0]).of_term(1);
/// let loss = PaucDual::new(AnySurrogate::by_name("hinge", 1.0)?, Link::Identity, (0.0, 0.5), 0.1)?;
/// let need = Estimator::<f64>::need(&loss, batch.shape());
/// let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
/// let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&loss, 1)];
/// let mut grad = [0.0; 3];
/// let value = loss.update(&batch, &[], &mut state, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// assert_eq!((value, grad), (1.5, [0.0, 1.0, -1.0])); // of the pair with the higher negative alone
/// assert_eq!(state[3], 1.5); // and a batch of everything brings the best λ of term 1: that pair's loss
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucDual {
    surrogate: AnySurrogate<f64>,
    link: Link,
    fpr: (f64, f64),
    theta: f64,
}

impl PaucDual {
    /// - `fpr`: the range, 0 ≤ α < β ≤ 1.
    /// - `theta` ≥ 0: the step of the dual variables where no other is asked for.
    ///
    /// # Errors
    /// `Param` (range, theta), `Unsupported` (a surrogate that is not monotone, or whose slopes have no bound).
    pub fn new(surrogate: AnySurrogate<f64>, link: Link, fpr: (f64, f64), theta: f64) -> Result<Self> {
        Exact::pauc(surrogate, link, fpr)?;
        if !surrogate.has_bounded_slope() {
            return Err(Error::Unsupported { what: "stochastic partial AUC needs a surrogate of bounded slope" });
        }
        if theta >= 0.0 && theta.is_finite() {
            Ok(Self { surrogate, link, fpr, theta })
        } else {
            Err(Error::Param { what: "theta" })
        }
    }

    /// l/n₋ of a term.
    fn share<T: Real>(&self, batch: &Batch<'_, T>) -> Result<f64> {
        match batch.term() {
            0 => Ok(self.fpr.0),
            1 => Ok(self.fpr.1),
            _ => Err(Error::Unsupported { what: "a term that the objective does not have" }),
        }
    }

    /// The objective of this range over everything.
    fn exact(&self, fpr: (f64, f64)) -> Result<Exact> {
        Exact::pauc(self.surrogate, self.link, fpr)
    }

    /// Writes the gradient by raw score, if one is wanted, then the state after the batch, if it is to move; the estimate.
    fn step<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        state: Held<'_, T>,
        scratch: Scratch<'_, T>,
        grad: Option<&mut [T]>,
    ) -> Result<f64> {
        let (rows, count) = (batch.scores().len(), both_classes(batch)?.0.len());
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let (share, slots, old) = (self.share(batch)?, batch.slots(), state.read());
        exact_len("slots", rows - count, slots.len())?;
        let owners = old.len() / (TERMS * DUAL);
        exact_len("state", TERMS * (DUAL * owners + 1), old.len())?;
        if let Some(at) = slots.iter().position(|&slot| slot as usize >= owners) {
            return Err(Error::Index { what: "slots", at, len: owners });
        }
        let theta = batch.rate().unwrap_or(self.theta);
        if !(theta >= 0.0 && theta.is_finite()) {
            return Err(Error::Param { what: "theta" });
        }
        let bank = usize::from(batch.term()) * DUAL * owners;
        let clock = TERMS * DUAL * owners + usize::from(batch.term());
        let (h, rest) = scratch.real.split_at_mut(rows);
        let (out, rest) = rest.split_at_mut(rows);
        let (next, rest) = rest.split_at_mut(DUAL * rows);
        self.link.apply(batch.scores(), h);
        let (low, high) = h.split_at(count);
        kernel!(self.surrogate.to::<T>(), loss => brute::check(loss, high, low)?);
        out.fill(T::ZERO);
        // All losses are among the n₋ largest.
        let every = share >= 1.0;
        let (all, done) = (batch.drawn() == Drawn::All, old[clock].f64() + 1.0);
        let mut value = 0.0;
        if all {
            self.best(share, low, high, scratch.u64, next);
            if share > 0.0 && grad.is_some() {
                let scratch = Scratch { real: rest, f64: scratch.f64, u32: scratch.u32, u64: scratch.u64 };
                let unit = share / (self.fpr.1 - self.fpr.0);
                value =
                    self.exact((0.0, share))?.gradient(batch, &[], &[], scratch, Grad { scores: out, aux: &mut [] })?;
                value *= unit;
                out.iter_mut().for_each(|c| *c *= T::of(unit));
            }
        } else if share > 0.0 {
            let pairs = high.len() as f64 * count as f64 * (self.fpr.1 - self.fpr.0);
            let kappa = T::of(1.0 / pairs);
            let (of_low, of_high) = out.split_at_mut(count);
            kernel!(self.surrogate.to::<T>(), loss => {
                let duals = slots.iter().zip(next.chunks_exact_mut(DUAL));
                for ((&h, c), (&slot, next)) in high.iter().zip(of_high).zip(duals) {
                    let dual = &old[bank + DUAL * slot as usize..][..DUAL];
                    let lambda = if every { T::ZERO } else { dual[0] };
                    let (mut slopes, mut above) = (T::ZERO, 0usize);
                    for (&other, g) in low.iter().zip(&mut *of_low) {
                        let loss_of = loss.value(h - other);
                        if every || loss_of > lambda {
                            let slope = loss.slope(h - other);
                            slopes += slope;
                            *g -= kappa * slope;
                            value += (loss_of - lambda).f64();
                            above += 1;
                        }
                    }
                    *c = kappa * slopes;
                    value += share * count as f64 * lambda.f64();
                    let moved = lambda.f64() - theta * (share - above as f64 / count as f64);
                    next.copy_from_slice(&[T::of(moved), mean_until(dual, done), T::of(done)]);
                }
            });
            value /= pairs;
        }
        let value = finite("pairwise loss", value)?;
        let next = &next[..DUAL * slots.len()];
        let moves = share > 0.0 && !every;
        if moves {
            crate::error::all_finite("lambda", next).map_err(|_| Error::Overflow { what: "lambda" })?;
        }
        if let Some(grad) = grad {
            if !all {
                self.link.chain(h, out);
            }
            commit(out, grad)?;
        }
        if let (Held::Moved(state), true) = (state, moves) {
            for (&slot, next) in slots.iter().zip(next.chunks_exact(DUAL)) {
                state[bank + DUAL * slot as usize..][..DUAL].copy_from_slice(next);
            }
            state[clock] = if all { T::ZERO } else { T::of(done) };
        }
        Ok(value)
    }

    /// The best λ of all positives.
    fn best<T: Real>(&self, share: f64, low: &[T], high: &[T], keys: &mut [u64], next: &mut [T]) {
        let keys = &mut keys[..low.len()];
        keys.iter_mut().zip(low).for_each(|(key, h)| *key = h.key());
        crate::sort::ascending(keys);
        let rank = (libm::ceil(share * low.len() as f64) as usize).max(1).min(low.len());
        let threshold = T::of_key(keys[low.len() - rank]);
        for (dual, &h) in next.chunks_exact_mut(DUAL).zip(high) {
            dual.copy_from_slice(&[self.surrogate.to::<T>().value(h - threshold), T::ZERO, T::ZERO]);
        }
    }
}

/// Mean of λ over the first `steps` iterates of the inner problem: it has been what it is since the last that is held.
pub(super) fn mean_until<T: Real>(dual: &[T], steps: f64) -> T {
    let held = dual[2].f64();
    if steps <= held {
        return dual[1];
    }
    T::of((dual[1].f64() * held + dual[0].f64() * (steps - held)) / steps)
}

/// Ends an inner problem of so many steps: every λ of the bank becomes its mean over them, and the next begins. O(n₊).
pub(super) fn turn_bank<T: Real>(bank: &mut [T], steps: f64) {
    for dual in bank.chunks_exact_mut(DUAL) {
        let mean = if steps > 0.0 { mean_until(dual, steps) } else { dual[0] };
        // (Of numbers that no run comes to the mean may be none.)
        let mean = if mean.is_finite() { mean } else { dual[0] };
        dual.copy_from_slice(&[mean, T::ZERO, T::ZERO]);
    }
}

impl<T: Real> Estimator<T> for PaucDual {
    /// Of f^n: β, β − α.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        both_classes(batch).ok()?;
        let (low, high) = self.fpr;
        Some(Recipe::new("pauc-dual", &[high, high - low]).with_surrogate(self.surrogate))
    }

    fn state_len(&self, slots: usize) -> usize {
        TERMS * (DUAL * slots + 1)
    }

    fn terms(&self) -> u8 {
        TERMS as u8
    }

    fn link(&self) -> Link {
        self.link
    }

    fn whole(&self) -> Option<Exact> {
        self.exact(self.fpr).ok()
    }

    fn tables_len(&self) -> usize {
        self.exact(self.fpr).map_or(0, |exact| Estimator::<T>::tables_len(&exact))
    }

    fn prepare<'t>(&self, tables: &'t mut [f64]) -> &'t [f64] {
        match self.exact(self.fpr) {
            Ok(exact) => Estimator::<T>::prepare(&exact, tables),
            Err(_) => &[],
        }
    }

    fn need(&self, shape: Shape) -> Need {
        let whole = self.exact(self.fpr).map_or(Need::NONE, |exact| Estimator::<T>::need(&exact, shape));
        let own = Need { u64: shape.rows, ..Need::NONE };
        Need { real: (2 + DUAL) * shape.rows + whole.real, ..own.either(whole) }
    }

    /// Of the batch's own range.
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        PaucMinibatch::new(self.surrogate, self.link, self.fpr)?.value(batch, aux, scratch)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.step(batch, Held::Read(state), scratch, Some(grad.scores))
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        self.step(batch, Held::Moved(state), scratch, None).map(|_| ())
    }

    /// The gradient is that of λ before the batch.
    fn update(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.step(batch, Held::Moved(state), scratch, Some(grad.scores))
    }

    fn turn(&self, term: u8, state: &mut [T]) -> Result<()> {
        let owners = state.len() / (TERMS * DUAL);
        exact_len("state", TERMS * (DUAL * owners + 1), state.len())?;
        if usize::from(term) >= TERMS {
            return Err(Error::Unsupported { what: "a term that the objective does not have" });
        }
        let (banks, clocks) = state.split_at_mut(TERMS * DUAL * owners);
        let clock = &mut clocks[usize::from(term)];
        turn_bank(&mut banks[usize::from(term) * DUAL * owners..][..DUAL * owners], clock.f64());
        *clock = T::ZERO;
        Ok(())
    }
}

impl PaucDual {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(super::surrogate(settings)?, Link::from_settings(settings), settings.fpr(), settings.value("theta"))
    }
}

const BOUNDED: Param =
    choice("surrogate", "sigmoid", &["sigmoid", "logistic", "hinge", "smoothed-hinge", "ramp"], "loss of the margin");
pub(super) const THETA: Param = number("theta", "0.1", 0.0, BIG, "step of the dual variables in the first stage");
pub(super) const RADIUS: Param = number("mu", "1e3", TINY, BIG, "radius of the proximal term");
pub(super) const RELAX: Param = number(
    "relax",
    "2",
    TINY,
    crate::algorithm::MOST_RELAX,
    "the paper's gamma over mu: share of the way between the proximal points (at most .5 in its proof; held to 2 in ranges from 0, and by decay)",
);
const fn stage(share: f64, about: &'static str) -> Param {
    auto_number("stage", 1.0, Auto::Share { linear: share, network: share }, about)
}
const OUTER: Param = stage(1.0 / 30.0, "steps of an outer step (changing: of the first)");
pub(super) const CHANGING: Param = choice(
    "schedule",
    "changing",
    &["changing", "constant"],
    "steps of size lr/k in outer step k, which has k squared times the first one's, or the same in all",
);
const SOURCE: &str = "Yao, Lin, Yang 2022, Large-scale Optimization of Partial AUC in a Range of False Positive Rates";

/// Its entry in the table of methods.
pub(crate) const AGD: Entry = Entry {
    name: "agd-sbcd",
    title: "AGD-SBCD",
    about: "Minimises the pairwise surrogate over the negatives of a false-positive range (--fpr) by steps between proximal points, which batches find.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: &[
        FROM_CE_STEPS,
        rule("agd-sbcd", &["agd-sbcd"]),
        auto_lr(5.0, 0.02),
        THETA,
        stage(1.0 / 14.0, "gradients of the first stage; stage k has k squared times as many, with steps of size lr/k"),
        choice(
            "schedule",
            "constant",
            &["constant", "linear", "cosine", "steps"],
            "how the learning rate falls over the run, besides by stages",
        ),
        RADIUS,
        RELAX,
        BOUNDED,
        MARGIN,
        scale("30"),
        SMOOTHING,
        link("identity"),
        MANY[0],
        MANY[1],
        pull(0.03, 4.0),
        DECAY_TO,
        FROM_CE,
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[],
    source: Source { paper: SOURCE, part: "equations (6), (12), (13), algorithms 1 and 2" },
    files: &["core/src/estimator/pauc_dual.rs", "core/src/algorithm/agd.rs"],
};

/// Its entry in the table of methods.
pub(crate) const DCA: Entry = Entry {
    name: "dca",
    title: "DCA",
    about: "Minimises the pairwise surrogate over the negatives of a false-positive range (--fpr), the negatives left out made linear in outer steps.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: &[
        FROM_CE_STEPS,
        rule("dca", &["dca"]),
        auto_lr(0.5, 0.005),
        THETA,
        OUTER,
        CHANGING,
        BOUNDED,
        MARGIN,
        scale("30"),
        SMOOTHING,
        link("identity"),
        MANY[0],
        MANY[1],
        pull(0.03, 4.0),
        DECAY_TO,
        FROM_CE,
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[],
    source: Source { paper: SOURCE, part: "equations (12), (37), algorithm 4 without its proximal term" },
    files: &["core/src/estimator/pauc_dual.rs", "core/src/algorithm/dca.rs"],
};

/// Its entry in the table of methods.
pub(crate) const PROXIMAL_DCA: Entry = Entry {
    name: "proximal-dca",
    title: "Proximal DCA",
    about: "The same with a proximal term around the start of every outer step.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: &[
        FROM_CE_STEPS,
        rule("dca", &["dca"]),
        auto_lr(0.5, 0.005),
        THETA,
        OUTER,
        CHANGING,
        number("prox", "0.01", 0.0, BIG, "weight of half the squared distance to the start of an outer step"),
        BOUNDED,
        MARGIN,
        scale("30"),
        SMOOTHING,
        link("identity"),
        MANY[0],
        MANY[1],
        pull(0.03, 4.0),
        DECAY_TO,
        FROM_CE,
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[],
    source: Source { paper: SOURCE, part: "equations (12), (38), algorithm 4" },
    files: &["core/src/estimator/pauc_dual.rs", "core/src/algorithm/dca.rs"],
};
