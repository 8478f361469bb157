//! MinMax: the area under the precision-recall curve as recall at several precisions, by Lagrange multipliers.
//!
//! Source: Eban, Schain, Mackey, Gordon, Saurous and Elidan 2017, "Scalable Learning of Non-Decomposable Objectives",
//! equations (8)–(12) (recall at fixed precision, and its mean over anchors).
//!
//! For each anchor precision π_k the recall of the classifier s > θ_k is maximised under tp·(1−π_k) ≥ fp·π_k. With
//! tp ≥ n₊ − L⁺_k, fp ≤ L⁻_k, L⁺_k = Σ₊ ℓ(h − θ_k), L⁻_k = Σ₋ ℓ(θ_k − h) and r_k = π_k/(1−π_k):
//!
//! ```text
//! min over scores and θ, max over λ ≥ 0 of   F = 1/(K n₊) Σ_k [(1 + λ_k) L⁺_k + λ_k (r_k L⁻_k − n₊)]
//! ```
//!
//! The anchors are K points inside (p, 1), evenly spaced, p the share of positives. Auxiliaries:
//! `[θ_1 … θ_K | μ_1 … μ_K]` with λ = |μ|, which keeps λ ≥ 0 under any algorithm. Sums over the data are estimated from the
//! batch (n₊/b₊ and n₋/b₋ for `Weights::Unbiased`, n/b for `AsDrawn`). Deviation: the paper divides nothing by n₊, which
//! only scales. Cost O(K rows). Scratch: 3 values a
//! row and 9K.

use super::{Estimator, Grad, Link, Weights, both_classes, commit, finite};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::pairs::brute;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH, BATCH_STEPS, BETA1, BETA2, DECAY, Domain, EPS, MARGIN, NEGATIVES, POSITIVES, PRETRAIN, PRETRAIN_LR, Param,
    RESTART, SAMPLING, SCALE, SCHEDULE, SMOOTHING, SURROGATE, WEIGHTS, adam_lr, link, with_first_order,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::AnySurrogate;
use crate::surrogate::kernel;

/// Recall at several precisions.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, Link, MinMaxAp, Weights};
/// use undercurve::surrogate::AnySurrogate;
///
/// let scores = [-2.0, 2.0]; // a negative and a positive
/// let batch = Batch::new(&scores, 1, &[0, 1, 2], &[1, 1], Drawn::All)?;
/// let loss = MinMaxAp::new(AnySurrogate::by_name("hinge", 1.0)?, 1, Link::Identity, Weights::Unbiased)?;
/// let aux = [0.0, 1.0]; // the threshold, and the multiplier of precision ≥ ¾ (half way from ½ to 1)
/// let (mut grad, mut by_aux) = ([0.0; 2], [0.0; 2]);
/// let scratch = Scratch { real: &mut [0.0; 15], ..Scratch::default() }; // as `need` says, or more
/// let out = Grad { scores: &mut grad, aux: &mut by_aux };
/// let value = loss.update(&batch, &aux, &mut [], scratch, out)?;
/// assert_eq!(value, -1.0); // no loss, and the constraint holds by all that it can: λ(3·0 + 0 − 1)
/// assert_eq!(by_aux, [0.0, 1.0]); // so descent lowers the multiplier
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinMaxAp {
    surrogate: AnySurrogate<f64>,
    anchors: u32,
    link: Link,
    weights: Weights,
}

