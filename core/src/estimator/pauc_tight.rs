//! The most violated ordering of SVMpAUC-tight, exactly: its value and its gradient by score.
//!
//! Source: Narasimhan and Agarwal 2013, "SVM pAUC tight: A New Support Vector Method for Optimizing Partial AUC Based on a
//! Tight Convex Upper Bound".
//!
//! ```text
//! H(s) = 1/(n₊(n−m)) max_π Σ_{i∈+} Σ_{j ≤ n} π_ij (1[j > m] − (s_i − s₍ⱼ₎)),   m = ⌈αn₋⌉,  n = ⌊βn₋⌋
//! ```
//!
//! over all orderings π (π_ij = 1 where the j-th of the negatives in π's order stands above positive i) and all choices of n
//! negatives. A negative with a higher score is never worse at a higher rank, so the n highest by score are the choice, and
//! each positive stands below the first r_i of them. Its terms fall with the rank up to m, and again from m + 1 on, where each
//! has one more for the loss: r_i is the end of the positive terms either up to m, or past it.
//!
//! The bound is convex, and for α = 0 it is the mean hinge loss with the n highest negatives: where these stand above the
//! positives in the mean, whatever the weights, it is least at 0, where all scores tie (and a report says so). A range without a whole negative
//! is that of the one in its middle. Only for batches of everything ([`Drawn::All`]). No state. Cost O(n log n); scratch one
//! value, 2 f64 and one `u32` a row.

use super::{Estimator, Grad, commit, finite};
use crate::batch::{Batch, Drawn, Shape};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{Auto, BIG, Domain, Param, TINY, auto_count, auto_number, number, rule, text};
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};

/// SVMpAUC-tight's bound.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Grad, PaucTight};
///
/// let scores = [0.0, 1.0, 0.5]; // two negatives, then a positive: all there is
/// let batch = Batch::new(&scores, 1, &[0, 2, 3], &[2, 1], Drawn::All)?;
/// let scratch = Scratch { real: &mut [0.0; 3], f64: &mut [0.0; 7], u32: &mut [0; 3], u64: &mut [] }; // as `need` says
/// let mut grad = [0.0; 3];
/// let out = Grad { scores: &mut grad, aux: &mut [] };
/// let value = PaucTight::new((0.0, 0.5))?.update(&batch, &[], &mut [], scratch, out)?;
/// assert_eq!(value, 1.5); // 1 − (½ − 1): in the most violated ordering the higher negative stands above the positive
/// assert_eq!(grad, [0.0, 1.0, -1.0]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaucTight {
    fpr: (f64, f64),
}

