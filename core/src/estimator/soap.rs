//! SOAP: stochastic optimisation of the average precision.
//!
//! Source: Qi, Luo, Xu, Ji and Yang 2021, "Stochastic Optimization of Areas Under Precision-Recall Curves with Provable
//! Convergence", equations (2)–(4), (9), algorithms 1 and 2.
//!
//! Objective, minimised: P = 1/n₊ Σ_{i∈+} −g1_i/g2_i with g1_i = 1/n Σ_{j∈+} ℓ(h_i − h_j), g2_i = 1/n Σ_j ℓ(h_i − h_j),
//! j = i included, h the link of the raw score (the paper's is σ).
//!
//! For each positive i of the batch, with ω the weight of each example:
//!
//! ```text
//! ĝ1_i = Σ_{j∈B₊} ω_ij ℓ(h_i − h_j)            ĝ2_i = Σ_{j∈B} ω_ij ℓ(h_i − h_j)
//! u1_i ← (1 − γ)u1_i + γ ĝ1_i                  u2_i ← max((1 − γ)u2_i + γ ĝ2_i, u0)
//! κ_ij = ω_ij (u1_i − u2_i 1[y_j = 1]) / (b₊ u2_i²)
//! c_i += κ_ij ℓ'(h_i − h_j)                    c_j −= κ_ij ℓ'(h_i − h_j)          (then times h'(s))
//! ```
//!
//! `Weights::AsDrawn` is the paper's and its software's practice: ω = 1/b. It is biased, because the batch holds few
//! negatives for its positives and always the pair (i, i). `Weights::Unbiased` gives the pair (i, i) 1/n, the other
//! positives (n₊−1)/(n(b₊−1)) and the negatives n₋/(n b₋) in a stratified batch (1/n and (n−1)/(n(b−1)) in a uniform
//! one), and then the mean over all batches is the exact gradient where u = g.
//!
//! State: `[u1, u2]` for each positive of the data, from 0; u2 = 0 means not yet visited (ℓ(0) > 0), and the first visit
//! takes the estimate itself (`First::Estimate`, the paper's) or mixes it with 0 (`First::Zero`). Cost O(b₊b) a batch.
//! Scratch: 14 values a row at most (12 a row and 2 a positive).

use super::{
    Estimator, Exact, Grad, Link, PairEstimator, PairSums, PairWeights, Weights, both_classes, commit, finite,
};
use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::pairs::keep_slopes::{self, BLOCK, Begin, Next};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    Auto, BATCH, BETA1, BETA2, BIG, DECAY_TO, EPS, MARGIN, NEGATIVES, NO_RESTART, POSITIVES, PRETRAIN_LR, PRETRAINING,
    SAMPLING, SCHEDULE, SMOOTHING, STEPS, TINY, WEIGHTS, adam_lr, auto_count, choice, link, number, pull, scale,
    surrogate,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::slices::Part;
use crate::surrogate::{AnySurrogate, AtZero, Family, Loss, Sigmoid};

/// What the first visit of a positive does to its u.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum First {
    /// u becomes the estimate.
    Estimate,
    /// u is mixed with 0 as at any visit.
    Zero,
}

/// What SOAP's estimator is made of. The default is the method's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoapSettings<L = AnySurrogate<f64>> {
    /// ℓ, with ℓ(0) > 0.
    pub surrogate: L,
    /// The function of the raw score inside ℓ.
    pub link: Link,
    /// γ in (0, 1]: weight of the new estimate in u.
    pub gamma: f64,
    /// u0 ≥ 0, the least value of u2.
    pub floor: f64,
    /// Of the pairs of a batch.
    pub weights: Weights,
    /// What the first visit of a positive does.
    pub first: First,
}

impl Default for SoapSettings {
    fn default() -> Self {
        Self::of(AnySurrogate::Sigmoid(Sigmoid::DOUBLE))
    }
}

