//! AUC-M: the min-max margin objective of the AUC.
//!
//! Source: Yuan, Yan, Sonka and Yang 2021, "Large-scale Robust Deep AUC Maximization", equation (4).
//!
//! With h the link of the raw score, m the margin and means over the positives and over the negatives of the batch:
//!
//! ```text
//! F = mean₊(h−a)² + mean₋(h−b)² + 2α(m + mean₋h − mean₊h) − α²        minimised over a, b, maximised over α ≥ 0
//! c(+) = 2(h−a−α)/b₊      c(−) = 2(h−b+α)/b₋                          times h'(s)
//! ∂a = −2 mean₊(h−a)      ∂b = −2 mean₋(h−b)
//! ∂α = 2(m + mean₋h − mean₊h) − 2α                                    handed out with its sign flipped
//! ```
//!
//! [`AucMarginForm::Joint`] multiplies all of it by p(1−p), which turns the means into shares of all examples (the form
//! PESG was first published with); p is that of the batch for `Weights::AsDrawn` and of the whole data otherwise. α ≥ 0
//! is the algorithm's projection. Auxiliaries: `[a, b | α]`. Cost O(rows). Scratch: 2 values a row.

use super::{Estimator, Grad, Link, Weights, both_classes, commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{
    Auto, BATCH, BETA1, BETA2, BIG, DECAY, EPS, FROM_CE, FROM_CE_STEPS, NEGATIVES, NO_RESTART, POSITIVES, PRETRAIN_LR,
    SAMPLING, SCHEDULE, TINY, WEIGHTS, auto_lr, auto_number, choice, link, number,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// How the two classes are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AucMarginForm {
    /// Means over each class.
    PerClass,
    /// The same times p(1−p): means over all examples.
    Joint,
}

/// The min-max margin objective.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{AucMargin, AucMarginForm, Estimator, Grad, Link, Weights};
///
/// let scores = [0.0, 1.0, 2.0]; // two negatives, then a positive
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?;
/// let loss = AucMargin::new(2.0, AucMarginForm::PerClass, Link::Identity, Weights::Unbiased)?;
/// let aux = [2.0, 0.5, 0.5]; // a and b the means of the classes, α = margin + b − a: the saddle point
/// let (mut grad, mut by_aux) = ([0.0; 3], [1.0; 3]);
/// let scratch = Scratch { real: &mut [0.0; 6], ..Scratch::default() }; // as `need` says, or more
/// let out = Grad { scores: &mut grad, aux: &mut by_aux };
/// let value = loss.update(&batch, &aux, &mut [], scratch, out)?;
/// assert_eq!(value, 0.25 + 0.25); // the variance within the classes, and α²
/// assert_eq!(by_aux, [0.0; 3]);
/// assert_eq!(grad, [0.0, 1.0, -1.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AucMargin {
    margin: f64,
    form: AucMarginForm,
    link: Link,
    weights: Weights,
}

impl AucMargin {
    /// With a margin (finite, > 0), the form, the link and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(margin: f64, form: AucMarginForm, link: Link, weights: Weights) -> Result<Self> {
        if margin > 0.0 && margin.is_finite() {
            Ok(Self { margin, form, link, weights })
        } else {
            Err(Error::Param { what: "margin" })
        }
    }

    fn scale<T: Real>(&self, batch: &Batch<'_, T>) -> f64 {
        let [low, high] = match (self.weights, batch.drawn()) {
            (Weights::Unbiased, Drawn::Stratified) => [batch.mass(0), batch.mass(1)],
            (Weights::AsDrawn, _) | (Weights::Unbiased, Drawn::Uniform | Drawn::All) => {
                [batch.starts()[1], batch.starts()[2] - batch.starts()[1]].map(f64::from)
            }
        };
        match self.form {
            AucMarginForm::PerClass => 1.0,
            AucMarginForm::Joint => (low / (low + high)) * (high / (low + high)),
        }
    }

    fn evaluate<T: Real>(&self, batch: &Batch<'_, T>, aux: &[T], h: &[T], out: &mut [T]) -> (f64, [T; 3]) {
        let negatives = batch.starts()[1] as usize;
        let [a, b, alpha] = [aux[0], aux[1], aux[2]];
        let scale = self.scale(batch);
        let (low, high) = h.split_at(negatives);
        let (out_low, out_high) = out.split_at_mut(negatives);
        let (over_low, over_high) = (1.0 / low.len() as f64, 1.0 / high.len() as f64);
        let (wl, wh) = (T::of(2.0 * scale * over_low), T::of(2.0 * scale * over_high));
        let mut sums = [0.0f64; 6]; // Σ h, Σ (h − centre), Σ (h − centre)² of the negatives, then of the positives
        for (c, &h) in out_low.iter_mut().zip(low) {
            let d = h - b;
            *c = wl * (d + alpha);
            sums[0] += h.f64();
            sums[1] += d.f64();
            sums[2] += d.f64() * d.f64();
        }
        for (c, &h) in out_high.iter_mut().zip(high) {
            let d = h - a;
            *c = wh * (d - alpha);
            sums[3] += h.f64();
            sums[4] += d.f64();
            sums[5] += d.f64() * d.f64();
        }
        let alpha = alpha.f64();
        let gap = self.margin + over_low * sums[0] - over_high * sums[3];
        let value = scale * (over_high * sums[5] + over_low * sums[2] + 2.0 * alpha * gap - alpha * alpha);
        let grad = [-2.0 * over_high * sums[4], -2.0 * over_low * sums[1], -2.0 * (gap - alpha)];
        (value, grad.map(|g| T::settled_of(scale * g)))
    }

    fn check<T: Real>(&self, batch: &Batch<'_, T>, aux: &[T], scratch: &Scratch<'_, T>) -> Result<()> {
        both_classes(batch)?;
        exact_len("aux", 3, aux.len())?;
        crate::error::all_finite("aux", aux)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))
    }
}

