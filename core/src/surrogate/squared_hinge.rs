//! Squared hinge ℓ(t) = max(m − t, 0)²: what the SOAP paper takes.

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Squared hinge ℓ(t) = max(m − t, 0)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SquaredHinge<T> {
    margin: T,
}

impl<T: Real> SquaredHinge<T> {
    /// With its margin, finite and > 0.
    ///
    /// # Errors
    /// `Param` when it is outside that range.
    pub fn new(margin: T) -> Result<Self> {
        Ok(Self { margin: positive("margin", margin)? })
    }

    /// The margin.
    #[must_use]
    pub fn margin(self) -> T {
        self.margin
    }
}

impl SquaredHinge<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Hinge { margin: self.margin, square: true }
    }

    /// With the margin 1.
    pub const UNIT: Self = Self { margin: 1.0 };
}

impl<T: Real> Entry<T> for SquaredHinge<T> {
    const NAME: &'static str = "squared-hinge";
    const PARAM: &'static str = "margin";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = false;
    type In<U: Real> = SquaredHinge<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.margin, T::ZERO]
    }
    fn to<U: Real>(self) -> SquaredHinge<U> {
        SquaredHinge { margin: in_range(self.margin) }
    }
}

impl<T: Real> Surrogate<T> for SquaredHinge<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        let d = self.margin - t;
        let d = if d > T::ZERO { d } else { T::ZERO };
        (d * d).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        let d = self.margin - t;
        let d = if d > T::ZERO { d } else { T::ZERO };
        -(d + d).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        if self.margin > t { T::of(2.0) } else { T::ZERO }
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        let d = self.margin - t;
        let d = if d > T::ZERO { d } else { T::ZERO };
        (d * d, d)
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        T::of(-2.0)
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
