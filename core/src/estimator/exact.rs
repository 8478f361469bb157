//! Exact objectives over the whole data: AUC, AP and partial AUC by the near-linear sums of [`pairs`].
//!
//! ```text
//! AUC   F = 1/(n₊n₋) Σ_{i∈+} Σ_{j∈−} ℓ(h_i − h_j)
//! AP    P = −1/n₊ Σ_{i∈+} g1_i/g2_i                           (Qi et al. 2021, equations (2)–(4); see `soap.rs`)
//! pAUC  F over the negatives ranked αn₋ to βn₋ by score       (Yao et al. 2022, equation (2), with fractional ends);
//!       two-way: and over the lowest (1 − tpr)n₊ positives     (Yang, Lu, Lyu, Hu 2019, "Two-way Partial AUC and Its
//!                                                               Properties")
//! ```
//!
//! with h the link of the raw score. Where all scores tie, as those of a linear model at 0 do, the order of the negatives
//! that a range picks is arbitrary, and the subgradient of the partial AUC need not be a direction of descent although 0
//! is no minimum: start from a model that ranks. Where most pairs are in the wrong order a sigmoid loss also falls by
//! shrinking all scores, to ½ where they tie, and the metric with it: a
//! [`Trainer`](crate::trainer::Trainer) that went on from cross-entropy then answers what it started from. Only for batches of everything ([`Drawn::All`]). Sums run in f64 whatever the type
//! of the scores; sigmoid and logistic sums are good to 10⁻¹², the others to rounding. Cost and memory: see [`pairs`],
//! and 2 f64 a row for h and its gradient. No state; the tables of a sigmoid or logistic surrogate are a [`Plan`], which
//! [`Estimator::prepare`] makes once for a run.

use super::{Estimator, Grad, Link, commit, finite};
use crate::batch::{Batch, Drawn, PAIR_WEIGHTS, Shape};
use crate::error::{Error, Result, exact_len};
use crate::metric::{self, FprRange, Labels, TieRule};
use crate::pairs::{self, Grade, How, Plan, Sum};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{Param, exact, number};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, Surrogate};

/// An exact objective.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Exact, Grad, Link};
/// use undercurve::surrogate::AnySurrogate;
///
/// let scores = [1.0f32, 0.0, 0.5]; // two negatives, then a positive: all there is
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?;
/// let hinge = AnySurrogate::by_name("hinge", 1.0)?;
/// for (loss, value, by_score) in [
///     (Exact::auc(hinge, Link::Identity), 1.0, [0.5, 0.5, -1.0]), // the mean of 1 + ½ and 1 − ½
///     (Exact::pauc(hinge, Link::Identity, (0.0, 0.5))?, 1.5, [1.0, 0.0, -1.0]), // of the higher half of the negatives
/// ] {
///     let need = Estimator::<f32>::need(&loss, batch.shape());
///     let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
///     let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
///     let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
///     let mut grad = [0.0; 3];
///     assert_eq!(loss.update(&batch, &[], &mut [], scratch, Grad { scores: &mut grad, aux: &mut [] })?, value);
///     assert_eq!(grad, by_score);
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    sum: Sum,
    surrogate: AnySurrogate<f64>,
    link: Link,
}

/// σ(s) below this is 0, so that powers of what remains, which the sums take, stay normal.
const LEAST: f64 = 1.0 / (1u128 << 127) as f64;

impl Exact {
    /// The pairwise AUC loss.
    #[must_use]
    pub fn auc(surrogate: AnySurrogate<f64>, link: Link) -> Self {
        Self { sum: Sum::Auc, surrogate, link }
    }

    /// SOAP's objective.
    #[must_use]
    pub fn ap(surrogate: AnySurrogate<f64>, link: Link) -> Self {
        Self { sum: Sum::Ap, surrogate, link }
    }

    /// The pairwise loss over the negatives of a false-positive range, 0 ≤ α < β ≤ 1.
    ///
    /// # Errors
    /// `Param` (range), `Unsupported` (a surrogate that is not monotone).
    pub fn pauc(surrogate: AnySurrogate<f64>, link: Link, fpr: (f64, f64)) -> Result<Self> {
        if !(0.0 <= fpr.0 && fpr.0 < fpr.1 && fpr.1 <= 1.0) {
            return Err(Error::Param { what: "fpr" });
        }
        if !surrogate.is_monotone() {
            return Err(Error::Unsupported { what: "partial AUC needs a monotone surrogate" });
        }
        Ok(Self { sum: Sum::Pauc { fpr, tpr: 0.0 }, surrogate, link })
    }

