//! Short decimal numbers of files, all digits of one at once.

/// The `f64` nearest to `[-]digits[.digits]` of at most 15 digits, none of them a 0 before another before the point, and how many
/// are behind it; `None` for anything else. The number lies in `text` from `start` to `end`, behind anything. Both numbers of the
/// quotient are exact, and the hardware rounds once.
///
/// All digits at once: they are the last bytes of one word, from which the point is cut; neighbours make pairs, and these fours.
#[inline]
pub(super) fn short(text: &[u8], start: usize, end: usize) -> Option<(f64, usize)> {
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
#[inline]
fn last<const N: usize>(text: &[u8]) -> [u8; N] {
    text.last_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; N];
        bytes[N - text.len()..].copy_from_slice(text);
        bytes
    })
}

/// The number of eight digits, the first of them in the lowest byte.
fn eight(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// A function from a word whose last (highest) so many bytes are digits and perhaps a point, to their number without it, and the
/// digits behind it.
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
digits_in!(in_eight, u64, eight);
digits_in!(in_sixteen, u128, |value: u128| 100_000_000 * eight(value as u64) + eight((value >> 64) as u64));

#[cfg(test)]
mod tests {
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
