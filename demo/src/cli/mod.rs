//! The command line of `undercurve`. Each subcommand has its own file with an `Args` and a `run`.

mod config;
mod help;

use crate::args::train::Args as TrainArgs;
use crate::cmd::{
    auto, compare, decide, eval, export, frontier, inspect, look, methods, metrics, predict, prepare, train,
};
use crate::error::{CliError, Result};
use crate::output;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command as Clap, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "undercurve", version, about = "Train models for the area under the curve")]
#[command(after_help = "\
First steps:
  undercurve look data.csv                                 what is in a file
  undercurve train data.csv --split 0.75 --out data.model  a model
  undercurve predict data.model new.csv --id customer      its scores
`undercurve COMMAND -h` is one screen, `--help` everything.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// No notes and no progress: results, warnings and errors alone
    #[arg(long, global = true, help_heading = "Output")]
    quiet: bool,
    /// Options from a TOML file, by their long names
    #[arg(long, global = true, value_name = "FILE", help_heading = "Output")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// What a file holds, what is doubtful in it, and what to type next
    Look(look::Args),
    /// From a file to a model with a threshold, and a card that says what is known of it
    Auto(Box<auto::Args>),
    /// Train a model on a CSV or LIBSVM file
    Train(Box<TrainArgs>),
    /// Methods at their defaults on the same folds of a file, against cross-entropy
    Compare(compare::Args),
    /// What bounds on the gaps between groups cost in AUC
    Frontier(Box<frontier::Args>),
    /// Exact metrics of a saved model on data
    Eval(eval::Args),
    /// Another threshold, and probabilities, for a saved model
    Decide(decide::Args),
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
    /// Write man pages to a folder
    Man(help::Man),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The program as clap has it.
fn program_of() -> Clap {
    help::by_task(Cli::command())
}

/// What is typed, with what a file adds.
fn typed() -> std::result::Result<Cli, ExitCode> {
    let program = Cli::command();
    let args: Vec<OsString> = config::expand(std::env::args_os().collect(), &program).map_err(output::finish)?;
    let matches = program.try_get_matches_from(&args);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| match (moved(&error), error.kind()) {
        (Some(line), _) => output::finish(CliError::input(line)),
        // (To sort options takes longer than to read them.)
        (None, ErrorKind::DisplayHelp) => refusal(&program_of().try_get_matches_from(&args).err().unwrap_or(error)),
        (None, _) => refusal(&error),
    })
}

fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut program_of(), "undercurve", &mut text);
    output::line(String::from_utf8_lossy(&text).trim_end())
}

/// What clap says about the command line, as one line; help and version as they are.
fn refusal(error: &clap::Error) -> ExitCode {
    let shown =
        [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];
    if shown.contains(&error.kind()) {
        return match output::help(error) {
            Ok(()) => ExitCode::from(error.exit_code() as u8),
            Err(error) => output::finish(error),
        };
    }
    let text = error.to_string();
    let own =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let line = own.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    output::finish(CliError::input(line.strip_prefix("error: ").unwrap_or(&line)))
}

/// What a developer's program has that this one had once.
fn moved(error: &clap::Error) -> Option<&'static str> {
    match error.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(name) if name == "serve" => {
            Some("serve: the page is built and served by `cargo demo`, in a checkout of the sources")
        }
        ContextValue::String(name) if name == "bench" => {
            Some("bench: experiments are run by `cargo experiment`, in a checkout of the sources")
        }
        _ => None,
    }
}

/// The exit code of a program, after what there is to say about its end.
fn finish(result: Result<()>) -> ExitCode {
    match result.and_then(|()| output::end()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::finish(error),
    }
}

/// A program with a command line of its own: what is wrong is one line and an exit code, as in `undercurve`.
pub fn program<C: Parser>(run: impl FnOnce(C) -> Result<()>) -> ExitCode {
    match C::try_parse() {
        Ok(cli) => finish(run(cli)),
        Err(error) => refusal(&error),
    }
}

/// The program `undercurve`.
pub fn undercurve() -> ExitCode {
    let cli = match typed() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if cli.quiet {
        output::be_quiet();
    }
    finish(match cli.command {
        Command::Look(args) => look::run(args),
        Command::Auto(args) => auto::run(*args),
        Command::Train(args) => train::run(*args),
        Command::Compare(args) => compare::run(args),
        Command::Frontier(args) => frontier::run(*args),
        Command::Eval(args) => eval::run(args),
        Command::Decide(args) => decide::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Export(args) => export::run(args),
        Command::Metrics(args) => metrics::run(args),
        Command::Methods(args) => methods::run(args),
        Command::Prepare(args) => prepare::run(args),
        Command::Man(args) => help::man(args, &program_of()),
        Command::Completions { shell } => completions(shell),
    })
}
