//! The Trainer: same seed, same bits; saved and resumed, same bits; damaged files, typed errors.

use std::sync::Arc;
use undercurve::checkpoint::{CheckpointError, Kind, seal};
use undercurve::data::{Dataset, Rows};
use undercurve::metric::{FprRange, Metrics, TieRule};
use undercurve::registry::{self, Domain, METHODS, Method};
use undercurve::rng::Rng;
use undercurve::surrogate::SURROGATES;
use undercurve::trainer::{Config, Length, ModelSpec, Predictor, Trainer, TrainerError};

/// Two shifted clouds, 12 % positive.
fn data(seed: u64, rows: usize) -> Arc<Dataset<f32>> {
    let mut rng = Rng::new(seed);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 8 == 3)).collect();
    let x = labels.iter().flat_map(|&y| [rng.normal() + 1.3 * f64::from(y), rng.normal() - 0.4 * f64::from(y)]);
    let x = x.map(|v| v as f32).collect();
    Arc::new(Dataset::dense(x, labels, 2).unwrap())
}

/// The same in `f64`.
fn wide() -> Arc<Dataset<f64>> {
    let narrow = data(1, 400);
    let Rows::Dense { data: x, .. } = narrow.rows() else { unreachable!("dense rows were made") };
    Arc::new(Dataset::dense(x.iter().map(|&x| f64::from(x)).collect(), narrow.labels().to_vec(), 2).unwrap())
}

fn config(method: &str, model: &str) -> Config {
    Config {
        method: method.into(),
        model: ModelSpec::parse(model).unwrap(),
        length: Length::Steps(200),
        ..Config::default()
    }
}

/// What a method needs to train this model; `None` where it cannot.
fn settings(method: &Method, model: &str) -> Option<Vec<(String, String)>> {
    if !undercurve_tests::trains(method.name, model) {
        return None;
    }
    if !method.is_finite_sum() {
        // Short runs of the method's own, of networks at a rate for short runs.
        let has = |name: &str| method.params.iter().any(|param| param.name == name);
        let rate =
            (model != "linear" && has("schedule") && has("beta1") && !method.is_exact()).then_some(("lr", "0.02"));
        let own = has("pretrain").then_some(("pretrain", "0"));
        return Some(own.into_iter().chain(rate).map(|(name, value)| (name.into(), value.into())).collect());
    }
    if model == "linear" {
        return Some(Vec::new());
    }
    // The default is of the smoothness constant of a linear model.
    let needed = method.params.iter().filter(|p| p.default.ends_with("/L"));
    let value = |name: &str| if name == "alpha-max" { "0.8" } else { "0.2" };
    let found = needed.map(|p| (p.name.to_string(), value(p.name).to_string())).collect();
    Some(found)
}

#[test]
fn every_method_lowers_its_objective() {
    for method in METHODS {
        let models = ["linear", "mlp:8", "mlp-tanh:6,4"];
        for model in &models {
            let Some(settings) = settings(method, model) else { continue };
            // (In a narrow range a convex surrogate may find nothing better than 0.)
            let mut config = Config { fpr: (0.0, 0.5), settings, ..config(method.name, model) };
            // (Steps of DCA fall with its outer steps: a third of them do not come far from 0.)
            if method.name == "sorr" {
                config.length = Length::Steps(600);
            }
            let mut trainer = Trainer::new(&config, data(1, 400), Some(data(2, 200))).unwrap();
            let before = trainer.report().unwrap();
            while trainer.steps_done() < trainer.total_steps() && trainer.step().unwrap().is_some() {}
            let after = trainer.report().unwrap();
            // A min-max objective at its present dual variable may well rise.
            let defaults = method.settings(&[]).unwrap();
            let saddle = method.estimator(&defaults).is_ok_and(|estimator| estimator.aux().1 > 0);
            assert!(saddle || after.objective < before.objective, "{} {model}: {before:?} {after:?}", method.name);
            // Networks may end in a poor valley of their own; a line has no such excuse.
            let auroc = after.train.get("auroc").unwrap();
            assert!(auroc > 0.75 || *model != "linear", "{} {model}: {after:?}", method.name);
        }
    }
}

