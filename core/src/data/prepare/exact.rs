//! Sums of numbers, and of their squares, without rounding: the same for any order.

use crate::checkpoint::{Coded, Reader};
use alloc::vec;
use alloc::vec::Vec;

/// Bits of a limb.
const LIMB: u32 = 32;
/// The exponent of the lowest bit: that of the square of the least number there is.
const BASE: i32 = -2148;
/// Squares of 2⁶² numbers reach 2²¹¹⁰, which is below the last limb's.
const LIMBS: usize = 135;
/// So often a limb takes 2³³ before it overflows.
const ADDS: u32 = 1 << 29;

/// A sum. Limbs are whole from 0 to 2³² − 1, the last with the sign, after [`Exact::settle`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exact {
    limbs: Vec<i64>,
    adds: u32,
}

/// |x| as a whole number below 2⁵³ times a power of 2.
fn parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let (exponent, rest) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (rest, -1074) } else { (rest | 1 << 52, exponent - 1075) }
}

impl Exact {
    pub fn new() -> Self {
        Self { limbs: vec![0; LIMBS], adds: 0 }
    }

    /// Adds a whole number times 2^`exponent`; bits below the lowest are 0.
    fn put(&mut self, number: u128, exponent: i32, negative: bool) {
        let place = exponent - BASE;
        let (mut rest, place) = match u32::try_from(place) {
            Ok(place) => (number, place),
            Err(_) => (number.checked_shr(place.unsigned_abs()).unwrap_or(0), 0),
        };
        let mut limb = (place / LIMB) as usize;
        let mut add = |limb: usize, part: u64| {
            if let Some(to) = self.limbs.get_mut(limb) {
                *to += if negative { -(part as i64) } else { part as i64 };
            }
        };
        while rest != 0 {
            let part = u64::from(rest as u32) << (place % LIMB);
            add(limb, part & u64::from(u32::MAX));
            add(limb + 1, part >> LIMB);
            (rest, limb) = (rest >> LIMB, limb + 1);
        }
        self.adds += 1;
        if self.adds >= ADDS {
            self.settle();
        }
    }

    pub fn settle(&mut self) {
        self.adds = 0;
        for at in 0..LIMBS - 1 {
            let carry = self.limbs[at] >> LIMB;
            self.limbs[at] -= carry << LIMB;
            self.limbs[at + 1] += carry;
        }
    }

    pub fn add(&mut self, x: f64) {
        let (number, exponent) = parts(x);
        self.put(number.into(), exponent, x < 0.0);
    }

    pub fn add_square(&mut self, x: f64) {
        let (number, exponent) = parts(x);
        self.put(u128::from(number) * u128::from(number), 2 * exponent, false);
    }

    pub fn merge(&mut self, other: &Self) {
        self.limbs.iter_mut().zip(&other.limbs).for_each(|(to, from)| *to += from);
        self.settle();
    }

    /// Adds −x times a settled sum, which has no bits below 2⁻¹⁰⁷⁴.
    fn subtract_product(&mut self, sum: &Self, x: f64) {
        let (number, exponent) = parts(x);
        for (at, &limb) in sum.limbs.iter().enumerate() {
            let product = u128::from(limb.unsigned_abs()) * u128::from(number);
            self.put(product, BASE + (LIMB as usize * at) as i32 + exponent, (x < 0.0) == (limb < 0));
        }
    }

    /// Of `count` numbers with this settled sum and this settled sum of squares: Σ(x − c) and Σ(x − c)².
    pub fn around(sum: &Self, squares: &Self, count: u64, c: f64) -> (f64, f64) {
        let (number, exponent) = parts(c);
        let mut rest = sum.clone();
        rest.put(u128::from(number) * u128::from(count), exponent, c > 0.0);
        let mut square = squares.clone();
        square.subtract_product(sum, c);
        square.subtract_product(sum, c);
        let of_c = u128::from(number) * u128::from(number);
        square.put(u128::from(of_c as u64) * u128::from(count), 2 * exponent, false);
        square.put((of_c >> 64) * u128::from(count), 2 * exponent + 64, false);
        (rest.value(), square.value())
    }

    /// The sum without its sign, and whether it is negative.
    fn magnitude(&self) -> (Vec<u32>, bool) {
        let mut of = self.clone();
        of.settle();
        let negative = of.limbs[LIMBS - 1] < 0;
        if negative {
            of.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            of.settle();
        }
        (of.limbs.iter().map(|&limb| limb as u32).collect(), negative)
    }

