//! What can end a command, and the exit code it ends with.

use crate::tell::text::{likely, shell};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
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
    let (na, column) = (shell(&format!("{column}={text}")), shell(column));
    format!("; --na {na} takes it for a missing value, --categorical {column} all for categories")
}

/// Labels of two kinds but for case and blanks, those of the positive one: yes, true or positive, else those of the first.
pub fn alike(labels: &[String]) -> Option<String> {
    let folded = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for label in labels {
        let name = folded(label);
        match kinds.iter_mut().find(|kind| kind.0 == name) {
            Some((_, all)) => all.push(label),
            None => kinds.push((name, vec![label])),
        }
    }
    let is_positive = |name: &str| ["yes", "true", "positive", "y", "t"].contains(&name);
    let positive = kinds.iter().find(|kind| is_positive(&kind.0)).or(kinds.first())?;
    (kinds.len() == 2).then(|| shell(&positive.1.join(",")))
}

/// With the option that helps.
impl From<DataError> for CliError {
    fn from(error: DataError) -> Self {
        let told = in_row(&error).unwrap_or_else(|| error.to_string());
        Self::Input(match error.kind {
            DataErrorKind::MissingColumn { ref name, ref columns } => {
                let all: Vec<&str> = columns.iter().map(String::as_str).collect();
                let meant = likely(name, &all).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"));
                let below = match error.line {
                    2.. => format!(" (--skip {} takes this line for the names)", error.line - 1),
                    _ => String::new(),
                };
                format!("{told}{meant}{below}")
            }
            DataErrorKind::NotANumber { ref text, ref column } => format!("{told}{}", stray(text, column)),
            DataErrorKind::NonFinite { ref text } => {
                format!("{told} (--na {} takes it for a missing value)", shell(text))
            }
            DataErrorKind::Ragged { need: 1, .. } if (2..=100).contains(&error.line) => {
                format!("{told} (--skip {} begins with this one)", error.line - 1)
            }
            DataErrorKind::Ragged { got: 1, .. } if error.line > 1 => match lines_from(&error.file, error.line) {
                Some(lines) => format!("{told} (--skip-end {lines} leaves out the lines from there)"),
                None => told,
            },
            DataErrorKind::NoLabelColumn { .. } => format!("{told} (--label)"),
            DataErrorKind::Encoding => format!("{told} (--encoding latin1 reads Western European text of Windows)"),
            DataErrorKind::Missing { .. } => format!("{told} (without --missing refuse it is filled in)"),
            DataErrorKind::ManyLabels { ref labels, .. } => match alike(labels) {
                Some(all) => format!("{told} (--positive {all} names all spellings of one)"),
                None => format!("{told} (--positive)"),
            },
            DataErrorKind::LabelSpellings { ref labels } => format!("{told} (--positive {})", shell(&labels.join(","))),
            DataErrorKind::LabelTwice { ref column, .. } => {
                format!("{told} (--categorical {} keeps them apart)", shell(column))
            }
            DataErrorKind::LabelWord { ref word, ref column, .. } => format!(
                "{told} (--na {} leaves these rows out, --na {} takes it as a class)",
                shell(word),
                shell(&format!("{column}="))
            ),
            DataErrorKind::Doubtful { doubt, column, .. } => {
                let column = shell(&column);
                let text = format!("--categorical {column} takes it as text");
                match doubt {
                    Doubt::Decimal | Doubt::OtherMark => format!("{told} (--decimal point, or --decimal comma)"),
                    Doubt::DateOrder => format!("{told} (--dates day, or --dates month)"),
                    Doubt::ShortYear => format!("{told} (--dates day, --dates month, or --dates year; {text})"),
                    Doubt::Unreadable => format!("{told} (--ignore {column} leaves it out)"),
                    Doubt::MarkOfFile | Doubt::Clock => format!("{told} ({text}, --ignore {column} leaves it out)"),
                    _ => format!("{told} (write them alike, or --ignore {column} leaves them out)"),
                }
            }
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
        DataErrorKind::OtherKind { .. } => {
            CliError::Input(format!("{told}: write it as in training, or leave it empty"))
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
        DataErrorKind::NonFinite { ref text } => {
            let (least, last) = if text.starts_with('-') { ("-1e308", "last") } else { ("1e308", "first") };
            CliError::Input(format!("{told}: write {least} for a row that is to be {last}"))
        }
        _ => error.into(),
    }
}

/// How many lines a file has from one on, where those are few: a footer.
fn lines_from(file: &str, line: u32) -> Option<usize> {
    let text = BufReader::new(File::open(file).ok()?);
    let from = text.split(b'\n').map_while(io::Result::ok).skip(line as usize - 1);
    let lines = from.filter(|line| !line.trim_ascii().is_empty()).take(FOOTER + 1).count();
    (1..=FOOTER).contains(&lines).then_some(lines)
}

/// Lines of a footer at most.
const FOOTER: usize = 20;

/// An error with its row in place of its line, where the file is Parquet, which has no lines.
fn in_row(error: &DataError) -> Option<String> {
    #[cfg(feature = "parquet")]
    if error.line > 0 && undercurve_arrow::parquet::is_parquet(Path::new(&error.file)) {
        return Some(format!("{}: row {}, column {}: {}", error.file, error.line, error.column, error.kind));
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

/// For a search.
impl From<undercurve_search::Error> for CliError {
    fn from(error: undercurve_search::Error) -> Self {
        use undercurve_search::Error;
        match error {
            Error::Folds { count, why } => Self::Input(format!("--folds {count}: {why}")),
            Error::Data(error) => error.into(),
            Error::Core(error) => error.into(),
            Error::Trainer(error) => error.into(),
            Error::Input(text) => Self::Input(text),
            Error::Stopped => Self::Closed,
            Error::Panicked => undercurve_search::Panicked.into(),
        }
    }
}

/// For a thread that panicked.
impl From<undercurve_search::Panicked> for CliError {
    fn from(_: undercurve_search::Panicked) -> Self {
        Self::Failed(anyhow::anyhow!("a worker failed"))
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
