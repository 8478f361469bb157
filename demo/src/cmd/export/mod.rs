//! `undercurve export`: a model for other programs, with its preparation inside.

mod json;
mod onnx;
mod proto;
mod source;

use crate::error::{CliError, Result};
use crate::{input, output};
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{EncodedColumn, Preparation, Source, Target};
use undercurve::decision::Calibration;
use undercurve::trainer::{ModelSpec, Predictor};

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

Examples:
  undercurve export data.model data.onnx
  undercurve export data.model data.onnx --numeric
  undercurve export data.model data.json
  undercurve export data.model data.c")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File to write; its name ends with .onnx, .json, .c, .js, .mjs or .rs
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// ONNX of f32 numbers alone, also where there are categories, dates or f64
    #[arg(long)]
    numeric: bool,
}

#[derive(Clone, Copy)]
enum To {
    Onnx,
    Json,
    Source(source::To),
}

/// How a score becomes a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Link<'a> {
    Sigmoid,
    Softmax,
    Calibrated(&'a Calibration),
}

/// A dense layer: weights input-major, `inputs × outputs`.
pub struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
}

/// What both formats say.
pub struct Exported<'a> {
    pub preparation: &'a Preparation,
    /// Columns that are read; none for rows without names of columns.
    pub sources: Vec<(&'a str, Source<'a>)>,
    /// Columns after encoding.
    pub features: Vec<EncodedColumn>,
    pub layers: Vec<Layer>,
    /// Between layers: `relu` or `tanh`.
    pub activation: Option<&'static str>,
    pub real_bytes: usize,
    /// Whether ONNX is of f32 numbers alone.
    pub numeric: bool,
    pub link: Option<Link<'a>>,
    /// Finite: the largest number stands for one that no score reaches.
    pub threshold: Option<f64>,
    /// What the negative and the positive class are called, of two.
    pub names: [String; 2],
    pub method: &'a str,
    pub spec: String,
    /// How it was trained, for people.
    pub facts: Vec<(String, String)>,
}

impl<'a> Exported<'a> {
    fn new<T: Real>(saved: &'a SavedModel, model: &'a Predictor<T>, numeric: bool) -> Option<Self> {
        let (preparation, config) = (&saved.preparation, model.config());
        let heads = model.classes().len().max(1);
        let (hidden, activation): (&[usize], _) = match &config.model {
            ModelSpec::Linear => (&[], None),
            ModelSpec::Mlp { hidden, tanh } => (hidden, Some(if *tanh { "tanh" } else { "relu" })),
            _ => return None,
        };
        let (mut inputs, mut rest, mut layers) = (preparation.cols(), model.params(), Vec::new());
        let f64s = |values: &[T]| values.iter().map(|x| x.f64()).collect();
        for &outputs in hidden.iter().chain([&heads]) {
            let (weights, behind) = rest.split_at(inputs * outputs);
            let (bias, behind) = behind.split_at(outputs);
            layers.push(Layer { inputs, outputs, weights: f64s(weights), bias: f64s(bias) });
            (inputs, rest) = (outputs, behind);
        }
        let trained = &saved.trained;
        let mut facts = vec![
            ("method".to_string(), config.method.clone()),
            ("seed".to_string(), config.seed.to_string()),
            ("step".to_string(), trained.step.to_string()),
        ];
        facts.extend(trained.figures.iter().map(|(name, value)| (name.clone(), value.to_string())));
        let link = if heads > 1 { Link::Softmax } else { Link::Sigmoid };
        let mut exported = Self {
            preparation,
            sources: preparation.sources(),
            features: preparation.encoded(),
            layers,
            activation,
            real_bytes: T::BYTES,
            numeric,
            link: model.calibration().map(Link::Calibrated).or(model.has_probabilities().then_some(link)),
            threshold: model
                .threshold()
                .filter(|_| preparation.target() == Target::Binary)
                .map(|at| at.clamp(f64::MIN, f64::MAX)),
            names: input::names_of_labels(preparation),
            method: &config.method,
            spec: config.model.to_string(),
            facts,
        };
        let numbers = exported.sources.iter().all(|(_, source)| !source.is_category());
        let near = exported.origins().iter().all(|&origin| origin == 0.0)
            && (!exported.sources.is_empty() || exported.features.iter().all(|f| f32_holds(f.shift, f.divisor)));
        exported.numeric |= T::BYTES == 4 && numbers && near;
        Some(exported)
    }

