//! Every method of the registry through the trainer: it learns, it resumes with the same bits, it survives streams that
//! lack a class or saturate, and pre-training does what it says.

use std::sync::Arc;
use undercurve::algorithm::{AnyAlgorithm, PpdAdagrad, PpdSg, StageLength, Stages};
use undercurve::data::Dataset;
use undercurve::registry::{self, METHODS, Settings};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

/// Two overlapping clouds in three dimensions.
fn data(rows: usize, positives: usize, spread: f64, seed: u64) -> Arc<Dataset<f64>> {
    let mut rng = Rng::new(seed);
    let y: Vec<u8> = (0..rows).map(|k| u8::from(k < positives)).collect();
    let x = y.iter().flat_map(|&y| [0, 1, 2].map(|_| spread * (rng.normal() + 1.2 * f64::from(y)))).collect();
    Arc::new(Dataset::dense(x, y, 3).unwrap())
}

fn config(method: &str, settings: &[(&str, &str)], steps: u64) -> Config {
    let sum = registry::method(method).unwrap().is_finite_sum();
    Config {
        method: method.to_string(),
        settings: settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        length: Length::Steps(steps),
        model: ModelSpec::parse(if sum { "linear" } else { "mlp-tanh:4" }).unwrap(),
        ..Config::default()
    }
}

fn trainer(config: &Config, data: &Arc<Dataset<f64>>) -> Trainer<f64> {
    Trainer::new(config, Arc::clone(data), None).unwrap()
}

#[test]
fn every_method_learns() {
    let data = data(300, 40, 1.0, 1);
    for method in METHODS {
        let mut config = config(method.name, &[], 600);
        config.model = ModelSpec::Linear;
        // (In a narrow range the highest negatives outscore the positives along every direction here, and the best a
        // convex surrogate can do is to stay at 0.)
        config.fpr = (0.0, 0.5);
        let mut trainer = trainer(&config, &data);
        let before = trainer.report().unwrap();
        for _ in 0..600 {
            if trainer.step().unwrap().is_none() {
                break;
            }
        }
        let after = trainer.report().unwrap();
        // The clouds' best direction has an AUROC of about .93.
        assert!(after.train.auroc > 0.88, "{}: AUROC {}", method.name, after.train.auroc);
        assert!(after.objective.is_finite() && before.objective.is_finite());
    }
}

#[test]
fn every_method_resumes_with_the_same_bits() {
    let data = data(120, 20, 1.0, 2);
    for method in METHODS {
        let mut settings = vec![];
        if method.params.iter().any(|p| p.name == "pretrain") {
            settings.push(("pretrain", "7"));
        }
        if method.params.iter().any(|p| p.name == "stage") {
            settings.push(("stage", "5"));
        }
        let config = config(method.name, &settings, 60);
        let mut whole = trainer(&config, &data);
        let mut parts = trainer(&config, &data);
        for step in 0..60 {
            whole.step().unwrap();
            parts.step().unwrap();
            if step % 4 == 0 || step == 6 {
                parts = Trainer::load(&parts.save(), Arc::clone(&data), None).unwrap();
            }
        }
        assert_eq!(whole.params(), parts.params(), "{}", method.name);
        assert_eq!(whole.save(), parts.save(), "{}", method.name);
    }
}

