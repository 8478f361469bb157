//! The program, beside what all tests of programs have.
#![allow(dead_code, unused_imports)] // not every test file uses everything

use std::path::Path;
use std::process::{Command, Output};
pub use undercurve_tests::folder::{Folder, csv, stdout};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_experiments");

pub fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM).current_dir(folder).args(args).output().unwrap()
}