impl<L> SoapSettings<L> {
    /// With this surrogate, and the defaults of everything else.
    #[must_use]
    pub fn of(surrogate: L) -> Self {
        Self {
            surrogate,
            link: Link::Identity,
            gamma: 0.9,
            floor: 0.0,
            weights: Weights::Unbiased,
            first: First::Estimate,
        }
    }
}

/// SOAP's estimator.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, Soap};
///
/// let scores = [0.0f64; 4]; // three negatives and a positive, all tied
/// let batch = Batch::new(&scores, 1, &[0, 3, 4], &[3, 1], Drawn::Stratified)?.with_slots(&[0]);
/// let soap = Soap::default();
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&soap, 1)]; // u1 and u2 of each positive of the data
/// let mut real = vec![0.0; Estimator::<f64>::need(&soap, batch.shape()).real];
/// let mut grad = [0.0; 4];
/// let scratch = Scratch { real: &mut real, ..Scratch::default() };
/// let value = soap.update(&batch, &[], &mut state, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// // g1 = ½/4 of the pair of the positive with itself, g2 = ½ of all: a precision of g1/g2 = ¼.
/// assert!((value + 0.25).abs() < 1e-12);
/// assert!(state.iter().zip([0.125, 0.5]).all(|(u, g)| (u - g).abs() < 1e-12));
/// assert!(grad[3] < 0.0 && grad[..3].iter().all(|&g| g > 0.0)); // descent lifts the positive above the negatives
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soap<L = AnySurrogate<f64>>(SoapSettings<L>);

impl Default for Soap {
    fn default() -> Self {
        Self(SoapSettings::default())
    }
}

/// ω of the pair (i, i), of the other positives and of the negatives.
#[derive(Clone, Copy)]
struct Omega<T> {
    own: T,
    positive: T,
    negative: T,
}

impl<T: Real> Omega<T> {
    /// ĝ1 and ĝ2 of a positive, from its Σ ℓ over the negatives and over the positives; `own` is ℓ(0).
    fn inner(self, low: T, high: T, own: T) -> [T; 2] {
        let g1 = self.own * own + self.positive * (high - own).settled();
        [g1, g1 + self.negative * low.settled()]
    }
}

impl<L: Loss> Soap<L> {
    /// An estimator with these settings; its [`Default`] needs no check.
    ///
    /// # Errors
    /// `Param`; also for the surrogate `square` with margin 0, whose ℓ(0) is 0.
    pub fn new(settings: SoapSettings<L>) -> Result<Self> {
        let SoapSettings { surrogate, gamma, floor, .. } = settings;
        if !(gamma > 0.0 && gamma <= 1.0) {
            return Err(Error::Param { what: "gamma" });
        }
        if !(floor >= 0.0 && floor.is_finite()) {
            return Err(Error::Param { what: "u0" });
        }
        if surrogate.into().family() == (Family::Square { margin: 0.0 }) {
            return Err(Error::Param { what: "margin" });
        }
        Ok(Self(settings))
    }

    /// The surrogate ℓ.
    #[must_use]
    pub fn surrogate<T: Real>(&self) -> AnySurrogate<T> {
        self.0.surrogate.into().to()
    }

    /// The same estimator, of a surrogate that is chosen when it runs.
    #[must_use]
    pub fn any(&self) -> Soap {
        let SoapSettings { surrogate, link, gamma, floor, weights, first } = self.0;
        Soap(SoapSettings { surrogate: surrogate.into(), link, gamma, floor, weights, first })
    }

