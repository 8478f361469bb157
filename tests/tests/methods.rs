//! Every method of the registry through the trainer: it learns, it resumes with the same bits, it survives streams that
//! lack a class or saturate, and pre-training does what it says.

use std::sync::Arc;
use undercurve::Scratch;
use undercurve::algorithm::{
    Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Pga, Point, PpdAdagrad, PpdSg, StageLength, Stages, State,
};
use undercurve::batch::{Batch, Drawn};
use undercurve::data::{Dataset, Selection};
use undercurve::estimator::{Estimator, Grad};
use undercurve::model::{AnyModel, Model};
use undercurve::registry::{self, METHODS, Scope};
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
    let network = undercurve_tests::trains(method, "mlp-tanh:4") && !registry::method(method).unwrap().is_finite_sum();
    Config {
        method: method.to_string(),
        settings: settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        length: Length::Steps(steps),
        model: ModelSpec::parse(if network { "mlp-tanh:4" } else { "linear" }).unwrap(),
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
        if method.name == "svm-pauc-tight" {
            // (Where the highest negatives stand above most positives its convex bound is least at 0.)
            config.fpr = (0.0, 0.5);
        }
        let mut trainer = trainer(&config, &data);
        let before = trainer.report().unwrap();
        for _ in 0..600 {
            if trainer.step().unwrap().is_none() {
                break;
            }
        }
        let after = trainer.report().unwrap();
        // The clouds' best direction has an AUROC of about .93.
        let auroc = after.train.get("auroc").unwrap();
        assert!(auroc > 0.88, "{}: AUROC {auroc}", method.name);
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
    let steps = if std::env::var_os("UNDERCURVE_LONG").is_some() { 1200 } else { 400 };
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
            if let (Some(rate), true) = (learning_rate, has("lr") && !method.is_exact()) {
                settings.push(("lr", rate));
            }
            let mut trainer = trainer(&config(method.name, &settings, steps), data);
            for _ in 0..steps {
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
        let mut settings = vec![("pretrain", "30"), ("pretrain-lr", "0.05"), ("restart", restart), ("lr", "0.02")];
        settings.extend([("positives", "8"), ("negatives", "56")]);
        let mut two = trainer(&config("soap", &settings, 100), &data);
        let mut one = trainer(&config("ce", &same, 30), &data);
        let fresh = two.params().to_vec();
        for step in 0..30 {
            assert_eq!(two.step().unwrap(), one.step().unwrap(), "step {step}");
        }
        // 3·4 weights, 4 biases; then the last layer's 4 weights and its bias.
        assert_eq!(two.params()[..kept], one.params()[..kept]);
        assert_eq!(two.params() == one.params(), restart == "none");
        // What starts again starts elsewhere than at first (a bias always at 0).
        assert!((16..20).all(|k| two.params()[k] != fresh[k]));
        let before = two.params().to_vec();
        let u = two.estimator_state().to_vec();
        assert!(u.iter().all(|&u| u == 0.0));
        two.step().unwrap();
        assert!(two.estimator_state().iter().any(|&u| u != 0.0));
        // Adam's first step has the rate for its length in every coordinate, whatever the gradient: nothing of the steps
        // of cross-entropy is left in it. (The last bias shifts all scores alike, which no pair sees.)
        for (k, (new, old)) in two.params().iter().zip(&before).enumerate().take(20) {
            assert!(((new - old).abs() - 0.02).abs() < 1e-5, "parameter {k} moved by {}", new - old);
        }
        assert_eq!(two.total_steps(), 100);
    }
    // The method's rate falls over its own steps: here 0.02, then a tenth of it, and Adam's second step is hardly longer.
    let mut two = trainer(&config("soap", &[("pretrain", "30"), ("schedule", "steps"), ("lr", "0.02")], 32), &data);
    for _ in 0..31 {
        two.step().unwrap();
    }
    let before = two.params().to_vec();
    two.step().unwrap();
    assert!(two.params().iter().zip(&before).all(|(new, old)| (new - old).abs() < 0.003));
    // 200 rows in batches of 64: ten of them are 3.2 passes.
    let mut passes = config("soap", &[], 0);
    for (count, steps) in [(2.0, 7), (3.2, 10), (3.21, 11)] {
        passes.length = Length::Passes(count);
        assert_eq!(trainer(&passes, &data).total_steps(), steps);
    }
    for name in ["svrg", "adam-sum"] {
        let mut sum = trainer(&config(name, &[], 9), &data);
        while sum.step().unwrap().is_some() {}
        assert_eq!((sum.steps_done(), sum.total_steps()), (9, 9));
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

/// `steps` gradient steps with the parts of a method put together by hand, every batch all rows; the parameters it answers.
fn by_hand(config: &Config, data: &Dataset<f64>, steps: usize) -> Vec<f64> {
    let pairs: Vec<(&str, &str)> = config.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let positives = data.labels().iter().map(|&y| u32::from(y)).sum::<u32>();
    let scope = Scope {
        population: [data.len() as u32 - positives, positives],
        network: true,
        params: 10,
        classes: 2,
        batch: 300,
        steps: steps as u64,
        ..Scope::default()
    };
    let method = registry::method(&config.method).unwrap();
    let settings = method.settings(&pairs).unwrap().with_scope(scope);
    let (estimator, algorithm) = method.parts(&settings).unwrap();
    let model = config.model.build(data.cols()).unwrap();
    let (n, d) = (data.len(), Model::<f64>::param_len(&model));
    // The negatives, then the positives, as batches have them.
    let (negatives, positives): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&row| data.labels()[row as usize] == 0);
    let population = [negatives.len() as u32, positives.len() as u32];
    let (rows, slots) = ([negatives, positives].concat(), (0..population[1]).collect::<Vec<_>>());
    let x = Selection::of(data.rows(), &rows).unwrap();
    let mut cache = vec![0.0; Model::<f64>::cache_len(&model, n)];
    let mut scores_at = |model: &AnyModel, params: &[f64]| {
        let mut scores = vec![0.0; n];
        model.forward(params, x, &mut cache, &mut scores).unwrap();
        (scores, cache.clone())
    };
    let (descent, ascent) = estimator.aux();
    let len = d + descent + ascent;
    let mut first = vec![0.0; len];
    model.init(&mut Rng::keyed(config.seed, 0x1217, 0), &mut first[..d]).unwrap();
    // What `decay-to` pulls to.
    let (pull, start) = (settings.pull(), first.clone());
    let mut points = first.repeat(Algorithm::<f64>::points(&algorithm));
    let mut slot = vec![0.0; Algorithm::<f64>::slots_len(&algorithm, len)];
    let (mut counters, mut done) = ([0; COUNTERS], 0);
    let mut state = vec![0.0; estimator.state_len(population[1] as usize)];
    while done < steps {
        let ask = algorithm.next(&State { points: &mut points, slots: &mut slot, counters: &mut counters });
        let at = |at: Point| points[usize::from(at.0) * len..][..len].to_vec();
        let mut grad = vec![0.0; len];
        let answer = match ask {
            Ask::Evaluate { at: point, .. } => {
                let (params, aux) = (at(point)[..d].to_vec(), at(point)[d..].to_vec());
                let (scores, cache) = scores_at(&model, &params);
                let starts = [0, population[0], n as u32];
                let batch = Batch::new(&scores, 1, &starts, &population, Drawn::Stratified).unwrap().with_slots(&slots);
                let need = estimator.need(batch.shape());
                let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
                let (mut by_score, mut by_aux) = (vec![0.0; n], vec![0.0; len - d]);
                let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut [], u64: &mut [] };
                let out = Grad { scores: &mut by_score, aux: &mut by_aux };
                let value = estimator.update(&batch, &aux, &mut state, scratch, out).unwrap();
                let mut scratch = vec![0.0; Model::<f64>::scratch_len(&model, n)];
                model.backward(&params, x, &cache, &by_score, &mut scratch, &mut grad[..d]).unwrap();
                grad[d..].copy_from_slice(&by_aux);
                let gone = params.iter().zip(&start).map(|(w, start)| w - start);
                let value = value + 0.5 * pull * gone.clone().map(|x| x * x).sum::<f64>();
                grad.iter_mut().zip(gone).for_each(|(g, x)| *g += pull * x);
                done += 1;
                Answer::Gradient { value, grad: &grad }
            }
            Ask::ClassMeans { at: point, .. } => {
                let (scores, _) = scores_at(&model, &at(point)[..d]);
                let mean =
                    |part: &[f64]| Some(part.iter().map(|s| 1.0 / (1.0 + (-s).exp())).sum::<f64>() / part.len() as f64);
                let (low, high) = scores.split_at(population[0] as usize);
                Answer::ClassMeans { positive: mean(high), negative: mean(low) }
            }
            Ask::Report { .. } => Answer::Continue,
            other => panic!("asked for {other:?}"),
        };
        algorithm.tell(&mut State { points: &mut points, slots: &mut slot, counters: &mut counters }, answer).unwrap();
    }
    points[usize::from(Algorithm::<f64>::iterate(&algorithm).0) * len..][..d].to_vec()
}