#[test]
fn resuming_anywhere_gives_the_same_bits() {
    for method in METHODS {
        for (model, sampling) in [("linear", "stratified"), ("mlp:8", "uniform")] {
            let Some(settings) = settings(method, model) else { continue };
            let mut config = Config { settings, ..config(method.name, model) };
            config.length = Length::Steps(60);
            if !method.is_finite_sum() && method.params.iter().any(|p| p.name == "sampling") {
                config.settings = vec![("sampling".to_string(), sampling.to_string())];
            }
            let (train, test) = (data(1, 300), data(2, 100));
            let whole = |steps: u64| {
                let mut trainer = Trainer::new(&config, train.clone(), None).unwrap();
                for _ in 0..steps {
                    trainer.step().unwrap(); // (an algorithm may be done before)
                }
                trainer
            };
            let end = whole(60).save();
            for stop in [0, 1, 17, 37, 59, 60] {
                let saved = whole(stop).save();
                let mut resumed = Trainer::load(&saved, train.clone(), Some(test.clone())).unwrap();
                assert_eq!(resumed.save(), saved, "saving again gives the same bytes");
                for _ in stop..60 {
                    resumed.step().unwrap();
                }
                assert_eq!(resumed.save(), end, "{} {model} stopped at {stop}", method.name);
            }
        }
    }
}

/// A full gradient over so many rows takes several calls; a run stopped between them goes on with the same bits.
#[test]
fn finite_sums_rest_within_a_full_gradient() {
    for (model, train) in [("linear", data(3, 90_000)), ("mlp:8", data(3, 1500))] {
        for method in METHODS.iter().filter(|method| method.is_finite_sum()) {
            let Some(settings) = settings(method, model) else { continue };
            let config = Config { length: Length::Passes(1.02), settings, ..config(method.name, model) };
            let mut whole = Trainer::new(&config, train.clone(), None).unwrap();
            let mut parts = whole.clone();
            let (mut calls, mut rests) = (0, 0);
            while calls < 40 && whole.step().unwrap().is_some() {
                let before = parts.steps_done();
                assert!(parts.step().unwrap().is_some());
                if parts.steps_done() == before {
                    rests += 1;
                    parts = Trainer::load(&parts.save(), train.clone(), None).unwrap();
                }
                calls += 1;
            }
            assert_eq!(whole.save(), parts.save(), "{} {model}", method.name);
            let walks = !method.name.ends_with("-sum");
            assert!(rests >= if walks { 2 } else { 1 }, "{} {model}: {rests} of {calls}", method.name);
        }
    }
}

#[test]
fn a_dual_reset_of_many_batches_rests_and_resumes() {
    for method in ["ppd-sg", "ppd-adagrad"] {
        let settings = [("reset", "2500"), ("stage", "3"), ("pretrain", "0")]
            .map(|(name, value)| (name.to_string(), value.to_string()));
        let config = Config { settings: settings.to_vec(), length: Length::Steps(5), ..config(method, "linear") };
        let mut whole = Trainer::<f32>::new(&config, data(1, 400), None).unwrap();
        let mut parts = whole.clone();
        let mut rests = 0;
        while whole.steps_done() < 5 {
            whole.step().unwrap();
        }
        while parts.steps_done() < 5 {
            assert!(rests < 1000, "{method}: the reset is lost");
            let before = parts.steps_done();
            parts.step().unwrap();
            rests += u32::from(parts.steps_done() == before);
            parts = Trainer::load(&parts.save(), data(1, 400), None).unwrap();
        }
        assert!(rests > 0, "{method}: the reset was one call");
        assert_eq!(whole.save(), parts.save(), "{method}");
    }
}

