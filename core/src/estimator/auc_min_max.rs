//! The AUC's square loss as a saddle point: the objective of PPD-SG, PPD-AdaGrad, PGA and OAUC.
//!
//! Source: Liu, Yuan, Ying and Yang 2020, "Stochastic AUC Maximization with Deep Neural Networks", proposition 1 and
//! equation (2); the running class prior is algorithm 4. The saddle point goes back to Ying, Wen and Lyu 2016,
//! "Stochastic Online AUC Maximization".
//!
//! With p the share of positives and h the link of the raw score (σ in the paper, for h in [0, 1]):
//!
//! ```text
//! F = (1−p)(h−a)² 1[+] + p(h−b)² 1[−] + 2(1+α)(p h 1[−] − (1−p) h 1[+]) − p(1−p)α²
//! min_{a,b} max_α E F = p(1−p)(E[(1 − h + h')² | +, −] − 1)      at a = E[h|+], b = E[h|−], α = b − a
//! c(+) = 2(1−p)(h−a−1−α)      c(−) = 2p(h−b+1+α)                 each times h'(s) and the example's weight
//! ∂a = −2(1−p)(h−a)1[+]       ∂b = −2p(h−b)1[−]
//! ∂α = 2(p h 1[−] − (1−p)h 1[+]) − 2p(1−p)α                      handed out with its sign flipped
//! ```
//!
//! Auxiliaries: `[a, b | α]`. Accepts batches of one class. Cost O(rows). Scratch: 2 values a row.
//!
//! Prior: that of the whole data ([`Prior::Known`]), or estimated from the batches seen so far (the current one enters
//! after it was used, so that estimate and batch are independent). The paper gives no start values; its weights j+2 and
//! j+1 imply two earlier samples, here one of each class, which also keeps p̂ inside (0, 1). The running p(1−p) is the
//! paper's recursion ([`Prior::Online`]) or n/(n−1)·p̂(1−p̂), which is unbiased exactly ([`Prior::OnlineExact`]). A
//! running prior needs uniform batches: any other draw hides the share of positives.
//!
//! State: none with a known prior, else `[positives, negatives, ȳ, p(1−p)]`, each count in two values (a multiple of
//! 2²⁰ and a rest), 6 in all, whatever the number of slots.

use super::{Estimator, Grad, Link, Weights, class_weights, commit, count, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{
    ANSWER, BATCH, BIG, DECAY, DELTA, FROM_CE, FROM_CE_STEPS, L_TILDE, MU, NEGATIVES, NO_RESTART, POSITIVES,
    PRETRAIN_LR, PRIOR, PROX, RESET, SAMPLING, SMOOTHNESS, STAGE, STAGE_FACTOR, STAGE_SCHEDULE, STAGES, TINY, UNITS,
    WEIGHTS, auto_lr, choice, link, number, rule,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// Where the share of positives comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prior {
    /// From the population's counts.
    Known,
    /// From the batches so far, p(1−p) by the paper's recursion.
    Online,
    /// From the batches so far, p(1−p) by the sample variance.
    OnlineExact,
}

/// The min-max AUC objective.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{AucMinMax, Estimator, Grad, Link, Prior, Weights};
///
/// let scores = [0.0, 1.0, 2.0, 2.0]; // two negatives, then two positives: p = ½
/// let batch = Batch::new(&scores, 1, &[0, 2, 4], &[2, 2], Drawn::All)?;
/// let loss = AucMinMax::new(Link::Identity, Weights::Unbiased, Prior::Known);
/// let aux = [2.0, 0.5, -1.5]; // a and b the means of the classes, α = b − a: the saddle point
/// let (mut grad, mut by_aux) = ([0.0; 4], [1.0; 3]);
/// let scratch = Scratch { real: &mut [0.0; 8], ..Scratch::default() }; // as `need` says, or more
/// let out = Grad { scores: &mut grad, aux: &mut by_aux };
/// let value = loss.update(&batch, &aux, &mut [], scratch, out)?;
/// // p(1−p)(E[(1 − h₊ + h₋)²] − 1), where the four pairs have 1, 1, 0 and 0.
/// assert_eq!(value, 0.25 * (0.5 - 1.0));
/// assert_eq!(by_aux, [0.0; 3]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AucMinMax {
    link: Link,
    weights: Weights,
    prior: Prior,
}

