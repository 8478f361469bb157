//! Constraints as text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercurve_tests::fuzz::check_expression(bytes));
