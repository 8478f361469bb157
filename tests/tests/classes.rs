//! Several classes at once: data, sampler, metrics, and the trainer against the algorithm boxes written out.

use proptest::prelude::*;
use std::sync::Arc;
use undercurve::algorithm::{Algorithm, Answer, PpdSg, Stages, State};
use undercurve::batch::{Batch, Drawn};
use undercurve::checkpoint::{CheckpointError, Kind, SavedModel, open, seal};
use undercurve::data::{
    Dataset, Format, Options, Preparation, RawTable, Rows, Scale, Segments, Split, Target, label_values, prepare,
};
use undercurve::estimator::{AucMulticlass, Estimator, PairWeighting, Weights};
use undercurve::metric::{Metrics, class_summary, log_odds};
use undercurve::registry::class_methods;
use undercurve::rng::Rng;
use undercurve::sampler::{AnySampler, Place, Sampler, Shuffle, Stratified};
use undercurve::trainer::{Config, Length, ModelSpec, Predictor, Trainer, TrainerError};
use undercurve::{Error, Scratch};
use undercurve_tests::{classes as twin, estimators, metric, model, nonsense};

/// Every label value is a class.
fn several() -> Options {
    Options { target: Target::Classes, ..Options::default() }
}

const CENTRES: [[f64; 2]; 3] = [[0.0, 0.0], [1.2, 0.3], [-0.2, 1.4]];

/// Three clouds of unequal sizes.
fn data(seed: u64, rows: usize) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut rng = Rng::new(seed);
    let y: Vec<usize> = (0..rows).map(|k| [0, 0, 1, 0, 2, 1, 0, 0][k % 8]).collect();
    (y.iter().map(|&y| CENTRES[y].iter().map(|c| c + rng.normal()).collect()).collect(), y)
}

fn dataset(x: &[Vec<f64>], y: &[usize]) -> Arc<Dataset<f64>> {
    let features = Dataset::dense(x.concat(), Vec::new(), x[0].len()).unwrap();
    let names = ["red", "green", "blue"].map(String::from).to_vec();
    Arc::new(features.with_classes(y.iter().map(|&y| y as u32).collect(), names).unwrap())
}

fn config(method: &str, model: &str, settings: &[(&str, &str)], steps: u64) -> Config {
    Config {
        method: method.into(),
        model: ModelSpec::parse(model).unwrap(),
        settings: settings.iter().map(|&(k, v)| (k.to_string(), v.to_string())).collect(),
        length: Length::Steps(steps),
        ..Config::default()
    }
}

/// The batches of a trainer with seed 1, by the sampler alone.
fn batches(y: &[usize], sampler: AnySampler) -> impl FnMut() -> Vec<usize> {
    let labels: Vec<u32> = y.iter().map(|&y| y as u32).collect();
    let (mut rows, mut starts) = (vec![0; y.len()], vec![0; 4]);
    Segments::new(&labels, &mut rows, &mut starts).unwrap();
    let (mut order, mut cursor) = (vec![0; y.len()], vec![0; 6]);
    sampler.prepare(&Segments::again(&rows, &starts).unwrap(), &cursor, &mut order).unwrap();
    move || {
        let segments = Segments::again(&rows, &starts).unwrap();
        let rows = sampler.rows(&segments);
        let (mut index, mut items, mut from) = (vec![0; rows], vec![0; rows], vec![0; 4]);
        let to = Place { index: &mut index, items: &mut items, starts: &mut from };
        sampler.draw(&segments, &mut cursor, &mut order, to).unwrap();
        index.iter().map(|&row| row as usize).collect()
    }
}

fn per_class(seed: u64, rows: u32) -> AnySampler {
    AnySampler::Stratified(Stratified::per_segment(seed, rows).unwrap())
}

fn uniform(seed: u64, batch: u32) -> AnySampler {
    AnySampler::Shuffle(Shuffle::new(seed, batch).unwrap())
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
    assert!(a.len() == b.len() && worst <= tolerance, "{worst:e}: {a:?} {b:?}");
}

#[test]
fn cross_entropy_descends_as_written_out() {
    let (x, y) = data(3, 200);
    for (sampling, sampler, weights) in [
        ("stratified", per_class(1, 5), "unbiased"),
        ("stratified", per_class(1, 5), "as-drawn"),
        ("uniform", uniform(1, 12), "unbiased"),
    ] {
        let mut draw = batches(&y, sampler);
        let size = if sampling == "uniform" { ("batch", "12") } else { ("per-class", "5") };
        let settings = [
            ("optimizer", "sgd"),
            ("schedule", "constant"),
            ("lr", "0.5"),
            ("sampling", sampling),
            size,
            ("weights", weights),
            ("decay", "0"),
        ];
        let mut trainer = Trainer::new(&config("ce", "linear", &settings, 120), dataset(&x, &y), None).unwrap();
        let all = twin::Data { x: &x, y: &y, population: &[125.0, 50.0, 25.0] };
        let mut w = vec![0.0; 9];
        for _ in 0..120 {
            trainer.step().unwrap();
            let batch = draw();
            let drawn: Vec<usize> = trainer.batch_index().iter().map(|&row| row as usize).collect();
            assert_eq!(drawn, batch);
            // (Uniform batches are unbiased as they are.)
            let g = all.cross_entropy(&w, &batch, sampling == "stratified" && weights == "unbiased");
            w.iter_mut().zip(g).for_each(|(w, g)| *w -= 0.5 * g);
            close(trainer.params(), &w, 1e-11);
        }
    }
}