impl MinMaxAp {
    /// With the surrogate that bounds the errors, K (1 to 1000), the link and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(surrogate: AnySurrogate<f64>, anchors: u32, link: Link, weights: Weights) -> Result<Self> {
        if (1..=1000).contains(&anchors) {
            Ok(Self { surrogate, anchors, link, weights })
        } else {
            Err(Error::Param { what: "anchors" })
        }
    }

    /// Weight of each negative and each positive, in units of 1/n₊.
    fn row_weights<T: Real>(&self, batch: &Batch<'_, T>) -> [f64; 2] {
        let [low, high] = [batch.starts()[1], batch.starts()[2] - batch.starts()[1]].map(f64::from);
        let [negatives, positives] = [batch.mass(0), batch.mass(1)];
        match self.weights {
            Weights::Unbiased => [negatives / (low * positives), 1.0 / high],
            Weights::AsDrawn => [(negatives + positives) / ((low + high) * positives); 2],
        }
    }

    /// Odds r_k of anchor k = 0, 1, ….
    fn odds<T: Real>(&self, batch: &Batch<'_, T>, k: usize) -> f64 {
        let [negatives, positives] = [batch.mass(0), batch.mass(1)];
        let p = positives / (negatives + positives);
        let precision = p + (1.0 - p) * (k as f64 + 1.0) / (f64::from(self.anchors) + 1.0);
        precision / (1.0 - precision)
    }

    fn check<T: Real>(&self, batch: &Batch<'_, T>, aux: &[T], scratch: &Scratch<'_, T>) -> Result<()> {
        both_classes(batch)?;
        exact_len("aux", 2 * self.anchors as usize, aux.len())?;
        crate::error::all_finite("aux", aux)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))
    }
}

/// Scratch of one batch, cut into its parts: three of one value a row, nine of one value an anchor.
struct Parts<'a, T> {
    h: &'a mut [T],
    /// −h of the positives.
    turned: &'a mut [T],
    out: &'a mut [T],
    /// −θ.
    below: &'a mut [T],
    missed: &'a mut [T],
    missed_slopes: &'a mut [T],
    alarms: &'a mut [T],
    alarms_slopes: &'a mut [T],
    kappa_low: &'a mut [T],
    kappa_high: &'a mut [T],
    by_aux: &'a mut [T],
}

impl<'a, T: Real> Parts<'a, T> {
    fn cut(memory: &'a mut [T], low: usize, high: usize, anchors: usize) -> Self {
        let (h, memory) = memory.split_at_mut(low + high);
        let (turned, memory) = memory.split_at_mut(high);
        let (out, memory) = memory.split_at_mut(low + high);
        let (below, memory) = memory.split_at_mut(anchors);
        let (missed, memory) = memory.split_at_mut(anchors);
        let (missed_slopes, memory) = memory.split_at_mut(anchors);
        let (alarms, memory) = memory.split_at_mut(anchors);
        let (alarms_slopes, memory) = memory.split_at_mut(anchors);
        let (kappa_low, memory) = memory.split_at_mut(anchors);
        let (kappa_high, memory) = memory.split_at_mut(anchors);
        let by_aux = &mut memory[..2 * anchors];
        Self { h, turned, out, below, missed, missed_slopes, alarms, alarms_slopes, kappa_low, kappa_high, by_aux }
    }
}

impl MinMaxAp {
    /// F, the pair sums, the κ of every anchor and the gradient by the auxiliaries.
    fn evaluate<T: Real>(&self, batch: &Batch<'_, T>, aux: &[T], parts: &mut Parts<'_, T>) -> Result<f64> {
        let count = self.anchors as usize;
        let (thresholds, multipliers) = aux.split_at(count);
        self.link.apply(batch.scores(), parts.h);
        let (low, high) = parts.h.split_at(batch.starts()[1] as usize);
        parts.turned.iter_mut().zip(high).for_each(|(t, &h)| *t = -h);
        parts.below.iter_mut().zip(thresholds).for_each(|(t, &threshold)| *t = -threshold);
        kernel!(self.surrogate.to::<T>(), loss => {
            brute::row_sums(loss, parts.below, parts.turned, parts.missed, parts.missed_slopes)?;
            brute::row_sums(loss, thresholds, low, parts.alarms, parts.alarms_slopes)?;
        });
        let [wl, wh] = self.row_weights(batch);
        let over = 1.0 / count as f64;
        let mut value = 0.0;
        for k in 0..count {
            let (odds, lambda) = (self.odds(batch, k), multipliers[k].abs().f64());
            let missed = wh * parts.missed[k].f64();
            let constraint = missed + odds * wl * parts.alarms[k].f64() - 1.0;
            value += over * (missed + lambda * constraint);
            parts.kappa_high[k] = T::settled_of(over * (1.0 + lambda) * wh);
            parts.kappa_low[k] = T::settled_of(over * lambda * odds * wl);
            parts.by_aux[k] =
                parts.kappa_low[k] * parts.alarms_slopes[k] - parts.kappa_high[k] * parts.missed_slopes[k];
            let rise = if multipliers[k] < T::ZERO { -constraint } else { constraint };
            parts.by_aux[count + k] = T::settled_of(-over * rise);
        }
        finite("recall loss", value)
    }
}

