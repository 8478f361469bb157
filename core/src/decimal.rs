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

/// The `f64` nearest to `[-]digits[.digits]` of at most 15 digits, none of them a 0 before another before the point, and how many
/// are behind it; `None` for anything else. The number lies in `text` from `start` to `end`, behind anything. Both numbers of the
/// quotient are exact, and the hardware rounds once.
///
/// All digits at once: they are the last bytes of one word, from which the point is cut; neighbours make pairs, and these fours.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn short(text: &[u8], start: usize, end: usize) -> Option<(f64, usize)> {
    const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let text = text.get(..end)?;
    let negative = *text.get(start)? == b'-';
    let count = end - start - usize::from(negative);
    let (number, places) = match count {
        1..=8 => in_eight(u64::from_le_bytes(last(text)), count)?,
        9..=16 => in_sixteen(u128::from_le_bytes(last(text)), count)?,
        _ => return None,
    };
    let value = number as f64 / POWERS[places];
    Some((if negative { -value } else { value }, places))
}

/// The last bytes of a text, the last of them highest.
#[cfg(feature = "alloc")]
#[inline]
fn last<const N: usize>(text: &[u8]) -> [u8; N] {
    text.last_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; N];
        bytes[N - text.len()..].copy_from_slice(text);
        bytes
    })
}

/// The number of eight digits, the first of them in the lowest byte.
#[cfg(feature = "alloc")]
fn eight(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// A function from a word whose last (highest) so many bytes are digits and perhaps a point, to their number without it, and the
/// digits behind it.
#[cfg(feature = "alloc")]
macro_rules! digits_in {
    ($name:ident, $Word:ty, $number:expr) => {
        #[inline]
        fn $name(word: $Word, count: usize) -> Option<(u64, usize)> {
            const BYTES: usize = size_of::<$Word>();
            const ONES: $Word = <$Word>::MAX / 255;
            const LOW: $Word = ONES * 127;
            let mut first = BYTES - count;
            // The high bits of bytes that are a point.
            let others = word ^ (ONES * b'.' as $Word);
            let points = !(((others & LOW) + LOW) | others | LOW) & (<$Word>::MAX << (8 * first));
            let (mut digits, mut places) = (word, 0);
            let padded = (word >> (8 * first)) as u8 == b'0';
            if points == 0 {
                if padded && count > 1 {
                    return None;
                }
            } else {
                let point = points.trailing_zeros() as usize / 8;
                places = BYTES - 1 - point;
                if point == first || places == 0 || (padded && point > first + 1) {
                    return None;
                }
                // What is before the point moves up to its place.
                let above = <$Word>::MAX << (8 * point) << 8;
                digits = digits & above | digits << 8 & !above;
                first += 1;
            }
            if BYTES - first > 15 {
                return None;
            }
            let kept = <$Word>::MAX << (8 * first);
            let value = (digits & kept).wrapping_sub(ONES * b'0' as $Word & kept);
            // (A byte below '0' borrows and has a high bit; one above '9' carries into one.)
            let high = (value | value.wrapping_add(ONES * 6)) & (ONES * 0xf0) & kept;
            (high == 0).then(|| ($number(value), places))
        }
    };
}
#[cfg(feature = "alloc")]
digits_in!(in_eight, u64, eight);
#[cfg(feature = "alloc")]
digits_in!(in_sixteen, u128, |value: u128| 100_000_000 * eight(value as u64) + eight((value >> 64) as u64));

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

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::parse;
    use crate::rng::Rng;
    use rand_core::Rng as _;

    /// Whether the long tier is asked for.
    fn long() -> bool {
        #[cfg(feature = "std")]
        return std::env::var_os("UNDERCURVE_LONG").is_some();
        #[cfg(not(feature = "std"))]
        false
    }

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

    #[test]
    fn short_numbers_are_those_of_the_standard_library() {
        let mut random = Rng::new(2);
        let mut taken = 0;
        // What is before a number in the text has no say.
        let short = |text: &str| {
            let found = super::short(text.as_bytes(), 0, text.len());
            let (before, all) = (12, ["0000.00000-7", text, "9"].concat());
            assert_eq!(super::short(all.as_bytes(), before, before + text.len()), found, "{text}");
            found
        };
        let rounds = if long() { 5_000_000 } else { 200_000 };
        for _ in 0..rounds {
            let digits = random.next_u64() >> (random.next_u64() % 64);
            let mut text = alloc::format!("{digits}");
            if !random.next_u64().is_multiple_of(4) {
                text.insert((random.next_u64() % (text.len() as u64 + 1)) as usize, '.');
            }
            if random.next_u64().is_multiple_of(2) {
                text.insert(0, '-');
            }
            if let Some((x, places)) = short(&text) {
                taken += 1;
                assert_eq!(x.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
                assert_eq!(places, text.split_once('.').map_or(0, |(_, after)| after.len()), "{text}");
            }
        }
        assert!(taken > rounds / 2, "{taken}");
        // Any bytes: what is taken are digits with a point between them.
        for _ in 0..rounds {
            let count = random.next_u64() % 17;
            let of = |x: u64| {
                char::from(if x.is_multiple_of(8) { (x >> 8) as u8 % 128 } else { b'0' + (x >> 8) as u8 % 10 })
            };
            let text: alloc::string::String = (0..count).map(|_| of(random.next_u64())).collect();
            let digits = text.strip_prefix('-').unwrap_or(&text);
            let parts = digits.split_once('.').unwrap_or((digits, "0"));
            let fits =
                [parts.0, parts.1].iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
                    && !(parts.0.len() > 1 && parts.0.starts_with('0'))
                    && digits.bytes().filter(u8::is_ascii_digit).count() <= 15;
            let bits = short(&text).map(|(x, _)| x.to_bits());
            assert_eq!(bits, fits.then(|| text.parse::<f64>().unwrap().to_bits()), "{text:?}");
        }
        let edge = ["-0", "0", "0.5", "999999999999999", "-99999999999999.9", "0.00000000000001"];
        assert!(edge.iter().all(|text| short(text).unwrap().0.to_bits() == text.parse::<f64>().unwrap().to_bits()));
        let other = [
            "",
            "-",
            ".",
            ".5",
            "5.",
            "1e5",
            "+1",
            "01",
            "-00.5",
            "1.2.3",
            "1,5",
            "nan",
            "9999999999999999",
            "0.0000000000000001",
            "1é",
            "1234567é",
            "12345678é",
        ];
        assert!(other.iter().all(|text| short(text).is_none()));
    }
}
