//! Weights as bytes: rounded to 127 steps either way, with a scale for each unit, and what that costs on rows with labels.

use crate::error::{CliError, Result};
use crate::export::Exported;
use crate::input::{self, Layout};
use crate::tell;
use std::path::Path;
use undercurve::Real;
use undercurve::data::Target;
use undercurve::metric::{FprRange, Metrics};
use undercurve::trainer::Predictor;

/// What is known of a model of such weights.
pub struct Int8 {
    /// Of each layer the scale of each of its units; a weight is a whole number from −127 to 127 of these.
    pub scales: Vec<Vec<f64>>,
    /// Its loss, in a line.
    pub told: String,
}

/// Rounds the weights, and measures both models on these rows.
pub fn round<T: Real>(exported: &mut Exported<'_>, model: &Predictor<T>, path: &Path) -> Result<Int8> {
    if exported.preparation.target() != Target::Binary {
        return Err(CliError::input("--int8: its loss is measured on two classes, and this model has others"));
    }
    let (mut scales, mut params) = (Vec::new(), Vec::new());
    for layer in &mut exported.layers {
        let unit =
            |o: usize| layer.weights[o..].iter().step_by(layer.outputs).fold(0.0, |most: f64, w| w.abs().max(most));
        // (In the model's precision, as the source has it.)
        let own: Vec<f64> = (0..layer.outputs).map(|o| T::of(unit(o) / 127.0).f64()).collect();
        for (at, weight) in layer.weights.iter_mut().enumerate() {
            let scale = own[at % layer.outputs];
            *weight = if scale > 0.0 { (*weight / scale).round().clamp(-127.0, 127.0) } else { 0.0 };
            params.push(T::of(*weight * scale));
        }
        params.extend(layer.bias.iter().map(|&bias| T::of(bias)));
        scales.push(own);
    }
    let mut models = [model.clone(), model.clone().with_params(params)?];
    let table = input::table_again(path, Layout::default(), exported.preparation)?;
    let data = exported.preparation.apply::<T>(&table)?;
    data.require_every_class(&path.display().to_string())?;
    let [full, bytes] = models.each_mut().map(|model| tell::scores(model, &data));
    let (full, bytes) = (full?, bytes?);
    let mut memory = Metrics::new();
    let mut of = |scores: &[T]| memory.summary(scores, &data.truth(), FprRange::new(0.0, 1.0)?);
    let (before, after) = (of(&full)?, of(&bytes)?);
    let other = |at: f64| full.iter().zip(&bytes).filter(|(a, b)| (a.f64() >= at) != (b.f64() >= at)).count();
    let other = exported.threshold.map_or_else(String::new, |at| format!(", {} of another class", other(at)));
    let told = format!(
        "// Weights are bytes: AP {:.4} ({:.4} before), AUROC {:.4} ({:.4}){} on {} rows of {}{other}.\n",
        after.ap,
        before.ap,
        after.auroc,
        before.auroc,
        if data.weights().is_empty() { "" } else { " by weight" },
        data.len(),
        serde_json::json!(path.file_name().unwrap_or_default().to_string_lossy())
    );
    Ok(Int8 { scales, told: told.replace(['\u{2028}', '\u{2029}', '\u{85}'], " ") })
}