#[test]
fn a_stationary_sum_stays_so_when_resumed() {
    let flat = Dataset::dense(vec![0.0f32; 40], (0..40).map(|k| k % 2).collect(), 1).unwrap();
    let flat = Arc::new(flat);
    let mut trainer = Trainer::<f32>::new(&config("ai-sarah", "linear"), flat.clone(), None).unwrap();
    while trainer.step().unwrap().is_some() {}
    let mut again = Trainer::load(&trainer.save(), flat, None).unwrap();
    assert_eq!(again.step().unwrap(), None);
    assert_eq!(again.pass(), trainer.pass());
}

#[test]
fn every_surrogate_parts_equal_scores() {
    for method in METHODS {
        let Some(surrogates) = method.params.iter().find(|param| param.name == "surrogate") else { continue };
        let Domain::Choice(names) = surrogates.domain else { unreachable!("surrogates are words") };
        // (Partial AUC takes monotone surrogates alone.)
        let ranged = method.name.starts_with("pauc-") || ["sopa", "sopa-s", "sota-s"].contains(&method.name);
        for name in names.iter().filter(|name| !ranged || **name != "square") {
            let (_, param, _) = SURROGATES.iter().find(|entry| entry.0 == *name).unwrap();
            let mut settings = vec![("surrogate".to_string(), (*name).to_string()), (param.to_string(), "1".into())];
            if !method.is_exact() {
                settings.push(("lr".into(), "0.02".into()));
            } else if method.name == "ap-exact" {
                // Bounded scores, as the paper has them: unbounded losses of AP follow the hardest positives.
                settings.push(("link".into(), "sigmoid".into()));
            }
            // (In a narrow range a convex surrogate may find nothing better than 0.)
            let config = Config { settings, fpr: (0.0, 0.5), ..config(method.name, "linear") };
            let mut trainer = Trainer::<f32>::new(&config, data(1, 400), None).unwrap();
            while trainer.steps_done() < trainer.total_steps() && trainer.step().unwrap().is_some() {}
            let auroc = trainer.report().unwrap().train.get("auroc").unwrap();
            assert!(auroc > 0.75, "{} {name}: {auroc}", method.name);
        }
    }
}

#[test]
fn a_mean_answers_where_it_is_asked_for() {
    for (method, lr) in [("ppd-sg", "1"), ("ppd-adagrad", "0.1"), ("pga", "1"), ("oauc", "1")] {
        let trainer = |answer: &str| {
            let mut settings = vec![("lr", lr), ("answer", answer), ("pretrain", "0"), ("units", "raw")];
            if method != "oauc" {
                settings.push(("stage", "500"));
            }
            let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            Trainer::<f64>::new(&Config { settings, ..config(method, "linear") }, wide(), None).unwrap()
        };
        let (mut last, mut mean) = (trainer("last"), trainer("mean"));
        // Within the first stage. The means hold the start but for PGA; OAUC weighs by the rates.
        let mut seen = vec![last.params().to_vec()];
        for step in 0..12u32 {
            last.step().unwrap();
            mean.step().unwrap();
            seen.push(last.params().to_vec());
            let weight = |k: usize| match method {
                "oauc" => {
                    if k <= step as usize {
                        1.0 / ((k + 1) as f64).sqrt()
                    } else {
                        0.0
                    }
                }
                "pga" => f64::from(u8::from(k > 0)),
                _ => 1.0,
            };
            let total: f64 = (0..seen.len()).map(weight).sum();
            for (column, &got) in mean.params().iter().enumerate() {
                let want: f64 = seen.iter().enumerate().map(|(k, at)| weight(k) * at[column]).sum::<f64>() / total;
                assert!((got - want).abs() < 1e-12 * (1.0 + want.abs()), "{method}, step {step}: {got} {want}");
            }
        }
        assert_ne!(last.params(), mean.params(), "{method}");
    }
}

#[test]
fn a_model_too_large_for_memory_is_an_error() {
    for (method, model) in [("soap", "mlp:99999999999,999"), ("ap-exact", "mlp:8,1152921504606846975")] {
        let Err(error) = Trainer::<f32>::new(&config(method, model), data(1, 40), None) else { panic!("{model}") };
        assert!(error.to_string().contains("memory") || error.to_string().contains("fit"), "{error}");
    }
    let config = Config {
        settings: settings(registry::method("ai-sarah").unwrap(), "mlp:8").unwrap(),
        ..config("ai-sarah", "mlp-tanh:99999999999,999")
    };
    assert!(Trainer::<f32>::new(&config, data(1, 40), None).is_err());
}

