//! Surrogate losses of the margin t = (positive score − other score).
//!
//! One file per loss. Each states value, slope and curvature, finite for every finite margin (values that do not fit
//! saturate at the largest finite number), and its [`Family`], from which the fast pair sums choose their method.

mod exponential;
mod hinge;
mod logistic;
mod ramp;
mod sigmoid;
mod smoothed_hinge;
mod square;
mod squared_hinge;

pub use exponential::Exponential;
pub use hinge::Hinge;
pub use logistic::Logistic;
pub use ramp::Ramp;
pub use sigmoid::Sigmoid;
pub use smoothed_hinge::SmoothedHinge;
pub use square::Square;
pub use squared_hinge::SquaredHinge;

use crate::error::{Error, Result};
use crate::real::Real;

/// How the fast pair sums may treat a surrogate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// Piecewise polynomial in the margin: exact by sorting.
    PiecewisePolynomial,
    /// Smooth on the length scale `scale`: exact to a chosen accuracy by panels.
    Smooth {
        /// The c of ℓ(t) = f(ct).
        scale: f64,
    },
    /// e^(−rate·t): factorises.
    Exponential {
        /// The rate.
        rate: f64,
    },
    /// A polynomial in the margin: closed form.
    Square,
}

/// A loss of the margin, non-increasing in it (except [`Square`] past its margin).
pub trait Surrogate<T: Real>: Copy {
    /// ℓ(t).
    fn value(self, t: T) -> T;
    /// ℓ'(t); at a kink the right-hand derivative's limit 0 for the hinge family.
    fn slope(self, t: T) -> T;
    /// ℓ''(t), 0 at kinks.
    fn curvature(self, t: T) -> T;
    /// How the fast pair sums may treat it.
    fn family(self) -> Family;
    /// (ℓ(t), ℓ'(t) / [`slope_unit`](Self::slope_unit)) in the cheapest form and without saturation, for sums that have
    /// checked that they fit.
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        (self.value(t), self.slope(t))
    }
    /// The same from x = e^(−ct), for the families [`Family::Smooth`] and [`Family::Exponential`] only.
    #[inline(always)]
    fn parts_of_exp(self, x: T) -> (T, T) {
        (x, x)
    }
    /// Whether the parts are ln(1 + x) and x/(1 + x), so that the values of several pairs are one logarithm.
    #[inline(always)]
    fn is_softplus(self) -> bool {
        false
    }
    /// [`parts`](Self::parts) of the margins of one positive with each of the others; the outputs are at least as long.
    fn parts_of_all(self, positive: T, others: &[T], values: &mut [T], slopes: &mut [T]) {
        for ((&other, value), slope) in others.iter().zip(values).zip(slopes) {
            (*value, *slope) = self.parts(positive - other);
        }
    }
    /// [`parts_of_exp`](Self::parts_of_exp) of the products of one factor with each of the others.
    fn parts_of_all_exp(self, factor: T, others: &[T], values: &mut [T], slopes: &mut [T]) {
        for ((&other, value), slope) in others.iter().zip(values).zip(slopes) {
            (*value, *slope) = self.parts_of_exp(factor * other);
        }
    }
    /// The constant factor that [`parts`](Self::parts) leaves out of the slope.
    #[inline(always)]
    fn slope_unit(self) -> T {
        T::ONE
    }
    /// Whether ℓ is non-increasing everywhere, which partial AUC needs.
    fn is_monotone(self) -> bool {
        true
    }
}

/// Every surrogate by value, for choices made at run time. `value` and `slope` of this enum branch per call: hot loops
/// match once and run the generic kernel (see [`with_surrogate`](crate::with_surrogate)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnySurrogate<T> {
    /// (m − t)².
    Square(Square<T>),
    /// max(m − t, 0)².
    SquaredHinge(SquaredHinge<T>),
    /// max(m − t, 0).
    Hinge(Hinge<T>),
    /// ln(1 + e^(−ct)).
    Logistic(Logistic<T>),
    /// 1/(1 + e^(ct)).
    Sigmoid(Sigmoid<T>),
    /// e^(−ct).
    Exponential(Exponential<T>),
    /// Moreau envelope of the hinge.
    SmoothedHinge(SmoothedHinge<T>),
    /// min(1, max(m − t, 0)/m).
    Ramp(Ramp<T>),
}

/// Name, name of the one parameter, and its default, of every surrogate.
pub const SURROGATES: &[(&str, &str, f64)] = &[
    ("square", "margin", 1.0),
    ("squared-hinge", "margin", 1.0),
    ("hinge", "margin", 1.0),
    ("logistic", "scale", 1.0),
    ("sigmoid", "scale", 1.0),
    ("exponential", "scale", 1.0),
    ("smoothed-hinge", "smoothing", 1.0),
    ("ramp", "margin", 1.0),
];

