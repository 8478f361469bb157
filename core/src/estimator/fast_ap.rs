//! FastAP: the average precision of a batch through soft histograms.
//!
//! Source: Cakir, He, Xia, Kulis and Sclaroff 2019, "Deep Metric Learning to Rank", equations (7)–(12).
//!
//! h = σ(s) in [0, 1] is spread over the bins z = 0, 1/L, …, 1 by a triangular kernel of half-width 1/L, i.e. linearly over
//! its two neighbours. With ω the weight of an example, h₊(z), h₋(z) the histograms, H₊, H₋ their sums from the highest
//! score down and H = H₊ + H₋:
//!
//! ```text
//! F = 1 − (1/N₊) Σ_z h₊(z) H₊(z)/H(z)                                  N₊ = Σ_z h₊(z)
//! −N₊ ∂F/∂h₊(z) = H₊(z)/H(z) + Σ_{z'≤z} h₊(z')H₋(z')/H(z')²            −N₊ ∂F/∂h₋(z) = −Σ_{z'≤z} h₊(z')H₊(z')/H(z')²
//! ```
//!
//! Bins with H = 0 add nothing. ω as in Smooth-AP: 1 for `Weights::AsDrawn`, which is the paper's. Deviation: the paper
//! bins distances between embeddings; here it is the classifier's own score. Cost O(rows + L). Scratch: 2 values a row,
//! 4(L + 1) of `f64`.

use super::{Estimator, Grad, Link, Weights, both_classes, commit, finite, rank_weights};
use crate::batch::{Batch, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::optimizers::optimizer;
use crate::registry::params::{
    BATCH, BETA1, BETA2, DECAY_TO, Domain, EPS, FROM_CE, FROM_CE_STEPS, NEGATIVES, NO_RESTART, POSITIVES, PRETRAIN_LR,
    Param, SAMPLING, SCHEDULE, WEIGHTS, adam_lr, from_cross_entropy, pull,
};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// FastAP.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, FastAp, Weights};
///
/// let loss = FastAp::new(10, Weights::AsDrawn)?;
/// for (scores, ap) in [([-20.0, -20.0, 20.0], 1.0), ([20.0, 20.0, -20.0], 1.0 / 3.0)] {
///     let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?; // two negatives, then a positive
///     let scratch = Scratch { real: &mut [0.0; 6], f64: &mut [0.0; 44], ..Scratch::default() }; // as `need` says, or more
///     let value: f64 = loss.value(&batch, &[], scratch)?;
///     assert!((value - (1.0 - ap)).abs() < 1e-6); // scores far apart share no bins
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastAp {
    bins: u32,
    weights: Weights,
}

/// The lower neighbour bin of h in [0, 1] and the share of the upper one.
fn place<T: Real>(h: T, bins: u32) -> (usize, f64) {
    let x = h.f64() * f64::from(bins);
    let lower = (x as usize).min(bins as usize - 1);
    (lower, x - lower as f64)
}

impl FastAp {
    /// With L (1 to 65 536) and the weights of a batch's examples.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(bins: u32, weights: Weights) -> Result<Self> {
        if (1..=1 << 16).contains(&bins) { Ok(Self { bins, weights }) } else { Err(Error::Param { what: "bins" }) }
    }

    /// F; leaves −N₊ ∂F/∂h₋(z) and −N₊ ∂F/∂h₊(z) in `table`.
    fn evaluate<T: Real>(&self, [wl, wh]: [f64; 2], low: &[T], high: &[T], table: &mut [f64]) -> f64 {
        let size = self.bins as usize + 1;
        table.fill(0.0);
        let (fill, by) = table.split_at_mut(2 * size);
        let (fill_low, fill_high) = fill.split_at_mut(size);
        for (scores, weight, fill) in [(low, wl, &mut *fill_low), (high, wh, &mut *fill_high)] {
            for &h in scores {
                let (bin, share) = place(h, self.bins);
                fill[bin] += weight * (1.0 - share);
                fill[bin + 1] += weight * share;
            }
        }
        let (by_low, by_high) = by.split_at_mut(size);
        let (mut above_low, mut above_high, mut sum) = (0.0, 0.0, 0.0);
        for z in (0..size).rev() {
            above_low += fill_low[z];
            above_high += fill_high[z];
            let all = above_low + above_high;
            if all > 0.0 {
                sum += fill_high[z] * above_high / all;
                by_low[z] = -fill_high[z] * above_high / (all * all);
                by_high[z] = fill_high[z] * above_low / (all * all);
                fill_low[z] = above_high / all;
            } else {
                fill_low[z] = 0.0;
            }
        }
        let (mut below_low, mut below_high) = (0.0, 0.0);
        for z in 0..size {
            below_low += by_low[z];
            below_high += by_high[z];
            by_low[z] = below_low;
            by_high[z] = below_high + fill_low[z];
        }
        1.0 - sum / (wh * high.len() as f64)
    }
}

