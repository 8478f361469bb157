//! Parquet files, whose columns are what their types say.

use crate::error::CliError;
use crate::output;
use std::fs::File;
use std::path::Path;
use undercurve::data::{Block, Format, Preparation, RawTable, ReadOptions};
use undercurve_arrow::parquet::{Error, blocks, parts, table};
pub use undercurve_arrow::parquet::{Text, first_rows, is_parquet};

/// Refuses options that such a file cannot have.
pub fn check(path: &Path, options: &ReadOptions) -> Result<(), CliError> {
    let shown = path.display();
    match (options.format, options.header) {
        (Format::Libsvm | Format::Whitespace, _) => {
            Err(CliError::input(format!("{shown}: a Parquet file, which is read with --format auto or csv alone")))
        }
        (_, Some(false)) => {
            Err(CliError::input(format!("--header no: {shown} is a Parquet file, which names its columns")))
        }
        _ => Ok(()),
    }
}

/// What is wrong with a file.
pub fn told(path: &Path, error: Error) -> CliError {
    match error {
        Error::File(text) => CliError::input(format!("{}: {text}", path.display())),
        Error::Data(error) => error.into(),
    }
}

fn open(path: &Path) -> Result<File, CliError> {
    File::open(path).map_err(|error| CliError::file(path, &error))
}

/// The table of a file.
pub fn read(path: &Path, options: &ReadOptions) -> Result<RawTable, CliError> {
    check(path, options)?;
    table(open(path)?, options, &path.display().to_string()).map_err(|error| told(path, error))
}

/// An error on the way of some rows.
enum Stop {
    File(Error),
    Taken(CliError),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl Stop {
    fn told(self, path: &Path) -> CliError {
        match self {
            Self::File(error) => told(path, error),
            Self::Taken(error) => error,
        }
    }
}

/// Calls `take` with parts of so many rows, until it says false.
pub fn each(
    path: &Path,
    options: &ReadOptions,
    rows: usize,
    mut take: impl FnMut(RawTable) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    check(path, options)?;
    let name = path.display().to_string();
    parts(open(path)?, options, rows, &name, |part| take(part).map_err(Stop::Taken)).map_err(|stop| stop.told(path))
}

/// Calls `take` with the rows that a model reads, batch after batch, and the cells of the columns `keep`. What columns there are.
pub fn rows(
    path: &Path,
    options: &ReadOptions,
    of: &Preparation,
    keep: &[String],
    mut take: impl FnMut(&Block) -> Result<(), CliError>,
) -> Result<Vec<String>, CliError> {
    check(path, options)?;
    let (name, wanted) = (path.display().to_string(), of.known());
    let wanted = |column: &str| wanted.iter().any(|(name, _)| name == column);
    let mut any = false;
    let take = |block: &Block| {
        any = true;
        take(block).map_err(Stop::Taken)
    };
    let names = blocks(open(path)?, options, wanted, keep, &name, take).map_err(|stop| stop.told(path))?;
    if !any {
        output::note(format_args!("{name}: no rows"));
    }
    Ok(names)
}
