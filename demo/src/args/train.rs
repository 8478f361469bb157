//! Options of `undercurve train`.

use crate::args::data::DataArgs;
use crate::args::decide::DecisionArgs;
use crate::args::many::RunsArgs;
use crate::error::{CliError, Result};
use crate::run::device::{self, Choice};
use crate::tell::constraints;
use crate::threads;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use undercurve::data::Target;
use undercurve::expression::Expression;
use undercurve::registry::PRESETS;
use undercurve::trainer::Init;

/// `--precision`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// 32-bit numbers
    F32,
    /// 64-bit numbers
    F64,
}

/// `--target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TargetArg {
    /// Whether a row is positive
    Binary,
    /// Its class, one of several
    Classes,
    /// A number
    Values,
}

impl TargetArg {
    /// In the core's words.
    pub fn target(self) -> Target {
        match self {
            Self::Binary => Target::Binary,
            Self::Classes => Target::Classes,
            Self::Values => Target::Values,
        }
    }
}

/// `--init`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InitArg {
    /// What a trial finds better
    Auto,
    /// At a linear model of the rows
    Linear,
    /// At random start values
    Random,
}

impl InitArg {
    /// In the core's words.
    pub fn init(self) -> Init {
        match self {
            Self::Auto => Init::Auto,
            Self::Linear => Init::Linear,
            Self::Random => Init::Random,
        }
    }
}

/// Options of `train`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
Examples:
  undercurve train data.csv --split 0.75 --method soap
  undercurve train data.csv --label default --positive yes --split 0.6 --method ce --model mlp:64,64 --json
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --method soap --set lr=0.05 --set gamma=0.5 --save a9a.model
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --resume a9a.model
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --resume a9a.model --steps 9000 --set lr=0.01
  undercurve train digits.csv --label digit --split 0.75 --method ce
  undercurve train people.csv --split 0.7 --group sex --method sonex --constraint \"gap(fpr) <= 0.05\"
  undercurve train new.csv --split 0.7 --start old.model --preset non-forgetting --constraint \"loss(old.csv) <= old\"
  undercurve train data.csv --split 0.75 --seeds 64 --plot seeds.svg
  undercurve train data.csv --split 0.75 --valid 0.2 --grid lr=.01:.1:8,gamma=.3|.6|.9 --csv grid.csv --out best.model
  undercurve train prices.csv --label price --target values --split 0.75 --method ai-sarah --set loss=least-squares

Two labels make a positive and a negative class. Of more, --positive names the positive one; without it the methods ce,
ppd-sg and ppd-adagrad train all of them as classes and report the Hand-Till AUC. With --target values labels are numbers,
which the finite sums fit with loss=least-squares.

{}