impl PaucTight {
    /// With the range, 0 ≤ α < β ≤ 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(fpr: (f64, f64)) -> Result<Self> {
        if !(0.0 <= fpr.0 && fpr.0 < fpr.1 && fpr.1 <= 1.0) {
            return Err(Error::Param { what: "fpr" });
        }
        Ok(Self { fpr })
    }

    /// m and n for so many negatives.
    fn ranks(&self, negatives: usize) -> (usize, usize) {
        // (.3 of 10 negatives are three, whatever .3 is rounded to.)
        let slack = negatives as f64 * 4.0 * f64::EPSILON;
        let from = libm::ceil(self.fpr.0 * negatives as f64 - slack) as usize;
        let to = (libm::floor(self.fpr.1 * negatives as f64 + slack) as usize).min(negatives);
        if from < to {
            return (from, to);
        }
        let middle = (0.5 * (self.fpr.0 + self.fpr.1) * negatives as f64) as usize;
        (middle.min(negatives - 1), middle.min(negatives - 1) + 1)
    }

    /// H, with its gradient by score if one is wanted.
    fn most_violated<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        scratch: Scratch<'_, T>,
        grad: Option<&mut [T]>,
    ) -> Result<f64> {
        let (low, high) = super::both_classes(batch)?;
        if batch.drawn() != Drawn::All {
            return Err(Error::Unsupported { what: "the most violated ordering of a part of the data" });
        }
        scratch.check(Estimator::<T>::need(self, batch.shape()))?;
        let (m, n) = self.ranks(low.len());
        let order = &mut scratch.u32[..low.len()];
        crate::sort::falling(low, order);
        let score = |rank: usize| low[order[rank] as usize].f64();
        // Sums of the highest scores, and how many positives stand below so many.
        let (sums, counts) = scratch.f64.split_at_mut(n + 1);
        let counts = &mut counts[..n];
        sums[0] = 0.0;
        for rank in 0..n {
            sums[rank + 1] = sums[rank] + score(rank);
        }
        counts.fill(0.0);
        // The first of some ranks whose score is not above a bar.
        let end = |mut from: usize, mut to: usize, bar: f64| {
            while from < to {
                let middle = from + (to - from) / 2;
                if score(middle) > bar { from = middle + 1 } else { to = middle }
            }
            from
        };
        let unit = 1.0 / (high.len() as f64 * (n - m) as f64);
        let out = &mut scratch.real[..batch.scores().len()];
        let (of_low, of_high) = out.split_at_mut(low.len());
        let mut value = 0.0;
        for (&s, c) in high.iter().zip(of_high) {
            let s = s.f64();
            let (near, far) = (end(0, m, s), end(m, n, s - 1.0));
            let of = |place: usize| sums[place] - place as f64 * s;
            let past = (far - m) as f64;
            let (place, own) = if far > m && of(far) + past > of(near) { (far, past) } else { (near, 0.0) };
            value += of(place) + own;
            *c = T::of(-(place as f64) * unit);
            if place > 0 {
                counts[place - 1] += 1.0;
            }
        }
        of_low.fill(T::ZERO);
        let mut below = 0.0;
        for rank in (0..n).rev() {
            below += counts[rank];
            of_low[order[rank] as usize] = T::of(below * unit);
        }
        let value = finite("hinge", value * unit)?;
        if let Some(grad) = grad {
            commit(out, grad)?;
        }
        Ok(value)
    }
}

impl<T: Real> Estimator<T> for PaucTight {
    fn needs_all(&self) -> bool {
        true
    }

    fn need(&self, shape: Shape) -> Need {
        Need { real: shape.rows, f64: 2 * shape.rows + 1, u32: shape.rows, ..Need::NONE }
    }

    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        self.most_violated(batch, scratch, None)
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        _: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.most_violated(batch, scratch, Some(grad.scores))
    }
}

impl PaucTight {
    /// From checked settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        Self::new(settings.fpr())
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "svm-pauc-tight",
    title: "SVMpAUC-tight",
    about: "Minimises a convex bound of the partial AUC in a false-positive range (--fpr) over the whole data, for linear models.",
    kind: Kind::Whole,
    metric: Metric::Pauc,
    params: &[
        auto_count("steps", 1, Auto::Model { linear: 500.0, network: 500.0 }, "planes found, at most"),
        rule("cutting-plane", &["cutting-plane"]),
        // As many positives bear a norm as many times as large; a fixed weight learns few of them by heart.
        auto_number(
            "c",
            TINY,
            Auto::Positives(1.0),
            "weight of the bound against half the squared norm of the parameters",
        ),
        number("tolerance", "1e-3", TINY, BIG, "ends when the objective is this near to its least, over c"),
        Param {
            name: "planes",
            about: text("planes kept at most; the least of them make room"),
            domain: Domain::Count { low: 2, high: 10_000 },
            default: "200",
            auto: None,
        },
    ],
    paper: &[],
    source: Source {
        paper: "Narasimhan, Agarwal 2013, SVM pAUC tight: A New Support Vector Method for Optimizing Partial AUC Based on a Tight Convex Upper Bound",
        part: "the bound and its most violated ordering, with the cutting planes of Joachims 2006",
    },
    files: &["core/src/estimator/pauc_tight.rs", "core/src/algorithm/cutting_plane.rs"],
};
