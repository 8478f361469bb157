//! `cargo demo`: builds the page and serves it on this machine.

mod build_web;
mod contents;
mod serve;
mod shrink_wasm;

use std::process::ExitCode;

fn main() -> ExitCode {
    undercurve_demo::cli::program(|args: serve::Args| serve::run(&args))
}
