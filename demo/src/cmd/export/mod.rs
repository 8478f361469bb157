//! `undercurve export`: a model for other programs, with its preparation inside.

mod json;
mod onnx;
mod proto;

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
ONNX: a graph for onnxruntime and others. Its inputs are the columns of the table, one tensor of rows × 1 each, called as they
are (a column that is called as an output: \"column NAME\"): double for numbers, with NaN where one is missing (a date is days
since 1970-01-01), string for categories, empty where one is missing. A model of LIBSVM rows has one input x, rows × columns.
Outputs: score; probability, where `predict` has one; class, where the model has a threshold or several classes. What is filled
in, scaled and looked up is done in the graph; where training refused missing values NaN gives NaN, and no class (an empty text).

JSON: the same as numbers and names, described in the guide's page on deploying (core/src/guide/deploying.md).

Examples:
  undercurve export data.model data.onnx
  undercurve export data.model data.json")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File to write; its name ends with .onnx or .json
    #[arg(value_name = "FILE")]
    file: PathBuf,
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
    fn new<T: Real>(saved: &'a SavedModel, model: &'a Predictor<T>) -> Option<Self> {
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
        Some(Self {
            preparation,
            sources: preparation.sources(),
            features: preparation.encoded(),
            layers,
            activation,
            real_bytes: T::BYTES,
            link: model.calibration().map(Link::Calibrated).or(model.has_probabilities().then_some(link)),
            threshold: model
                .threshold()
                .filter(|_| preparation.target() == Target::Binary)
                .map(|at| at.clamp(f64::MIN, f64::MAX)),
            names: input::names_of_labels(preparation),
            method: &config.method,
            spec: config.model.to_string(),
            facts,
        })
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

pub fn run(Args { model, file }: Args) -> Result<()> {
    let extension = file.extension().and_then(|text| text.to_str()).unwrap_or_default().to_ascii_lowercase();
    let write = match extension.as_str() {
        "onnx" => onnx::write,
        "json" => json::write,
        _ => return Err(CliError::input(format!("{}: expected a name with .onnx or .json", file.display()))),
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
        4 => bytes_of::<f32>(&model, &saved, write)?,
        _ => bytes_of::<f64>(&model, &saved, write)?,
    };
    output::write_atomic(&file, &bytes)?;
    let columns = saved.preparation.sources().len();
    let inputs = if columns == 0 { saved.preparation.cols() } else { columns };
    output::line(format!("{}: a model of {inputs} columns, {} bytes", file.display(), bytes.len()))
}

fn bytes_of<T: Real>(path: &Path, saved: &SavedModel, write: impl Fn(&Exported<'_>) -> Vec<u8>) -> Result<Vec<u8>> {
    let model = input::model::<T>(path, saved)?;
    let none = || CliError::input(format!("{}: no export of a model {}", path.display(), model.config().model));
    Ok(write(&Exported::new(saved, &model).ok_or_else(none)?))
}
