//! The program `undercurve`; what it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    undercurve_demo::cli::undercurve()
}