#[test]
fn streams_without_positives_and_saturated_scores_give_numbers_or_an_error() {
    let rare = data(2000, 2, 1.0, 3); // uniform batches of 8: mostly no positive at all
    let wild = data(60, 20, 1e6, 4); // scores far beyond σ's range
    for method in METHODS {
        for (data, learning_rate) in [(&rare, None), (&wild, Some("100"))] {
            let mut settings = vec![];
            let has = |name| method.params.iter().any(|p| p.name == name);
            if has("positives") && has("sampling") {
                settings.extend([("sampling", "uniform"), ("batch", "8")]);
            }
            if has("prior") {
                settings.push(("prior", "online"));
            }
            if has("stage") {
                settings.push(("stage", "50"));
            }
            if let (Some(rate), true) = (learning_rate, has("lr")) {
                settings.push(("lr", rate));
            }
            let mut trainer = trainer(&config(method.name, &settings, 1200), data);
            for _ in 0..1200 {
                let before = trainer.params().to_vec();
                match trainer.step() {
                    Ok(None) => break,
                    // (Finite sums do not look at their value.)
                    Ok(Some(value)) => assert!(value.is_finite() || method.is_finite_sum(), "{}", method.name),
                    Err(_) => assert_eq!(trainer.params(), before, "{}", method.name),
                }
                assert!(trainer.params().iter().all(|w| w.is_finite()), "{}", method.name);
            }
        }
    }
}

#[test]
fn pretraining_is_cross_entropy_and_then_a_new_last_layer() {
    let data = data(200, 40, 1.0, 5);
    let same = [("schedule", "linear"), ("lr", "0.05")];
    for (restart, kept) in [("none", 21), ("auto", 16)] {
        let mut settings = vec![("pretrain", "30"), ("restart", restart)];
        settings.extend([("positives", "8"), ("negatives", "56")]);
        let mut two = trainer(&config("soap", &settings, 100), &data);
        let mut one = trainer(&config("ce", &same, 30), &data);
        for step in 0..30 {
            assert_eq!(two.step().unwrap(), one.step().unwrap(), "step {step}");
        }
        // 3·4 weights, 4 biases; then the last layer's 4 weights and its bias.
        assert_eq!(two.params()[..kept], one.params()[..kept]);
        assert_eq!(two.params() == one.params(), restart == "none");
        let u = two.estimator_state().to_vec();
        assert!(u.iter().all(|&u| u == 0.0));
        two.step().unwrap();
        assert!(two.estimator_state().iter().any(|&u| u != 0.0));
        assert_eq!(two.total_steps(), 100);
    }
    // The whole of a linear model is its last layer, which `auto` keeps.
    let mut linear = config("soap", &[("pretrain", "30")], 31);
    linear.model = ModelSpec::Linear;
    let mut trainer = trainer(&linear, &data);
    for _ in 0..30 {
        trainer.step().unwrap();
    }
    assert!(trainer.params().iter().any(|&w| w != 0.0));
}

#[test]
fn the_schedules_of_the_theorems_are_settings() {
    let (lr, mu, l, l_tilde) = (0.02, 0.4, 1.6, 0.7);
    let pairs = [("schedule", "theory"), ("lr", "0.02"), ("mu", "0.4"), ("smoothness", "1.6"), ("l-tilde", "0.7")];
    let made = |name| Settings::new(registry::method(name).unwrap(), &pairs).unwrap().algorithm(100).unwrap();
    let stages = Stages::theory(lr, mu, l, l_tilde, 4.0).unwrap();
    assert_eq!(made("ppd-sg"), AnyAlgorithm::PpdSg(PpdSg::new(stages, 0.5 / l, 0.0, 1).unwrap()));
    let stages = Stages::theory_adagrad(lr, mu, l, 4.0).unwrap();
    let want = PpdAdagrad::new(stages, 0.5 / l, 1e-3, StageLength::Theory { l_tilde }, 1).unwrap();
    assert_eq!(made("ppd-adagrad"), AnyAlgorithm::PpdAdagrad(want));
    // And they learn.
    let data = data(300, 40, 1.0, 1);
    for (name, lr) in [("ppd-sg", "0.5"), ("ppd-adagrad", "0.1")] {
        let mut config = config(name, &[("schedule", "theory"), ("lr", lr), ("smoothness", "0.05")], 600);
        config.model = ModelSpec::Linear;
        let mut trainer = trainer(&config, &data);
        for _ in 0..600 {
            trainer.step().unwrap();
        }
        let auroc = trainer.report().unwrap().train.auroc;
        assert!(auroc > 0.88, "{name}: AUROC {auroc}");
    }
}
