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
    /// The least normal number / [`EPSILON`](Self::EPSILON): what is smaller is noise, and about to become slow to compute with.
    const TINY: Self;
    /// About √[`TINY`](Self::TINY), 2⁻⁵² and 2⁻⁴⁸⁵: the product of two values as large is far from subnormal.
    const FAINT: Self;
    /// e to the power of −`FADED` counts as 0 in [`fading_exp`](Self::fading_exp).
    const FADED: Self;
    /// Bytes of one value, for checkpoints and device buffers.
    const BYTES: usize;
    /// Values may lie this far apart, and half of it on either side of 0, for [`exp_in_span`](Self::exp_in_span).
    const EXP_SPAN: Self;

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
    /// e to the power of `self` for |`self`| ≤ [`EXP_SPAN`](Self::EXP_SPAN), without branches, so that loops over it
    /// use vector registers; the error is below 4 units in the last place. Outside that range the value is
    /// meaningless.
    fn exp_in_span(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + self), accurate near 0.
    fn ln_1p(self) -> Self;
    /// ln(1 + self) for 0 ≤ `self` ≤ e^[`EXP_SPAN`](Self::EXP_SPAN), without branches like
    /// [`exp_in_span`](Self::exp_in_span) and to the same accuracy. Outside that range the value is meaningless.
    fn ln_1p_in_span(self) -> Self;
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
    /// `self`, or 0 where it is smaller than [`FAINT`](Self::FAINT). Training steps pass through here what fades when a
    /// loss vanishes, before they multiply it: with subnormal numbers many processors compute a hundred times slower.
    #[inline(always)]
    fn settled(self) -> Self {
        self.settled_below(Self::FAINT)
    }
    /// `self`, or 0 where it is smaller than `least`.
    #[inline(always)]
    fn settled_below(self, least: Self) -> Self {
        if self.abs() < least { Self::ZERO } else { self }
    }
    /// Rounds an `f64` to this type, what is smaller than [`TINY`](Self::TINY) to 0.
    #[inline(always)]
    fn settled_of(x: f64) -> Self {
        Self::of(x.settled_below(Self::TINY.f64()))
    }
    /// e to the power of `self`, or 0 where that is less than e to the power of −[`FADED`](Self::FADED).
    #[inline]
    fn fading_exp(self) -> Self {
        if self < -Self::FADED { Self::ZERO } else { self.exp() }
    }
    /// 1/(1 + e^−x), without overflow for any finite x; 0 for x < −[`FADED`](Self::FADED).
    #[inline]
    fn sigmoid(self) -> Self {
        if self >= Self::ZERO {
            Self::ONE / (Self::ONE + (-self).fading_exp())
        } else {
            let e = self.fading_exp();
            e / (Self::ONE + e)
        }
    }
    /// ln(1 + e^x), without overflow for any finite x; 0 for x < −[`FADED`](Self::FADED).
    #[inline]
    fn softplus(self) -> Self {
        if self > Self::ZERO { self + (-self).fading_exp().ln_1p() } else { self.fading_exp().ln_1p() }
    }
}

/// The instruction for a square root, which Rust offers without `std` only for vectors.
#[cfg(all(not(feature = "std"), target_arch = "wasm32", target_feature = "simd128"))]
mod lane {
    use core::arch::wasm32::{
        f32x4_extract_lane, f32x4_splat, f32x4_sqrt, f64x2_extract_lane, f64x2_splat, f64x2_sqrt,
    };

    #[inline(always)]
    pub fn sqrt_f32(x: f32) -> f32 {
        f32x4_extract_lane::<0>(f32x4_sqrt(f32x4_splat(x)))
    }
    #[inline(always)]
    pub fn sqrt_f64(x: f64) -> f64 {
        f64x2_extract_lane::<0>(f64x2_sqrt(f64x2_splat(x)))
    }
}

