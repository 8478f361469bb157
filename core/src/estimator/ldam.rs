//! LDAM: cross-entropy with a larger margin for the rarer class, re-weighted late in training.
//!
//! Source: Cao, Wei, Gaidon, Arechiga and Ma 2019, "Learning Imbalanced Datasets with Label-Distribution-Aware Margin
//! Loss", equations (10) and (13), algorithm 1 (deferred re-weighting).
//!
//! With z = s for positives and −s for negatives, i.e. the difference of the two class logits:
//!
//! ```text
//! ℓ = softplus(−scale·(z − Δ_y))        ∂ℓ/∂z = −scale·σ(−scale·(z − Δ_y))        Δ_y = C/n_y^(1/4)
//! ```
//!
//! C is set by the margin of the rarer class, as in the authors' experiments. From update number `defer` on, classes are
//! weighted by their effective numbers ([`super::ClassBalanced`]); before it they are not. [`Estimator::value`] has no
//! state and never re-weights. State: the number of updates, in two values. Accepts batches of one class, but both
//! classes must exist in the data. Cost O(rows). Scratch: 1 value a row.

use super::class_balanced::effective_weights;
use super::{Estimator, Grad, Weights, class_weights, commit, count, finite};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    Auto, BATCH, BATCH_STEPS, BETA1, BETA2, BIG, DECAY, EPS, NEGATIVES, POSITIVES, PRETRAIN, PRETRAIN_LR, RESTART,
    SAMPLING, SCHEDULE, TINY, WEIGHTS, adam_lr, auto_count, number, with_first_order,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// Label-distribution-aware margin loss.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Ldam, Weights};
///
/// let scores = [-0.3, 0.9]; // a negative of 81, and the only positive
/// let batch = Batch::new(&scores, 1, &[0, 1, 2], &[81, 1], Drawn::Stratified)?;
/// let scratch = Scratch { real: &mut [0.0; 2], ..Scratch::default() }; // as `need` says, or more
/// let loss = Ldam::new(0.9, 1.0, 0.0, 0, Weights::AsDrawn)?;
/// let value: f64 = loss.value(&batch, &[], scratch)?;
/// // Margins 0.9 and 0.9/81^(1/4) = 0.3: both scores lie on theirs, where a row costs ln 2.
/// assert!((value - 2.0f64.ln()).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ldam {
    margin: f64,
    scale: f64,
    beta: f64,
    defer: u64,
    weights: Weights,
}

impl Ldam {
    /// - `margin` ≥ 0: Δ of the rarer class.
    /// - `scale` > 0: of the logits.
    /// - `beta` in [0, 1): of the effective numbers that weigh the classes from update `defer` on (0: never differ).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(margin: f64, scale: f64, beta: f64, defer: u64, weights: Weights) -> Result<Self> {
        if !(margin >= 0.0 && margin.is_finite()) {
            return Err(Error::Param { what: "margin" });
        }
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::Param { what: "scale" });
        }
        if !(0.0..1.0).contains(&beta) {
            return Err(Error::Param { what: "beta" });
        }
        Ok(Self { margin, scale, beta, defer, weights })
    }

    /// Δ of the negatives and of the positives.
    fn margins<T: Real>(&self, batch: &Batch<'_, T>) -> Result<[T; 2]> {
        batch.binary()?;
        if batch.shape().rows == 0 {
            return Err(Error::Empty { what: "batch" });
        }
        let [low, high] = [batch.mass(0), batch.mass(1)];
        if low == 0.0 || high == 0.0 {
            return Err(Error::OneClass);
        }
        let rarer = if low < high { low } else { high };
        let margin = |count: f64| T::of(self.margin * crate::Real::sqrt(crate::Real::sqrt(rarer / count)));
        Ok([margin(low), margin(high)])
    }

    /// ℓ and ∂ℓ/∂z.
    fn of<T: Real>(&self, z: T, margin: T) -> (T, T) {
        let scale = T::of(self.scale);
        let t = scale * (margin - z);
        (t.softplus(), -(scale * t.sigmoid().settled()))
    }
}

impl<T: Real> Estimator<T> for Ldam {
    /// Weights of negatives and of positives, their margins; the update from which classes are weighted, as in the state; the
    /// scale; 0; the weights from then on.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        let [low, high] = self.margins(batch).ok()?.map(Real::f64);
        let [wl, wh] = class_weights(self.weights, batch);
        let late = effective_weights(self.beta, [batch.mass(0), batch.mass(1)]).ok()?;
        let mut defer = [0.0; 2];
        count::write(self.defer, &mut defer);
        let numbers = [wl, wh, low, high, defer[0], defer[1], self.scale, 0.0, wl * late[0], wh * late[1]];
        Some(Recipe::new("ldam", &numbers))
    }

    fn state_len(&self, _: usize) -> usize {
        2
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], _: Scratch<'_, T>) -> Result<f64> {
        let [margin_low, margin_high] = self.margins(batch)?;
        let (low, high) = batch.binary()?;
        let [wl, wh] = class_weights(self.weights, batch);
        let negatives: f64 = low.iter().map(|&s| self.of(-s, margin_low).0.f64()).sum();
        let positives: f64 = high.iter().map(|&s| self.of(s, margin_high).0.f64()).sum();
        finite("margin loss", wl * negatives + wh * positives)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        let [margin_low, margin_high] = self.margins(batch)?;
        let (low, high) = batch.binary()?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        exact_len("state", 2, state.len())?;
        let updates = count::updates(state)?;
        let [mut wl, mut wh] = class_weights(self.weights, batch);
        if updates >= self.defer {
            let [low, high] = effective_weights(self.beta, [batch.mass(0), batch.mass(1)])?;
            (wl, wh) = (wl * low, wh * high);
        }
        let out = &mut scratch.real[..batch.scores().len()];
        let (out_low, out_high) = out.split_at_mut(low.len());
        let (mut negatives, mut positives) = (0.0, 0.0);
        for (c, &s) in out_low.iter_mut().zip(low) {
            let (value, slope) = self.of(-s, margin_low);
            *c = -(T::of(wl) * slope);
            negatives += value.f64();
        }
        for (c, &s) in out_high.iter_mut().zip(high) {
            let (value, slope) = self.of(s, margin_high);
            *c = T::of(wh) * slope;
            positives += value.f64();
        }
        let value = finite("margin loss", wl * negatives + wh * positives)?;
        commit(out, grad.scores)?;
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

impl Ldam {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let (margin, scale) = (settings.value("margin"), settings.value("scale"));
        let (beta, defer) = (settings.value("beta"), settings.count("defer")?);
        Self::new(margin, scale, beta, defer, Weights::from_settings(settings))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "ldam",
    title: "LDAM",
    about: "Minimises a cross-entropy with a larger margin for the rarer class, re-weighted late.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: with_first_order!(
        0.05,
        0.003,
        number("margin", "0.5", 0.0, BIG, "margin of the rarer class"),
        number("scale", "1", TINY, BIG, "scale of the scores"),
        number("beta", "0.999", 0.0, 0.999_999_999, "of the effective numbers that weigh the classes late"),
        auto_count("defer", 0, Auto::Share { linear: 0.8, network: 0.8 }, "updates before classes are weighted")
    ),
    paper: &[],
    source: Source {
        paper: "Cao, Wei, Gaidon, Arechiga, Ma 2019, Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss",
        part: "equations (10), (13), algorithm 1",
    },
    files: &["core/src/estimator/ldam.rs"],
};
