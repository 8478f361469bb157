//! Pair sums and metrics against their twins.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercurve_tests::fuzz::check(bytes));
