//! Ramp ℓ(t) = min(1, max(m − t, 0)/m): bounded, non-convex.

use super::{Entry, Family, Surrogate, in_range, positive};
use crate::{Real, Result};

/// Ramp ℓ(t) = min(1, max(m − t, 0)/m): bounded, non-convex. It is 1 for t ≤ 0, 0 for t ≥ m, and linear between.
///
/// At t = 0, where both slopes are its own, it takes −1/m: with 0 no pair of equal scores would ever part, and the scores of
/// a linear model are equal at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp<T> {
    margin: T,
}

impl<T: Real> Ramp<T> {
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

impl Ramp<f64> {
    pub(super) const fn family(self) -> Family {
        Family::Window { margin: self.margin, width: self.margin, round: false }
    }
}

impl<T: Real> Entry<T> for Ramp<T> {
    const NAME: &'static str = "ramp";
    const PARAM: &'static str = "margin";
    const DEFAULT: f64 = 1.0;
    const BOUNDED_SLOPE: bool = true;
    type In<U: Real> = Ramp<U>;

    fn of(param: T) -> Result<Self> {
        Self::new(param)
    }
    fn numbers(self) -> [T; 2] {
        [self.margin, T::ZERO]
    }
    fn to<U: Real>(self) -> Ramp<U> {
        Ramp { margin: in_range(self.margin) }
    }
}

impl<T: Real> Surrogate<T> for Ramp<T> {
    #[inline(always)]
    fn value(self, t: T) -> T {
        if t > T::ZERO {
            let d = self.margin - t;
            if d > T::ZERO { d / self.margin } else { T::ZERO }
        } else {
            T::ONE
        }
    }
    #[inline(always)]
    fn slope(self, t: T) -> T {
        if t >= T::ZERO && t < self.margin { -(T::ONE / self.margin).or_smaller(T::MAX) } else { T::ZERO }
    }
    #[inline(always)]
    fn curvature(self, t: T) -> T {
        let _ = t;
        T::ZERO
    }
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        // One reciprocal for all pairs, and no branch.
        let d = self.margin - t;
        let inside = if d > T::ZERO { d * (T::ONE / self.margin) } else { T::ZERO };
        let slope = if d > T::ZERO { T::ONE } else { T::ZERO };
        if t >= T::ZERO { (inside, slope) } else { (T::ONE, T::ZERO) }
    }
    #[inline(always)]
    fn slope_unit(self) -> T {
        -(T::ONE / self.margin).or_smaller(T::MAX)
    }
    fn family(self) -> Family {
        self.to::<f64>().family()
    }
}