#[test]
fn finite_sums_report_their_gradient_and_step_sizes() {
    let train = data(1, 300);
    let mut trainer =
        Trainer::new(&Config { length: Length::Method, ..config("ai-sarah", "linear") }, train.clone(), None).unwrap();
    let first = trainer.report().unwrap().sum.unwrap();
    assert_eq!((first.alpha, first.alpha_max), (0.0, f64::INFINITY));
    while trainer.step().unwrap().is_some() {}
    let report = trainer.report().unwrap();
    let sum = report.sum.unwrap();
    assert_eq!(report.grad_norm_sq, Some(sum.grad_norm_sq));
    assert!(report.pass >= 20.0 && sum.grad_norm_sq < 1e-6 * first.grad_norm_sq, "{report:?}");
    assert!(0.0 < sum.alpha && sum.alpha <= sum.alpha_max && sum.alpha_max < f64::INFINITY);
    // λ = 1/n is part of the objective and of its Hessian.
    let curvature = trainer.curvature().unwrap().unwrap();
    assert!(
        curvature > 1.0 / 300.0 && sum.alpha_max * curvature > 0.2 && sum.alpha_max * curvature < 5.0,
        "{curvature}"
    );
    let mut plain = Trainer::new(&config("ce", "linear"), train.clone(), None).unwrap();
    assert_eq!((plain.report().unwrap().sum, plain.curvature().unwrap(), plain.step_size()), (None, None, None));

    // A network's sum is reported in the same words, without the eigenvalue.
    let tanh = Config { length: Length::Method, ..config("ai-sarah", "mlp-tanh:4") };
    let mut network = Trainer::new(&tanh, train.clone(), None).unwrap();
    let first = network.sum().unwrap().unwrap();
    while network.step().unwrap().is_some() {}
    let (sum, pass) = (network.sum().unwrap().unwrap(), network.pass());
    assert!(pass >= 20.0 && sum.grad_norm_sq < 1e-2 * first.grad_norm_sq, "{pass} {first:?} {sum:?}");
    assert!(0.0 < sum.alpha && sum.alpha <= sum.alpha_max && sum.alpha_max < f64::INFINITY);
    assert_eq!(network.curvature().unwrap(), None);
    assert_eq!(network.batch_index().len(), 64);

    let error = |method: &str, model: &str, settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let config = Config { settings, ..config(method, model) };
        Trainer::new(&config, train.clone(), None).map(|_| ()).unwrap_err().to_string()
    };
    assert!(error("ai-sarah", "linear", &[("lambda", "1/m")]).contains("expected 1/n or a number from 0 to"));
    assert_eq!(
        error("theoretical-ai-sarah", "mlp:8", &[]),
        "theoretical-ai-sarah needs the smoothness of every example, which is known for linear models, not mlp:8"
    );
    assert_eq!(
        error("svrg", "mlp:8", &[]),
        "svrg with mlp:8 needs alpha: its default 1/L is known for linear models alone"
    );
    assert!(error("bounded-ai-sarah", "mlp:8", &[("alpha-min", "0.1")]).contains("needs alpha-max"));
}

