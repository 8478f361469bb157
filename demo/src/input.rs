//! Reading data files and saved models, with the options that every command reads them by.

use crate::error::{CliError, Result};
use clap::ValueEnum;
use std::io::Read as _;
use std::path::Path;
use undercurve::Real;
use undercurve::checkpoint::{CheckpointError, SavedClassModel, SavedModel};
use undercurve::data::{Dataset, Format, Missing, Options, RawTable, ReadOptions, Scale, label_column};

/// `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// By the file's name, else by its content
    #[default]
    Auto,
    /// Cells with commas, semicolons or tabs between them
    Csv,
    /// label index:value …
    Libsvm,
}

impl FormatArg {
    fn format(self) -> Format {
        match self {
            Self::Auto => Format::Auto,
            Self::Csv => Format::Csv,
            Self::Libsvm => Format::Libsvm,
        }
    }
}

/// `--scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// As they are
    None,
    /// Every column to mean 0 and deviation 1 over the training rows (default for CSV)
    Standard,
    /// Every row to length 1 (default for LIBSVM)
    Unit,
}

impl ScaleArg {
    /// In the core's words.
    pub fn scale(self) -> Scale {
        match self {
            Self::None => Scale::None,
            Self::Standard => Scale::Standard,
            Self::Unit => Scale::Unit,
        }
    }
}

/// `--missing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// A missing value is an error (default)
    Refuse,
    /// The training mean; a category of its own in a categorical column
    Impute,
}

impl MissingArg {
    /// In the core's words.
    pub fn missing(self) -> Missing {
        match self {
            Self::Refuse => Missing::Refuse,
            Self::Impute => Missing::Impute,
        }
    }
}

/// How to read a data file and what to make of its columns.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Layout of the file: auto, csv or libsvm, each plain or gzip
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_possible_values = true)]
    pub format: FormatArg,
    /// Label column of a CSV file, by name or by number from 1 (-1 is the last)
    /// [default: the first of label, target, class, y]
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub label: Option<String>,
    /// Label value that counts as positive [default: the larger of two]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Missing values: refuse or impute [default: refuse]
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub missing: Option<MissingArg>,
    /// Scaling, fitted on the training rows: none, standard or unit [default: standard for CSV, unit for LIBSVM]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    pub scale: Option<ScaleArg>,
    /// Columns of numbers to take as categories, with commas between them
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// Columns to leave out, with commas between them
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub ignore: Vec<String>,
}

impl DataArgs {
    /// In the core's words.
    pub fn options(&self) -> Options {
        Options {
            label: self.label.clone(),
            positive: self.positive.clone(),
            scale: self.scale.map(ScaleArg::scale),
            missing: self.missing.map_or(Missing::Refuse, MissingArg::missing),
            categorical: self.categorical.clone(),
            ignore: self.ignore.clone(),
        }
    }
}

/// Reads a data file; `-` is what comes in on stdin.
///
/// # Errors
/// `Input`.
pub fn table(path: &Path, format: FormatArg, label: Option<&str>) -> Result<RawTable> {
    let read = || match path.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        _ => std::fs::read(path),
    };
    let bytes = read().map_err(|error| CliError::file(path, &error))?;
    let options = read_options(format, label);
    Ok(RawTable::parse_with(&bytes, &options, &path.display().to_string())?)
}

/// How to read a file whose label column may be named.
pub fn read_options(format: FormatArg, label: Option<&str>) -> ReadOptions {
    // A number is a position, not a name to look for in the first line.
    let label = label.filter(|label| label.parse::<i64>().is_err()).map(str::to_string);
    ReadOptions { format: format.format(), label, header: None }
}

/// The column of that name, or else of that number: from 1, or -1 for the last.
pub fn named(columns: &[String], name: &str) -> Option<String> {
    let by_number = || match name.parse::<i64>() {
        Ok(-1) => columns.last(),
        Ok(number) => usize::try_from(number).ok()?.checked_sub(1).and_then(|at| columns.get(at)),
        Err(_) => None,
    };
    columns.iter().find(|column| *column == name).or_else(by_number).cloned()
}

/// Refuses the label column among those to leave out or to take as categories.
///
/// # Errors
/// `Input`.
pub fn check_columns(options: &Options, table: &RawTable) -> Result<()> {
    let label = label_column(table, options)?;
    for (option, columns) in [("ignore", &options.ignore), ("categorical", &options.categorical)] {
        if let Some(column) = columns.iter().find(|column| label.as_ref() == Some(column)) {
            return Err(CliError::input(format!("--{option} {column}: is the label column of {}", table.name())));
        }
    }
    Ok(())
}

/// A saved run of two classes or of several.
#[derive(Debug)]
pub enum Saved {
    /// Two.
    Two(Box<SavedModel>),
    /// Several.
    Several(Box<SavedClassModel>),
}

impl Saved {
    /// Bytes of its numbers.
    pub fn real_bytes(&self) -> u8 {
        match self {
            Self::Two(saved) => saved.real_bytes,
            Self::Several(saved) => saved.real_bytes,
        }
    }
}

/// Reads a saved model.
///
/// # Errors
/// `Input`.
pub fn saved(path: &Path) -> Result<Saved> {
    let bytes = std::fs::read(path).map_err(|error| CliError::file(path, &error))?;
    let read = match SavedModel::from_bytes(&bytes) {
        Err(CheckpointError::NotOurs) => {
            SavedClassModel::from_bytes(&bytes).map(|saved| Saved::Several(Box::new(saved)))
        }
        two => two.map(|saved| Saved::Two(Box::new(saved))),
    };
    read.map_err(|error| CliError::input(format!("{}: {error}", path.display())))
}

/// Says on stderr what the preparation did that one may not expect.
pub fn notes<T: Real>(data: &Dataset<T>, file: &str) {
    let summary = data.summary();
    for (column, count) in &summary.missing {
        eprintln!("note: {file}: {count} missing values in column \"{column}\" were filled in");
    }
    for (column, count) in &summary.unseen {
        eprintln!("note: {file}: {count} values of column \"{column}\" did not occur in training and count as none");
    }
    if summary.beyond > 0 {
        eprintln!("note: {file}: {} values in columns beyond those of training were left out", summary.beyond);
    }
}
