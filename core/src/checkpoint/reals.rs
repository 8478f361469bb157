//! Vectors as bytes.

use super::CheckpointError;
use super::codec::Coded as _;
use crate::real::Real;
use alloc::vec::Vec;

/// A length in bytes, and the values, little end first.
pub(crate) fn write_reals<T: Real>(values: &[T], out: &mut Vec<u8>) {
    (values.len() * T::BYTES).write(out);
    for x in values {
        out.extend_from_slice(&x.to_le()[..T::BYTES]);
    }
}

fn number<T: Real>(bytes: &[u8]) -> T {
    let mut little = [0; 8];
    little[..T::BYTES].copy_from_slice(bytes);
    T::from_le(little)
}

/// What [`write_reals`] wrote behind the length, into as many values; finite ones.
pub(crate) fn reals<T: Real>(bytes: &[u8], out: &mut [T]) -> Result<(), CheckpointError> {
    if bytes.len() != out.len() * T::BYTES {
        return Err(CheckpointError::Mismatch("model"));
    }
    for (x, part) in out.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
        *x = number(part);
        if !x.is_finite() {
            return Err(CheckpointError::Damaged);
        }
    }
    Ok(())
}
