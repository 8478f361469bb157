//! The command line of undercurve. Each subcommand has its own file with an `Args` and a `run`.

mod bench;
mod build_web;
mod by_group;
mod compare;
mod constraints;
mod curves;
mod decide;
mod decision;
mod device;
mod error;
mod eval;
mod export;
mod frontier;
mod input;
mod inspect;
mod measure;
mod methods;
mod metrics;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod predict;
mod prepare;
mod report;
mod risks;
mod runs;
mod scores;
mod serve;
mod shared;
mod shrink_wasm;
mod signal;
mod table;
mod threads;
mod train;
mod walk;

use clap::{CommandFactory as _, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "undercurve", version, about = "Train models for the area under the curve")]
#[command(after_help = "\
Examples:
  undercurve train data.csv --split 0.75 --method soap --out data.model
  undercurve eval data.model data.csv --held-out --metric auroc,ap,pauc:0:0.05
  undercurve predict data.model new.csv --id customer
  undercurve methods soap")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the page, serve it on this machine and open a browser
    Serve(serve::Args),
    /// Train a model on a CSV or LIBSVM file
    Train(Box<train::Args>),
    /// Methods at their defaults on the same folds of a file, against cross-entropy
    Compare(compare::Args),
    /// What bounds on the gaps between groups cost in AUC
    Frontier(Box<frontier::Args>),
    /// Exact metrics of a saved model on data
    Eval(eval::Args),
    /// Another threshold, and probabilities, for a saved model
    Decide(decision::Args),
    /// Scores, probabilities and classes of rows without labels
    Predict(predict::Args),
    /// What is in a saved model
    Inspect(inspect::Args),
    /// A saved model for other programs, as ONNX or JSON
    Export(export::Args),
    /// Exact metrics of a CSV file with the columns label and score
    Metrics(metrics::Args),
    /// List the methods, or one with its parameters
    Methods(methods::Args),
    /// Write the rows a model would see, split and scaled as in `train`
    Prepare(prepare::Args),
    /// Published experiments, and times as ratios measured in one run
    Bench(bench::Args),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn completions(shell: clap_complete::Shell) -> error::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "undercurve", &mut text);
    output::line(String::from_utf8_lossy(&text).trim_end())
}

/// What clap says about the command line, as one line; help and version as they are.
fn refusal(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    let shown =
        [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];
    if shown.contains(&error.kind()) {
        return match output::help(error) {
            Ok(()) => ExitCode::from(error.exit_code() as u8),
            Err(error) => error.finish(),
        };
    }
    let text = error.to_string();
    let own =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let line = own.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    error::CliError::input(line.strip_prefix("error: ").unwrap_or(&line)).finish()
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refusal(&error),
    };
    let result = match cli.command {
        Command::Serve(args) => serve::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Frontier(args) => frontier::run(*args),
        Command::Eval(args) => eval::run(&args),
        Command::Decide(args) => decision::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Prepare(args) => prepare::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions { shell } => completions(shell),
    };
    match result.and_then(|()| output::end()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.finish(),
    }
}