    /// The middle of a step: from the sums of ℓ over the pairs of each positive to its new `[u1, u2]` and the weights κ
    /// of its pairs, for code elsewhere that sweeps the pairs. [`update`](Estimator::update) is made of it too.
    ///
    /// The state of `out` is the new `[u1, u2]` of each positive of the batch, and `state` that of each positive of the data,
    /// read only: the caller copies it to the batch's slots when its step succeeds.
    ///
    /// Returns the running estimate −mean(u1/u2). O(b₊).
    ///
    /// # Errors
    /// `OneClass`, `Unsupported`, `Length`, `Index` (a slot past the state), `Param` (unbiased weights with one positive
    /// of several), `Overflow`. Only `Overflow` leaves something in `out`, which then means nothing.
    pub fn weigh<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        sums: PairSums<'_, T>,
        state: &[T],
        out: PairWeights<'_, T>,
    ) -> Result<f64> {
        let (_, high) = both_classes(batch)?;
        let (slots, count) = (batch.slots(), high.len());
        exact_len("slots", count, slots.len())?;
        exact_len("low_sums", count, sums.low.len())?;
        exact_len("high_sums", count, sums.high.len())?;
        exact_len("u", 2 * count, out.state.len())?;
        exact_len("kappa_low", count, out.low.len())?;
        exact_len("kappa_high", count, out.high.len())?;
        let step = self.step(batch, state, self.rate(batch)?)?;
        let mut sum = 0.0;
        for (from, (slots, u)) in (0..).step_by(BLOCK).zip(slots.chunks(BLOCK).zip(out.state.chunks_mut(2 * BLOCK))) {
            let (mut low, mut high) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
            let block = from..from + slots.len();
            low[..slots.len()].copy_from_slice(&sums.low[block.clone()]);
            high[..slots.len()].copy_from_slice(&sums.high[block.clone()]);
            let weighed = step.weigh(&low, &high, slots, u);
            out.low[block.clone()].copy_from_slice(&weighed.low[..slots.len()]);
            out.high[block].copy_from_slice(&weighed.high[..slots.len()]);
            weighed.ratio.iter().take(slots.len()).for_each(|ratio| sum -= ratio.f64());
        }
        check_u(out.state)?;
        finite("average precision loss", sum / count as f64)
    }

    /// γ of a batch.
    fn rate<T: Real>(&self, batch: &Batch<'_, T>) -> Result<f64> {
        let gamma = batch.rate().unwrap_or(self.0.gamma);
        if gamma > 0.0 && gamma <= 1.0 { Ok(gamma) } else { Err(Error::Param { what: "rate" }) }
    }

    /// What the step of every positive of the batch needs. With γ = 0 its u stays as it is where it was visited before,
    /// and is the estimate where it was not.
    fn step<'a, T: Real>(&self, batch: &Batch<'_, T>, state: &'a [T], gamma: f64) -> Result<Step<'a, T>> {
        let (low, high) = both_classes(batch)?;
        exact_len("slots", high.len(), batch.slots().len())?;
        let len = state.len() / 2;
        if let Some(at) = batch.slots().iter().position(|&slot| slot as usize >= len) {
            return Err(Error::Index { what: "slots", at, len });
        }
        let weights = self.pair_weights(batch, low.len(), high.len())?;
        let own = self.0.surrogate.lend(AtZero::<T>::new());
        let (first, floor) = (if gamma == 0.0 { First::Estimate } else { self.0.first }, T::of(self.0.floor));
        let scale = T::ONE / T::of(high.len() as f64);
        Ok(Step { gamma: T::of(gamma), floor, first, state, weights, own, scale })
    }

    /// The estimate, the gradient by raw score, and the new `[u1, u2]` of each positive of the batch.
    fn sweep<'s, T: Real>(
        &self,
        batch: &Batch<'_, T>,
        step: &Step<'_, T>,
        scratch: &'s mut [T],
        grad: &mut [T],
    ) -> Result<(f64, &'s [T])> {
        let (low, high) = both_classes(batch)?;
        let surrogate = self.0.surrogate;
        exact_len("grad.scores", batch.scores().len(), grad.len())?;
        let Parts { h, out, u, kept } = Parts::cut(scratch, batch.scores().len(), high.len())?;
        self.0.link.apply(batch.scores(), h);
        out.fill(T::ZERO);
        let mut kept = surrogate.lend(Begin { scores: h, negatives: low.len(), memory: kept });
        let mut sum = 0.0;
        let blocks = batch.slots().chunks(BLOCK).zip(u.chunks_mut(2 * BLOCK));
        for (from, (slots, u)) in (0..).step_by(BLOCK).zip(blocks) {
            let [of_low, of_high] = surrogate.lend(Next { kept: &mut kept, from, count: slots.len() });
            let weighed = step.weigh(&of_low.values, &of_high.values, slots, u);
            for (i, c) in (0..slots.len().min(BLOCK)).zip(out.iter_mut().skip(low.len() + from)) {
                *c += weighed.low[i] * of_low.slopes[i] + weighed.high[i] * of_high.slopes[i];
                sum -= weighed.ratio[i].f64();
            }
            kept.subtract(from, weighed.low.head(slots.len())?, weighed.high.head(slots.len())?, out);
        }
        kept.finish(out);
        check_u(u)?;
        let value = finite("average precision loss", sum / high.len() as f64)?;
        self.0.link.chain(h, out);
        commit(out, grad)?;
        Ok((value, u))
    }

    fn pair_weights<T: Real>(&self, batch: &Batch<'_, T>, low: usize, high: usize) -> Result<Omega<T>> {
        let rows = (low + high) as f64;
        let &[all_low, all_high] = batch.population() else { return Err(Error::OneClass) };
        let positives = f64::from(all_high);
        let [negatives, mass] = [batch.mass(0), batch.mass(1)];
        // What a positive that is drawn counts: 1, or the mean weight of one.
        let (all, unit) = (negatives + mass, mass / positives);
        let [own, positive, negative] = match (self.0.weights, batch.drawn()) {
            (Weights::AsDrawn, _) | (_, Drawn::All) => [1.0 / rows; 3],
            (Weights::Unbiased, Drawn::Stratified) => {
                if high == 1 && positives > 1.0 {
                    return Err(Error::Param { what: "positives" }); // one positive says nothing about the others
                }
                let others = if high > 1 { unit * (positives - 1.0) / (all * (high as f64 - 1.0)) } else { 0.0 };
                [unit / all, others, negatives / (all * low as f64)]
            }
            (Weights::Unbiased, Drawn::Uniform) => {
                let all = f64::from(all_low) + positives;
                let others = (all - 1.0) / (all * (rows - 1.0));
                [1.0 / all, others, others]
            }
        };
        Ok(Omega { own: T::of(own), positive: T::of(positive), negative: T::of(negative) })
    }
}

