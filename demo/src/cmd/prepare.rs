//! `undercurve prepare`: writes what a model would see, to train something else on the same rows.

use crate::args::data::{DataArgs, DataPlan};
use crate::error::{CliError, Result};
use crate::input;
use crate::output;
use crate::tell::table;
use std::fmt::Write as _;
use std::path::PathBuf;
use undercurve::data::{Dataset, Preparation, Rows, Split, prepare};

/// Options of `prepare`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Writes CSV with a header, the label (1 or 0) first; LIBSVM where the rows are sparse.

Example:
  undercurve prepare data.csv --split 0.6 --seed 1 --train train.csv --test test.csv")]
pub struct Args {
    /// CSV or LIBSVM, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Share of the rows for training, as in `train`
    #[arg(long, value_name = "SHARE", requires = "test")]
    split: Option<f64>,
    /// Decides the split, as in `train`
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where the training rows go
    #[arg(long, value_name = "FILE")]
    train: PathBuf,
    /// Where the test rows go
    #[arg(long, value_name = "FILE", requires = "split")]
    test: Option<PathBuf>,
    #[command(flatten)]
    reading: DataArgs,
}

/// What is prepared, and where it goes.
struct Plan {
    file: PathBuf,
    data: DataPlan,
    split: Option<Split>,
    train: PathBuf,
    test: Option<PathBuf>,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self { data: file, split, seed, train, test, reading } = self;
        let data = reading.check();
        if data.options.weight.is_some() || data.class_weight.is_some() {
            return Err(CliError::input("--weight, --class-weight: a file of features has no place for weights"));
        }
        if split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
            return Err(CliError::input("--split: expected a share above 0 and below 1"));
        }
        for path in [Some(&train), test.as_ref()].into_iter().flatten() {
            output::check_output(path, &[&file])?;
        }
        if test.as_ref() == Some(&train) {
            return Err(CliError::input(format!("{}: named for both --train and --test", train.display())));
        }
        Ok(Plan { file, data, split: split.map(|share| Split::new(share, seed)), train, test })
    }
}

/// Prepares and writes.
pub fn run(args: Args) -> Result<()> {
    let Plan { file, data, split, train, test } = args.check()?;
    let table = input::table_of(&file, &data)?;
    input::check_columns(&data.options, &table)?;
    let (train_rows, test_rows) = match split {
        Some(split) => {
            let all = prepare::<f64>(&table, &data.options, split)?;
            (all.train, Some(all.test))
        }
        None => (Preparation::fit(&table, &data.options)?.apply::<f64>(&table)?, None),
    };
    input::say(&input::reading_notes(&table, Some(&data.options), &file));
    for (path, rows) in [(Some(&train), Some(&train_rows)), (test.as_ref(), test_rows.as_ref())] {
        if let (Some(path), Some(rows)) = (path, rows) {
            output::write_atomic(path, text(rows).as_bytes())?;
            output::line(format!("{}: {} rows, {} positive", path.display(), rows.len(), rows.positives()))?;
        }
    }
    Ok(())
}

/// Numbers are written so that reading gives the same bits. (Writing to a string cannot fail.)
fn text(data: &Dataset<f64>) -> String {
    let mut out = String::new();
    match data.rows() {
        Rows::Dense { data: values, cols, .. } => {
            out.push_str("label");
            for column in 0..cols {
                let name = table::name(&data.column_name(column));
                let quoted = if name.starts_with('"') { name } else { format!("\"{name}\"") };
                let _ = write!(out, ",{quoted}");
            }
            out.push('\n');
            for (label, row) in data.labels().iter().zip(values.chunks(cols)) {
                let _ = write!(out, "{label}");
                for x in row {
                    let _ = write!(out, ",{x}");
                }
                out.push('\n');
            }
        }
        Rows::Csr { ptr, col, val, .. } => {
            for (row, label) in data.labels().iter().enumerate() {
                let _ = write!(out, "{label}");
                for at in ptr[row]..ptr[row + 1] {
                    let _ = write!(out, " {}:{}", col[at] + 1, val[at]);
                }
                out.push('\n');
            }
        }
    }
    out
}
