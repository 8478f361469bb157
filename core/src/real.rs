//! The two floating-point types of the crate, with transcendental functions that give the same bits everywhere.

use core::fmt::{Debug, Display};
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Exactly `f32` and `f64`.
///
/// Transcendental functions come from `libm` compiled into the program, never from the platform, whose last bits
/// differ between systems. Nothing is contracted to a fused multiply-add.
pub trait Real:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + Display
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + MulAssign
    + Div<Output = Self>
    + DivAssign
    + Neg<Output = Self>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The largest finite value.
    const MAX: Self;
    /// The gap between 1 and the next larger value.
    const EPSILON: Self;
    /// Bytes of one value, for checkpoints and device buffers.
    const BYTES: usize;

    /// The value's bits, little end first, in the first [`BYTES`](Self::BYTES) bytes.
    fn to_le(self) -> [u8; 8];
    /// A value from its bits, of which the first [`BYTES`](Self::BYTES) count.
    fn from_le(bytes: [u8; 8]) -> Self;
    /// Rounds an `f64` to this type.
    fn of(x: f64) -> Self;
    /// Widens to `f64`, exactly.
    fn f64(self) -> f64;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + self), accurate near 0.
    fn ln_1p(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// An unsigned key in the order of the values, −0 and +0 sharing one key. NaN has no meaningful key.
    fn key(self) -> u64;
    /// The value of a key (+0 for the key of both zeros). Meaningful only for what [`Real::key`] returned for this type.
    fn of_key(key: u64) -> Self;

    /// The larger of the two (`self` where they compare equal or `other` is NaN).
    #[inline(always)]
    fn or_larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
    /// The smaller of the two (`self` where they compare equal or `other` is NaN).
    #[inline(always)]
    fn or_smaller(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    /// 1/(1 + e^−x), without overflow for any finite x.
    #[inline]
    fn sigmoid(self) -> Self {
        if self >= Self::ZERO {
            Self::ONE / (Self::ONE + (-self).exp())
        } else {
            let e = self.exp();
            e / (Self::ONE + e)
        }
    }
    /// ln(1 + e^x), without overflow for any finite x.
    #[inline]
    fn softplus(self) -> Self {
        if self > Self::ZERO { self + (-self).exp().ln_1p() } else { self.exp().ln_1p() }
    }
}

macro_rules! real {
    ($t:ty, $bits:ty, $exp:path, $ln:path, $ln_1p:path, $tanh:path, $sqrt:path) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const MAX: Self = <$t>::MAX;
            const EPSILON: Self = <$t>::EPSILON;
            const BYTES: usize = size_of::<$t>();

            fn to_le(self) -> [u8; 8] {
                u64::from(self.to_bits()).to_le_bytes()
            }
            fn from_le(bytes: [u8; 8]) -> Self {
                Self::from_bits(u64::from_le_bytes(bytes) as $bits)
            }
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline]
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            #[inline]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
            #[inline(always)]
            fn key(self) -> u64 {
                const TOP: $bits = 1 << (<$bits>::BITS - 1);
                let bits = (self + 0.0).to_bits(); // −0 + 0 is +0
                u64::from(if bits & TOP == 0 { bits | TOP } else { !bits })
            }
            #[inline(always)]
            fn of_key(key: u64) -> Self {
                const TOP: $bits = 1 << (<$bits>::BITS - 1);
                let key = key as $bits;
                <$t>::from_bits(if key & TOP == 0 { !key } else { key ^ TOP })
            }
        }
    };
}
real!(f32, u32, libm::expf, libm::logf, libm::log1pf, libm::tanhf, libm::sqrtf);
real!(f64, u64, libm::exp, libm::log, libm::log1p, libm::tanh, libm::sqrt);
