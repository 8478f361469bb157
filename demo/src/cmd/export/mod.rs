//! `undercurve export`: a model for other programs, with its preparation inside.

mod int8;
mod json;
mod source;

use crate::error::{CliError, Result};
use crate::export::{Exported, hashed, onnx};
use crate::{input, output};
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;

/// Options of `export`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
ONNX: a graph for onnxruntime and others. What is filled in, scaled and looked up is done in it. NaN is a missing number, and a
date is days since 1970-01-01. Where training refused missing values NaN gives NaN, and no class.

- As numbers (--numeric, and without it where the model is f32 and has numbers alone, which f32 holds): one input x, float, rows ×
  columns of the table in their order; a category is its place in the list of its column, from 0. Outputs, float: score; probability,
  where `predict` has one. Metadata, as JSON: \"columns\", each with its name, and its categories or the \"origin\" that is
  subtracted before the number becomes a float (0 but for dates and others far from 0); \"labels\"; \"threshold\". Also
  engines without strings and doubles load it.
- By columns otherwise, for onnxruntime: an input for each, rows × 1, called as it is (a column that is called as an output:
  \"column NAME\"): double for numbers, string for categories, empty where one is missing. Outputs in the model's precision, and
  class, where the model has a threshold or several classes.

JSON: the same as numbers and names, described in the guide's page on deploying (core/src/guide/deploying.md).

C, JavaScript, Rust: a file that needs nothing else, with score(row) and, where there is one, THRESHOLD; its first lines say what a row
has. Scores have the bits of `predict`. Of two classes or numbers, from tables of up to 1024 encoded columns, without tanh.
With --int8 ROWS in C and Rust the weights are bytes, a quarter of the flash; AP and AUROC on ROWS, with and without, stand in the file.
With --numeric C and Rust compute in floats, from rows of floats as the graph of numbers has them: for processors without doubles, where
the routines for these are larger than a linear model. Scores are then near those of `predict`, to six digits or so.

Examples:
  undercurve export data.model data.onnx
  undercurve export data.model data.onnx --numeric
  undercurve export data.model data.json
  undercurve export data.model data.c
  undercurve export data.model data.c --numeric
  undercurve export data.model data.c --int8 held-out.csv")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File to write; its name ends with .onnx, .json, .c, .js, .mjs or .rs
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// f32 numbers alone: ONNX also where there are categories, dates or f64; C and Rust without doubles
    #[arg(long)]
    numeric: bool,
    /// Round weights to bytes, for C and Rust of two classes; what that costs on these labelled rows is written in the file
    #[arg(long, value_name = "ROWS")]
    int8: Option<PathBuf>,
}

#[derive(Clone, Copy)]
enum To {
    Onnx,
    Json,
    Source(source::To),
}

pub fn run(Args { model, file, numeric, int8 }: Args) -> Result<()> {
    let extension = file.extension().and_then(|text| text.to_str()).unwrap_or_default().to_ascii_lowercase();
    let to = match extension.as_str() {
        "onnx" => To::Onnx,
        "c" => To::Source(source::To::C),
        "rs" => To::Source(source::To::Rust),
        _ if numeric => {
            return Err(CliError::input("--numeric is of ONNX, C and Rust: expected a name with .onnx, .c or .rs"));
        }
        "json" => To::Json,
        "js" | "mjs" => To::Source(source::To::JavaScript),
        _ => {
            let file = file.display();
            return Err(CliError::input(format!("{file}: expected a name with .onnx, .json, .c, .js, .mjs or .rs")));
        }
    };
    if int8.is_some() && !matches!(to, To::Source(source::To::C | source::To::Rust)) {
        return Err(CliError::input("--int8 is of C and Rust: expected a name with .c or .rs"));
    }
    output::check_output(&file, &int8.iter().chain([&model]).map(PathBuf::as_path).collect::<Vec<_>>())?;
    let saved = input::saved(&model)?;
    if let Some(column) = hashed(&saved.preparation) {
        let model = model.display();
        return Err(CliError::input(format!(
            "{model}: hashes column \"{column}\" (--hash), which no export does; `undercurve predict` scores by it"
        )));
    }
    let bytes = match saved.real_bytes {
        4 => bytes_of::<f32>(&model, &saved, numeric, int8.as_deref(), to)?,
        _ => bytes_of::<f64>(&model, &saved, numeric, int8.as_deref(), to)?,
    };
    output::write_atomic(&file, &bytes)?;
    let columns = saved.preparation.sources().len();
    let inputs = if columns == 0 { saved.preparation.cols() } else { columns };
    output::line(format!("{}: a model of {inputs} columns, {} bytes", file.display(), bytes.len()))
}

fn bytes_of<T: Real>(path: &Path, saved: &SavedModel, numeric: bool, int8: Option<&Path>, to: To) -> Result<Vec<u8>> {
    let model = input::model::<T>(path, saved)?;
    let none = || CliError::input(format!("{}: no export of a model {}", path.display(), model.config().model));
    let mut exported = Exported::new(saved, &model, numeric).ok_or_else(none)?;
    let int8 = int8.map(|rows| int8::round(&mut exported, &model, rows)).transpose()?;
    match to {
        To::Onnx => Ok(onnx::write(&exported)),
        To::Json => Ok(json::write(&exported)),
        To::Source(to) => source::write(&exported, int8.as_ref(), to, numeric).map_err(|why| {
            CliError::input(format!("{}: a model {why} has no source; .onnx and .json are for all", path.display()))
        }),
    }
}
