//! Runs that end without an error and have learned nothing say so, and those that have learned do not.

use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::registry::METHODS;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer, Warning};

/// Rows of two columns; positives lie `apart` deviations from negatives along both.
fn clouds(rows: usize, positives: usize, apart: f64, seed: u64) -> Arc<Dataset<f64>> {
    let mut rng = Rng::keyed(seed, 7, 0);
    let y: Vec<u8> = (0..rows).map(|row| u8::from(row < positives)).collect();
    let x = y.iter().flat_map(|&y| [0, 1].map(|_| rng.normal() + apart * f64::from(y))).collect();
    Arc::new(Dataset::dense(x, y, 2).unwrap())
}

fn config(method: &str, settings: &[(&str, &str)], steps: u64) -> Config {
    Config {
        method: method.into(),
        settings: settings.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
        length: Length::Steps(steps),
        ..Config::default()
    }
}

/// The warning at the end of a run.
fn end(config: &Config, data: &Arc<Dataset<f64>>) -> Option<Warning> {
    Trainer::new(config, Arc::clone(data), None).unwrap().run().unwrap().warning
}

#[test]
fn before_the_first_step_there_is_nothing_to_say() {
    let data = clouds(200, 20, 1.5, 1);
    let mut trainer = Trainer::new(&config("soap", &[], 10), data, None).unwrap();
    assert_eq!(trainer.report().unwrap().warning, None);
}

/// In the default range, at 5 % of false positives, too.
#[test]
fn runs_that_learn_say_nothing() {
    let data = clouds(400, 40, 1.5, 2);
    for method in METHODS {
        for model in ["linear", "mlp-tanh:4"] {
            let mut config = config(method.name, &[], 2000);
            config.model = ModelSpec::parse(model).unwrap();
            if method.name == "svm-pauc-tight" {
                // (Where the highest negatives stand above most positives its convex bound is least at 0.)
                config.fpr = (0.0, 0.5);
            }
            // Those of finite sums that need a number for networks, or train linear models alone.
            let Ok(mut trainer) = Trainer::new(&config, Arc::clone(&data), None) else {
                assert!(
                    model != "linear" && (method.is_finite_sum() || !undercurve_tests::trains(method.name, model)),
                    "{} {model}",
                    method.name
                );
                continue;
            };
            let report = trainer.run().unwrap();
            // (An exact method may find nothing better than what cross-entropy has learned, and says that.)
            let start = method.is_exact() && report.warning == Some(Warning::Start);
            assert!(start || report.warning.is_none(), "{} {model}: {:?}", method.name, report.warning);
        }
    }
}

#[test]
fn a_constant_model_is_told() {
    // Everything ties at 0, where a narrow range's subgradient is no direction of descent, without the start.
    let data = clouds(300, 30, 1.0, 3);
    let mut stuck = config("pauc-exact", &[("pretrain", "0"), ("surrogate", "squared-hinge"), ("decay", "0")], 200);
    stuck.fpr = (0.0, 0.01);
    let warning = end(&stuck, &data);
    assert!(matches!(warning, None | Some(Warning::Constant)), "{warning:?}");
    // A decay beyond all bounds leaves nothing.
    let flat = clouds(300, 30, 0.0, 4);
    let zero = Arc::new(Dataset::dense(vec![0.0; 600], flat.labels().to_vec(), 2).unwrap());
    assert_eq!(end(&config("ce", &[], 50), &zero), Some(Warning::Constant));
    assert!(Warning::Constant.collapsed());
}

#[test]
fn saturated_and_tied_scores_are_told() {
    // Far apart and a huge rate: the sigmoid link is flat at every row.
    let data = clouds(300, 30, 2.0, 5);
    let warning = end(&config("smooth-ap", &[("pretrain", "0"), ("lr", "1e4"), ("decay", "0")], 50), &data).unwrap();
    assert!(matches!(warning, Warning::Saturated { .. }), "{warning:?}");
    assert!(warning.collapsed());
    // Rows of one score but for a few.
    let mut x = vec![0.0; 600];
    x[0] = 1.0;
    let ties = Arc::new(Dataset::dense(x, data.labels().to_vec(), 2).unwrap());
    let warning = end(&config("ce", &[], 200), &ties).unwrap();
    assert!(matches!(warning, Warning::Tied { share } if share > 0.9), "{warning:?}");
}

#[test]
fn chance_reversal_and_balls_are_told() {
    let noise = clouds(4000, 400, 0.0, 6);
    let warning = end(&config("ce", &[], 500), &noise).unwrap();
    assert!(matches!(warning, Warning::Chance { .. } | Warning::Reversed { .. }), "{warning:?}");
    assert!(!warning.collapsed());
    let data = clouds(300, 30, 1.0, 7);
    let ball = [("pretrain", "0"), ("radius", "0.01"), ("link", "identity"), ("lr", "0.5")];
    let warning = end(&config("oauc", &ball, 300), &data).unwrap();
    assert!(matches!(warning, Warning::Edge { .. }), "{warning:?}");
}

