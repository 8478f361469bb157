//! The ridge whose decay cross-validation chooses: beside scikit-learn's, and on rows that are hard in one way each.

use serde_json::Value;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Given, Length, ModelSpec, Trainer, TrainerError};

fn config(settings: &[(&str, &str)]) -> Config {
    Config {
        method: "ce-exact".into(),
        settings: settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect(),
        ..Config::default()
    }
}

/// Rows of `make_ridge.py`.
fn golden_rows() -> Dataset<f64> {
    let (mut state, mut x, mut y) = (1u64, Vec::new(), Vec::new());
    for _ in 0..300 {
        let row: [f64; 7] = std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        });
        x.extend_from_slice(&row[..6]);
        y.push(u8::from(row[0] + 0.5 * row[1] - 0.25 * row[2] + 1.2 * row[6] > 0.6));
    }
    Dataset::dense(x, y, 6).unwrap()
}

/// Normal rows; the first column of positives is higher by `signal`, and `positives` are spread evenly.
fn clouds(rows: usize, cols: usize, positives: usize, signal: f64) -> Dataset<f32> {
    let mut random = Rng::new(7);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k * positives / rows != (k + 1) * positives / rows)).collect();
    let mut x = Vec::new();
    for &label in &labels {
        x.extend(
            (0..cols).map(|col| (random.normal() + if col == 0 { signal * f64::from(label) } else { 0.0 }) as f32),
        );
    }
    Dataset::dense(x, labels, cols).unwrap()
}

fn done<T: undercurve::Real>(config: &Config, data: Dataset<T>) -> Trainer<T> {
    let mut trainer = Trainer::new(config, Arc::new(data), None).unwrap();
    trainer.run().unwrap();
    trainer
}