/// The middle of a step of one batch.
struct Step<'a, T> {
    gamma: T,
    floor: T,
    first: First,
    state: &'a [T],
    weights: Omega<T>,
    /// ℓ(0).
    own: T,
    /// 1/b₊.
    scale: T,
}

/// The κ of a block's positives for negatives and for positives, and their u1/u2.
struct Weighed<T> {
    low: [T; BLOCK],
    high: [T; BLOCK],
    ratio: [T; BLOCK],
}

impl<T: Real> Step<'_, T> {
    /// From the sums of at most [`BLOCK`] positives to their weights, and to their new `[u1, u2]` in `u`. Whole blocks are
    /// computed step by step, as vector registers would.
    #[inline(never)]
    fn weigh(&self, low: &[T; BLOCK], high: &[T; BLOCK], slots: &[u32], u: &mut [T]) -> Weighed<T> {
        let w = self.weights;
        let (mut old, mut gamma) = ([[T::ZERO; BLOCK]; 2], [T::ONE; BLOCK]);
        for (i, &slot) in slots.iter().enumerate().take(BLOCK) {
            let at = 2 * slot as usize;
            // (Slots are inside the state: `step` looked.)
            let u = |at| self.state.get(at).copied().unwrap_or(T::ZERO);
            (old[0][i], old[1][i]) = (u(at), u(at + 1));
            if old[1][i] != T::ZERO || self.first != First::Estimate {
                gamma[i] = self.gamma;
            }
        }
        let mut new = [[T::ZERO; BLOCK]; 2];
        for i in 0..BLOCK {
            let [g1, g2] = w.inner(low[i], high[i], self.own);
            new[0][i] = (T::ONE - gamma[i]) * old[0][i] + gamma[i] * g1;
            new[1][i] = ((T::ONE - gamma[i]) * old[1][i] + gamma[i] * g2).or_larger(self.floor);
        }
        let (mut ratio, mut over) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        for i in 0..BLOCK {
            // A gradient is at most a few times this share.
            ratio[i] = (new[0][i] / new[1][i]).settled();
            over[i] = self.scale / new[1][i];
        }
        let mut of = Weighed { low: [T::ZERO; BLOCK], high: [T::ZERO; BLOCK], ratio };
        for i in 0..BLOCK {
            // No slope is steeper than about 1 + ℓ, so what κ would add to a gradient is less than `FAINT` where it is 0.
            let kappa = |w: T, ratio: T, sum: T| {
                let kappa = w * over[i] * ratio;
                if kappa.abs() * (T::ONE + sum) < T::FAINT { T::ZERO } else { kappa }
            };
            of.low[i] = kappa(w.negative, ratio[i], low[i]);
            of.high[i] = kappa(w.positive, ratio[i] - T::ONE, high[i]);
        }
        for (u, i) in u.chunks_exact_mut(2).zip(0..BLOCK) {
            (u[0], u[1]) = (new[0][i], new[1][i]);
        }
        of
    }
}