/// The trainer's steps are the estimator's, the algorithm's and the model's, put together; also with batches of more rows
/// than go through a network at once.
#[test]
fn runs_are_what_their_parts_make() {
    let data = data(300, 100, 1.0, 6);
    let all = [("positives", "100"), ("negatives", "200")];
    for (method, more) in [
        ("ppd-sg", &[("stage", "4"), ("reset", "2"), ("lr", "0.045"), ("link", "sigmoid"), ("pretrain", "0")][..]),
        ("ppd-adagrad", &[("stage", "4"), ("reset", "1"), ("lr", "0.045"), ("answer", "mean"), ("pretrain", "0")]),
        ("auc-margin", &[("stage", "5"), ("lr", "0.5"), ("form", "joint"), ("pretrain", "0")]),
        ("ce-balanced", &[("optimizer", "sgd"), ("lr", "2")]),
        ("soap", &[("optimizer", "momentum"), ("lr", "2"), ("pretrain", "0"), ("decay", "0.003")]),
        ("soap", &[("optimizer", "sgd"), ("lr", "2"), ("pretrain", "0"), ("decay", "0.003"), ("decay-to", "zero")]),
    ] {
        let config = config(method, &[&all, more].concat(), 20);
        let mut trainer = trainer(&config, &data);
        for _ in 0..20 {
            trainer.step().unwrap();
        }
        let want = by_hand(&config, &data, 20);
        let apart = trainer.params().iter().zip(&want).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(apart < 1e-10, "{method}: {apart:e}");
        assert!(want.iter().any(|w| w.abs() > 0.01), "{method} has hardly moved");
    }
}

