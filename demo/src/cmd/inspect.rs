//! `undercurve inspect`: what is in a saved file.

use crate::error::Result;
use crate::tell::text::wrap;
use crate::tell::threshold;
use crate::{input, output};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Missing, SplitBy, Target};
use undercurve::trainer::{ModelSpec, Predictor};

/// Options of `inspect`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
A coefficient is of what the model sees of a column: (value - shift)/divisor. Divided by the divisor it is the change of the
score for one more of the value.

units_to_nearest: how far above and below the threshold the nearest scores were that it was chosen on, in units of the last place.

Examples:
  undercurve inspect data.model
  undercurve inspect data.model --top 0 --json
  undercurve inspect old.model new.model")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Another one: tells what differs between them
    #[arg(value_name = "OTHER")]
    other: Option<PathBuf>,
    /// Columns to list, those with the largest coefficients first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON, with all columns
    #[arg(long)]
    json: bool,
}

pub fn run(Args { model, other, top, json }: Args) -> Result<()> {
    if let Some(other) = other {
        return differences(&model, &other, top, json);
    }
    let saved = input::saved(&model)?;
    match saved.real_bytes {
        4 => print(&model, &saved, &input::model::<f32>(&model, &saved)?, top, json),
        _ => print(&model, &saved, &input::model::<f64>(&model, &saved)?, top, json),
    }
}

fn print<T: Real>(file: &Path, saved: &SavedModel, model: &Predictor<T>, top: usize, json: bool) -> Result<()> {
    let object = describe(saved, model);
    let coefficients = coefficients(saved, model);
    if json {
        let mut object = object;
        let list = coefficients
            .iter()
            .map(|c| json!({"column": c.name, "coefficients": c.values, "shift": c.shift, "divisor": c.divisor}));
        object["columns"] = list.collect();
        return output::line(object);
    }
    output::line(format!("{}: {}", file.display(), headline(saved, model)))?;
    let Value::Object(fields) = &object else { return Ok(()) };
    let width = fields.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        output::line(format!("{name:width$}  {}", shown(value)))?;
    }
    let top = if top == 0 { coefficients.len() } else { top.min(coefficients.len()) };
    let linear = model.config().model == ModelSpec::Linear;
    let order = if linear { ", largest coefficient first" } else { "" };
    output::line(format!("\nColumns ({top} of {}{order}):", coefficients.len()))?;
    for c in &coefficients[..top] {
        let values: Vec<String> = c.values.iter().map(|value| format!("{value:>12.6}")).collect();
        output::line(format!("{}  shift {:.6}, divisor {:.6}  {}", values.join(" "), c.shift, c.divisor, c.name))?;
    }
    Ok(())
}

/// Everything about a saved model, and its columns.
fn read(file: &Path) -> Result<(Map<String, Value>, Vec<Coefficient>)> {
    fn of<T: Real>(file: &Path, saved: &SavedModel) -> Result<(Value, Vec<Coefficient>)> {
        let model = input::model::<T>(file, saved)?;
        Ok((describe(saved, &model), coefficients(saved, &model)))
    }
    let saved = input::saved(file)?;
    let (object, columns) = if saved.real_bytes == 4 { of::<f32>(file, &saved)? } else { of::<f64>(file, &saved)? };
    Ok((object.as_object().cloned().unwrap_or_default(), columns))
}

/// How a column differs in another model.
struct Apart {
    name: String,
    /// Of the first model and of the other: the change of the score for one more of the value, of each score.
    slopes: [Option<Vec<f64>>; 2],
}

impl Apart {
    /// The largest change of it.
    fn size(&self) -> f64 {
        let [one, other] = &self.slopes;
        let of =
            |slopes: &Option<Vec<f64>>, at: usize| slopes.as_ref().and_then(|all| all.get(at)).copied().unwrap_or(0.0);
        let count = one.as_ref().map_or(0, Vec::len).max(other.as_ref().map_or(0, Vec::len));
        (0..count).map(|at| (of(one, at) - of(other, at)).abs()).fold(0.0, f64::max)
    }
}