    /// The nearest number.
    pub fn value(&self) -> f64 {
        let (limbs, negative) = self.magnitude();
        let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let low = top.saturating_sub(3);
        let number = limbs[low..=top].iter().rev().fold(0_u128, |number, &limb| number << LIMB | u128::from(limb));
        let more = limbs[..low].iter().any(|&limb| limb != 0);
        let value = libm::scalbn((number | u128::from(more)) as f64, BASE + (LIMB as usize * low) as i32);
        if negative { -value } else { value }
    }
}

impl Coded for Exact {
    fn write(&self, out: &mut Vec<u8>) {
        let (limbs, negative) = self.magnitude();
        let low = limbs.iter().position(|&limb| limb != 0).unwrap_or(0);
        let end = limbs.iter().rposition(|&limb| limb != 0).map_or(low, |top| top + 1);
        negative.write(out);
        low.write(out);
        limbs[low..end].to_vec().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (negative, low): (bool, usize) = (from.value()?, from.value()?);
        let limbs: Vec<u32> = from.value()?;
        // (In its only form.)
        let zero = limbs.is_empty() && low == 0 && !negative;
        if !zero && (limbs.first().is_none_or(|&limb| limb == 0) || limbs.last() == Some(&0)) {
            return None;
        }
        let mut sum = Self::new();
        let end = low.checked_add(limbs.len()).filter(|&end| end < LIMBS)?;
        for (to, limb) in sum.limbs[low..end].iter_mut().zip(limbs) {
            *to = if negative { -i64::from(limb) } else { i64::from(limb) };
        }
        sum.settle();
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::Exact;
    use crate::checkpoint::{Coded, Reader};
    use alloc::vec::Vec;

    fn sums(values: &[f64]) -> [Exact; 2] {
        let (mut sum, mut squares) = (Exact::new(), Exact::new());
        values.iter().for_each(|&x| sum.add(x));
        values.iter().for_each(|&x| squares.add_square(x));
        sum.settle();
        squares.settle();
        [sum, squares]
    }

    #[test]
    fn nothing_is_rounded_before_the_end() {
        let [sum, squares] = sums(&[1e300, 1.0, -1e300, f64::MIN_POSITIVE * f64::EPSILON, 1e-20]);
        assert_eq!(sum.value(), 1.0);
        assert_eq!(squares.value(), f64::INFINITY); // 10^600
        let [sum, _] = sums(&[1e300, -1e300, f64::MIN_POSITIVE * f64::EPSILON]);
        assert_eq!(sum.value(), f64::MIN_POSITIVE * f64::EPSILON);
        assert_eq!(sums(&[-3.0, 1.5])[0].value(), -1.5);
        assert_eq!(sums(&[])[0].value(), 0.0);
        // Ties go to even, and what is far below them decides.
        let half = f64::EPSILON / 2.0;
        assert_eq!(sums(&[1.0, half])[0].value(), 1.0);
        assert_eq!(sums(&[1.0, half, 1e-300])[0].value(), 1.0 + f64::EPSILON);
        assert_eq!(sums(&[-1.0, -half, -1e-300])[0].value(), -1.0 - f64::EPSILON);
    }

    #[test]
    fn deviations_of_far_numbers_are_exact() {
        let values: Vec<f64> = (0..1000).map(|k| 1.6e15 + f64::from(k % 7)).collect();
        let [sum, squares] = sums(&values);
        let c = sum.value() / 1000.0;
        let (rest, square) = Exact::around(&sum, &squares, 1000, c);
        assert_eq!(rest, values.iter().map(|x| x - c).sum::<f64>());
        assert_eq!(square, values.iter().map(|x| (x - c) * (x - c)).sum::<f64>());
        let (rest, square) = Exact::around(&sums(&[-2.0, -4.0])[0], &sums(&[-2.0, -4.0])[1], 2, -3.5);
        assert_eq!((rest, square), (1.0, 2.5));
        let tiny = f64::from_bits(3);
        let (rest, _) = Exact::around(&sums(&[tiny, tiny])[0], &sums(&[tiny, tiny])[1], 2, f64::from_bits(1));
        assert_eq!(rest, f64::from_bits(4));
    }

    #[test]
    fn bytes_have_one_form() {
        for values in [&[][..], &[1.5, -1e300, 1e-300], &[-1.0], &[3e150; 3], &[f64::MAX; 9]] {
            for sum in sums(values) {
                let mut bytes = Vec::new();
                sum.write(&mut bytes);
                assert_eq!(Reader(&bytes).value(), Some(sum));
            }
        }
        for bytes in [&[0, 0, 1, 0][..], &[1, 0, 0], &[0, 134, 1, 2, 1, 1], &[2, 0, 0]] {
            assert_eq!(Reader(bytes).value::<Exact>(), None, "{bytes:?}");
        }
    }
}
