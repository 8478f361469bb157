//! Texts of tables: read, prepared and trained on.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercurve_tests::hostile::check_table(bytes));
