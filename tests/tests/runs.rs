//! The end of a run: every loop that the documentation shows comes to it, for every method, and nothing goes past it.

use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::registry::{METHODS, class_methods};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer, TrainerError};
use undercurve_tests::trains;

/// Calls that none of the runs here needs.
const MANY: usize = 5000;

fn features(labels: &[u8]) -> Vec<f32> {
    let mut rng = Rng::new(5);
    labels.iter().flat_map(|&y| [0.0, 1.0].map(|shift| (rng.normal() + shift * f64::from(y)) as f32)).collect()
}

fn two() -> Arc<Dataset<f32>> {
    let labels: Vec<u8> = (0..80).map(|k| u8::from(k % 5 == 0)).collect();
    Arc::new(Dataset::dense(features(&labels), labels, 2).unwrap())
}

fn several() -> Arc<Dataset<f32>> {
    let labels: Vec<u8> = (0..80).map(|k| k % 4).collect();
    let rows = Dataset::dense(features(&labels), Vec::new(), 2).unwrap();
    let names = ["a", "b", "c", "d"].map(String::from).to_vec();
    Arc::new(rows.with_classes(labels.into_iter().map(u32::from).collect(), names).unwrap())
}

fn config(method: &str, model: &str, length: Length) -> Config {
    let mut config = Config { method: method.into(), length, ..Config::default() };
    config.model = ModelSpec::parse(model).unwrap();
    config
}

/// The lengths that the loops are tried with. The exact methods end by themselves within the longest.
fn lengths() -> [Length; 5] {
    [Length::Steps(0), Length::Steps(1), Length::Steps(30), Length::Passes(3.5), Length::Steps(400)]
}

/// Both trainers have the calls by the same names.
macro_rules! ends {
    ($fresh:expr, $load:expr, $what:expr) => {{
        let what = $what;
        let mut stepped = $fresh;
        let mut calls = 0;
        while stepped.step().unwrap().is_some() {
            calls += 1;
            assert!(calls < MANY, "{what}: no end after {calls} calls");
        }
        assert!(stepped.is_done(), "{what}");
        let end = stepped.save();
        assert_eq!((stepped.step().unwrap(), stepped.save() == end), (None, true), "{what}: went past its end");

        let mut asked = $fresh;
        let mut half = None;
        let mut turns = 0;
        while !asked.is_done() {
            if turns == calls / 2 {
                half = Some(asked.save());
            }
            turns += 1;
            assert!(turns < MANY, "{what}: not done after {turns} calls");
            asked.step().unwrap();
        }
        assert!(asked.save() == end, "{what}: is_done ends elsewhere");

        let mut ran = $fresh;
        let report = ran.run().unwrap();
        assert!(ran.save() == end, "{what}: run ends elsewhere");
        assert_eq!(report.step, ran.steps_done(), "{what}");
        assert_eq!(ran.run().unwrap().step, report.step, "{what}: run goes on");

        // Where a run is, its saved bytes say.
        let mut done = $load(&end);
        assert_eq!((done.is_done(), done.step().unwrap()), (true, None), "{what}: not done when loaded");
        if let Some(half) = half {
            let mut resumed = $load(&half);
            assert!(!resumed.is_done(), "{what}");
            resumed.run().unwrap();
            assert!(resumed.save() == end, "{what}: resumed runs end elsewhere");
        }
        stepped.steps_done()
    }};
}

#[test]
fn every_loop_comes_to_the_end_of_every_run() {
    let data = two();
    let mut early = Vec::new();
    for method in METHODS {
        for model in ["linear", "mlp-tanh:4"] {
            for length in lengths() {
                let mut config = config(method.name, model, length);
                if model != "linear" && method.is_finite_sum() {
                    // (The default is of the smoothness constant of a linear model.)
                    let sizes = method.params.iter().filter(|param| param.default.ends_with("/L"));
                    config.settings = sizes.map(|param| (param.name.to_string(), "0.2".to_string())).collect();
                }
                let what = format!("{} {model} {length:?}", method.name);
                let fresh = match Trainer::new(&config, data.clone(), None) {
                    Err(TrainerError::Config(_) | TrainerError::Core(_)) if !trains(method.name, model) => continue,
                    fresh => fresh.unwrap(),
                };
                let total = fresh.total_steps();
                let load = |bytes: &[u8]| Trainer::<f32>::load(bytes, data.clone(), None).unwrap();
                let steps = ends!(fresh.clone(), load, &what);
                assert!(steps <= total, "{what}: {steps} of {total}");
                match length {
                    Length::Steps(wanted) if steps < wanted => early.push(method.name),
                    Length::Steps(_) => {}
                    _ => assert!(steps > 0, "{what}"),
                }
            }
        }
    }
    early.dedup();
    // Nothing but L-BFGS and cutting planes ends by itself here; that the exact methods do makes the loops above worth their name.
    assert_eq!(early, ["ap-exact", "auc-exact", "pauc-exact", "svm-pauc-tight", "ce-exact"]);
}

#[test]
fn every_loop_comes_to_the_end_of_every_run_of_several_classes() {
    let data = several();
    for method in class_methods() {
        for model in ["linear", "mlp-tanh:4"] {
            for length in lengths() {
                let config = config(method.name, model, length);
                let fresh = Trainer::new(&config, data.clone(), None).unwrap();
                let total = fresh.total_steps();
                let load = |bytes: &[u8]| Trainer::<f32>::load(bytes, data.clone(), None).unwrap();
                let steps = ends!(fresh.clone(), load, format!("{} {model} {length:?}", method.name));
                assert_eq!(steps, total, "{} {model} {length:?}", method.name);
            }
        }
    }
}

#[test]
fn a_sum_without_a_gradient_is_done_at_once() {
    let flat = Dataset::dense(vec![0.0f32; 40], (0..40).map(|k| k % 2).collect(), 1).unwrap();
    let flat = Arc::new(flat);
    let mut trainer = Trainer::<f32>::new(&config("ai-sarah", "linear", Length::Method), flat.clone(), None).unwrap();
    assert!(!trainer.is_done());
    trainer.run().unwrap();
    assert!(trainer.is_done() && trainer.steps_done() < trainer.total_steps());
    assert!(Trainer::<f32>::load(&trainer.save(), flat, None).unwrap().is_done());
}