/// The columns that are not the same in both, those that one alone has first, then the largest change.
fn apart(one: &[Coefficient], other: &[Coefficient]) -> Vec<Apart> {
    let slopes =
        |c: &Coefficient| c.values.iter().map(|w| if c.divisor == 0.0 { 0.0 } else { w / c.divisor }).collect();
    let named = |all: &[Coefficient], name: &str| all.iter().find(|c| c.name == name).map(slopes);
    let names = one.iter().chain(other.iter().filter(|c| one.iter().all(|known| known.name != c.name)));
    let all = names.map(|c| Apart { name: c.name.clone(), slopes: [named(one, &c.name), named(other, &c.name)] });
    let mut all: Vec<Apart> = all.filter(|apart| apart.slopes[0] != apart.slopes[1]).collect();
    let alone = |apart: &Apart| apart.slopes.iter().any(Option::is_none);
    all.sort_by(|a, b| alone(b).cmp(&alone(a)).then(b.size().total_cmp(&a.size())));
    all
}

/// What differs between two saved models.
fn differences(file: &Path, other: &Path, top: usize, json: bool) -> Result<()> {
    let ((one, columns), (two, others)) = (read(file)?, read(other)?);
    let fields: Vec<(&String, &Value, &Value)> = one
        .iter()
        .filter_map(|(name, value)| Some((name, value, two.get(name)?)))
        .filter(|(_, value, other)| value != other)
        .collect();
    let columns = apart(&columns, &others);
    if json {
        let fields: Map<String, Value> = fields.iter().map(|(name, a, b)| ((*name).clone(), json!([a, b]))).collect();
        let columns: Vec<Value> = columns.iter().map(|c| json!({"column": c.name, "slopes": c.slopes})).collect();
        return output::line(json!({ "fields": fields, "columns": columns }));
    }
    output::line(format!("{} -> {}", file.display(), other.display()))?;
    if fields.is_empty() && columns.is_empty() {
        return output::line("nothing differs");
    }
    let width = fields.iter().map(|field| field.0.len()).max().unwrap_or(0);
    let told = |value: &Value| if value.is_null() { "-".to_string() } else { shown(value) };
    for (name, a, b) in fields {
        output::line(wrap(&format!("{name:width$}  {} -> {}", told(a), told(b)), width + 2))?;
    }
    let top = if top == 0 { columns.len() } else { top.min(columns.len()) };
    if columns.is_empty() {
        return Ok(());
    }
    output::line(format!("\nColumns ({top} of {}), change of the score for one more of the value:", columns.len()))?;
    for Apart { name, slopes } in &columns[..top] {
        let told = |slopes: &Option<Vec<f64>>| match slopes {
            None => "(none)".to_string(),
            Some(all) if all.is_empty() => "(there)".to_string(),
            Some(all) => all.iter().map(|x| format!("{x:.6}")).collect::<Vec<_>>().join(" "),
        };
        output::line(format!("{:>14} -> {:<14}  {name}", told(&slopes[0]), told(&slopes[1])))?;
    }
    Ok(())
}

/// What the file is, in a few words.
fn headline<T: Real>(saved: &SavedModel, model: &Predictor<T>) -> String {
    let trained = &saved.trained;
    let what = if model.has_run() { "a run, which goes on with train --resume" } else { "a model alone" };
    // (The model of a session in JavaScript does not say how far that was.)
    if trained.of == 0 {
        return what.to_string();
    }
    let finished = if trained.over { "finished" } else { "not finished" };
    let kept =
        if trained.step == trained.done { String::new() } else { format!("; its model is of step {}", trained.step) };
    format!("{what}; step {} of {}, {finished}{kept}", trained.done, trained.of)
}