/// Where most positives score below the highest negatives, a sigmoid loss falls by shrinking all scores and partial AUC with
/// it: then the model is that of cross-entropy, never a worse one of the training rows, and the run says so.
#[test]
fn exact_methods_never_end_far_below_their_start() {
    let mut kept = 0;
    for seed in 0..6 {
        let data = clouds(600, 60, 0.3, 20 + seed);
        for (method, fpr) in [("pauc-exact", (0.0, 0.05)), ("pauc-exact", (0.02, 0.2)), ("ap-exact", (0.0, 0.05))] {
            let own = [("pretrain", "400"), ("scale", "2"), ("decay-to", "zero"), ("decay", "1e-5")];
            let exact = Config { seed, fpr, ..config(method, &own, 500) };
            let mut trainer = Trainer::new(&exact, Arc::clone(&data), None).unwrap();
            let metric = |trainer: &mut Trainer<f64>| {
                let train = trainer.report().unwrap().train;
                train.get(if method == "ap-exact" { "ap" } else { "pauc" }).unwrap()
            };
            (0..400).for_each(|_| assert!(trainer.step().unwrap().is_some()));
            let (start, before) = (trainer.params().to_vec(), metric(&mut trainer));
            let report = trainer.run().unwrap();
            assert!(metric(&mut trainer) >= 0.95 * before, "{method} {seed}");
            assert_eq!(report.warning == Some(Warning::Start), trainer.params() == start, "{method} {seed}");
            kept += usize::from(report.warning == Some(Warning::Start));
            // What was saved at the end is what was answered.
            let mut again = Trainer::<f64>::load(&trainer.save(), Arc::clone(&data), None).unwrap();
            assert!(again.is_done());
            assert_eq!(again.params(), trainer.params());
            assert_eq!(again.report().unwrap().warning, report.warning);
        }
    }
    assert!(kept > 0, "no run here shows what this is about");
}

#[test]
fn finite_sums_that_have_risen_are_told() {
    let data = clouds(300, 100, 1.0, 9);
    let warning = end(&config("momentum-sum", &[("alpha", "40"), ("lambda", "0")], 30), &data);
    assert!(matches!(warning, Some(Warning::Risen { from, to }) if from < 0.7 && to > from), "{warning:?}");
    assert_eq!(end(&config("momentum-sum", &[], 3000), &data), None);
}

/// Linear models by finite sums and exact cross-entropy that end far from their minimum; never networks, and runs that are not over.
#[test]
fn runs_that_have_not_converged_are_told() {
    let data = clouds(300, 100, 1.0, 9);
    for name in ["ai-sarah", "svrg", "momentum-sum", "ce-exact"] {
        let ends = |steps| end(&config(name, &[], steps), &data);
        let short = ends(if name == "svrg" { 8 } else { 2 });
        assert!(matches!(short, Some(Warning::Unconverged { share }) if share > 0.05), "{name}: {short:?}");
        assert_eq!(ends(3000), None, "{name}");
    }
    // What is reported is the run's gradient over the first.
    let mut trainer = Trainer::new(&config("ai-sarah", &[], 4), Arc::clone(&data), None).unwrap();
    let first = trainer.report().unwrap().grad_norm_sq.unwrap();
    trainer.step().unwrap();
    assert_eq!(trainer.report().unwrap().warning, None);
    let report = trainer.run().unwrap();
    let Some(Warning::Unconverged { share }) = report.warning else { panic!("{:?}", report.warning) };
    assert!((share * share - report.grad_norm_sq.unwrap() / first).abs() < 1e-12);
    let sentence = Warning::Unconverged { share: 0.13 }.sentence(undercurve::registry::method("svrg").unwrap());
    let text = "the gradient is still 13 % of what it was at the start: the run has not converged; try more steps";
    assert_eq!(sentence, text);
    let mut network = config("ce-exact", &[], 4);
    network.model = ModelSpec::parse("mlp:4").unwrap();
    assert_eq!(end(&network, &data), None);
}

/// Every sentence says what to try with settings that the method has.
/// Ten rows of the rarer class a column are enough; a decay that is set is somebody's choice, and other methods choose theirs or have none.
#[test]
fn cross_entropy_on_few_rows_a_column_is_told() {
    let (few, enough) = (clouds(200, 19, 1.5, 2), clouds(200, 20, 1.5, 2));
    assert_eq!(end(&config("ce", &[], 500), &few), Some(Warning::Sparse));
    assert_eq!(end(&config("ce", &[], 500), &enough), None);
    assert_eq!(end(&config("ce", &[("decay", "0.001")], 500), &few), None);
    assert_eq!(end(&config("ce-exact", &[], 500), &few), None);
    let network = Config { model: ModelSpec::parse("mlp:4").unwrap(), ..config("ce", &[], 500) };
    assert_eq!(end(&network, &few), None);
}

#[test]
fn sentences_name_settings_of_the_method() {
    let all = [
        Warning::Constant,
        Warning::Tied { share: 0.75 },
        Warning::Saturated { slope: 1e-5 },
        Warning::Reversed { auroc: 0.25 },
        Warning::Chance { ap: 0.031, share: 0.03 },
        Warning::Unfit { ap: 0.031, share: 0.03, moved: 0.5 },
        Warning::Unfit { ap: 0.031, share: 0.03, moved: 50.0 },
        Warning::Unseen { ap: 0.031, share: 0.03 },
        Warning::Memorised { train: 0.87, test: 0.49 },
        Warning::Edge { radius: 10.0 },
        Warning::Edge { radius: 1e6 },
        Warning::NoDescent,
        Warning::Start,
        Warning::Unconverged { share: 0.13 },
        Warning::Risen { from: 0.7, to: 3.0 },
        Warning::Sparse,
    ];
    for method in METHODS {
        for warning in all {
            let sentence = warning.sentence(method);
            assert!(sentence.contains("; try "), "{sentence}");
            for word in
                sentence.split_whitespace().filter_map(|word| word.trim_matches(['(', ')', ',']).split_once('='))
            {
                assert!(method.params.iter().any(|param| param.name == word.0), "{}: {sentence}", method.name);
            }
        }
    }
    let sentence = Warning::Chance { ap: 0.031, share: 0.03 }.sentence(&METHODS[0]);
    assert!(
        sentence.starts_with("an average precision of 3.1 % is little above chance, 3 % of positives"),
        "{sentence}"
    );
}
