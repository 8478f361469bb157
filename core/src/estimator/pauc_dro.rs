//! Partial AUC from a false-positive rate of 0 by distributionally robust losses of each positive: SOPA, SOPA-s and, of both
//! rates, SOTA-s.
//!
//! Source: Zhu, Li, Wang, Wu and Yang 2022, "When AUC meets DRO: Optimizing Partial AUC for Deep Learning with Non-Convex
//! Convergence Guarantee": algorithm 1 (SOPA), 2 (SOPA-s) and 3 (SOTA-s). With L_ij = ℓ(h_i − h_j), h the link of the raw
//! score:
//!
//! ```text
//! SOPA     F = 1/n₊ Σ_i min_s (s + 1/(βn₋) Σ_j [L_ij − s]₊)                     the conditional value at risk at β
//! SOPA-s   F = λ/n₊ Σ_i ln g_i,   g_i = 1/n₋ Σ_j e^(L_ij/λ)                     the KL form: soft, near 0 by small λ
//! SOTA-s   F = τ ln(1/n₊ Σ_i g_i^(λ/τ))                                         the same over the positives
//! ```
//!
//! For a batch of b₊ positives and b₋ negatives c_i += p_ij ℓ'_ij/(b₊b₋) and c_j −= the same, with
//!
//! ```text
//! SOPA     p_ij = 1[L_ij > s_i]/β,            s_i ← s_i − η(1 − 1/(βb₋) Σ_j 1[L_ij > s_i])       after it was used
//! SOPA-s   p_ij = e^(L_ij/λ)/u_i,             u_i ← (1 − γ)u_i + γ g_i                           before it is used
//! SOTA-s   p_ij = u_i^(λ/τ − 1) e^(L_ij/λ)/v,  v ← (1 − γ')v + γ' mean_i u_i^(λ/τ)               both before
//! ```
//!
//! SOPA is exact: its least value over s is the loss of the negatives ranked up to βn₋. The soft ones have no range of their
//! own: the smaller λ, the fewer of the highest negatives matter, and the smaller τ, the fewer of the lowest positives.
//! Deviations: the first batch of a positive brings its own best s_i (there the paper has 0) or u_i = g_i, as the first brings
//! v; η is the paper's η₂/n₊; ln u and ln v are kept, so that small λ do not overflow.
//!
//! State: s_i or ln u_i for each positive of the data, 0 for one that was not drawn yet (or has no loss), and for SOTA-s ln v.
//! Values over batches of everything are those of the objective, of the soft ones by all pairs. Cost O(b₊b₋), and O(b₋ log b₋)
//! for first draws with SOPA. Scratch: 4 values and one `u64` a row.

use super::pauc_minibatch::{MANY, over_batches, stratified};
use super::{Estimator, Exact, Grad, Held, Link, PaucMinibatch, both_classes, commit, finite};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::pairs::brute;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::*;
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Surrogate, kernel};

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DroForm {
    /// SOPA.
    Cvar {
        /// β in (0, 1]: the range of false-positive rates is [0, β].
        beta: f64,
        /// η ≥ 0: the step of s.
        eta: f64,
    },
    /// SOPA-s.
    Kl {
        /// λ > 0.
        lambda: f64,
        /// γ in (0, 1]: weight of new values in u.
        gamma: f64,
    },
    /// SOTA-s.
    TwoWay {
        /// λ > 0, for the negatives.
        lambda: f64,
        /// τ > 0, for the positives.
        tau: f64,
        /// γ and γ' in (0, 1]: weights of new values in u and v.
        gamma: (f64, f64),
    },
}

