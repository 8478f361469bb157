//! A model as JSON: what `core/src/guide/deploying.md` describes.

use crate::export::{Exported, Layer, Link};
use serde_json::{Map, Value, json};
use undercurve::data::{Missing, Source, Target};
use undercurve::decision::Calibration;

/// The number of the layout; another one for another layout: the second has pieces of numbers, the third ranks, the fourth
/// products of columns.
const VERSIONS: [u32; 4] = [1, 2, 3, 4];

/// A number of the model's precision, in its shortest spelling.
fn real(x: f64, bytes: usize) -> Value {
    // (Through text: a number with more digits than the model has would not be the model's.)
    if bytes == 4 { serde_json::from_str(&(x as f32).to_string()).unwrap_or(Value::Null) } else { json!(x) }
}

fn layer(layer: &Layer, bytes: usize) -> Value {
    let rows = layer.weights.chunks_exact(layer.outputs);
    let list = |values: &[f64]| values.iter().map(|&x| real(x, bytes)).collect::<Value>();
    json!({ "weights": rows.map(list).collect::<Value>(), "bias": list(&layer.bias) })
}

fn column((name, source): &(&str, Source<'_>)) -> Value {
    match source {
        Source::Category { values, missing } => {
            json!({ "name": name, "kind": "category", "categories": values, "missing": missing })
        }
        Source::Pieces { mean, pieces, missing } => {
            // (JSON has no infinite numbers.)
            let end = |x: f64| x.is_finite().then_some(x);
            let pieces = pieces
                .iter()
                .map(|piece| json!({ "low": end(piece.low), "high": end(piece.high), "step": piece.step }));
            let pieces: Value = pieces.collect();
            json!({ "name": name, "kind": "pieces", "mean": mean, "missing": missing, "pieces": pieces })
        }
        Source::Ranked { mean, knots, missing } => {
            let knots: Value = knots.iter().map(|knot| json!([knot.at, knot.rank])).collect();
            json!({ "name": name, "kind": "rank", "mean": mean, "missing": missing, "knots": knots })
        }
        Source::Number { mean, missing } => json!({ "name": name, "kind": "number", "mean": mean, "missing": missing }),
        _ => Value::Null,
    }
}

/// The file's bytes.
pub fn write(model: &Exported<'_>) -> Vec<u8> {
    let preparation = model.preparation;
    let target = preparation.target();
    let layout = |source: &Source<'_>| match source {
        Source::Ranked { .. } => 2,
        Source::Pieces { .. } => 1,
        _ => 0,
    };
    let crosses = preparation.crosses();
    let layout =
        if crosses.is_empty() { model.sources.iter().map(|(_, source)| layout(source)).max().unwrap_or(0) } else { 3 };
    let features = model.features.iter().map(|f| json!({"name": f.name, "shift": f.shift, "divisor": f.divisor}));
    let facts: Map<String, Value> = model.facts.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let mut object = json!({
        "format": "undercurve-model",
        "version": VERSIONS[layout],
        "columns": (!model.sources.is_empty()).then(|| model.sources.iter().map(column).collect::<Value>()),
        "missing": if preparation.missing() == Missing::Impute { "impute" } else { "refuse" },
        "features": features.collect::<Value>(),
        "scale": preparation.scale().name(),
        "layers": model.layers.iter().map(|one| layer(one, model.real_bytes)).collect::<Value>(),
        "activation": model.activation,
        "outputs": if target == Target::Classes { "logits" } else { "score" },
        "precision": if model.real_bytes == 8 { "f64" } else { "f32" },
        "link": model.link.map(|link| match link {
            Link::Sigmoid => json!("sigmoid"),
            Link::Softmax => json!("softmax"),
            Link::Calibrated(Calibration::Platt(curve)) => {
                json!({"slope": curve.slope, "offset": curve.offset, "least": curve.least, "most": curve.most})
            }
            Link::Calibrated(Calibration::Beta(beta)) => {
                let curve = beta.curve;
                json!({"slope": curve.slope, "offset": curve.offset, "least": curve.least, "most": curve.most,
                       "beta": [beta.low, beta.high, beta.offset]})
            }
            Link::Calibrated(Calibration::Isotonic(pools)) => {
                json!({"steps": pools.iter().map(|pool| json!([pool.low, pool.high, pool.value])).collect::<Value>()})
            }
        }),
        "threshold": model.threshold,
        "labels": model.labels(),
        "trained": facts,
    });
    if !crosses.is_empty() {
        object["products"] = json!(crosses);
    }
    let mut bytes = object.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
