//! Values as bytes, in a fixed order and without names: the payload of an envelope.
//!
//! This is the postcard format. Whole numbers are varints: groups of seven bits, the least first, with the high bit set on all but
//! the last. `u8`, `bool` and the number of a variant fit in one byte. `f64` is eight bytes, little-endian. Texts and lists
//! are their length and their contents, an option is 0, or 1 and its value, a struct its fields in order.

use alloc::string::String;
use alloc::vec::Vec;

/// Bytes that are still to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A length, and as many bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.value()?;
        self.take(length)
    }

    pub fn value<C: Coded>(&mut self) -> Option<C> {
        C::read(self)
    }
}

/// A length, and so many bytes.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.len().write(out);
    out.extend_from_slice(bytes);
}

/// A value with a place in saved bytes.
pub(crate) trait Coded: Sized {
    fn write(&self, out: &mut Vec<u8>);
    /// `None` for bytes that no value has.
    fn read(from: &mut Reader<'_>) -> Option<Self>;
}

impl Coded for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest > 0x7f {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = from.byte()?;
            let group = u64::from(byte & 0x7f);
            if group << shift >> shift != group {
                return None;
            }
            value |= group << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

impl Coded for u32 {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        u64::read(from)?.try_into().ok()
    }
}

impl Coded for usize {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u64).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        u64::read(from)?.try_into().ok()
    }
}

impl Coded for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Coded for f64 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_le_bytes(from.take(8)?.try_into().ok()?))
    }
}

impl Coded for String {
    fn write(&self, out: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(core::str::from_utf8(from.bytes()?).ok()?.into())
    }
}

impl<C: Coded> Coded for Option<C> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(if from.value()? { Some(from.value()?) } else { None })
    }
}

impl<C: Coded> Coded for Vec<C> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|value| value.write(out));
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        // Every value takes a byte or more, so a length from nowhere ends before it costs memory.
        let length: usize = from.value()?;
        let mut values = Self::new();
        for _ in 0..length {
            values.push(from.value()?);
        }
        Some(values)
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some((from.value()?, from.value()?))
    }
}

impl<const N: usize> Coded for [u64; N] {
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(out));
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut values = [0; N];
        for value in &mut values {
            *value = from.value()?;
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::{Coded, Reader};
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let cases: [(u64, &[u8]); 6] = [
            (0, &[0]),
            (127, &[127]),
            (128, &[128, 1]),
            (16_383, &[255, 127]),
            (16_384, &[128, 128, 1]),
            (u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
        ];
        for (value, bytes) in cases {
            let mut out = vec![];
            value.write(&mut out);
            assert_eq!((&out[..], Reader(bytes).value()), (bytes, Some(value)));
        }
        for bytes in [&[][..], &[128], &[255; 10], &[255, 255, 255, 255, 255, 255, 255, 255, 255, 2]] {
            assert_eq!(Reader(bytes).value::<u64>(), None, "{bytes:?}");
        }
        assert_eq!(Reader(&[255, 255, 255, 255, 16]).value::<u32>(), None);
    }

    #[test]
    fn values_that_do_not_exist_are_refused() {
        assert_eq!(Reader(&[2]).value::<bool>(), None);
        assert_eq!(Reader(&[2, 0]).value::<Option<u32>>(), None);
        assert_eq!(Reader(&[1, 0xff]).value::<alloc::string::String>(), None);
        assert_eq!(Reader(&[0; 7]).value::<f64>(), None);
        // A length of 2^63, and nothing behind it.
        assert_eq!(Reader(&[128, 128, 128, 128, 128, 128, 128, 128, 128, 1]).value::<Vec<bool>>(), None);
    }
}
