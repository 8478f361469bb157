//! Square loss ℓ(t) = (m − t)²: not monotone past t = m.

use super::{Entry, Family, Surrogate, in_range, non_negative};
use crate::{Real, Result};

/// Square loss ℓ(t) = (m − t)²: not monotone past t = m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Square<T> {
    margin: T,
}

impl<T: Real> Square<T> {
    /// With its margin, finite and ≥ 0.
    ///
    /// # Errors
    /// `Param` when it is outside that range.
    pub fn new(margin: T) -> Result<Self> {
        Ok(Self { margin: non_negative("margin", margin)? })
    }

    /// The margin.
    #[must_use]
    pub fn margin(self) -> T {
        self.margin
    }
}

impl Square<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Square { margin: self.margin }
    }
}

impl<T: Real> Entry<T> for Square<T> {
    const NAME: &'static str = "square";
    const PARAM: &'static str = "margin";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = false;
    type In<U: Real> = Square<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.margin, T::ZERO]
    }
    fn to<U: Real>(self) -> Square<U> {
        Square { margin: in_range(self.margin) }
    }
}

impl<T: Real> Surrogate<T> for Square<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        let d = self.margin - t;
        (d * d).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        (-(T::of(2.0) * (self.margin - t))).or_larger(-T::MAX).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        let _ = t;
        T::of(2.0)
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        let d = self.margin - t;
        (d * d, d)
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        T::of(-2.0)
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
    fn is_monotone(self) -> bool {
        false
    }
}
