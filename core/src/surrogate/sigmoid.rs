//! Sigmoid loss ℓ(t) = 1/(1 + e^(ct)) = σ(−ct): bounded, non-convex.

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Sigmoid loss ℓ(t) = 1/(1 + e^(ct)) = σ(−ct): bounded, non-convex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigmoid<T> {
    scale: T,
}

impl<T: Real> Sigmoid<T> {
    /// With its scale, finite and > 0.
    ///
    /// # Errors
    /// `Param` when it is outside that range.
    pub fn new(scale: T) -> Result<Self> {
        Ok(Self { scale: positive("scale", scale)? })
    }

    /// The scale.
    #[must_use]
    pub fn scale(self) -> T {
        self.scale
    }
}

impl Sigmoid<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Sigmoid { scale: self.scale }
    }

    /// With the scale 1.
    pub const UNIT: Self = Self { scale: 1.0 };
    /// With the scale 2, the default of the methods for the average precision.
    pub const DOUBLE: Self = Self { scale: 2.0 };
}

impl<T: Real> Entry<T> for Sigmoid<T> {
    const NAME: &'static str = "sigmoid";
    const PARAM: &'static str = "scale";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = true;
    type In<U: Real> = Sigmoid<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.scale, T::ZERO]
    }
    fn to<U: Real>(self) -> Sigmoid<U> {
        Sigmoid { scale: in_range(self.scale) }
    }
}

impl<T: Real> Surrogate<T> for Sigmoid<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        (-(self.scale * t)).sigmoid()
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        let s = (-(self.scale * t)).sigmoid();
        let r = (self.scale * t).sigmoid();
        -(self.scale * s.settled() * r.settled())
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        let s = (-(self.scale * t)).sigmoid();
        let r = (self.scale * t).sigmoid();
        self.scale * self.scale * s * r * (r - s)
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        let z = self.scale * t;
        let s = (-z).sigmoid();
        (s, (s * z.sigmoid()).settled())
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -self.scale
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