impl<T: Real> Estimator<T> for FastAp {
    /// Whether weights are unbiased; negatives and positives of the data, in units of a positive; L, up to 255.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        both_classes(batch).ok()?;
        let positives = f64::from(batch.population()[1]);
        let negatives = batch.mass(0) / (batch.mass(1) / positives);
        let unbiased = f64::from(u8::from(self.weights == Weights::Unbiased));
        (self.bins < 256).then(|| Recipe::new("fast-ap", &[unbiased, negatives, positives, self.bins.into()]))
    }

    fn link(&self) -> Link {
        Link::Sigmoid
    }
    fn need(&self, shape: Shape) -> Need {
        Need { real: 2 * shape.rows, f64: 4 * (self.bins as usize + 1), ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        let (low, _) = both_classes(batch)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let h = &mut scratch.real[..batch.scores().len()];
        Link::Sigmoid.apply(batch.scores(), h);
        let (low, high) = h.split_at(low.len());
        let table = &mut scratch.f64[..4 * (self.bins as usize + 1)];
        finite("average precision loss", self.evaluate(rank_weights(self.weights, batch), low, high, table))
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        let (low, high) = both_classes(batch)?;
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let rows = batch.scores().len();
        let (h, out) = scratch.real[..2 * rows].split_at_mut(rows);
        Link::Sigmoid.apply(batch.scores(), h);
        let (negatives, positives) = (low.len(), high.len() as f64);
        let (low, high) = h.split_at(negatives);
        let size = self.bins as usize + 1;
        let table = &mut scratch.f64[..4 * size];
        let [wl, wh] = rank_weights(self.weights, batch);
        let value = finite("average precision loss", self.evaluate([wl, wh], low, high, table))?;
        let (by_low, by_high) = table[2 * size..].split_at(size);
        let scale = f64::from(self.bins) / (wh * positives);
        for (k, (c, &h)) in out.iter_mut().zip(&*h).enumerate() {
            let (by, weight) = if k < negatives { (by_low, wl) } else { (by_high, wh) };
            let (bin, _) = place(h, self.bins);
            *c = T::settled_of(-scale * weight * (by[bin + 1] - by[bin]));
        }
        Link::Sigmoid.chain(h, out);
        commit(out, grad.scores)?;
        Ok(value)
    }
}

impl FastAp {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(settings.value("bins") as u32, Weights::from_settings(settings))
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "fast-ap",
    title: "FastAP",
    about: "Maximises the average precision of the batch through soft histograms.",
    kind: Kind::Batches,
    metric: Metric::Ap,
    params: from_cross_entropy!(
        0.02,
        0.0003,
        Param {
            name: "bins",
            about: "bins of the histogram",
            domain: Domain::Count { low: 1, high: 65_536 },
            default: "20",
            auto: None
        }
    ),
    paper: &[("weights", "as-drawn"), ("decay-to", "zero"), ("pretrain", "0")],
    source: Source {
        paper: "Cakir, He, Xia, Kulis, Sclaroff 2019, Deep Metric Learning to Rank",
        part: "equations (7)-(12)",
    },
    files: &["core/src/estimator/fast_ap.rs"],
};