/// At w = 0 the squared hinge with margin 1 has slope −2 at every pair, so its gradient is −2(mean of the positives −
/// mean of the negatives), and 0 for the bias. Where L-BFGS ends, the gradient of loss and decay together is small.
#[test]
fn exact_methods_report_the_gradient_of_what_they_minimise() {
    // Below and above the rows that one chunk of the model's passes holds.
    for rows in [120, 700] {
        let train = data(4, rows);
        let mut means = [[0.0; 2]; 2];
        let Rows::Dense { data: x, .. } = train.rows() else { unreachable!("dense rows were made") };
        for (row, &label) in x.chunks(2).zip(train.labels()) {
            let class = train.labels().iter().filter(|&&other| other == label).count() as f64;
            (0..2).for_each(|j| means[usize::from(label)][j] += f64::from(row[j]) / class);
        }
        let expected: f64 = (0..2).map(|j| (2.0 * (means[1][j] - means[0][j])).powi(2)).sum();
        for (method, decay) in [("auc-exact", "0"), ("auc-exact", "0.1"), ("ap-exact", "0.1"), ("pauc-exact", "0.1")] {
            let settings = vec![("decay".to_string(), decay.to_string()), ("pretrain".to_string(), "0".to_string())];
            let config = Config { settings, length: Length::Method, fpr: (0.0, 0.5), ..config(method, "linear") };
            let mut trainer = Trainer::new(&config, train.clone(), None).unwrap();
            let first = trainer.report().unwrap().grad_norm_sq.unwrap();
            if method == "auc-exact" {
                assert!((first / expected - 1.0).abs() < 1e-4, "{first} {expected}");
            }
            while trainer.step().unwrap().is_some() {}
            let last = trainer.report().unwrap().grad_norm_sq.unwrap();
            assert!(last < 1e-6 * first, "{method} decay {decay} {rows} rows: {first:e} {last:e}");
        }
        let mut batches = Trainer::new(&config("soap", "linear"), train.clone(), None).unwrap();
        assert_eq!(batches.report().unwrap().grad_norm_sq, None);
    }
}

#[test]
fn two_methods_see_the_same_start_and_the_same_batches() {
    let train = data(1, 300);
    let mut lanes = ["ce", "soap", "auc-pairwise", "ce-balanced"]
        .map(|name| Trainer::new(&config(name, "mlp:4"), train.clone(), None).unwrap());
    let (first, others) = lanes.split_first_mut().unwrap();
    for other in others.iter_mut() {
        assert_eq!(first.params(), other.params());
    }
    for _ in 0..100 {
        first.step().unwrap();
        for other in &mut *others {
            other.step().unwrap();
            assert_eq!(first.batch_index(), other.batch_index());
        }
    }
    for other in others {
        assert_ne!(first.params(), other.params());
    }
}

#[test]
fn damaged_files_are_errors_and_never_panic() {
    let train = data(1, 100);
    let mut trainer = Trainer::new(&config("soap", "linear"), train.clone(), None).unwrap();
    trainer.step().unwrap();
    let saved = trainer.save();
    let load = |bytes: &[u8]| Trainer::load(bytes, train.clone(), None).err();
    for cut in 0..saved.len() {
        assert!(load(&saved[..cut]).is_some(), "cut at {cut}");
    }
    for at in 0..saved.len() {
        let mut bytes = saved.clone();
        bytes[at] ^= 0x41;
        assert!(load(&bytes).is_some(), "byte {at} changed");
    }
    let other = |bytes: &[u8]| Trainer::load(bytes, data(9, 100), None).err();
    assert_eq!(other(&saved), Some(TrainerError::Checkpoint(CheckpointError::Mismatch("training data set"))));
    assert_eq!(load(b"hello"), Some(TrainerError::Checkpoint(CheckpointError::NotOurs)));
    assert_eq!(load(&seal(Kind::Trainer, b"")), Some(TrainerError::Checkpoint(CheckpointError::Damaged)));
    assert!(Predictor::<f64>::load(&saved[..40]).is_err());
}

