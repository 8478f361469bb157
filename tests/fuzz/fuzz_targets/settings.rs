//! Methods with settings that nobody would give.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercurve_tests::hostile::check_settings(bytes));
