//! Trains every method, of two classes and of several, for a few steps and prints one JSON line a run: what was trained, a
//! hash of the parameters' bits, and the last step's objective in full; of several classes the metrics, too, and of methods
//! of groups what is said of their constraints.
//! `wasm/test/bits.test.mjs` trains the same in WebAssembly and compares.

use serde_json::{Value, json};
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::judge::{Judged, Scored};
use undercurve::metric::Metrics;
use undercurve::registry::{Domain, Kind, METHODS, Method, class_methods};
use undercurve::surrogate::SURROGATES;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer, Watch};

const ROWS: u32 = 600;
const COLUMNS: u32 = 4;
const STEPS: u64 = 12;
const CLASSES: u32 = 3;
const GROUPS: [&str; 3] = ["a", "b", "c"];
/// What methods of groups train under.
const CONSTRAINTS: [&str; 3] = ["gap(fpr) <= 0.05", "gap(tpr@0.2) <= 0.1", "recall[b] >= 0.5"];

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

type Setting = (&'static str, &'static str);

/// Every word of the choices among some parameters, one at a time.
fn words(method: &'static Method, names: &[&'static str]) -> Vec<Vec<Setting>> {
    let params = method.params.iter().filter(|param| names.contains(&param.name));
    let choices = params.filter_map(|param| match param.domain {
        Domain::Choice(words) => Some(words.iter().map(|word| vec![(param.name, *word)])),
        _ => None,
    });
    choices.flatten().collect()
}

/// Trains with some settings, by a linear model and by a network, and prints what comes of it.
fn runs(
    method: &Method,
    settings: &[Setting],
    (classes, constraints): (Option<u32>, &[&str]),
    train: impl Fn(&Config) -> Result<Value, String>,
) {
    for hidden in [vec![], vec![6, 5]] {
        let model = match hidden.as_slice() {
            [] => ModelSpec::Linear,
            _ => ModelSpec::Mlp { hidden: hidden.clone(), tanh: true },
        };
        let config = Config {
            init: Init::Auto,
            method: method.name.to_string(),
            settings: settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            model,
            seed: 7,
            length: Length::Steps(STEPS),
            fpr: undercurve_tests::range_of(method.name, (0.05, 0.5)),
            constraints: constraints.iter().map(ToString::to_string).collect(),
            class_weights: Vec::new(),
        };
        let outcome = train(&config);
        // What another setting makes meaningless is refused here, and left unread in a page.
        if outcome.as_ref().is_err_and(|error| error.contains(" has no effect with ")) {
            continue;
        }
        let settings: serde_json::Map<_, _> =
            settings.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        println!(
            "{}",
            json!({
                "method": method.name, "settings": settings, "hidden": hidden, "steps": STEPS, "classes": classes,
                "fpr": [config.fpr.0, config.fpr.1], "constraints": constraints,
                "outcome": outcome.unwrap_or_else(|error| json!({"error": error})),
            })
        );
    }
}

fn two_classes(config: &Config, data: &Arc<Dataset<f32>>) -> Result<Value, String> {
    let mut trainer = Trainer::new(config, data.clone(), None).map_err(|error| error.to_string())?;
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
}

fn several_classes(config: &Config, data: &Arc<Dataset<f32>>) -> Result<Value, String> {
    let mut trainer = Trainer::new(config, data.clone(), None).map_err(|error| error.to_string())?;
    let mut objective = f64::NAN;
    while trainer.steps_done() < STEPS {
        match trainer.step().map_err(|error| error.to_string())? {
            Some(value) => objective = value,
            None => break,
        }
    }
    let train = trainer.report().map_err(|error| error.to_string())?.train;
    let train = train.classes().expect("figures of classes");
    let mut metrics = vec![train.hand_till, train.auroc, train.ap, train.accuracy];
    metrics.extend(train.classes.iter().flat_map(|class| [class.rows as f64, class.auroc, class.ap]));
    Ok(json!({
        "steps": trainer.steps_done(), "hash": hash(trainer.params()), "objective": objective, "metrics": metrics,
    }))
}