/// Runs an expression with the concrete surrogate inside an [`AnySurrogate`], compiled once for each.
///
/// ```
/// use undercurve::surrogate::{AnySurrogate, Surrogate, SquaredHinge};
/// let loss = AnySurrogate::SquaredHinge(SquaredHinge::new(1.0f64).unwrap());
/// assert_eq!(undercurve::with_surrogate!(loss, s => s.value(0.5)), 0.25);
/// ```
#[macro_export]
macro_rules! with_surrogate {
    ($any:expr, $s:ident => $body:expr) => {
        match $any {
            $crate::surrogate::AnySurrogate::Square($s) => $body,
            $crate::surrogate::AnySurrogate::SquaredHinge($s) => $body,
            $crate::surrogate::AnySurrogate::Hinge($s) => $body,
            $crate::surrogate::AnySurrogate::Logistic($s) => $body,
            $crate::surrogate::AnySurrogate::Sigmoid($s) => $body,
            $crate::surrogate::AnySurrogate::Exponential($s) => $body,
            $crate::surrogate::AnySurrogate::SmoothedHinge($s) => $body,
            $crate::surrogate::AnySurrogate::Ramp($s) => $body,
        }
    };
}

/// [`with_surrogate`](crate::with_surrogate) for the crate's own large kernels; one copy with the feature `compact`.
#[cfg(not(feature = "compact"))]
macro_rules! kernel {
    ($any:expr, $s:ident => $body:expr) => {
        $crate::with_surrogate!($any, $s => $body)
    };
}
#[cfg(feature = "compact")]
macro_rules! kernel {
    ($any:expr, $s:ident => $body:expr) => {{
        let $s = $any;
        $body
    }};
}
pub(crate) use kernel;

impl<T: Real> AnySurrogate<T> {
    /// By registry name. `param` is the margin, the scale or the smoothing (then the margin is 1), as [`SURROGATES`]
    /// says.
    ///
    /// # Errors
    /// `Param` for an unknown name or a parameter out of range (finite, > 0).
    pub fn by_name(name: &str, param: T) -> Result<Self> {
        Ok(match name {
            "square" => Self::Square(Square::new(param)?),
            "squared-hinge" => Self::SquaredHinge(SquaredHinge::new(param)?),
            "hinge" => Self::Hinge(Hinge::new(param)?),
            "logistic" => Self::Logistic(Logistic::new(param)?),
            "sigmoid" => Self::Sigmoid(Sigmoid::new(param)?),
            "exponential" => Self::Exponential(Exponential::new(param)?),
            "smoothed-hinge" => Self::SmoothedHinge(SmoothedHinge::new(T::ONE, param)?),
            "ramp" => Self::Ramp(Ramp::new(param)?),
            _ => return Err(Error::Param { what: "surrogate" }),
        })
    }
}

impl<T: Real> Surrogate<T> for AnySurrogate<T> {
    fn value(self, t: T) -> T {
        with_surrogate!(self, s => s.value(t))
    }
    fn slope(self, t: T) -> T {
        with_surrogate!(self, s => s.slope(t))
    }
    fn curvature(self, t: T) -> T {
        with_surrogate!(self, s => s.curvature(t))
    }
    fn family(self) -> Family {
        with_surrogate!(self, s => s.family())
    }
    fn parts(self, t: T) -> (T, T) {
        with_surrogate!(self, s => s.parts(t))
    }
    fn parts_of_exp(self, x: T) -> (T, T) {
        with_surrogate!(self, s => s.parts_of_exp(x))
    }
    fn is_softplus(self) -> bool {
        with_surrogate!(self, s => Surrogate::<T>::is_softplus(s))
    }
    fn parts_of_all(self, positive: T, others: &[T], values: &mut [T], slopes: &mut [T]) {
        with_surrogate!(self, s => s.parts_of_all(positive, others, values, slopes))
    }
    fn parts_of_all_exp(self, factor: T, others: &[T], values: &mut [T], slopes: &mut [T]) {
        with_surrogate!(self, s => s.parts_of_all_exp(factor, others, values, slopes))
    }
    fn slope_unit(self) -> T {
        with_surrogate!(self, s => s.slope_unit())
    }
    fn is_monotone(self) -> bool {
        with_surrogate!(self, s => Surrogate::<T>::is_monotone(s))
    }
}

/// A finite, positive parameter, or the error that names it.
fn positive<T: Real>(what: &'static str, x: T) -> Result<T> {
    if x.is_finite() && x > T::ZERO { Ok(x) } else { Err(Error::Param { what }) }
}

/// A finite parameter ≥ 0, or the error that names it.
fn non_negative<T: Real>(what: &'static str, x: T) -> Result<T> {
    if x.is_finite() && x >= T::ZERO { Ok(x) } else { Err(Error::Param { what }) }
}