/// A run goes on with its own data only: other labels, values or places of values are other data.
#[test]
fn a_run_knows_its_training_data() {
    let ptr: Vec<usize> = (0..=40).collect();
    let (col, val): (Vec<u32>, Vec<f32>) =
        ((0..40).map(|k| k % 3).collect(), (0..40).map(|k| k as f32 / 40.0).collect());
    let labels: Vec<u8> = (0..40).map(|k| u8::from(k % 4 == 0)).collect();
    let sparse = |col: &[u32], val: &[f32], labels: &[u8], cols| {
        Arc::new(Dataset::csr(ptr.clone(), col.to_vec(), val.to_vec(), labels.to_vec(), cols).unwrap())
    };
    let own = sparse(&col, &val, &labels, 3);
    let saved = Trainer::new(&config("soap", "linear"), own.clone(), None).unwrap().save();
    assert!(Trainer::load(&saved, own, None).is_ok());
    let (mut other_col, mut other_val, mut other_labels) = (col.clone(), val.clone(), labels.clone());
    other_col[7] = (col[7] + 1) % 3;
    other_val[7] = 0.5;
    other_labels.swap(4, 5);
    for other in [
        sparse(&other_col, &val, &labels, 3),
        sparse(&col, &other_val, &labels, 3),
        sparse(&col, &val, &other_labels, 3),
        sparse(&col, &val, &labels, 4),
    ] {
        let error = Trainer::load(&saved, other, None).map(|_| ()).unwrap_err();
        assert_eq!(error, TrainerError::Checkpoint(CheckpointError::Mismatch("training data set")));
    }
}

/// Reports take the partial AUC over the whole of the asked range, its lower end included.
#[test]
fn reports_measure_the_asked_range() {
    let train = data(1, 400);
    let config = Config { fpr: (0.2, 0.6), ..config("ce", "linear") };
    let mut trainer = Trainer::new(&config, train.clone(), None).unwrap();
    (0..20).for_each(|_| assert!(trainer.step().unwrap().is_some()));
    let mut scores = vec![0.0; 400];
    trainer.score(train.rows(), &mut scores).unwrap();
    let range = FprRange::new(0.2, 0.6).unwrap();
    let want = Metrics::new().partial_auc(&scores, train.labels(), range, TieRule::Trapezoid).unwrap();
    assert_eq!(trainer.report().unwrap().train.get("pauc"), Some(want));
}

#[test]
fn a_saved_model_scores_as_the_trainer_does() {
    let train = data(1, 100);
    for method in METHODS {
        for model in ["linear", "mlp:5"] {
            let Some(mut settings) = settings(method, model) else { continue };
            if method.params.iter().any(|param| param.name == "answer") {
                settings.push(("answer".to_string(), "mean".to_string()));
            }
            let config = Config { settings, ..config(method.name, model) };
            let mut trainer = Trainer::new(&config, train.clone(), None).unwrap();
            let (mut a, mut b) = (vec![0.0; 100], vec![0.0; 100]);
            for step in 0..24 {
                trainer.score(train.rows(), &mut a).unwrap();
                Predictor::<f32>::load(&trainer.save()).unwrap().score(train.rows(), &mut b).unwrap();
                assert_eq!(a, b, "{} {model}, step {step}", method.name);
                trainer.step().unwrap();
            }
        }
    }
}

#[test]
fn wrong_settings_say_what_is_right() {
    let text = |change: &dyn Fn(&mut Config)| {
        let mut config = config("soap", "linear");
        change(&mut config);
        Trainer::new(&config, data(1, 100), None).map(|_| ()).unwrap_err().to_string()
    };
    let set = |k: &str, v: &str| vec![(k.to_string(), v.to_string())];
    assert!(text(&|c| c.method = "soup".into()).starts_with("no method \"soup\"; there are soap, "));
    assert!(text(&|c| c.settings = set("gama", "1")).contains("no parameter \"gama\"; it has steps, "));
    assert_eq!(
        text(&|c| c.settings = set("optimizer", "sdg")),
        "optimizer = \"sdg\": expected one of sgd, momentum, adam, adam-plain, amsgrad, adagrad"
    );
    assert!(text(&|c| c.settings = set("gamma", "nan")).starts_with("gamma = \"nan\": expected a number"));
    assert_eq!(text(&|c| c.fpr = (0.5, 0.5)), "fpr 0.5:0.5: expected 0 <= LO < HI <= 1");
    for bad in ["", "mlp", "mlp:", "mlp:0", "mlp:4,", "mpl:4", "linear:3", "mlp:1,1,1,1,1,1,1,1,1"] {
        assert!(ModelSpec::parse(bad).is_err(), "{bad}");
    }
    for good in ["linear", "mlp:64,64", "mlp-tanh:3"] {
        assert_eq!(ModelSpec::parse(good).unwrap().to_string(), good);
    }
    let one_class = Arc::new(Dataset::dense(vec![0.0f32; 4], vec![1, 1], 2).unwrap());
    assert!(Trainer::new(&config("ce", "linear"), one_class, None).is_err());
}

