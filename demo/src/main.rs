//! The command line of undercurve. Each subcommand has its own file with an `Args` and a `run`.

mod bench;
mod build_web;
mod serve;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "undercurve", version, about = "Train models for the area under the curve")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the page, serve it on this machine and open a browser.
    Serve(serve::Args),
    /// Time the exact sums and metrics on this machine.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