    /// What the number of each column of a table is moved by before f32 holds it: 0 where it does anyway.
    fn origins(&self) -> Vec<f64> {
        let mut from = 0;
        let each = self.sources.iter().map(|(_, source)| {
            let of = &self.features[from];
            // About where its numbers are, and how far apart.
            let (middle, spread) = match source {
                Source::Pieces { pieces, .. } => {
                    let ends = || pieces.iter().flat_map(|piece| [piece.low, piece.high]).filter(|end| end.is_finite());
                    let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
                    (low, high - low)
                }
                Source::Ranked { knots, .. } => (knots[0].at, knots[knots.len() - 1].at - knots[0].at),
                Source::Number { .. } => (of.shift, of.divisor),
                _ => (0.0, 0.0),
            };
            from += source.width();
            if f32_holds(middle, spread) {
                0.0
            } else if f32_holds(middle - middle.round(), spread) {
                middle.round()
            } else {
                middle
            }
        });
        each.collect()
    }

    /// The classes, in the order of their numbers; none of a regression.
    fn labels(&self) -> Option<&[String]> {
        match self.preparation.target() {
            Target::Binary => Some(&self.names),
            Target::Classes => Some(self.preparation.classes()),
            _ => None,
        }
    }

    /// What the output `score` is.
    fn score_is(&self) -> &'static str {
        match self.preparation.target() {
            Target::Binary => "higher for rather positive rows",
            Target::Classes => "one for each class: its log-odds against all others",
            _ => "the number that is predicted",
        }
    }
}

/// Whether f32 holds numbers about here that lie so far apart: to a millionth of that.
fn f32_holds(middle: f64, spread: f64) -> bool {
    spread == 0.0 || middle.abs() <= 16.0 * spread
}

pub fn run(Args { model, file, numeric }: Args) -> Result<()> {
    let extension = file.extension().and_then(|text| text.to_str()).unwrap_or_default().to_ascii_lowercase();
    let to = match extension.as_str() {
        "onnx" => To::Onnx,
        _ if numeric => return Err(CliError::input("--numeric is of ONNX: expected a name with .onnx")),
        "json" => To::Json,
        "c" => To::Source(source::To::C),
        "js" | "mjs" => To::Source(source::To::JavaScript),
        "rs" => To::Source(source::To::Rust),
        _ => {
            let file = file.display();
            return Err(CliError::input(format!("{file}: expected a name with .onnx, .json, .c, .js, .mjs or .rs")));
        }
    };
    output::check_output(&file, &[&model])?;
    let saved = input::saved(&model)?;
    if let Some((column, _)) = saved.preparation.notations().iter().find(|(_, of)| of.buckets > 0) {
        let model = model.display();
        return Err(CliError::input(format!(
            "{model}: hashes column \"{column}\" (--hash), which no export does; `undercurve predict` scores by it"
        )));
    }
    let bytes = match saved.real_bytes {
        4 => bytes_of::<f32>(&model, &saved, numeric, to)?,
        _ => bytes_of::<f64>(&model, &saved, numeric, to)?,
    };
    output::write_atomic(&file, &bytes)?;
    let columns = saved.preparation.sources().len();
    let inputs = if columns == 0 { saved.preparation.cols() } else { columns };
    output::line(format!("{}: a model of {inputs} columns, {} bytes", file.display(), bytes.len()))
}

fn bytes_of<T: Real>(path: &Path, saved: &SavedModel, numeric: bool, to: To) -> Result<Vec<u8>> {
    let model = input::model::<T>(path, saved)?;
    let none = || CliError::input(format!("{}: no export of a model {}", path.display(), model.config().model));
    let exported = Exported::new(saved, &model, numeric).ok_or_else(none)?;
    match to {
        To::Onnx => Ok(onnx::write(&exported)),
        To::Json => Ok(json::write(&exported)),
        To::Source(to) => source::write(&exported, to).map_err(|why| {
            CliError::input(format!("{}: a model {why} has no source; .onnx and .json are for all", path.display()))
        }),
    }
}