/// p and p(1−p) as the objective uses them.
#[derive(Clone, Copy)]
struct Shares {
    p: f64,
    variance: f64,
}

/// What the running prior remembers.
#[derive(Clone, Copy)]
struct Seen {
    positives: u64,
    negatives: u64,
    mean: f64,
    variance: f64,
}

impl Seen {
    fn read<T: Real>(state: &[T]) -> Self {
        let (positives, negatives) = (count::read(&state[..2]), count::read(&state[2..4]));
        if positives + negatives == 0 {
            return Self { positives: 1, negatives: 1, mean: 0.5, variance: 0.5 };
        }
        // (Both are shares, whatever a damaged state holds.)
        let [mean, variance] = [4, 5].map(|at| state[at].f64().clamp(0.0, 1.0));
        Self { positives, negatives, mean, variance }
    }

    /// Algorithm 4: the counts, ȳ and p(1−p) after a batch. `positives + negatives` is the paper's j + 2.
    fn after(self, negatives: u64, positives: u64) -> Self {
        let (low, high) = (negatives as f64, positives as f64);
        let before = (self.positives + self.negatives) as f64;
        let mean = (before * self.mean + high) / (before + low + high);
        let squares = high * (1.0 - mean) * (1.0 - mean) + low * mean * mean;
        let variance = ((before - 1.0) * self.variance + squares) / (before - 1.0 + low + high);
        Self { positives: self.positives + positives, negatives: self.negatives + negatives, mean, variance }
    }

    fn write<T: Real>(self, state: &mut [T]) {
        count::write(self.positives, &mut state[..2]);
        count::write(self.negatives, &mut state[2..4]);
        (state[4], state[5]) = (T::of(self.mean), T::of(self.variance));
    }

    fn shares(self, exact: bool) -> Shares {
        let all = (self.positives + self.negatives) as f64;
        let p = self.positives as f64 / all;
        Shares { p, variance: if exact { all / (all - 1.0) * p * (1.0 - p) } else { self.variance } }
    }
}

impl AucMinMax {
    /// With its link, the weights of a batch's examples, and where the class prior comes from.
    #[must_use]
    pub fn new(link: Link, weights: Weights, prior: Prior) -> Self {
        Self { link, weights, prior }
    }

    /// F, and its gradient by h (into `out`) and by a, b, α.
    fn evaluate<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        shares: Shares,
        h: &[T],
        out: &mut [T],
    ) -> (f64, [T; 3]) {
        let negatives = batch.starts()[1] as usize;
        let [a, b, alpha] = [aux[0], aux[1], aux[2]];
        let (p, q) = (T::of(shares.p), T::of(1.0 - shares.p));
        let [wl, wh] = class_weights(self.weights, batch).map(T::of);
        let two = T::of(2.0);
        let (low, high) = h.split_at(negatives);
        let (out_low, out_high) = out.split_at_mut(negatives);
        let mut sums = [0.0f64; 6]; // Σ h, Σ (h − centre), Σ (h − centre)² of the negatives, then of the positives
        for (c, &h) in out_low.iter_mut().zip(low) {
            let d = h - b;
            *c = wl * two * p * (d + T::ONE + alpha);
            sums[0] += h.f64();
            sums[1] += d.f64();
            sums[2] += d.f64() * d.f64();
        }
        for (c, &h) in out_high.iter_mut().zip(high) {
            let d = h - a;
            *c = wh * two * q * (d - T::ONE - alpha);
            sums[3] += h.f64();
            sums[4] += d.f64();
            sums[5] += d.f64() * d.f64();
        }
        let (p, q, wl, wh, alpha) = (shares.p, 1.0 - shares.p, wl.f64(), wh.f64(), alpha.f64());
        let cross = p * wl * sums[0] - q * wh * sums[3];
        let value = q * wh * sums[5] + p * wl * sums[2] + 2.0 * (1.0 + alpha) * cross - shares.variance * alpha * alpha;
        let grad = [-2.0 * q * wh * sums[4], -2.0 * p * wl * sums[1], -(2.0 * cross - 2.0 * shares.variance * alpha)];
        (value, grad.map(T::settled_of))
    }

    fn check<T: Real>(&self, batch: &Batch<'_, T>, aux: &[T], scratch: &Scratch<'_, T>) -> Result<()> {
        batch.binary()?;
        if batch.shape().rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        exact_len("aux", 3, aux.len())?;
        crate::error::all_finite("aux", aux)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))
    }
}