/// An infinite u2 would hide behind a weight of zero.
fn check_u<T: Real>(u: &[T]) -> Result<()> {
    crate::error::all_finite("u", u).map_err(|_| Error::Overflow { what: "pairwise loss" })
}

/// Scratch of one batch, cut into its parts.
struct Parts<'a, T> {
    h: &'a mut [T],
    out: &'a mut [T],
    /// `[u1, u2]` of each positive.
    u: &'a mut [T],
    kept: &'a mut [T],
}

impl<'a, T: Real> Parts<'a, T> {
    fn cut(memory: &'a mut [T], rows: usize, count: usize) -> Result<Self> {
        let (h, memory) = memory.halves_mut(rows)?;
        let (out, memory) = memory.halves_mut(rows)?;
        let (u, kept) = memory.halves_mut(2 * count)?;
        Ok(Self { h, out, u, kept })
    }
}

impl<T: Real, L: Loss> Estimator<T> for Soap<L> {
    /// ω of the pair (i, i), of other positives, of negatives; γ; u0; whether the first visit takes the estimate.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let (low, high) = both_classes(batch).ok()?;
        let w = self.pair_weights(batch, low.len(), high.len()).ok()?;
        let first = f64::from(u8::from(self.0.first == First::Estimate));
        let numbers = [w.own.f64(), w.positive.f64(), w.negative.f64(), self.0.gamma, self.0.floor, first];
        Some(Recipe::new("soap", &numbers).with_surrogate(self.0.surrogate.into()))
    }

    fn state_len(&self, slots: usize) -> usize {
        2 * slots
    }

    fn link(&self) -> Link {
        self.0.link
    }

    fn whole(&self) -> Option<Exact> {
        Some(Exact::ap(self.0.surrogate.into(), self.0.link))
    }

    fn pairs(&self) -> Option<&dyn PairEstimator<T>> {
        Some(self)
    }

    fn need(&self, shape: Shape) -> Need {
        // (One value a row more for `track`, which has no other place for the gradient.)
        Need { real: 5 * shape.rows + keep_slopes::need(shape.rows), ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        let (low, high) = both_classes(batch)?;
        let surrogate = self.0.surrogate;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let w = self.pair_weights(batch, low.len(), high.len())?;
        let parts = Parts::cut(scratch.real, batch.scores().len(), high.len())?;
        self.0.link.apply(batch.scores(), parts.h);
        let mut kept = surrogate.lend(Begin { scores: parts.h, negatives: low.len(), memory: parts.kept });
        let own = surrogate.lend(AtZero::<T>::new());
        let mut sum = 0.0;
        for from in (0..high.len()).step_by(BLOCK) {
            let count = BLOCK.min(high.len() - from);
            let [low, high] = surrogate.lend(Next { kept: &mut kept, from, count });
            for (&low, &high) in low.values.iter().zip(&high.values).take(count) {
                let [g1, g2] = w.inner(low, high, own);
                sum -= g1.f64() / g2.f64();
            }
        }
        finite("average precision loss", sum / high.len() as f64)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let step = self.step(batch, state, 0.0)?;
        let (value, _) = self.sweep(batch, &step, scratch.real, grad.scores)?;
        Ok(value)
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let rows = batch.scores().len();
        let (real, slopes) = scratch.real.split_at_mut(scratch.real.len().saturating_sub(rows));
        let step = self.step(batch, state, self.rate(batch)?)?;
        let (_, u) = self.sweep(batch, &step, real, slopes)?;
        write(batch, u, state);
        Ok(())
    }

    fn update(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let step = self.step(batch, state, self.rate(batch)?)?;
        let (value, u) = self.sweep(batch, &step, scratch.real, grad.scores)?;
        write(batch, u, state);
        Ok(value)
    }
}

