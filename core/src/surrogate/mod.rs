//! Surrogate losses of the margin t = (positive score − other score).
//!
//! One file per loss, with value, slope and curvature, finite for every finite margin (values that overflow saturate at the largest
//! finite number), and its [`Family`], by which pair sums choose their method.

use crate::error::{Error, Result};
use crate::real::Real;

/// What a surrogate is, of what pair sums can use. Every variant but [`Pairs`](Self::Pairs) says which function it is: a loss is summed as
/// its family, so one that is another function is summed wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// Any function: pair by pair.
    Pairs,
    /// (m − t)²: in closed form.
    Square {
        /// m.
        margin: f64,
    },
    /// e^(−ct), which factorises.
    Exponential {
        /// c.
        rate: f64,
    },
    /// max(m − t, 0), or its square: by sorting.
    Hinge {
        /// m.
        margin: f64,
        /// Whether it is the square.
        square: bool,
    },
    /// With d = m − t, 0 for d ≤ 0, and by sorting too: d²/2λ up to d = λ and d − λ/2 beyond it; or d/λ up to λ and 1 beyond it.
    Window {
        /// m.
        margin: f64,
        /// λ.
        width: f64,
        /// The former.
        round: bool,
    },
    /// 1/(1 + e^(ct)): whole data by panels, batches by exponentials of each score.
    Sigmoid {
        /// c.
        scale: f64,
    },
    /// ln(1 + e^(−ct)): likewise.
    Softplus {
        /// c.
        scale: f64,
    },
}

