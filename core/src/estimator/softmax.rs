//! Cross-entropy of several classes: ℓ = ln Σ_k e^(s_k) − s_y, c_k = softmax(s)_k − 1[k = y].
//!
//! Rows lie in one segment for each class, with one head for each class. F is the mean over all rows, with the segments'
//! shares of the whole data for `Weights::Unbiased` in stratified batches. Cost O(rows·classes). Scratch: a value for
//! each score.

use super::{Estimator, Grad, Weights, commit, finite, segment_weight};
use crate::batch::{Batch, Shape};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH, BATCH_STEPS, BETA1, BETA2, CLASS_DECAY, EPS, PER_CLASS, SCHEDULE, WEIGHTS, adam_lr, sampling,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// Cross-entropy over a softmax head.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, SoftmaxCrossEntropy, Weights};
///
/// let scores = [0.0; 4]; // a row of each of two classes, with a score for each class
/// let batch = Batch::new(&scores, 2, &[0, 1, 2], &[1, 1], Drawn::All)?;
/// let scratch = Scratch { real: &mut [0.0; 4], ..Scratch::default() }; // as `need` says, or more
/// let mut grad = [0.0; 4];
/// let out = Grad { scores: &mut grad, aux: &mut [] };
/// let value: f64 = SoftmaxCrossEntropy::new(Weights::Unbiased).update(&batch, &[], &mut [], scratch, out)?;
/// assert!((value - 2.0f64.ln()).abs() < 1e-12);
/// assert_eq!(grad, [-0.25, 0.25, 0.25, -0.25]); // (softmax − 1[k = y])/2
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftmaxCrossEntropy {
    weights: Weights,
}

/// Writes softmax(scores) and returns ln Σ e^s.
pub(crate) fn softmax<T: Real>(scores: &[T], out: &mut [T]) -> T {
    let mut top = scores[0];
    for &s in scores {
        top = top.or_larger(s);
    }
    let mut sum = T::ZERO;
    for (h, &s) in out.iter_mut().zip(scores) {
        *h = (s - top).fading_exp();
        sum += *h;
    }
    for h in out {
        *h = (*h / sum).settled();
    }
    top + sum.ln()
}

/// `Ok(classes)` when every class has its head and its segment and there are at least two.
pub(super) fn classes<T: Real>(batch: &Batch<'_, T>) -> Result<usize> {
    let Shape { rows, heads, segments, .. } = batch.shape();
    if heads < 2 || heads != segments {
        return Err(Error::Unsupported { what: "this estimator needs one score and one segment for each class" });
    }
    if rows == 0 { Err(Error::Empty { what: "batch" }) } else { Ok(heads) }
}

impl SoftmaxCrossEntropy {
    /// With the weights of a batch's examples.
    #[must_use]
    pub fn new(weights: Weights) -> Self {
        Self { weights }
    }

    fn evaluate<T: Real>(&self, batch: &Batch<'_, T>, out: &mut [T]) -> Result<f64> {
        let count = classes(batch)?;
        let mut value = 0.0;
        for class in 0..count {
            let weight = segment_weight(self.weights, batch, class);
            let rows = batch.starts()[class] as usize * count..batch.starts()[class + 1] as usize * count;
            for (h, s) in out[rows.clone()].chunks_exact_mut(count).zip(batch.scores()[rows].chunks_exact(count)) {
                value += weight * (softmax(s, h) - s[class]).f64();
                h[class] -= T::ONE;
                h.iter_mut().for_each(|h| *h *= T::of(weight));
            }
        }
        finite("cross-entropy", value)
    }
}

impl<T: Real> Estimator<T> for SoftmaxCrossEntropy {
    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows * shape.heads, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        self.evaluate(batch, &mut scratch.real[..batch.scores().len()])
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        exact_len("grad.scores", batch.scores().len(), grad.scores.len())?;
        let out = &mut scratch.real[..batch.scores().len()];
        let value = self.evaluate(batch, out)?;
        commit(out, grad.scores)?;
        Ok(value)
    }
}

impl SoftmaxCrossEntropy {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self::new(Weights::from_settings(settings)))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "ce",
    title: "Softmax cross-entropy",
    about: "Minimises the mean cross-entropy of several classes (multinomial logistic regression, for a linear model).",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: &[
        BATCH_STEPS,
        optimizer("adam"),
        adam_lr(0.05, 0.003, 20_000),
        SCHEDULE,
        sampling("uniform"),
        PER_CLASS,
        BATCH,
        WEIGHTS,
        BETA1,
        BETA2,
        EPS,
        CLASS_DECAY,
    ],
    paper: &[],
    source: Source {
        paper: "McFadden 1974, Conditional Logit Analysis of Qualitative Choice Behavior",
        part: "the likelihood of the multinomial logit model",
    },
    files: &["core/src/estimator/softmax.rs"],
};
