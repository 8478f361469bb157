//! Trains every method for a few steps and prints one JSON line a run: what was trained, a hash of the parameters'
//! bits, and the last step's objective in full. `wasm/test/bits.test.mjs` trains the same in WebAssembly and compares.

use serde_json::json;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::registry::{Domain, METHODS};
use undercurve::surrogate::SURROGATES;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

const ROWS: u32 = 600;
const COLUMNS: u32 = 4;
const STEPS: u64 = 12;

/// The same rows as in the test of the package: numbers of a linear congruential generator, all exact in `f32`.
fn data() -> Dataset<f32> {
    let mut state = 1u32;
    let y: Vec<u8> = (0..ROWS).map(|row| u8::from(row % 5 == 0)).collect();
    let x = (0..ROWS * COLUMNS).map(|at| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let shift = if at % COLUMNS == 0 && (at / COLUMNS).is_multiple_of(5) { 0.25 } else { 0.0 };
        (state >> 8) as f32 / 16_777_216.0 - 0.5 + shift
    });
    Dataset::dense(x.collect(), y, COLUMNS as usize).expect("finite rows")
}

/// FNV-1a over the bits of the parameters, in order.
fn hash(params: &[f32]) -> u32 {
    params.iter().fold(0x811c_9dc5, |hash, x| (hash ^ x.to_bits()).wrapping_mul(0x0100_0193))
}

fn main() {
    let data = Arc::new(data());
    for method in METHODS {
        let takes = |name: &str| method.params.iter().find(|param| param.name == name);
        let mut settings: Vec<Vec<(&str, &str)>> = vec![vec![]];
        if takes("surrogate").is_some() {
            settings.extend(SURROGATES.iter().map(|(name, ..)| vec![("surrogate", *name)]));
            // Margins so wide that fewer factors share a logarithm, and that exponentials of scores do not fit.
            settings.extend(["30", "500"].map(|scale| vec![("surrogate", "logistic"), ("scale", scale)]));
        }
        for name in ["optimizer", "schedule", "sampling", "weights", "prior", "link"] {
            if let Some(Domain::Choice(words)) = takes(name).map(|param| param.domain) {
                settings.extend(words.iter().map(|word| vec![(name, *word)]));
            }
        }
        if takes("pretrain").is_some() {
            settings.push(vec![("pretrain", "5")]);
        }
        for settings in settings {
            for hidden in [vec![], vec![6, 5]] {
                let model = match hidden.as_slice() {
                    [] => ModelSpec::Linear,
                    _ => ModelSpec::Mlp { hidden: hidden.clone(), tanh: true },
                };
                let config = Config {
                    method: method.name.to_string(),
                    settings: settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
                    model,
                    seed: 7,
                    length: Length::Steps(STEPS),
                    fpr: (0.05, 0.5),
                };
                let result = Trainer::new(&config, data.clone(), None).map_err(|error| error.to_string());
                let outcome = result.and_then(|mut trainer| {
                    let mut objective = f64::NAN;
                    // A step of a finite sum may be a piece of a walk over all rows, which counts for none.
                    while trainer.steps_done() < STEPS {
                        match trainer.step().map_err(|error| error.to_string())? {
                            Some(value) => objective = value,
                            None => break,
                        }
                    }
                    // Not a number, of finite sums, is null.
                    Ok(json!({"steps": trainer.steps_done(), "hash": hash(trainer.params()), "objective": objective}))
                });
                let settings: serde_json::Map<_, _> =
                    settings.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
                println!(
                    "{}",
                    json!({
                        "method": method.name, "settings": settings, "hidden": hidden, "steps": STEPS,
                        "outcome": outcome.unwrap_or_else(|error| json!({"error": error})),
                    })
                );
            }
        }
    }
}
