//! Logistic loss ℓ(t) = ln(1 + e^(−ct)).

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Logistic loss ℓ(t) = ln(1 + e^(−ct)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic<T> {
    scale: T,
}

impl<T: Real> Logistic<T> {
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

impl Logistic<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Softplus { scale: self.scale }
    }
}

impl<T: Real> Entry<T> for Logistic<T> {
    const NAME: &'static str = "logistic";
    const PARAM: &'static str = "scale";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = true;
    type In<U: Real> = Logistic<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.scale, T::ZERO]
    }
    fn to<U: Real>(self) -> Logistic<U> {
        Logistic { scale: in_range(self.scale) }
    }
}

impl<T: Real> Surrogate<T> for Logistic<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        (-(self.scale * t)).or_smaller(T::MAX).softplus()
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        -(self.scale * (-(self.scale * t)).sigmoid().settled())
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        let s = (self.scale * t).sigmoid();
        let r = (-(self.scale * t)).sigmoid();
        self.scale * self.scale * s * r
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        let z = -(self.scale * t);
        (z.softplus(), z.sigmoid().settled())
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -self.scale
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