/// 1/k! for k = 0, 1, …
const fn inverse_factorials<const N: usize>() -> [f64; N] {
    let mut out = [1.0; N];
    let mut k = 1;
    while k < N {
        out[k] = out[k - 1] / k as f64;
        k += 1;
    }
    out
}

macro_rules! real {
    ($t:ty, $bits:ty, $span:literal, $faint:expr, $faded:literal, $terms:literal, $ln2_high:literal, $ln2_low:literal, $atanh:literal, $exp:path, $ln:path, $ln_1p:path, $tanh:path, $sqrt:path, $sqrt_lane:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const MAX: Self = <$t>::MAX;
            const EPSILON: Self = <$t>::EPSILON;
            const TINY: Self = <$t>::MIN_POSITIVE / <$t>::EPSILON;
            const BYTES: usize = size_of::<$t>();
            const EXP_SPAN: Self = $span;
            const FAINT: Self = $faint;
            const FADED: Self = $faded;

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
            #[inline(always)]
            fn exp_in_span(self) -> Self {
                const SERIES: [f64; $terms] = inverse_factorials();
                const HIGH: $t = $ln2_high; // ln 2 with enough trailing zeros that k·HIGH is exact
                const LOW: $t = $ln2_low;
                const STEP: u32 = <$t>::MANTISSA_DIGITS - 1;
                const ROUND: $t = (3 as $bits << (STEP - 1)) as $t; // adding it rounds to an integer
                let shifted = self * core::f64::consts::LOG2_E as $t + ROUND;
                let k = shifted - ROUND;
                let r = (self - k * HIGH) - k * LOW;
                let mut sum = SERIES[$terms - 1] as $t;
                for n in (0..$terms - 1).rev() {
                    sum = sum * r + SERIES[n] as $t;
                }
                <$t>::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << STEP))
            }
            #[inline]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline]
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            #[inline(always)]
            fn ln_1p_in_span(self) -> Self {
                const STEP: u32 = <$t>::MANTISSA_DIGITS - 1;
                const HALF_ROOT: $bits = (core::f64::consts::FRAC_1_SQRT_2 as $t).to_bits();
                const BASE: $t = (1 as $bits << STEP) as $t; // its low bits count in ones
                let u = self + 1.0;
                // u = m·2^k with m from √½ to √2.
                let k = (u.to_bits() - HALF_ROOT) >> STEP;
                let m = <$t>::from_bits(u.to_bits() - (k << STEP));
                let k = <$t>::from_bits(BASE.to_bits() | k) - BASE;
                let s = (m - 1.0) / (m + 1.0);
                let z = s * s;
                let mut sum = 0.0;
                for n in (0..$atanh).rev() {
                    sum = sum * z + (1.0 / (2 * n + 1) as f64) as $t;
                }
                let lost = (self - (u - 1.0)) / u;
                k * core::f64::consts::LN_2 as $t + (2.0 * s * sum + lost)
            }
            #[inline]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // IEEE 754 fixes every bit of a square root; the platform's can be vectorised.
                #[cfg(feature = "std")]
                return <$t>::sqrt(self);
                #[cfg(all(not(feature = "std"), target_arch = "wasm32", target_feature = "simd128"))]
                return lane::$sqrt_lane(self);
                #[cfg(all(not(feature = "std"), not(all(target_arch = "wasm32", target_feature = "simd128"))))]
                return $sqrt(self);
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
real!(
    f32,
    u32,
    80.0,
    f32::EPSILON * f32::EPSILON / 64.0,
    64.0,
    8,
    0.693_145_75,
    1.428_606_8e-6,
    5,
    libm::expf,
    libm::logf,
    libm::log1pf,
    libm::tanhf,
    libm::sqrtf,
    sqrt_f32
);
real!(
    f64,
    u64,
    700.0,
    f64::from_bits((1023 - 485) << 52),
    640.0,
    14,
    0.693_147_180_369_123_8,
    1.908_214_929_270_587_7e-10,
    11,
    libm::exp,
    libm::log,
    libm::log1p,
    libm::tanh,
    libm::sqrt,
    sqrt_f64
);