/// Each constraint on the training rows: tracked value, weight, and the exact value with its noise.
fn constrained(config: &Config, data: &Arc<Dataset<f32>>) -> Result<Value, String> {
    let mut trainer = Trainer::new(config, data.clone(), None).map_err(|error| error.to_string())?;
    let mut watch = Watch::new(&trainer);
    let mut objective = f64::NAN;
    while let Some(value) = trainer.step().map_err(|error| error.to_string())? {
        objective = value;
        watch.look(&trainer);
    }
    let mut scores = vec![0.0; data.len()];
    trainer.score(data.rows(), &mut scores).map_err(|error| error.to_string())?;
    let (labels, group_of, group_names) = (data.labels(), data.group_of(), data.group_names());
    let on = Scored { scores: &scores, labels, group_of, group_names, old: &[] };
    let mut memory = Metrics::new();
    let mut told = Vec::new();
    for (at, tracked) in watch.tracked(&trainer).into_iter().enumerate() {
        let constraint = &watch.constraints()[at];
        let judged = constraint.judge(&on, 0.0, &mut memory).map_err(|error| error.to_string())?;
        let tracked = tracked.ok_or("nothing is tracked")?;
        let Judged { value, noise, verdict, .. } = judged;
        told.push(json!({
            "target": constraint.to_string(), "surrogate": tracked.value, "dual": tracked.dual,
            "atBound": watch.at_bound(at), "conflict": watch.conflict(at, &judged),
            "value": value, "noise": noise, "verdict": verdict.to_string(),
        }));
    }
    let steps = trainer.steps_done();
    Ok(json!({"steps": steps, "hash": hash(trainer.params()), "objective": objective, "constraints": told}))
}

fn main() {
    let data = Arc::new(data());
    for method in METHODS {
        let takes = |name: &str| method.params.iter().any(|param| param.name == name);
        let mut settings: Vec<Vec<Setting>> = vec![vec![]];
        if takes("surrogate") {
            settings.extend(SURROGATES.iter().map(|(name, ..)| vec![("surrogate", *name)]));
            // Margins so wide that fewer factors share a logarithm, and that exponentials of scores do not fit.
            settings.extend(["30", "500"].map(|scale| vec![("surrogate", "logistic"), ("scale", scale)]));
        }
        settings.extend(words(method, &["optimizer", "schedule", "sampling", "weights", "prior", "link"]));
        if takes("pretrain") {
            settings.push(vec![("pretrain", "5")]);
        }
        for settings in settings {
            runs(method, &settings, (None, &[]), |config| two_classes(config, &data));
        }
    }
    let of = (0..ROWS).map(|row| row * 7 % 11 % GROUPS.len() as u32).collect();
    let grouped = (*data).clone().with_groups(of, GROUPS.map(String::from).to_vec()).expect("a group for each row");
    let grouped = Arc::new(grouped);
    for method in METHODS.iter().filter(|method| method.kind == Kind::Cells) {
        runs(method, &[], (None, &CONSTRAINTS), |config| constrained(config, &grouped));
    }
    let labels = (0..ROWS).map(|row| (row % 5).min(CLASSES - 1)).collect();
    let names = (0..CLASSES).map(|class| class.to_string()).collect();
    let data = (*data).clone().with_classes(labels, names).expect("a class for each row");
    let data = Arc::new(data);
    for method in class_methods() {
        let mut settings: Vec<Vec<Setting>> = vec![vec![]];
        settings
            .extend(words(method, &["optimizer", "schedule", "sampling", "weights", "weighting", "stages", "answer"]));
        if method.params.iter().any(|param| param.name == "stage") {
            // Short stages, so that there are dual resets.
            settings.push(vec![("stage", "4"), ("reset", "3"), ("pairs", "2")]);
            settings.push(vec![("pretrain", "5"), ("stage", "3")]);
        }
        for settings in settings {
            runs(method, &settings, (Some(CLASSES), &[]), |config| several_classes(config, &data));
        }
    }
}
