//! Hinge ℓ(t) = max(m − t, 0).

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Hinge ℓ(t) = max(m − t, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge<T> {
    margin: T,
}

impl<T: Real> Hinge<T> {
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

impl Hinge<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Hinge { margin: self.margin, square: false }
    }
}

impl<T: Real> Entry<T> for Hinge<T> {
    const NAME: &'static str = "hinge";
    const PARAM: &'static str = "margin";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = true;
    type In<U: Real> = Hinge<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.margin, T::ZERO]
    }
    fn to<U: Real>(self) -> Hinge<U> {
        Hinge { margin: in_range(self.margin) }
    }
}

impl<T: Real> Surrogate<T> for Hinge<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        let d = self.margin - t;
        (if d > T::ZERO { d } else { T::ZERO }).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        if self.margin > t { -T::ONE } else { T::ZERO }
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        let _ = t;
        T::ZERO
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        let d = self.margin - t;
        if d > T::ZERO { (d, T::ONE) } else { (T::ZERO, T::ZERO) }
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -T::ONE
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
