//! What can end a command, and the exit code it ends with.

use crate::tell::text::{likely, shell};
use std::io;
use std::path::Path;
use undercurve::data::{DataError, DataErrorKind, Doubt};
use undercurve::trainer::TrainerError;

/// Why a command ends early.
#[derive(Debug)]
pub enum CliError {
    /// The input or an option is wrong: one line, exit code 2.
    Input(String),
    /// Something failed on the way: exit code 1.
    Failed(anyhow::Error),
    /// Whoever read the output has gone (`… | head`): nothing is wrong, exit code 0.
    Closed,
    /// A constraint that is required does not hold: exit code 3.
    Unmet(String),
    /// None that is required is known not to hold, and of one it cannot be told: exit code 4.
    Untold(String),
    /// Ctrl-C or SIGTERM, after everything was saved: exit code 130 or 143.
    Interrupted(u8),
}

/// `Result` of the commands.
pub type Result<T, E = CliError> = std::result::Result<T, E>;

impl CliError {
    /// Bad input.
    pub fn input(text: impl Into<String>) -> Self {
        Self::Input(text.into())
    }

    /// An operating system error about a file that the user named.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self::Input(format!("{}: {}", path.display(), plain(error)))
    }
}

/// An operating system error without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_string(),
        None => text,
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Of text that is written to memory.
impl From<std::fmt::Error> for CliError {
    fn from(error: std::fmt::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// What to do about a text among numbers.
pub fn stray(text: &str, column: &str) -> String {
    let [text, column] = [text, column].map(shell);
    format!("; --na {text} takes it for a missing value, --categorical {column} all for categories")
}

/// With the option that helps.
impl From<DataError> for CliError {
    fn from(error: DataError) -> Self {
        let told = in_row(&error).unwrap_or_else(|| error.to_string());
        Self::Input(match error.kind {
            DataErrorKind::MissingColumn { ref name, ref columns } => {
                let all: Vec<&str> = columns.iter().map(String::as_str).collect();
                let meant = likely(name, &all).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"));
                format!("{told}{meant}")
            }
            DataErrorKind::NotANumber { ref text, ref column } => format!("{told}{}", stray(text, column)),
            DataErrorKind::NoLabelColumn { .. } => format!("{told} (--label)"),
            DataErrorKind::Encoding => format!("{told} (--encoding latin1 reads Western European text of Windows)"),
            DataErrorKind::Missing { .. } => format!("{told} (without --missing refuse it is filled in)"),
            DataErrorKind::ManyLabels { .. } => format!("{told} (--positive)"),
            DataErrorKind::Doubtful { doubt, column, .. } => match doubt {
                Doubt::Decimal | Doubt::OtherMark => format!("{told} (--decimal point, or --decimal comma)"),
                Doubt::DateOrder => format!("{told} (--dates day, or --dates month)"),
                Doubt::ShortYear => format!(
                    "{told} (--dates day, --dates month, or --dates year; --categorical {column} takes it as text)"
                ),
                Doubt::MarkOfFile => {
                    format!("{told} (--categorical {column} takes it as text, --ignore {column} leaves it out)")
                }
                _ => format!("{told} (write them alike, or --ignore {column} leaves them out)"),
            },
            _ => told,
        })
    }
}

/// What is wrong with rows for a model, which decided in training what is left out and how numbers are written.
pub fn for_model(error: DataError) -> CliError {
    let told = in_row(&error).unwrap_or_else(|| error.to_string());
    match error.kind {
        DataErrorKind::NotANumber { .. } => {
            CliError::Input(format!("{told}; training had numbers there: mend the cell, or leave it empty"))
        }
        DataErrorKind::Doubtful { doubt, .. } => match doubt {
            Doubt::Decimal | Doubt::OtherMark | Doubt::DateOrder | Doubt::ShortYear => error.into(),
            _ => CliError::Input(format!("{told} (write them as in training, or leave them empty)")),
        },
        _ => error.into(),
    }
}

/// What is wrong with a file of scores, where nothing is filled in.
pub fn for_scores(error: DataError) -> CliError {
    let told = in_row(&error).unwrap_or_else(|| error.to_string());
    match error.kind {
        DataErrorKind::Missing { .. } | DataErrorKind::NotANumber { .. } => CliError::Input(format!(
            "{told}; each row needs a number as its score: mend the cell, or leave the row out"
        )),
        _ => error.into(),
    }
}

/// An error with its row in place of its line, where the file is Parquet, which has no lines.
fn in_row(error: &DataError) -> Option<String> {
    #[cfg(feature = "parquet")]
    if error.line > 0 {
        let row = crate::input::parquet::row_on_line(Path::new(&error.file), error.line)?;
        return Some(format!("{}: row {row}, column {}: {}", error.file, error.column, error.kind));
    }
    let _ = error;
    None
}

/// For a trainer that cannot be made: the input is at fault.
impl From<TrainerError> for CliError {
    fn from(error: TrainerError) -> Self {
        Self::Input(error.to_string())
    }
}

/// For options that the core refuses.
impl From<undercurve::Error> for CliError {
    fn from(error: undercurve::Error) -> Self {
        Self::Input(error.to_string())
    }
}

/// For work of an adapter that failed on the way.
#[cfg(feature = "gpu")]
impl From<undercurve_gpu::GpuError> for CliError {
    fn from(error: undercurve_gpu::GpuError) -> Self {
        Self::Failed(error.into())
    }
}