/// A loss of the margin, non-increasing in it (except [`Square`] past its margin).
pub trait Surrogate<T: Real>: Copy {
    /// ℓ(t).
    fn value(self, t: T) -> T;
    /// ℓ'(t); at a kink the right-hand derivative's limit 0 for the hinge family.
    fn slope(self, t: T) -> T;
    /// ℓ''(t), 0 at kinks.
    fn curvature(self, t: T) -> T;
    /// What pair sums may take it for.
    fn family(self) -> Family {
        Family::Pairs
    }
    /// (ℓ(t), ℓ'(t) / [`slope_unit`](Self::slope_unit)) in the cheapest form and without saturation, for sums that have
    /// checked that they fit.
    #[inline(always)]
    fn parts(self, t: T) -> (T, T) {
        (self.value(t), self.slope(t))
    }
    /// [`parts`](Self::parts) of the margins of one positive with each of the others; the outputs are at least as long.
    fn parts_of_all(self, positive: T, others: &[T], values: &mut [T], slopes: &mut [T]) {
        for ((&other, value), slope) in others.iter().zip(values).zip(slopes) {
            (*value, *slope) = self.parts(positive - other);
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

/// What the list of surrogates knows of each.
trait Entry<T: Real>: Surrogate<T> {
    /// In `--set surrogate=`.
    const NAME: &'static str;
    /// The name of its one parameter.
    const PARAM: &'static str;
    /// That parameter's default.
    const DEFAULT: f64;
    /// Whether |ℓ'| has a bound.
    const BOUNDED_SLOPE: bool;
    /// The same in another number type.
    type In<U: Real>;
    /// With its parameter.
    fn of(param: T) -> Result<Self>;
    /// Its margin or scale, and its smoothing, 0 where there is none.
    fn numbers(self) -> [T; 2];
    /// In another number type.
    fn to<U: Real>(self) -> Self::In<U>;
}

/// A parameter in another number type; what is outside its range becomes the nearest in it.
fn in_range<T: Real, U: Real>(x: T) -> U {
    let y = U::of(x.f64()).or_smaller(U::MAX);
    if y > U::ZERO || x == T::ZERO { y } else { U::TINY }
}

/// The list of surrogates, and what follows from it.
macro_rules! surrogates {
    ($d:tt $($file:ident::$Name:ident $about:literal)*) => {
        $(mod $file;
        pub use $file::$Name;)*

        /// Every surrogate by value, for choices made at run time. `value` and `slope` of this enum branch per call: hot
        /// loops match once and run the generic kernel (see `with_surrogate`).
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AnySurrogate<T> {
            $(#[doc = $about]
            $Name($Name<T>),)*
        }

        /// Names of the surrogates.
        pub const SURROGATE_NAMES: &[&str] = &[$(<$Name<f64> as Entry<f64>>::NAME),*];

        /// Name, name of the one parameter, and its default, of every surrogate.
        pub const SURROGATES: &[(&str, &str, f64)] = &[
            $((<$Name<f64> as Entry<f64>>::NAME, <$Name<f64> as Entry<f64>>::PARAM, <$Name<f64> as Entry<f64>>::DEFAULT)),*
        ];

        $(impl<T> From<$Name<T>> for AnySurrogate<T> {
            fn from(loss: $Name<T>) -> Self {
                Self::$Name(loss)
            }
        }

        impl Held for $Name<f64> {
            #[inline]
            fn lend<T: Real, U: Use<T>>(self, to: U) -> U::Output {
                to.with(Entry::<f64>::to::<T>(self))
            }
        })*

        impl AnySurrogate<f64> {
            pub(crate) const fn family(self) -> Family {
                match self {
                    $(Self::$Name(s) => s.family(),)*
                }
            }
        }

        /// What [`with_surrogate`](crate::with_surrogate) is inside this crate.
        macro_rules! each_surrogate {
            ($d any:expr, $d s:ident => $d body:expr) => {
                match $d any {
                    $($d crate::surrogate::AnySurrogate::$Name($d s) => $d body,)*
                }
            };
        }

        /// Runs an expression with the concrete surrogate inside an [`AnySurrogate`](crate::surrogate::AnySurrogate), compiled once for each.
        ///
        /// ```
        /// use undercurve::surrogate::{AnySurrogate, Surrogate, SquaredHinge};
        /// let loss = AnySurrogate::SquaredHinge(SquaredHinge::new(1.0f64).unwrap());
        /// assert_eq!(undercurve::with_surrogate!(loss, s => s.value(0.5)), 0.25);
        /// ```
        #[macro_export]
        macro_rules! with_surrogate {
            ($d any:expr, $d s:ident => $d body:expr) => {
                match $d any {
                    $($d crate::surrogate::AnySurrogate::$Name($d s) => $d body,)*
                }
            };
        }

        impl<T: Real> AnySurrogate<T> {
            /// By registry name. `param` is the margin, the scale or the smoothing (then the margin is 1), as
            /// [`SURROGATES`] says.
            ///
            /// # Errors
            /// `Param` for an unknown name or a parameter out of range (finite, > 0; 0 is a margin of `square`).
            pub fn by_name(name: &str, param: T) -> Result<Self> {
                $(if name == <$Name<T> as Entry<T>>::NAME {
                    return Ok(Self::$Name(Entry::of(param)?));
                })*
                Err(Error::Param { what: "surrogate" })
            }

            /// The name that [`by_name`](Self::by_name) knows it by.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Name(_) => <$Name<T> as Entry<T>>::NAME,)*
                }
            }

            /// Its margin or scale, and its smoothing, 0 where there is none.
            #[must_use]
            pub fn numbers(self) -> [T; 2] {
                each_surrogate!(self, s => Entry::numbers(s))
            }

            /// What [`by_name`](Self::by_name) takes.
            #[must_use]
            pub fn param(self) -> T {
                let [number, smoothing] = self.numbers();
                if smoothing > T::ZERO { smoothing } else { number }
            }

            /// Whether |ℓ'| has a bound.
            #[must_use]
            pub fn has_bounded_slope(self) -> bool {
                match self {
                    $(Self::$Name(_) => <$Name<T> as Entry<T>>::BOUNDED_SLOPE,)*
                }
            }

            /// The same in another number type; a parameter past its range becomes the nearest in it.
            #[must_use]
            pub fn to<U: Real>(self) -> AnySurrogate<U> {
                match self {
                    $(Self::$Name(s) => AnySurrogate::$Name(s.to()),)*
                }
            }
        }
    };
}

/// `with_surrogate` for the crate's own large kernels; one copy with the feature `compact`.
#[cfg(not(feature = "compact"))]
macro_rules! kernel {
    ($any:expr, $s:ident => $body:expr) => {
        $crate::surrogate::each_surrogate!($any, $s => $body)
    };
}
#[cfg(feature = "compact")]
macro_rules! kernel {
    ($any:expr, $s:ident => $body:expr) => {{
        let $s = $any;
        $body
    }};
}
/// ℓ(0).
pub(crate) struct AtZero<T>(core::marker::PhantomData<T>);

impl<T: Real> AtZero<T> {
    pub(crate) fn new() -> Self {
        Self(core::marker::PhantomData)
    }
}

impl<T: Real> Use<T> for AtZero<T> {
    type Output = T;
    fn with<S: Surrogate<T>>(self, loss: S) -> T {
        loss.value(T::ZERO)
    }
}

/// Not named outside: what a [`Loss`] has to do stays the crate's own.
mod held {
    use super::{Real, Surrogate};