/// Everything but the columns.
fn describe<T: Real>(saved: &SavedModel, model: &Predictor<T>) -> Value {
    let (config, preparation, trained) = (model.config(), &saved.preparation, &saved.trained);
    let binary = preparation.target() == Target::Binary;
    let known = (trained.of > 0).then_some(trained);
    let settings: Map<String, Value> = config.settings.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    let figures: Map<String, Value> = trained.figures.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    let target = match preparation.target() {
        Target::Binary => "binary",
        Target::Classes => "classes",
        _ => "values",
    };
    json!({
        "method": config.method,
        "settings": settings,
        "model": config.model.to_string(),
        "parameters": model.params().len(),
        "precision": if T::BYTES == 8 { "f64" } else { "f32" },
        "seed": config.seed,
        "target": target,
        "label": preparation.label_column(),
        "positive": preparation.positive(),
        "negative": preparation.negative(),
        "classes": (!model.classes().is_empty()).then_some(model.classes()),
        "probabilities": model.has_probabilities(),
        "fpr": binary.then_some([config.fpr.0, config.fpr.1]),
        "threshold": saved.threshold.and_then(threshold::finite),
        "decided": saved.decided.as_ref().map(|decided| json!({
            "rule": decided.rule.to_string(), "on": decided.on,
            "fpr": decided.counts.and_then(|c| c.fpr()), "tpr": decided.counts.and_then(|c| c.tpr()),
            "precision": decided.counts.and_then(|c| c.precision()),
            "units_to_nearest": saved.threshold.map(|at| decided.units(at, saved.real_bytes)),
            "alerts": decided.counts.map(|c| threshold::count(c.true_positives + c.false_positives)),
            "rows": decided.counts.map(|c| threshold::count(c.total())),
        })),
        "calibration": saved.calibrated.as_ref().map(threshold::calibration_json),
        "costs": saved.costs.map(|c| json!({
            "false_positive": c.false_positive(), "false_negative": c.false_negative(),
            "prevalence": c.prevalence(), "slope": c.slope(),
        })),
        "weight": preparation.weight_column(),
        "class_weights": (!config.class_weights.is_empty()).then_some(&config.class_weights),
        "scale": preparation.scale().name(),
        "missing": if preparation.missing() == Missing::Impute { "impute" } else { "refuse" },
        "split": saved.split,
        "split_by": preparation.split_by().map(|by| match by {
            SplitBy::Group(column) => json!({"group": column}),
            by => json!({"order": by.column()}),
        }),
        "valid": saved.valid,
        "run": model.has_run(),
        "step": known.map(|trained| trained.step),
        "steps_done": known.map(|trained| trained.done),
        "steps": known.map(|trained| trained.of),
        "finished": known.map(|trained| trained.over),
        "figures": figures,
    })
}

/// A value of the description, for people.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(fields) if fields.is_empty() => "-".to_string(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name} {}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        Value::Number(number) if number.is_f64() => {
            let x = number.as_f64().unwrap_or(f64::NAN);
            ((x * 1e6).round() / 1e6).to_string()
        }
        other => other.to_string(),
    }
}

/// A column as the model sees it; `values`: of a linear model its coefficient for each score.
struct Coefficient {
    name: String,
    values: Vec<f64>,
    shift: f64,
    divisor: f64,
}

/// Of a linear model those with the largest coefficients first, the constant at the end.
fn coefficients<T: Real>(saved: &SavedModel, model: &Predictor<T>) -> Vec<Coefficient> {
    let linear = model.config().model == ModelSpec::Linear;
    let heads = model.classes().len().max(1);
    let values = |column: usize| -> Vec<f64> {
        if linear { model.params()[column * heads..][..heads].iter().map(|w| w.f64()).collect() } else { Vec::new() }
    };
    let columns = saved.preparation.encoded();
    let count = columns.len();
    let mut all: Vec<Coefficient> = columns
        .into_iter()
        .enumerate()
        .map(|(at, c)| Coefficient { name: c.name, values: values(at), shift: c.shift, divisor: c.divisor })
        .collect();
    let size = |c: &Coefficient| c.values.iter().fold(0.0, |most, value| f64::max(most, value.abs()));
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    if linear {
        all.push(Coefficient { name: "(constant)".into(), values: values(count), shift: 0.0, divisor: 1.0 });
    }
    all
}