#[test]
fn ppd_sg_goes_through_its_stages_as_written_out() {
    let (x, y) = data(4, 160);
    for resets in [0, 2] {
        let mut draw = batches(&y, per_class(1, 6));
        let reset = resets.to_string();
        let settings = [
            ("lr", "0.9"),
            ("stage", "7"),
            ("prox", "5"),
            ("reset", reset.as_str()),
            ("per-class", "6"),
            ("stage-factor", "3"),
            ("decay", "0"),
        ];
        let steps = 6 + 20 + 62;
        let mut trainer = Trainer::new(&config("ppd-sg", "linear", &settings, steps), dataset(&x, &y), None).unwrap();
        let all = twin::Data { x: &x, y: &y, population: &[100.0, 40.0, 20.0] };
        let stages = [(0.9, 7, resets), (0.3, 21, 3 * resets), (0.1, 63, 9 * resets)];
        let want = all.ppd_sg(&stages, 5.0, &mut draw);
        assert_eq!(want.len() as u64, steps);
        for want in want {
            trainer.step().unwrap();
            close(trainer.params(), &want[..9], 1e-10);
        }
    }
}

/// With one score a class the last layer of a network is shared: its gradient by finite differences of the loss.
#[test]
fn networks_with_a_head_for_each_class_descend_along_the_gradient() {
    let (x, y) = data(5, 300);
    let settings = [
        ("optimizer", "sgd"),
        ("schedule", "constant"),
        ("lr", "1"),
        ("decay", "0"),
        ("sampling", "uniform"),
        ("batch", "300"),
    ];
    let mut trainer = Trainer::new(&config("ce", "mlp-tanh:4,3", &settings, 3), dataset(&x, &y), None).unwrap();
    let sizes = [2, 4, 3, 3];
    let loss = |w: &[f64]| -> f64 {
        let one = |(x, &y): (&Vec<f64>, &usize)| -estimators::softmax(&model::scores(&sizes, true, w, x))[y].ln();
        x.iter().zip(&y).map(one).sum::<f64>() / 300.0
    };
    for _ in 0..3 {
        let before = trainer.params().to_vec();
        let value = trainer.step().unwrap().unwrap();
        assert!((value - loss(&before)).abs() < 1e-12);
        let moved: Vec<f64> = before.iter().zip(trainer.params()).map(|(a, b)| a - b).collect();
        let slope: Vec<f64> = (0..before.len())
            .map(|k| {
                let at = |d: f64| {
                    let mut w = before.clone();
                    w[k] += d;
                    loss(&w)
                };
                (at(1e-5) - at(-1e-5)) / 2e-5
            })
            .collect();
        close(&moved, &slope, 1e-9);
    }
}

/// `min_{a,b} max_α F` is the mean over ordered pairs of E[(1 − h_i + h_i')²] − 1.
#[test]
fn the_saddle_point_is_the_mean_square_loss_over_pairs() {
    let mut rng = Rng::new(9);
    let sizes = [4usize, 7, 3, 5];
    let (c, rows) = (sizes.len(), sizes.iter().sum::<usize>());
    let y: Vec<usize> = sizes.iter().enumerate().flat_map(|(k, &n)| vec![k; n]).collect();
    let scores: Vec<f64> = (0..c * rows).map(|_| 2.0 * rng.normal()).collect();
    let h: Vec<f64> = scores.chunks(c).flat_map(estimators::softmax).collect();
    let of = |class: usize, score: usize| -> Vec<f64> {
        (0..rows).filter(|&r| y[r] == class).map(|r| h[r * c + score]).collect()
    };
    let mean = |v: Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
    let (mut a, mut b, mut alpha, mut want) = (vec![], vec![], vec![], 0.0);
    for i in 0..c {
        for j in (0..c).filter(|&j| j != i) {
            let (own, other) = (of(i, i), of(j, i));
            let losses = own.iter().flat_map(|h| other.iter().map(move |o| (1.0 - h + o).powi(2)));
            want += mean(losses.collect()) - 1.0;
            a.push(mean(own.clone()));
            b.push(mean(other.clone()));
            alpha.push(mean(other) - mean(own));
        }
    }
    let pairs = c * (c - 1);
    let aux = [a, b, alpha].concat();
    let population: Vec<u32> = sizes.iter().map(|&n| n as u32).collect();
    let starts: Vec<u32> = (0..=c).map(|k| population[..k].iter().sum()).collect();
    let batch = Batch::new(&scores, c, &starts, &population, Drawn::All).unwrap();
    let estimator = AucMulticlass::new(c as u32, PairWeighting::HandTill, 0, 1, Weights::Unbiased).unwrap();
    let value = |aux: &[f64]| {
        let mut memory = vec![0.0; Estimator::<f64>::need(&estimator, batch.shape()).real];
        estimator.value(&batch, aux, Scratch { real: &mut memory, ..Scratch::default() }).unwrap()
    };
    let best = value(&aux);
    assert!((best - want / pairs as f64).abs() < 1e-12, "{best} {want}");
    for k in 0..3 * pairs {
        let mut other = aux.clone();
        other[k] += 0.1;
        // a and b are minimised over, α is maximised over.
        assert!(if k < 2 * pairs { value(&other) > best } else { value(&other) < best }, "{k}");
    }
}