impl<T: Real> Estimator<T> for MinMaxAp {
    /// Whether weights are unbiased; masses of negatives and of positives; 1/K. Of 256 anchors at most.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        both_classes(batch).ok()?;
        let unbiased = f64::from(u8::from(self.weights == Weights::Unbiased));
        let recipe =
            Recipe::new("min-max-ap", &[unbiased, batch.mass(0), batch.mass(1), 1.0 / f64::from(self.anchors)]);
        (self.anchors <= 256).then(|| recipe.with_surrogate(self.surrogate))
    }

    fn link(&self) -> Link {
        self.link
    }
    fn aux(&self) -> (usize, usize) {
        (self.anchors as usize, self.anchors as usize)
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 3 * shape.rows + 9 * self.anchors as usize, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.check(batch, aux, &scratch)?;
        let (low, high) = batch.binary()?;
        let mut parts = Parts::cut(scratch.real, low.len(), high.len(), self.anchors as usize);
        self.evaluate(batch, aux, &mut parts)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.check(batch, aux, &scratch)?;
        exact_len("grad.aux", aux.len(), grad.aux.len())?;
        let (low, high) = batch.binary()?;
        let mut parts = Parts::cut(scratch.real, low.len(), high.len(), self.anchors as usize);
        let value = self.evaluate(batch, aux, &mut parts)?;
        parts.out.fill(T::ZERO);
        let (low_h, _) = parts.h.split_at(low.len());
        let (out_low, out_high) = parts.out.split_at_mut(low.len());
        kernel!(self.surrogate.to::<T>(), loss => {
            brute::add_slopes(loss, parts.below, parts.kappa_high, parts.turned, out_high)?;
            brute::add_slopes(loss, &aux[..self.anchors as usize], parts.kappa_low, low_h, out_low)?;
        });
        // The positives entered with their sign turned.
        out_high.iter_mut().for_each(|c| *c = -*c);
        self.link.chain(parts.h, parts.out);
        super::commit_aux(parts.by_aux)?;
        commit(parts.out, grad.scores)?;
        grad.aux.copy_from_slice(parts.by_aux);
        Ok(value)
    }
}

impl MinMaxAp {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let (link, weights) = (Link::from_settings(settings), Weights::from_settings(settings));
        Self::new(super::surrogate(settings)?, settings.value("anchors") as u32, link, weights)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "min-max-ap",
    title: "MinMax AP",
    about: "Maximises the recall at several precisions by Lagrange multipliers.",
    kind: Kind::Batches,
    metric: Metric::Ap,
    params: with_first_order!(
        0.02,
        0.003,
        Param {
            name: "anchors",
            about: "number of precisions",
            domain: Domain::Count { low: 1, high: 1000 },
            default: "10",
            auto: None
        },
        SURROGATE,
        MARGIN,
        SCALE,
        SMOOTHING,
        link("identity")
    ),
    paper: &[],
    source: Source {
        paper: "Eban, Schain, Mackey, Gordon, Saurous, Elidan 2017, Scalable Learning of Non-Decomposable Objectives",
        part: "equations (8)-(12)",
    },
    files: &["core/src/estimator/min_max_ap.rs", "core/src/pairs/brute.rs"],
};
