//! What a row of whole data is: a positive, or a negative with a weight; the rows that a sum is over, and the range of their scores.

use crate::error::{Result, all_finite};
use crate::real::Real;

/// A label, or a weight in its place.
pub(super) trait Class: Copy + Send + Sync {
    /// Whether weights other than 1 occur.
    const WEIGHTED: bool;
    fn is_positive(self) -> bool;
    /// Weight of a negative, ≥ 0; 0 for a positive.
    fn weight(self) -> f64;
    /// Weight of a row of either class.
    fn mass(self) -> f64;
}

/// 1 for a positive, 0 for a negative.
impl Class for u8 {
    const WEIGHTED: bool = false;
    #[inline(always)]
    fn is_positive(self) -> bool {
        self == 1
    }
    #[inline(always)]
    fn weight(self) -> f64 {
        f64::from(self ^ 1)
    }
    #[inline(always)]
    fn mass(self) -> f64 {
        1.0
    }
}

/// 1 for a positive, 0 for a negative, where labels are made in working memory.
impl Class for u32 {
    const WEIGHTED: bool = false;
    #[inline(always)]
    fn is_positive(self) -> bool {
        self == 1
    }
    #[inline(always)]
    fn weight(self) -> f64 {
        f64::from(self ^ 1)
    }
    #[inline(always)]
    fn mass(self) -> f64 {
        1.0
    }
}

/// The weight of a negative, or less than 0 by the weight of a positive.
impl Class for f64 {
    const WEIGHTED: bool = true;
    #[inline(always)]
    fn is_positive(self) -> bool {
        self < 0.0
    }
    #[inline(always)]
    fn weight(self) -> f64 {
        if self > 0.0 { self } else { 0.0 }
    }
    #[inline(always)]
    fn mass(self) -> f64 {
        self.abs()
    }
}

/// Smallest and largest score.
pub(super) type Range = (f64, f64);

/// Checked rows of whole data: all scores finite, and both classes there.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, S, Y> {
    pub scores: &'a [S],
    pub labels: &'a [Y],
    pub positives: usize,
    pub range: Range,
}

impl<S, Y> Rows<'_, S, Y> {
    pub fn len(&self) -> usize {
        self.scores.len()
    }
}

/// Smallest and largest score, in one pass with the check that all are finite.
///
/// # Errors
/// `NonFinite`.
pub(super) fn finite_range<S: Real>(scores: &[S]) -> Result<Range> {
    let first = scores.first().copied().unwrap_or(S::ZERO);
    let (mut low, mut high, mut sums) = ([first; 8], [first; 8], [S::ZERO; 8]);
    let (chunks, rest) = scores.as_chunks::<8>();
    for chunk in chunks {
        for l in 0..8 {
            low[l] = low[l].or_smaller(chunk[l]);
            high[l] = high[l].or_larger(chunk[l]);
            // 0·x is 0 for finite x and NaN otherwise.
            sums[l] += S::ZERO * chunk[l];
        }
    }
    for &s in rest {
        low[0] = low[0].or_smaller(s);
        high[0] = high[0].or_larger(s);
        sums[0] += S::ZERO * s;
    }
    if sums.iter().any(|&sum| sum != S::ZERO) {
        all_finite("scores", scores)?;
    }
    let low = low.into_iter().fold(first, Real::or_smaller);
    let high = high.into_iter().fold(first, Real::or_larger);
    Ok((low.f64(), high.f64()))
}