Exit code: 0 when all went well, also where a constraint is not met or cannot be told (the last line says so; with --require 3
where one is not met, and 4 where none is but one cannot be told from so few rows), 2 for bad input or options (one line says what and where, and nothing is written, but for
a run that ends at a batch of one class, of which the last save stays), 130 after Ctrl-C and 143 after SIGTERM, both saved as at the end, 1 for anything else.", constraints::HELP))]
pub struct Args {
    /// Training data: CSV or LIBSVM, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Test data, measured in every report and never trained on
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub test: Option<PathBuf>,
    /// Train on this share of the rows of DATA, drawn by class, and test on the others
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub split: Option<f64>,
    /// What labels are: binary, classes or values [default: classes where there are more than two labels, none of them
    /// named by --positive, and a method that trains classes; else binary]
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub target: Option<TargetArg>,
    #[command(flatten)]
    pub reading: DataArgs,
    /// Method; `undercurve methods` lists them [default: soap, for the average precision; with --target classes ce, with --target
    /// values ai-sarah with loss=least-squares]
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// A parameter of the method, as often as needed; `undercurve methods NAME` lists them
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Settings to begin with, which --set changes: defaults, or paper for those of the method's paper; or a method with
    /// settings and constraints: roc-fairness, roc-fairness-paper, gdro-cvar, non-forgetting
    #[arg(long, value_name = "NAME", default_value = "defaults", value_parser = preset_name)]
    #[arg(conflicts_with = "resume")]
    pub preset: String,
    /// What has to hold, as often as needed, for methods that train under constraints, like sonex, alexr2 or lagrange
    /// [default: gap(fpr) <= 0.05 and gap(tpr) <= 0.05]; --group names the groups. The rows of a FILE in loss(FILE) are drawn
    /// for that alone, and --split holds the same share of them out
    #[arg(long, value_name = "EXPR", value_parser = constraints::parse)]
    pub constraint: Vec<Expression>,
    /// What such a method minimises: auc, ce, or cvar:SHARE, the mean loss of the worst share of the groups
    #[arg(long, value_name = "WHAT", conflicts_with = "resume")]
    pub objective: Option<String>,
    /// End with exit code 3 when a constraint is not met, and with 4 when none is but one cannot be told from so few rows
    #[arg(long)]
    pub require: bool,
    /// Begin at a saved model instead of start values: its preparation of the data is used, its columns and classes have to be
    /// there, and it is what `old` means in constraints. Methods that begin with cross-entropy then do not, unless --set
    /// pretrain=STEPS
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub start: Option<PathBuf>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS [default: linear; with --start that model]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Where a network mlp:WIDTHS of two classes begins: linear (at a linear model of the rows, to which weight decay pulls back),
    /// random, or auto: what a short trial on a part of the training rows finds better, which the first lines say [default: auto;
    /// with --preset paper random]
    #[arg(long, value_name = "HOW", conflicts_with = "start", hide_possible_values = true)]
    pub init: Option<InitArg>,
    /// False-positive range of the partial AUC [default: 0:0.05]
    #[arg(long, value_name = "LO:HI", value_parser = range)]
    pub fpr: Option<(f64, f64)>,
    #[command(flatten)]
    pub decision: DecisionArgs,
    /// Train for so many passes over the training rows; a full gradient is one
    #[arg(long, value_name = "N", conflicts_with = "steps", allow_negative_numbers = true)]
    pub passes: Option<f64>,
    /// Train for so many steps [default: the method's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<u64>,
    /// Stop after so many seconds even if steps are left
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Decides the split, the start values and the batches [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// cpu, auto, gpu, or gpu:NAME with a part of the adapter's name, the only way to a software adapter (slower than the
    /// CPU). One run of a small model is faster on the CPU; many (--seeds, --grid) go side by side on a GPU, and auto tries both for .1 s, with one run of a large model, too. A saved run does not name its device, and one that is resumed takes the one named then; the bits of the two
    /// differ. What has no GPU kernel is refused with gpu and trained on the CPU with auto. When a GPU is lost, the CPU goes on
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = device::parse)]
    pub device: Choice,
    /// Threads, for whole-data methods, reports and scoring; the same bits with any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    pub threads: Option<usize>,
    /// f32 or f64 [default: f32]
    #[arg(long, value_name = "REAL", hide_possible_values = true)]
    pub precision: Option<Precision>,
    /// Report every K steps [default: twenty times in the run]
    #[arg(long, value_name = "K")]
    pub every: Option<u64>,
    /// Save the run to FILE, with every report and at the end
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Save every K steps instead of with every report
    #[arg(long, value_name = "K")]
    pub save_every: Option<u64>,
    /// Write the model alone to FILE at the end: what `predict`, `eval` and `inspect` need, without the run
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Continue a saved run on the same data, and save to the same FILE unless --save names another. --steps, --passes and --set
    /// of numbers, like lr, change what is left of it: schedules are then those of the new length. Another method, or other
    /// data, begins at its model (--start)
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Print one JSON object for each report (of many runs for each run), and one with the totals
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub many: RunsArgs,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.trim().to_string(), value.trim().to_string())),
        _ => Err("expected KEY=VALUE".to_string()),
    }
}

/// `LO:HI`, as two numbers.
pub fn range(text: &str) -> Result<(f64, f64), String> {
    let pair = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match pair {
        Some((low, high)) if 0.0 <= low && low < high && high <= 1.0 => Ok((low, high)),
        _ => Err("expected LO:HI with 0 <= LO < HI <= 1".to_string()),
    }
}
/// `--preset`: that there is one.
fn preset_name(text: &str) -> std::result::Result<String, String> {
    let names = ["defaults", "paper"].into_iter().chain(PRESETS.iter().map(|preset| preset.name));
    match names.clone().any(|name| name == text) {
        true => Ok(text.to_string()),
        false => Err(format!("expected {}", names.collect::<Vec<_>>().join(", "))),
    }
}
/// An option that contradicts the run that is resumed.
pub fn differs(args: &Args, what: &str) -> CliError {
    let file = args.resume.as_deref().unwrap_or(Path::new("")).display();
    CliError::input(format!("{file}: saved with another {what}; leave the option out to continue that run"))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_read() {
        assert_eq!(range("0.02:0.2"), Ok((0.02, 0.2)));
        assert!(["0.2", "0.2:0.1", "a:1", "0:1.5"].iter().all(|text| range(text).is_err()));
    }
}