#[test]
fn every_method_learns() {
    let ((x, y), (tx, ty)) = (data(1, 400), data(2, 400));
    // What the clouds allow: the posterior that they were drawn by.
    let best = {
        let score = |x: &Vec<f64>, c: usize| {
            let distance: f64 = x.iter().zip(CENTRES[c]).map(|(x, c)| (x - c).powi(2)).sum();
            [5.0f64, 2.0, 1.0][c].ln() - 0.5 * distance
        };
        let mut scores: Vec<f64> = tx.iter().flat_map(|x| [0, 1, 2].map(|c| score(x, c))).collect();
        log_odds(&mut scores, 3).unwrap();
        class_summary(&scores, 3, dataset(&tx, &ty).class_labels(), &[]).unwrap()
    };
    for method in class_methods() {
        for model in ["linear", "mlp:8", "mlp-tanh:6,4"] {
            let config = config(method.name, model, &[], 800);
            let mut trainer = Trainer::new(&config, dataset(&x, &y), Some(dataset(&tx, &ty))).unwrap();
            let before = trainer.report().unwrap();
            while trainer.step().unwrap().is_some() && trainer.steps_done() < 800 {}
            let after = trainer.report().unwrap();
            assert!(after.objective < before.objective, "{} {model}: {before:?} {after:?}", method.name);
            let test = after.test.unwrap().classes().unwrap().clone();
            let enough = best.hand_till - 0.02;
            assert!(test.hand_till > enough, "{} {model}: {test:?}, at best {best:?}", method.name);
        }
    }
}

/// The seed decides which rows a batch has, whatever the method and however they are drawn.
#[test]
fn batches_follow_the_seed() {
    let (x, y) = data(6, 90);
    let all = dataset(&x, &y);
    for method in class_methods() {
        for sampling in ["stratified", "uniform"] {
            let batch = |seed| {
                let config = Config { seed, ..config(method.name, "linear", &[("sampling", sampling)], 2) };
                let mut trainer = Trainer::new(&config, Arc::clone(&all), None).unwrap();
                trainer.step().unwrap();
                trainer.batch_index().to_vec()
            };
            assert_eq!(batch(1), batch(1), "{} {sampling}", method.name);
            assert_ne!(batch(1), batch(2), "{} {sampling}", method.name);
        }
    }
}

#[test]
fn resuming_after_any_step_gives_the_same_bits() {
    let (x, y) = data(6, 90);
    let all = dataset(&x, &y);
    for method in class_methods() {
        for (model, sampling, pairs, pretrain) in
            [("linear", "stratified", "0", "0"), ("mlp:4", "uniform", "2", "9"), ("linear", "uniform", "0", "5")]
        {
            let wanted = [
                ("sampling", sampling),
                ("pairs", pairs),
                ("pretrain", pretrain),
                ("stage", "6"),
                ("reset", "2"),
                if sampling == "uniform" { ("batch", "10") } else { ("per-class", "3") },
            ];
            let has = |name: &str| method.params.iter().any(|param| param.name == name);
            let settings: Vec<(&str, &str)> = wanted.into_iter().filter(|(name, _)| has(name)).collect();
            let config = config(method.name, model, &settings, 40);
            let mut whole = Trainer::new(&config, Arc::clone(&all), None).unwrap();
            let mut states = vec![whole.save()];
            for _ in 0..40 {
                whole.step().unwrap();
                states.push(whole.save());
            }
            for (done, state) in states.iter().enumerate() {
                let mut resumed = Trainer::load(state, Arc::clone(&all), None).unwrap();
                assert_eq!((resumed.steps_done(), resumed.save() == *state), (done as u64, true));
                for next in states[done + 1..].iter().take(9) {
                    resumed.step().unwrap();
                    assert!(resumed.save() == *next, "{} {model} from {done}", method.name);
                }
            }
        }
    }
}

