//! Decimal numbers in settings, without the tables of the standard library's parser: 16 KB that a download would carry
//! for a handful of learning rates.

use crate::features::COMPACT;

/// 32-bit limbs of the exact product or quotient, little end first.
const LIMBS: usize = 80;
/// Where the digits of a quotient start; 10^400 takes 42 limbs, so more than 1000 bits stay below them.
const TOP: usize = LIMBS - 2;
/// Significant digits that are read.
const DIGITS: usize = 19;

/// The `f64` nearest to a decimal number: `[+-]digits[.digits][e[+-]digits]`, at least one digit before the exponent.
/// Digits past the 19th significant one are ignored; numbers below 2⁻¹⁰²² are rounded twice. `None` for anything else,
/// infinities and NaN included.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut rest = digits.iter();
    let (mut number, mut significant, mut exponent) = (0u64, 0, 0i32);
    let (mut any, mut point) = (false, false);
    for byte in rest.by_ref() {
        match byte {
            b'0'..=b'9' => {
                any = true;
                if significant < DIGITS {
                    number = 10 * number + u64::from(byte - b'0');
                    significant += usize::from(number > 0);
                    exponent -= i32::from(point);
                } else {
                    exponent += i32::from(!point);
                }
            }
            b'.' if !point => point = true,
            b'e' | b'E' if any => {
                exponent = exponent.checked_add(integer(rest.as_slice())?)?;
                rest = [].iter();
                break;
            }
            _ => return None,
        }
    }
    if !any || !rest.as_slice().is_empty() {
        return None;
    }
    let value = nearest(number, exponent);
    (value <= f64::MAX).then_some(if negative { -value } else { value })
}

/// A finite number by the standard library's parser, or with `compact` by this one.
pub(crate) fn number(text: &str) -> Option<f64> {
    if COMPACT { parse(text) } else { text.parse().ok().filter(|x: &f64| x.is_finite()) }
}

/// `[+-]digits`, at most six of them.
fn integer(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    if digits.is_empty() || digits.len() > 6 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(sign * digits.iter().fold(0, |sum, digit| 10 * sum + i32::from(digit - b'0')))
}

/// The `f64` nearest to `number` · 10^`exponent`, to even where two are; infinite when it does not fit.
fn nearest(number: u64, exponent: i32) -> f64 {
    if number == 0 || exponent < -400 {
        return 0.0;
    }
    if exponent > 400 {
        return f64::INFINITY;
    }
    // Both factors are exact, and the hardware rounds once.
    if number < 1 << 53 && (-22..=22).contains(&exponent) {
        let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
        return if exponent < 0 { number as f64 / power } else { number as f64 * power };
    }
    let mut limbs = [0u32; LIMBS];
    let start = if exponent < 0 { TOP } else { 0 };
    limbs[start] = number as u32;
    limbs[start + 1] = (number >> 32) as u32;
    let mut lost = false;
    for _ in 0..exponent.unsigned_abs() {
        let mut carry = 0u64;
        if exponent < 0 {
            for limb in limbs.iter_mut().rev() {
                let all = carry << 32 | u64::from(*limb);
                *limb = (all / 10) as u32;
                carry = all % 10;
            }
            lost |= carry != 0;
        } else {
            for limb in limbs.iter_mut() {
                let all = 10 * u64::from(*limb) + carry;
                *limb = all as u32;
                carry = all >> 32;
            }
        }
    }
    // The highest 64 bits, and whether anything lies below them.
    let top = limbs.iter().rposition(|&limb| limb != 0).unwrap_or(0);
    let limb = |at: usize| u64::from(limbs.get(at).copied().unwrap_or(0));
    let shift = limbs[top].leading_zeros();
    let three = u128::from(limb(top)) << 64
        | u128::from(limb(top.wrapping_sub(1))) << 32
        | u128::from(limb(top.wrapping_sub(2)));
    let bits = three << shift;
    lost |= bits as u32 != 0 || limbs[..top.saturating_sub(2)].iter().any(|&limb| limb != 0);
    let rounded = ((bits >> 32) as u64 | u64::from(lost)) as f64;
    let scale = 32 * (top as i32 - start as i32) - 32 - shift as i32;
    libm::scalbn(rounded, scale)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::rng::Rng;
    use rand_core::Rng as _;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let fixed = [
            "0",
            "-0",
            "1",
            "+2.5",
            "1e30",
            "1e-30",
            "0.05",
            "1e-8",
            ".5",
            "5.",
            "1E5",
            "-1.25e-3",
            "0.999999999",
            "1e308",
            "1e309",
            "-1e309",
            "2.2250738585072014e-308",
            "9007199254740993",
            "9007199254740992.5",
            "1e23",
            "123456789012345678",
            "0.000000000000000000000000000001",
            "1000000000000000000000000000000",
            "1e-320",
            "8.5e-22",
            "1e400",
            "1e-500",
            "3.0000000000000001e0",
        ];
        for text in fixed {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse(text), expected.is_finite().then_some(expected), "{text}");
        }
        let mut rng = Rng::keyed(1, 2, 3);
        for _ in 0..20_000 {
            let (digits, places) = (rng.next_u64() >> (rng.next_u64() % 60 + 4), rng.next_u64() % 600);
            let text = alloc::format!("{digits}e{}", places as i64 - 300);
            let expected: f64 = text.parse().unwrap();
            if expected == 0.0 || expected >= f64::MIN_POSITIVE {
                assert_eq!(parse(&text), expected.is_finite().then_some(expected), "{text}");
            }
        }
    }

    #[test]
    fn everything_else_is_no_number() {
        for text in [
            "",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "1e1.5",
            "x",
            "nan",
            "inf",
            "1 ",
            " 1",
            "1..2",
            "1e9999999",
            "--1",
            "0x10",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