/// Partial AUC by distributionally robust losses.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{DroForm, Estimator, Grad, Link, PaucDro};
/// use undercurve::surrogate::AnySurrogate;
///
/// let scores = [0.0, 1.0, 0.5]; // two negatives, then a positive
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?.with_slots(&[0]);
/// let sopa_s = DroForm::Kl { lambda: 1.0, gamma: 0.9 };
/// let loss = PaucDro::new(AnySurrogate::by_name("hinge", 1.0)?, Link::Identity, sopa_s)?;
/// let need = Estimator::<f64>::need(&loss, batch.shape());
/// let (mut real, mut u32s, mut u64s) = (vec![0.0; need.real], vec![0; need.u32], vec![0; need.u64]);
/// let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut u32s, u64: &mut u64s };
/// let mut state = vec![0.0; Estimator::<f64>::state_len(&loss, 1)];
/// let mut grad = [0.0; 3];
/// let value: f64 = loss.update(&batch, &[], &mut state, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
/// assert!((value - ((0.5f64.exp() + 1.5f64.exp()) / 2.0).ln()).abs() < 1e-12); // λ ln g, of losses ½ and 1½
/// assert!((grad[1] / grad[0] - 1.0f64.exp()).abs() < 1e-12); // the higher negative weighs e^((1½ − ½)/λ) as much
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucDro {
    surrogate: AnySurrogate<f64>,
    link: Link,
    form: DroForm,
}

impl PaucDro {
    /// With a monotone surrogate.
    ///
    /// # Errors
    /// `Param` (beta, eta, lambda, tau, gamma), `Unsupported` (a surrogate that is not monotone).
    pub fn new(surrogate: AnySurrogate<f64>, link: Link, form: DroForm) -> Result<Self> {
        Exact::pauc(surrogate, link, (0.0, 1.0))?;
        let open = |what, x: f64| if x > 0.0 && x.is_finite() { Ok(()) } else { Err(Error::Param { what }) };
        let share = |what, x: f64| if x > 0.0 && x <= 1.0 { Ok(()) } else { Err(Error::Param { what }) };
        match form {
            DroForm::Cvar { beta, eta } => {
                share("beta", beta)?;
                if !(eta >= 0.0 && eta.is_finite()) {
                    return Err(Error::Param { what: "eta" });
                }
            }
            DroForm::Kl { lambda, gamma } => {
                open("lambda", lambda)?;
                share("gamma", gamma)?;
            }
            DroForm::TwoWay { lambda, tau, gamma } => {
                open("lambda", lambda)?;
                open("tau", tau)?;
                share("gamma", gamma.0)?;
                share("gamma-outer", gamma.1)?;
            }
        }
        Ok(Self { surrogate, link, form })
    }

