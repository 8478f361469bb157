//! Sums over pairs that bring their own memory.

use super::{Grade, Sum, need_for, sum, sum_need};
use crate::error::Result;
use crate::metric::Truth;
use crate::real::Real;
use crate::scratch::{Need, Scratch};
use crate::surrogate::AnySurrogate;
use alloc::vec::Vec;

/// Memory for sums over pairs, which grows to the largest input seen and is kept between calls.
///
/// ```
/// use undercurve::pairs::Sums;
/// use undercurve::surrogate::AnySurrogate;
///
/// let (mut sums, mut grad) = (Sums::new(), [0.0f64; 3]);
/// let hinge = AnySurrogate::by_name("hinge", 1.0)?;
/// let value = sums.auc(&[0.3, 1.2, -0.4], &[1, 0, 0], hinge, &mut grad)?;
/// assert!((value - 1.1f64).abs() < 1e-12); // the mean of 1.9 and 0.3
/// assert_eq!(grad, [-1.0, 0.5, 0.5]);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sums {
    grade: Grade,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

impl Sums {
    /// Empty, with [`Grade::Full`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With another accuracy of the smooth losses.
    #[must_use]
    pub fn with_grade(self, grade: Grade) -> Self {
        Self { grade, ..self }
    }

    fn lend(&mut self, need: Need) -> Scratch<'_, f64> {
        if self.f64.len() < need.f64 {
            self.f64.resize(need.f64, 0.0);
        }
        if self.u32.len() < need.u32 {
            self.u32.resize(need.u32, 0);
        }
        if self.u64.len() < need.u64 {
            self.u64.resize(need.u64, 0);
        }
        Scratch { real: &mut [], f64: &mut self.f64, u32: &mut self.u32, u64: &mut self.u64 }
    }

    /// See [`auc`](super::auc).
    ///
    /// # Errors
    /// As there.
    pub fn auc<S: Real, G: Real>(
        &mut self,
        scores: &[S],
        labels: &[u8],
        loss: AnySurrogate<f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        self.sum(Sum::Auc, scores, Truth::new(labels, &[])?, loss, grad)
    }

    /// See [`ap`](super::ap).
    ///
    /// # Errors
    /// As there.
    pub fn ap<S: Real, G: Real>(
        &mut self,
        scores: &[S],
        labels: &[u8],
        loss: AnySurrogate<f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        self.sum(Sum::Ap, scores, Truth::new(labels, &[])?, loss, grad)
    }

    /// Any of the sums, over rows that may have weights: see [`sum`](fn@super::sum).
    ///
    /// # Errors
    /// As there.
    pub fn sum<S: Real, G: Real>(
        &mut self,
        of: Sum,
        scores: &[S],
        truth: Truth<'_>,
        loss: AnySurrogate<f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        let (grade, rows) = (self.grade, truth.labels().len());
        let positives = truth.labels().iter().filter(|&&y| y == 1).count();
        let need = if truth.weights().is_empty() { need_for(of, loss, rows, positives) } else { sum_need(rows) };
        // (More rows than are taken are refused without memory.)
        let scratch = self.lend(if need.f64 == usize::MAX { Need::NONE } else { need });
        sum(of, scores, truth, loss, grade, scratch, grad)
    }
}