/// The share of positives in the whole data.
fn known<T: Real>(batch: &Batch<'_, T>) -> Shares {
    let [negatives, positives] = [batch.mass(0), batch.mass(1)];
    let p = positives / (negatives + positives);
    Shares { p, variance: p * (1.0 - p) }
}

impl<T: Real> Estimator<T> for AucMinMax {
    /// p; p(1−p); whether rows are weighed by class; what the negatives and the positives of the data come to.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let Shares { p, variance } = known(batch);
        let weighed = self.weights == Weights::Unbiased && batch.drawn() == Drawn::Stratified;
        let numbers = [p, variance, f64::from(u8::from(weighed)), batch.mass(0), batch.mass(1)];
        (self.prior == Prior::Known).then(|| Recipe::new("auc-min-max", &numbers))
    }

    fn state_len(&self, _: usize) -> usize {
        if self.prior == Prior::Known { 0 } else { 6 }
    }

    fn aux(&self) -> (usize, usize) {
        (2, 1)
    }

    fn link(&self) -> Link {
        self.link
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows, ..Need::NONE }
    }

    /// With the population's own share of positives, whatever the prior.
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.check(batch, aux, &scratch)?;
        let (h, out) = scratch.real[..2 * batch.scores().len()].split_at_mut(batch.scores().len());
        self.link.apply(batch.scores(), h);
        finite("min-max AUC objective", self.evaluate(batch, aux, known(batch), h, out).0)
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
        exact_len("state", Estimator::<T>::state_len(self, 0), state.len())?;
        exact_len("grad.aux", 3, grad.aux.len())?;
        let shares = match self.prior {
            Prior::Known => known(batch),
            _ if batch.drawn() != Drawn::Uniform => {
                return Err(Error::Unsupported { what: "a running class prior needs uniform batches" });
            }
            prior @ (Prior::Online | Prior::OnlineExact) => Seen::read(state).shares(prior == Prior::OnlineExact),
        };
        let (h, out) = scratch.real[..2 * batch.scores().len()].split_at_mut(batch.scores().len());
        self.link.apply(batch.scores(), h);
        let (value, by_aux) = self.evaluate(batch, aux, shares, h, out);
        let value = finite("min-max AUC objective", value)?;
        self.link.chain(h, out);
        super::commit_aux(&by_aux)?;
        commit(out, grad.scores)?;
        grad.aux.copy_from_slice(&by_aux);
        Ok(value)
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], _: Scratch<'_, T>) -> Result<()> {
        exact_len("state", Estimator::<T>::state_len(self, 0), state.len())?;
        if self.prior != Prior::Known {
            batch.binary()?;
            let [negatives, positives] = [batch.starts()[1], batch.starts()[2] - batch.starts()[1]].map(u64::from);
            Seen::read(state).after(negatives, positives).write(state);
        }
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

impl AucMinMax {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let prior = match settings.text("prior") {
            Some("online") => Prior::Online,
            Some("online-exact") => Prior::OnlineExact,
            _known => Prior::Known,
        };
        Ok(Self::new(Link::from_settings(settings), Weights::from_settings(settings), prior))
    }
}

pub(super) const MINMAX_PAPER: &str =
    "Liu, Yuan, Ying, Yang 2020, Stochastic AUC Maximization with Deep Neural Networks";

