//! The C ABI of undercurve: `include/undercurve.h` says what the functions do, README.md how to build and link them.
//!
//! Only this package has `unsafe`: [`memory`] turns checked pointers into slices, and nothing else reads through one. Runs and
//! models are numbers of a table and no pointers, so that one that was freed is an error.

mod error;
mod memory;
mod stateless;
#[cfg(feature = "trainer")]
mod training;

/// The version of the functions and of what their arguments mean.
#[unsafe(no_mangle)]
pub extern "C" fn uc_abi_version() -> u32 {
    1
}