#[test]
fn it_is_what_scikit_learn_finds_on_the_same_folds() {
    let golden: Value = serde_json::from_str(include_str!("../golden/ridge.json")).unwrap();
    let numbers =
        |name: &str| -> Vec<f64> { golden[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let mut trainer = done(&config(&[("tolerance", "1e-9")]), golden_rows());
    let path = trainer.path().unwrap().clone();
    assert_eq!(path.folds.iter().map(|&fold| f64::from(fold)).collect::<Vec<_>>(), numbers("folds"));
    let decays: Vec<&str> = golden["decays"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
    assert_eq!(path.points.iter().map(|point| point.decay.as_str()).collect::<Vec<_>>(), decays);
    // (The fits on folds end earlier than that of all rows.)
    for (point, loss) in path.points.iter().zip(numbers("losses")) {
        assert!((point.loss - loss).abs() < 1e-3, "{point:?}: {loss}");
        assert!(point.deviation > 0.0 && point.deviation < 0.1, "{point:?}");
    }
    assert_eq!(path.decay(), golden["chosen"].as_str().unwrap());
    for (ours, theirs) in trainer.params().iter().zip(numbers("params")) {
        assert!((ours - theirs).abs() < 1e-7, "{ours} {theirs}");
    }
    // In f32, at the default tolerance.
    let rows = golden_rows();
    let undercurve::data::Rows::Dense { data, .. } = rows.rows() else { panic!("dense") };
    let narrow = Dataset::dense(data.iter().map(|&x| x as f32).collect(), rows.labels().to_vec(), 6).unwrap();
    let mut narrow = done(&config(&[]), narrow);
    assert_eq!(narrow.path().unwrap().decay(), path.decay());
    for (ours, theirs) in narrow.params().to_vec().into_iter().zip(numbers("params")) {
        assert!((f64::from(ours) - theirs).abs() < 2e-3, "{ours} {theirs}");
    }
}

#[test]
fn the_decay_is_kept_and_can_be_set() {
    let rows = || clouds(400, 4, 60, 1.0);
    let mut chosen = done(&config(&[]), rows());
    let path = chosen.path().unwrap().clone();
    assert_eq!(chosen.config().settings, [("decay".to_string(), path.decay().to_string())]);
    // The same decay, set: the same bits, and nothing chosen.
    let mut set = done(&config(&[("decay", path.decay())]), rows());
    assert!(set.path().is_none());
    assert_eq!(set.params(), chosen.params());
    // Saved, and for longer.
    let data = Arc::new(rows());
    let saved = chosen.save();
    let again = Trainer::<f32>::load(&saved, data.clone(), None).unwrap();
    assert_eq!((again.config(), again.path()), (chosen.config(), None));
    let longer = Config { length: Length::Steps(5000), ..config(&[]) };
    let longer = Trainer::<f32>::load_as(&saved, &longer, Given::rows(data)).unwrap();
    assert_eq!(longer.config().settings, chosen.config().settings);
    // One standard error is the strongest decay whose loss is within it.
    let mut differ = 0;
    for (rows, positives, signal) in [(2000, 300, 1.0), (200, 40, 0.5)] {
        let strong =
            done(&config(&[("choose", "one-se")]), clouds(rows, 10, positives, signal)).path().unwrap().clone();
        let least = strong.points.iter().min_by(|a, b| a.loss.total_cmp(&b.loss)).unwrap();
        let first = strong.points.iter().position(|point| point.loss <= least.loss + least.deviation).unwrap();
        assert_eq!(strong.chosen, first, "{:?}", strong.points);
        differ += u8::from(strong.decay() != least.decay);
    }
    assert!(differ > 0);
    // What has no effect is refused.
    let refused = Trainer::new(&config(&[("decay", "1e-3"), ("folds", "3")]), Arc::new(rows()), None).err();
    assert!(
        matches!(&refused, Some(TrainerError::Config(text)) if text.starts_with("folds has no effect")),
        "{refused:?}"
    );
}

/// A decay that leaves no weight gives the share of positives, unless it holds the bias, too.
#[test]
fn the_bias_is_free_of_decay() {
    let bias = |how: &str| {
        let mut trainer = done(&config(&[("decay", "1e4"), ("bias", how)]), clouds(500, 3, 50, 1.0));
        let params = trainer.params().to_vec();
        assert!(params[..3].iter().all(|w| w.abs() < 1e-3), "{params:?}");
        params[3]
    };
    assert!((bias("free") - (50.0f32 / 450.0).ln()).abs() < 1e-3, "{}", bias("free"));
    assert!(bias("penalised").abs() < 1e-3);
}

#[test]
fn hard_rows_have_an_outcome() {
    let decay = |trainer: &Trainer<f32>| trainer.path().unwrap().decay().parse::<f64>().unwrap();
    // Random labels: a decay that leaves next to nothing.
    let mut noise = done(&config(&[]), clouds(300, 40, 60, 0.0));
    assert!(decay(&noise) >= 0.1, "{:?}", noise.path());
    assert!(noise.params()[..40].iter().all(|w| w.abs() < 0.2));
    // Classes that can be separated: the path ends, and so does the run.
    let mut apart = done(&config(&[]), clouds(400, 3, 100, 30.0));
    assert!(decay(&apart) <= 1e-2 && apart.is_done(), "{:?}", apart.path().unwrap().points);
    assert_eq!(apart.report().unwrap().train.get("auroc"), Some(1.0));
    // Fewer positives than folds, and one alone, which cannot be held out: C = 1.
    let few = done(&config(&[]), clouds(300, 3, 3, 2.0));
    assert_eq!(few.path().unwrap().folds.iter().max(), Some(&2));
    let one = done(&config(&[]), clouds(300, 3, 1, 2.0));
    assert!(one.path().is_none() && one.config().settings.is_empty());
    // Rows of weight 0 are in no fold, and whole weights are repeated rows but for the folds.
    let weights: Vec<f64> = (0..300).map(|row| f64::from(u8::from(row % 3 > 0))).collect();
    let part = done(&config(&[]), clouds(300, 3, 30, 1.0).with_weights(weights).unwrap());
    let folds = &part.path().unwrap().folds;
    assert!(folds.iter().enumerate().all(|(row, &fold)| (fold == 5) == (row % 3 == 0)), "{folds:?}");
    // A network has a decay by its rows.
    let network = Config { model: ModelSpec::parse("mlp:4").unwrap(), ..config(&[]) };
    assert!(done(&network, clouds(300, 3, 30, 1.0)).path().is_none());
}

/// Columns that say nearly the same, on scales far apart: some twenty gradients, and the minimum.
#[test]
fn columns_that_go_together_take_few_gradients() {
    let mut random = Rng::new(3);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        let common = random.normal();
        let row: Vec<f64> = (0..20).map(|col| (common + 0.1 * random.normal()) * f64::from(1 << (col % 8))).collect();
        let score = 3.0 * (row[0] - row[8]) + 10.0 * (row[1] - row[9]) + common - 2.0;
        y.push(u8::from(random.uniform() < 1.0 / (1.0 + (-score).exp())));
        x.extend(row);
    }
    let data = |x: &[f64]| Dataset::dense(x.to_vec(), y.clone(), 20).unwrap();
    let loss = |params: &[f64]| {
        let terms = x.chunks(20).zip(&y).map(|(row, &y)| {
            let score = row.iter().zip(params).map(|(x, w)| x * w).sum::<f64>() + params[20];
            (if y == 1 { -score } else { score }).exp().ln_1p()
        });
        terms.sum::<f64>() / 2000.0 + 5e-6 * params[..20].iter().map(|w| w * w).sum::<f64>()
    };
    let mut exact = done(&config(&[("decay", "1e-5"), ("tolerance", "1e-11")]), data(&x));
    let mut ours = done(&config(&[("decay", "1e-5")]), data(&x));
    assert!(ours.steps_done() <= 25, "{}", ours.steps_done());
    let (least, found) = (loss(exact.params()), loss(ours.params()));
    assert!(found - least < 1e-8 * least, "{found} {least}");
}

/// A decay of the path costs about three gradients a fold (`cargo experiment ridge` compares the whole with one fit).
#[test]
fn a_path_goes_on_from_what_is_known() {
    for (cols, signal) in [(10, 1.0), (40, 0.5)] {
        let run = done(&config(&[]), clouds(2000, cols, 300, signal));
        let path = run.path().unwrap();
        let each = path.passes / path.points.len() as f64 / 4.0;
        assert!(each < 6.0, "{} and {}: {:?}", path.passes, run.pass(), path.points);
    }
}

/// A rare class beyond a bend of the others: what ranks best is not what is likeliest, and the metric of held-out rows finds it.
#[test]
fn the_metric_can_choose_decay_and_class_weight() {
    let mut random = Rng::new(11);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..1500 {
        let positive = row % 25 == 0;
        let at = random.normal() as f32;
        x.extend([
            at,
            at * at - 1.0 + if positive { 2.5 } else { 0.0 } + 0.5 * random.normal() as f32,
            random.normal() as f32,
        ]);
        y.push(u8::from(positive));
    }
    let rows = || Dataset::dense(x.clone(), y.clone(), 3).unwrap();
    for metric in ["ap", "auroc", "pauc"] {
        let mut chosen = done(&config(&[("choose", metric)]), rows());
        let path = chosen.path().unwrap().clone();
        let (point, least) =
            (&path.points[path.chosen], path.points.iter().min_by(|a, b| a.loss.total_cmp(&b.loss)).unwrap());
        let mean = |metric: &[f64]| metric.iter().sum::<f64>() / metric.len() as f64;
        assert!(
            point.metric.len() == 4 * 5 && mean(&point.metric) >= mean(&least.metric),
            "{metric}: {:?}",
            path.points
        );
        assert!(path.points.iter().any(|point| point.positive > 1.0), "{metric}: weights are tried");
        // What was chosen, set: the same bits; and a saved run goes on with it.
        let mut set = config(&[("decay", path.decay())]);
        if path.positive() != 1.0 {
            set.class_weights = vec![1.0, path.positive()];
        }
        assert_eq!(chosen.config().class_weights, set.class_weights);
        assert_eq!(done(&set, rows()).params(), chosen.params(), "{metric}");
        let again = Trainer::<f32>::load(&chosen.save(), Arc::new(rows()), None).unwrap();
        assert_eq!(again.config(), chosen.config());
    }
    // Weights that are given are not chosen.
    let given = Config { class_weights: vec![1.0, 2.0], ..config(&[("choose", "ap")]) };
    assert!(done(&given, rows()).path().unwrap().points.iter().all(|point| point.positive == 1.0));
}