    /// The two-way partial AUC's: the same over the lowest positives alone, from a true-positive rate `tpr` on, 0 ≤ tpr < 1.
    /// Where (1 − tpr)n₊ is no integer, the highest of them counts by its part.
    ///
    /// # Errors
    /// `Param` (range, tpr), `Unsupported` (a surrogate that is not monotone).
    pub fn two_way_pauc(surrogate: AnySurrogate<f64>, link: Link, fpr: (f64, f64), tpr: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&tpr) {
            return Err(Error::Param { what: "tpr" });
        }
        Ok(Self { sum: Sum::Pauc { fpr, tpr }, ..Self::pauc(surrogate, link, fpr)? })
    }

    /// Accuracy of the sums.
    pub const GRADE: Grade = Grade::Full;

    /// The metric that the objective stands for; `scratch` as [`metric::need`](crate::metric::need) says.
    #[cfg(feature = "alloc")]
    pub(crate) fn metric<T: Real>(
        &self,
        scores: &[T],
        data: &crate::data::Dataset<T>,
        scratch: Scratch<'_, T>,
    ) -> Result<f64> {
        match data.weights() {
            [_, ..] if PAIR_WEIGHTS => self.metric_of(scores, &data.truth(), scratch),
            _ => self.metric_of(scores, data.labels(), scratch),
        }
    }

    fn metric_of<T: Real, Y: Labels + ?Sized>(&self, scores: &[T], labels: &Y, scratch: Scratch<'_, T>) -> Result<f64> {
        match self.sum {
            Sum::Auc => metric::auroc(scores, labels, scratch),
            Sum::Ap => metric::average_precision(scores, labels, scratch),
            Sum::Pauc { fpr, tpr } => {
                let (range, rule) = (FprRange::new(fpr.0, fpr.1)?, TieRule::Trapezoid);
                match tpr > 0.0 {
                    true => metric::partial_auc_two_way(scores, labels, tpr, range, rule, scratch),
                    false => metric::partial_auc(scores, labels, range, rule, scratch),
                }
            }
        }
    }

    /// Which sum over the pairs.
    #[must_use]
    pub fn sum(&self) -> Sum {
        self.sum
    }

    /// The surrogate; a [`Plan`] of it and [`GRADE`](Self::GRADE) fits.
    #[must_use]
    pub fn surrogate(&self) -> AnySurrogate<f64> {
        self.surrogate
    }

    /// The value, and its gradient where one is asked for.
    fn evaluate<T: Real>(&self, batch: &Batch<'_, T>, scratch: Scratch<'_, T>, grad: Option<&mut [T]>) -> Result<f64> {
        let (low, _) = batch.binary()?;
        if batch.drawn() != Drawn::All {
            return Err(Error::Unsupported { what: "exact objectives on a part of the data" });
        }
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let plan = match batch.tables() {
            [] => None,
            tables => Some(Plan::again(self.surrogate, Self::GRADE, tables)?),
        };
        let scores = batch.scores();
        let (h, rest) = scratch.f64.split_at_mut(scores.len());
        let (out, rest) = rest.split_at_mut(scores.len());
        for (h, &s) in h.iter_mut().zip(scores) {
            *h = match self.link {
                Link::Identity => s.f64(),
                Link::Sigmoid => s.f64().sigmoid().settled_below(LEAST),
            };
        }
        let memory = Scratch { real: &mut [], f64: rest, u32: scratch.u32, u64: scratch.u64 };
        let how = How::of(self.surrogate, Self::GRADE, plan)?;
        let weights = if PAIR_WEIGHTS { batch.weights() } else { &[] };
        let value = pairs::by_class(self.sum, how, h, low.len(), weights, memory, out)?;
        let value = finite("objective", value)?;
        if let Some(grad) = grad {
            exact_len("grad.scores", scores.len(), grad.len())?;
            self.link.chain(h, out);
            let rounded = &mut scratch.real[..scores.len()];
            rounded.iter_mut().zip(out).for_each(|(r, c)| *r = T::settled_of(*c));
            commit(rounded, grad)?;
        }
        Ok(value)
    }
}