    /// Positives whose state has so many numbers, and whether v is behind them.
    fn owners(&self, state: usize) -> (usize, bool) {
        let outer = matches!(self.form, DroForm::TwoWay { .. });
        (state.saturating_sub(usize::from(outer)), outer)
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
        let (slots, old) = (batch.slots(), state.read());
        exact_len("slots", rows - count, slots.len())?;
        let (owners, outer) = self.owners(old.len());
        exact_len("state", owners + usize::from(outer), old.len())?;
        if let Some(at) = slots.iter().position(|&slot| slot as usize >= owners) {
            return Err(Error::Index { what: "slots", at, len: owners });
        }
        let moves = matches!(state, Held::Moved(_));
        let (h, rest) = scratch.real.split_at_mut(rows);
        let (out, rest) = rest.split_at_mut(rows);
        let (next, weights) = rest.split_at_mut(rows);
        let (next, weights) = (&mut next[..slots.len()], &mut weights[..count]);
        self.link.apply(batch.scores(), h);
        let (low, high) = h.split_at(count);
        kernel!(self.surrogate.to::<T>(), loss => brute::check(loss, high, low)?);
        out.fill(T::ZERO);
        next.iter_mut().zip(slots).for_each(|(next, &slot)| *next = old[slot as usize]);
        let pairs = T::of(1.0 / (high.len() as f64 * count as f64));
        let (of_low, of_high) = out.split_at_mut(count);
        let (mut value, mut moved_outer) = (0.0, T::ZERO);
        kernel!(self.surrogate.to::<T>(), loss => match self.form {
            DroForm::Cvar { beta, eta } => {
                let eta = batch.rate().unwrap_or(eta);
                if next.contains(&T::ZERO) {
                    let keys = &mut scratch.u64[..count];
                    keys.iter_mut().zip(low).for_each(|(key, h)| *key = h.key());
                    crate::sort::ascending(keys);
                    let threshold = T::of_key(keys[count - first_rank(beta, count)]);
                    for (s, &h) in next.iter_mut().zip(high).filter(|(s, _)| **s == T::ZERO) {
                        *s = loss.value(h - threshold);
                    }
                }
                let (gate, tail) = (T::of(1.0 / beta), 1.0 / (beta * count as f64));
                for ((&h, c), s) in high.iter().zip(of_high).zip(next) {
                    let (mut above, mut over) = (0usize, 0.0);
                    for (&other, p) in low.iter().zip(&mut *weights) {
                        let excess = loss.value(h - other) - *s;
                        *p = if excess > T::ZERO { gate } else { T::ZERO };
                        if excess > T::ZERO {
                            over += excess.f64();
                            above += 1;
                        }
                    }
                    value += s.f64() + tail * over;
                    *c += add_slopes(loss, pairs, h, low, weights, of_low);
                    if moves {
                        *s = T::settled_of(s.f64() - eta * (1.0 - tail * above as f64));
                    }
                }
                value /= high.len() as f64;
            }
            DroForm::Kl { lambda, gamma } | DroForm::TwoWay { lambda, gamma: (gamma, _), .. } => {
                let sharp = T::of(1.0 / lambda);
                let gamma = batch.rate().unwrap_or(gamma);
                for (&h, u) in high.iter().zip(&mut *next) {
                    let own = log_mean_exp(low.iter().map(|&other| sharp * loss.value(h - other)));
                    *u = match *u == T::ZERO {
                        true => own,
                        false if moves => blend(*u, own, gamma),
                        false => *u,
                    };
                }
                let power = match self.form {
                    DroForm::TwoWay { lambda, tau, .. } => T::of(lambda / tau),
                    DroForm::Cvar { .. } | DroForm::Kl { .. } => T::ONE,
                };
                // ln of what p is divided by, besides u^(1 − λ/τ).
                let mut below = T::ZERO;
                if let DroForm::TwoWay { gamma: (_, gamma), tau, .. } = self.form {
                    let (own, v) = (log_mean_exp(next.iter().map(|&u| power * u)), old[owners]);
                    moved_outer = match v == T::ZERO {
                        true => own,
                        false if moves => blend(v, own, gamma),
                        false => v,
                    };
                    below = moved_outer;
                    value = tau * moved_outer.f64();
                } else {
                    value = lambda * next.iter().map(|u| u.f64()).sum::<f64>() / high.len() as f64;
                }
                for ((&h, c), &u) in high.iter().zip(of_high).zip(&*next) {
                    let base = if outer { (power - T::ONE) * u - below } else { -u };
                    for (&other, p) in low.iter().zip(&mut *weights) {
                        *p = (sharp * loss.value(h - other) + base).fading_exp();
                    }
                    *c += add_slopes(loss, pairs, h, low, weights, of_low);
                }
            }
        });
        let value = finite("objective", value)?;
        let next = &scratch.real[2 * rows..][..slots.len()];
        all_finite("state", next).map_err(|_| Error::Overflow { what: "state" })?;
        all_finite("state", &[moved_outer]).map_err(|_| Error::Overflow { what: "state" })?;
        if let Some(grad) = grad {
            let (h, rest) = scratch.real.split_at_mut(rows);
            let out = &mut rest[..rows];
            self.link.chain(h, out);
            commit(out, grad)?;
        }
        if let Held::Moved(state) = state {
            for (&slot, &next) in slots.iter().zip(&scratch.real[2 * rows..]) {
                state[slot as usize] = next;
            }
            if outer {
                state[owners] = moved_outer;
            }
        }
        Ok(value)
    }
}

/// The rank, from 1, of the negative whose loss is a positive's first threshold.
fn first_rank(beta: f64, count: usize) -> usize {
    (libm::ceil(beta * count as f64) as usize).max(1).min(count)
}

