//! What a row of whole data is: a positive, or a negative with a weight; and the range of its scores.

use crate::real::Real;

/// A label, or a weight in its place.
pub(super) trait Class: Copy {
    /// Whether weights other than 1 occur.
    const WEIGHTED: bool;
    fn is_positive(self) -> bool;
    /// Weight of a negative, ≥ 0; 0 for a positive.
    fn weight(self) -> f64;
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
}

/// The weight of a negative, or a number below 0 for a positive.
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
}

/// Smallest and largest score.
pub(super) fn range<S: Real>(scores: &[S]) -> (f64, f64) {
    let first = scores.first().copied().unwrap_or(S::ZERO);
    let (mut low, mut high) = ([first; 8], [first; 8]);
    let (chunks, rest) = scores.as_chunks::<8>();
    for chunk in chunks {
        for l in 0..8 {
            low[l] = low[l].or_smaller(chunk[l]);
            high[l] = high[l].or_larger(chunk[l]);
        }
    }
    for &s in rest {
        low[0] = low[0].or_smaller(s);
        high[0] = high[0].or_larger(s);
    }
    let low = low.into_iter().fold(first, Real::or_smaller);
    let high = high.into_iter().fold(first, Real::or_larger);
    (low.f64(), high.f64())
}