#[test]
fn a_dual_reset_of_many_batches_rests_and_resumes() {
    let (x, y) = data(7, 60);
    let all = dataset(&x, &y);
    let config = config("ppd-sg", "linear", &[("reset", "9000"), ("stage", "3"), ("per-class", "3")], 4);
    let mut whole = Trainer::new(&config, Arc::clone(&all), None).unwrap();
    let mut parts = whole.clone();
    while whole.steps_done() < 4 {
        whole.step().unwrap();
    }
    let (mut rests, mut calls) = (0, 0);
    while parts.steps_done() < 4 && calls < 100 {
        let before = parts.steps_done();
        parts.step().unwrap();
        rests += u32::from(parts.steps_done() == before);
        calls += 1;
        parts = Trainer::load(&parts.save(), Arc::clone(&all), None).unwrap();
    }
    assert!(rests > 0 && whole.save() == parts.save(), "{rests} rests in {calls} calls");
    // Nine rows a batch, of the steps and the reset alike.
    assert_eq!(whole.pass(), f64::from(9 * (4 + 9000)) / 60.0);
}

/// The figures of the training rows in a report are those of the same rows as any others.
#[test]
fn reports_measure_the_rows_they_name() {
    let (x, y) = data(7, 60);
    let all = dataset(&x, &y);
    let mut trainer = Trainer::new(&config("ce", "mlp:3", &[], 30), Arc::clone(&all), Some(all.clone())).unwrap();
    (0..30).for_each(|_| assert!(trainer.step().unwrap().is_some()));
    let report = trainer.report().unwrap();
    let (want, test) = (trainer.evaluate(&all).unwrap(), report.test.clone().unwrap());
    assert_eq!((report.step, report.pass, &test), (30, trainer.pass(), &want));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let figures = report.train.named();
    assert_eq!(figures.len(), 4 + 2 * 3);
    assert!(figures.iter().all(|(name, value)| near(*value, want.get(name).unwrap())), "{report:?} {want:?}");
}

#[test]
fn saved_bytes_that_do_not_fit_are_typed_errors() {
    let (x, y) = data(7, 60);
    let config = config("ce", "mlp:3", &[], 20);
    let all = dataset(&x, &y);
    let mut trainer = Trainer::new(&config, Arc::clone(&all), None).unwrap();
    (0..20).for_each(|_| assert!(trainer.step().unwrap().is_some()));
    let bytes = trainer.save();
    let load = |bytes: &[u8], data: &Arc<Dataset<f64>>| match Trainer::load(bytes, Arc::clone(data), None) {
        Err(TrainerError::Checkpoint(error)) => error,
        other => panic!("{other:?}"),
    };
    for cut in 0..bytes.len() {
        assert!(matches!(load(&bytes[..cut], &all), CheckpointError::Damaged | CheckpointError::NotOurs));
    }
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 4;
        load(&other, &all);
    }
    // Sound envelopes around something else.
    for payload in [&b""[..], &[0xff; 40], &bytes[26..40]] {
        assert_eq!(load(&seal(Kind::Trainer, payload), &all), CheckpointError::Damaged);
        assert!(Predictor::<f64>::load(&seal(Kind::Trainer, payload)).is_err());
        assert_eq!(SavedModel::from_bytes(&seal(Kind::Model, payload)), Err(CheckpointError::Damaged));
    }
    assert_eq!(SavedModel::from_bytes(&bytes), Err(CheckpointError::RunOnly));
    let (other_x, _) = data(8, 60);
    assert_eq!(load(&bytes, &dataset(&other_x, &y)), CheckpointError::Mismatch("training data set"));
    let mut other_y = y.clone();
    other_y.swap(0, 2);
    assert_eq!(load(&bytes, &dataset(&x, &other_y)), CheckpointError::Mismatch("training data set"));
    let named = Dataset::dense(x.concat(), Vec::new(), 2)
        .unwrap()
        .with_classes(all.class_labels().to_vec(), ["a", "b", "c"].map(String::from).to_vec());
    assert_eq!(load(&bytes, &Arc::new(named.unwrap())), CheckpointError::Mismatch("training data set"));
    // The model alone scores as the trainer does, in the other precision too.
    let mut model = Predictor::<f64>::load(&bytes).unwrap();
    let (mut a, mut b, mut short) = (vec![0.0; 180], vec![0.0; 180], vec![0.0; 180]);
    model.score(all.rows(), &mut a).unwrap();
    trainer.score(all.rows(), &mut b).unwrap();
    assert_eq!((a == b, model.classes()), (true, all.classes()));
    let narrow: Vec<f32> = x.concat().iter().map(|&x| x as f32).collect();
    let narrow = Dataset::dense(narrow, Vec::new(), 2).unwrap();
    let mut out = vec![0f32; 180];
    Predictor::<f32>::load(&bytes).unwrap().score(narrow.rows(), &mut out).unwrap();
    short.iter_mut().zip(&out).for_each(|(s, &o)| *s = f64::from(o));
    close(&short, &a, 1e-5);
}

