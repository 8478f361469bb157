//! The program, beside what all tests of programs have.
#![allow(dead_code, unused_imports)] // not every test file uses everything

use std::path::Path;
use std::process::{Command, Output};
pub use undercurve_tests::folder::{Folder, Numbers, csv, stdout};

pub fn undercurve() -> Command {
    Command::new(env!("CARGO_BIN_EXE_undercurve"))
}

pub fn run(folder: &Path, args: &[&str]) -> Output {
    undercurve().current_dir(folder).args(args).output().unwrap()
}