/// A setting that another one makes meaningless is refused by name, unless it is the paper's.
#[test]
fn settings_that_nothing_reads_are_refused() {
    let made = |method: &str, settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let config = Config { settings, ..config(method, "linear") };
        Trainer::<f32>::new(&config, data(1, 100), None).map(|_| ()).map_err(|error| error.to_string())
    };
    for (method, unread, beside) in [
        ("soap", ("batch", "1024"), ("sampling", "stratified")),
        ("soap", ("positives", "2"), ("sampling", "uniform")),
        ("soap", ("margin", "2"), ("surrogate", "sigmoid")),
        ("ce", ("beta2", "0.9"), ("optimizer", "sgd")),
        ("ap-exact", ("pretrain-lr", "1"), ("pretrain", "0")),
        ("ppd-sg", ("prox", "3"), ("schedule", "theory")),
        ("ppd-adagrad", ("l-tilde", "3"), ("stages", "fixed")),
        ("auc-margin", ("stage", "3"), ("optimizer", "adam")),
    ] {
        let text = made(method, &[beside, unread]).unwrap_err();
        assert!(text.starts_with(&format!("{} has no effect with ", unread.0)), "{method}: {text}");
        if beside.0 != "pretrain" {
            assert!(text.contains(&format!("{}={}", beside.0, beside.1)), "{method}: {text}");
        }
    }
    assert_eq!(made("soap", &[("sampling", "uniform"), ("batch", "32")]), Ok(()));
    let paper = registry::method("soap").unwrap().paper;
    assert_eq!(made("soap", &[paper, &[("pretrain", "0")]].concat()), Ok(()));
}

/// Data sets of numbers train linear models and networks by finite sums, and what ranks refuses them.
#[test]
fn numbers_are_fitted_by_finite_sums() {
    let mut rng = Rng::new(4);
    let x: Vec<f64> = (0..400).map(|_| rng.normal()).collect();
    let y = x.chunks(2).map(|x| 1.5 * x[0] - 0.5 * x[1] + 0.25 + 0.1 * rng.normal()).collect();
    let data = Arc::new(Dataset::dense(x, Vec::new(), 2).unwrap().with_values(y).unwrap());
    let config = |method: &str, model: &str, settings: &[(&str, &str)]| Config {
        method: method.into(),
        model: ModelSpec::parse(model).unwrap(),
        settings: settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        length: Length::Passes(40.0),
        ..Config::default()
    };
    for model in ["linear", "mlp-tanh:4"] {
        let config = config("ai-sarah", model, &[("loss", "least-squares"), ("batch", "8")]);
        let mut trainer = Trainer::new(&config, Arc::clone(&data), Some(Arc::clone(&data))).unwrap();
        let report = trainer.run().unwrap();
        let [rmse, r2] = ["rmse", "r2"].map(|name| report.train.get(name).unwrap());
        assert!(r2 > 0.9 && rmse < 0.5, "{model}: {report:?}");
        assert_eq!((report.test.as_ref(), report.train.get("auroc")), (Some(&report.train), None));
        let saved = trainer.save();
        let mut again = Trainer::load(&saved, Arc::clone(&data), None).unwrap();
        assert!(again.is_done() && again.save() == saved && again.evaluate(&data).unwrap() == report.train);
    }
    let refused = |method: &str, settings: &[(&str, &str)]| {
        Trainer::new(&config(method, "linear", settings), Arc::clone(&data), None).unwrap_err().to_string()
    };
    assert!(refused("soap", &[]).contains("numbers are for finite sums"));
    assert!(refused("ai-sarah", &[("loss", "logistic")]).contains("loss=least-squares"));
}