    /// What is done with a surrogate once it is known which, and in which number type: compiled for each.
    pub trait Use<T: Real> {
        /// What it returns.
        type Output;
        /// Does it.
        fn with<S: Surrogate<T>>(self, loss: S) -> Self::Output;
    }

    /// What estimators ask of a loss.
    pub trait Held {
        /// Calls it with the surrogate in this number type.
        fn lend<T: Real, U: Use<T>>(self, to: U) -> U::Output;
    }
}
pub(crate) use held::{Held, Use};

/// A surrogate that an estimator holds: [`AnySurrogate`], the default, or one of this module's. With one that is named, nothing
/// of the others is compiled.
///
/// ```
/// use undercurve::estimator::{Soap, SoapSettings};
/// use undercurve::surrogate::{AnySurrogate, Sigmoid};
///
/// let chosen_when_it_runs = Soap::new(SoapSettings::of(AnySurrogate::by_name("sigmoid", 2.0)?))?;
/// let this_one_alone = Soap::new(SoapSettings::of(Sigmoid::DOUBLE))?;
/// assert_eq!(this_one_alone.any(), chosen_when_it_runs);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub trait Loss: Copy + Into<AnySurrogate<f64>> + Held {}

impl<S: Copy + Into<AnySurrogate<f64>> + Held> Loss for S {}

impl Held for AnySurrogate<f64> {
    #[inline]
    fn lend<T: Real, U: Use<T>>(self, to: U) -> U::Output {
        kernel!(self.to::<T>(), loss => to.with(loss))
    }
}

surrogates! { $
    square::Square "(m − t)²."
    squared_hinge::SquaredHinge "max(m − t, 0)²."
    hinge::Hinge "max(m − t, 0)."
    logistic::Logistic "ln(1 + e^(−ct))."
    sigmoid::Sigmoid "1/(1 + e^(ct))."
    exponential::Exponential "e^(−ct)."
    smoothed_hinge::SmoothedHinge "Moreau envelope of the hinge."
    ramp::Ramp "min(1, max(m − t, 0)/m)."
}

pub(crate) use {each_surrogate, kernel};

impl<T: Real> Surrogate<T> for AnySurrogate<T> {
    fn value(self, t: T) -> T {
        each_surrogate!(self, s => s.value(t))
    }
    fn slope(self, t: T) -> T {
        each_surrogate!(self, s => s.slope(t))
    }
    fn curvature(self, t: T) -> T {
        each_surrogate!(self, s => s.curvature(t))
    }
    fn family(self) -> Family {
        each_surrogate!(self, s => s.family())
    }
    fn parts(self, t: T) -> (T, T) {
        each_surrogate!(self, s => s.parts(t))
    }
    fn parts_of_all(self, positive: T, others: &[T], values: &mut [T], slopes: &mut [T]) {
        each_surrogate!(self, s => s.parts_of_all(positive, others, values, slopes))
    }
    fn slope_unit(self) -> T {
        each_surrogate!(self, s => s.slope_unit())
    }
    fn is_monotone(self) -> bool {
        each_surrogate!(self, s => Surrogate::<T>::is_monotone(s))
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
