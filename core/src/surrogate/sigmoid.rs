//! Sigmoid loss ℓ(t) = 1/(1 + e^(ct)) = σ(−ct): bounded, non-convex.

use super::{Family, Surrogate, positive};
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
    fn parts_of_exp(self, x: T) -> (T, T) {
        let r = T::ONE / (T::ONE + x);
        let s = x * r;
        (s, (s * r).settled())
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -self.scale
    }
    fn family(self) -> Family {
        Family::Smooth { scale: self.scale.f64() }
    }
}