/// Subtracts p_ij ℓ'_ij of a positive from its negatives' gradients, in units of a pair, and returns the sum.
fn add_slopes<T: Real, L: Surrogate<T>>(loss: L, pair: T, h: T, low: &[T], weights: &[T], grad: &mut [T]) -> T {
    let mut sum = T::ZERO;
    for ((&other, g), &p) in low.iter().zip(grad).zip(weights) {
        if p > T::ZERO {
            let slope = pair * p * loss.slope(h - other);
            sum += slope;
            *g -= slope;
        }
    }
    sum
}

/// ln of the mean of e^x, settled.
fn log_mean_exp<T: Real>(values: impl Iterator<Item = T> + Clone) -> T {
    let largest = values.clone().fold(-T::MAX, |most, x| most.or_larger(x));
    let (mut sum, mut count) = (0.0, 0.0);
    for x in values {
        sum += (x - largest).fading_exp().f64();
        count += 1.0;
    }
    (largest + T::of(Real::ln(sum / count))).settled()
}

/// ln((1 − γ)e^old + γe^new), settled.
fn blend<T: Real>(old: T, new: T, gamma: f64) -> T {
    let largest = old.or_larger(new);
    let [old, new] = [old, new].map(|x| (x - largest).fading_exp().f64());
    (largest + T::of(Real::ln((1.0 - gamma) * old + gamma * new))).settled()
}

impl<T: Real> Estimator<T> for PaucDro {
    /// SOPA: the rank of the first threshold, 1/β, 1/(βb₋), η. SOPA-s and SOTA-s: 1/λ, γ, λ; λ/τ, γ', τ.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let count = stratified(batch)?;
        let recipe = match self.form {
            DroForm::Cvar { beta, eta } => {
                Recipe::new("sopa", &[first_rank(beta, count as usize) as f64, 1.0 / beta, 1.0 / (beta * count), eta])
            }
            DroForm::Kl { lambda, gamma } => Recipe::new("sopa-s", &[1.0 / lambda, gamma, lambda]),
            DroForm::TwoWay { lambda, tau, gamma } => {
                Recipe::new("sota-s", &[1.0 / lambda, gamma.0, lambda, lambda / tau, gamma.1, tau])
            }
        };
        Some(recipe.with_surrogate(self.surrogate))
    }

    fn state_len(&self, slots: usize) -> usize {
        slots + usize::from(matches!(self.form, DroForm::TwoWay { .. }))
    }

    fn link(&self) -> Link {
        self.link
    }

    fn whole(&self) -> Option<Exact> {
        match self.form {
            DroForm::Cvar { beta, .. } => Exact::pauc(self.surrogate, self.link, (0.0, beta)).ok(),
            DroForm::Kl { .. } | DroForm::TwoWay { .. } => None,
        }
    }

    fn values_all_pairs(&self) -> bool {
        !matches!(self.form, DroForm::Cvar { .. })
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 4 * shape.rows, u32: shape.rows, u64: shape.rows, ..Need::NONE }
    }

    /// Of the batch by itself: its own range, or its own means.
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        let (lambda, tau) = match self.form {
            DroForm::Cvar { beta, .. } => {
                return PaucMinibatch::new(self.surrogate, self.link, (0.0, beta))?.value(batch, aux, scratch);
            }
            DroForm::Kl { lambda, .. } => (lambda, None),
            DroForm::TwoWay { lambda, tau, .. } => (lambda, Some(tau)),
        };
        let count = both_classes(batch)?.0.len();
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let (h, logs) = scratch.real.split_at_mut(batch.scores().len());
        self.link.apply(batch.scores(), h);
        let (low, high) = h.split_at(count);
        let logs = &mut logs[..high.len()];
        kernel!(self.surrogate.to::<T>(), loss => {
            brute::check(loss, high, low)?;
            for (log, &h) in logs.iter_mut().zip(high) {
                *log = log_mean_exp(low.iter().map(|&other| T::of(1.0 / lambda) * loss.value(h - other)));
            }
        });
        finite(
            "objective",
            match tau {
                None => lambda * logs.iter().map(|log| log.f64()).sum::<f64>() / high.len() as f64,
                Some(tau) => tau * log_mean_exp(logs.iter().map(|&log| T::of(lambda / tau) * log)).f64(),
            },
        )
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

    /// SOPA's gradient is that of s before the batch, the soft ones' that of u and v after it.
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
}

