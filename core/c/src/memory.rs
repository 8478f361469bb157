//! From pointers to slices. Every pointer is checked before any becomes a slice.

use crate::error::{ALIGNMENT, Failure, LENGTH, NULL, OVERLAP, Result, TEXT};
use core::slice;
use undercurve::{Need, Scratch};

/// Numbers, of which any bits are a value.
pub trait Plain: Copy + 'static {}
impl Plain for u8 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for usize {}
impl Plain for f32 {}
impl Plain for f64 {}

/// `Ok` when so many elements can lie there.
fn check<T>(what: &str, at: *const T, count: usize) -> Result<()> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
    let Some(bytes) = bytes else { return Err(Failure::new(LENGTH, format_args!("{what}: a length of {count}"))) };
    if bytes == 0 {
        return Ok(());
    }
    if at.is_null() {
        return Err(Failure::new(NULL, format_args!("{what} is NULL")));
    }
    if !at.addr().is_multiple_of(align_of::<T>()) {
        let need = align_of::<T>();
        return Err(Failure::new(ALIGNMENT, format_args!("{what} is not aligned to {need} bytes")));
    }
    match at.addr().checked_add(bytes) {
        Some(_) => Ok(()),
        None => Err(Failure::new(LENGTH, format_args!("{what}: a length of {count}"))),
    }
}

/// What a function reads.
///
/// # Safety
/// `at` is NULL or has `count` elements, which nobody writes during `'a`.
pub unsafe fn input<'a, T: Plain>(what: &str, at: *const T, count: usize) -> Result<&'a [T]> {
    check(what, at, count)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: checked for NULL, alignment and length; any bits are a value.
    Ok(unsafe { slice::from_raw_parts(at, count) })
}

/// What a function writes. [`apart`] comes first.
///
/// # Safety
/// `at` is NULL or has `count` elements, which nobody else reads or writes during `'a`.
pub unsafe fn output<'a, T: Plain>(what: &str, at: *mut T, count: usize) -> Result<&'a mut [T]> {
    check(what, at, count)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: checked for NULL, alignment and length; any bits are a value.
    Ok(unsafe { slice::from_raw_parts_mut(at, count) })
}

/// `Ok` where a build with `compact`, which has no sums with weights, is given none.
pub fn takes_weights(weights: *const f64) -> Result<()> {
    if cfg!(feature = "compact") && !weights.is_null() {
        return Err(undercurve::Error::Unsupported { what: "weights, in a library built with compact" }.into());
    }
    Ok(())
}

/// A text that ends with a zero, of at most 4096 bytes.
///
/// # Safety
/// `at` is NULL or such a text.
pub unsafe fn text<'a>(what: &str, at: *const u8) -> Result<&'a str> {
    if at.is_null() {
        return Err(Failure::new(NULL, format_args!("{what} is NULL")));
    }
    let mut length = 0;
    // SAFETY: all bytes before were not the last.
    while unsafe { *at.add(length) } != 0 {
        length += 1;
        if length == 4096 {
            return Err(Failure::new(TEXT, format_args!("{what} does not end")));
        }
    }
    // SAFETY: these were just read.
    let bytes = unsafe { slice::from_raw_parts(at, length) };
    core::str::from_utf8(bytes).map_err(|_| Failure::new(TEXT, format_args!("{what} is not UTF-8")))
}

/// Where an argument lies.
#[derive(Clone, Copy)]
pub struct Place {
    what: &'static str,
    start: usize,
    end: usize,
}

/// The place of so many elements.
pub fn place<T>(what: &'static str, at: *const T, count: usize) -> Result<Place> {
    check(what, at, count)?;
    let start = at.addr();
    Ok(Place { what, start, end: start + count * size_of::<T>() })
}

/// `Ok` when none of what is written overlaps another argument.
pub fn apart(read: &[Place], written: &[Place]) -> Result<()> {
    for (k, one) in written.iter().enumerate() {
        for other in read.iter().chain(&written[k + 1..]) {
            if one.start < other.end && other.start < one.end {
                return Err(Failure::new(OVERLAP, format_args!("{} overlaps {}", one.what, other.what)));
            }
        }
    }
    Ok(())
}

/// The bytes of a scratch, all four kinds one behind the other, from the widest on; `usize::MAX` where they cannot be counted.
pub fn bytes<T>(need: Need) -> usize {
    let parts = [(need.u64, 8), (need.f64, 8), (need.real, size_of::<T>()), (need.u32, 4)];
    let add = |sum: usize, (count, size): (usize, usize)| sum.checked_add(count.checked_mul(size)?);
    parts.into_iter().try_fold(0, add).unwrap_or(usize::MAX)
}

/// Working memory of the caller's, cut into what a function borrows.
///
/// # Safety
/// As [`output`], of `size` bytes at `at`.
pub unsafe fn scratch<'a, T: Plain>(at: *mut u64, size: usize, need: Need) -> Result<Scratch<'a, T>> {
    let wanted = bytes::<T>(need);
    if size < wanted {
        return Err(undercurve::Error::Length { what: "scratch", need: wanted, got: size }.into());
    }
    check("scratch", at, wanted.div_ceil(8))?;
    // SAFETY: the four parts lie one behind the other in `wanted` bytes, each at a multiple of its size.
    unsafe {
        let u64s = at;
        let f64s = u64s.wrapping_add(need.u64).cast::<f64>();
        let reals = f64s.wrapping_add(need.f64).cast::<T>();
        let u32s = reals.wrapping_add(need.real).cast::<u32>();
        Ok(Scratch {
            u64: output("scratch", u64s, need.u64)?,
            f64: output("scratch", f64s, need.f64)?,
            real: output("scratch", reals, need.real)?,
            u32: output("scratch", u32s, need.u32)?,
        })
    }
}