/// Payloads that are cut short, or changed anywhere, with a checksum that fits: an error or another run, never a panic.
#[test]
fn sealed_nonsense_is_refused() {
    let (x, y) = data(9, 40);
    let all = dataset(&x, &y);
    for method in class_methods() {
        for (model, steps) in [("linear", 3), ("mlp:3", 9)] {
            let has = |name: &str| method.params.iter().any(|param| param.name == name);
            let mut settings = vec![("sampling", "stratified"), ("stage", "4"), ("reset", "2"), ("per-class", "3")];
            settings.retain(|(name, _)| has(name));
            let mut trainer = Trainer::new(&config(method.name, model, &settings, 20), Arc::clone(&all), None).unwrap();
            (0..steps).for_each(|_| assert!(trainer.step().unwrap().is_some()));
            let bytes = trainer.save();
            let payload = open(Kind::Trainer, &bytes).unwrap();
            for end in 0..payload.len() {
                let error = Trainer::load(&seal(Kind::Trainer, &payload[..end]), Arc::clone(&all), None).err();
                assert_eq!(error, Some(TrainerError::Checkpoint(CheckpointError::Damaged)), "{} {end}", method.name);
            }
            for at in 0..payload.len() {
                for bad in nonsense(payload, at) {
                    let bad = seal(Kind::Trainer, &bad);
                    if let Ok(mut other) = Trainer::load(&bad, Arc::clone(&all), None) {
                        let _ = other.step();
                    }
                    let _ = Predictor::<f32>::load(&bad);
                }
            }
        }
    }
    // What turns a file into rows and classes.
    for text in ["a,colour,label\n1,x,sun\n2,y,moon\n3,x,star\n4,x,moon\n", "3 1:1\n1 2:1\n2 1:1 2:2\n"] {
        let format = if text.starts_with('a') { Format::Auto } else { Format::Libsvm };
        let table = RawTable::parse(text.as_bytes(), format, "f").unwrap();
        let preparation = Preparation::fit(&table, &several()).unwrap();
        let bytes =
            SavedModel { split: Some(0.5), threshold: Some(1.5), ..SavedModel::new(preparation, 4, vec![1, 2]) }
                .to_bytes();
        let payload = open(Kind::Model, &bytes).unwrap();
        for end in 0..payload.len() {
            let error = SavedModel::from_bytes(&seal(Kind::Model, &payload[..end])).err();
            assert_eq!(error, Some(CheckpointError::Damaged), "{end}");
        }
        for at in 0..payload.len() {
            for bad in nonsense(payload, at) {
                if let Ok(other) = SavedModel::from_bytes(&seal(Kind::Model, &bad)) {
                    let _ = other.preparation.apply::<f64>(&table);
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y) = data(7, 60);
    let all = dataset(&x, &y);
    let refused = |method: &str, settings: &[(&str, &str)]| {
        Trainer::new(&config(method, "linear", settings, 5), Arc::clone(&all), None).unwrap_err().to_string()
    };
    assert_eq!(refused("soap", &[]), "method soap trains two classes; of several classes are ce, ppd-sg, ppd-adagrad");
    assert!(refused("soup", &[]).starts_with("no method \"soup\"; there are soap, "));
    assert!(refused("ce", &[("positives", "3")]).starts_with("method ce has no parameter \"positives\"; it has steps"));
    assert!(refused("ce", &[("per-class", "0")]).starts_with("per-class = \"0\": expected"));
    // A training part without one of its classes.
    let rows: Vec<u32> = (0..60).filter(|&row| y[row as usize] != 2).collect();
    let part = Arc::new(all.select(&rows).unwrap());
    let error = Trainer::new(&config("ce", "linear", &[], 5), Arc::clone(&part), None).unwrap_err();
    assert_eq!(error, TrainerError::Core(Error::OneClass));
    let mut trainer = Trainer::new(&config("ce", "linear", &[], 5), Arc::clone(&all), Some(Arc::clone(&part))).unwrap();
    assert_eq!(trainer.report().unwrap_err(), Error::OneClass);
    assert_eq!(
        part.require_every_class("f").unwrap_err().to_string(),
        "f: no row of class \"blue\", and every class of training is needed"
    );
    let features = || Dataset::dense(vec![0.0; 4], Vec::new(), 2).unwrap();
    let names = |count: usize| vec![String::new(); count];
    assert_eq!(features().with_classes(vec![0, 2], names(2)), Err(Error::Label { at: 1 }));
    assert_eq!(features().with_classes(vec![0, 1], names(1)), Err(Error::Param { what: "classes" }));
    assert_eq!(features().with_classes(vec![0, 1], names(1001)), Err(Error::Param { what: "classes" }));
    assert!(matches!(features().with_classes(vec![0], names(2)), Err(Error::Length { .. })));
}

#[test]
fn a_reset_takes_as_many_duals_as_there_are() {
    let stages = Stages::practice(0.1, 1.0, 1.0).unwrap();
    let algorithm = PpdSg::new(stages, 10.0, 0.0, 3).unwrap();
    let (mut points, mut slots, mut counters) = (vec![0.5; 10], vec![0.0; 5], [1, 0, 1, 2]);
    let mut tell = |answer| {
        let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
        (algorithm.tell(&mut state, answer), points.clone(), counters)
    };
    let same = (vec![0.5; 10], [1, 0, 1, 2]);
    for (answer, error) in [
        (Answer::Duals { alpha: &[0.1, 0.2][..] }, Error::Length { what: "alpha", need: 3, got: 2 }),
        (Answer::Duals { alpha: &[0.1, f64::NAN, 0.2] }, Error::NonFinite { what: "alpha", at: 1 }),
        (Answer::ClassMeans { positive: Some(0.1), negative: Some(0.2) }, Error::Param { what: "answer" }),
    ] {
        let (got, points, counters) = tell(answer);
        assert_eq!((got, (points, counters)), (Err(error), same.clone()));
    }
    let (got, points, _) = tell(Answer::Duals { alpha: &[0.1, 0.2, 0.3] });
    assert_eq!((got, &points[7..]), (Ok(()), &[0.1, 0.2, 0.3][..]));
}

proptest! {
    #[test]
    fn draws_are_what_they_promise(
        extra in prop::collection::vec(0..4u32, 4..60), per_class in 1..5u32, uniform: bool, seed: u64, stop in 0..20usize,
    ) {
        let labels: Vec<u32> = (0..4).chain(extra).collect();
        let (mut rows, mut starts) = (vec![0; labels.len()], vec![0; 5]);
        let by_class = Segments::new(&labels, &mut rows, &mut starts).unwrap();
        for class in 0..4 {
            let (from, to) = (by_class.starts()[class] as usize, by_class.starts()[class + 1] as usize);
            let own: Vec<u32> = (0..labels.len() as u32).filter(|&row| labels[row as usize] == class as u32).collect();
            prop_assert_eq!(&by_class.order()[from..to], &own[..]);
        }
        let sampler = match uniform {
            true => self::uniform(seed, per_class * 2),
            false => self::per_class(seed, per_class),
        };
        let (mut cursor, mut order) = (vec![0; 8], vec![0; labels.len()]);
        sampler.prepare(&by_class, &cursor, &mut order).unwrap();
        let mut seen = vec![0u64; labels.len()];
        let mut other = None;
        for step in 0..20 {
            if step == stop {
                // Somebody else continues from the cursor alone.
                let mut order = vec![0; labels.len()];
                sampler.prepare(&by_class, &cursor, &mut order).unwrap();
                other = Some((cursor.clone(), order));
            }
            let rows = sampler.rows(&by_class);
            let (mut index, mut items, mut starts) = (vec![0; rows], vec![0; rows], vec![0; 5]);
            let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
            let drawn = sampler.draw(&by_class, &mut cursor, &mut order, to).unwrap();
            prop_assert_eq!(drawn, if uniform { Drawn::Uniform } else { Drawn::Stratified });
            if let Some((cursor, order)) = &mut other {
                let (mut index2, mut items2, mut starts2) = (vec![0; rows], vec![0; rows], vec![0; 5]);
                let to = Place { index: &mut index2, items: &mut items2, starts: &mut starts2 };
                sampler.draw(&by_class, cursor, order, to).unwrap();
                prop_assert_eq!((&index, &items, &starts), (&index2, &items2, &starts2));
            }
            for class in 0..4 {
                let own = &index[starts[class] as usize..starts[class + 1] as usize];
                prop_assert!(own.iter().all(|&row| labels[row as usize] == class as u32));
                let there = labels.iter().filter(|&&label| label == class as u32).count();
                prop_assert!(uniform || own.len() == there.min(per_class as usize));
            }
            let mut once = index.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), index.len());
            index.iter().for_each(|&row| seen[row as usize] += 1);
            // No row of an epoch comes twice: no row is ahead of another of its cycle by more than what an epoch leaves out.
            if uniform && labels.len().is_multiple_of(index.len()) {
                prop_assert!(seen.iter().max().unwrap() - seen.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn summaries_match_the_twins(cells in prop::collection::vec(-3..4i32, 60..120), more in prop::collection::vec(0..3u32, 40)) {
        let rows = cells.len() / 3;
        let labels: Vec<u32> = (0..3).chain(more).take(rows).collect();
        let scores: Vec<f64> = cells[..3 * rows].iter().map(|&x| f64::from(x) / 2.0).collect();
        let got = class_summary(&scores, 3, &labels, &[]).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let (pairs, rest) = metric::multiclass(&scores, 3, &labels, 0.5);
        prop_assert!(near(got.hand_till, pairs) && near(got.auroc, rest), "{:?} {} {}", got, pairs, rest);
        for class in 0..3 {
            let own: Vec<u8> = labels.iter().map(|&label| u8::from(label == class)).collect();
            let score: Vec<f64> = scores.iter().skip(class as usize).step_by(3).copied().collect();
            let one = got.classes[class as usize];
            prop_assert!(near(one.auroc, metric::auroc(&score, &own, 0.5)));
            prop_assert!(near(one.ap, metric::average_precision(&score, &own)));
            prop_assert_eq!(one.rows, own.iter().map(|&y| u64::from(y)).sum::<u64>());
        }
        let first_best = |row: &[f64]| (0..3).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let right = scores.chunks(3).zip(&labels).filter(|(row, y)| first_best(row) == **y as usize).count();
        prop_assert!(near(got.accuracy, right as f64 / rows as f64));
        prop_assert!(near(got.ap, got.classes.iter().map(|class| class.ap).sum::<f64>() / 3.0));
    }

    #[test]
    fn log_odds_are_those_of_the_softmax(scores in prop::collection::vec(-8.0..8.0f64, 4)) {
        let mut odds = scores.clone();
        log_odds(&mut odds, 4).unwrap();
        for (z, h) in odds.iter().zip(estimators::softmax(&scores)) {
            prop_assert!((z - (h / (1.0 - h)).ln()).abs() < 1e-8 * (1.0 + z.abs()), "{} {}", z, h);
        }
    }
}

#[test]
fn log_odds_keep_apart_what_the_softmax_rounds_together() {
    // Far ahead, and far behind: a softmax in f32 is 1 and 0 there.
    let mut odds = [40.0f32, 0.0, 0.0, 41.0, 0.0, 0.0, 800.0, 0.0, -800.0];
    log_odds(&mut odds, 3).unwrap();
    let two = 2f32.ln();
    assert_eq!([odds[0], odds[3], odds[6]], [40.0 - two, 41.0 - two, 800.0]);
    assert_eq!([odds[1], odds[4], odds[8]], [-40.0, -41.0, -1600.0]);
    // Two classes: the difference of the scores, both ways.
    let mut odds = [0.25f64, 1.5, -3.0, -7.0];
    log_odds(&mut odds, 2).unwrap();
    assert_eq!(odds, [-1.25, 1.25, 4.0, -4.0]);
    let refuse = |scores: &[f64], classes, error| {
        let mut after = scores.to_vec();
        assert_eq!(log_odds(&mut after, classes), Err(error));
        assert_eq!(after, scores);
    };
    refuse(&[0.0, 1.0, 1.7e308, -1.7e308], 2, Error::Overflow { what: "a difference of scores" });
    refuse(&[0.0, 1.0, f64::INFINITY, 0.0], 2, Error::NonFinite { what: "scores", at: 2 });
    refuse(&[0.0, 1.0, 2.0], 2, Error::Length { what: "scores", need: 2, got: 3 });
    refuse(&[0.0, 1.0, 2.0], 1, Error::Param { what: "classes" });
}

#[test]
fn two_classes_are_the_binary_case() {
    let mut rng = Rng::new(11);
    let labels: Vec<u32> = (0..80).map(|k| u32::from(k % 5 == 0)).collect();
    let mut scores: Vec<f64> = (0..160).map(|_| rng.normal()).collect();
    log_odds(&mut scores, 2).unwrap();
    let binary: Vec<u8> = labels.iter().map(|&y| y as u8).collect();
    let positive: Vec<f64> = scores.iter().skip(1).step_by(2).copied().collect();
    let summary = class_summary(&scores, 2, &labels, &[]).unwrap();
    let auroc = Metrics::new().auroc(&positive, &binary).unwrap();
    assert!((summary.hand_till - auroc).abs() < 1e-15 && (summary.auroc - auroc).abs() < 1e-15);
    assert_eq!(summary.classes[1].ap, Metrics::new().average_precision(&positive, &binary).unwrap());
    // And the split is the same.
    let split = Split::new(0.6, 5);
    assert_eq!(split.class_parts(&labels).unwrap(), split.parts(&binary).unwrap());
}

fn table(text: &str) -> RawTable {
    RawTable::parse(text.as_bytes(), Format::Auto, "f.csv").unwrap()
}

#[test]
fn label_values_become_classes_in_order() {
    let options = several();
    let numbers = table("a,label\n1,10\n2,-1\n3,2.5\n4,10\n5,2.5\n6,-1\n");
    assert_eq!(label_values(&numbers, &options).unwrap(), ["-1", "2.5", "10"]);
    let preparation = Preparation::fit(&numbers, &options).unwrap();
    assert_eq!(preparation.apply::<f64>(&numbers).unwrap().class_labels(), [2, 0, 1, 2, 1, 0]);
    let words = table("a,colour,label\n1,x,sun\n2,y,moon\n3,x,star\n4,x,moon\n");
    let preparation = Preparation::fit(&words, &options).unwrap();
    let data = preparation.apply::<f64>(&words).unwrap();
    assert_eq!(
        (data.classes(), data.class_labels()),
        (&["moon", "star", "sun"].map(String::from)[..], &[2, 0, 1, 0][..])
    );
    assert_eq!((data.cols(), data.class_sizes()), (3, vec![2, 1, 1]));
    // Numbers keep their class beside text, in either file.
    let test = table("a,colour,label\n9,x,star\n9,x,moon\n");
    assert_eq!(preparation.apply::<f64>(&test).unwrap().class_labels(), [1, 0]);
    let mixed = Preparation::fit(&table("a,label\n1,1\n2,2\n3,x\n"), &options).unwrap();
    assert_eq!(mixed.apply::<f64>(&table("a,label\n1,2.0\n2,1\n")).unwrap().class_labels(), [1, 0]);
    // LIBSVM as well, and saved bytes give the same.
    let svm = RawTable::parse(b"3 1:1\n1 2:1\n2 1:1 2:2\n", Format::Libsvm, "f.svm").unwrap();
    let preparation = Preparation::fit(&svm, &options).unwrap();
    assert_eq!(preparation.apply::<f32>(&svm).unwrap().class_labels(), [2, 0, 1]);
    let saved = SavedModel { split: Some(0.5), threshold: Some(1.5), ..SavedModel::new(preparation, 4, vec![1, 2]) };
    let bytes = saved.to_bytes();
    assert_eq!(SavedModel::from_bytes(&bytes), Ok(saved));
    for cut in 0..bytes.len() {
        assert!(SavedModel::from_bytes(&bytes[..cut]).is_err());
    }
}

#[test]
fn bad_labels_are_named() {
    let options = several();
    let fit = |text: &str| Preparation::fit(&table(text), &options).unwrap_err().to_string();
    assert_eq!(
        fit("a,label\n1,3\n2,3\n"),
        "f.csv: every label in column \"label\" is \"3\", and two classes are needed"
    );
    let many: String = (0..1001).map(|k| format!("{k},{k}\n")).collect();
    assert_eq!(
        fit(&format!("a,label\n{many}")),
        "f.csv: more than 1000 label values, which are too many classes (is the label a number to predict?)"
    );
    assert_eq!(fit("a,label\n1,3\n2,\n3,4\n4,5\n"), "f.csv:3:2: the label is missing");
    let split = Split::new(0.5, 1);
    let lone = prepare::<f32>(&table("a,label\n1,x\n2,x\n3,y\n4,y\n5,z\n"), &options, split).unwrap_err();
    assert_eq!(lone.to_string(), "f.csv: class \"z\" has one row, and a split needs two");
    let preparation = Preparation::fit(&table("a,label\n1,x\n2,y\n3,z\n"), &options).unwrap();
    let unknown = preparation.apply::<f32>(&table("a,label\n1,x\n2,w\n")).unwrap_err();
    assert_eq!(unknown.to_string(), "f.csv:3:2: label \"w\", but training knew the classes \"x\", \"y\", \"z\"");
    let numbers = Preparation::fit(&table("a,label\n1,1\n2,2\n3,3\n"), &options).unwrap();
    let unknown = numbers.apply::<f32>(&table("a,label\n1,1\n2,7\n")).unwrap_err();
    assert_eq!(unknown.to_string(), "f.csv:3:2: label \"7\", but training knew the classes \"1\", \"2\", \"3\"");
    let other = preparation.apply::<f32>(&table("a,b\n1,x\n2,y\n")).unwrap_err();
    assert_eq!(other.to_string(), "f.csv:1: there is no column \"label\"; the columns are \"a\", \"b\"");
}

/// Scaling is fitted on the training rows alone.
#[test]
fn a_split_scales_by_its_training_rows() {
    let lines = (0..40).map(|k| format!("{},{}\n", k * k % 31, ["x", "y", "z"][k % 3]));
    let table =
        RawTable::parse(format!("a,label\n{}", lines.collect::<String>()).as_bytes(), Format::Csv, "a.csv").unwrap();
    let options = Options { scale: Some(Scale::Standard), ..several() };
    let all = prepare::<f64>(&table, &options, Split::new(0.6, 1)).unwrap();
    let mean = |data: &Dataset<f64>| {
        let Rows::Dense { data, .. } = data.rows() else { panic!("sparse rows of a table") };
        data.iter().sum::<f64>() / data.len() as f64
    };
    assert!(mean(&all.train).abs() < 1e-14 && mean(&all.test).abs() > 1e-3);
}

/// Ten classes of real data: handwritten digits.
#[test]
fn digits_are_told_apart() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../demo/web/samples/digits.csv");
    let table = RawTable::parse(&std::fs::read(file).unwrap(), Format::Csv, "digits.csv").unwrap();
    let options = Options { label: Some("digit".into()), scale: Some(Scale::Standard), ..several() };
    let all = prepare::<f32>(&table, &options, Split::new(0.75, 1)).unwrap();
    let (train, test) = (Arc::new(all.train), Arc::new(all.test));
    for method in class_methods() {
        let config = config(method.name, "linear", &[], 600);
        let mut trainer = Trainer::new(&config, Arc::clone(&train), Some(Arc::clone(&test))).unwrap();
        while trainer.steps_done() < 600 && trainer.step().unwrap().is_some() {}
        let test = trainer.report().unwrap().test.unwrap().classes().unwrap().clone();
        assert!(test.hand_till > 0.99 && test.accuracy > 0.92, "{}: {test:?}", method.name);
        assert!(test.classes.len() == 10 && test.classes.iter().all(|class| class.auroc > 0.94 && class.rows > 40));
    }
}
