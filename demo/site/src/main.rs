//! `cargo demo`: builds the page and serves it on this machine.

mod build_web;
mod contents;
mod output;
mod serve;
mod shrink_wasm;

use clap::Parser as _;
use clap::error::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match serve::Args::try_parse() {
        Ok(args) => args,
        Err(said) if matches!(said.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            output::part(said);
            return ExitCode::SUCCESS;
        }
        Err(refused) => {
            let text = refused.to_string();
            let line = text.lines().next().unwrap_or_default();
            output::error(line.strip_prefix("error: ").unwrap_or(line));
            return ExitCode::from(2);
        }
    };
    match serve::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            output::error(format_args!("{failed:#}"));
            ExitCode::FAILURE
        }
    }
}