/// The stage that PGA returns is drawn with the seed of the run.
#[test]
fn the_random_stage_follows_the_seed() {
    let pairs = [("stage", "7"), ("answer", "stage"), ("units", "raw"), ("lr", "0.3"), ("prox", "1000")];
    let pga = registry::method("pga").unwrap();
    let settings = pga.settings(&pairs).unwrap().with_steps(100);
    for seed in [1, 5] {
        let want = Pga::new(0.3, 7.0, 1000.0, 1e6, 1e6, 1, seed).unwrap().with_answer(Point(2));
        let made = pga.parts(&settings.clone().with_seed(seed)).unwrap().1;
        assert_eq!(made, AnyAlgorithm::Pga(want));
    }
    // Three stages of one step, four and nine: which one is returned differs between seeds.
    let data = data(60, 20, 1.0, 7);
    let answers = [1, 2, 3, 4, 5, 6].map(|seed| {
        let mut config = config("pga", &[("stage", "1"), ("answer", "stage"), ("lr", "0.05"), ("pretrain", "0")], 15);
        (config.seed, config.model) = (seed, ModelSpec::Linear);
        let at = |steps| {
            let mut trainer = trainer(&config, &data);
            (0..steps).for_each(|_| assert!(trainer.step().unwrap().is_some()));
            trainer.params().to_vec()
        };
        // (The mean of a stage is known with the first step of the next.)
        (at(6) != at(2), at(15) != at(6))
    });
    assert!(answers.iter().any(|taken| *taken != answers[0]), "{answers:?}");
}

#[test]
fn the_schedules_of_the_theorems_are_settings() {
    let (lr, mu, l, l_tilde) = (0.02, 0.4, 1.6, 0.7);
    let pairs = [("schedule", "theory"), ("lr", "0.02"), ("mu", "0.4"), ("smoothness", "1.6"), ("l-tilde", "0.7")];
    let made = |name| {
        let method = registry::method(name).unwrap();
        method.parts(&method.settings(&pairs).unwrap().with_steps(100)).unwrap().1
    };
    let stages = Stages::theory(lr, mu, l, l_tilde, 4.0).unwrap();
    assert_eq!(made("ppd-sg"), AnyAlgorithm::PpdSg(PpdSg::new(stages, 0.5 / l, 1e-4, 1).unwrap()));
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
        let auroc = trainer.report().unwrap().train.get("auroc").unwrap();
        assert!(auroc > 0.88, "{name}: AUROC {auroc}");
    }
}
