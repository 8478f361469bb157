//! Saved models: they score rows without the training data.

use crate::export::{Exported, hashed, json, onnx};
use crate::failure::Failure;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Preparation, Scale, Target};
use undercurve::trainer::Predictor;
use wasm_bindgen::prelude::wasm_bindgen;

enum Any {
    Narrow(Predictor<f32>),
    Wide(Predictor<f64>),
}

/// A model file that `train --out` or `--save` wrote.
#[wasm_bindgen]
pub struct Model {
    any: Any,
    /// What else the file says, without the run.
    saved: SavedModel,
    kept: Vec<String>,
}

macro_rules! each {
    ($any:expr, $model:ident => $body:expr) => {
        match $any {
            Any::Narrow($model) => $body,
            Any::Wide($model) => $body,
        }
    };
}

#[wasm_bindgen]
impl Model {
    /// Reads a model file.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Self, Failure> {
        let saved = SavedModel::from_bytes(bytes)?;
        let any = match saved.real_bytes {
            4 => Any::Narrow(Predictor::of(&saved)?),
            _ => Any::Wide(Predictor::of(&saved)?),
        };
        let saved = SavedModel { trainer: Vec::new(), best: None, ..saved };
        Ok(Self { any, saved, kept: Vec::new() })
    }

    /// `{ method, model, single, label, columns: [{ name, categorical }], positive, negative, classes, threshold, rule, probabilities,
    /// calibration, numbers }`.
    pub fn describe(&self) -> String {
        let text = |text: Option<&str>| text.map_or("null".to_string(), json::string);
        let columns = self.saved.preparation.sources().into_iter();
        let columns = columns.map(|(name, source)| {
            json::object([("name", json::string(name)), ("categorical", source.is_category().to_string())])
        });
        let rule = self.saved.decided.as_ref().map(|decided| decided.rule.to_string());
        let calibration = self.saved.calibrated.as_ref().map(|calibrated| calibrated.calibration.how().to_string());
        let (config, threshold, probabilities) =
            each!(&self.any, model => (model.config(), model.threshold(), model.has_probabilities()));
        json::object([
            ("method", json::string(&config.method)),
            ("model", json::string(&config.model.to_string())),
            ("single", matches!(self.any, Any::Narrow(_)).to_string()),
            ("label", text(self.saved.preparation.label_column())),
            ("columns", json::array(columns)),
            ("positive", text(self.saved.preparation.positive())),
            ("negative", text(self.saved.preparation.negative())),
            ("classes", json::array(self.saved.preparation.classes().iter().map(|name| json::string(name)))),
            ("threshold", threshold.filter(|at| at.is_finite()).map_or("null".to_string(), |at| format!("{at}"))),
            ("rule", text(rule.as_deref())),
            ("probabilities", probabilities.to_string()),
            ("calibration", text(calibration.as_deref())),
            ("numbers", (self.saved.preparation.target() == Target::Values).to_string()),
        ])
    }

    /// The model of a saved session, with the preparation that [`Prepared::preparation`](crate::files::Prepared) gave its rows.
    pub fn of(preparation: &[u8], session: &[u8]) -> Result<Self, Failure> {
        let preparation = SavedModel::from_bytes(preparation)?.preparation;
        Self::new(&Predictor::<f32>::load(session)?.file(preparation).to_bytes())
    }

    /// The model of a saved session of the caller's arrays. `shifts` and `divisors` are empty unless columns were
    /// standardised; `unit` says whether rows were divided by their length.
    #[wasm_bindgen(js_name = ofArrays)]
    pub fn of_arrays(
        names: Vec<String>,
        unit: bool,
        shifts: &[f64],
        divisors: &[f64],
        label: Option<String>,
        classes: Vec<String>,
        session: &[u8],
    ) -> Result<Self, Failure> {
        let model = Predictor::<f32>::load(session)?;
        let maps: Vec<(f64, f64)> = shifts.iter().copied().zip(divisors.iter().copied()).collect();
        let scale = match (unit, maps.is_empty()) {
            (true, _) => Scale::Unit,
            (false, true) => Scale::None,
            (false, false) => Scale::Standard,
        };
        let cols = undercurve::model::Model::<f32>::inputs(model.model());
        let preparation = Preparation::of_scaled(&names, cols, scale, &maps, label, &classes)?;
        Self::new(&model.file(preparation).to_bytes())
    }

    /// The bytes of a model file.
    pub fn save(&self) -> Vec<u8> {
        let trainer = each!(&self.any, model => model.save());
        SavedModel { trainer, ..self.saved.clone() }.to_bytes()
    }

    /// Its parameters, if they are of f32.
    pub fn params(&self) -> Option<Vec<f32>> {
        match &self.any {
            Any::Narrow(model) => Some(model.params().to_vec()),
            Any::Wide(_) => None,
        }
    }

    /// The model as ONNX, as `undercurve export` writes it; `numeric`: of f32 numbers alone.
    #[wasm_bindgen(js_name = toOnnx)]
    pub fn to_onnx(&self, numeric: bool) -> Result<Vec<u8>, Failure> {
        if let Some(column) = hashed(&self.saved.preparation) {
            return Err(Failure::new(11, "model", &format!("model: hashes column \"{column}\", which no export does")));
        }
        each!(&self.any, model => match Exported::new(&self.saved, model, numeric) {
            Some(exported) => Ok(onnx::write(&exported)),
            None => Err(Failure::new(11, "model", &format!("model: no export of a model {}", model.config().model))),
        })
    }

    /// Scores of the rows of a CSV or LIBSVM text, with a label or without: one a row, or one for each class. The cells of the
    /// columns `keep` are left in `kept`.
    pub fn predict(&mut self, text: &[u8], keep: Vec<String>, name: &str) -> Result<Vec<f64>, Failure> {
        let (scores, kept) = each!(&mut self.any, model => {
            let all = model.predict_file(text, &keep, name)?;
            (all.scores.into_iter().map(Real::f64).collect(), all.kept)
        });
        self.kept = kept;
        Ok(scores)
    }

    /// Takes the cells that the last `predict` kept, rows × columns.
    pub fn kept(&mut self) -> Vec<String> {
        core::mem::take(&mut self.kept)
    }

    /// Scores of one row, given as names of columns and their cells as text.
    #[wasm_bindgen(js_name = predictOne)]
    pub fn predict_one(&mut self, names: Vec<String>, cells: Vec<String>) -> Result<Vec<f64>, Failure> {
        let row: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(cells.iter().map(String::as_str)).collect();
        Ok(each!(&mut self.any, model => model.predict_one(&row)?.into_iter().map(Real::f64).collect()))
    }

    /// The probabilities of scores; empty where there are none.
    pub fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        each!(&self.any, model => scores.iter().filter_map(|&s| model.probability(Real::of(s)).map(Real::f64)).collect())
    }

    /// The class of each row: 1 or 0 by the threshold, or the number of the class; empty where there are none.
    pub fn classes(&self, scores: &[f64]) -> Vec<u32> {
        fn of<T: Real>(model: &Predictor<T>, scores: &[f64]) -> Vec<u32> {
            let scores: Vec<T> = scores.iter().map(|&score| T::of(score)).collect();
            let rows = scores.chunks_exact(model.classes().len().max(1));
            rows.filter_map(|row| model.class(row).map(|class| class as u32)).collect()
        }
        each!(&self.any, model => of(model, scores))
    }
}
