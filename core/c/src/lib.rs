//! The C ABI of undercurve: `include/undercurve.h` says what the functions do, README.md how to build and link them.
//!
//! Only this package has `unsafe`: [`memory`] turns checked pointers into slices, and nothing else reads through one. Runs and
//! models are numbers of a table and no pointers, so that one that was freed is an error.

#![cfg_attr(feature = "bare", no_std)]

extern crate alloc;

mod error;
mod memory;
mod stateless;
mod system;
#[cfg(feature = "trainer")]
mod training;

/// The version of the functions and of what their arguments mean.
#[unsafe(no_mangle)]
pub extern "C" fn uc_abi_version() -> u32 {
    1
}

/// Writes the message of this thread's last error, cut to `size` bytes with a zero at its end; returns its length.
///
/// # Safety
/// `text` is NULL or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_last_error(text: *mut u8, size: usize) -> usize {
    let copy = |last: &str| {
        // SAFETY: as the caller promises.
        if let Ok(out) = unsafe { memory::output("text", text, size) } {
            let most = out.len().saturating_sub(1).min(last.len());
            let length = (0..=most).rev().find(|&at| last.is_char_boundary(at)).unwrap_or(0);
            let (message, rest) = out.split_at_mut(length);
            message.copy_from_slice(&last.as_bytes()[..length]);
            if let Some(end) = rest.first_mut() {
                *end = 0;
            }
        }
        last.len()
    };
    system::with_message(|last| copy(last)).unwrap_or(0)
}