/// Rates are those of its grid's upper end, as its objective has them; the batches are its own.
const MINMAX_SETTINGS: &[(&str, &str)] = &[
    ("units", "raw"),
    ("lr", "0.1"),
    ("stage", "2000"),
    ("prox", "1000"),
    ("sampling", "uniform"),
    ("batch", "128"),
    ("pretrain", "0"),
];

/// Parameters of the methods on this objective: step rule, rates of linear models and of networks; the rule's own; its
/// decay and answer.
macro_rules! min_max {
    ($rule:literal, $linear:literal, $network:literal; $($own:expr),*; $($end:expr),*) => {
        &[
            FROM_CE_STEPS, rule($rule, &[$rule]), auto_lr($linear, $network), UNITS, $($own,)* link("sigmoid"), PRIOR,
            SAMPLING, POSITIVES, NEGATIVES, BATCH, WEIGHTS, $($end,)* FROM_CE, PRETRAIN_LR, NO_RESTART,
        ]
    };
}

/// Its entry in the table of methods.
pub(crate) const PPD_SG: Entry = Entry {
    name: "ppd-sg",
    title: "PPD-SG",
    about: "Maximises the AUROC through its min-max square loss, in stages that start from the mean of the last.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: min_max!("ppd-sg", 0.3, 0.01; STAGE, STAGE_FACTOR, PROX, RESET, STAGE_SCHEDULE, MU, SMOOTHNESS, L_TILDE; DECAY, ANSWER),
    paper: MINMAX_SETTINGS,
    source: Source { paper: MINMAX_PAPER, part: "proposition 1, algorithms 2 and 4, theorem 2" },
    files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/ppd_sg.rs", "core/src/algorithm/stages.rs"],
};

/// Its entry in the table of methods.
pub(crate) const PPD_ADAGRAD: Entry = Entry {
    name: "ppd-adagrad",
    title: "PPD-AdaGrad",
    about: "PPD-SG with AdaGrad's coordinate-wise steps.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: min_max!("ppd-adagrad", 0.03, 0.001; STAGE, STAGE_FACTOR, STAGES, DELTA, PROX, RESET, STAGE_SCHEDULE, MU, SMOOTHNESS, L_TILDE; ANSWER),
    paper: MINMAX_SETTINGS,
    source: Source { paper: MINMAX_PAPER, part: "proposition 1, algorithms 2-4, lemma 3, theorem 3" },
    files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/ppd_adagrad.rs", "core/src/algorithm/stages.rs"],
};

/// Its entry in the table of methods.
pub(crate) const PGA: Entry = Entry {
    name: "pga",
    title: "PGA",
    about: "Maximises the AUROC through its min-max square loss by the proximally guided algorithm.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: min_max!(
        "pga", 0.3, 0.01;
        STAGE, PROX,
        number("radius", "1e6", TINY, BIG, "radius of the ball of the minimised variables"),
        number("dual-radius", "1e6", TINY, BIG, "radius of the ball of the maximised variable");
        choice(
            "answer",
            "last",
            &["last", "mean", "stage"],
            "what is reported and saved: the last iterate, the mean of the stage, or the mean of a random stage"
        )
    ),
    paper: MINMAX_SETTINGS,
    source: Source { paper: MINMAX_PAPER, part: "algorithm 1, after Rafique, Liu, Lin, Yang 2018" },
    files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/pga.rs"],
};

/// Its entry in the table of methods.
pub(crate) const OAUC: Entry = Entry {
    name: "oauc",
    title: "OAUC",
    about: "Maximises the AUROC through its min-max square loss by plain primal-dual steps.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: min_max!(
        "oauc", 0.3, 0.03;
        number("radius", "1e6", TINY, BIG, "radius of the ball of the minimised variables; twice that for the other");
        ANSWER
    ),
    paper: &[
        ("units", "raw"),
        ("lr", "0.1"),
        ("sampling", "uniform"),
        ("batch", "128"),
        ("answer", "mean"),
        ("pretrain", "0"),
    ],
    source: Source {
        paper: "Ying, Wen, Lyu 2016, Stochastic Online AUC Maximization",
        part: "equation (2), algorithm 1",
    },
    files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/oauc.rs"],
};
