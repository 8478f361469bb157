//! Saved runs with changed bytes and the right checksum.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercurve_tests::hostile::check_saved(bytes));
