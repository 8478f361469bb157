//! Smoothed hinge: the Moreau envelope of max(m − t, 0) with parameter λ.

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Smoothed hinge: the Moreau envelope of max(m − t, 0) with parameter λ. With d = m − t it is 0 for d ≤ 0,
/// d²/(2λ) up to d = λ, and d − λ/2 beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothedHinge<T> {
    margin: T,
    smoothing: T,
}

impl<T: Real> SmoothedHinge<T> {
    /// With its margin m and smoothing λ, both finite and > 0.
    ///
    /// # Errors
    /// `Param` when one is outside that range.
    pub fn new(margin: T, smoothing: T) -> Result<Self> {
        Ok(Self { margin: positive("margin", margin)?, smoothing: positive("smoothing", smoothing)? })
    }

    /// The margin.
    #[must_use]
    pub fn margin(self) -> T {
        self.margin
    }

    /// The width λ of the quadratic part.
    #[must_use]
    pub fn smoothing(self) -> T {
        self.smoothing
    }
}

impl SmoothedHinge<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Window { margin: self.margin, width: self.smoothing, round: true }
    }
}

impl<T: Real> Entry<T> for SmoothedHinge<T> {
    const NAME: &'static str = "smoothed-hinge";
    const PARAM: &'static str = "smoothing";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = true;
    type In<U: Real> = SmoothedHinge<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(T::ONE, param)
    }
    fn numbers(self) -> [T; 2] {
        [self.margin, self.smoothing]
    }
    fn to<U: Real>(self) -> SmoothedHinge<U> {
        SmoothedHinge { margin: in_range(self.margin), smoothing: in_range(self.smoothing) }
    }
}

impl<T: Real> Surrogate<T> for SmoothedHinge<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        let d = self.margin - t;
        let d = if d > T::ZERO { d } else { T::ZERO };
        let inside = d.or_smaller(self.smoothing);
        // d − λ/2 beyond λ; inside, d·d/(2λ).
        ((d - inside) + T::of(0.5) * inside * (inside / self.smoothing)).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        let d = self.margin - t;
        let d = if d > T::ZERO { d } else { T::ZERO };
        -(d.or_smaller(self.smoothing) / self.smoothing)
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        let d = self.margin - t;
        if d > T::ZERO && d < self.smoothing { (T::ONE / self.smoothing).or_smaller(T::MAX) } else { T::ZERO }
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        // One reciprocal for all pairs; it is finite, as a width below `TINY` is none beside any other number.
        let smoothing = self.smoothing.or_larger(T::TINY);
        let d = self.margin - t;
        let d = if d > T::ZERO { d } else { T::ZERO };
        let inside = if d < smoothing { d } else { smoothing };
        let slope = inside * (T::ONE / smoothing);
        ((d - inside) + T::of(0.5) * inside * slope, slope)
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -T::ONE
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