/// Takes over the new `[u1, u2]` of a batch's positives.
fn write<T: Real>(batch: &Batch<'_, T>, u: &[T], state: &mut [T]) {
    for (&slot, u) in batch.slots().iter().zip(u.chunks_exact(2)) {
        state.iter_mut().skip(2 * slot as usize).zip(u).for_each(|(to, &u)| *to = u);
    }
}

impl<T: Real, L: Loss> PairEstimator<T> for Soap<L> {
    fn loss(&self) -> AnySurrogate<T> {
        self.surrogate()
    }
    fn width(&self) -> usize {
        2
    }
    fn weigh(&self, batch: &Batch<'_, T>, sums: PairSums<'_, T>, state: &[T], out: PairWeights<'_, T>) -> Result<f64> {
        Soap::weigh(self, batch, sums, state, out)
    }
}

impl Soap {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let settings = SoapSettings {
            surrogate: super::surrogate(settings)?,
            link: Link::from_settings(settings),
            gamma: settings.value("gamma"),
            floor: settings.value("u0"),
            weights: Weights::from_settings(settings),
            first: if settings.text("first") == Some("zero") { First::Zero } else { First::Estimate },
        };
        Self::new(settings)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "soap",
    title: "SOAP",
    about: "Maximises a surrogate of the average precision (AUPRC).",
    kind: Kind::Batches,
    metric: Metric::Ap,
    params: &[
        auto_count("steps", 1, Auto::Passes { passes: 6.0, linear: 12_000, network: 6000 }, STEPS),
        optimizer("adam"),
        adam_lr(0.1, 0.0003, 6000),
        SCHEDULE,
        surrogate("sigmoid"),
        MARGIN,
        scale("2"),
        SMOOTHING,
        link("identity"),
        number("gamma", "0.9", TINY, 1.0, "weight of the new estimate in the moving averages u"),
        number("u0", "0", 0.0, BIG, "least value of u2"),
        choice("first", "estimate", &["estimate", "zero"], "what the first visit does to u"),
        SAMPLING,
        POSITIVES,
        NEGATIVES,
        BATCH,
        WEIGHTS,
        BETA1,
        BETA2,
        EPS,
        pull(0.008, 0.008),
        DECAY_TO,
        auto_count("pretrain", 0, Auto::Share { linear: 0.5, network: 1.0 }, PRETRAINING),
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[
        ("optimizer", "adam-plain"),
        ("lr", "1e-3"),
        ("schedule", "steps"),
        ("surrogate", "squared-hinge"),
        ("link", "sigmoid"),
        ("decay", "1e-5"),
        ("decay-to", "zero"),
        ("weights", "as-drawn"),
        ("restart", "last"),
    ],
    source: Source {
        paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
        part: "equations (2)-(4), (9), algorithms 1-3",
    },
    files: &["core/src/estimator/soap.rs", "core/src/pairs/keep_slopes.rs"],
};