impl<T: Real> Estimator<T> for Exact {
    fn link(&self) -> Link {
        self.link
    }
    fn whole(&self) -> Option<Exact> {
        Some(*self)
    }
    fn needs_all(&self) -> bool {
        true
    }
    fn takes_weights(&self) -> bool {
        PAIR_WEIGHTS
    }
    fn tables_len(&self) -> usize {
        if Plan::is_of(self.surrogate) { Plan::need(Self::GRADE) } else { 0 }
    }
    fn prepare<'t>(&self, tables: &'t mut [f64]) -> &'t [f64] {
        match Plan::new(self.surrogate, Self::GRADE, tables) {
            Ok(_) => tables,
            Err(_) => &[],
        }
    }
    fn need(&self, shape: Shape) -> Need {
        let need = pairs::by_class_need(self.sum, self.surrogate, shape.rows);
        Need { real: shape.rows, f64: need.f64.saturating_add(2 * shape.rows), ..need }
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

impl Exact {
    /// SOAP's objective, of settings.
    pub(crate) fn ap_of(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::ap(super::surrogate(settings)?, Link::from_settings(settings)))
    }
    /// The pairwise AUC loss, of settings.
    pub(crate) fn auc_of(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::auc(super::surrogate(settings)?, Link::from_settings(settings)))
    }
    /// The partial AUC, of settings.
    pub(crate) fn pauc_of(settings: &Settings<'_>) -> Result<Self> {
        let (surrogate, link) = (super::surrogate(settings)?, Link::from_settings(settings));
        Self::two_way_pauc(surrogate, link, settings.fpr(), settings.value("tpr"))
    }
}

/// Its entry in the table of methods.
pub(crate) const AP: Entry = Entry {
    name: "ap-exact",
    title: "Exact AP",
    about: "Minimises SOAP's surrogate of the average precision by exact gradients over the whole data.",
    kind: Kind::Whole,
    metric: Metric::Ap,
    params: &exact([200.0, 20.0], "sigmoid", "2", [0.008, 0.1]),
    paper: &[],
    source: Source {
        paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
        part: "equations (2)-(4)",
    },
    files: &["core/src/estimator/exact.rs", "core/src/pairs/mod.rs", "core/src/algorithm/lbfgs.rs"],
};

/// Its entry in the table of methods.
pub(crate) const AUC: Entry = Entry {
    name: "auc-exact",
    title: "Exact AUC",
    about: "Minimises a surrogate of the share of wrongly ordered pairs over all pairs of the data.",
    kind: Kind::Whole,
    metric: Metric::Auroc,
    params: &exact([200.0, 10.0], "squared-hinge", "1", [0.008, 0.1]),
    paper: &[],
    source: Source {
        paper: "Gao, Jin, Zhu, Zhou 2013, One-Pass AUC Optimization",
        part: "the pairwise objective, equation (1)",
    },
    files: &["core/src/estimator/exact.rs", "core/src/pairs/mod.rs", "core/src/algorithm/lbfgs.rs"],
};

/// Parameters of the partial AUC: the others', and the least true-positive rate.
const fn with_tpr(others: [Param; 18]) -> [Param; 19] {
    let tpr = number("tpr", "0", 0.0, 0.999_999, "two-way: only the lowest positives, from this true-positive rate on");
    let mut all = [tpr; 19];
    let mut k = 0;
    while k < 18 {
        all[k] = others[k];
        k += 1;
    }
    all
}

/// Its entry in the table of methods.
pub(crate) const PAUC: Entry = Entry {
    name: "pauc-exact",
    title: "Exact partial AUC",
    about: "Minimises the pairwise surrogate over the negatives of a false-positive range (--fpr), and of a range of true-positive rates.",
    kind: Kind::Whole,
    metric: Metric::Pauc,
    params: &with_tpr(exact([200.0, 10.0], "sigmoid", "30", [0.008, 4.0])),
    paper: &[],
    source: Source {
        paper: "Yao, Lin, Yang 2022, Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
        part: "equation (2), exactly instead of by AGD-SBCD",
    },
    files: &["core/src/estimator/exact.rs", "core/src/pairs/mod.rs", "core/src/algorithm/lbfgs.rs"],
};
