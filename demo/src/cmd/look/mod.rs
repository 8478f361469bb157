//! `undercurve look`: what a data file holds, what is doubtful in it, and what to type next.

pub mod find;
mod tell;

use crate::args::data::DataArgs;
use crate::error::{CliError, Result};
use crate::{input, output};
use std::path::PathBuf;

/// Options of `look`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
For each column: how its cells are read, how many are missing, and three of them. Then what is doubtful, with the option that
decides it; what training would leave out; columns that alone rank the label almost perfectly, as what is known only after the
fact does; copies of rows; dates to split by. The last line is the next command.

--schema FILE writes what was found to a file to edit; where there is one, DATA is read by it. `train --schema FILE` reads by it,
too, and refuses data that are otherwise. The model keeps how its columns are written, and `predict` reads by that.

Examples:
  undercurve look claims.csv
  undercurve look claims.csv --label fraud --schema claims.schema
  undercurve look claims.csv --label fraud --json

Exit code: 0, also where something is doubtful; 2 where the file cannot be read.")]
pub struct Args {
    /// CSV or LIBSVM, plain, gzip or zstd; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    reading: DataArgs,
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

pub fn run(Args { data: file, reading, json }: Args) -> Result<()> {
    let data = reading.check();
    let new = data.schema.as_ref().filter(|schema| !schema.is_there).map(|schema| schema.file.clone());
    new.as_ref().map_or(Ok(()), |path| output::check_output(path, &[&file]))?;
    let (table, rows) = input::table_and_cells(&file, &mut input::reads_of(&data), 1000)?;
    input::check_na(&data.na, &table)?;
    if let (Some(schema), None) = (&data.schema, &new) {
        schema.check(&table).map_err(CliError::Input)?;
    }
    let found = find::look(table, &rows, data.layout.decimal.is_some(), &data.options, &file)?;
    let told = tell::Told { found: &found, file: &file, data: &data };
    new.as_ref().map_or(Ok(()), |path| output::write_atomic(path, told.schema().as_bytes()))?;
    if json { output::line(told.object()) } else { told.lines(new.as_deref()) }
}
