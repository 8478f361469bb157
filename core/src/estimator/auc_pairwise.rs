//! Pairwise surrogate of the AUC: F = mean over (positive i, negative j) of ℓ(h(s_i) − h(s_j)).
//!
//! Within a batch that is drawn per class the mean over its pairs is unbiased. c_i = Σ_j κℓ'(t_ij), c_j = −Σ_i κℓ'(t_ij)
//! with κ = 1/(b₊b₋), times h'(s). Cost O(b₊b₋). Memory: 2·rows values of scratch.

use super::{Estimator, Exact, Grad, Link, PairEstimator, PairSums, PairWeights, both_classes, commit, finite};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Result, exact_len};
use crate::pairs::brute;
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH_STEPS, BETA1, BETA2, DECAY, EPS, MARGIN, NEGATIVES, POSITIVES, PRETRAIN, PRETRAIN_LR, RESTART, SCALE,
    SCHEDULE, SMOOTHING, SURROGATE, auto_lr, link,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Loss, SquaredHinge, Surrogate, Use};

/// Mean pairwise surrogate.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{AucPairwise, Estimator, Grad};
///
/// let scores = [0.0, 1.0, 0.5]; // two negatives, then a positive
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[200, 10], Drawn::Stratified)?;
/// let scratch = Scratch { real: &mut [0.0; 6], ..Scratch::default() }; // as `need` says, or more
/// let mut grad = [0.0; 3];
/// let out = Grad { scores: &mut grad, aux: &mut [] };
/// let value = AucPairwise::default().update(&batch, &[], &mut [], scratch, out)?;
/// assert_eq!(value, 1.25); // the mean of (1 − ½)² and (1 + ½)²
/// assert_eq!(grad, [0.5, 1.5, -2.0]); // the pair in the wrong order pulls harder
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AucPairwise<L = AnySurrogate<f64>> {
    surrogate: L,
    link: Link,
}

impl Default for AucPairwise {
    /// The squared hinge with margin 1, of raw scores.
    fn default() -> Self {
        Self { surrogate: AnySurrogate::SquaredHinge(SquaredHinge::UNIT), link: Link::Identity }
    }
}

/// The value over all pairs, and the derivatives.
struct Pairs<'a, T> {
    high: &'a [T],
    low: &'a [T],
    out_high: &'a mut [T],
    out_low: &'a mut [T],
}

impl<T: Real> Use<T> for Pairs<'_, T> {
    type Output = Result<T>;
    fn with<S: Surrogate<T>>(self, loss: S) -> Result<T> {
        brute::check(loss, self.high, self.low)?;
        brute::auc(loss, self.high, self.low, self.out_high, self.out_low)
    }
}

impl<L: Loss> AucPairwise<L> {
    /// With its surrogate and link.
    #[must_use]
    pub fn new(surrogate: L, link: Link) -> Self {
        Self { surrogate, link }
    }

    /// The surrogate ℓ.
    #[must_use]
    pub fn surrogate<T: Real>(&self) -> AnySurrogate<T> {
        self.surrogate.into().to()
    }

    /// The value, and its gradient where one is asked for.
    fn evaluate<T: Real>(&self, batch: &Batch<'_, T>, scratch: Scratch<'_, T>, grad: Option<&mut [T]>) -> Result<f64> {
        let (low, _) = both_classes(batch)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let rows = batch.scores().len();
        let (h, rest) = scratch.real.split_at_mut(rows);
        let out = &mut rest[..rows];
        self.link.apply(batch.scores(), h);
        let (low_h, high_h) = h.split_at(low.len());
        let (out_low, out_high) = out.split_at_mut(low.len());
        let value = self.surrogate.lend(Pairs { high: high_h, low: low_h, out_high, out_low })?;
        let value = finite("pairwise loss", value.f64())?;
        if let Some(grad) = grad {
            self.link.chain(h, out);
            commit(out, grad)?;
        }
        Ok(value)
    }
}

impl<T: Real, L: Loss> Estimator<T> for AucPairwise<L> {
    /// No numbers.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        both_classes(batch).ok()?;
        Some(Recipe::new("auc-pairwise", &[]).with_surrogate(self.surrogate.into()))
    }

    fn link(&self) -> Link {
        self.link
    }

    fn whole(&self) -> Option<Exact> {
        Some(Exact::auc(self.surrogate.into(), self.link))
    }

    fn pairs(&self) -> Option<&dyn PairEstimator<T>> {
        Some(self)
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.evaluate(batch, scratch, None)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.evaluate(batch, scratch, Some(grad.scores))
    }
}

impl<T: Real, L: Loss> PairEstimator<T> for AucPairwise<L> {
    fn loss(&self) -> AnySurrogate<T> {
        self.surrogate()
    }
    fn width(&self) -> usize {
        0
    }
    fn weigh(&self, batch: &Batch<'_, T>, sums: PairSums<'_, T>, _: &[T], out: PairWeights<'_, T>) -> Result<f64> {
        let (low, high) = super::both_classes(batch)?;
        for (what, got) in
            [("sums.low", sums.low.len()), ("weights.low", out.low.len()), ("weights.high", out.high.len())]
        {
            exact_len(what, high.len(), got)?;
        }
        let pairs = low.len() as f64 * high.len() as f64;
        out.low.fill(T::of(1.0 / pairs));
        out.high.fill(T::ZERO);
        super::finite("pairwise loss", sums.low.iter().map(|sum| sum.f64()).sum::<f64>() / pairs)
    }
}

impl AucPairwise {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::new(super::surrogate(settings)?, Link::from_settings(settings)))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "auc-pairwise",
    title: "Pairwise AUC",
    about: "Minimises a surrogate of the share of wrongly ordered pairs (AUROC).",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: &[
        BATCH_STEPS,
        optimizer("adam"),
        auto_lr(0.02, 0.003),
        SCHEDULE,
        SURROGATE,
        MARGIN,
        SCALE,
        SMOOTHING,
        link("identity"),
        POSITIVES,
        NEGATIVES,
        BETA1,
        BETA2,
        EPS,
        DECAY,
        PRETRAIN,
        PRETRAIN_LR,
        RESTART,
    ],
    paper: &[],
    source: Source {
        paper: "Gao, Jin, Zhu, Zhou 2013, One-Pass AUC Optimization",
        part: "the pairwise objective, equation (1)",
    },
    files: &["core/src/estimator/auc_pairwise.rs", "core/src/pairs/brute.rs"],
};
