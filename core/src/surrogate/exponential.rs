//! Exponential loss ℓ(t) = e^(−ct).

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Exponential loss ℓ(t) = e^(−ct).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential<T> {
    scale: T,
}

impl<T: Real> Exponential<T> {
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

impl Exponential<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Exponential { rate: self.scale }
    }
}

impl<T: Real> Entry<T> for Exponential<T> {
    const NAME: &'static str = "exponential";
    const PARAM: &'static str = "scale";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = false;
    type In<U: Real> = Exponential<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.scale, T::ZERO]
    }
    fn to<U: Real>(self) -> Exponential<U> {
        Exponential { scale: in_range(self.scale) }
    }
}

impl<T: Real> Surrogate<T> for Exponential<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        (-(self.scale * t)).fading_exp().or_smaller(T::MAX)
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        -(self.scale * (-(self.scale * t)).fading_exp().settled()).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        (self.scale * self.scale * (-(self.scale * t)).fading_exp()).or_smaller(T::MAX)
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        let e = (-(self.scale * t)).fading_exp();
        (e, e.settled())
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -self.scale
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
