//! A model as other programs take it: what `undercurve export` writes, and `toOnnx` of the npm package, which is built from these files, too.

pub mod json;
pub mod onnx;
mod proto;

use std::format;
use std::string::{String, ToString as _};
use std::vec;
use std::vec::Vec;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{EncodedColumn, Preparation, Source, Target};
use undercurve::decision::Calibration;
use undercurve::trainer::{ModelSpec, Predictor};

/// What the negative and the positive class are called, of two.
pub fn names_of_labels(preparation: &Preparation) -> [String; 2] {
    let positive = preparation.positive().unwrap_or("1");
    [preparation.negative().map_or_else(|| format!("not {positive}"), str::to_string), positive.to_string()]
}

/// The first column that is hashed, which no export does.
pub fn hashed(preparation: &Preparation) -> Option<&str> {
    preparation.notations().iter().find(|(_, of)| of.buckets > 0).map(|(column, _)| column.as_str())
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
    pub fn new<T: Real>(saved: &'a SavedModel, model: &'a Predictor<T>, numeric: bool) -> Option<Self> {
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
            names: names_of_labels(preparation),
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
    pub fn origins(&self) -> Vec<f64> {
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
    pub fn labels(&self) -> Option<&[String]> {
        match self.preparation.target() {
            Target::Binary => Some(&self.names),
            Target::Classes => Some(self.preparation.classes()),
            _ => None,
        }
    }

    /// What the output `score` is.
    pub fn score_is(&self) -> &'static str {
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