impl PaucDro {
    fn of(settings: &Settings<'_>, form: DroForm) -> Result<Self> {
        if settings.fpr().0 > 0.0 {
            return Err(Error::Unsupported {
                what: "a range of false-positive rates from above 0: this method's is from 0",
            });
        }
        Self::new(super::surrogate(settings)?, Link::from_settings(settings), form)
    }

    /// SOPA, of settings.
    pub(crate) fn sopa(settings: &Settings<'_>) -> Result<Self> {
        Self::of(settings, DroForm::Cvar { beta: settings.fpr().1, eta: settings.value("eta") })
    }

    /// SOPA-s, of settings.
    pub(crate) fn sopa_s(settings: &Settings<'_>) -> Result<Self> {
        Self::of(settings, DroForm::Kl { lambda: settings.value("lambda"), gamma: settings.value("gamma") })
    }

    /// SOTA-s, of settings.
    pub(crate) fn sota_s(settings: &Settings<'_>) -> Result<Self> {
        let gamma = (settings.value("gamma"), settings.value("gamma-outer"));
        Self::of(settings, DroForm::TwoWay { lambda: settings.value("lambda"), tau: settings.value("tau"), gamma })
    }
}

/// Of forms whose range lambda sets.
const KL_BATCH: [Param; 2] = [
    count("positives", "16", 1, "positives a batch (at most those there are)"),
    count("negatives", "112", 1, "negatives a batch (at most those there are)"),
];
const NEGATIVES_KL: Param =
    number("lambda", "0.3", TINY, BIG, "the smaller, the fewer of the highest negatives matter");
const INNER_GAMMA: Param = number("gamma", "0.9", TINY, 1.0, "weight of new values in the mean of each positive");
const PAPER: &str = "Zhu, Li, Wang, Wu, Yang 2022, When AUC meets DRO: Optimizing Partial AUC for Deep Learning with Non-Convex Convergence Guarantee";

/// Its entry in the table of methods.
pub(crate) const SOPA: Entry = Entry {
    name: "sopa",
    title: "SOPA",
    about: "Minimises the pairwise surrogate over the negatives up to a false-positive rate (--fpr 0:HI), by the conditional value at risk of each positive.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: over_batches!(MANY; number("eta", "0.1", 0.0, BIG, "step of each positive's threshold, in units of the loss")),
    paper: &[],
    source: Source { paper: PAPER, part: "algorithm 1" },
    files: &["core/src/estimator/pauc_dro.rs"],
};

/// Its entry in the table of methods.
pub(crate) const SOPA_S: Entry = Entry {
    name: "sopa-s",
    title: "SOPA-s",
    about: "Minimises a soft form of the same, whose range lambda sets.",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: over_batches!(KL_BATCH; NEGATIVES_KL, INNER_GAMMA),
    paper: &[],
    source: Source { paper: PAPER, part: "algorithm 2" },
    files: &["core/src/estimator/pauc_dro.rs"],
};

/// Its entry in the table of methods.
pub(crate) const SOTA_S: Entry = Entry {
    name: "sota-s",
    title: "SOTA-s",
    about: "Minimises a soft form of the two-way partial AUC: of the highest negatives (lambda) and the lowest positives (tau).",
    kind: Kind::Batches,
    metric: Metric::Pauc,
    params: over_batches!(
        KL_BATCH;
        NEGATIVES_KL,
        number("tau", "1", TINY, BIG, "the smaller, the fewer of the lowest positives matter"),
        INNER_GAMMA,
        number("gamma-outer", "0.9", TINY, 1.0, "weight of new values in the mean over positives")
    ),
    paper: &[],
    source: Source { paper: PAPER, part: "algorithm 3" },
    files: &["core/src/estimator/pauc_dro.rs"],
};