impl<T: Real> Estimator<T> for AucMargin {
    /// Margin; factor of everything.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        both_classes(batch).ok()?;
        let differs = batch.drawn() == Drawn::Uniform && self.form == AucMarginForm::Joint;
        (!differs).then(|| Recipe::new("auc-margin", &[self.margin, self.scale(batch)]))
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

    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.check(batch, aux, &scratch)?;
        let (h, out) = scratch.real[..2 * batch.scores().len()].split_at_mut(batch.scores().len());
        self.link.apply(batch.scores(), h);
        finite("AUC margin objective", self.evaluate(batch, aux, h, out).0)
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
        exact_len("grad.aux", 3, grad.aux.len())?;
        let (h, out) = scratch.real[..2 * batch.scores().len()].split_at_mut(batch.scores().len());
        self.link.apply(batch.scores(), h);
        let (value, by_aux) = self.evaluate(batch, aux, h, out);
        let value = finite("AUC margin objective", value)?;
        self.link.chain(h, out);
        super::commit_aux(&by_aux)?;
        commit(out, grad.scores)?;
        grad.aux.copy_from_slice(&by_aux);
        Ok(value)
    }
}

impl AucMargin {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let joint = settings.text("form") == Some("joint");
        let form = if joint { AucMarginForm::Joint } else { AucMarginForm::PerClass };
        let (link, weights) = (Link::from_settings(settings), Weights::from_settings(settings));
        Self::new(settings.value("margin"), form, link, weights)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "auc-margin",
    title: "AUC-M",
    about: "Maximises the AUROC through the min-max margin objective.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: &[
        FROM_CE_STEPS,
        choice(
            "optimizer",
            "pesg",
            &["pesg", "sgd", "momentum", "adam", "adam-plain", "amsgrad", "adagrad"],
            "step rule; only pesg keeps the dual variable at 0 or above",
        ),
        auto_lr(0.3, 0.01),
        SCHEDULE,
        auto_number("stage", 1.0, Auto::Share { linear: 1.0 / 3.0, network: 1.0 / 3.0 }, "steps of a stage (pesg)"),
        number("pull", "0.002", 0.0, BIG, "weight of the pull toward the last stage's mean (pesg)"),
        number("margin", "1", TINY, BIG, "margin between the classes' mean scores"),
        choice("form", "per-class", &["per-class", "joint"], "means over each class, or over all examples"),
        link("sigmoid"),
        SAMPLING,
        POSITIVES,
        NEGATIVES,
        BATCH,
        WEIGHTS,
        BETA1,
        BETA2,
        EPS,
        DECAY,
        FROM_CE,
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[("lr", "0.1"), ("stage", "2000"), ("weights", "as-drawn"), ("pretrain", "0")],
    source: Source {
        paper: "Yuan, Yan, Sonka, Yang 2021, Large-scale Robust Deep AUC Maximization",
        part: "equation (4), algorithm 1",
    },
    files: &["core/src/estimator/auc_margin.rs", "core/src/algorithm/pesg.rs", "core/src/algorithm/stages.rs"],
};
