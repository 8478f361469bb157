//! Estimators with batches and states that no run has.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercurve_tests::hostile_estimators::check_estimators(bytes));
